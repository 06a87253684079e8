"""Cut a round's walk at the states where it stops, once for every closed form.

Between two neighbouring states that finish, or are terminal, a round is a plain gambler's ruin.
So every exact answer about a policy is a formula of `grbp.theory.ruin` on such a segment, and
nothing is obtained by subtracting two near numbers.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grbp.numerics.arrays import Floats, Ints
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.worlds.problem import Problem
from grbp.worlds.transition import Policy, finish_mask
from grbp.worlds.validation import check_whole


class Segments(NamedTuple):
    """The segment that a round walks in, for first states s from 1 to goal - 1.

    Attributes
    ----------
    goal : int
    a, b : ndarray of int
        The nearest states at or below s, and at or above it, that finish or are terminal.
    i, n : ndarray of int
        How far s is above a, and the length of the segment. A state that finishes is the lower
        end of a segment of length one: i = 0 there, and only there.
    up, down : ndarray of float
        The probability that the walk from s ends in b, and in a.
    log_r : ndarray of float
        The logarithm of the failure ratio. Of several problems it is a column, and what depends on
        it has a row for each of them.
    """

    goal: int
    a: Ints
    b: Ints
    i: Ints
    n: Ints
    up: Floats
    down: Floats
    log_r: Floats

    def mean(self, dead_end: float, stop: float | Floats, goal: float) -> Floats:
        """Compute, for every state, the mean of what the walk is worth where it ends.

        It is worth `dead_end` in state 0, `goal` at the goal, and `stop` in a state that
        finishes: one number, or one for every state.
        """
        stops = np.broadcast_to(stop, self.up.shape if np.ndim(stop) > 1 else self.goal - 1)
        ends = [np.full((*stops.shape[:-1], 1), end) for end in (dead_end, goal)]
        worth: Floats = np.concatenate((ends[0], stops, ends[1]), axis=-1)
        return self.down * worth[..., self.a] + self.up * worth[..., self.b]


def segments(
    problem: Problem, policy: Policy, states: Sequence[int] | Ints | None = None
) -> Segments:
    """Find the segment that a round walks in under a policy, from every state or from some."""
    return segments_of(problem.goal, log_failure_ratio(problem.p_c), policy, states)


def segments_of(
    goal: int, log_r: Floats, policy: Policy, states: Sequence[int] | Ints | None = None
) -> Segments:
    """Find the same for one log r, or for a column of them."""
    s = np.arange(1, goal, dtype=np.int64)
    finish = finish_mask(goal, policy)
    a = np.maximum.accumulate(np.where(finish, s, 0))
    b = np.minimum.accumulate(np.where(finish, s, goal)[::-1])[::-1]
    if states is not None:
        s = np.array([check_whole("state", state, 1, goal - 1) for state in states], dtype=np.int64)
        a, b = a[s - 1], b[s - 1]
    i, n = s - a, np.maximum(b - a, 1)
    return Segments(goal, a, b, i, n, hit(i, n, log_r), hit(n - i, n, -log_r), log_r)
