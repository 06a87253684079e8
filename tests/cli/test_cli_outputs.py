"""Nothing of the user's is overwritten, whatever command writes a file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from shell import ASKED, instead

import grbp
from grbp.cli import main

pytestmark = pytest.mark.usefixtures("interpreted")

SPEC = """
name = "x"
rounds = 20
replicas = 10
learners = ["getbe-sm", "no-explore"]
[problems]
goal = 4
p_c = {from = 0.25, to = 0.75, step = 0.25}
p_f = {from = 0.25, to = 0.75, step = 0.25}
"""
SIZE = ["--rounds", "20", "--replicas", "4", "--learner", "getbe-sm"]
PLAN = ["plan", "--goal", "4", "--p-c", ".45", "--p-f", ".3", "--cases", "20", "--replicas", "20"]
WRITERS: dict[str, tuple[list[str], str]] = {
    "fit --report": (["fit", "cases.csv", "--goal", "4", "--report", "mine"], "mine"),
    "plan --report": ([*PLAN, "--report", "mine"], "mine"),
    "plan --csv": ([*PLAN, "--csv", "mine"], "mine"),
    "plan --plot": ([*PLAN, "--plot", "mine.pdf"], "mine.pdf"),
    "simulate --csv": (["simulate", *ASKED, *SIZE, "--csv", "mine"], "mine"),
    "simulate --plot": (["simulate", *ASKED, *SIZE, "--plot", "mine"], "mine.svg"),
    "simulate --steps": (["simulate", *ASKED, *SIZE, "--steps", "mine"], "mine"),
    "league --csv": (
        ["sweep", "--league", *SIZE, "--learner", "no-explore", "--out", ".", "--csv", "mine"],
        "mine",
    ),
    "sweep table": (["sweep", "spec.toml", "--out", "."], "x.csv"),
    "sweep json": (["sweep", "spec.toml", "--out", "."], "x.json"),
    "sweep --plot": (["sweep", "spec.toml", "--out", ".", "--plot", "mine"], "mine.png"),
    "reproduce --only": (["reproduce", "--only", "1", "--out", "."], "figure-1.svg"),
    "reproduce page": (["reproduce", "--out", "."], "report.html"),
    "reproduce table": (["reproduce", "--out", "."], "figure-3.csv"),
    "reproduce picture": (["reproduce", "--out", "."], "growth-4.png"),
    "example": (["example", "model", "--cases", "9", "--out", "mine"], "mine"),
    "explore": (["explore", "--out", "mine"], "mine"),
}  # fmt: skip
"""Command lines that write a file, and its name."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a table and the file of a sweep."""
    monkeypatch.chdir(tmp_path)
    assert main(["example", "model", "--cases", "40", "--out", "cases.csv", "--quiet"]) == 0
    Path("spec.toml").write_text(SPEC, "utf-8")


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The sentence with which a command is refused that changes nothing."""
    capsys.readouterr()
    before = contents()
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert contents() == before
    return err.removeprefix("grbp: ").rstrip()


def contents() -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in Path().rglob("*")}


@pytest.mark.parametrize(("arguments", "name"), WRITERS.values(), ids=WRITERS)
def test_a_file_of_another_kind_is_replaced_by_force_alone(
    arguments: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(name).write_text("my notes of a year", "utf-8")
    said = refused(capsys, *arguments)
    assert said.startswith(f"{name} is there already, and it ")
    assert said.endswith("name another file, or replace it with --force")
    if not {"--league", "reproduce"} & {*arguments} or "--only" in arguments:  # they take long
        assert main([*arguments, "--force"]) == 0
        # What was written may be replaced by what is written next, but for a table of cases.
        assert main(arguments) == (2 if arguments[0] == "example" else 0)


@pytest.mark.parametrize("arguments", [a for a, name in WRITERS.values() if "mine" in name])
def test_a_folder_is_not_made_for_a_file(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    there = [f"slip/{word}" if word.startswith("mine") else word for word in arguments]
    assert "cannot be written (there is no folder" in refused(capsys, *there)


@pytest.mark.parametrize("command", ["sweep --plot", "reproduce --only"])
def test_the_folder_of_results_is_made_and_files_may_be_named_in_it(command: str) -> None:
    arguments, name = WRITERS[command]
    there = [f"new/{word}" if word.startswith("mine") else word for word in arguments]
    assert main([*there, "--out", "new"]) == 0
    assert Path("new", name).is_file()


def test_a_table_is_not_replaced_by_its_own_page(capsys: pytest.CaptureFixture[str]) -> None:
    Path("link").symlink_to("cases.csv")
    Path("hard").hardlink_to("cases.csv")
    whole = os.path.abspath("cases.csv")  # noqa: PTH100
    for source in ("cases.csv", "link", whole):
        for page in ("cases.csv", "./cases.csv", "link", "hard", whole):
            said = refused(capsys, "fit", source, "--goal", "4", "--report", page, "--force")
            assert said == f"{Path(page)} is to be written, but it is also read; name another file"


def test_standard_input_is_not_replaced_either(tmp_path: Path) -> None:
    before = Path("cases.csv").read_bytes()
    command = [sys.executable, "-m", "grbp", "fit", "-", "--goal", "4", "--report", "cases.csv"]
    with Path("cases.csv").open("rb") as stdin:
        done = subprocess.run(
            command, stdin=stdin, cwd=tmp_path, capture_output=True, text=True, check=False
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert "it is also read" in done.stderr
    assert Path("cases.csv").read_bytes() == before


@pytest.mark.parametrize("option", ["--report", "--csv", "--plot"])
def test_a_fit_is_not_replaced_by_its_plan(
    option: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "fit.png" if option == "--plot" else "fit.json"
    Path(name).write_text(json.dumps(grbp.fit("cases.csv", 4).to_dict()), "utf-8")
    instead(monkeypatch, "plan", pytest.fail)
    said = refused(capsys, "plan", "--from", name, option, name, "--force")
    assert said == f"{name} is to be written, but it is also read; name another file"


def test_a_sweep_does_not_replace_what_it_reads(capsys: pytest.CaptureFixture[str]) -> None:
    Path("spec.toml").rename("x.csv")
    assert "x.csv is to be written, but" in refused(capsys, "sweep", "x.csv", "--out", ".")


@pytest.mark.parametrize(
    "arguments",
    [
        [*PLAN, "--csv", "one.png", "--plot", "one.png"],
        [*PLAN, "--csv", "one", "--report", "./one"],
        ["simulate", *ASKED, *SIZE, "--csv", "one", "--steps", "one"],
        ["sweep", "spec.toml", "--out", ".", "--plot", "linked.png"],
    ],
)
def test_two_outputs_are_two_files(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("linked.png").symlink_to("x.csv")
    assert "are the same file, and both are to be written" in refused(capsys, *arguments, "--force")
