"""Skipping rounds of learners that draw from two posteriors: the rare draws that matter.

A learner that draws X and Y, both from Beta distributions, plays its usual threshold unless X falls
below a cut or Y above another (or, the other way round, X above and Y below). An upper bound on the
probability of that over a box of counters follows from the corner of the box where it is largest.
In a round where it may have happened, X and Y are drawn given that it did, or it did not.
"""

import math
from typing import Final, NamedTuple

from grbp.learners.base import Doubt
from grbp.numerics.beta import beta_below, beta_beyond_draw, beta_draw, beta_tail, beta_tail_bound
from grbp.numerics.jit import kernel
from grbp.numerics.rng import fold_in, uniform

_NEGLIGIBLE: Final = 1e-12
"""A bound below this is not worth being replaced by the exact probability."""

_CARE: Final = 1.0 + 1e-9
"""The factor that lifts a computed probability above the exact one, whatever was rounded."""


class Betas(NamedTuple):
    """The parameters of X and of Y."""

    a_x: float
    b_x: float
    a_y: float
    b_y: float


@kernel
def mirror(pair: Betas) -> Betas:
    """Return the distributions of 1 - X and 1 - Y."""
    return Betas(pair.b_x, pair.a_x, pair.b_y, pair.a_y)


@kernel
def out_of_reach(a: float, b: float, rho: int, sign: float) -> float:
    """Return a value that a Beta(a, b) variable hardly ever passes on the side of the sign.

    "Hardly ever" means within about as many further rounds as there have been.
    """
    mean = a / (a + b)
    sd = math.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    return mean + sign * (3.0 + math.sqrt(2.0 * math.log(1.0 + rho))) * sd


@kernel
def tail_at_most(a: float, b: float, x: float) -> float:
    """Bound the probability that a Beta(a, b) variable exceeds x, closely and from above."""
    bound = beta_tail_bound(a, b, x)
    return bound if bound <= _NEGLIGIBLE else min(bound, _CARE * beta_tail(a, b, x))


@kernel
def doubt_of(pair: Betas, usual: int, cut_x: float, cut_y: float) -> Doubt:
    """Compute the doubt about a usual threshold.

    Threshold 1 is played unless X < cut_x or Y > cut_y; threshold 0 unless X > cut_x or Y < cut_y.
    """
    p, c, d = pair, cut_x, cut_y
    if usual == 0:
        p, c, d = mirror(pair), 1.0 - cut_x, 1.0 - cut_y
    chance = tail_at_most(p.b_x, p.a_x, 1.0 - c) + tail_at_most(p.a_y, p.b_y, d)
    return Doubt(usual, min(1.0, chance), cut_x, cut_y)


@kernel
def draw_unusual(key: int, pair: Betas, doubt: Doubt) -> tuple[float, float]:
    """Draw X and Y of a round in doubt, or return -1 and -1 where nothing unusual happened.

    The round is unusual with the exact probability, given that an event of probability
    doubt.chance has happened.
    """
    p, c, d = pair, doubt.first, doubt.second
    if doubt.usual == 0:
        p, c, d = mirror(pair), 1.0 - doubt.first, 1.0 - doubt.second
    chosen = uniform(key, 0) * doubt.chance
    below = beta_below(p.a_x, p.b_x, c)
    if chosen < below:
        x = 1.0 - beta_beyond_draw(fold_in(key, 2), p.b_x, p.a_x, 1.0 - c)
        y = beta_draw(fold_in(key, 3), p.a_y, p.b_y)
    # The exact probability takes long to compute, and is hardly ever asked for.
    elif chosen < below + beta_tail_bound(p.a_y, p.b_y, d) and chosen < below + (
        1.0 - below
    ) * beta_tail(p.a_y, p.b_y, d):
        x = beta_beyond_draw(fold_in(key, 2), p.a_x, p.b_x, c)
        y = beta_beyond_draw(fold_in(key, 3), p.a_y, p.b_y, d)
    else:
        return -1.0, -1.0
    return (1.0 - x, 1.0 - y) if doubt.usual == 0 else (x, y)
