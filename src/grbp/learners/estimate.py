"""From estimates to a threshold: the comparison, and draws from a Beta distribution."""

import math

from grbp._jit import kernel
from grbp.streams import noise, uniform


@kernel
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


@kernel
def finish_is_right(goal: int, won: float, tried: float, up: float, down: float) -> bool:
    """Whether won/tried >= B(up/(up + down)), that is won (1 + r + ...) >= tried, r = down/up.

    Ties give True, and what rounding might have made of them. Nothing seen to move up gives
    True, for B = 0 then.

    Paper: thm:tauinf
    """
    if up <= 0.0:
        return True
    return won * odds_sum(down / up, goal) >= tried * (1.0 - 1e-14)


@kernel
def gamma_draw(key: int, shape: float) -> float:
    """A draw from the Gamma distribution, of a shape of at least 1 (Marsaglia and Tsang 2000)."""
    d = shape - 1.0 / 3.0
    scale = 1.0 / math.sqrt(9.0 * d)
    k = 0
    while True:
        radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, k)))
        x = radius * math.cos(2.0 * math.pi * uniform(key, k + 1))
        u = 1.0 - uniform(key, k + 2)
        k += 3
        v = 1.0 + scale * x
        if v > 0.0:
            v = v * v * v
            if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v


@kernel
def beta_draw(key: int, a: float, b: float) -> float:
    """A draw from Beta(a, b), both of them at least 1."""
    x, y = gamma_draw(noise(key, 1), a), gamma_draw(noise(key, 2), b)
    return x / (x + y)
