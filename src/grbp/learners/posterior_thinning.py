"""Two posteriors drawn in every round, and the rare draws that change a decision.

A learner that draws X and Y, both from Beta distributions, plays its usual threshold unless X falls
below a cut or Y above another (or, the other way round, X above and Y below). How likely that is
at most, over a box of counts, follows from the corner of the box where it is likeliest. In a
round where it may have happened, the two are drawn given that it did, or it did not.
"""

import math
from typing import NamedTuple

from grbp._numba.jit import kernel
from grbp.learners.base import Doubt
from grbp.numerics.beta import (
    beta_below,
    beta_beyond_draw,
    beta_draw,
    beta_tail,
    beta_tail_bound,
)
from grbp.numerics.rng import fold_in, uniform

_NEGLIGIBLE = 1e-12
"""A bound below this is not worth being replaced by the exact chance."""

_CARE = 1.0 + 1e-9
"""What an exact chance is raised by, to be above it whatever was rounded."""


class Betas(NamedTuple):
    """The parameters of X and of Y."""

    a_x: float
    b_x: float
    a_y: float
    b_y: float


class Drawn(NamedTuple):
    """A draw of X and of Y; both -1 where nothing rare happened."""

    first: float
    second: float


@kernel
def mirrored(pair: Betas) -> Betas:
    """The distributions of 1 - X and 1 - Y."""
    return Betas(pair.b_x, pair.a_x, pair.b_y, pair.a_y)


@kernel
def out_of_reach(a: float, b: float, rho: int, sign: float) -> float:
    """A value that a Beta(a, b) variable hardly ever is beyond, on the side of the sign, in a
    number of rounds like those so far.
    """  # noqa: D205
    mean = a / (a + b)
    sd = math.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    return mean + sign * (3.0 + math.sqrt(2.0 * math.log(1.0 + rho))) * sd


@kernel
def tail_at_most(a: float, b: float, x: float) -> float:
    """A number not below the chance that a Beta(a, b) variable exceeds x, and hardly above."""
    bound = beta_tail_bound(a, b, x)
    return bound if bound <= _NEGLIGIBLE else min(bound, _CARE * beta_tail(a, b, x))


@kernel
def doubt_of(pair: Betas, usual: int, cut_x: float, cut_y: float) -> Doubt:
    """The doubt about a usual threshold: 1 unless X < cut_x or Y > cut_y; 0 unless X > or Y <."""
    p, c, d = pair, cut_x, cut_y
    if usual == 0:
        p, c, d = mirrored(pair), 1.0 - cut_x, 1.0 - cut_y
    chance = tail_at_most(p.b_x, p.a_x, 1.0 - c) + tail_at_most(p.a_y, p.b_y, d)
    return Doubt(usual, min(1.0, chance), cut_x, cut_y)


@kernel
def unusual(key: int, pair: Betas, doubt: Doubt) -> Drawn:
    """X and Y in a round that is unusual with their true chance, given that one of chance
    doubt.chance was met; -1 and -1 where it is not.
    """  # noqa: D205
    p, c, d = pair, doubt.first, doubt.second
    if doubt.usual == 0:
        p, c, d = mirrored(pair), 1.0 - doubt.first, 1.0 - doubt.second
    chosen, x, y = uniform(key, 0) * doubt.chance, -1.0, -1.0
    below = beta_below(p.a_x, p.b_x, c)
    if chosen < below:
        x = 1.0 - beta_beyond_draw(fold_in(key, 2), p.b_x, p.a_x, 1.0 - c)
        y = beta_draw(fold_in(key, 3), p.a_y, p.b_y)
    elif chosen < below + beta_tail_bound(p.a_y, p.b_y, d) and chosen < below + (
        1.0 - below
    ) * beta_tail(p.a_y, p.b_y, d):
        # The exact chance takes long, and is hardly ever asked for.
        x = beta_beyond_draw(fold_in(key, 2), p.a_x, p.b_x, c)
        y = beta_beyond_draw(fold_in(key, 3), p.a_y, p.b_y, d)
    if x < 0.0:
        return Drawn(-1.0, -1.0)
    return Drawn(1.0 - x, 1.0 - y) if doubt.usual == 0 else Drawn(x, y)
