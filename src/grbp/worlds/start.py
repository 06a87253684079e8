"""Say where a round starts: one distribution over the states, in its many forms."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal, SupportsIndex, TypeAlias, cast

import numpy as np

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.validation import SUM_TOLERANCE, check_probability, check_whole

Start: TypeAlias = Literal["uniform"] | tuple[tuple[int, float], ...]
"""A start distribution as a problem keeps it: the word, or (state, probability) pairs."""

StartLike: TypeAlias = str | SupportsIndex | Mapping[int, float] | Sequence[float] | Floats | Start
"""Any form in which `Problem` accepts a start distribution."""


class StartsSomewhere:
    """What has a goal, and a distribution of the first state."""

    goal: int
    start: StartLike

    @property
    def states(self) -> Ints:
        """The states in which an action is taken: 1, 2, ..., goal - 1."""
        return np.arange(1, self.goal, dtype=np.int64)

    @cached_property
    def start_probabilities(self) -> Floats:
        """The probability q(s) that a round starts in s, for every state; read-only."""
        count, start = self.goal - 1, self.canonical_start
        q = np.full(count, 1.0 / count if start == "uniform" else 0.0)
        if not isinstance(start, str):
            for state, probability in start:
                q[state - 1] = probability
        q.flags.writeable = False
        return q

    @cached_property
    def start_table(self) -> tuple[Ints, Floats]:
        """The states in which a round can start, and their cumulative probabilities."""
        possible = self.start_probabilities > 0.0
        return self.states[possible], np.cumsum(self.start_probabilities[possible])

    @property
    def canonical_start(self) -> Start:
        """The start distribution in its one kept form, in whatever form it was given."""
        return cast("Start", self.start)

    def start_mean(self, per_state: Floats) -> float:
        """Compute the mean of a quantity over the distribution of the first state.

        Parameters
        ----------
        per_state : ndarray, shape (goal - 1,)
            The quantity for every first state, for state 1 first.

        Returns
        -------
        float
            The sum of q(s) times the quantity in s.

        Examples
        --------
        >>> import grbp
        >>> problem = grbp.Problem(goal=4, p_c=0.45, p_f=0.3, start={1: 0.25, 3: 0.75})
        >>> problem.start_mean(problem.states)
        2.5
        """
        if self.start == "uniform":
            return float(np.mean(per_state))
        possible = self.start_table[0] - 1
        return math.fsum(self.start_probabilities[possible] * per_state[possible])


def check_start(start: object, goal: int) -> Start:
    """Return the start distribution in the one form in which equal ones compare equal."""
    if isinstance(start, str) and start == "uniform":
        return "uniform"
    pairs = [
        (
            check_whole("the start state", state, 1, goal - 1),
            check_probability(f"the start probability of state {state}", q),
        )
        for state, q in _start_pairs(start, goal)
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


def _start_pairs(start: object, goal: int) -> list[tuple[object, object]]:
    """Return the (state, probability) pairs that the caller meant, not yet checked."""
    if isinstance(start, np.ndarray) and start.ndim == 0:
        start = start.item()
    if isinstance(start, SupportsIndex) and not isinstance(start, np.ndarray):
        return [(start, 1.0)]
    if isinstance(start, Mapping):
        return list(start.items())
    if isinstance(start, str) or not isinstance(start, Sequence | np.ndarray):
        raise InvalidInput(
            f"start = {start!r} was given; it must be 'uniform', one state, or probabilities"
        )
    items: list[object] = list(start)
    if items and all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        return items  # type: ignore[return-value]
    if len(items) == goal - 1:
        return list(zip(range(1, goal), items, strict=True))
    raise InvalidInput(
        f"{len(items)} start probabilities were given; a goal of {goal} needs {goal - 1},"
        f" one for every state from 1 to {goal - 1}"
    )
