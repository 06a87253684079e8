"""The textbook formulas in 420-digit arithmetic, of which 60 survive every cancellation.

Written from the paper, not from the package: powers of r as they stand.
"""

from typing import Any

import mpmath

mpmath.mp.dps = 420
Number = Any

DIGITS = 1e-12
"""The relative error that exact answers may have."""

SMALLEST = 1e-300
"""Below this a float has fewer digits than it could; the logarithm takes over."""


def number(x: float) -> Number:
    return mpmath.mpf(x)


def ratio(p_c: float) -> Number:
    return (1 - number(p_c)) / number(p_c)


def hit(i: int, n: int, p_c: float) -> Number:
    """The chance of reaching n before 0 from i."""
    if p_c == 0.5:
        return number(i) / n
    r = ratio(p_c)
    return (1 - r**i) / (1 - r**n)


def ruin(i: int, n: int, p_c: float) -> Number:
    """The chance of reaching 0 before n from i."""
    if p_c == 0.5:
        return number(n - i) / n
    r = ratio(p_c)
    return (r**i - r**n) / (1 - r**n)


def steps(i: int, n: int, p_c: float) -> Number:
    """The expected number of steps from i until 0 or n."""
    if p_c == 0.5:
        return number(i) * (n - i)
    return (i - n * hit(i, n, p_c)) / (1 - 2 * number(p_c))


def value(goal: int, p_c: float, p_f: float, threshold: int, s: int) -> Number:
    """V of a threshold policy: the identity that covers every threshold."""
    if s <= threshold:
        return number(p_f)
    base = number(p_f) if threshold else number(0)
    return base + (1 - base) * hit(s - threshold, goal - threshold, p_c)


def optimum(goal: int, p_c: float, p_f: float, s: int) -> Number:
    return max(value(goal, p_c, p_f, tau, s) for tau in (0, 1))


def relative_error(got: float, true: Number) -> float:
    return float(abs(number(got) - true) / abs(true)) if true != 0 else float(abs(got))
