"""What a session knows: counters, by state or not, one set for each memory of its learner.

It is counted as the engine counts, in the same order, so that decisions are the same to the bit.
"""

from typing import Any, NamedTuple

import numpy as np

from grbp.learners.base import AnyLearner
from grbp.learners.counters import NOBODY
from grbp.learners.memory import as_memory, forget, outcomes_of, recall, reweigh
from grbp.numerics.arrays import Floats


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


def know(learner: AnyLearner, counters: Any) -> Knowledge:
    """Return what is known where every memory holds the same counters."""
    memory = as_memory(learner.memory)
    return Knowledge((counters,) * len(memory.keep), memory.start())


def counters_for(learner: AnyLearner, known: Knowledge, key: int) -> Any:
    """Return the counters from which the learner decides a round, given its own key."""
    return recall(as_memory(learner.memory), known.kept, known.weights, key)


def count_case(learner: AnyLearner, known: Knowledge, threshold: int, shown: Any) -> Knowledge:
    """Return what is known after a case; the threshold gets no credit where it is NOBODY."""
    memory, weights = as_memory(learner.memory), known.weights
    if len(known.kept) > 1:
        before = np.array([outcomes_of(one) for one in known.kept])
        weights = reweigh(memory, weights, before, outcomes_of(shown))
    old = [forget(one, float(keep)) for one, keep in zip(known.kept, memory.keep, strict=True)]
    return Knowledge(tuple(learner.settle(one, threshold, shown) for one in old), weights)


def count_moves(learner: AnyLearner, known: Knowledge, shown: Any) -> Knowledge:
    """Return what is known after a case that was given up: its moves count, and no round does."""
    kept = tuple(learner.settle(one, NOBODY, shown, rounds=0) for one in known.kept)
    return known._replace(kept=kept)
