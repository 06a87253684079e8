"""The shell commands about learners: simulate and learners."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import without_notes

import grbp
from grbp import Problem
from grbp.cli import main
from grbp.experiments.results import COLUMNS
from grbp.learners.getbe import getbe_sm

ASKED = ["--goal", "4", "--p-c", ".45", "--p-f", ".3"]
SIZE = ["--rounds", "300", "--replicas", "40", "--seed", "7"]
TWO = ["--learner", "getbe-sm", "--learner", "getbe-ucb"]


def expected(**options: Any) -> grbp.Simulation:
    return grbp.simulate(Problem(4, 0.45, 0.3), ["getbe-sm", "getbe-ucb"], 300, 40, 7, **options)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["simulate", *ASKED, *SIZE, *arguments]) == 0
    out, err = capsys.readouterr()
    assert without_notes(err) == ""
    return out


def test_json_is_what_the_library_says(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, *TWO, "--at", "10,100", "--json")
    assert out.count("\n") == 1
    answer = json.loads(out)
    result = expected(checkpoints=[10, 100])
    assert answer["checkpoints"] == [10, 100, 300]
    assert answer["problem"] == {"goal": 4, "p_c": 0.45, "p_f": 0.3, "start": "uniform"}
    assert list(answer["learners"]) == ["getbe-sm", "getbe-ucb"]
    for name, curve in result.curves.items():
        told = answer["learners"][name]
        assert told["mean"] == curve.mean.tolist()
        assert told["se"] == curve.se.tolist()
        assert told["sd"] == curve.sd
        assert sum(told["threshold_share"].values()) == pytest.approx(1.0)


def test_regret_kinds_openings_and_threads(capsys: pytest.CaptureFixture[str]) -> None:
    for option, keyword in (
        (["--regret", "realised"], {"regret": "realised"}),
        (["--regret", "by-start"], {"regret": "by-start"}),
        (["--opening", "once"], {"opening": "once"}),
        (["--engine", "walk"], {"engine": "walk"}),
        (["--engine", "leap"], {"engine": "leap"}),
        (["--threads", "1"], {}),
    ):
        answer = json.loads(said(capsys, *TWO, *option, "--json"))
        result = expected(**keyword)
        for name, curve in result.curves.items():
            assert answer["learners"][name]["mean"] == curve.mean.tolist()
            if curve.by_start is not None:
                assert answer["learners"][name]["by_start"] == curve.by_start.tolist()


def test_json_names_the_engine_of_every_learner(capsys: pytest.CaptureFixture[str]) -> None:
    learners = ["--learner", "getbe-sm", "--learner", "ucb1-policies"]
    size = ["--replicas", "2", "--seed", "7", "--json"]
    for rounds, option, engine in (
        ("250", [], "walk"),  # 4 states times 250 rounds are soon walked
        ("251", [], "leap"),
        ("251", ["--engine", "walk"], "walk"),
    ):
        assert main(["simulate", *ASKED, *learners, *size, "--rounds", rounds, *option]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["engines"] == {"getbe-sm": engine, "ucb1-policies": "walk"}
    asked = ["simulate", *ASKED, *SIZE, *TWO, "--json", "--engine", "leap"]
    assert main(asked) == 0
    assert set(json.loads(capsys.readouterr().out)["engines"].values()) == {"leap"}


def test_walking_and_leaping_have_one_mean(capsys: pytest.CaptureFixture[str]) -> None:
    """Within 4 standard errors of each other; different draws, so not the same."""
    size = ["--rounds", "400", "--replicas", "3000", "--seed", "7", "--at", "20,100", "--json"]
    told = []
    for engine in ("walk", "leap"):
        learners = ["--learner", "getbe-sm", "--learner", "getbe-ps"]
        assert main(["simulate", *ASKED, *size, *learners, "--engine", engine]) == 0
        told.append(json.loads(capsys.readouterr().out)["learners"])
    for name in ("getbe-sm", "getbe-ps"):
        walked, leapt = (np.array([one[name]["mean"], one[name]["se"]]) for one in told)
        assert (np.abs(walked[0] - leapt[0]) <= 4 * np.hypot(walked[1], leapt[1])).all()
        assert (walked[0] != leapt[0]).any()


def test_help_tells_of_engines(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    said = " ".join(" ".join(lines).split())
    assert "--engine {auto,walk,leap}" in said
    assert "with the same law" in said


def test_csv_holds_every_number(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "new" / "curves.csv"
    assert said(capsys, *TWO, "--csv", str(file)) == f"{file}\n"
    rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8"))))
    assert tuple(rows[0]) == COLUMNS
    result = expected()
    for name, curve in result.curves.items():
        mine = [row for row in rows if row["learner"] == name]
        assert [int(row["round"]) for row in mine] == result.checkpoints.tolist()
        assert [float(row["mean"]) for row in mine] == curve.mean.tolist()
        assert [float(row["se"]) for row in mine] == curve.se.tolist()
        for name_of_end, end in zip(("low", "high"), curve.band(), strict=True):
            assert [float(row[name_of_end]) for row in mine] == end.tolist()


def test_plot_writes_both_kinds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    named = said(capsys, *TWO, "--plot", str(tmp_path / "curves.png")).splitlines()
    assert named == [str(tmp_path / "curves.png"), str(tmp_path / "curves.svg")]
    assert sorted(str(path) for path in tmp_path.iterdir()) == named


def test_a_person_reads_it_at_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, *TWO).splitlines()
    assert max(map(len, lines)) <= 80
    best = min(expected().curves.items(), key=lambda item: item[1].mean[-1])[0]
    assert lines[6].split()[0] == best  # the smallest regret first
    assert "40 replicas of 300 rounds, seed 7" in lines


def test_constants_can_be_set_in_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "--learner", "getbe-sm:gamma=2.5", "--json")
    told = json.loads(out)["learners"]["getbe-sm:gamma=2.5"]["mean"]
    learner = grbp.Learner("x", getbe_sm, grbp.Control(2.5))
    curve = grbp.simulate(Problem(4, 0.45, 0.3), [learner], 300, 40, 7).curves["x"]
    assert told == curve.mean.tolist()


def test_without_a_name_it_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(json.loads(said(capsys, "--json"))["learners"]) == [grbp.DEFAULT_LEARNER]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*SIZE, "--learner", "nobody"], "learner 'nobody' was asked for; there is doorstep-lai"),
        ([*SIZE, *TWO, "--learner", "getbe-sm"], "each named once"),
        ([*SIZE, "--learner", "getbe-sm:gamma=-1"], "gamma = -1.0 was given"),
        ([*SIZE, "--learner", "getbe-sm:delta=1"], "there can be gamma=NUMBER"),
        ([*SIZE, "--learner", "getbe-ps:gamma=1"], "nothing for this learner"),
        ([*SIZE, "--learner", "threshold-4"], "threshold = 4 was given"),
        ([*SIZE, *TWO, "--rounds", "0"], "rounds = 0 was given"),
        ([*SIZE, *TWO, "--replicas", "many"], "replicas = 'many' was given"),
        ([*SIZE, *TWO, "--seed", "-1"], "seed = -1 was given"),
        ([*SIZE, *TWO, "--at", "10,301"], "checkpoints = 301 was given"),
        ([*SIZE, *TWO, "--threads", "0"], "threads = 0 was given"),
        ([*SIZE, *TWO, "--json", "--csv", "x"], "--json and --csv were given"),
        ([*SIZE, *TWO, "--regret", "none"], "invalid choice: 'none'"),
        ([*SIZE, *TWO, "--engine", "fly"], "--engine: invalid choice: 'fly'"),
        (
            [*SIZE, "--learner", "ucb1-policies", "--engine", "leap"],
            "ucb1-policies plays no thresholds and can only be walked ('walk' or 'auto')",
        ),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    assert main(["simulate", *ASKED, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert sentence in err


def test_too_many_policies_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--goal", "12", "--p-c", ".5", "--p-f", ".3"]
    assert main(["simulate", *asked, *SIZE, "--learner", "ucb1-policies"]) == 2
    assert "allowed up to a goal of 11" in capsys.readouterr().err


def test_a_file_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")
    for option in ("--csv", "--plot"):
        place = str(tmp_path / "file" / "x")
        assert main(["simulate", *ASKED, *SIZE, *TWO, option, place]) == 2
        err = without_notes(capsys.readouterr().err)
        assert str(tmp_path / "file") in err
        assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_learners_are_listed_with_a_line_and_a_reference(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["learners"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for name in grbp.LEARNERS:
        (line,) = [line for line in lines if line.split()[0] == name]
        assert len(line.split()) > 2
    assert main(["learners", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["learners"]
    assert [one["name"] for one in listed] == list(grbp.LEARNERS)
    assert all(one["reference"] for one in listed if one["name"] != "oracle")


@pytest.mark.filterwarnings("default::RuntimeWarning")
def test_a_warning_is_one_line_for_a_person(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grbp.engine.decisions.numba", lambda: None)
    monkeypatch.setattr("grbp.engine.decisions.compiled", lambda function, *_: function)
    size = ["--rounds", "20", "--replicas", "2", "--seed", "7", "--learner", "no-explore"]
    assert main(["simulate", *ASKED, *size, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["rounds"] == 20
    lines = without_notes(err).splitlines()
    assert lines
    assert all(line.startswith("grbp: note: Numba is not installed") for line in lines)


@pytest.mark.slow
def test_compiling_is_told_and_done_once(tmp_path: Path) -> None:
    size = ["--rounds", "20", "--replicas", "2", "--seed", "7", "--learner", "no-explore"]
    first, second = (
        subprocess.run(
            [sys.executable, "-m", "grbp", "simulate", *ASKED, *size, "--json"],
            env=os.environ | {"GRBP_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    )
    notes = first.stderr.splitlines()
    assert "grbp: note: compiling no-explore" in "".join(notes)
    assert all(line.endswith("once; the next start finds it") for line in notes)
    assert without_notes(first.stderr) == second.stderr == ""
    assert second.stdout == first.stdout
