"""The shell commands about learners: simulate and learners."""

import csv
import io
import json
import logging
import os
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from runs import without_notes
from shell import ASKED, SIZE, TWO, expected, instead, said
from simulations import simulation

import grbp
from grbp import Problem
from grbp.cli import main
from grbp.experiments.tables import COLUMNS
from grbp.learners.getbe import getbe_sm


@pytest.mark.slow
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


@pytest.mark.slow
def test_regret_kinds_openings_and_threads(capsys: pytest.CaptureFixture[str]) -> None:
    for option, keyword in (
        (["--regret", "realised"], {"regret": "realised"}),
        (["--regret", "by-start"], {"regret": "by-start"}),
        (["--initial-estimates", "once"], {"initial_estimates": "once"}),
        (["--engine", "walk"], {"engine": "walk"}),
        (["--engine", "leap"], {"engine": "leap"}),
        (["--engine", "draw"], {"engine": "draw"}),
        (["--threads", "1"], {}),
    ):
        answer = json.loads(said(capsys, *TWO, *option, "--json"))
        result = expected(**keyword)
        for name, curve in result.curves.items():
            assert answer["learners"][name]["mean"] == curve.mean.tolist()
            if curve.by_start is not None:
                assert answer["learners"][name]["by_start"] == curve.by_start.tolist()


@pytest.mark.slow
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


@pytest.mark.soak
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
    assert "--engine {walk,leap,draw,auto}" in said
    assert "with the same law" in said


