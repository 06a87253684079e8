"""Say what counts of past cases tell about the decision: how sure it is, and what it gains.

Under Beta priors p_c and p_f are independent Beta variables given the counts. Probabilities of
what they imply are integrals over p_c of the distribution function of p_f, and are computed by
Gauss-Legendre quadrature in the log-odds, in which a Beta density is log-concave and has no
singularity. Either of the two may be known a thousand times better than the other, so that the
integrand is a needle or a step: the panels are cut where either density has fallen by another
standard deviation, hence the integrand is smooth in each of them. A prior below Jeffreys' leaves a
law that is nearly flat for hundreds of log-odds and bends within one of them, at a probability of
1/2; there are panels around that bend.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.polynomial import legendre, polynomial
from numpy.typing import ArrayLike

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Floats
from grbp.theory.ruin import hit, log_failure_ratio, log_hit
from grbp.worlds.validation import check_goal, check_number, check_positive, check_probabilities

_DEVIATIONS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 8.6])
"""Where panels end, in standard deviations of a normal law of the same height; 1e-16 is beyond."""

_BENDS = np.array([1.5, 3.0, 5.0, 8.0, 12.0, 18.0, 27.0, 40.0])
"""Log-odds between which a law with little weight on a side is smooth: it bends around 0."""

_POINTS, _WEIGHTS = legendre.leggauss(16)
_PROJECTION = (np.arange(16) + 0.5)[:, None] * legendre.legvander(_POINTS, 15).T * _WEIGHTS
"""From values at the points of a panel to the coefficients of their Legendre series."""

_MOST = 10**15
"""The largest count accepted: the log-odds of a probability have no digits for more."""

_PRIORS = (1e-4, 1e15)
"""The least and the largest number of a prior: the quadrature has its digits between them."""

Prior: TypeAlias = tuple[float, float]
"""The two numbers of a Beta law."""

JEFFREYS: Final[Prior] = (0.5, 0.5)
"""Jeffreys' prior of a probability."""

_HIGHEST_LEVEL = 1.0 - 1e-9
"""The highest level of an interval: further out, the quadrature has no digits."""

_Function = Callable[[Floats], Floats]


class Estimate(NamedTuple):
    """An estimate with its interval.

    Attributes
    ----------
    estimate : float
        The number; of a `Posterior`, the quantity at the raw shares of the counts, and NaN where
        an action was never tried.
    low, high : float
        The ends of the interval; of a `Posterior`, the quantiles that leave out as much on either
        side.

    Examples
    --------
    >>> import grbp
    >>> grbp.Estimate(0.1, low=0.0, high=0.2)
    Estimate(estimate=0.1, low=0.0, high=0.2)
    """

    estimate: float
    low: float
    high: float


def check_prior(name: str, prior: object) -> Prior:
    """Return a prior as two positive numbers, or refuse it by its name."""
    with suppress(TypeError, ValueError, InvalidInput):
        a, b = (check_positive(name, number) for number in prior)  # type: ignore[attr-defined]
        if _PRIORS[0] <= min(a, b) and max(a, b) <= _PRIORS[1]:
            return a, b
    raise InvalidInput(
        f"{name} = {prior!r} was given; it must be two positive numbers, from 0.0001 to 1e15, such"
        " as (0.5, 0.5)"
    )


def _check_count(name: str, count: object) -> float:
    """Return a count, whole or not, or refuse it by its name."""
    with suppress(InvalidInput):
        number = check_number(name, count)
        if number <= _MOST:
            return int(number) if number.is_integer() else number
    raise InvalidInput(f"{name} = {count!r} was given; it must be a number from 0 to {_MOST:,}")


