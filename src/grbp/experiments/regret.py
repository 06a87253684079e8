"""Turn decisions into regret: its mean over the replicas, and how precisely that is known.

The functions take arrays and return arrays. The pseudo-regret of a round is the gap of the
threshold played; a forced exploration, which finishes at once, is the threshold goal - 1 and
costs V* - p_f.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from grbp.learners.base import AnyLearner
from grbp.numerics.arrays import Floats
from grbp.theory.gaps import gap, gap_at, threshold_gaps
from grbp.worlds.problem import Problem

_BAND_DRAWS = 20_000
_NOTHING: Final = 1e-9
"""A variance that is rounding, where that of a whole component is 1."""

_SURE: Final = 0.15
"""The largest standard error after splitting, as a share of the mean, that can be trusted."""

FEW: Final = 8
"""The most choices that cost something, for which the rounds of every two are multiplied."""

_FINE: Final = 60
"""Bits of what a replica lost, as a whole number."""

Z_95: Final = 1.959963984540054
"""The half-width of a 95 % interval in standard errors: the normal quantile at .975."""


@dataclass(frozen=True, repr=False)
class Curve:
    """The regret of one learner at each checkpoint, over all replicas.

    Attributes
    ----------
    mean : ndarray, shape (checkpoints,)
        The mean regret.
    covariance : ndarray, shape (checkpoints, checkpoints)
        The covariance of the mean between checkpoints; its diagonal is ``se ** 2``.
    final : ndarray, shape (replicas,)
        The regret of every replica at the last checkpoint.
    threshold_share : dict
        The share of rounds in which each threshold was played: ``{threshold: share}``. For
        "ucb1-policies", the shares are those of its policies.
    by_start : ndarray, shape (checkpoints, goal - 1), or None
        The part of the mean that rounds from each first state have, where regret by start was
        asked for.
    weights : ndarray, shape (replicas,), or None
        What every replica of `final` weighs, where they do not all weigh the same: after splitting.
        They add up to 1, about.
    unseen : ndarray, shape (checkpoints,), or None
        How much replicas that are stuck with the wrong threshold could add to the mean without one
        of them being among these, at most, with a confidence of 97.5 %. It is None where none can
        be stuck, and after splitting, which looks for them.

    See Also
    --------
    simulate : Returns a curve for every learner.

    Examples
    --------
    >>> import grbp
    >>> result = grbp.simulate(grbp.Problem(4, 0.45, 0.3), ["getbe-sm"], 200, 100, seed=0)
    >>> curve = result.curves["getbe-sm"]
    >>> print(f"{curve.mean[-1]:.1f} +- {1.96 * curve.se[-1]:.1f}")
    7.4 +- 1.4
    >>> {threshold: round(share, 2) for threshold, share in curve.threshold_share.items()}
    {0: 0.04, 1: 0.79, 3: 0.16}
    """

    mean: Floats
    covariance: Floats
    final: Floats
    threshold_share: dict[int, float]
    by_start: Floats | None = None
    weights: Floats | None = None
    unseen: Floats | None = None

    def __repr__(self) -> str:
        return f"<Curve of {len(self.final):,} replicas, at the end {self.ends}>"

    @property
    def ends(self) -> str:
        """The mean at the last checkpoint and its standard error, in words."""
        error = f", standard error {self.se[-1]:.2g}" if len(self.final) > 1 else ""
        return f"{self.mean[-1]:.4g}{error}{'' if self.covered else ' (rare replicas not covered)'}"

    @property
    def se(self) -> Floats:
        """The standard error of the mean at each checkpoint; NaN where there is one replica."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    @property
    def sd(self) -> float:
        """The standard deviation of the regret of a replica at the last checkpoint; NaN for one."""
        if self.weights is not None:
            mean = math.fsum(self.weights * self.final)
            return math.sqrt(math.fsum(self.weights * (self.final - mean) ** 2))
        return float(self.final.std(ddof=1)) if len(self.final) > 1 else math.nan

    def band(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Compute a band that holds the whole mean curve with a given probability.

        The largest of the standardised errors over all checkpoints is simulated from their
        estimated correlation; the draws are the same each time. What may be `unseen` is added to
        the upper end.

        Parameters
        ----------
        level : float
            The probability with which all checkpoints are inside at once.

        Returns
        -------
        low, high : ndarray, shape (checkpoints,)
            They are NaN where there is one replica, which says nothing about its error.
        """
        if level not in self._band_widths:
            self._band_widths[level] = band_width(self.covariance, level)
        width = self._band_widths[level] * self.se
        return self.mean - width, self.mean + width + (0.0 if self.unseen is None else self.unseen)

    @property
    def covered(self) -> bool:
        """Whether the band is to be trusted, as measured by benchmarks/intervals.py.

        It is not if what may be unseen exceeds the mean itself; nor if, after splitting, the
        standard error exceeds 15 % of the mean, for a few replicas then carry both.
        """
        if self.weights is not None:
            return bool(self.se[-1] <= _SURE * self.mean[-1])
        return self.unseen is None or bool(self.unseen[-1] <= self.mean[-1])

    @cached_property
    def _band_widths(self) -> dict[float, float]:
        """Keep the widths of bands by their level: the table, figure and page share them."""
        return {}


def band_width(covariance: Floats, level: float) -> float:
    """Compute how many standard errors hold all components of a normal vector at once.

    It is rounded to what so many draws can tell, so that it is the same wherever it is computed.
    """
    sd = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    moving = sd > 0.0
    if not moving.any():
        return 0.0
    correlation = covariance[np.ix_(moving, moving)] / np.outer(sd[moving], sd[moving])
    root = _triangular_root(correlation)
    draws = np.random.default_rng(0).standard_normal((_BAND_DRAWS, len(root)))
    largest = np.abs(draws @ root.T).max(axis=1)
    return round(float(np.quantile(largest, level)), 3)


def _triangular_root(correlation: Floats) -> Floats:
    """Return the lower triangular root, with no column for what depends on those before.

    Unlike the eigenvectors of values that are nearly equal, it depends on nobody's linear algebra.
    """
    left, root = correlation.copy(), np.zeros_like(correlation)
    for k in range(len(left)):
        if left[k, k] > _NOTHING:
            root[k:, k] = left[k:, k] / np.sqrt(left[k, k])
            left -= np.outer(root[:, k], root[:, k])
    return root


# The learners of a problem share the gaps of its thresholds.
_gaps_of_thresholds = lru_cache(maxsize=256)(threshold_gaps)


def gap_per_threshold(problem: Problem, learner: AnyLearner, by_start: bool = False) -> Floats:
    """Compute what a round costs under each of a learner's choices: its gap.

    With by_start there is a row for each first state.

    Notes
    -----
    Paper: eqn:RegretDefinf
    Differs: the paper's two-policy form (eqn:regretreduced) overlooks that a forced
    exploration has the value p_f, neither that of threshold 0 nor of 1.
    """
    policies = [learner.policy(problem.goal, choice) for choice in learner.choices(problem.goal)]
    if by_start:
        return np.column_stack([gap_at(problem, policy) for policy in policies])
    if all(isinstance(policy, int) for policy in policies):
        return np.asarray(_gaps_of_thresholds((problem,), tuple(policies))[0])
    return np.array([gap(problem, policy) for policy in policies])


def small_unit(most: float) -> float:
    """Return the power of two of which an amount of up to so much is a number of 60 bits."""
    return 2.0 ** (math.frexp(most)[1] - _FINE)
