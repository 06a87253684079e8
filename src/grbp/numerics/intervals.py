"""Compute confidence intervals for a probability, from successes among independent tries.

Each method is written once, for its lower end: the upper end of s successes among n tries is one
less the lower end of the n - s failures. The numbers of successes and tries need not be whole,
since a weighted sample has an effective number of them.
"""

import math
import numbers
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

from grbp.errors import InvalidInput
from grbp.numerics.beta import beta_quantile
from grbp.numerics.special import log_weight


class Interval(NamedTuple):
    """The two ends of an interval.

    Attributes
    ----------
    low, high : float
        The ends; both belong to the interval.

    Examples
    --------
    >>> import grbp
    >>> grbp.wilson(0, 0)
    Interval(low=0.0, high=1.0)
    """

    low: float
    high: float


def wilson(successes: float, tries: float, level: float = 0.95) -> Interval:
    """Compute Wilson's score interval for a probability.

    Parameters
    ----------
    successes, tries : float
        The number of successes, and of all tries.
    level : float, optional
        The probability that the interval is to hold with, between 0 and 1.

    Returns
    -------
    Interval
        All p that the score test does not reject; from 0 to 1 where there were no tries.

    Raises
    ------
    InvalidInput
        If there are more successes than tries, or the level is not between 0 and 1.

    Notes
    -----
    Its ends solve (s - n p)^2 = z^2 n p (1 - p), with z the normal quantile of the level.

    Examples
    --------
    >>> import grbp
    >>> low, high = grbp.wilson(30, 100)
    >>> round(low, 4), round(high, 4)
    (0.2189, 0.3958)
    """
    return _two_sided(_wilson_low, successes, tries, level)


def jeffreys(successes: float, tries: float, level: float = 0.95) -> Interval:
    """Compute Jeffreys' interval: the quantiles of the posterior under his prior.

    Parameters
    ----------
    successes, tries : float
        The number of successes, and of all tries.
    level : float, optional
        The probability that the interval is to hold with, between 0 and 1.

    Returns
    -------
    Interval
        The quantiles of Beta(s + 1/2, n - s + 1/2) that leave out as much on either side; from 0
        to 1 where there were no tries.

    Raises
    ------
    InvalidInput
        If there are more successes than tries, or the level is not between 0 and 1.

    Notes
    -----
    The ends are plain quantiles: without a success, the lower one is not moved to 0.

    Examples
    --------
    >>> import grbp
    >>> low, high = grbp.jeffreys(30, 100)
    >>> round(low, 4), round(high, 4)
    (0.2168, 0.3945)
    """
    return _two_sided(_jeffreys_low, successes, tries, level)


def clopper_pearson(successes: float, tries: float, level: float = 0.95) -> Interval:
    """Compute the interval of Clopper and Pearson, which inverts the exact binomial test.

    Parameters
    ----------
    successes, tries : float
        The number of successes, and of all tries.
    level : float, optional
        The probability that the interval is to hold with, between 0 and 1.

    Returns
    -------
    Interval
        All p for which neither as few nor as many successes are too unlikely; from 0 to 1 where
        there were no tries.

    Raises
    ------
    InvalidInput
        If there are more successes than tries, or the level is not between 0 and 1.

    Notes
    -----
    It holds at least with its level where the number of tries was fixed beforehand. In records of
    whole rounds that number is random, and then it is not exact either.

    Examples
    --------
    >>> import grbp
    >>> low, high = grbp.clopper_pearson(30, 100)
    >>> round(low, 4), round(high, 4)
    (0.2124, 0.3998)
    """
    return _two_sided(_clopper_pearson_low, successes, tries, level)


def anytime(successes: float, tries: float, level: float = 0.95) -> Interval:
    """Compute an interval of a confidence sequence, which holds at all times at once.

    Parameters
    ----------
    successes, tries : float
        The number of successes, and of all tries, so far.
    level : float, optional
        The probability that all intervals along the way are to hold with, between 0 and 1.

    Returns
    -------
    Interval
        All p against which a bet by Beta(1/2, 1/2) has gained less than the factor
        1/(1 - level); from 0 to 1 where there were no tries.

    Raises
    ------
    InvalidInput
        If there are more successes than tries, or the level is not between 0 and 1.

    Notes
    -----
    The mixture B(s + 1/2, n - s + 1/2)/B(1/2, 1/2) over p^s (1 - p)^(n - s) is a martingale of
    mean 1 if p is the truth, so it reaches 1/(1 - level) with probability 1 - level at most,
    however long one looks and whatever made one stop (Ville's inequality). Records that a learner
    steered, or that were stopped by what they showed, need this interval.

    Examples
    --------
    >>> import grbp
    >>> low, high = grbp.anytime(30, 100)
    >>> round(low, 4), round(high, 4)
    (0.1657, 0.4628)
    """
    return _two_sided(_anytime_low, successes, tries, level)


def check_level(level: object) -> float:
    """Return the level of an interval as a float between 0 and 1, or refuse it."""
    held = float(level) if isinstance(level, numbers.Real) else math.nan
    if not 0.0 < held < 1.0:
        raise InvalidInput(
            f"level = {level!r} was given; it must be a number between 0 and 1, such as 0.95"
        )
    return held


def _two_sided(
    lower_end: Callable[[float, float, float], float],
    successes: float,
    tries: float,
    level: float,
) -> Interval:
    """Return the interval whose lower end is a function of successes, failures and 1 - level."""
    given: tuple[object, ...] = (successes, tries)
    s, n = (float(x) if isinstance(x, numbers.Real) else math.nan for x in given)
    if not 0.0 <= s <= n < math.inf:
        raise InvalidInput(
            f"successes = {successes!r} of tries = {tries!r} were given; they must be numbers with"
            " 0 <= successes <= tries"
        )
    error = 1.0 - check_level(level)
    if n == 0.0:
        return Interval(0.0, 1.0)
    return Interval(lower_end(s, n - s, error), 1.0 - lower_end(n - s, s, error))


def _wilson_low(won: float, lost: float, error: float) -> float:
    """Compute the smaller root as the product of both over the larger: it does not cancel."""
    z, n = NormalDist().inv_cdf(0.5 * error), won + lost
    half = 0.5 * z * z
    return won * won / n / (won + half - z * math.sqrt(won * lost / n + 0.5 * half))


def _jeffreys_low(won: float, lost: float, error: float) -> float:
    """Compute the lower quantile of the posterior."""
    return beta_quantile(0.5 * error, won + 0.5, lost + 0.5)


def _clopper_pearson_low(won: float, lost: float, error: float) -> float:
    """Compute the p at which as many successes, or more, have probability error/2."""
    return beta_quantile(0.5 * error, won, lost + 1.0) if won > 0.0 else 0.0


def _anytime_low(won: float, lost: float, error: float) -> float:
    """Compute the lowest p whose likelihood is above `error` times that of the mixture.

    Both carry the factor Gamma(n+1)/(Gamma(s+1) Gamma(n-s+1)); the mixture is then the arcsine
    law, in which wins and losses each have the weight of a fair coin that falls evenly.
    """
    if won <= 0.0:
        return 0.0
    fair = log_weight(won, won, 0.5, 0.5) + log_weight(lost, lost, 0.5, 0.5)
    bar = math.log(error) + fair
    low, high = 0.0, won / (won + lost)
    while low < (middle := 0.5 * (low + high)) < high:
        if log_weight(won, lost, middle, 1.0 - middle) < bar:
            low = middle
        else:
            high = middle
    return high
