"""Every help begins with what it is for, and ends with examples that work."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

from grbp.cli import _COMMANDS, _make_parser, main
from grbp.cli.examples import EXAMPLES
from grbp.cli.options import find_subcommands

CHAIN = "goal = 3\np_c = [0.5, 0.6]\np_f = [0.2, 0.4]\n"
TOUR = """
name = "tour"
problems = { goal = 4, p_c = [0.4, 0.6], p_f = 0.3 }
learners = ["threshold-1"]
rounds = 20
replicas = 4
"""
SHORTER = {
    "simulate": " --learner threshold-1 --rounds 20 --replicas 4",
    "sweep --league": " --learner threshold-0 --learner threshold-1 --rounds 20 --replicas 4",
    "plan": " --learner threshold-1 --replicas 20 --cases 20",
}
"""What is added so that a test need not compile and play for minutes."""

ELSEWHERE = ("grbp serve --store ward.sqlite --create", "grbp reproduce")
"""They take minutes, or never end: other tests run them."""

STUDIED = {one for one in EXAMPLES if " " in one and one != "live init"} | {"serve"}
"""The commands that need a study."""

MADE = {
    "live void": ["live tell --case 1 --state 3"],
    "live undo": ["live tell --case 1 --state 3"],
    "live unarchive": ["live archive --why so"],
    "live import": ["live export --out ward.jsonl"],
    "live replay": ["live export --out ward.jsonl"],
    "serve token revoke": ["serve token make --label a --role viewer --json"],
}
"""What is done with the study of which an example needs more than a case."""


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Every command and verb, with its parser."""
    found: dict[str, argparse.ArgumentParser] = {}
    left = find_subcommands(_make_parser(["--print-completion"]))
    while left:
        found |= left
        left = {
            f"{name} {verb}": one
            for name, parser in left.items()
            for verb, one in find_subcommands(parser).items()
        }
    return found


PARSERS = parsers()
ALL = [
    (command, f"grbp {command} {one}".strip()) for command in EXAMPLES for one in EXAMPLES[command]
]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user has: a chain, a sweep, a folder for backups."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRBP_STORE", raising=False)
    Path("chain.toml").write_text(CHAIN, "utf-8")
    Path("tour.toml").write_text(TOUR, "utf-8")
    Path("backups").mkdir()


def test_every_command_and_verb_has_two_examples_of_its_own() -> None:
    assert {*EXAMPLES} == {*PARSERS}
    assert [one for one in EXAMPLES if " " not in one] == [*_COMMANDS]
    assert all(len({*examples}) == 2 for examples in EXAMPLES.values())


@pytest.mark.parametrize("command", PARSERS)
def test_a_help_says_what_it_is_for_and_ends_with_examples(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    said = capsys.readouterr().out
    about = said.split("\n\n")[1]
    assert about[0].isupper()
    assert about.endswith(".")
    shown = [f"  {example}" for one, example in ALL if one == command]
    assert said.rstrip().splitlines()[-3:] == ["examples:", *shown]
    assert max(map(len, said.splitlines())) <= 80


def test_a_command_is_listed_by_the_line_with_which_its_help_begins() -> None:
    for command, line in _COMMANDS.items():
        assert PARSERS[command].description == f"{line[0].upper()}{line[1:]}."


@pytest.mark.parametrize(("command", "example"), [one for one in ALL if one[1] not in ELSEWHERE])
def test_examples_work(command: str, example: str, capsys: pytest.CaptureFixture[str]) -> None:
    if "cases.csv --" in example or "--records" in example:
        run("grbp example model --out cases.csv")
    if example == "grbp live open --state 2":
        run("grbp live init --study ward --goal 4")
    if command in STUDIED:
        for store in ("", " --store ward.sqlite"):
            run(f"grbp live init --study ward --goal 4{store}")
        run("grbp live open --state 2 --code B-12")
        for one in MADE.get(command, ()):
            run(f"grbp {one}")
        if command == "live import":
            Path("grbp-live.sqlite").unlink()
        if command == "serve token revoke":
            (made,) = re.findall('"id": "([0-9a-f]+)"', capsys.readouterr().out)
            example = example.replace("5f0c11d2", made)
    run(example + next((more for start, more in SHORTER.items() if start in example), ""))
    assert capsys.readouterr().out


def run(example: str) -> None:
    """Run an example."""
    assert main(shlex.split(example)[1:]) == 0, example
