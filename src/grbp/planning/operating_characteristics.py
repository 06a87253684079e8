"""What a planned study can be expected to do under one truth, after a number of cases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grbp.errors import InvalidInput
from grbp.experiments.regret import Z_95
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.numerics.intervals import wilson
from grbp.planning.confidence import DOWNS, LOSSES, UPS, WINS
from grbp.planning.trial_simulation import Log
from grbp.theory.posterior import Estimate
from grbp.theory.values import boundary, excess, value
from grbp.worlds.problem import Problem

_log_gamma = np.frompyfunc(math.lgamma, 1, 1)
"""The logarithm of Gamma over arrays."""


class Outlook(NamedTuple):
    """What can be expected after a number of cases, each number with its Monte Carlo interval.

    Attributes
    ----------
    cases : int
        The number of cases.
    plays_right : Estimate
        How many studies in one would play the next case with the right policy.
    known : Estimate
        How many are sure of the right policy.
    wrongly_sure : Estimate
        How many are sure of the wrong policy.
    ever_sure : Estimate
        How many have been sure of a policy at some time, looking after every case; with `stop_at`,
        how many have stopped learning.
    first_sure_wrong : Estimate
        How many of those were sure of the wrong policy when they were first sure.
    ever_wrongly_sure : Estimate
        How many have been sure of the wrong policy at some time, looking after every case.
    goals : Estimate
        The expected number of cases that reach the goal.
    goals_threshold_0, goals_threshold_1, goals_oracle : float
        The same for always continuing, for always finishing in state 1, and for knowing which of
        the two is better.
    goals_lost : Estimate
        By how many goals the oracle is better: the regret.
    finishes : Estimate
        How often FINISH is taken.
    bias_p_c, bias_p_f : Estimate
        The mean error of the estimates of p_c and p_f from what the study has seen.
    wilson_p_c, wilson_p_f, anytime_p_c, anytime_p_f : Estimate
        How often 95 % intervals from what the study has seen hold the truth.

    Notes
    -----
    Where the two policies are equally good, both are right: `known` then counts whoever is sure of
    either. Studies that have not tried an action do not count in its bias and coverage.
    """

    cases: int
    plays_right: Estimate
    known: Estimate
    wrongly_sure: Estimate
    ever_sure: Estimate
    first_sure_wrong: Estimate
    ever_wrongly_sure: Estimate
    goals: Estimate
    goals_threshold_0: float
    goals_threshold_1: float
    goals_oracle: float
    goals_lost: Estimate
    finishes: Estimate
    bias_p_c: Estimate
    bias_p_f: Estimate
    wilson_p_c: Estimate
    wilson_p_f: Estimate
    anytime_p_c: Estimate
    anytime_p_f: Estimate


class Needed(NamedTuple):
    """How many cases are enough under one truth, for the learner and for a trial with two arms.

    Attributes
    ----------
    cases : Estimate
        The least number of cases after which the share of studies that was asked for knows the
        right policy, or plays it, and from which on that stays so, up to twice as many cases at
        least; with the numbers for the ends of the Monte Carlo interval of that share. The number
        is infinite where 100,000 are not enough; so are all three where both policies are equally
        good.
    goals_lost : Estimate
        By how many goals knowing the truth is better in so many cases; NaN without a number.
    trial_cases : float
        The cases of a trial that plays half of them with threshold 0, half with threshold 1, and
        compares the shares that reach the goal: as many as make it as probable that the trial is
        sure of the right policy, or that this looks better.
    trial_goals_lost : float
        By how many goals knowing the truth is better than that trial.
    """

    cases: Estimate
    goals_lost: Estimate
    trial_cases: float
    trial_goals_lost: float


@dataclass(frozen=True)
class Truth:
    """A pair of probabilities that may be true, and what a study does if it is.

    Attributes
    ----------
    p_c, p_f : float
        The pair.
    boundary : float
        B(p_c), the p_f from which on finishing in state 1 is right.
    right : int or None
        The right threshold, 0 or 1; None where both are equally good.
    loss : float
        By how many goals a case the wrong threshold is worse.
    outlooks : tuple of Outlook
        What to expect, by the number of cases.
    needed : Needed or None
        How many cases are enough; None where nobody asked.
    """

    p_c: float
    p_f: float
    boundary: float
    right: int | None
    loss: float
    outlooks: tuple[Outlook, ...]
    needed: Needed | None = None

    def at(self, cases: int) -> Outlook:
        """Return what to expect after a number of cases for which that was computed.

        Parameters
        ----------
        cases : int
            One of the numbers that `plan` was asked about.

        Returns
        -------
        Outlook

        Raises
        ------
        InvalidInput
            If that was not computed.
        """
        for one in self.outlooks:
            if one.cases == cases:
                return one
        raise InvalidInput(
            f"cases = {cases!r} was given; the plan has no answer for it, so plan again with it"
        )


def find_right_threshold(problem: Problem) -> int | None:
    """Return the threshold that is right, 0 or 1; None where both are equally good."""
    gap = excess(problem)
    return None if gap == 0.0 else int(gap > 0.0)


def summarize_truth(problem: Problem, log: Log, before: Ints, needed: Needed | None) -> Truth:
    """Summarise the replicas of a study, which began with what was seen `before`."""
    right = find_right_threshold(problem)
    values = [value(problem, threshold) for threshold in (0, 1)]
    outlooks = [
        _outlook(problem, log, before, k, right, values) for k in range(len(log.checkpoints))
    ]
    return Truth(
        problem.p_c, problem.p_f, boundary(problem.goal, problem.p_c), right,
        abs(values[1] - values[0]), tuple(outlooks), needed,
    )  # fmt: skip


def _outlook(
    problem: Problem, log: Log, before: Ints, k: int, right: int | None, values: Sequence[float]
) -> Outlook:
    """Summarise the replicas at one checkpoint."""
    cases = int(log.checkpoints[k])
    sure, seen = log.sure[:, k], log.seen[:, k] - before
    is_sure: Bools = sure >= 0
    by_now = log.first <= cases
    # Where both thresholds are right, none is wrong.
    wrong = np.zeros_like(is_sure) if right is None else is_sure & (sure != right)
    ever = by_now[:, 0] | by_now[:, 1]
    ever_wrong = np.zeros_like(ever) if right is None else by_now[:, 1 - right]
    first_wrong: Bools = ever_wrong & (log.first[:, 1 - (right or 0)] == log.first.min(axis=1))
    plays_right = log.threshold[:, k] <= 1 if right is None else log.threshold[:, k] == right
    lost = mean_of(log.lost[:, k])
    best = cases * max(values)
    wilson_c, anytime_c, bias_c = _coverage_and_bias(seen[:, UPS], seen[:, DOWNS], problem.p_c)
    wilson_f, anytime_f, bias_f = _coverage_and_bias(seen[:, WINS], seen[:, LOSSES], problem.p_f)
    return Outlook(
        cases=cases,
        plays_right=share_of(plays_right),
        known=share_of(is_sure & ~wrong),
        wrongly_sure=share_of(wrong),
        ever_sure=share_of(ever),
        first_sure_wrong=share_of(first_wrong[ever]),
        ever_wrongly_sure=share_of(ever_wrong),
        goals=Estimate(*(best - x for x in (lost.estimate, lost.high, lost.low))),
        goals_threshold_0=cases * values[0],
        goals_threshold_1=cases * values[1],
        goals_oracle=best,
        goals_lost=lost,
        finishes=mean_of(log.taken[:, k].astype(np.float64)),
        bias_p_c=bias_c,
        bias_p_f=bias_f,
        wilson_p_c=wilson_c,
        wilson_p_f=wilson_f,
        anytime_p_c=anytime_c,
        anytime_p_f=anytime_f,
    )


def share_of(happened: Bools) -> Estimate:
    """Return the share of studies in which something happened; NaN of none."""
    count, total = int(happened.sum()), len(happened)
    return Estimate(count / total if total else math.nan, *wilson(count, total))


def mean_of(numbers: Floats) -> Estimate:
    """Return a mean over studies, with the interval from its standard error."""
    if len(numbers) == 0:
        return Estimate(math.nan, math.nan, math.nan)
    mean, half = float(numbers.mean()), math.nan
    if len(numbers) > 1:
        half = Z_95 * float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
    return Estimate(mean, mean - half, mean + half)


def _coverage_and_bias(good: Ints, bad: Ints, p: float) -> tuple[Estimate, Estimate, Estimate]:
    """Return how often Wilson's and the anytime interval hold p, and the mean error.

    Whether an interval holds the truth is asked without computing it: Wilson's does where the
    score test does not reject p, the anytime one where the bet of Beta(1/2, 1/2) against p has
    gained less than 20 times.
    """
    tried = good + bad > 0
    s, f = good[tried].astype(np.float64), bad[tried].astype(np.float64)
    n = s + f
    held = np.square(s - n * p) <= Z_95 * Z_95 * n * p * (1.0 - p) * (1.0 + 1e-12)
    log_p, log_q = (math.log(x) if x > 0.0 else -math.inf for x in (p, 1.0 - p))
    with np.errstate(invalid="ignore"):
        likelihood = np.where(s > 0, s * log_p, 0.0) + np.where(f > 0, f * log_q, 0.0)
    mixture = _log_gamma(s + 0.5) + _log_gamma(f + 0.5) - _log_gamma(n + 1.0) - math.log(math.pi)
    gained = np.asarray(mixture, dtype=np.float64) - likelihood
    return share_of(held), share_of(gained < math.log(20.0)), mean_of(s / n - p)
