"""How many cases are enough: for a learner, by playing studies, and for a trial with two arms."""

import math
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from grbp.numerics.arrays import Bools, Ints
from grbp.planning.operating_characteristics import (
    Needed,
    find_right_threshold,
    mean_of,
    share_of,
)
from grbp.planning.studies import StudyRuns, play_studies
from grbp.planning.trial_simulation import Design
from grbp.theory.posterior import Estimate
from grbp.theory.values import value
from grbp.worlds.problem import Problem

MOST_NEEDED: Final = 100_000
"""The largest number of cases that is looked for."""

_FIRST: Final = 1000
"""The cases that are played first; more follow where they are not enough."""

_LAST: Final = 2 * MOST_NEEDED
"""The most cases that are played, since a number must hold up to twice as many."""

_FEW: Final = 200
"""The studies that say how many cases all studies must be played for."""

_STEPS: Final = 16
"""Numbers of cases that are looked at until there are twice as many."""


class Target(NamedTuple):
    """What is enough: that a share of all studies knows the right policy, or plays it.

    Attributes
    ----------
    what : {"known", "right"}
        Whether the policy is to be known, or to be played.
    share : float
        In how many studies in one.
    """

    what: str
    share: float


def find_needed(study: StudyRuns, problem: Problem, design: Design, target: Target) -> Needed:
    """Find the least number of cases after which enough studies know the right policy, or play it.

    A few studies say for how many cases all are played: for twice as many as needed or more, and
    for as many as a trial needs in which the right policy looks better. A learner may begin with
    the right policy by luck or habit, and that is over by then.
    """
    right = find_right_threshold(problem)
    if right is None:
        never = Estimate(math.inf, math.inf, math.inf)
        return Needed(never, Estimate(*[math.nan] * 3), math.inf, math.nan)
    value_0, value_1 = value(problem, 0), value(problem, 1)
    looks_better = size_trial(value_0, value_1, 0.5, target.share)
    first = int(min(max(_FIRST, looks_better), _LAST))
    now, last = study._replace(replicas=min(study.replicas, _FEW)), first
    while True:
        log = play_studies(now, problem, design, _checkpoints(last))
        happened = (log.sure if target.what == "known" else log.threshold) == right
        cases = _find_cases(log.checkpoints, happened, target.share)
        found = 2 * cases.estimate <= last
        if not found and last < _LAST:
            last = min(2 * last, _LAST)
        elif now == study or math.isinf(cases.low):
            break
        else:
            now, last = study, max(first, int(min(2.5 * cases.estimate, _LAST)))
    if not found:
        cases = Estimate(math.inf, min(cases.low, MOST_NEEDED), math.inf)
    at = np.flatnonzero(log.checkpoints == cases.estimate)
    lost = mean_of(log.lost[:, at[0]] if len(at) else np.zeros(0))
    trial = size_trial(value_0, value_1, design.level, target.share)
    if target.what == "right":
        trial = looks_better
    trial_lost = 0.5 * trial * abs(value_1 - value_0) if math.isfinite(trial) else math.nan
    return Needed(cases, lost, trial, trial_lost)


def _checkpoints(last: int) -> Ints:
    """Return the numbers of cases that are looked at, in three digits, up to the last."""
    steps = 2.0 ** (np.arange(1 + int(_STEPS * math.log2(last))) / _STEPS)
    return np.unique([*(int(float(f"{step:.3g}")) for step in steps), last])


def _find_cases(cases: Ints, happened: Bools, share: float) -> Estimate:
    """Find where a share of all studies is reached, and where the ends of its interval reach it."""
    shares = [share_of(happened[:, k]) for k in range(len(cases))]
    estimate, high, low = (
        _begin_lasting(cases, np.array(numbers) >= share) for numbers in zip(*shares, strict=True)
    )
    return Estimate(estimate, low, high)


def _begin_lasting(cases: Ints, reached: Bools) -> float:
    """Return the number of cases from which on something is always reached; inf without one."""
    missed = np.flatnonzero(~reached)
    first = int(missed[-1]) + 1 if len(missed) else 0
    return float(cases[first]) if first < len(cases) else math.inf


def size_trial(value_0: float, value_1: float, level: float, power: float) -> float:
    """Return the cases of a trial with two equal arms that finds the better one with some power.

    The z test of two shares is at 1 - level and one-sided: it finds the better policy where that is
    better with the probability `level`, given both shares.
    """
    z = NormalDist().inv_cdf
    middle = 0.5 * (value_0 + value_1)
    spread = value_0 * (1.0 - value_0) + value_1 * (1.0 - value_1)
    apart = z(level) * math.sqrt(2.0 * middle * (1.0 - middle)) + z(power) * math.sqrt(spread)
    difference = abs(value_1 - value_0)
    if difference < 1e-9:
        return math.inf
    return 2.0 * max(1, math.ceil((max(0.0, apart) / difference) ** 2))
