"""Step logs: every step of the simulated rounds, equal to what the engine counted bit for bit."""

from pathlib import Path

import numpy as np
import pytest
from shell import ASKED
from tables import everything

import grbp
from grbp import Problem
from grbp.cli import main
from grbp.engine.decisions import decisions
from grbp.engine.recorder import first_counters
from grbp.experiments import step_log as steps
from grbp.learners.registry import find_problem_learner
from grbp.numerics.rng import OPENING, replica_key
from grbp.records.reading import read_records

PROBLEM = Problem(5, 0.45, 0.3, {1: 0.25, 3: 0.75})
ROUNDS, REPLICAS, SEED = 60, 7, 11


@pytest.mark.parametrize("name", ["getbe-sm", "doorstep-optimal", "getbe-ps", "no-explore"])
def test_the_totals_of_a_log_are_the_counters_of_the_engine(name: str) -> None:
    learner = find_problem_learner(name, PROBLEM)
    counters = np.zeros((REPLICAS, 9))
    (block,) = decisions(
        PROBLEM, learner, range(1, ROUNDS + 1), REPLICAS, SEED,
        regret="realised", initial_estimates="once", counters=counters,
    )  # fmt: skip
    log = grbp.step_log(PROBLEM, name, ROUNDS, REPLICAS, SEED, initial_estimates="once")
    for r in range(REPLICAS):
        mine = {key: column[log["replica"] == r] for key, column in log.items()}
        first = first_counters(PROBLEM.p_c, PROBLEM.p_f, True, replica_key(SEED, OPENING, r))
        finish, won = mine["action"] == 1, mine["next_state"] == PROBLEM.goal
        up = mine["next_state"] == mine["state"] + 1
        assert counters[r, :5].tolist() == [
            ROUNDS + 1,
            first.f + finish.sum(),
            first.f_goal + (finish & won).sum(),
            first.c + (~finish).sum(),
            first.c_up + (~finish & up).sum(),
        ]
        ends = np.bincount(mine["order"][won], minlength=ROUNDS + 1).cumsum()
        assert block.won[r].tolist() == ends[1:].tolist()
        # Every action is that of the threshold that the round was played with.
        chosen = np.diff(block.played[r], axis=0, prepend=0).argmax(axis=1)
        threshold = np.array(learner.choices(PROBLEM.goal))[chosen][mine["order"] - 1]
        assert (finish == (mine["state"] <= threshold)).all()


def test_ucb1_over_policies_has_a_log_as_well() -> None:
    learner = find_problem_learner("ucb1-policies", PROBLEM)
    (block,) = decisions(PROBLEM, learner, range(1, ROUNDS + 1), REPLICAS, SEED)
    log = grbp.step_log(PROBLEM, "ucb1-policies", ROUNDS, REPLICAS, SEED)
    won = log["next_state"] == PROBLEM.goal
    assert np.bincount(log["replica"][won]).tolist() == block.won[:, -1].tolist()
    chosen = np.diff(block.played, axis=1, prepend=0).argmax(axis=2)
    policy = chosen[log["replica"], log["order"] - 1]
    assert (log["action"] == (policy >> (log["state"] - 1)) & 1).all()


def test_a_log_is_read_as_records_with_one_case_a_round() -> None:
    log = grbp.step_log(PROBLEM, ["getbe-sm", "ucb1-policies"], ROUNDS, REPLICAS, SEED)
    records = read_records(log, 5, group="learner")
    assert records.groups == ("getbe-sm", "ucb1-policies")
    assert records.cases == 2 * ROUNDS * REPLICAS
    assert (records.open_no_row, records.open_empty_next, dict(records.dropped)) == (0, 0, {})
    assert records.notes == ()
    assert records.in_group(1).cases == ROUNDS * REPLICAS
    assert np.unique(log["case"]).tolist() == list(range(1, records.cases + 1))


def test_the_log_does_not_depend_on_how_many_replicas_are_kept_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = grbp.step_log(PROBLEM, ["getbe-ps", "no-explore"], 20, 9, SEED)
    monkeypatch.setattr(steps, "_DECISIONS", 150)
    assert len(list(steps.step_blocks(PROBLEM, ["getbe-ps", "no-explore"], 20, 9, SEED))) > 4
    parts = grbp.step_log(PROBLEM, ["getbe-ps", "no-explore"], 20, 9, SEED)
    assert list(parts) == list(whole)
    for name, column in whole.items():
        assert (parts[name] == column).all(), name


def test_too_many_steps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(grbp.TooLarge, match=r"more than 20,000,000 steps"):
        grbp.step_log(PROBLEM, "no-explore", 1e6, 21)
    monkeypatch.setattr(steps, "MOST_STEPS", 100)
    with pytest.raises(grbp.TooLarge, match="ask for fewer rounds"):
        grbp.step_log(PROBLEM, "no-explore", 90, 1)
    with pytest.raises(grbp.InvalidInput, match="named once"):
        grbp.step_log(PROBLEM, ["no-explore", "no-explore"], 2, 1)


def test_the_shell_writes_the_steps_of_what_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["simulate", *ASKED, "--rounds", "40", "--replicas", "6", "--seed", "3"]
    asked += ["--learner", grbp.DEFAULT_LEARNER, "--learner", "no-explore", "--horizon"]
    path = tmp_path / "steps.csv"
    assert main([*asked, "--steps", str(path), "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert main([*asked, "--engine", "walk", "--quiet"]) == 0
    assert capsys.readouterr().out == shown
    told = [f"{grbp.DEFAULT_LEARNER}:horizon=40", "no-explore"]
    log = grbp.step_log(Problem(4, 0.45, 0.3), told, 40, 6, 3)
    text = path.read_text("utf-8")
    assert text.startswith("case,step,state,action,next_state,learner,replica,order\n1,1,")
    assert text.count("\n") == 1 + len(log["case"])
    file, frame = (read_records(source, 4, group="learner") for source in (path, log))
    assert everything(file) == everything(frame)


@pytest.mark.parametrize("also", [["--engine", "leap"], ["--engine", "draw"], ["--splitting"]])
def test_steps_are_written_of_walked_replicas_alone(
    tmp_path: Path, also: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "steps.csv"
    assert main(["simulate", *ASKED, "--steps", str(path), *also]) == 2
    assert f"--steps and {' '.join(also)} were given" in capsys.readouterr().err
    assert not path.exists()


def test_a_file_is_left_as_it_was_when_there_are_too_many_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "steps.csv"
    before = ",".join(steps.LOG_COLUMNS) + "\n"
    path.write_text(before)
    monkeypatch.setattr(steps, "MOST_STEPS", 700)
    monkeypatch.setattr(steps, "_DECISIONS", 300)
    sizes = ["--rounds", "50", "--replicas", "8", "--learner", "no-explore"]
    assert main(["simulate", *ASKED, *sizes, "--steps", str(path)]) == 2
    assert "more than 700 steps" in capsys.readouterr().err
    assert [file.read_text() for file in tmp_path.iterdir()] == [before]
