"""One transition of the problem, the first state of a round, and what a policy does where."""

from collections.abc import Sequence
from enum import IntEnum
from typing import SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grbp._numba.jit import kernel
from grbp.errors import InvalidInput
from grbp.model.validation import (
    check_threshold,
)
from grbp.numerics.arrays import Bools, Floats, Ints

DEAD_END = 0
"""The state in which a round is lost (the paper's D)."""


class Action(IntEnum):
    """What can be done in a state."""

    CONTINUE = 0
    FINISH = 1


Policy: TypeAlias = SupportsIndex | Sequence[int] | NDArray[np.integer] | Bools
"""A threshold, or one action for every state from 1 to goal - 1."""


@kernel
def first_state(states: Ints, cumulative: Floats, draw: float) -> int:
    """The state in which a round starts, given a uniform draw and `Problem.start_table`.

    The first one whose cumulative probability is above the draw, or the last one, which
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
    """The state after one action, given a uniform draw from [0, 1).

    The draw is compared with the probability of the good outcome, so a smaller draw is
    never worse. This is the only place where a transition of the problem is written.

    Paper: sec:problem
    """
    if action == Action.FINISH:
        return goal if draw < p_f else DEAD_END
    return state + 1 if draw < p_c else state - 1


def finish_mask(goal: int, policy: Policy) -> Bools:
    """For every state from 1 to goal - 1, whether the policy takes FINISH there.

    Paper: sec:structure (the definition of a stationary threshold policy)
    """
    given: object = policy
    if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str):
        try:
            actions = np.asarray(given)
        except ValueError:
            actions = np.zeros((0, 0))
        if actions.shape != (goal - 1,):
            raise InvalidInput(
                f"a policy of {actions.size} actions was given; a goal of {goal} needs"
                f" {goal - 1}, one for every state from 1 to {goal - 1}"
            )
        if not np.isin(actions, (0, 1)).all():
            raise InvalidInput(
                "a policy must hold one action a state, each 0 (continue) or 1 (finish)"
            )
        return actions.astype(bool)
    threshold = check_threshold(policy, goal)
    mask = np.zeros(goal - 1, dtype=bool)
    mask[:threshold] = True
    return mask
