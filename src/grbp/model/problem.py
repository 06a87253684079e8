"""The gambler's ruin bandit problem: what is given, and one transition of it."""

import math
import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Literal, SupportsFloat, SupportsIndex, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from grbp._numba.jit import kernel
from grbp.errors import InvalidInput
from grbp.numerics.arrays import Bools, Floats, Ints

DEAD_END = 0
"""The state in which a round is lost (the paper's D)."""

LARGEST_GOAL = 10_000_000
"""The largest goal accepted: one vector over the states then takes 80 MB."""

SUM_TOLERANCE = 1e-9
"""How far probabilities may be from summing to one before they are refused."""


Start: TypeAlias = Literal["uniform"] | tuple[tuple[int, float], ...]
"""A start distribution as a problem keeps it: the word, or (state, probability) pairs."""

StartLike: TypeAlias = str | SupportsIndex | Mapping[int, float] | Sequence[float] | Floats | Start
"""What is accepted as a start distribution; see `Problem`."""


class Action(IntEnum):
    """What can be done in a state."""

    CONTINUE = 0
    FINISH = 1


Policy: TypeAlias = SupportsIndex | Sequence[int] | NDArray[np.integer] | Bools
"""A threshold, or one action for every state from 1 to goal - 1."""


@dataclass(frozen=True)
class Problem:
    """A goal, two success probabilities and the distribution of the first state.

    goal     the state G in which a round is won; the states between are 1 .. goal - 1
    p_c      the probability that CONTINUE moves one state up (else one down)
    p_f      the probability that FINISH reaches the goal (else the dead end)
    start    "uniform"; or one state; or {state: probability}; or a list of goal - 1
             probabilities, for state 1 first. They must sum to one.

    Paper: sec:problem
    """

    goal: int
    p_c: float
    p_f: float
    start: StartLike = "uniform"

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", check_goal(self.goal))
        object.__setattr__(self, "p_c", check_probability("p_c", self.p_c))
        object.__setattr__(self, "p_f", check_probability("p_f", self.p_f))
        object.__setattr__(self, "start", _canonical_start(self.start, self.goal))

    @property
    def states(self) -> Ints:
        """The states in which an action is taken: 1, 2, ..., goal - 1."""
        return np.arange(1, self.goal, dtype=np.int64)

    @cached_property
    def start_probabilities(self) -> Floats:
        """The probability q(s) that a round starts in s, for every state; read-only."""
        count = self.goal - 1
        if self.start == "uniform":
            q = np.full(count, 1.0 / count)
        else:
            q = np.zeros(count)
            for state, probability in self._start_pairs:
                q[state - 1] = probability
        q.flags.writeable = False
        return q

    @cached_property
    def start_table(self) -> tuple[Ints, Floats]:
        """The states in which a round can start, and their cumulative probabilities."""
        possible = self.start_probabilities > 0.0
        return self.states[possible], np.cumsum(self.start_probabilities[possible])

    def __getstate__(self) -> dict[str, object]:
        # What is cached stays behind: a copy of it would not be read-only.
        return {"goal": self.goal, "p_c": self.p_c, "p_f": self.p_f, "start": self.start}

    def start_mean(self, per_state: Floats) -> float:
        """The mean of a quantity over the distribution of the first state."""
        if self.start == "uniform":
            return float(np.mean(per_state))
        return math.fsum(
            probability * float(per_state[state - 1]) for state, probability in self._start_pairs
        )

    @property
    def canonical_start(self) -> Start:
        """The start distribution in its one kept form, whatever form it was given in."""
        return cast("Start", self.start)

    @property
    def _start_pairs(self) -> tuple[tuple[int, float], ...]:
        return cast("tuple[tuple[int, float], ...]", self.start)


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


def check_goal(goal: object) -> int:
    """The goal as an int, or a refusal."""
    return check_whole("goal", goal, 2, LARGEST_GOAL)


