"""What to compare with: those who know, those who never learn, and the textbook's simplest."""

import math
from typing import NamedTuple

from grbp._numba.jit import kernel
from grbp.learners.base import Learner
from grbp.learners.counters import Counters
from grbp.numerics.rng import uniform


class Fixed(NamedTuple):
    """A threshold that is played whatever happens; -1 stands for goal - 1."""

    threshold: int


class Exploration(NamedTuple):
    """How many rounds of each policy come before the choice."""

    rounds: float = 100.0


class Decay(NamedTuple):
    """A random policy is played with probability min(1, scale/rho)."""

    scale: float = 30.0


@kernel
def fixed(goal: int, constants: Fixed, _: Counters, _key: int) -> int:
    """The same threshold in every round."""
    return goal - 1 if constants.threshold < 0 else constants.threshold


@kernel
def fixed_stable(_goal: int, _: Fixed, _low: Counters, _high: Counters) -> bool:
    """True: it never changes its mind."""
    return True


@kernel
def greedy_mean(n: Counters) -> int:
    """The threshold that has won the larger share of its rounds; ties go to 1."""
    share_0 = n.wins_0 / n.plays_0 if n.plays_0 > 0.0 else 1.0
    share_1 = n.wins_1 / n.plays_1 if n.plays_1 > 0.0 else 1.0
    return 1 if share_1 >= share_0 else 0


@kernel
def explore_then_commit(_goal: int, constants: Exploration, n: Counters, _key: int) -> int:
    """Threshold 0, then 1, for a number of rounds each; then the better one for ever.

    Whoever has been played more often than that was the better one when it was chosen.
    """
    rounds = math.ceil(constants.rounds)
    if n.plays_0 > rounds:
        return 0
    if n.plays_1 > rounds:
        return 1
    if n.plays_0 < rounds:
        return 0
    if n.plays_1 < rounds:
        return 1
    return greedy_mean(n)


@kernel
def epsilon_greedy(_goal: int, constants: Decay, n: Counters, key: int) -> int:
    """The threshold that has won more often; with probability scale/rho, either at random."""
    if uniform(key, 0) * n.rho < constants.scale:
        return 1 if uniform(key, 1) < 0.5 else 0
    return greedy_mean(n)


EXPLORE_THEN_COMMIT = Learner(
    "explore-then-commit",
    explore_then_commit,
    Exploration(),
    summary="100 rounds of each policy, then the better for ever",
    reference="Lattimore and Szepesvari 2020, chapter 6",
)
EPSILON_GREEDY = Learner(
    "epsilon-greedy",
    epsilon_greedy,
    Decay(),
    summary="the better policy, a random one with chance 30/rho",
    reference="Auer, Cesa-Bianchi and Fischer 2002",
)
