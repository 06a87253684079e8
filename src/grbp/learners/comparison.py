"""From estimates to a threshold: the comparison, and where its outcome cannot change."""

import math
from typing import Final

import numpy as np

from grbp._numba.jit import inlined, u64
from grbp.learners.counters import Counters, corners

_TABLED: Final = 2**15
"""Whole numbers below it have their functions in tables: a learner may ask in every round."""

_LOGS: Final = np.array([0.0, *(math.log(k) for k in range(1, _TABLED))])
_SPREADS: Final = np.sqrt(2.0 * _LOGS)
_ROOTS: Final = np.array([0.0, *(1.0 / math.sqrt(k) for k in range(1, _TABLED))])


@inlined
def log_of(whole: float) -> float:
    """The natural logarithm of a whole number of at least 1."""
    return float(_LOGS[u64(int(whole))]) if whole < _TABLED else math.log(whole)


@inlined
def ucb_index(won: float, own: float, total: float) -> float:
    """won/own + sqrt(2 log(total)/own), for whole numbers of at least 1, own not above total."""
    if total < _TABLED:
        root = _ROOTS[u64(int(own))]
        return float((won * root + _SPREADS[u64(int(total))]) * root)
    root = 1.0 / math.sqrt(own)
    return (won * root + math.sqrt(2.0 * math.log(total))) * root


@inlined
def odds_sum(r: float, n: int) -> float:
    """1 + r + ... + r^(n-1), by doubling: additions and products only, no case for r = 1."""
    total, power, bit = 1.0, r, 1
    while 2 * bit <= n:
        bit *= 2
    while bit > 1:
        bit //= 2
        total, power = total * (1.0 + power), power * power
        if n & bit:
            total, power = 1.0 + r * total, power * r
    return total


@inlined
def finish_is_right(goal: int, won: float, tried: float, up: float, down: float) -> bool:
    """Whether won/tried >= B(up/(up + down)), that is won (1 + r + ...) >= tried, r = down/up.

    Ties give True, and what rounding might have made of them. Nothing seen to move up gives
    True, for B = 0 then.

    Paper: thm:tauinf
    """
    if up <= 0.0:
        return True
    return won * odds_sum(down / up, goal) >= tried * (1.0 - 1e-14)


SAFE = 1e-12
"""How far a comparison is from a tie that rounding in another place could decide otherwise."""


@inlined
def mean_over(wins: float, losses: float) -> float:
    """wins/(wins + losses); 0 where there are none."""
    return wins / (wins + losses) if wins > 0.0 else 0.0


@inlined
def surely_right(goal: int, low: Counters, high: Counters) -> int:
    """Say whether FINISH is right for the means of all counters of a box.

    1 if it is right for all, 0 if it is wrong for all, -1 if that cannot be said.
    """
    worst, best = corners(low, high)
    tried = (worst.f_goal + worst.f_lost) * (1.0 + SAFE)
    if worst.up <= 0.0 or worst.f_goal * odds_sum(worst.down / worst.up, goal) >= tried:
        return 1
    if best.up <= 0.0:
        return -1
    tried = (best.f_goal + best.f_lost) * (1.0 - SAFE)
    return 0 if best.f_goal * odds_sum(best.down / best.up, goal) < tried else -1