def test_csv_holds_every_number(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "curves.csv"
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kinds"),
    [("curves", ["png", "svg"]), ("curves.png", ["png"]), ("curves.pdf", ["pdf"])],
)
def test_plot_writes_the_kinds_that_are_asked_for(
    name: str, kinds: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    named = said(capsys, *TWO, "--plot", str(tmp_path / name)).splitlines()
    assert named == [str(tmp_path / f"curves.{kind}") for kind in kinds]
    assert sorted(str(path) for path in tmp_path.iterdir()) == named


@pytest.mark.slow
def test_all_forms_of_an_answer_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table, picture = tmp_path / "curves.csv", tmp_path / "curves.pdf"
    files = ["--csv", str(table), "--plot", str(picture)]
    assert said(capsys, *TWO, *files) == f"{table}\n{picture}\n"
    assert main(["simulate", *ASKED, *SIZE, *TWO, *files, "--json"]) == 0
    out, err = capsys.readouterr()
    assert out == said(capsys, *TWO, "--json")
    notes = [f"grbp: note: wrote {path}" for path in (table, picture)]
    assert without_notes(err).splitlines() == notes
    assert said(capsys, *TWO, "--csv", "-") == table.read_text("utf-8")
    assert picture.read_bytes().startswith(b"%PDF")


def test_what_cannot_be_written_is_known_before_the_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    instead(monkeypatch, "simulate", pytest.fail)
    (tmp_path / "file").write_text("in the way", "utf-8")
    (tmp_path / "a.svg").mkdir()
    for option, place in (
        ("--csv", tmp_path), ("--csv", tmp_path / "file" / "x"), ("--plot", tmp_path / "a"),
        ("--plot", tmp_path / "file" / "x"),
    ):  # fmt: skip
        assert main(["simulate", *ASKED, *SIZE, *TWO, option, str(place)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "cannot be written" in err
        assert err.count("\n") == 1
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["simulate", *ASKED, *SIZE, *TWO, "--plot", str(tmp_path / "b")]) == 2
    assert "pip install 'grbp[plots]'" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "file"]


@pytest.mark.parametrize("function", ["write_table", "grbp.save_simulation"])
def test_a_result_that_cannot_be_written_in_the_end_is_shown(
    function: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    table = said(capsys, *TWO)
    full = Mock(side_effect=grbp.CannotWrite("the disk is full"))
    monkeypatch.setattr(function if "." in function else f"grbp.cli.outputs.{function}", full)
    files = ["--csv", str(tmp_path / "x.csv"), "--plot", str(tmp_path / "x.png")]
    assert main(["simulate", *ASKED, *SIZE, *TWO, *files]) == 2
    out, err = capsys.readouterr()
    assert out.endswith(table)
    assert without_notes(err) == "grbp: the disk is full\n"
    assert main(["simulate", *ASKED, *SIZE, *TWO, *files, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["rounds"] == 300


def test_quiet_and_verbose_may_stand_before_or_after_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def noted(*_: object, **__: object) -> grbp.Simulation:
        logging.getLogger("grbp").info("compiling something")
        logging.getLogger("grbp").debug("a detail")
        warnings.warn("this is slow", RuntimeWarning, stacklevel=1)
        return replace(simulation({"oracle": 0.0}), engines={"oracle": "leap"})

    instead(monkeypatch, "simulate", noted)
    warnings.simplefilter("always")
    told = {}
    for option in ("", "-q", "--quiet", "-v", "--verbose"):
        for place in (0, 1):
            asked = ["simulate", *ASKED]
            asked[place:place] = [option] if option else []
            assert main(asked) == 0
            out, told[option, place] = capsys.readouterr()
            assert "oracle" in out
    usual = "grbp: note: compiling something\ngrbp: note: this is slow\n"
    for (option, _), err in told.items():
        if "v" in option:
            lines = [re.sub(r"note, after [0-9.]+ s:", "note:", line) for line in err.splitlines()]
            engine = "oracle was played by the engine 'leap'"
            notes = ("compiling something", "a detail", "this is slow", engine)
            assert lines == [f"grbp: note: {note}" for note in notes]
        else:
            assert err == ("" if option else usual)


def test_constants_can_be_set_in_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "--learner", "getbe-sm:gamma=2.5", "--json")
    told = json.loads(out)["learners"]["getbe-sm:gamma=2.5"]["mean"]
    learner = grbp.Learner("x", getbe_sm, grbp.Control(2.5))
    curve = grbp.simulate(Problem(4, 0.45, 0.3), [learner], 300, 40, 7).curves["x"]
    assert told == curve.mean.tolist()


@pytest.mark.usefixtures("interpreted")
def test_without_a_name_it_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(json.loads(said(capsys, "--json"))["learners"]) == [grbp.DEFAULT_LEARNER]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            [*SIZE, "--learner", "nobody"],
            "learner 'nobody' was asked for; there is doorstep-optimal",
        ),
        ([*SIZE, *TWO, "--learner", "getbe-sm"], "each named once"),
        ([*SIZE, "--learner", "getbe-sm:gamma=-1"], "gamma = -1.0 was given"),
        ([*SIZE, "--learner", "getbe-sm:delta=1"], "there can be gamma=NUMBER"),
        ([*SIZE, "--learner", "getbe-ps:gamma=1"], "there can be memory=ROUNDS, memory=averaged"),
        ([*SIZE, "--learner", "threshold-4"], "threshold = 4 was given"),
        ([*SIZE, *TWO, "--rounds", "0"], "rounds = 0 was given"),
        ([*SIZE, *TWO, "--replicas", "many"], "replicas = 'many' was given"),
        ([*SIZE, *TWO, "--seed", "-1"], "seed = -1 was given"),
        ([*SIZE, *TWO, "--at", "10,301"], "checkpoints = 301 was given"),
        ([*SIZE, *TWO, "--threads", "0"], "threads = 0 was given"),
        ([*SIZE, *TWO, "--json", "--csv", "-"], "--csv - and --json were given"),
        ([*SIZE, *TWO, "--csv", "."], "the path '.' was given; it must end with a file name"),
        ([*SIZE, *TWO, "--csv", ".."], ".. cannot be written (Is a directory)"),
        ([*SIZE, *TWO, "--csv", ""], "it must end with a file name"),
        ([*SIZE, *TWO, "--plot", "/"], "the path '/' was given; it must end with a file name"),
        ([*SIZE, *TWO, "--rounds", "2.5"], "rounds = '2.5' was given"),
        ([*SIZE, "--learner", "getbe-sn"], "was asked for; did you mean 'getbe-sm'?"),
        ([*SIZE, *TWO, "--learner", "GETBE-SM"], "each named once"),
        ([*SIZE, *TWO, "--regret", "none"], "--regret 'none' was given; it must be pseudo"),
        ([*SIZE, *TWO, "--engine", "fly"], "--engine 'fly' was given"),
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
    every = [*grbp.LEARNERS, *grbp.STATE_LEARNERS]
    for name in every:
        (line,) = [line for line in lines if line.startswith(f"{name} ")]
        assert len(line.split()) > 2
    assert main(["learners", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["learners"]
    assert [one["name"] for one in listed] == every
    assert all(one["reference"] for one in listed if one["name"] != "oracle")
    for one, name in zip(listed, every, strict=True):
        known = grbp.learner_constants(grbp.find_learner(name, Problem(4, 0.5, 0.5)))
        assert one["constants"] == [constant._asdict() for constant in known]
        for constant in known:
            assert f" :{constant.name}={constant.default:g}  " in "\n".join(lines)


@pytest.mark.filterwarnings("default::RuntimeWarning")
def test_a_warning_is_one_line_for_a_person(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grbp.engine.decisions.numba", lambda: None)
    monkeypatch.setattr("grbp.engine.decisions.compile_function", lambda function, *_: function)
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


WARDS = """
import grbp

def patient(goal, constants, n, key):
    return 1 if n.rho > 5 else 0

mine = grbp.Learner("patient", patient)
"""


@pytest.mark.slow
def test_a_learner_of_ones_own_lies_where_the_user_is(tmp_path: Path) -> None:
    (tmp_path / "wards.py").write_text(WARDS, "utf-8")
    size = ["--rounds", "20", "--replicas", "2", "--seed", "7", "--learner"]
    sentences = {"wards:mine": "", "wards:yours": "grbp: learner 'wards:yours' was asked for"}
    for name, sentence in sentences.items():
        done = subprocess.run(
            [sys.executable, "-P", "-m", "grbp", "simulate", *ASKED, *size, name, "--json"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert without_notes(done.stderr).startswith(sentence)
        assert done.returncode == (2 if sentence else 0)
        assert bool(sentence) or list(json.loads(done.stdout)["learners"]) == [name]
