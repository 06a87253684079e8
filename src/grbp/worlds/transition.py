"""Write one transition of the problem once, for the environment, the session and the engine.

The first state of a round, and the action that a policy takes in a state, are written here too.
"""

from collections.abc import Sequence
from contextlib import suppress
from enum import IntEnum
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.numerics.jit import kernel
from grbp.worlds.validation import check_threshold

DEAD_END = 0
"""The state in which a round is lost (the paper's D)."""


class Action(IntEnum):
    """One of the two actions that can be taken in a state.

    Attributes
    ----------
    CONTINUE
        Move one state up with probability p_c, else one state down.
    FINISH
        End the round: at the goal with probability p_f, else in the dead end.

    Examples
    --------
    >>> import grbp
    >>> list(grbp.Action)
    [<Action.CONTINUE: 0>, <Action.FINISH: 1>]
    >>> print(grbp.Action.FINISH)
    FINISH
    """

    CONTINUE = 0
    FINISH = 1

    def __str__(self) -> str:
        return self.name


def as_action(took: Action | str) -> Action:
    """Return the action that was taken, or refuse it."""
    given: object = took
    if isinstance(given, Action):
        return given
    named = {action.name.lower(): action for action in Action}
    if isinstance(given, str) and given.lower() in named:
        return named[given.lower()]
    raise InvalidInput(f"took = {took!r} was given; it must be 'continue' or 'finish'")


Policy: TypeAlias = SupportsIndex | Sequence[int] | NDArray[np.integer] | Bools
"""A threshold (FINISH in the states up to it), or one action for every state, from state 1 on."""


@kernel
def first_state(states: Ints, cumulative: Floats, draw: float) -> int:
    """Return the state in which a round starts, given a uniform draw and `Problem.start_table`.

    It is the first state whose cumulative probability is above the draw, or the last one, which
    rounding may leave a little below 1.

    Paper: sec:problem
    """
    low, high = 0, len(states) - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > draw:
            high = middle
        else:
            low = middle + 1
    return int(states[low])


@kernel
def next_state(state: int, action: int, goal: int, p_c: float, p_f: float, draw: float) -> int:
    """Return the state after one action, given a uniform draw.

    Parameters
    ----------
    state : int
        The state before, from 1 to goal - 1.
    action : int
        An `Action`.
    goal : int
        The state in which a round is won.
    p_c : float
        The probability that CONTINUE moves one state up.
    p_f : float
        The probability that FINISH reaches the goal.
    draw : float
        A draw from [0, 1). The action succeeds where it is below the success probability, so
        that a smaller draw is never worse.

    Returns
    -------
    int
        The state after, from 0 to goal.

    Notes
    -----
    This is the only place where a transition of the problem is written.

    Paper: sec:problem

    Examples
    --------
    >>> import grbp
    >>> grbp.next_state(2, grbp.Action.CONTINUE, goal=4, p_c=0.45, p_f=0.3, draw=0.4)
    3
    >>> grbp.next_state(2, grbp.Action.FINISH, goal=4, p_c=0.45, p_f=0.3, draw=0.4)
    0
    """
    if action == Action.FINISH:
        return goal if draw < p_f else DEAD_END
    return state + 1 if draw < p_c else state - 1


@kernel
def state_by_law(row: Floats, state: int, draw: float) -> int:
    """Return the state after CONTINUE in a chain, given a uniform draw.

    A row has the chance of every state from 0 to the goal. The highest comes first, so that a
    smaller draw is never worse; what is missing to 1 is the chance of staying.
    """
    total = 0.0
    for k in range(len(row) - 1, -1, -1):
        total += row[k]
        if draw < total:
            return k
    return state


def successors(goal: int, state: int, finish: bool) -> tuple[int, int]:
    """Return the states to which FINISH or CONTINUE can lead: if it fails, and if it succeeds."""
    return (DEAD_END, goal) if finish else (state - 1, state + 1)


def finish_mask(goal: int, policy: Policy) -> Bools:
    """Return whether the policy takes FINISH, for every state from 1 to goal - 1.

    Paper: sec:structure (the definition of a stationary threshold policy)
    """
    given: object = policy
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
        return np.arange(goal - 1) < check_threshold(given, goal)
    actions: NDArray[Any] = np.zeros((0, 0))
    with suppress(ValueError):  # rows of unequal lengths
        actions = np.asarray(given)
    if actions.shape != (goal - 1,):
        raise InvalidInput(
            f"a policy of {actions.size} actions was given; a goal of {goal} needs"
            f" {goal - 1}, one for every state from 1 to {goal - 1}"
        )
    if not np.isin(actions, (0, 1)).all():
        raise InvalidInput("a policy must hold one action a state, each 0 (continue) or 1 (finish)")
    return actions.astype(bool)
