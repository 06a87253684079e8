"""Optimism by state: play what is best if every chance is as large as the evidence allows."""

import math
from typing import Final

import numpy as np

from grbp.learners.base import NoConstants
from grbp.learners.best_policy import best_by_law, law_of_means
from grbp.learners.state_counters import StateCounters
from grbp.learners.state_learner import StateLearner
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import kernel

_STEPS: Final = 60
"""More steps than Newton's method takes from above."""


@kernel
def largest_chance(won: float, lost: float, budget: float) -> float:
    """Find the largest q for which n kl(won/n, q) is at most the budget; 1 if nothing was lost.

    n kl is convex in q above the mean, so Newton's method comes down to the answer from any point
    above it, such as those of two lower bounds: Pinsker's, and the part of the failures alone.
    """
    n = won + lost
    if lost <= 0.0:
        return 1.0
    own = lost * math.log(lost / n) + (won * math.log(won / n) if won > 0.0 else 0.0)
    mean, q = won / n, -math.expm1((own - budget) / lost)
    q = min(q, mean + math.sqrt(0.5 * budget / n))
    for _ in range(_STEPS):
        if q <= mean or q >= 1.0:
            return min(max(q, mean), 1.0)
        rise = lost / (1.0 - q) - (won / q if won > 0.0 else 0.0)
        amount = own - lost * math.log1p(-q) - (won * math.log(q) if won > 0.0 else 0.0)
        step = (amount - budget) / rise
        q -= step
        if step <= 1e-12 * q:
            break
    return q


@kernel
def largest_chances(won: Floats, lost: Floats, budget: float) -> Floats:
    """Find the largest chance of every state."""
    chances = np.empty(len(won))
    for k in range(len(won)):
        chances[k] = largest_chance(won[k], lost[k], budget)
    return chances


@kernel
def hope_for_the_best(goal: int, _: NoConstants, n: StateCounters, _key: int) -> int:
    """Play what is best for the largest chances that the evidence does not rule out."""
    budget = math.log(n.rho)
    up, p_f = largest_chances(n.up, n.down, budget), largest_chances(n.won, n.lost, budget)
    law = law_of_means(n, up) if n.jumps.shape[0] > 0 else n.jumps
    return best_by_law(up, law, p_f)


KL_UCB_STATES = StateLearner(
    "kl-ucb-states",
    hope_for_the_best,
    summary="Play the best policy for the largest chances with n kl(mean, chance) <= log(rho)",
    reference="Filippi, Cappé and Garivier (2010), Optimism in Reinforcement Learning and"
    " Kullback-Leibler Divergence",
)
