"""The gambler's ruin bandit problem: what is given, and one transition of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, SupportsIndex, TypeAlias, cast

import numpy as np

from grbp.errors import InvalidInput
from grbp.model.validation import (
    SUM_TOLERANCE,
    check_goal,
    check_probability,
    check_whole,
)
from grbp.numerics.arrays import Floats, Ints

Start: TypeAlias = Literal["uniform"] | tuple[tuple[int, float], ...]
"""A start distribution as a problem keeps it: the word, or (state, probability) pairs."""

StartLike: TypeAlias = str | SupportsIndex | Mapping[int, float] | Sequence[float] | Floats | Start
"""What is accepted as a start distribution; see `Problem`."""


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
