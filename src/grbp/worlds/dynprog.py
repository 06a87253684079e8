"""Answer independently of every closed form, by dynamic programming, and for far more chains.

This module shares no formula with the closed forms of `grbp.value_at` or `grbp.extensions`; the
tests compare them.

Evaluation eliminates the states one after another, as one solves a tridiagonal system, but in
the form that only adds, multiplies and divides positive numbers (Grassmann, Taksar and Heyman
1985), so that small probabilities keep their digits. It takes goal steps, and goal^3 where a move
jumps to inner states.

Optimisation is policy iteration. A scan of as many steps settles which states finish; then the
choice among several continuing actions is improved, state by state, until no change is better.
The policy that remains satisfies Bellman's equation, hence is optimal.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from grbp._arguments import checked
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.chain import Chain, Move, as_chain, policy_law, policy_matrix
from grbp.worlds.dynprog_many import Solutions, best_stops, evaluate_stops, solve_many
from grbp.worlds.optimal_stops import TIE, StateLaw, optimal_stops
from grbp.worlds.world import World

__all__ = ["Chain", "Evaluation", "Move", "Solution", "Solutions"]
__all__ += ["evaluate", "solve", "solve_many"]


class Evaluation(NamedTuple):
    """The achievements of a policy, for every first state.

    Attributes
    ----------
    value : ndarray, shape (goal - 1,)
        The probability of reaching the goal.
    steps : ndarray, shape (goal - 1,)
        The expected number of actions until the round ends; inf if it may never end.
    """

    value: Floats
    steps: Floats


class Solution(NamedTuple):
    """The best that can be done, and how, for every state.

    Attributes
    ----------
    value : ndarray, shape (goal - 1,)
        V*(s), the largest probability of reaching the goal.
    action : ndarray of int, shape (goal - 1,)
        CONTINUE (0) or FINISH (1).
    which : ndarray of int, shape (goal - 1,)
        The index of that action among the chain's moves, or among its finishes.
    threshold : int or None
        The number of states that finish, where they are the lowest ones; None where the optimum
        is not a threshold policy.
    """

    value: Floats
    action: Ints
    which: Ints
    threshold: int | None


@checked
def evaluate(chain: World, action: ArrayLike, which: ArrayLike = 0) -> Evaluation:
    """Compute the value and the length of a round under any deterministic policy.

    Parameters
    ----------
    chain : Chain or Problem
        What is played.
    action : array_like of int, shape (goal - 1,)
        CONTINUE (0) or FINISH (1) for every state.
    which : int or array_like of int, optional
        The index of the action among the chain's moves, or its finishes: one number for all
        states, or one for each.

    Returns
    -------
    Evaluation
        The value and the expected number of actions, for every first state.

    Raises
    ------
    InvalidInput
        If a shape does not fit the goal, or the chain does not have such an action.

    Notes
    -----
    It takes goal steps, or goal^3 where a move jumps, and no two numbers are subtracted.

    Paper: eqn:bellval

    Examples
    --------
    >>> import grbp
    >>> chain = grbp.dynprog.Chain.of(grbp.Problem(goal=3, p_c=0.5, p_f=0.5))
    >>> grbp.dynprog.evaluate(chain, [1, 0])
    Evaluation(value=array([0.5 , 0.75]), steps=array([1. , 1.5]))
    """
    chain = as_chain(chain)
    if chain._jumps is not None:
        return Evaluation(*evaluate_stops(policy_matrix(chain, action, which)))
    value, steps = [1.0], [0.0]
    for up, won, length in reversed(list(_climbs(policy_law(chain, action, which)))):
        value.append(won + up * value[-1])
        steps.append(length + (up * steps[-1] if up > 0.0 else 0.0))
    return Evaluation(np.array(value[:0:-1]), np.array(steps[:0:-1]))


@checked
def solve(chain: World) -> Solution:
    """Compute the optimal value of every state and the action that attains it.

    Parameters
    ----------
    chain : Chain or Problem
        What is played.

    Returns
    -------
    Solution
        The value, the action and its index, for every state; ties go to FINISH.

    Notes
    -----
    Paper: eqn:bellval
    Differs: actions may differ by state, so the optimum need not be a threshold policy.

    Examples
    --------
    >>> import grbp
    >>> chain = grbp.dynprog.Chain.of(grbp.Problem(goal=4, p_c=0.45, p_f=0.3))
    >>> best = grbp.dynprog.solve(chain)
    >>> best.value.round(4), best.action, best.threshold
    (array([0.3   , 0.4884, 0.7186]), array([1, 0, 0]), 1)
    """
    chain = as_chain(chain)
    finish, rewards = np.argmax(chain._finishes, axis=0), chain._finishes.max(axis=0)
    tie = TIE if chain._jumps is None else TIE * chain.goal  # Longer sums have larger errors.
    up, down, won, lost, stay = chain._laws
    # The move that goes up the most for each time it goes down is a good first guess.
    move = np.argmax((up + won) / (down + lost + 1e-300), axis=0)
    while True:
        if chain._jumps is None:
            law = policy_law(chain, np.zeros_like(move), move)
            stops = optimal_stops(law, rewards.tolist())
        else:
            matrix = policy_matrix(chain, np.zeros_like(move), move)
            stops = best_stops(matrix[None], rewards[None])[1][0]
        action, which = stops.astype(np.int64), np.where(stops, finish, move)
        value = evaluate(chain, action, which).value
        around = np.concatenate(([0.0], value, [1.0]))
        q = up * around[2:] + down * around[:-2] + won + stay * value
        if chain._jumps is not None:
            q += chain._jumps @ value
        improved = np.where(q.max(axis=0) > value * (1.0 + tie), np.argmax(q, axis=0), move)
        if (improved == move).all():
            count = int(stops.sum())
            return Solution(value, action, which, count if stops[:count].all() else None)
        move = improved


def best_value(chain: World) -> float:
    """Compute the best chance of reaching the goal, averaged over first states."""
    chain = as_chain(chain)
    return chain.start_mean(solve(chain).value)


def threshold_values(chain: World, most: int | None = None) -> list[float]:
    """Compute the same of each threshold policy: of all, or of the lowest ones up to some."""
    chain = as_chain(chain)
    policies = ((chain.states <= threshold).astype(np.int64) for threshold in range(chain.goal))
    return [chain.start_mean(evaluate(chain, one).value) for one in islice(policies, most)]


def _climbs(laws: Sequence[StateLaw]) -> Iterator[tuple[float, float, float]]:
    """Compute how the round first gets above each state, from state 1 on, if it does.

    These are the probability that it does, the probability that it is won before, and the expected
    number of actions until either, or until the round is lost. All visits to lower states are
    summed up in these.
    """
    won, lost, length = 0.0, 1.0, 0.0  # below state 1 the round is lost
    for law in laws:
        # 1 - stay - down * (what comes back from below), without the subtraction
        leave = law.up + law.won + law.lost + law.down * (won + lost)
        if leave > 0.0:
            won, lost = (law.won + law.down * won) / leave, (law.lost + law.down * lost) / leave
            length = (1.0 + (law.down * length if law.down > 0.0 else 0.0)) / leave
            yield law.up / leave, won, length
        else:  # stays forever, which never reaches the goal
            won, lost, length = 0.0, 1.0, math.inf
            yield 0.0, won, length
