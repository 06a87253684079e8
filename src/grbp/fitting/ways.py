"""The value of continuing in state 1, read directly from what became of the cases that did."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from grbp.fitting.moves import Moves
from grbp.model.transition import Action
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.numerics.intervals import wilson
from grbp.theory.posterior import Estimate

_MOST_LOG: Final = 300.0
"""The largest logarithm of a weight, so that its square is a number."""


def direct_value(moves: Moves, level: float) -> Estimate | None:
    """Estimate the probability of reaching the goal from state 1 by always continuing.

    It is the share that reached the goal among the cases that stood in state 1 and from then on
    continued. Where others finished, those that continued in their place have more weight (inverse
    probability weighting); a case that is still open counts as long as it was seen (Aalen and
    Johansen). No model of how states follow on each other enters it, so it holds whatever the
    chain is like, and judges the other two ways. The interval is Wilson's, on the effective number
    of cases. There is none where a path led to a state in which everybody finished: nobody went on
    there to stand for them, and those who never got so far would speak for all.
    """
    if moves.records.aggregated or not (moves.records.state == 1).any():
        return None
    paths = _Paths.of(moves)
    weight = paths.weight[paths.ended]
    if not len(weight) or paths.broken:
        return None
    effective = float(weight.sum() ** 2 / (weight * weight).sum())
    share = float((weight * paths.won[paths.ended]).sum() / weight.sum())
    if paths.open.any():
        share, variance = paths.incidence()
        if variance > 0.0:
            effective = min(effective, share * (1.0 - share) / variance)
    low, high = wilson(share * effective, effective, level)
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
    def of(cls, moves: Moves) -> "_Paths":
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

    def incidence(self) -> tuple[float, float]:
        """Compute the weighted share of goals among all ends, where cases may drop out on the way.

        At each number of steps, those still seen stand for those that dropped out before. Its
        variance is the sum of the squares of what each case adds to it (infinitesimal jackknife).
        """
        risk = np.bincount(self.time, weights=self.row_weight)
        over = self.goal | self.dead
        won, ended = (
            np.bincount(self.time[one], self.row_weight[one], minlength=len(risk)) / risk
            for one in (self.goal, over)
        )
        still = np.concatenate(([1.0], np.cumprod(1.0 - ended)[:-1]))
        totals, parts = [], []
        for part, rows in ((won, self.goal), (ended, over)):
            so_far = np.cumsum(still * part)
            # One more end at a time takes from what would have come later.
            later = (so_far[-1] - so_far) / np.maximum(1.0 - ended, 1e-300)
            own = still[self.time] * (rows - part[self.time])
            own -= later[self.time] * (over - ended[self.time])
            totals.append(float(so_far[-1]))
            parts.append(own * self.row_weight / risk[self.time])
        share = totals[0] / totals[1]
        added = np.bincount(self.case, weights=(parts[0] - share * parts[1]) / totals[1])
        return share, float((added * added).sum())
