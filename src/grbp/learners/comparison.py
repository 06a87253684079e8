"""From estimates to a threshold: the comparison of Theorem 2, and where it cannot change."""

import math
from typing import Final

import numpy as np

from grbp.learners.counters import Counters, corners
from grbp.numerics.jit import inlined, u64

_TABLED: Final = 2**15
"""Whole numbers below it have their functions in tables: a learner may ask in every round."""

_LOGS: Final = np.array([0.0, *(math.log(k) for k in range(1, _TABLED))])
_SPREADS: Final = np.sqrt(2.0 * _LOGS)
_ROOTS: Final = np.array([0.0, *(1.0 / math.sqrt(k) for k in range(1, _TABLED))])

SAFE: Final = 1e-12
"""How far from a tie a comparison must be for rounding elsewhere not to decide it otherwise."""


@inlined
def safe_for(goal: int) -> float:
    """Return the same for B(p_c), which moves up to goal times as much as p_c does."""
    return SAFE * max(1.0, goal * 2.0**-9)


@inlined
def log_of(whole: float) -> float:
    """Compute the natural logarithm of a whole number of at least 1."""
    return float(_LOGS[u64(int(whole))]) if whole < _TABLED else math.log(whole)


@inlined
def ucb_index(won: float, own: float, total: float) -> float:
    """Compute won/own + sqrt(2 log(total)/own), for whole numbers with 1 <= own <= total."""
    if total < _TABLED:
        root = _ROOTS[u64(int(own))]
        return float((won * root + _SPREADS[u64(int(total))]) * root)
    root = 1.0 / math.sqrt(own)
    return (won * root + math.sqrt(2.0 * math.log(total))) * root


@inlined
def odds_sum(r: float, n: int) -> float:
    """Compute 1 + r + ... + r^(n-1) by doubling, in sums and products alone, also for r = 1."""
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
    """Return whether FINISH in state 1 is right, taking estimates for the probabilities.

    It is right if p_f >= B(p_c), where p_f = won/tried and p_c = up/(up + down).

    Parameters
    ----------
    goal : int
        The goal of the problem.
    won, tried : float
        How often FINISH reached the goal and how often it was taken, or any numbers with that
        ratio.
    up, down : float
        How often CONTINUE moved up and how often down, or any numbers with that ratio.

    Returns
    -------
    bool
        True also for a tie, and for what rounding may have made of one. True if nothing ever
        moved up, because B = 0 then.

    Notes
    -----
    With r = down/up, B = 1/(1 + r + ... + r^(goal-1)), so that won (1 + r + ...) is compared with
    tried. Nothing overflows and r = 1 needs no special case. The function is a kernel: `decide` may
    call it compiled.

    Paper: thm:tauinf

    Examples
    --------
    >>> from grbp import finish_is_right
    >>> finish_is_right(4, won=3, tried=10, up=45, down=55)  # B(0.45) = 0.18
    True
    >>> finish_is_right(4, won=3, tried=10, up=65, down=35)  # B(0.65) = 0.50
    False
    """
    if up <= 0.0:
        return True
    return won * odds_sum(down / up, goal) >= tried * (1.0 - 1e-14)  # p_f >= B(p_c)


@inlined
def mean_over(wins: float, losses: float) -> float:
    """Compute wins/(wins + losses), or 0 without a win."""
    return wins / (wins + losses) if wins > 0.0 else 0.0


@inlined
def surely_right(goal: int, low: Counters, high: Counters) -> int:
    """Return 1 if FINISH is right for all counters of a box, 0 if for none, -1 if unknown."""
    worst, best = corners(low, high)
    safe = safe_for(goal)
    tried = (worst.f_goal + worst.f_lost) * (1.0 + safe)
    if worst.up <= 0.0 or worst.f_goal * odds_sum(worst.down / worst.up, goal) >= tried:
        return 1
    if best.up <= 0.0:
        return -1
    tried = (best.f_goal + best.f_lost) * (1.0 - safe)
    return 0 if best.f_goal * odds_sum(best.down / best.up, goal) < tried else -1
