"""Bayes-UCB over the two policies, with the quantile of a Beta distribution it needs."""

import math

from grbp._jit import kernel
from grbp.history import Counters
from grbp.learners.contract import Learner, NoConstants

_HALVINGS = 40
_TERMS = 1_000_000
"""Far more than converge: about the square root of the counts are needed."""

_TINY = 1e-300


@kernel
def beta_tail(a: float, b: float, x: float) -> float:
    """The probability that a Beta(a, b) variable exceeds x.

    The continued fraction of the incomplete beta function (DLMF 8.17.22), evaluated from the
    side on which it converges fast.
    """
    if x <= 0.0:
        return 1.0
    if x >= 1.0:
        return 0.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_front += a * math.log(x) + b * math.log(1.0 - x)
    if x < (a + 1.0) / (a + b + 2.0):
        return 1.0 - math.exp(log_front) * _fraction(a, b, x) / a
    return math.exp(log_front) * _fraction(b, a, 1.0 - x) / b


@kernel
def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    total = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        d, c = 1.0 + even * d, 1.0 + even / c
        d, c = 1.0 / (d if abs(d) > _TINY else _TINY), (c if abs(c) > _TINY else _TINY)
        total *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d, c = 1.0 + odd * d, 1.0 + odd / c
        d, c = 1.0 / (d if abs(d) > _TINY else _TINY), (c if abs(c) > _TINY else _TINY)
        total *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return total


@kernel
def beta_quantile(a: float, b: float, tail: float) -> float:
    """What a Beta(a, b) variable exceeds with a given probability, by halving."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if beta_tail(a, b, middle) > tail:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@kernel
def bayes_ucb(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """The threshold with the larger quantile of its posterior at 1 - 1/rho."""
    if n.plays_0 == 0.0:
        return 0
    if n.plays_1 == 0.0:
        return 1
    tail = 1.0 / n.rho
    q_1 = beta_quantile(1.0 + n.wins_1, 1.0 + n.plays_1 - n.wins_1, tail)
    # The other quantile is no larger exactly if no more than the tail lies beyond this one;
    # the halving left an error in it that must not decide a tie.
    beyond = beta_tail(1.0 + n.wins_0, 1.0 + n.plays_0 - n.wins_0, q_1)
    return 1 if beyond <= tail * (1.0 + 1e-9) else 0


BAYES_UCB = Learner(
    "bayes-ucb",
    bayes_ucb,
    NoConstants(),
    line="Bayes-UCB over two policies",
    reference="Kaufmann, Cappe and Garivier 2012",
)
