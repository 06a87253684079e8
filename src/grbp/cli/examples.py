"""Two examples of every command, with which its help ends."""

from typing import Final

HEAD: Final = "examples:"

EXAMPLES: Final[dict[str, tuple[str, str]]] = {
    "solve": (
        "grbp solve --goal 4 --p-c .45 --p-f .3",
        "grbp solve --chain chain.toml --json",
    ),
    "bounds": (
        "grbp bounds --goal 4 --p-c .45 --p-f .3",
        "grbp bounds --goal 4 --p-c .65 --p-f .3 --gamma 30 --rounds 1e6",
    ),
    "export": (
        "grbp export --goal 4 --p-c .45 --p-f .3 --format prism",
        "grbp export --goal 4 --p-c .45 --p-f .3 --start 2 --format toy-text",
    ),
    "figure": (
        "grbp figure 1 --goal 5",
        "grbp figure 2 --goal 2,4,10 --out figures",
    ),
    "learners": ("grbp learners", "grbp learners --json"),
    "simulate": (
        "grbp simulate --goal 4 --p-c .45 --p-f .3",
        "grbp simulate --goal 4 --p-c .45 --p-f .3 --learner getbe-sm --plot regret",
    ),
    "fit": (
        "grbp fit cases.csv --goal 4",
        "grbp fit cases.csv --goal 4 --adaptive --report answer.html",
    ),
    "example": (
        "grbp example model --cases 200 --out cases.csv",
        "grbp example finish-by-state --goal 5 --seed 3",
    ),
    "plan": (
        "grbp plan --goal 4 --p-c .4:.5 --p-f .3",
        "grbp plan --goal 4 --p-c .45 --p-f .3 --known .8",
    ),
    "live": (
        "grbp live init --study ward --goal 4",
        "grbp live open --state 2",
    ),
    "serve": (
        "grbp serve --store ward.sqlite --create",
        "grbp serve --store ward.sqlite --port 8080",
    ),
    "token": (
        "grbp token make --label ward-7 --role recorder --store ward.sqlite",
        "grbp token list --store ward.sqlite",
    ),
    "explore": ("grbp explore", "grbp explore --out lesson.html"),
    "sweep": (
        "grbp sweep tour.toml",
        "grbp sweep tour.toml --processes 2 --out results",
    ),
    "league": (
        "grbp league --goal 4",
        "grbp league --goal 4 --learner getbe-sm --learner getbe-ps --step .25",
    ),
    "reproduce": ("grbp reproduce", "grbp reproduce --as-printed --out printed"),
}
"""The examples; a file that one of them names is one that another writes, or the user has."""


def list_examples(command: str) -> str:
    """Return the examples of a command as its help shows them."""
    return "\n".join([HEAD, *(f"  {one}" for one in EXAMPLES[command])])
