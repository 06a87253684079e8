"""Chains, drift and groups on the shell: what files and options mean, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import grbp
from grbp.cli import main

GOALS = "goal = 6\np_c = 0.5\np_f = [0.01, 0.02, 0.1, 0.76, 0.93]\n"
WARDS = """
[groups.north]
goal = 4
p_c = 0.45
p_f = 0.3
[groups.south]
shape = "jumps"
stages = [
    { round = 1, goal = 4, p_c = 0.65, p_f = 0.3 },
    { round = 11, goal = 4, p_c = [0.5, 0.6, 0.7], p_f = 0.3, stay = 0.1 },
]
"""
pytestmark = pytest.mark.usefixtures("interpreted")

SIZE = ["--rounds", "40", "--replicas", "5", "--learner", "psrl", "--at", "10"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "goals.toml").write_text(GOALS)
    (tmp_path / "wards.toml").write_text(WARDS)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["--quiet", *arguments]) == 0
    return capsys.readouterr().out


def means(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[float]:
    """The mean regret of a simulation that the shell was asked for."""
    answer = json.loads(said(capsys, "simulate", *SIZE, "--json", *arguments))
    numbers: list[float] = answer["learners"]["psrl"]["mean"]
    return numbers


def simulated(world: grbp.Problem | grbp.Chain | grbp.Drift | grbp.Groups) -> list[float]:
    numbers: list[float] = (
        grbp.simulate(world, "psrl", 40, 5, checkpoints=[10]).curves["psrl"].mean.tolist()
    )
    return numbers


@pytest.mark.usefixtures("here")
def test_a_file_is_simulated_as_what_it_describes(capsys: pytest.CaptureFixture[str]) -> None:
    chain = grbp.Chain(6, grbp.Move(0.5, 0.5), [0.01, 0.02, 0.1, 0.76, 0.93])
    assert means(capsys, "--chain", "goals.toml") == simulated(chain)
    north, high = grbp.Problem(4, 0.45, 0.3), grbp.Problem(4, 0.65, 0.3)
    p_c = np.array([0.5, 0.6, 0.7])
    later = grbp.Chain(4, grbp.Move(0.9 * p_c, 0.9 * (1.0 - p_c), stay=0.1), 0.3)
    south = grbp.Drift([(1, high), (11, later)], "jumps")
    wards = grbp.Groups({"north": north, "south": south})
    assert means(capsys, "--chain", "wards.toml") == pytest.approx(simulated(wards))
    assert "north" in said(capsys, "simulate", *SIZE, "--chain", "wards.toml", "--pooled")


@pytest.mark.usefixtures("here")
def test_drift_is_read_from_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--goal", "4", "--p-c", ".45", "--p-f", ".3"]
    low, high = grbp.Problem(4, 0.45, 0.3), grbp.Problem(4, 0.65, 0.2)
    there, back = grbp.Problem(4, 0.65, 0.3), grbp.Problem(4, 0.65, 0.1)
    told = means(capsys, *asked, "--drift", "linear:p_c=.65@20,p_f=.2@20")
    assert told == simulated(grbp.Drift([(1, low), (20, high)]))
    told = means(capsys, *asked, "--drift", "jumps:p_f=.1@30,p_c=.65@1e1")
    assert told == simulated(grbp.Drift([(1, low), (10, there), (30, back)], "jumps"))


@pytest.mark.usefixtures("here")
def test_a_chain_is_solved(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(said(capsys, "solve", "--chain", "goals.toml", "--json"))
    assert answer["action"] == [0, 0, 0, 1, 1]
    assert answer["value"] == pytest.approx(0.566)
    assert answer["best_threshold"] == 0
    assert answer["gap"] == pytest.approx(0.066)
    shown = said(capsys, "solve", "--chain", "goals.toml")
    assert "best is FINISH in 4, 5" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_records_become_a_chain(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    table = here / "cases.csv"
    assert (
        main(["example", "finish-by-state", "--goal", "5", "--cases", "300", "--out", str(table)])
        == 0
    )
    capsys.readouterr()
    asked = ("fit", str(table), "--goal", "5", "--chain", "ward.toml")
    said(capsys, *asked)
    answer = json.loads(said(capsys, "solve", "--chain", "ward.toml", "--json"))
    chain = grbp.fit(table, goal=5).to_chain()
    assert answer["problem"]["p_f"] == pytest.approx(chain.p_f.tolist())
    assert answer["problem"]["p_c"] == pytest.approx(chain.p_c.tolist())
    said(capsys, *asked)  # It replaces what it wrote itself,
    (here / "ward.toml").write_text("goal = 4\n")
    assert main(["--quiet", *asked]) == 2  # and nothing else.
    assert "it is not a chain that grbp fit wrote" in capsys.readouterr().err


def test_what_nobody_tried_has_to_be_chosen(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    table = here / "cases.csv"
    assert main(["example", "model", "--cases", "80", "--out", str(table)]) == 0
    capsys.readouterr()
    asked = ["--quiet", "fit", str(table), "--goal", "4", "--chain", "ward.toml"]
    assert main(asked) == 2
    assert "FINISH was never tried in the states 2, 3" in capsys.readouterr().err
    assert not (here / "ward.toml").exists()
    fit = grbp.fit(table, goal=4)
    assert fit.p_f is not None
    pooled = fit.p_f.successes / fit.p_f.tries
    for given, taken in (("pooled", pooled), (".2", 0.2)):
        assert main([*asked, "--unknown-p-f", given]) == 0
        answer = json.loads(
            said(capsys, "solve", "--chain", "ward.toml", "--json").splitlines()[-1]
        )
        assert answer["problem"]["p_f"][1:] == pytest.approx([taken, taken])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["solve", "--chain", "none.toml"], "none.toml cannot be read"),
        (["solve", "--chain", "goals.toml", "--goal", "4"], "--chain and --goal were given"),
        (
            ["solve", "--chain", "wards.toml"],
            "cannot solve Groups: the parts differ, so ask about",
        ),
        (
            ["solve", "--chain", "bad.toml"],
            "bad.toml: the key 'stya' was given for a chain",
        ),
        (["solve", "--chain", "broken.toml"], "broken.toml is not a TOML file"),
        (["simulate", "--goal", "4", "--p-c", ".5"], "required: --p-f; or give --chain"),
        (["simulate", "--chain", "goals.toml", "--engine", "leap"], "engine = 'leap'"),
        (["simulate", "--chain", "goals.toml", "--pooled"], "True where there are Groups"),
        (["simulate", "--chain", "goals.toml", "--steps", "x.csv"], "--steps and a Chain"),
        (["simulate", "--chain", "wards.toml", "--drift", "sine:p_c=.5@9"], "one chain"),
        (["simulate", "--chain", "goals.toml", "--drift", "p_c=.5@9"], "it must be a shape"),
        (["simulate", "--chain", "goals.toml", "--drift", "jumps:p_c=2@9"], "p_c"),
        (["simulate", "--chain", "goals.toml", "--drift", "jumps:p_c=.2@x"], "round"),
        (["fit", "x.csv", "--goal", "4", "--unknown-p-f", ".2"], "it needs --chain"),
        (["solve", "--bounds", "--chain", "goals.toml"], "has a Chain; bounds are about one p_c"),
    ],
)
def test_mistakes_are_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    Path("bad.toml").write_text(GOALS + "stya = 0.1\n")
    Path("broken.toml").write_text("goal =\n")
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1
