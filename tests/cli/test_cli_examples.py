"""Every help begins with what it is for, and ends with examples that work."""

import shlex
from pathlib import Path

import pytest

from grbp.cli import _COMMANDS, main
from grbp.cli.examples import EXAMPLES

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
    "league": " --learner threshold-0 --learner threshold-1 --rounds 20 --replicas 4",
    "plan": " --learner threshold-1 --replicas 20 --cases 20",
}
"""What is added so that a test need not compile and play for minutes."""

ELSEWHERE = ("serve", "reproduce")
"""They take minutes, or never end: other tests run them."""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user has: a chain, a table of cases, a sweep."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRBP_STORE", raising=False)
    Path("chain.toml").write_text(CHAIN, "utf-8")
    Path("tour.toml").write_text(TOUR, "utf-8")


def test_every_command_has_two_examples_of_its_own() -> None:
    assert [*EXAMPLES] == [*_COMMANDS]
    for command, examples in EXAMPLES.items():
        assert len({*examples}) == 2
        assert all(one.startswith(f"grbp {command}") for one in examples)


@pytest.mark.parametrize("command", EXAMPLES)
def test_a_help_says_what_it_is_for_and_ends_with_examples(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    said = capsys.readouterr().out
    line = _COMMANDS[command]
    assert f"\n{line[0].upper()}{line[1:]}."[:40] in said
    assert said.rstrip().splitlines()[-3:] == [
        "examples:",
        *(f"  {one}" for one in EXAMPLES[command]),
    ]
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize("command", [one for one in EXAMPLES if one not in ELSEWHERE])
def test_examples_work(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    if command == "fit":
        run(EXAMPLES["example"][0])
    if command == "token":
        run("grbp live init --study ward --goal 4 --store ward.sqlite")
    for example in EXAMPLES[command]:
        run(example + SHORTER.get(command, ""))
    assert capsys.readouterr().out


def run(example: str) -> None:
    """Run an example."""
    assert main(shlex.split(example)[1:]) == 0, example
