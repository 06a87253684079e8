"""Add floats without any rounding but the last, as `math.fsum` does, in compiled code too."""

from typing import Final

import numpy as np

from grbp.numerics.arrays import Floats
from grbp.numerics.jit import kernel

_MOST: Final = 2100
"""The most parts of a sum: they do not overlap, and the bits of all floats are fewer than that."""


@kernel
def _two_sum(x: float, y: float) -> tuple[float, float]:
    """Return the rounded sum of two floats and what rounding left of it (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


@kernel
def exact_sum(numbers: Floats) -> float:
    """Return the sum of finite numbers, rounded once, half to even.

    The sum so far is kept as floats that do not overlap, the smallest first (Shewchuk 1997).
    """
    parts, count = np.empty(_MOST), 0
    for i in range(len(numbers)):
        total, kept = float(numbers[i]), 0
        for k in range(count):
            total, rest = _two_sum(total, float(parts[k]))
            if rest != 0.0:
                parts[kept] = rest
                kept += 1
        parts[kept] = total
        count = kept + 1
    return _round_parts(parts, count)


@kernel
def _round_parts(parts: Floats, count: int) -> float:
    """Return the sum of parts that do not overlap, the smallest first, rounded once."""
    total, rest, k = 0.0, 0.0, count
    while k > 0 and rest == 0.0:
        k -= 1
        total, rest = _two_sum(total, float(parts[k]))
    # Half a unit was rounded to even; if the parts below have its sign, it is more than a half.
    if k > 0 and (rest > 0.0) == (parts[k - 1] > 0.0) and total + 2.0 * rest - total == 2.0 * rest:
        return total + 2.0 * rest
    return total
