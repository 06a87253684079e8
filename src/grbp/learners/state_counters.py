"""What a learner by state decides from: the outcomes of both actions, counted in every state."""

from typing import Final, NamedTuple

import numpy as np

from grbp.errors import InvalidInput, TooLarge
from grbp.numerics.arrays import Floats
from grbp.worlds.validation import check_goal, check_whole

LARGEST_GOAL: Final = 63
"""The largest goal of a learner by state: its policy is one number of a bit a state."""


class StateCounters(NamedTuple):
    """The counts by state of everything that happened before a round.

    Each is an array with one number a state, for state 1 first. They are floats because a learner
    that forgets counts old rounds in part. Nothing is drawn beforehand: before round 1 all are 0.

    Parameters
    ----------
    rho : int
        The number of the round that comes next, from 1.
    up, down : ndarray, shape (goal - 1,)
        How often CONTINUE moved one state up, and how often one down.
    won, lost : ndarray, shape (goal - 1,)
        How often FINISH reached the goal, and how often the dead end.
    jumps : ndarray, shape (goal - 1, goal + 1) or (0, 0)
        How often CONTINUE led from each inner state (a row) to each state from 0 to the goal
        further away; empty where it leads to neighbours alone. Staying delays, and is not counted.

    Examples
    --------
    >>> import grbp
    >>> n = grbp.empty_state_counters(goal=4)
    >>> n = grbp.add_step(n, 2, finish=False, after=3)
    >>> n = grbp.add_step(n, 3, finish=True, after=0)
    >>> n.up.tolist(), n.lost.tolist()
    ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    """

    rho: int
    up: Floats
    down: Floats
    won: Floats
    lost: Floats
    jumps: Floats


def empty_state_counters(goal: int, *, jumps: bool = False) -> StateCounters:
    """Make the counters before round 1.

    Parameters
    ----------
    goal : int
        The goal, at most 63.
    jumps : bool, default False
        Whether CONTINUE may lead elsewhere than to a neighbour.

    Returns
    -------
    StateCounters

    Examples
    --------
    >>> import grbp
    >>> grbp.empty_state_counters(goal=3).won
    array([0., 0.])
    """
    if check_goal(goal) > LARGEST_GOAL:
        raise TooLarge(
            f"a learner by state was asked for with a goal of {goal:,}; it must be at most"
            f" {LARGEST_GOAL}"
        )
    shape = (goal - 1, goal + 1) if jumps else (0, 0)
    up, down, won, lost = np.zeros((4, goal - 1))
    return StateCounters(1, up, down, won, lost, np.zeros(shape))


def add_step(n: StateCounters, state: int, finish: bool, after: int) -> StateCounters:
    """Return the counters with one step more; those that were given stay as they are.

    Parameters
    ----------
    n : StateCounters
    state : int
        The state in which the action was taken.
    finish : bool
        Whether it was FINISH.
    after : int
        The state to which it led.

    Returns
    -------
    StateCounters
        The number of the round stays the same.

    Raises
    ------
    InvalidInput
        If there is no such state, or the action does not lead there.
    """
    goal = len(n.up) + 1
    check_whole("state", state, 1, goal - 1)
    check_whole("after", after, 0, goal)
    if finish:
        name = "won" if after == goal else "lost"
    elif after == state:
        return n
    else:
        name = {1: "up", -1: "down"}.get(after - state, "jumps")
    if (finish and 0 < after < goal) or (name == "jumps" and not n.jumps.size):
        did = "FINISH" if finish else "CONTINUE"
        ends = f"0 or {goal}" if finish else f"{state - 1}, {state} or {state + 1}"
        raise InvalidInput(
            f"after = {after} was given for {did} in state {state}; it must be {ends}"
        )
    counts = getattr(n, name).copy()
    counts[(state - 1, after) if name == "jumps" else state - 1] += 1.0
    return n._replace(**{name: counts})