@dataclass(frozen=True)
class Posterior:
    """The posterior of p_c and p_f given counts, under Beta priors; Jeffreys' unless given.

    Parameters
    ----------
    goal : int
        The state in which a round is won, at least 2.
    c_up, c_down : float
        The numbers of times that CONTINUE went up, and down. They need not be whole: records that
        depend on one another count for less than their number.
    f_goal, f_lost : float
        The numbers of times that FINISH reached the goal, and did not.
    prior_c, prior_f : pair of float, optional
        The priors of p_c and p_f, each as the two numbers of a Beta law: so many ups and downs, or
        wins and losses, are assumed before any record.

    Raises
    ------
    InvalidInput
        If the goal is below 2, a count is not a number from 0 on, or a prior is not two positive
        numbers.

    Notes
    -----
    p_c is Beta(c_up + a, c_down + b) with (a, b) = `prior_c`, and p_f likewise.

    Examples
    --------
    >>> import grbp
    >>> posterior = grbp.Posterior(goal=4, c_up=45, c_down=55, f_goal=15, f_lost=35)
    >>> round(posterior.probability, 4)
    0.9028
    >>> doubtful = grbp.Posterior(4, 45, 55, 15, 35, prior_f=(2, 18))
    >>> round(doubtful.probability, 4)
    0.7623
    """

    goal: int
    c_up: float
    c_down: float
    f_goal: float
    f_lost: float
    prior_c: Prior = JEFFREYS
    prior_f: Prior = JEFFREYS

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", check_goal(self.goal))
        for name in ("c_up", "c_down", "f_goal", "f_lost"):
            count = getattr(self, name)
            if type(count) is not int or not 0 <= count <= _MOST:
                object.__setattr__(self, name, _check_count(name, count))
        for name in ("prior_c", "prior_f"):
            object.__setattr__(self, name, check_prior(name, getattr(self, name)))

    @cached_property
    def probability(self) -> float:
        """The probability that threshold 1 is right: that p_f >= B(p_c).

        Returns
        -------
        float
            It, to twelve decimals.

        Examples
        --------
        >>> import grbp
        >>> round(grbp.Posterior(2, 3, 7, 7, 3).probability, 6)
        0.964332
        """
        return 1.0 - self._chance_below(0.0, np.zeros_like)

    def difference(self, level: float = 0.95) -> Estimate:
        """Estimate p_f - B(p_c), what FINISH in state 1 gains over continuing.

        Parameters
        ----------
        level : float, optional
            The posterior probability of the interval, between 0 and 1.

        Returns
        -------
        Estimate
            The difference at the raw shares, and the interval.

        Raises
        ------
        InvalidInput
            If the level is not between 0 and 1.

        Examples
        --------
        >>> import grbp
        >>> posterior = grbp.Posterior(goal=4, c_up=45, c_down=55, f_goal=15, f_lost=35)
        >>> [round(x, 3) for x in posterior.difference()]
        [0.12, -0.063, 0.289]
        """
        return self._estimate(np.zeros_like, level)

    def gain(self, weights: ArrayLike, level: float = 0.95) -> Estimate:
        """Estimate how much more often threshold 1 reaches the goal than threshold 0.

        Parameters
        ----------
        weights : array_like, shape (goal - 1,)
            The probability of each first state.
        level : float, optional
            The posterior probability of the interval, between 0 and 1.

        Returns
        -------
        Estimate
            The difference of the two values at the raw shares, and the interval.

        Raises
        ------
        InvalidInput
            If the level is not between 0 and 1, or the weights are no distribution over the
            inner states.

        Notes
        -----
        It is h(p_c) (p_f - B(p_c)), where h is the probability of ever standing in state 1 when
        one continues above it.

        Examples
        --------
        >>> import grbp
        >>> posterior = grbp.Posterior(goal=4, c_up=45, c_down=55, f_goal=15, f_lost=35)
        >>> [round(x, 3) for x in posterior.gain([0, 1, 0])]
        [0.087, -0.04, 0.231]
        """
        shares = check_probabilities("weights", weights)
        if shares.shape != (self.goal - 1,) or abs(shares.sum() - 1.0) > 1e-9:
            raise InvalidInput(
                f"weights of shape {shares.shape} with the sum {shares.sum():.12g} were given; a"
                f" goal of {self.goal} needs {self.goal - 1} that sum to 1"
            )
        started = np.cumsum(shares / shares.sum())
        least = int(np.flatnonzero(started)[0])

        def log_reach(log_r: Floats) -> Floats:
            """Compute log h, h = (sum of r^j W_j)/(sum of r^j) over 0 <= j < G - 1.

            W_j is the weight of the states up to j + 1; only positive numbers are added.
            """
            a = np.minimum(np.abs(log_r), 1e4)  # h does not change beyond
            q = np.exp(-a)
            rising: Floats = np.log(polynomial.polyval(q, started[least:])) - least * a
            falling: Floats = np.log(polynomial.polyval(q, started[::-1]))
            return np.where(log_r < 0.0, rising, falling) + np.log(hit(1, self.goal - 1, -a))

        return self._estimate(log_reach, level)

    @cached_property
    def _laws(self) -> "tuple[_LogOdds, _LogOdds, Floats]":
        """The laws of the log-odds of p_c and p_f, and the ends of panels over the first.

        In a panel B(p_c) is smooth as well: it bends within 1/G of p_c = 1/2. Log-odds are counted
        from the centre of the law here and below: they keep their digits.
        """
        c = _LogOdds(self.c_up, self.c_down, self.prior_c)
        bends = 4.0 ** np.arange(18) / self.goal
        bends = np.concatenate((-bends, [0.0], bends)) - c.centre
        inside = bends[(bends > c.ends[0]) & (bends < c.ends[-1])]
        f = _LogOdds(self.f_goal, self.f_lost, self.prior_f)
        return c, f, np.union1d(c.ends, inside)

    def _estimate(self, log_reach: _Function, level: float) -> Estimate:
        """Estimate h(p_c) (p_f - B(p_c)), given log h as a function of log r."""
        if not (isinstance(level, float | int) and 0.0 < level <= _HIGHEST_LEVEL):
            raise InvalidInput(
                f"level = {level!r} was given; it must be a number between 0 and 1, such as 0.95,"
                " and at least 1e-9 below 1"
            )
        law, _, panels = self._laws
        nodes, _ = _quadrature(panels)
        series = _PROJECTION @ log_reach(-(law.centre + nodes)).T
        log_h = partial(_sum_series, panels, series)
        tail = 0.5 * (1.0 - level)
        low, high = (self._quantile(p, log_h) for p in (tail, 1.0 - tail))
        c, f = self.c_up + self.c_down, self.f_goal + self.f_lost
        if not (c and f):
            return Estimate(math.nan, low, high)
        log_r = log_failure_ratio([self.c_up / c])
        raw = np.exp(log_reach(log_r)) * (self.f_goal / f - hit(1, self.goal, log_r))
        return Estimate(float(raw[0]), low, high)

    def _quantile(self, p: float, log_h: _Function) -> float:
        """Compute the gain that is not exceeded with probability p, by Ridders' method.

        The bracket is Cantelli's inequality: it holds for every law of that mean and variance.
        """
        law, law_f, panels = self._laws
        nodes, mass = _quadrature(panels)
        mass *= law.density(nodes)
        log_r = -(law.centre + nodes)
        b, h = hit(1, self.goal, log_r), np.exp(log_h(nodes))
        f, n = law_f.a / law_f.n, law_f.n
        mean = float((mass * h * (f - b)).sum())
        of_f = f * (1.0 - f) / (n + 1.0)
        spread = math.sqrt((mass * ((h * (f - b) - mean) ** 2 + h * h * of_f)).sum())
        ends = [mean - spread * math.sqrt(1.0 / p), mean + spread * math.sqrt(1.0 / (1.0 - p))]
        errors = [self._chance_below(x, log_h) - p for x in ends]
        for _ in range(60):
            middle = 0.5 * (ends[0] + ends[1])
            error = self._chance_below(middle, log_h) - p
            root = math.sqrt(max(error * error - errors[0] * errors[1], 1e-300))
            better = middle - (middle - ends[0]) * error / root
            better = min(max(better, ends[0]), ends[1])
            final = self._chance_below(better, log_h) - p
            for x, e in sorted([(middle, error), (better, final)]):
                side = 0 if e <= 0.0 else 1
                if (x > ends[0]) if side == 0 else (x < ends[1]):
                    ends[side], errors[side] = x, e
            if abs(final) < 1e-11 or ends[1] - ends[0] < 1e-12 * spread:
                break
        return min(max(better, -1.0), 1.0)

    def _chance_below(self, gain: float, log_h: _Function) -> float:
        """Compute the probability that h(p_c) (p_f - B(p_c)) stays below a number."""
        law, law_f, panels = self._laws

        def odds(t: Floats) -> Floats:
            """Compute the log-odds of the p_f at which the gain is that number."""
            log_r = -(law.centre + t)
            if gain == 0.0:  # A prior below Jeffreys' reaches where B itself underflows.
                ends = log_hit(1, self.goal, log_r), log_hit(self.goal - 1, self.goal, -log_r)
                return ends[0] - ends[1] - law_f.centre
            won, lost = hit(1, self.goal, log_r), hit(self.goal - 1, self.goal, -log_r)
            with np.errstate(divide="ignore", over="ignore"):
                more = gain * np.exp(-log_h(t))
                won, lost = np.maximum(won + more, 0.0), np.maximum(lost - more, 0.0)
                return np.log(won) - np.log(lost) - law_f.centre

        cuts = _crossings(odds, panels, law_f.ends)
        nodes, mass = _quadrature(np.union1d(panels, cuts))
        chance = (mass * law.density(nodes) * law_f.below(odds(nodes))).sum()
        return min(max(float(chance), 0.0), 1.0)


