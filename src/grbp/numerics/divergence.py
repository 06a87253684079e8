"""How different two chances are."""

import math
from typing import Final

from grbp._numba.jit import kernel

_NEAR: Final = 0.1
"""Below it a series of twenty terms is exact."""


@kernel
def bernoulli_divergence(p: float, q: float) -> float:
    """kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), for q strictly between 0 and 1."""
    first = p * math.log(p / q) if p > 0.0 else 0.0
    second = (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return first + second


def divergence_apart(p: float, difference: float) -> float:
    """kl(p, p + difference), also where the two are near."""
    if p == 0.0:
        return -math.log1p(-difference)
    return p * _beyond(difference / p) + (1.0 - p) * _beyond(-difference / (1.0 - p))


def _beyond(x: float) -> float:
    """x - log(1 + x), by its series where the two are near."""
    if abs(x) > _NEAR:
        return x - math.log1p(x)
    return math.fsum((-x) ** k / k for k in range(2, 20))
