"""The wrapper that records steps: what it writes is what the environment did, and nothing else."""

import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from environments import ID, PROBLEMS, same
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import Autoreset, TimeLimit, TransformAction, TransformObservation
from tables import everything

from grbp.env import GamblersRuinEnv, RecordSteps
from grbp.errors import CannotWrite, InvalidInput
from grbp.records.reading import read_records


def play(env: Any, rounds: int, seed: int, steps: int | None = None) -> list[tuple[int, ...]]:
    """Play rounds with drawn actions; return the steps as they were seen from outside."""
    rng = np.random.default_rng(seed)
    seen: list[tuple[int, ...]] = []
    for case in range(1, rounds + 1):
        state, _ = env.reset(seed=seed if case == 1 else None)
        over, taken = False, 0
        while not over and taken != steps:
            action = int(rng.random() < 0.2)
            after, _, ended, truncated, info = env.step(action)
            taken += 1
            seen.append((case, info["slot"], int(state), action, int(after)))
            state, over = after, ended or truncated
    return seen


def rows(env: RecordSteps) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in env.columns.values()), strict=True))


@pytest.mark.parametrize("arguments", PROBLEMS)
def test_every_step_is_recorded_and_nothing_is_changed(arguments: dict[str, Any]) -> None:
    env, plain = RecordSteps(GamblersRuinEnv(**arguments)), GamblersRuinEnv(**arguments)
    assert rows(env) == []
    seen = play(env, 20, seed=4)
    assert rows(env) == seen == play(plain, 20, seed=4)
    records = read_records(env.columns, env.unwrapped.problem.goal)  # type: ignore[attr-defined]
    assert records.cases == 20
    assert (records.open_no_row, dict(records.dropped), records.notes) == (0, {}, ())


def test_answers_are_those_of_the_environment() -> None:
    env, plain = RecordSteps(GamblersRuinEnv(goal=6)), GamblersRuinEnv(goal=6)
    for seed in range(5):
        assert same(env.reset(seed=seed), plain.reset(seed=seed))
        assert same(env.step(0), plain.step(0))
    assert same(env.reset(options={"state": 2}), plain.reset(options={"state": 2}))
    with pytest.raises(InvalidInput, match="action = 2"):
        env.step(2)
    assert len(rows(env)) == 5


def test_rounds_that_are_truncated_or_abandoned_are_open_cases() -> None:
    cut = RecordSteps(TimeLimit(GamblersRuinEnv(goal=30, start=15), 3))
    seen = play(cut, 10, seed=1)
    assert rows(cut) == seen
    finished = sum(step[4] in (0, 30) for step in seen)
    assert 0 < finished < 10
    assert read_records(cut.columns, 30).open_no_row == 10 - finished
    left = RecordSteps(GamblersRuinEnv(goal=30, start=15))
    left.reset(seed=0)
    left.reset()  # A round without a step has no row, and so is no case.
    left.step(0)
    left.reset()
    left.step(0)
    records = read_records(left.columns, 30)
    assert (records.cases, records.open_no_row) == (2, 2)


def test_wrappers_inside_do_not_hide_what_was_done() -> None:
    inner = GamblersRuinEnv(goal=5, start=2)
    space = gym.spaces.Discrete(60)
    seen_as = TransformObservation(inner, lambda state: np.int64(10 * state), space)
    turned: Any = TransformAction(seen_as, lambda action: 1 - action, inner.action_space)
    env = RecordSteps(turned)
    state, _ = env.reset(seed=3)
    assert int(state) == 20
    assert int(env.step(0)[0]) in (0, 50)
    ((case, step, before, action, after),) = rows(env)
    assert (case, step, before, action) == (1, 1, 2, 1)
    assert after in (0, 5)


def test_rounds_that_a_wrapper_starts_are_cases_of_their_own() -> None:
    env = RecordSteps(Autoreset(GamblersRuinEnv(goal=3)))
    env.reset(seed=5)
    over = [bool(env.step(0)[2]) for _ in range(61)]
    records = read_records(env.columns, 3)
    # The step after an end starts a round and takes no action.
    assert records.rows == 61 - sum(over[:-1])
    assert records.cases - records.open_no_row == sum(over)


class Twice(gym.Wrapper[Any, Any, Any, Any]):
    """A wrapper that takes two steps at once."""

    def step(self, action: Any) -> Any:
        self.env.step(action)
        return self.env.step(action)


def test_what_cannot_be_recorded_is_refused() -> None:
    env = RecordSteps(Twice(GamblersRuinEnv(goal=30, start=15)))
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match="took 2 steps at once; record steps inside of it"):
        env.step(0)
    with pytest.raises(InvalidInput, match="of type CartPoleEnv was given"):
        RecordSteps(gym.make("CartPole-v1"))


def test_gymnasium_checker_has_nothing_to_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Of any wrapper it says that the environment inside is another one.
        warnings.filterwarnings("ignore", ".*is different from the unwrapped version.*")
        env = RecordSteps(gym.make(ID, goal=5, render_mode="ansi"))
        check_env(env)
    assert len(rows(env)) > 0
    spec = env.spec
    assert spec is not None
    again = gym.make(spec)
    assert isinstance(again, RecordSteps)
    assert rows(again) == []


def test_the_file_is_the_table(tmp_path: Path) -> None:
    env = RecordSteps(GamblersRuinEnv(goal=4))
    assert env.write(tmp_path / "none.csv").read_text() == "case,step,state,action,next_state\n"
    play(env, 30, seed=2)
    path = env.write(str(tmp_path / "steps.csv"))
    assert path.read_text().splitlines()[1].split(",")[3] in ("continue", "finish")
    assert everything(read_records(path, 4)) == everything(read_records(env.columns, 4))
    with pytest.raises(CannotWrite):
        env.write(path / "below.csv")