class _LogOdds:
    """The law of the log-odds of a Beta variable, counted from its mode."""

    def __init__(self, won: float, lost: float, prior: Prior) -> None:
        self.a, self.b = won + prior[0], lost + prior[1]
        self.n = self.a + self.b
        self.centre = math.log(self.a / self.b)
        ends = np.concatenate((-self._fall_distances(-1)[::-1], [0.0], self._fall_distances(1)))
        if min(self.a, self.b) < 0.5:
            bends = np.concatenate((-_BENDS[::-1], [0.0], _BENDS)) - self.centre
            ends = np.union1d(ends, bends[(bends > ends[0]) & (bends < ends[-1])])
        self.ends = ends
        self._mass = 1.0
        nodes, weights = _quadrature(self.ends)
        heights = self.density(nodes)
        self._mass = float((weights * heights).sum())
        series: Floats = np.asarray(legendre.legint(_PROJECTION @ heights.T, lbnd=-1), float)
        series *= np.diff(self.ends) * (0.5 / self._mass)
        series[0, 1:] += np.cumsum(series.sum(axis=0))[:-1]
        self.below = partial(_sum_series, self.ends, series)

    def density(self, t: Floats) -> Floats:
        """Compute the density."""
        return np.exp(-self._log_density_drop(t)) / self._mass

    def _log_density_drop(self, t: Floats) -> Floats:
        """Compute by how much the log-density at t is below that at 0, without cancellation."""
        x, y = self.a / self.n, self.b / self.n
        down = self.n * np.log1p(x * np.expm1(np.minimum(t, 0.0))) - self.a * np.minimum(t, 0.0)
        up = self.n * np.log1p(y * np.expm1(np.minimum(-t, 0.0))) + self.b * np.maximum(t, 0.0)
        return down + up

    def _fall_distances(self, side: int) -> Floats:
        """Compute how far on a side of 0 the density has fallen by so many deviations.

        The drop is convex and Newton's method comes from beyond, hence does not overshoot.
        """
        a, b = (self.a, self.b) if side < 0 else (self.b, self.a)
        fall = 0.5 * _DEVIATIONS**2
        t = (fall - self.n * math.log(b / self.n)) / a
        excess = np.ones(1)
        while excess.max() > 1e-3:  # No end of a panel need be exact.
            excess = self._log_density_drop(side * t) - fall
            # The derivative of the drop at distance t is a b (1 - e^-t)/(b + a e^-t).
            t = t + excess * (b + a * np.exp(-t)) / (a * b * np.expm1(-t))
        return t


