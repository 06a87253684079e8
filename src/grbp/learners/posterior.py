"""Bayes-UCB over the two policies, which compares quantiles of their posteriors."""

import math
from typing import Final

from grbp._jit import kernel
from grbp.betas import beta_evidence
from grbp.history import Counters
from grbp.learners.contract import Learner, NoConstants
from grbp.learners.selection import (
    CAREFUL,
    Arm,
    Evidence,
    Place,
    beta_guess,
    care_for,
    comparing,
)

_ROUGH: Final = 1e-7
_ROUGH_CARE: Final = 1e-4
"""Evidence to some digits, and what decides in spite of its error; else it is computed anew."""


@kernel
def normal_quantile(budget: float) -> float:
    """About what a normal variable exceeds with probability e^-budget (Hastings 1955)."""
    t = math.sqrt(2.0 * budget)
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    return t - above / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))


@kernel
def beta_arm(wins: float, lost: float, budget: float) -> Arm:
    """A policy to be compared by quantiles of its posterior."""
    near = beta_guess(1.0 + wins, 1.0 + lost, normal_quantile(budget))
    return Arm(wins, lost, budget, near, 0.0)


@kernel
def beyond_roughly(arm: Arm, here: Place) -> Evidence:
    """-log of what the posterior has beyond a value, to some digits; 0 up to the mean.

    Up to there it is below log(3), the least budget, as rho is 3 when both have been played.
    """
    amount, slope = beta_evidence(1.0 + arm.wins, 1.0 + arm.lost, here.value, here.rest, _ROUGH)
    return Evidence(amount, slope, _ROUGH_CARE)


@kernel
def beyond_exactly(arm: Arm, here: Place) -> Evidence:
    """The same to all digits."""
    amount, slope = beta_evidence(1.0 + arm.wins, 1.0 + arm.lost, here.value, here.rest, 1e-15)
    return Evidence(amount, slope, care_for(arm))


_larger_roughly, _larger_exactly = comparing(beyond_roughly, False), comparing(beyond_exactly, True)


@kernel
def quantile_larger(one: Arm, other: Arm, safety: float) -> int:
    """1 if one has the larger quantile, -1 if the other has, 0 if rounding might decide."""
    order = _larger_roughly(one, other, safety)
    return order if order != 0 else _larger_exactly(one, other, safety)


@kernel
def bayes_ucb(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """The threshold with the larger quantile of its posterior at 1 - 1/rho."""
    if n.plays_0 == 0.0:
        return 0
    if n.plays_1 == 0.0:
        return 1
    log = math.log(n.rho)
    of_0 = beta_arm(n.wins_0, n.plays_0 - n.wins_0, log)
    of_1 = beta_arm(n.wins_1, n.plays_1 - n.wins_1, log)
    return 0 if quantile_larger(of_0, of_1, 1.0) > 0 else 1


@kernel
def bayes_stable(_goal: int, _: NoConstants, low: Counters, high: Counters) -> bool:
    """Whether the same threshold has the larger quantile over a box of counters.

    A quantile grows with wins and with the round, and falls with losses.
    """
    if low.plays_0 == 0.0 or low.plays_1 == 0.0:
        return False
    least, most = math.log(low.rho), math.log(high.rho)
    lost_0, lost_1 = low.plays_0 - low.wins_0, low.plays_1 - low.wins_1
    most_lost_0, most_lost_1 = high.plays_0 - high.wins_0, high.plays_1 - high.wins_1
    worst_1, best_0 = beta_arm(low.wins_1, most_lost_1, least), beta_arm(high.wins_0, lost_0, most)
    if quantile_larger(worst_1, best_0, CAREFUL) > 0:
        return True
    worst_0, best_1 = beta_arm(low.wins_0, most_lost_0, least), beta_arm(high.wins_1, lost_1, most)
    return quantile_larger(worst_0, best_1, CAREFUL) > 0


BAYES_UCB = Learner(
    "bayes-ucb",
    bayes_ucb,
    NoConstants(),
    line="Bayes-UCB over two policies",
    reference="Kaufmann, Cappe and Garivier 2012",
    stable=bayes_stable,
)
