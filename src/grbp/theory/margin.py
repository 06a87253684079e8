"""Measure how hard a problem is, by its distance from the decision boundary.

The boundary is the curve (x, B(x)) for x from 0 to 1. For goals above 2 it is bent like an S,
so that the distance can have several local minima, and for a large goal it has a bend of
width 1/goal at x = 1/2. A grid that is fine there finds every minimum, ever finer grids follow
each, and Newton's method in decimal arithmetic gives back the digits that the difference of two
near numbers loses.
"""

import math
from decimal import Decimal, localcontext
from functools import lru_cache

import numpy as np

from grbp.numerics.arrays import Floats
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.theory.values import WIDE, excess, wide_boundary
from grbp.worlds.problem import Problem

_NUDGE = Decimal("1e-30")
"""A step off x = 1/2, where the derivatives below are 0/0; the distance moves by less."""


def margin(problem: Problem) -> float:
    """Compute delta, the distance of a problem from the decision boundary.

    Parameters
    ----------
    problem : Problem
        The problem to measure.

    Returns
    -------
    float
        The least Euclidean distance of (p_c, p_f) from the points (x, B(x)), 0 <= x <= 1.

    Notes
    -----
    Paper: lemma:infGapBound
    Differs: the global minimum over the whole curve; the paper's equation for a stationary
    point can have several roots, not all of them minima.

    Examples
    --------
    >>> import grbp
    >>> round(grbp.margin(grbp.Problem(goal=4, p_c=0.45, p_f=0.3)), 6)
    0.069271
    """
    if excess(problem) == 0.0:  # on the curve, or as good as on it
        return 0.0
    return _margin(problem.goal, problem.p_c, problem.p_f)


@lru_cache(maxsize=1024)
def _margin(goal: int, p_c: float, p_f: float) -> float:
    """Compute `margin` off the boundary, kept by its three numbers."""
    if goal == 2:  # B(x) = x
        return abs(p_c - p_f) / math.sqrt(2.0)
    x = _grid()
    squared = _squared_distance(goal, p_c, p_f, x)
    low = np.concatenate(([True], squared[1:] <= squared[:-1]))
    low &= np.concatenate((squared[:-1] <= squared[1:], [True]))
    # Right next to the curve, nothing in floats is as near as p_c itself, or, in the corner
    # where B(x) is nearly x, as p_f; just inside, for Newton's method stops at the ends.
    starts = [min(x or 2.0**-60, 1.0 - 2.0**-53) for x in (p_c, p_f)]
    for k in np.flatnonzero(low & (squared <= 4.0 * squared.min() + 1e-3)).tolist():
        ends = x[max(k - 1, 0)], x[min(k + 1, len(x) - 1)]
        starts.append(_descend(goal, p_c, p_f, *ends))
    return min(_refine(goal, p_c, p_f, start) for start in starts)


def _squared_distance(goal: int, p_c: float, p_f: float, x: Floats) -> Floats:
    """Compute the squared distance of the problem from points of the curve."""
    return (x - p_c) ** 2 + (hit(1, goal, log_failure_ratio(x)) - p_f) ** 2


def _grid() -> Floats:
    """Return points of [0, 1], evenly spaced and, towards 1/2, ever denser on both sides."""
    near = np.geomspace(1e-17, 0.25, 600)
    return np.unique(np.concatenate((np.linspace(0.0, 1.0, 801), 0.5 - near, [0.5], 0.5 + near)))


def _descend(goal: int, p_c: float, p_f: float, left: float, right: float) -> float:
    """Return the minimiser of the distance between two points, by ever finer grids."""
    while True:
        x = np.linspace(left, right, 33)
        k = int(np.argmin(_squared_distance(goal, p_c, p_f, x)))
        if right - left <= 1e-9 * right:
            return float(x[k])
        left, right = x[max(k - 1, 0)], x[min(k + 1, 32)]


def _refine(goal: int, p_c: float, p_f: float, start: float) -> float:
    """Compute the distance at the stationary point next to start, with the digits of decimals.

    This is Newton's method on (x - p_c) + (B(x) - p_f) B'(x) = 0. A step that does not bring the
    curve nearer is not taken, so the ends of the curve are safe.
    """
    with localcontext(WIDE):
        x, c, f = Decimal(start), Decimal(p_c), Decimal(p_f)
        nearest = (x - c) ** 2 + (wide_boundary(goal, x) - f) ** 2
        for _ in range(6):  # Each step doubles the digits.
            if not 0 < x < 1:
                break
            b, slope, bend = _curve(goal, x)
            curvature = 1 + slope * slope + (b - f) * bend
            if curvature <= 0:
                break
            x -= ((x - c) + (b - f) * slope) / curvature
            if not 0 <= x <= 1:
                break
            distance = (x - c) ** 2 + (wide_boundary(goal, x) - f) ** 2
            if distance >= nearest:
                break
            nearest = distance
        return float(nearest.sqrt())


def _curve(goal: int, x: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """Compute B(x) and its first two derivatives in x, through r = (1-x)/x.

    With B = 1/S(r), S = 1 + r + ... + r^(G-1) = (1-r^G)/(1-r).
    """
    if x == Decimal("0.5"):
        x += _NUDGE
    r = (1 - x) / x
    g = Decimal(goal)
    top = r ** (goal - 2)
    s = (1 - top * r * r) / (1 - r)
    # S' and S'' from differentiating S (1-r) = 1 - r^G once and twice.
    s1 = (s - g * top * r) / (1 - r)
    s2 = (2 * s1 - g * (g - 1) * top) / (1 - r)
    b = 1 / s
    b1, b2 = -s1 / s**2, 2 * s1**2 / s**3 - s2 / s**2
    r1, r2 = -1 / x**2, 2 / x**3
    return b, b1 * r1, b2 * r1**2 + b1 * r2
