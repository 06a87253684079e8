"""Two examples of every command and verb, with which its help ends."""

from typing import Final

HEAD: Final = "examples:"

_ASKED: Final = "--goal 4 --p-c .45 --p-f .3"

EXAMPLES: Final[dict[str, tuple[str, str]]] = {
    "solve": (_ASKED, f"{_ASKED} --bounds --gamma 30 --rounds 1e6"),
    "export": (f"{_ASKED} --format prism", f"{_ASKED} --start 2 --format toy-text"),
    "learners": ("", "--json"),
    "simulate": (_ASKED, f"{_ASKED} --learner getbe-sm --plot regret"),
    "fit": ("cases.csv --goal 4", "cases.csv --goal 4 --adaptive --report answer.html"),
    "example": ("model --cases 200 --out cases.csv", "finish-by-state --goal 5 --seed 3"),
    "plan": ("--goal 4 --p-c .4:.5 --p-f .3", f"{_ASKED} --known .8"),
    "live": ("init --study ward --goal 4", "open --state 2"),
    "live init": ("--study ward --goal 4", "--study ward --goal 4 --records cases.csv"),
    "live open": ("--state 2", "--state 3 --code B-7"),
    "live ask": ("--case 1", "--code B-12 --details"),
    "live tell": ("--case 1 --state 3", "--case 1 --state 4 --took finish --why 'a free bed'"),
    "live void": ("--case 1 --why 'it was bed 13'", "--code B-12 --step 1 --why 'a slip'"),
    "live undo": ("--case 1", "--code B-12"),
    "live withdraw": ("--case 1 --why 'moved to another ward'", "--code B-12 --why 'moved'"),
    "live code": ("--case 1 --code B-13", "--case 1 --erase"),
    "live archive": ("--why 'the ward was closed'", "--study ward --why 'it was closed'"),
    "live unarchive": ("--why 'the ward opens again'", "--study ward --why 'it opens again'"),
    "live learner": ("--learner getbe-sm --why 'to compare'", "--learner getbe-ps --why 'so'"),
    "live studies": ("", "--all"),
    "live status": ("", "--study ward --details"),
    "live cases": ("--status open", "--code B-12"),
    "live log": ("--case 1", "--after 1 --limit 20 --details"),
    "live verify": ("", "--all"),
    "live export": ("--out ward.jsonl", "--steps steps.csv --codes"),
    "live import": ("ward.jsonl", "ward.jsonl --store copy.sqlite"),
    "live replay": ("", "ward.jsonl"),
    "live backup": ("copy.sqlite", "--to backups --keep 30"),
    "serve": ("--store ward.sqlite --create", "token make --label ward-7 --role recorder"),
    "serve token": ("make --label ward-7 --role recorder", "list"),
    "serve token make": ("--label ward-7 --role recorder", "--label it --role admin --days 7"),
    "serve token list": ("", "--store ward.sqlite"),
    "serve token revoke": ("5f0c11d2", "5f0c11d2 --who ada"),
    "explore": ("", "--out lesson.html"),
    "sweep": ("tour.toml --processes 2", "--league --goal 4 --step .25"),
    "reproduce": ("", "--only 2 --goal 2,4,10"),
}
"""What follows a command; a file that is named is one that another writes, or the user has."""


def list_examples(command: str) -> str | None:
    """Return the examples of a command as its help shows them; `grbp` alone has none."""
    if command not in EXAMPLES:
        return None
    return "\n".join([HEAD, *(f"  grbp {command} {one}".rstrip() for one in EXAMPLES[command])])
