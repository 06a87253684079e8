"""The value of continuing in state 1, read directly from what became of the cases that did."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from grbp.fitting.transitions import Transitions
from grbp.model.transition import Action
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.numerics.intervals import wilson
from grbp.theory.posterior import Estimate

_MOST_LOG: Final = 300.0
"""The largest logarithm of a weight, so that its square is a number."""

_MOST_GROUPS: Final = 500
_MOST_CELLS: Final = 4_000_000
"""Of many cases, groups are left out instead of cases, with so many numbers of steps in all."""


def direct_value(moves: Transitions, level: float) -> Estimate | None:
    """Estimate the probability of reaching the goal from state 1 by always continuing.

    It is the share that reached the goal among the cases that stood in state 1 and from then on
    continued. Where others finished, those that continued in their place have more weight (inverse
    probability weighting); a case that is still open counts as long as it was seen (Aalen and
    Johansen). No model of how states follow on each other enters it, so it holds whatever the
    chain is like, and judges the other two ways. The interval is Wilson's, on the effective number
    of cases; its ends leave room for paths of which no end was seen. There is none where a path
    led to a state in which everybody finished: nobody went on there to stand for them, and those
    who never got so far would speak for all.
    """
    if moves.records.aggregated or not (moves.records.state == 1).any():
        return None
    paths = _Paths.of(moves)
    weight = paths.weight[paths.ended]
    if not len(weight) or paths.broken:
        return None
    effective = float(weight.sum() ** 2 / (weight * weight).sum())
    share = float((weight * paths.won[paths.ended]).sum() / weight.sum())
    least = most = share
    if paths.open.any():
        goals, ends, variance = paths.incidence()
        share = goals / ends
        if variance > 0.0:
            effective = min(effective, share * (1.0 - share) / variance)
        # Those of whom no end was seen may all be lost, or all be won.
        least, most = goals, min(1.0, goals + max(0.0, 1.0 - ends))
    low, high = (
        wilson(one * effective, effective, level)[k] for k, one in enumerate((least, most))
    )
    return Estimate(share, low, high)


@dataclass(frozen=True, eq=False)
class _Paths:
    """What followed the first visit to state 1: a path for each case, up to where it finished.

    Attributes
    ----------
    weight : ndarray
        Of each case that visited state 1, the weight with which it stands for those that finished.
    ended, open : ndarray of bool
        Whether the case continued until an end; whether it continued and is open.
    won : ndarray of bool
        Whether the case reached the goal.
    broken : bool
        Whether a path led to a state in which everybody finished.
    case, time, row_weight, goal, dead : ndarray
        Of each step by CONTINUE with a known outcome: its case, how many steps came before it, its
        weight, and whether it reached the goal, or the dead end.
    """

    weight: Floats
    ended: Bools
    open: Bools
    won: Bools
    broken: bool
    case: Ints
    time: Ints
    row_weight: Floats
    goal: Bools
    dead: Bools

    @classmethod
    def of(cls, moves: Transitions) -> "_Paths":
        """Follow the cases that visited state 1."""
        records = moves.records
        visits = np.flatnonzero(records.state == 1)
        case, first = np.unique(records.case[visits], return_index=True)
        begin = np.full(records.cases, len(records.case))
        begin[case] = visits[first]
        rows = np.flatnonzero(np.arange(len(records.case)) >= begin[records.case])
        finishes = records.action[rows] == Action.FINISH
        stood = np.bincount(records.state, minlength=records.goal + 1)
        finished = np.bincount(
            records.state[records.action == Action.FINISH], minlength=records.goal + 1
        )
        kept = (1.0 - finished / np.maximum(stood, 1))[records.state[rows]]
        logs = np.where(finishes, 0.0, -np.log(np.maximum(kept, 1e-300)))
        own = begin[records.case[rows]]
        total = np.cumsum(logs)
        start = np.flatnonzero(rows == own)
        lengths = np.diff(np.append(start, len(rows)))
        before = np.repeat(total[start] - logs[start], lengths)
        row_weight = np.exp(np.minimum(total - before, _MOST_LOG))
        last = start + lengths - 1
        after = records.next_state[rows]
        over = (after == 0) | (after == records.goal)
        continued = ~finishes
        seen = continued & (after >= 0)
        return cls(
            weight=row_weight[last],
            ended=continued[last] & over[last],
            open=continued[last] & ~over[last],
            won=after[last] == records.goal,
            broken=bool((kept <= 0.0).any()),
            case=records.case[rows][seen],
            time=(rows - own)[seen],
            row_weight=row_weight[seen],
            goal=(after == records.goal)[seen],
            dead=(after == 0)[seen],
        )

    def incidence(self) -> tuple[float, float, float]:
        """Compute the shares of cases that reached the goal, and an end, and a variance.

        Cases may drop out on the way: at each number of steps, those still seen stand for those
        that dropped out before. The variance is of the share of goals among the ends, by leaving
        out one case at a time, or one group of many cases (jackknife).
        """
        times = int(self.time.max()) + 1
        cases, case = np.unique(self.case, return_inverse=True)
        groups = max(1, min(len(cases), _MOST_GROUPS, _MOST_CELLS // times))
        cell, shape = case % groups * times + self.time, (groups, times)
        risk, won, ended = (
            np.bincount(cell[rows], self.row_weight[rows], groups * times).reshape(shape)
            for rows in (np.ones_like(self.goal), self.goal, self.goal | self.dead)
        )
        totals = [one.sum(axis=0) for one in (risk, won, ended)]
        goals, ends = _incidence(*totals)
        parts = zip(totals, (risk, won, ended), strict=True)
        others, over = _incidence(*(total - part for total, part in parts))
        left = others / np.maximum(over, 1e-300)
        variance = (groups - 1) * float(np.var(left))
        return float(goals), float(ends), variance


def _incidence(risk: Floats, won: Floats, ended: Floats) -> tuple[Floats, Floats]:
    """Return the shares that reach the goal, and an end, given the weights by number of steps."""
    # What is left of a sum by rounding alone is nobody.
    seen = risk > 1e-9 * risk.max(axis=-1, keepdims=True)
    goal, end = (np.where(seen, one / np.where(seen, risk, 1.0), 0.0) for one in (won, ended))
    end = np.minimum(end, 1.0)
    still = np.cumprod(1.0 - end, axis=-1)
    before = np.concatenate((np.ones_like(still[..., :1]), still[..., :-1]), axis=-1)
    return (before * goal).sum(axis=-1), (before * end).sum(axis=-1)
