"""How different two chances are."""

import math

from grbp._jit import kernel


@kernel
def bernoulli_divergence(p: float, q: float) -> float:
    """kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), for q strictly between 0 and 1."""
    first = p * math.log(p / q) if p > 0.0 else 0.0
    second = (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return first + second
