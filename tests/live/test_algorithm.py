"""One case at a time is Algorithm 1: study, session and engine decide alike, bit for bit."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import grbp
from grbp import Advice, Counters, Problem, Session, Study
from grbp.engine.decisions import decisions
from grbp.engine.recorder import first_counters
from grbp.learners.base import Learner
from grbp.learners.registry import LEARNERS, find_learner, has_horizon
from grbp.numerics.rng import OPENING, WORLD, fold_in, replica_key, uniform
from grbp.worlds.transition import first_state

RECORDS = Counters(41, 12.0, 5.0, 90.0, 40.0, 10.0, 4.0, 6.0, 3.0)
OF_THRESHOLDS = [name for name, one in LEARNERS.items() if isinstance(one, Learner)]
NAMES = [
    *OF_THRESHOLDS, "threshold-0", "threshold-2", "getbe-sm:gamma=2", "epsilon-greedy:scale=5",
    "explore-then-commit:rounds=7", "doorstep-optimal:horizon=200,good=2,bad=6",
]  # fmt: skip
PROBLEMS = [
    Problem(4, 0.45, 0.3),
    Problem(3, 0.6, 0.5),
    Problem(6, 0.6, 0.3, start={2: 0.5, 5: 0.5}),
]


class Played(NamedTuple):
    """What was chosen in every case, and what was known after the last one."""

    chosen: list[int]
    known: Counters


def cases(problem: Problem, seed: int, first: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield the first state and the draws of every case, as the walking engine meets them."""
    world = replica_key(seed, WORLD, 0)
    for rho in range(first, first + count):
        key = fold_in(world, rho)
        yield first_state(*problem.start_table, uniform(key, 0)), key


def moved(problem: Problem, state: int, action: grbp.Action, draw: float) -> int:
    return grbp.next_state(state, action, problem.goal, problem.p_c, problem.p_f, draw)


def recorded(study: Study, advice: Advice) -> dict[str, Any]:
    assert advice.event is not None
    answer: dict[str, Any] = json.loads(study.log(advice.event - 1)[0].response)
    return answer


def by_study(
    problem: Problem,
    name: Any,
    seed: int,
    count: int,
    start: Any = "drawn",
    planned: int | None = None,
) -> Played:
    study = Study.create(
        "memory", "ward", problem.goal, name, seed=seed, start=start, cases=planned
    )
    chosen = []
    first = start.rho if isinstance(start, Counters) else 1
    for state, key in cases(problem, seed, first, count):
        advice, slot = study.open_case(state), 0
        chosen.append(recorded(study, advice)["threshold"])
        while advice.action is not None:
            slot += 1
            now = moved(problem, advice.state, advice.action, uniform(key, slot))
            advice = study.tell(advice.case, now)
    *known, pending = recorded(study, study.open_case(1))["known"]
    assert pending == 0
    return Played(chosen, Counters(*known))


def by_session(
    problem: Problem, name: Any, seed: int, count: int, start: Counters | None = None
) -> Played:
    session, chosen = Session(problem.goal, name, seed, counters=start), []
    for state, key in cases(problem, seed, session.rho, count):
        chosen.append(session.open_case(state))
        slot = 0
        while session.state is not None:
            slot += 1
            session.tell(moved(problem, session.state, session.ask(), uniform(key, slot)))
    return Played(chosen, session.counters)


def by_engine(
    problem: Problem, name: Any, seed: int, count: int, start: Counters | None = None, **named: Any
) -> Played:
    learner: Any = find_learner(name, problem)
    kept = np.zeros((1, len(Counters._fields)))
    first = 1
    if start is not None:
        kept[0], first = start, start.rho
    rounds = list(range(first, first + count))
    (block,) = decisions(problem, learner, rounds, 1, seed, threads=1, counters=kept, **named)
    each = np.diff(block.played[0], axis=0, prepend=0)
    chosen = [learner.choices(problem.goal)[k] for k in each.argmax(axis=1)]
    rho, *known = kept[0].tolist()
    return Played(chosen, Counters(int(rho), *known))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_study_is_a_session(name: str) -> None:
    for seed, problem in enumerate(PROBLEMS, 3):
        study = by_study(problem, name, seed, 60)
        assert study == by_session(problem, name, seed, 60)
        assert study.known.rho == 61


@pytest.mark.parametrize("name", ["doorstep-optimal", "getbe-ps", "ps-polselection"])
def test_from_records_a_study_is_a_session(name: str) -> None:
    problem = PROBLEMS[0]
    study = by_study(problem, name, 2**127 + 1, 60, RECORDS)
    assert study == by_session(problem, name, 2**127 + 1, 60, RECORDS)
    assert study.known.rho == 101


@pytest.mark.parametrize("start", [None, RECORDS], ids=["drawn", "records"])
@pytest.mark.parametrize(
    "name", [name for name in OF_THRESHOLDS if has_horizon(find_learner(name, 4))]
)
def test_planned_cases_are_a_horizon(name: str, start: Counters | None) -> None:
    """Up to the planned number and beyond it; past cases are rounds as well."""
    problem, planned = Problem(4, 0.6, 0.3), 30
    told = f"{name}:horizon={planned + (RECORDS.rho - 1 if start else 0)}"
    study = by_study(problem, name, 5, 45, start or "drawn", planned)
    assert study == by_session(problem, told, 5, 45, start)
    assert study == by_engine(problem, told, 5, 45, start)


@pytest.mark.sample("doorstep-optimal", "getbe-*", "threshold-2")
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_study_is_the_engine(name: str) -> None:
    seen = set()
    for seed, problem in ((5, PROBLEMS[0]), (2**90, PROBLEMS[2])):
        study = by_study(problem, name, seed, 300)
        assert study == by_engine(problem, name, seed, 300)
        seen |= set(study.chosen)
        study = by_study(problem, name, seed, 150, RECORDS)
        assert study == by_engine(problem, name, seed, 150, RECORDS)
    if name in OF_THRESHOLDS and not name.startswith(("doorstep", "no-explore")):
        assert len(seen) > 1  # or there was nothing to agree on


@pytest.mark.slow
@pytest.mark.parametrize("name", ["getbe-sm", "getbe-ps", "doorstep-optimal"])
def test_each_action_once_and_then_as_the_engine_does(name: str) -> None:
    problem, seed = PROBLEMS[0], 11
    once = first_counters(problem.p_c, problem.p_f, True, replica_key(seed, OPENING, 0))
    assert (once.rho, once.f, once.c) == (1, 1.0, 1.0)
    study = by_study(problem, name, seed, 300, once)
    assert study == by_engine(problem, name, seed, 300, initial_estimates="once")


@pytest.mark.parametrize("goal", [2, 4])
def test_a_study_that_begins_with_each_action_once_goes_on_as_from_what_they_told(
    goal: int,
) -> None:
    problem, seed = Problem(goal, 0.5, 0.4), 1
    study = by_study(problem, "getbe-sm", seed, 40, "first")
    assert study.chosen[:2] == [0, goal - 1]
    # The same cases in a session that begins with the counters after those two.
    two = by_study(problem, "getbe-sm", seed, 2, "first").known
    assert (two.rho, two.f) == (3, 1.0)
    session = by_session(problem, "getbe-sm", seed, 38, two)
    assert study == Played([0, goal - 1, *session.chosen], session.known)
