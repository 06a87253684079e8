"""Learners to compare with: one fixed threshold, and the simplest ones of the textbooks."""

import math
from typing import NamedTuple

from grbp.learners.base import Learner
from grbp.learners.counters import Counters
from grbp.numerics.jit import kernel
from grbp.numerics.rng import uniform


class Fixed(NamedTuple):
    """The threshold that is played whatever happens."""

    threshold: int


class Exploration(NamedTuple):
    """The constant of explore-then-commit.

    Parameters
    ----------
    rounds : float, default 100
        How often each policy is played before the choice.
    """

    rounds: float = 100.0


class Decay(NamedTuple):
    """The constant of epsilon-greedy.

    Parameters
    ----------
    scale : float, default 30
        A random policy has the probability min(1, scale/rho) in round rho.
    """

    scale: float = 30.0


@kernel
def keep_threshold(_goal: int, constants: Fixed, _: Counters, _key: int) -> int:
    """Play the same threshold in every round."""
    return constants.threshold


@kernel
def fixed_stable(_goal: int, _: Fixed, _low: Counters, _high: Counters) -> bool:
    """Return True, as the threshold never changes."""
    return True


def fixed_threshold(threshold: int) -> Learner:
    """Make the learner that plays one threshold in every round."""
    name, summary = f"threshold-{threshold}", f"Play threshold {threshold} in every round"
    return Learner(
        name, keep_threshold, Fixed(threshold), (threshold,), summary, stable=fixed_stable
    )


@kernel
def greedy_mean(n: Counters) -> int:
    """Return the threshold that has won the larger share of its rounds, or 1 for a tie."""
    share_0 = n.wins_0 / n.plays_0 if n.plays_0 > 0.0 else 1.0
    share_1 = n.wins_1 / n.plays_1 if n.plays_1 > 0.0 else 1.0
    return 1 if share_1 >= share_0 else 0


@kernel
def explore_then_commit(_goal: int, constants: Exploration, n: Counters, _key: int) -> int:
    """Play each policy 100 times, then always the better one.

    A policy that has been played more often than that was the better one when it was chosen.
    """
    rounds = math.ceil(constants.rounds)
    if max(n.plays_0, n.plays_1) > rounds:
        return 0 if n.plays_0 > rounds else 1
    if min(n.plays_0, n.plays_1) < rounds:
        return 0 if n.plays_0 < rounds else 1
    return greedy_mean(n)


@kernel
def epsilon_greedy(_goal: int, constants: Decay, n: Counters, key: int) -> int:
    """Play the better policy, a random one with chance 30/rho."""
    if uniform(key, 0) * n.rho < constants.scale:
        return 1 if uniform(key, 1) < 0.5 else 0
    return greedy_mean(n)


EXPLORE_THEN_COMMIT = Learner(
    "explore-then-commit",
    explore_then_commit,
    Exploration(),
    reference="Lattimore and Szepesvari 2020, chapter 6",
)
EPSILON_GREEDY = Learner(
    "epsilon-greedy", epsilon_greedy, Decay(), reference="Auer, Cesa-Bianchi and Fischer 2002"
)
