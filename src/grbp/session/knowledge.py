"""What a session knows: counters, by state or not, one set for each memory of its learner.

It is counted as the engine counts, in the same order, so that decisions are the same to the bit.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from grbp.learners.counters import NOBODY, Round, add_to, as_totals, step_counts
from grbp.learners.memory import Memory, as_memory, forget, outcomes_of, recall, reweigh
from grbp.learners.registry import EveryLearner
from grbp.learners.state_counters import StateCounters, add_step, empty_state_counters
from grbp.learners.state_learner import StateLearner
from grbp.learners.ucb1_policies import PolicyLearner, Record
from grbp.numerics.arrays import Floats

Shown: TypeAlias = Round | StateCounters
"""What a case has shown so far: of all states together, or of each."""


class Knowledge(NamedTuple):
    """The counters of every memory, and the weights of these.

    Attributes
    ----------
    kept : tuple
        The counters, of the longest memory first.
    weights : ndarray, shape (2, memories)
        The weights for CONTINUE and for FINISH.
    """

    kept: tuple[Any, ...]
    weights: Floats


def memory_of(learner: EveryLearner) -> Memory:
    """Return the memory of a learner; one of policies has none, and never forgets."""
    return as_memory(getattr(learner, "memory", 0.0))


def know(learner: EveryLearner, counters: Any) -> Knowledge:
    """Return what is known where every memory holds the same counters."""
    memory = memory_of(learner)
    return Knowledge((counters,) * len(memory.keep), memory.start())


def nothing_shown(learner: EveryLearner, state: int, goal: int, jumps: bool) -> Shown:
    """Return what a case has shown when it begins."""
    if isinstance(learner, StateLearner):
        return empty_state_counters(goal, jumps=jumps)
    return Round(state, 0, 0, 0, 0)


def show_step(shown: Shown, goal: int, state: int, finish: bool, after: int) -> Shown:
    """Return what a case has shown after a step; a jump counts only by state."""
    if isinstance(shown, StateCounters):
        return add_step(shown, state, finish, after)
    f, _, c, c_up = step_counts(goal, state, finish, after)
    if not finish and abs(after - state) != 1:
        c = c_up = 0
    won = int(after == goal)
    return Round(shown.first, won, shown.f + f, shown.c + c, shown.c_up + c_up)


def counters_for(learner: EveryLearner, known: Knowledge, key: int) -> Any:
    """Return the counters from which the learner decides a round, given its own key."""
    if isinstance(learner, PolicyLearner):
        return known.kept[0]
    return recall(memory_of(learner), known.kept, known.weights, key)


def count_case(learner: EveryLearner, known: Knowledge, threshold: int, shown: Shown) -> Knowledge:
    """Return what is known after a case; the threshold gets no credit where it is NOBODY."""
    if isinstance(learner, PolicyLearner):
        if threshold == NOBODY or not isinstance(shown, Round):
            return known
        return known._replace(kept=(learner.settle(known.kept[0], threshold, shown),))
    memory, weights = memory_of(learner), known.weights
    if len(known.kept) > 1:
        before = np.array([outcomes_of(one) for one in known.kept])
        weights = reweigh(memory, weights, before, _outcomes_shown(shown))
    old = [forget(one, float(keep)) for one, keep in zip(known.kept, memory.keep, strict=True)]
    return Knowledge(tuple(_add(one, threshold, shown, 1) for one in old), weights)


def count_moves(known: Knowledge, shown: Shown) -> Knowledge:
    """Return what is known after a case that was given up: its moves count, and no round does."""
    if isinstance(known.kept[0], Record):
        return known
    return known._replace(kept=tuple(_add(one, NOBODY, shown, 0) for one in known.kept))


def _add(n: Any, threshold: int, shown: Shown, rounds: int) -> Any:
    """Return counters with what a case showed; it is a round, or none."""
    if isinstance(shown, Round):
        return add_to(n, threshold, as_totals(shown)._replace(rounds=rounds))
    counts = (old + new for old, new in zip(n[1:], shown[1:], strict=True))
    return StateCounters(n.rho + rounds, *counts)


def _outcomes_shown(shown: Shown) -> Floats:
    """Return what a case showed, as `outcomes_of` counters are."""
    if isinstance(shown, StateCounters):
        return outcomes_of(shown)
    n = as_totals(shown)
    rows = (n.c_up, n.c - n.c_up, n.f_goal, n.f - n.f_goal)
    return np.array(rows, dtype=np.float64)[:, None]
