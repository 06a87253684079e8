"""On which value of continuing in state 1 a decision can rest, and how sure it is then."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from grbp._format import percent
from grbp.fitting.estimates import include_estimate
from grbp.numerics.arrays import Floats
from grbp.theory.posterior import Estimate, Posterior

_DRAWS: Final = 4000
"""Draws of p_F, each of which is compared with each draw of a value."""


_ROUNDING: Final = 1e-9
"""Two shares that differ by less, relative to them, are equal."""


class Ground(NamedTuple):
    """What a decision can rest on.

    Attributes
    ----------
    name : str
        The way to value state 1: "boundary", "direct", "general", or "standardized" over groups.
    p_f, value : Estimate
        How often FINISH reaches the goal, and how often continuing from state 1 does.
    probability : float
        How probable it is that FINISH is right in state 1.
    """

    name: str
    p_f: Estimate
    value: Estimate
    probability: float

    @property
    def difference(self) -> Estimate:
        """How much more often FINISH reaches the goal."""
        return subtract(self.p_f, self.value)

    @property
    def tie(self) -> bool:
        """Whether both are equally good, as far as the digits go that are told."""
        apart = abs(self.p_f.estimate - self.value.estimate)
        surely = percent(max(self.probability, 1.0 - self.probability))
        return apart <= _ROUNDING * self.value.estimate or surely == percent(0.5)


def find_ways_that_stand(ways: Mapping[str, Estimate | None]) -> tuple[str, ...]:
    """Name the ways to value state 1 on which a decision can rest, fewest assumptions first.

    It is the boundary alone, unless another way is apart from it. What was seen judges the chain
    state by state: moves with a memory, or cases that differ, mislead the chain more than they
    mislead B(p_C).
    """
    base, direct, general = (ways[name] for name in ("boundary", "direct", "general"))
    stand = {} if direct is None else {"direct": direct}
    if general is not None and not (direct is not None and are_apart(direct, general)):
        stand["general"] = general
    if base is None or not any(are_apart(base, way) for way in stand.values()):
        return ("boundary",)
    return tuple(stand)


def are_apart(one: Estimate, other: Estimate) -> bool:
    """Return whether two estimates differ by more than their intervals allow."""
    apart = subtract(one, other)
    return apart.low > 0.0 or apart.high < 0.0


def subtract(one: Estimate, other: Estimate) -> Estimate:
    """Subtract an estimate from another that is independent of it (Zou and Donner 2008).

    Each has its interval on the side of the other.
    """
    difference = one.estimate - other.estimate
    below = math.hypot(one.estimate - one.low, other.high - other.estimate)
    above = math.hypot(one.high - one.estimate, other.estimate - other.low)
    return Estimate(difference, difference - below, difference + above)


def average(estimates: Iterable[Estimate | None], weights: Sequence[float]) -> Estimate | None:
    """Average estimates that are independent of each other; None where one is not known."""
    mean = below = above = 0.0
    for one, weight in zip(estimates, weights, strict=True):
        if one is None:
            return None
        mean += weight * one.estimate
        below = math.hypot(below, weight * (one.estimate - one.low))
        above = math.hypot(above, weight * (one.high - one.estimate))
    return Estimate(mean, mean - below, mean + above)


def chance_above(posterior: Posterior, values: Floats) -> float:
    """Compute the probability that p_F is at least a value, given draws of it."""
    random, prior = np.random.default_rng(0), posterior.prior_f
    won, lost = posterior.f_goal + prior[0], posterior.f_lost + prior[1]
    shares = np.sort(random.beta(won, lost, _DRAWS))
    return 1.0 - float(np.searchsorted(shares, values).mean()) / _DRAWS


def spread_out(way: Estimate, level: float, size: int = 1000) -> Floats:
    """Return values spread as a normal law that has a width of its own on either side."""
    normal = NormalDist()
    z = np.array([normal.inv_cdf((k + 0.5) / size) for k in range(size)])
    width = np.where(z < 0.0, way.estimate - way.low, way.high - way.estimate)
    return way.estimate + z * width / normal.inv_cdf(0.5 + 0.5 * level)


def summarize_draws(draws: Floats, level: float) -> Estimate:
    """Return the mean of draws, with the quantiles between which so many of them lie."""
    ends = np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
    return include_estimate(float(draws.mean()), *ends.tolist())
