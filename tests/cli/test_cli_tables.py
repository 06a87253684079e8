"""What a person reads of a simulation: tables at 80 columns, and what they leave out."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from shell import ASKED, TWO, expected, instead, said
from simulations import curve as made_up, simulation

import grbp
from grbp import Problem
from grbp.cli import main


def test_a_person_reads_it_at_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, *TWO).splitlines()
    assert max(map(len, lines)) <= 80
    best = min(expected().curves.items(), key=lambda item: item[1].mean[-1])[0]
    assert lines[6].split()[0] == best  # the smallest regret first
    assert "40 replicas of 300 rounds, seed 7" in lines


def test_a_problem_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", *ASKED]) == 0
    assert "1,000 replicas of 5,000 rounds, seed 0" in capsys.readouterr().out.splitlines()
    assert main(["simulate", *ASKED, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["rounds"], answer["replicas"], answer["seed"]) == (5000, 1000, 0)
    asked = (Problem(4, 0.45, 0.3), [grbp.DEFAULT_LEARNER], 5000, 1000, 0)
    (curve,) = grbp.simulate(*asked).curves.values()
    assert answer["learners"][grbp.DEFAULT_LEARNER]["mean"] == curve.mean.tolist()


def test_numbers_may_be_written_as_powers_of_ten(capsys: pytest.CaptureFixture[str]) -> None:
    size = ["--rounds", "3e2", "--replicas", "4e1", "--seed", "7e0", "--at", "1e1,1E2"]
    assert main(["simulate", *ASKED, *size, *TWO, "--json"]) == 0
    assert capsys.readouterr().out == said(capsys, *TWO, "--at", "10,100", "--json")


def cells(lines: list[str]) -> list[list[str]]:
    """The words of every line of a table, each word within its own column."""
    assert max(map(len, lines)) <= 80
    return [line.split() for line in lines]


@pytest.mark.parametrize("rounds", [999_999, 10**6, 123_456_789, 10**9, 10**12])
def test_a_table_of_many_rounds_and_long_names_is_readable(
    rounds: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "doorstep-optimal:horizon=1000000000,good=1.25,bad=1,up=2,and-a-name-of-80-letters"
    finals = {"getbe-sm": 2.0 * rounds, "oracle": 0.0, long: 1.23456e-5, "getbe-ps": 1234567.0}
    instead(monkeypatch, "simulate", lambda *_, **__: simulation(finals, rounds=rounds))
    assert main(["simulate", *ASKED]) == 0
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines()[5:] if line.strip() != long]
    assert len(lines) == out.count("\n") - 6
    head, *rows = cells(lines)
    assert head[0] == "learner"
    assert head[-1] == "+-"
    assert len(head) == 7
    for row in rows:
        numbers = row if row[0] not in finals else row[1:]
        assert len([float(number.replace(",", "")) for number in numbers]) == 6
    last = float(rows[-1][-2].replace(",", ""))
    assert last == pytest.approx(2.0 * rounds, rel=0.2)  # the largest comes last
    assert float(head[-2].replace(",", "")) == pytest.approx(rounds, rel=0.005)


def test_the_checkpoints_asked_for_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for asked in ([10], [300], [5, 17], list(range(1, 300, 13))):
        out = said(capsys, *TWO, "--at", ",".join(map(str, asked)))
        shown = sorted({*asked, 300})
        result = expected(checkpoints=asked)
        tables = out.partition("\n\nNot covered")[0].split("\n\n")[2:]
        blocks = [cells(block.splitlines()) for block in tables]
        heads = [word for block in blocks for word in block[0][1:]]
        assert heads == [*map(str, shown), "+-"]
        for name, curve in result.curves.items():
            numbers = [
                n for block in blocks for row in block[1:] if row[0] == name for n in row[1:]
            ]
            told = [*curve.mean.tolist(), curve.se[-1]]
            assert [float(number) for number in numbers] == pytest.approx(told, rel=6e-4)


def test_checkpoints_that_are_asked_for_are_named_exactly(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = replace(simulation({"oracle": 0.0}, rounds=10), curves={"oracle": made_up(1.0, 10)})
    made = replace(made, checkpoints=np.array([1, 10**9, 10**9 + 1, 10**12]))
    instead(monkeypatch, "simulate", lambda *_, **__: made)
    assert main(["simulate", *ASKED, "--at", "1,1e9,1000000001"]) == 0
    heads = [word for line in cells(capsys.readouterr().out.splitlines()) for word in line]
    assert {"1", "1e9", "1,000,000,001", "1e12"} <= set(heads)


def test_regret_by_start_is_shown_by_first_state(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = said(capsys, *TWO, "--regret", "by-start").split("\n\n")
    assert blocks[-2] == "Of that after 300 rounds, by the state in which rounds began"
    head, *rows = cells(blocks[-1].splitlines())
    assert head == ["first", "state", "1", "2", "3"]
    result = expected(regret="by-start")
    assert {row[0] for row in rows} == set(result.curves)
    for name, *numbers in rows:
        by_start = result.curves[name].by_start
        assert by_start is not None
        assert [float(n) for n in numbers] == pytest.approx(by_start[-1].tolist(), rel=6e-4)


@pytest.mark.soak
def test_a_mean_that_rare_replicas_could_belie_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    two = ["getbe-ps", "ucb-polselection"]
    learners = ["--rounds", "3e3", "--learner", two[0], "--learner", two[1]]
    out = said(capsys, *learners)
    curves = grbp.simulate(Problem(4, 0.45, 0.3), two, 3000, 40, 7).curves
    assert [curve.covered for curve in curves.values()] == [False, True]
    assert "\nNot covered by the standard error: getbe-ps. Stuck" in out
    told = json.loads(said(capsys, *learners, "--json"))
    assert told["splitting"] is False
    assert [one["covered"] for one in told["learners"].values()] == [False, True]
    split = ["--splitting", "--replicas", "1e3", "-q"]
    out = said(capsys, *learners, *split)
    assert "1,000 replicas of 3,000 rounds, seed 7, by splitting" in out
    assert "Not covered" not in out
    told = json.loads(said(capsys, *learners, *split, "--json"))
    assert told["splitting"] is True
    asked = (Problem(4, 0.45, 0.3), two, 3000, 1000, 7)
    for name, curve in grbp.simulate(*asked, splitting=True).curves.items():
        assert told["learners"][name]["mean"] == curve.mean.tolist()


def test_one_replica_has_no_standard_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = ["simulate", *ASKED, "--rounds", "300", "--replicas", "1", "--learner", "getbe-sm"]
    assert main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "1 replica of 300 rounds, seed 0" in lines
    assert lines[-1].split()[-1] == "-"
    file = tmp_path / "one.csv"
    assert main([*asked, "--json", "--csv", str(file)]) == 0
    told = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["learners"]["getbe-sm"]
    assert told["sd"] is None
    assert set(told["se"]) == {None}
    rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8"))))
    assert {row[name] for row in rows for name in ("se", "low", "high")} == {""}
    assert [float(row["mean"]) for row in rows] == told["mean"]
