"""Compute how long a round takes, which actions it takes, and the law of its length."""

from typing import NamedTuple

import numpy as np

from grbp.numerics.arrays import Floats
from grbp.theory.ruin import duration
from grbp.theory.segments import segments
from grbp.worlds.problem import Problem
from grbp.worlds.transition import Policy, finish_mask
from grbp.worlds.validation import check_whole

MOST_SLOTS = 100_000_000
"""The longest round whose law is carried forward slot by slot."""


class RoundLength(NamedTuple):
    """The law of the number of slots of a round, as far as it was asked for.

    Attributes
    ----------
    goal : ndarray, shape (slots + 1,)
        Entry k is the probability that the round ends at the goal after exactly k slots.
    dead_end : ndarray, shape (slots + 1,)
        Entry k is the probability that it ends in the dead end after exactly k slots.
    beyond : float
        The probability that it takes more slots than were asked for.
    """

    goal: Floats
    dead_end: Floats
    beyond: float


def finish_probability(problem: Problem, policy: Policy = 1) -> float:
    """Compute the probability that a round ends by FINISH.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int, optional
        A threshold, or one action for every state; by default threshold 1, for which this is
        the paper's p_{F,1}.

    Returns
    -------
    float
        The mean over the first state.

    Notes
    -----
    Paper: lemma:MinNumPBinf
    Paper: cor:probs
    Differs: the corollary as stated (it is commented out) is wrong; its proof is right.

    Examples
    --------
    >>> import grbp
    >>> round(grbp.finish_probability(grbp.Problem(goal=4, p_c=0.45, p_f=0.3)), 6)
    0.710963
    """
    return problem.start_mean(_finish_at(problem, policy))


def continue_probability(problem: Problem, policy: Policy = 1) -> float:
    """Compute the probability that a round takes CONTINUE at least once.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int, optional
        A threshold, or one action for every state; by default threshold 1, for which this is
        the paper's p_{C,1}.

    Returns
    -------
    float
        The probability that the first state is one in which the policy continues.

    Notes
    -----
    Paper: lemma:MinNumPBinf

    Examples
    --------
    >>> import grbp
    >>> grbp.continue_probability(grbp.Problem(goal=5, p_c=0.45, p_f=0.3))
    0.75
    """
    walks = ~finish_mask(problem.goal, policy)
    return problem.start_mean(walks.astype(np.float64))


def continues_at(problem: Problem, policy: Policy) -> Floats:
    """Compute the expected number of CONTINUE in a round, for every first state.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int
        A threshold, or one action for every state.

    Returns
    -------
    ndarray, shape (goal - 1,)
        Entry ``s - 1`` belongs to state s; it is 0 where the policy finishes.

    Examples
    --------
    >>> import grbp
    >>> grbp.continues_at(grbp.Problem(goal=4, p_c=0.5, p_f=0.3), 1)
    array([0., 2., 2.])
    """
    seg = segments(problem, policy)
    return duration(seg.i, seg.n, seg.log_r)


def slots_at(problem: Problem, policy: Policy) -> Floats:
    """Compute the expected number of slots of a round, for every first state.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int
        A threshold, or one action for every state.

    Returns
    -------
    ndarray, shape (goal - 1,)
        Entry ``s - 1`` belongs to state s: the expected number of CONTINUE, plus the probability
        of FINISH.

    Examples
    --------
    >>> import grbp
    >>> grbp.slots_at(grbp.Problem(goal=3, p_c=0.5, p_f=0.3), 1)
    array([1. , 1.5])
    """
    return continues_at(problem, policy) + _finish_at(problem, policy)


def expected_continues(problem: Problem, policy: Policy) -> float:
    """Compute the expected number of CONTINUE in a round.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int
        A threshold, or one action for every state.

    Returns
    -------
    float
        The mean of `continues_at` over the first state.

    Examples
    --------
    >>> import grbp
    >>> round(grbp.expected_continues(grbp.Problem(goal=4, p_c=0.5, p_f=0.3), 0), 6)
    3.333333
    """
    return problem.start_mean(continues_at(problem, policy))


def expected_slots(problem: Problem, policy: Policy) -> float:
    """Compute the expected number of slots of a round.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int
        A threshold, or one action for every state.

    Returns
    -------
    float
        The mean of `slots_at` over the first state.

    Examples
    --------
    >>> import grbp
    >>> round(grbp.expected_slots(grbp.Problem(goal=4, p_c=0.45, p_f=0.3), 1), 4)
    2.0399
    """
    return problem.start_mean(slots_at(problem, policy))


def round_length(problem: Problem, policy: Policy, slots: int) -> RoundLength:
    """Compute the law of a round's length up to a number of slots, with where it ends.

    Parameters
    ----------
    problem : Problem
        The problem that is played.
    policy : int or sequence of int
        A threshold, or one action for every state.
    slots : int
        The largest length that is told apart from longer ones, from 0 to 100,000,000.

    Returns
    -------
    RoundLength
        The probabilities of ending at the goal and in the dead end after each number of slots.

    Raises
    ------
    InvalidInput
        If the number of slots is not allowed.

    Notes
    -----
    The probability of each state is carried forward slot by slot, which takes about goal times
    slots additions of positive numbers.

    Examples
    --------
    >>> import grbp
    >>> law = grbp.round_length(grbp.Problem(goal=3, p_c=0.5, p_f=0.3, start=1), 0, slots=3)
    >>> law.goal, law.dead_end, law.beyond
    (array([0.  , 0.  , 0.25, 0.  ]), array([0.   , 0.5  , 0.   , 0.125]), 0.125)
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
    """Compute the probability that a round ends by FINISH, for every first state."""
    return segments(problem, policy).mean(0.0, 1.0, 0.0)