def _sum_series(ends: Floats, series: Floats, t: Floats) -> Floats:
    """Compute what has a Legendre series in each panel, and is constant beyond them."""
    t = np.clip(t, ends[0], ends[-1])
    panel = np.clip(np.searchsorted(ends, t) - 1, 0, len(ends) - 2)
    low, high = ends[panel], ends[panel + 1]
    s = (2.0 * t - low - high) / (high - low)
    return np.asarray(legendre.legval(s, series[:, panel], tensor=False), float)


def _quadrature(ends: Floats) -> tuple[Floats, Floats]:
    """Return the points and weights of all panels, a row for each of them."""
    half = 0.5 * np.diff(ends)[:, None]
    return 0.5 * (ends[1:] + ends[:-1])[:, None] + half * _POINTS, half * _WEIGHTS


def _crossings(odds: Callable[[Floats], Floats], ends: Floats, levels: Floats) -> Floats:
    """Find where a function crosses the levels, to a millionth of a panel or so."""
    steps = np.linspace(0.0, 1.0, 33)
    grid = np.append(ends[:-1, None] + np.diff(ends)[:, None] * steps[:-1], ends[-1])
    above = odds(grid)[:, None] > levels
    cell, level = np.nonzero(above[1:] != above[:-1])
    low, high = grid[cell], grid[cell + 1]
    each = np.arange(len(cell))
    for _ in range(4):
        points = low + (high - low) * steps[:, None]
        beyond = (odds(points) > levels[level]) != above[cell, level]
        beyond[-1] = True
        first = np.maximum(beyond.argmax(axis=0), 1)
        low, high = points[first - 1, each], points[first, each]
    return high
