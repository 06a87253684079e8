"""Whether the intervals that the live advisor prints hold the truth, for all cases of a study.

A probability lies outside its anytime interval exactly if the bet against it has gained enough,
which is quick to compute. Ends of intervals are needed only where one of the two misses: elsewhere
everything that follows from both holds as well.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

import grbp
from grbp.live.basis import estimate_chances, value_of_continuing
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.theory.ruin import hit, log_failure_ratio
from overlap_world import C_UP, F_GOAL, STATE, C, F, World

LEVEL = 0.95
HELD = ("p_C", "p_F", "p_F - B", "CONTINUE")
_MOST = 200_000


class Missed(NamedTuple):
    """What missed in a study: at some time (first: anything at all), and the share of cases."""

    ever: list[float]
    advice: list[float]


def missed(world: World, cases: Ints) -> Missed:
    """Finds the cases at whose opening an interval missed."""
    outside = np.zeros((len(cases), len(HELD)), bool)
    c_up, c, f_goal, f = (cases[:, column] for column in (C_UP, C, F_GOAL, F))
    outside[:, 0], outside[:, 1] = _gained(c_up, c, world.p_c), _gained(f_goal, f, world.p_f)
    (rows,) = np.nonzero(outside[:, :2].any(axis=1))
    if len(rows):
        outside[rows, 2:] = _follows(world, cases[rows])
    return Missed([float(outside.any()), *outside.any(axis=0)], [*outside.mean(axis=0)])


def _gained(won: Ints, tries: Ints, p: float) -> Bools:
    """Says where the bet against p has gained 1/error, half of the error for each of the two."""
    return _evidence(won, tries, np.full(len(won), p)) > -np.log(0.5 * (1.0 - LEVEL))


def _evidence(won: Ints, tries: Ints, p: Floats) -> Floats:
    """The logarithm of what a bet by Beta(1/2, 1/2) against p has gained."""
    halves, wholes = _log_gammas()
    mixture = halves[won] + halves[tries - won] - wholes[tries] - np.log(np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(won > 0, won * np.log(p), 0.0)
        down = np.where(tries > won, (tries - won) * np.log1p(-p), 0.0)
    return np.asarray(mixture - up - down)


@cache
def _log_gammas() -> tuple[Floats, Floats]:
    """The logarithms of Gamma(k + 1/2) and of Gamma(k + 1)."""
    k = np.arange(1, _MOST)
    halves = np.concatenate(([0.5 * np.log(np.pi)], np.log(k - 0.5))).cumsum()
    return halves, np.concatenate(([0.0], np.log(k))).cumsum()


def _low(won: Ints, tries: Ints) -> Floats:
    """The lower ends of the intervals, by halving."""
    low, high = np.zeros(len(won)), won / np.maximum(tries, 1)
    for _ in range(50):
        middle = 0.5 * (low + high)
        beyond = _evidence(won, tries, middle) > -np.log(0.5 * (1.0 - LEVEL))
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.where(won > 0, high, 0.0)


def _follows(world: World, cases: Ints) -> Bools:
    """Says where p_F - B(p_C), and the value of CONTINUE, lie outside their intervals."""
    c_up, c, f_goal, f, state = (cases[:, column] for column in (C_UP, C, F_GOAL, F, STATE))
    c_low, c_high = _low(c_up, c), 1.0 - _low(c - c_up, c)
    f_low, f_high = _low(f_goal, f), 1.0 - _low(f - f_goal, f)
    b_low, b_high = (hit(1, world.goal, log_failure_ratio(p)) for p in (c_low, c_high))
    _check(world, cases[0], (c_low[0], c_high[0], f_low[0], f_high[0]))
    gap = world.p_f - grbp.boundary(world.goal, world.p_c)
    value = value_of_continuing(world.goal, state, world.p_c, world.p_f)
    ends = (
        value_of_continuing(world.goal, state, p_c, p_f)
        for p_c, p_f in ((c_low, f_low), (c_high, f_high))
    )
    v_low, v_high = ends
    return np.column_stack(
        ((gap < f_low - b_high) | (gap > f_high - b_low), (value < v_low) | (value > v_high))
    )


def _check(world: World, case: Ints, ends: tuple[float, ...]) -> None:
    """Refuses ends that are not those that are printed."""
    seen = [int(case[column]) for column in (F, F_GOAL, C, C_UP)]
    p_c, p_f, _ = estimate_chances(world.goal, seen, LEVEL)
    if not np.allclose(ends, (*p_c[1:], *p_f[1:]), rtol=0.0, atol=1e-9):
        raise SystemExit(f"{p_c} and {p_f} are printed, not {ends}")