def check_threshold(threshold: object, goal: int) -> int:
    """The threshold as an int, or a refusal."""
    return check_whole("threshold", threshold, 0, goal - 1)


def check_probability(name: str, value: object) -> float:
    """The value as a float in [0, 1], or a refusal that names it."""
    number = _as_float(value)
    if not 0.0 <= number <= 1.0:
        raise InvalidInput(f"{name} = {value!r} was given; it must be a number from 0 to 1")
    return number


def check_probabilities(name: str, values: object) -> Floats:
    """The values as an array of floats in [0, 1], or a refusal that names them."""
    array = np.array(np.nan)
    with suppress(TypeError, ValueError):
        array = np.asarray(values, dtype=np.float64)
    if not ((array >= 0.0) & (array <= 1.0)).all():
        raise InvalidInput(f"{name} = {values!r} was given; it must be numbers from 0 to 1")
    return array


def check_positive(name: str, value: object) -> float:
    """The value as a positive, finite float, or a refusal that names it."""
    number = _as_float(value)
    if not 0.0 < number < math.inf:
        raise InvalidInput(f"{name} = {value!r} was given; it must be a positive number")
    return number


_NO_NUMBERS = (str, bytes, bool, np.bool_, complex, np.complexfloating)


def _as_float(value: object) -> float:
    """The number that a value is; NaN, which every check refuses, if it is none."""
    if isinstance(value, SupportsFloat) and not isinstance(value, _NO_NUMBERS):
        with suppress(TypeError, ValueError, OverflowError):
            return float(value)
    return math.nan


def check_whole(name: str, value: object, least: int, most: int) -> int:
    """The value as an int between two limits, or a refusal that names it."""
    # An int first: to ask whether something is an index takes long.
    if isinstance(value, int | SupportsIndex) and not isinstance(value, bool):
        # An array calls itself an index and then is none, unless it is a whole number.
        with suppress(TypeError):
            number = operator.index(value)
            if least <= number <= most:
                return number
    raise InvalidInput(
        f"{name} = {value!r} was given; it must be a whole number from {least:,} to {most:,}"
    )


def _canonical_start(start: object, goal: int) -> Start:
    """The start distribution in the one form in which equal ones compare equal."""
    if isinstance(start, str):
        if start != "uniform":
            raise InvalidInput(
                f"start = {start!r} was given; it must be 'uniform', one state, or probabilities"
            )
        return "uniform"
    pairs = [
        (
            check_whole("the start state", state, 1, goal - 1),
            check_probability(f"the start probability of state {state}", q),
        )
        for state, q in _named_start(start, goal)
    ]
    if len({state for state, _ in pairs}) < len(pairs):
        raise InvalidInput("the start distribution names a state twice; name each state once")
    total = math.fsum(q for _, q in pairs)
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise InvalidInput(f"the start probabilities sum to {total:.12g}; they must sum to 1")
    kept = tuple(sorted((state, q / total) for state, q in pairs if q > 0.0))
    if len(kept) == goal - 1 and len({q for _, q in kept}) == 1:
        return "uniform"
    return kept


def _named_start(start: object, goal: int) -> list[tuple[object, object]]:
    """The (state, probability) pairs that the caller meant, not yet checked."""
    if isinstance(start, np.ndarray) and start.ndim == 0:
        start = start.item()
    if isinstance(start, SupportsIndex) and not isinstance(start, np.ndarray):
        return [(start, 1.0)]
    if isinstance(start, Mapping):
        return list(start.items())
    if isinstance(start, Sequence | np.ndarray):
        items: list[object] = list(start)
        if items and all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
            return items  # type: ignore[return-value]
        if len(items) == goal - 1:
            return list(zip(range(1, goal), items, strict=True))
        raise InvalidInput(
            f"{len(items)} start probabilities were given; a goal of {goal} needs {goal - 1},"
            f" one for every state from 1 to {goal - 1}"
        )
    raise InvalidInput(
        f"start = {start!r} was given; it must be 'uniform', one state, or probabilities"
    )
