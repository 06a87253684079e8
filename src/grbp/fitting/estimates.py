"""Estimated probabilities with their intervals, and how estimates are compared and averaged."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from grbp.numerics.arrays import Floats
from grbp.numerics.intervals import Interval, anytime, clopper_pearson, jeffreys, wilson
from grbp.theory.posterior import Estimate


def include_estimate(estimate: float, low: float, high: float) -> Estimate:
    """Return an estimate with quantiles of a posterior, extended so that they hold it.

    Where all tries came out alike, the estimate is beyond all quantiles.
    """
    return Estimate(estimate, min(low, estimate), max(high, estimate))


@dataclass(frozen=True)
class Proportion:
    """An estimated probability, with every interval by its name.

    Parameters
    ----------
    successes, tries : int
        How often it came true, and how often it was tried.
    level : float
        The level of the intervals.
    adaptive : bool
        Whether a learner chose the actions, so that intervals for a fixed number of tries are too
        narrow.
    effective : float, optional
        The number of independent tries that would say as much, where tries of one case belong
        together and cases differ.

    Examples
    --------
    >>> import grbp
    >>> p = grbp.Proportion(9, 20)
    >>> p.estimate, [round(end, 4) for end in p.wilson]
    (0.45, [0.2582, 0.6579])
    >>> [round(end, 4) for end in grbp.Proportion(9, 20, effective=10).by_case]
    [0.2014, 0.7263]
    """

    successes: int
    tries: int
    level: float = 0.95
    adaptive: bool = False
    effective: float | None = None

    @property
    def estimate(self) -> float | None:
        """The share of successes; None without a try."""
        return self.successes / self.tries if self.tries else None

    @property
    def as_estimate(self) -> Estimate | None:
        """The share with the interval to print; None without a try."""
        return Estimate(self.successes / self.tries, *self.interval) if self.tries else None

    @property
    def failures(self) -> int:
        """How often it was tried and did not come true."""
        return self.tries - self.successes

    @property
    def wilson(self) -> Interval:
        """Wilson's interval."""
        return wilson(self.successes, self.tries, self.level)

    @property
    def jeffreys(self) -> Interval:
        """The interval of the posterior with Jeffreys' prior."""
        return jeffreys(self.successes, self.tries, self.level)

    @property
    def clopper_pearson(self) -> Interval:
        """Clopper and Pearson's interval; exact for a fixed number of tries, which this is not."""
        return clopper_pearson(self.successes, self.tries, self.level)

    @property
    def anytime(self) -> Interval:
        """The interval that holds whenever one looks, and whoever chose the actions."""
        return anytime(self.successes, self.tries, self.level)

    @property
    def counts(self) -> tuple[float, float]:
        """The successes and failures; where cases differ, those of as many independent tries."""
        won, lost = self.successes, self.tries - self.successes
        if self.effective is None:
            return won, lost
        return won * (self.effective / self.tries), lost * (self.effective / self.tries)

    @property
    def by_case(self) -> Interval | None:
        """The interval to print on the effective number of tries; None where cases are alike."""
        return None if self.effective is None else self.interval

    @property
    def interval(self) -> Interval:
        """The interval to print: Wilson's, or where a learner chose the actions the anytime one.

        Where cases differ, it is the same on the effective number of tries, which is wider.
        """
        method = anytime if self.adaptive else wilson
        if self.effective is None:
            return method(self.successes, self.tries, self.level)
        return method(self.counts[0], self.effective, self.level)


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


def chance_above(draws: Floats, values: Floats) -> float:
    """Compute the probability that something is at least a value, given draws of both."""
    return 1.0 - float(np.searchsorted(np.sort(draws), values).mean()) / len(draws)


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
