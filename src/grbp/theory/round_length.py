"""How long a round takes, which actions it takes, and the law of its length."""

from typing import NamedTuple

import numpy as np

from grbp.model.problem import Problem
from grbp.model.transition import Policy, finish_mask
from grbp.model.validation import check_whole
from grbp.numerics.arrays import Floats
from grbp.theory.ruin import duration, log_failure_ratio
from grbp.theory.values import segments

MOST_SLOTS = 100_000_000
"""The longest round whose law is carried forward slot by slot."""


class RoundLength(NamedTuple):
    """The law of the number of slots of a round, as far as it was asked for.

    goal[k]      the probability that the round ends at the goal after exactly k slots
    dead_end[k]  the same for the dead end
    beyond       the probability that it takes more slots than were asked for
    """

    goal: Floats
    dead_end: Floats
    beyond: float


def finish_probability(problem: Problem, policy: Policy = 1) -> float:
    """The probability that a round ends by FINISH; under threshold 1, the paper's p_{F,1}.

    Paper: lemma:MinNumPBinf
    Paper: cor:probs
    Differs: the corollary as stated (it is commented out) is wrong; its proof is right.
    """
    return problem.start_mean(_finish_at(problem, policy))


def continue_probability(problem: Problem, policy: Policy = 1) -> float:
    """The probability that a round continues at least once; under 1, the paper's p_{C,1}.

    Paper: lemma:MinNumPBinf
    """
    walks = ~finish_mask(problem.goal, policy)
    return problem.start_mean(walks.astype(np.float64))


def continues_at(problem: Problem, policy: Policy) -> Floats:
    """The expected number of CONTINUE in a round under a policy, for every first state."""
    seg = segments(problem, policy)
    return np.where(seg.finish, 0.0, duration(seg.i, seg.n, log_failure_ratio(problem.p_c)))


def slots_at(problem: Problem, policy: Policy) -> Floats:
    """The expected number of slots of a round under a policy, for every first state."""
    return continues_at(problem, policy) + _finish_at(problem, policy)


def expected_continues(problem: Problem, policy: Policy) -> float:
    """The expected number of CONTINUE in a round, averaged over its first state."""
    return problem.start_mean(continues_at(problem, policy))


def expected_slots(problem: Problem, policy: Policy) -> float:
    """The expected number of slots of a round, averaged over its first state."""
    return problem.start_mean(slots_at(problem, policy))


def round_length(problem: Problem, policy: Policy, slots: int) -> RoundLength:
    """The law of the round's length up to a number of slots, with where it ends.

    Carries the mass over the states forward slot by slot: goal x slots additions of
    positive numbers.
    """
    slots = check_whole("slots", slots, 0, MOST_SLOTS)
    finish = finish_mask(problem.goal, policy)
    p_c, p_f = problem.p_c, problem.p_f
    won, lost = np.zeros(slots + 1), np.zeros(slots + 1)
    mass = problem.start_probabilities
    for k in range(1, slots + 1):
        ending, walking = float(mass[finish].sum()), np.where(finish, 0.0, mass)
        won[k] = ending * p_f + walking[-1] * p_c
        lost[k] = ending * (1.0 - p_f) + walking[0] * (1.0 - p_c)
        mass = np.zeros_like(walking)
        mass[1:] += walking[:-1] * p_c
        mass[:-1] += walking[1:] * (1.0 - p_c)
    return RoundLength(won, lost, float(mass.sum()))


def _finish_at(problem: Problem, policy: Policy) -> Floats:
    """The probability that a round from each state ends by FINISH."""
    seg = segments(problem, policy)
    below = np.where(seg.a > 0, seg.down, 0.0)
    above = np.where(seg.b < problem.goal, seg.up, 0.0)
    return np.where(seg.finish, 1.0, below + above)
