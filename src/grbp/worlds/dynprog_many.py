"""Evaluate and solve chains that jump anywhere, and thousands of chains at once.

Both are an elimination of states: what would go to the state goes on to where it leads. It
only adds, multiplies and divides positive numbers (Grassmann, Taksar and Heyman 1985).

A state in which continuing to the remaining states, and finishing there, is better than finishing
at once is one in which the optimal policy continues, and it can be eliminated; where no such state
is left, the policy finishes in all that remain (Sonin 1999, The Elimination Algorithm for the
Problem of Optimal Stopping). So every state is eliminated once, and those that remain at last,
when the optimum is known, give the value of always continuing.
"""

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.worlds.optimal_stops import TIE
from grbp.worlds.validation import SUM_TOLERANCE, check_probabilities

_CHUNK = 1 << 18
"""How many probabilities are worked on at a time: they stay near the processor."""


class Solutions(NamedTuple):
    """The best that can be done in each of many chains, and how, for every state.

    Attributes
    ----------
    value : ndarray, shape (draws, goal - 1)
        V*(s), the largest probability of reaching the goal.
    action : ndarray of int, shape (draws, goal - 1)
        CONTINUE (0) or FINISH (1).
    continuing : ndarray, shape (draws, goal - 1)
        The probability of reaching the goal if one continues always.
    """

    value: Floats
    action: Ints
    continuing: Floats


def solve_many(laws: ArrayLike, finishes: ArrayLike) -> Solutions:
    """Solve many chains of the same goal, each with one action that continues.

    Parameters
    ----------
    laws : array_like, shape (draws, goal - 1, goal + 1)
        The probability of going from each inner state to each state from 0 to the goal when one
        continues. It may stay, and may jump.
    finishes : array_like, shape (draws, goal - 1)
        The probability that finishing reaches the goal, NaN where one cannot finish.

    Returns
    -------
    Solutions
        The value, the action and the value of always continuing, for every chain and state; ties
        go to FINISH.

    Raises
    ------
    InvalidInput
        If the outcomes in a state do not sum to one, or the two shapes do not fit each other.

    See Also
    --------
    solve : Solves one chain, which may have several actions of either kind.

    Notes
    -----
    A chain takes goal^3 operations, whether it jumps or not.

    Examples
    --------
    >>> import grbp
    >>> laws = [[[0.55, 0, 0.45, 0], [0, 0.55, 0, 0.45]], [[0.3, 0, 0.6, 0.1], [0.1, 0, 0, 0.9]]]
    >>> best = grbp.dynprog.solve_many(laws, [[0.4, 0.4], [0.4, float("nan")]])
    >>> best.action
    array([[1, 0],
           [0, 0]])
    >>> best.value.round(3)
    array([[0.4 , 0.67],
           [0.64, 0.9 ]])
    """
    law, rewards = _check_chains(laws, finishes)
    best = Solutions(*(np.empty(rewards.shape, kind) for kind in (float, np.int64, float)))
    size = max(_CHUNK // (law.shape[1] * law.shape[2]), 1)
    for start in range(0, len(law), size):
        piece = slice(start, start + size)
        parts = best_stops(law[piece], rewards[piece])
        for whole, part in zip(best, parts, strict=True):
            whole[piece] = part
    return best


def _check_chains(laws: ArrayLike, finishes: ArrayLike) -> tuple[Floats, Floats]:
    """Return the laws, and the rewards for finishing with -1 where one cannot; or refuse them."""
    law = check_probabilities("laws", laws)
    if law.ndim != 3 or law.shape[1] < 1 or law.shape[2] != law.shape[1] + 2:
        raise InvalidInput(
            f"laws of shape {law.shape} were given; they must have the shape"
            " (draws, goal - 1, goal + 1)"
        )
    total = law.sum(axis=2)
    off = np.abs(total - 1.0)
    if off.size and off.max() > SUM_TOLERANCE:
        draw, state = np.unravel_index(np.argmax(off), off.shape)
        raise InvalidInput(
            f"the outcomes of continuing in state {state + 1} of draw {draw} sum to"
            f" {total[draw, state]:.12g}; they must sum to 1"
        )
    given = np.array(np.inf)
    with suppress(TypeError, ValueError):
        given = np.asarray(finishes, dtype=np.float64)
    known = check_probabilities("finishes", np.where(np.isnan(given), 0.0, given))
    if known.shape != law.shape[:2]:
        raise InvalidInput(
            f"finishes of shape {known.shape} were given; laws of shape {law.shape} need"
            f" {law.shape[:2]}"
        )
    return law, np.where(np.isnan(given), -1.0, known)


def best_stops(laws: Floats, rewards: Floats) -> tuple[Floats, Bools, Floats]:
    """Return the optimal values, where to finish, and the values of always continuing.

    The arguments are those of `solve_many`, but checked, and -1 where one cannot finish.
    """
    law, (draws, count) = laws.copy(), rewards.shape
    must, left = rewards < 0.0, np.ones(rewards.shape, dtype=bool)
    settled, value = np.zeros(draws, dtype=bool), np.zeros(rewards.shape)
    stops = np.zeros_like(left)
    worth = np.ones((draws, count + 2, 2))  # of each state if one finishes there, and ones
    worth[:, 0, 0], worth[:, 1:-1, 0] = 0.0, rewards
    _forget_staying(law)
    for _ in range(count):
        ahead, leave = np.moveaxis(law @ worth, -1, 0)
        gain = np.where(must, np.inf, ahead - rewards * leave * (1.0 + TIE))
        gain[~left] = -np.inf
        now = ~settled & (gain.max(axis=1) <= 0.0)
        value[now] = np.where(left, rewards, ahead)[now]
        stops[now] = left[now]
        settled |= now
        state = gain.argmax(axis=1)
        left[np.arange(draws), state] = False
        eliminate(law, state)
    continuing = law[:, :, -1]
    value[~settled] = continuing[~settled]
    return value, stops, continuing


def evaluate_stops(law: Floats) -> tuple[Floats, Floats]:
    """Compute the value and the expected number of steps of a chain, for every first state.

    The law has a row for every inner state and a column for every state from 0 to the goal.
    """
    count = len(law)
    more = np.concatenate((law, np.zeros((count, 1)), np.ones((count, 1))), axis=1)[None]
    _forget_staying(more)
    for state in range(count):
        eliminate(more, np.array([state]), stuck=count + 2)
    value, stuck, steps = more[0, :, -3:].T
    return value, np.where(stuck > 0.0, np.inf, steps)


def eliminate(law: Floats, state: Ints, stuck: int = 0) -> None:
    """Eliminate a state of each chain, in place.

    Afterwards nobody goes there, and its own row says where it leads. Columns behind that of the
    goal are carried along: the steps, and before them the column `stuck`, if it is not the first
    one, for the probability of staying somewhere forever.
    """
    each = np.arange(len(law))
    row = law[each, state]
    leave = row[:, : max(law.shape[1] + 2, stuck + 1)].sum(axis=1)
    row[leave <= 0.0, stuck] = 1.0
    row /= np.where(leave > 0.0, leave, 1.0)[:, None]
    to = law[each, :, state + 1]
    law += to[:, :, None] * row[:, None]
    law[each, :, state + 1] = 0.0
    law[each, state] = row
    _forget_staying(law)


def _forget_staying(law: Floats) -> None:
    """Leave out the probabilities of staying in a state, in place: they delay, and no more."""
    count = law.shape[1]
    law[:, np.arange(count), np.arange(1, count + 1)] = 0.0
