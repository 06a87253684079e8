"""The league on the shell: a table for a person, everything for a program."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from runs import made_up, without_notes

import grbp
from grbp.cli import main
from grbp.experiments import run
from grbp.experiments.catalog import PAPER_LEARNERS
from grbp.experiments.cells import Cell
from grbp.experiments.league import league_spec
from grbp.experiments.league_table import HINDSIGHT
from grbp.experiments.sweep_result import SweepResult
from grbp.experiments.tables import COLUMNS

THREE = ("getbe-sm", "getbe-ucb", "getbe-sm:gamma=2")
SMALL = league_spec(THREE, goals=(2, 4), step=0.25, rounds=60, replicas=12, seed=5)
ASKED = [
    "--goal", "2,4", "--step", ".25", "--rounds", "60", "--replicas", "12", "--seed", "5",
    *(part for name in THREE for part in ("--learner", name)),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("league")


@pytest.fixture(scope="module")
def small(folder: Path) -> SweepResult:
    return run(SMALL, folder / "data")


def said(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> str:
    assert main(["sweep", "--league", *ASKED, "--out", str(folder), *arguments]) == 0
    out, err = capsys.readouterr()
    assert without_notes(err) == ""
    return out


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_json_says_everything(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    out = said(capsys, folder, "--json")
    assert out.count("\n") == 1
    answer = json.loads(out, parse_constant=pytest.fail)
    league = run(SMALL, folder / "data")
    assert answer["spec"] == {
        "learners": list(THREE),
        "goals": [2, 4],
        "step": 0.25,
        "rounds": 60,
        "replicas": 12,
        "seed": 5,
        "engine": "auto",
        "grid": [0.25, 0.5, 0.75],
    }
    assert (answer["left_out"], list(answer["goals"])) == ({}, ["2", "4"])
    assert answer["overall"] == json.loads(json.dumps(league.table().as_json()))
    for goal in (2, 4):
        told = answer["goals"][str(goal)]
        for name in THREE:
            regret = league.regret_map(name, goal)
            assert told["maps"][name] == {"mean": regret.mean.tolist(), "se": regret.se.tolist()}
        for pair, found in zip(told["pairs"], league.table(goal).pairs, strict=True):
            assert grbp.Pair(**pair) == found
    assert [one["learner"] for one in answer["overall"]["standings"]] == [
        one.learner for one in league.table().standings
    ]


def test_csv_holds_every_cell(
    capsys: pytest.CaptureFixture[str], small: SweepResult, folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "league.csv"
    assert said(capsys, folder, "--csv", str(file)) == f"{file}\n"
    rows = list(csv.reader(io.StringIO(file.read_text("utf-8"))))
    assert tuple(rows[0]) == COLUMNS
    assert sorted(rows[1:]) == sorted(list(map(str, row)) for row in small.rows())
    order = [(goal, name) for goal in ("2", "4") for name in THREE for _ in range(9)]
    assert [(row[0], row[COLUMNS.index("learner")]) for row in rows[1:]] == order


def test_plot_draws_every_goal(
    capsys: pytest.CaptureFixture[str], small: SweepResult, folder: Path, tmp_path: Path
) -> None:
    named = said(capsys, folder, "--plot", str(tmp_path / "map")).splitlines()
    assert len(named) == 2 * len(small.spec.goals)
    assert sorted(str(path) for path in tmp_path.iterdir()) == sorted(named)


def test_a_person_reads_it_at_80_columns(
    capsys: pytest.CaptureFixture[str], small: SweepResult, folder: Path
) -> None:
    for option in ([], ["--pairs"]):
        lines = said(capsys, folder, *option).splitlines()
        assert max(map(len, lines)) <= 80
        assert lines[0] == "12 replicas of 60 rounds, seed 5"
        start = next(k for k, line in enumerate(lines) if line.startswith("goal 4: 9 problems"))
        shown = [line.split()[0] for line in lines[start + 2 : start + 5]]
        assert shown == [one.learner for one in small.table(4).standings]
        assert any(line.startswith("all goals: 18 problems") for line in lines)


def test_wide_numbers_and_names_stay_within_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    long = "getbe-sm:gamma=1234567.125"
    spec = league_spec((*PAPER_LEARNERS, long), goals=(4, 10**5), step=1 / 3)
    regret = np.array([[1234.5678, 98765.4], [0.0001234, 1e6 / 3.0]])

    def wide(cell: Cell) -> tuple[float, float]:
        problem, k = cell.problem, spec.learners.index(cell.learner) + 1
        one = regret[round(3 * problem.p_f) - 1, round(3 * problem.p_c) - 1]
        return one * k, one

    result = made_up(spec, wide)
    monkeypatch.setattr(grbp.experiments, "run", lambda *_, **__: result)
    assert main(["sweep", "--league", "--pairs", "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    row = next(line for line in lines if line.startswith("  ucb-polselection  "))
    assert row.split()[1:] == ["541.7k", "170k", "1.667M", ".67,", ".67", "0", "433.3k", "241k"]
    assert any(line.strip() == long for line in lines)
    assert sum(HINDSIGHT in line for line in lines) > 3


def test_help_is_at_most_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["sweep", "--league", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "(4,10,50)" in "".join(lines)


def test_an_interruption_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(grbp.experiments, "run", interrupt)
    assert main(["sweep", "--league", *ASKED, "--out", str(tmp_path)]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert f"kept in {tmp_path / 'data'}" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--learner", "getbe-sm"], "two or more, each once"),
        (["--learner", "getbe-sm", "--learner", "nobody"], "learner 'nobody' was asked for"),
        (["--goal", "4,x"], "goal = 'x' was given"),
        (["--goal", ""], "goal = '' was given"),
        (["--step", ".3"], "step = 0.3 was given"),
        (["--step", "fine"], "step = 'fine' was given"),
        (["--rounds", "many"], "rounds = 'many' was given"),
        (["--replicas", "1"], "replicas = 1 was given"),
        (["--seed", "x"], "seed = 'x' was given"),
        ([*ASKED, "--threads", "0"], "threads = 0 was given"),
        (["--json", "--csv", "-"], "--csv - and --json were given"),
        ([*ASKED, "--out", "/dev/null"], "cannot be made"),
    ],
)
def test_a_mistake_gets_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    assert main(["sweep", "--league", "--out", str(tmp_path), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("grbp: ")
    assert err.count("\n") == 1
    assert sentence in err
