"""Estimated probabilities with their intervals."""

from dataclasses import dataclass

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
        part = 1.0 if self.effective is None else self.effective / self.tries
        return self.successes * part, self.failures * part

    @property
    def by_case(self) -> Interval | None:
        """The interval to print on the effective number of tries; None where cases are alike."""
        if self.effective is None:
            return None
        method = anytime if self.adaptive else wilson
        return method(self.counts[0], self.effective, self.level)

    @property
    def interval(self) -> Interval:
        """The interval to print: Wilson's, or where a learner chose the actions the anytime one.

        Where cases differ, it is the same on the effective number of tries, which is wider.
        """
        return self.by_case or (self.anytime if self.adaptive else self.wilson)
