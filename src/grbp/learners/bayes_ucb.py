"""Bayes-UCB over the two policies, which compares quantiles of their posteriors."""

import math
from typing import Final

from grbp.learners.counters import Counters
from grbp.learners.index_comparison import (
    Arm,
    Candidate,
    Evidence,
    beta_guess,
    care_for,
    index_learner,
)
from grbp.numerics.beta import beta_evidence
from grbp.numerics.jit import kernel

_ROUGH: Final = 1e-7
_ROUGH_CARE: Final = 1e-4
"""The precision of rough evidence, and the care that allows for it; else it is computed anew."""


@kernel
def normal_quantile(budget: float) -> float:
    """Estimate what a normal variable exceeds with probability e^-budget (Hastings 1955)."""
    t = math.sqrt(2.0 * budget)
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    return t - above / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))


@kernel
def beta_arm(wins: float, lost: float, budget: float) -> Arm:
    """Return a policy as an arm, to be compared by quantiles of its posterior."""
    near = beta_guess(1.0 + wins, 1.0 + lost, normal_quantile(budget))
    return Arm(wins, lost, budget, near, 0.0)


@kernel
def beyond_roughly(arm: Arm, here: Candidate) -> Evidence:
    """Compute -log of the posterior beyond a value to some digits, and 0 up to the mean.

    Up to there it is below log(3), the least budget, as rho is 3 when both have been played.
    """
    amount, slope = beta_evidence(1.0 + arm.wins, 1.0 + arm.lost, here.value, here.rest, _ROUGH)
    return Evidence(amount, slope, _ROUGH_CARE)


@kernel
def beyond_exactly(arm: Arm, here: Candidate) -> Evidence:
    """Compute the same to all digits."""
    amount, slope = beta_evidence(1.0 + arm.wins, 1.0 + arm.lost, here.value, here.rest, 1e-15)
    return Evidence(amount, slope, care_for(arm))


@kernel
def log_round(n: Counters) -> float:
    """Compute the budget of Bayes-UCB: its index is the quantile of the posterior at 1 - 1/rho."""
    return math.log(n.rho)


BAYES_UCB = index_learner(
    "Bayes-UCB",
    "Kaufmann, Cappe and Garivier 2012",
    beta_arm,
    beyond_roughly,
    beyond_exactly,
    log_round,
)
