"""The value of continuing in state 1, read directly from what became of the cases that did."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from grbp.fitting.transitions import Transitions
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.numerics.intervals import anytime, wilson
from grbp.records.clean import first_of_case
from grbp.theory.posterior import Estimate
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.worlds.transition import Action

_ENOUGH: Final = 5
"""So many cases in one state after as many steps have a share of their own that goes on."""

_MOST_LOG: Final = 300.0
"""The largest logarithm of a weight, so that its square is a number."""


def direct_value(moves: Transitions, level: float, adaptive: bool = False) -> Estimate | None:
    """Estimate the probability of reaching the goal from state 1 by always continuing.

    It is the share that reached the goal among the cases that continued in state 1 when they first
    stood there. Some of them finished later, or are still open. Where they stopped, those that
    went on from the same state, as many steps after the first visit, have more weight (inverse
    probability weighting). So it holds whatever the chain is like, and judges the other two ways,
    as long as who stops depends on nothing else: not, say, on the last move.

    A path adds up what its steps gained in value. Which values the states have is of no account
    for the mean. With those that follow from p_C, what is lost where somebody stopped is replaced
    by what the model expects of it (the doubly robust estimator), and the sum varies less. Where
    nobody stopped, the sum is 1 or 0, and the estimate is the plain share.

    The interval is Wilson's, or where a learner chose the actions the anytime one, on the effective
    number of cases. Its ends leave room for paths that led to where nobody went on. There is no
    estimate where these are more than half, or where no end was seen.
    """
    if moves.records.aggregated:
        return None
    paths = _Paths.of(moves)
    lost = paths.weight[paths.lost]
    if not paths.ended.any() or 2.0 * lost.sum() > paths.count:
        return None
    goal, up, down = moves.records.goal, moves.ups.sum(), moves.downs.sum()
    value = hit(np.arange(goal + 1), goal, log_failure_ratio((up + 0.5) / (up + down + 1.0)))
    # What the steps of each path gained.
    gain = paths.weight * (value[paths.after] - value[paths.state])
    sums = value[1] + np.bincount(paths.path, weights=gain).astype(np.float64)
    share = min(max(float(sums.mean()), 0.0), 1.0)
    # The number of independent cases that would vary as much; half a case of either kind is added,
    # so that a share near 0 or 1 does not make it nothing.
    middle = (paths.count * share + 0.5) / (paths.count + 1.0)
    variance = float(sums.var()) / paths.count
    effective = min(paths.count, middle * (1.0 - middle) / max(variance, 1e-300))
    # Those that led to where nobody went on may all be lost, or all be won.
    filled = float((lost * value[paths.after[paths.lost]]).sum()) / paths.count
    least = max(share - filled, 0.0)
    most = min(share - filled + float(lost.sum()) / paths.count, 1.0)
    method = anytime if adaptive else wilson
    low = method(least * effective, effective, level).low
    return Estimate(share, low, method(most * effective, effective, level).high)


@dataclass(frozen=True, eq=False)
class _Paths:
    """What followed the first visit to state 1, of each case that continued there.

    Attributes
    ----------
    count : int
        How many paths there are.
    path, state, after : ndarray of int
        The path of each step, the state in which it began, and that to which it led. A path has
        the steps by CONTINUE with a known outcome.
    weight : ndarray
        How much each step counts: it stands also for those that stopped before it.
    ended, lost : ndarray of bool
        Which steps led to an end; and which to where nobody went on.
    """

    count: int
    path: Ints
    state: Ints
    after: Ints
    weight: Floats
    ended: Bools
    lost: Bools

    @classmethod
    def of(cls, moves: Transitions) -> "_Paths":
        """Follow the cases that visited state 1."""
        records = moves.records
        visits = np.flatnonzero(records.state == 1)
        case, first = np.unique(records.case[visits], return_index=True)
        begin = np.full(records.cases, len(records.case))
        begin[case] = visits[first]
        later = np.arange(len(records.case)) >= begin[records.case]
        rows = np.flatnonzero(later & moves.known & (records.action == Action.CONTINUE))
        case, after = records.case[rows], records.next_state[rows]
        start = first_of_case(case)
        path = np.cumsum(start) - 1
        ended = (after == 0) | (after == records.goal)
        goes_on = np.append(~start[1:], values=False)[: len(rows)]
        kept = np.ones(len(rows))
        kept[~ended] = _share_going_on(
            after[~ended], (rows - begin[case])[~ended], goes_on[~ended], records.goal
        )
        logs = np.where(goes_on, -np.log(np.where(goes_on, kept, 1.0)), 0.0)
        total = np.cumsum(logs) - logs
        weight = np.exp(np.minimum(total - total[start][path], _MOST_LOG))
        count, state = int(start.sum()), records.state[rows]
        return cls(count, path, state, after, weight, ended, kept == 0.0)


def _share_going_on(state: Ints, time: Ints, goes_on: Bools, goal: int) -> Floats:
    """Return, for each arrival in a state, the share that goes on from there.

    It is taken among arrivals in the same state after as many steps. Where these are few, it is
    taken among all such arrivals in the state.
    """
    cells, cell = np.unique(time * goal + state, return_inverse=True)
    few = np.bincount(cell, minlength=len(cells)) < _ENOUGH
    _, pool = np.unique(np.where(few, cells % goal - goal, cells), return_inverse=True)
    of = pool[cell]
    share: Floats = np.bincount(of, weights=goes_on) / np.maximum(np.bincount(of), 1)
    return share[of]
