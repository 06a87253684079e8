"""One definition, three users: the engine, the Gymnasium loop and the session decide the same."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import grbp
from grbp import Problem
from grbp.engine.decisions import decisions
from grbp.learners.counters import Counters
from grbp.learners.registry import LEARNERS, AnyLearner, find_learner
from grbp.model.transition import first_state
from grbp.numerics.rng import WORLD, fold_in, replica_key, uniform
from grbp.session import Session

ROUNDS = 2000


class Draws:
    """A stand-in for an environment's generator: the draws of one round of the engine's world."""

    def __init__(self, key: int) -> None:
        self._key, self._index = key, -1

    def random(self) -> float:
        self._index += 1
        return uniform(self._key, self._index)


def by_engine(problem: Problem, learner: AnyLearner, seed: int) -> list[int]:
    """The arm of every round of replica 0, as the compiled engine chose it, walking."""
    checkpoints = list(range(1, ROUNDS + 1))
    (block,) = decisions(problem, learner, checkpoints, 1, seed, engine="walk")
    each = np.diff(block.played[0], axis=0, prepend=0)
    return [learner.choices(problem.goal)[k] for k in each.argmax(axis=1)]


def by_gymnasium(problem: Problem, learner: AnyLearner, seed: int) -> list[int]:
    """The same with Gymnasium's environment and a session, event by event."""
    env: Any = gym.make(
        "grbp.env:grbp/GamblersRuin-v0",
        goal=problem.goal, p_c=problem.p_c, p_f=problem.p_f, start=problem.start,
    )  # fmt: skip
    env.reset(seed=0)
    session = Session(problem.goal, learner, seed)
    world, choices = replica_key(seed, WORLD, 0), []
    for rho in range(1, ROUNDS + 1):
        env.unwrapped.np_random = Draws(fold_in(world, rho))
        state, _ = env.reset()
        choices.append(session.open(int(state)))
        over = False
        while not over:
            state, _, over, _, _ = env.step(int(session.ask()))
            session.tell(int(state))
    return choices


def by_session_alone(problem: Problem, learner: AnyLearner, seed: int) -> list[int]:
    """The same without Gymnasium: cases drawn with the model's own transition."""
    session = Session(problem.goal, learner, seed)
    world, choices = replica_key(seed, WORLD, 0), []
    for rho in range(1, ROUNDS + 1):
        draws = Draws(fold_in(world, rho))
        state = first_state(*problem.start_table, draws.random())
        choices.append(session.open(state))
        while session.state is not None:
            state = grbp.next_state(
                state, session.ask(), problem.goal, problem.p_c, problem.p_f, draws.random()
            )
            session.tell(state)
    return choices


@pytest.mark.slow
@pytest.mark.parametrize("name", [*LEARNERS, "threshold-2"])
@pytest.mark.parametrize(
    "problem", [Problem(4, 0.45, 0.3), Problem(5, 0.6, 0.35, start={2: 0.25, 3: 0.75})]
)
def test_all_three_decide_the_same_bit_for_bit(name: str, problem: Problem) -> None:
    learner = find_learner(name, problem)
    chosen = by_engine(problem, learner, seed=5)
    assert chosen == by_gymnasium(problem, learner, seed=5)
    assert chosen == by_session_alone(problem, learner, seed=5)
    if name in ("getbe-sm", "getbe-ps", "ucb1-policies"):
        assert len(set(chosen)) > 1  # or there was nothing to agree on


def test_counters_change_only_when_a_case_is_over() -> None:
    session = Session(4, "no-explore", seed=1)
    before = session.memory
    session.open(3)
    session.tell(2)
    assert session.memory == before
    assert session.ask() == session.ask()
    session.tell(3)
    session.tell(4)
    after: Counters = session.memory
    assert (after.c - before.c, after.c_up - before.c_up) == (3.0, 2.0)
    assert after.rho == session.rho == 2
    assert session.state is None


def test_finishing_counts_as_finishing() -> None:
    session = Session(4, "threshold-3", seed=1)
    before: Counters = session.memory
    session.open(2)
    assert session.ask() == grbp.Action.FINISH
    session.tell(4)
    after: Counters = session.memory
    assert (after.f - before.f, after.f_goal - before.f_goal, after.c - before.c) == (1, 1, 0)


def test_refusals_change_nothing() -> None:
    with pytest.raises(grbp.InvalidInput, match="here nobody does"):
        Session(4, "oracle", seed=1)
    session = Session(4, "threshold-1", seed=1)
    for call in (session.ask, lambda: session.tell(1)):
        with pytest.raises(grbp.InvalidInput, match="no case is open; open one first"):
            call()
    with pytest.raises(grbp.InvalidInput, match="state = 4 was given"):
        session.open(4)
    session.open(2)
    with pytest.raises(grbp.InvalidInput, match="still open"):
        session.open(1)
    with pytest.raises(grbp.InvalidInput, match=r"state 4 was told after CONTINUE in state 2"):
        session.tell(4)
    assert session.state == 2
    session.tell(1)
    with pytest.raises(grbp.InvalidInput, match=r"after FINISH in state 1; it must be 0 or 4"):
        session.tell(2)
    session.tell(0)
    assert session.rho == 2
