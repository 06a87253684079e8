"""Say once what is given: the goal, the two success probabilities, and where a round starts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, SupportsIndex, TypeAlias, cast

import numpy as np

from grbp._display import Displayable, Rows
from grbp.errors import InvalidInput
from grbp.model.validation import SUM_TOLERANCE, check_goal, check_probability, check_whole
from grbp.numerics.arrays import Floats, Ints

Start: TypeAlias = Literal["uniform"] | tuple[tuple[int, float], ...]
"""A start distribution as a problem keeps it: the word, or (state, probability) pairs."""

StartLike: TypeAlias = str | SupportsIndex | Mapping[int, float] | Sequence[float] | Floats | Start
"""Any form in which `Problem` accepts a start distribution."""


_MOST_SHOWN = 8
"""First states that a problem names when it is printed; "uniform" is short as well."""


@dataclass(frozen=True, repr=False)
class Problem(Displayable):
    """A goal, two success probabilities and the distribution of the first state.

    Parameters
    ----------
    goal : int
        The state G in which a round is won, at least 2. Actions are taken in the states from 1
        to goal - 1; state 0 is the dead end.
    p_c : float
        The probability that CONTINUE moves one state up, rather than one down.
    p_f : float
        The probability that FINISH reaches the goal, rather than the dead end.
    start : str, int, mapping or sequence, optional
        The first state of a round: ``"uniform"`` over all states; or one state; or a mapping
        from states to probabilities; or (state, probability) pairs; or goal - 1 probabilities,
        for state 1 first. Probabilities must sum to one.

    Raises
    ------
    InvalidInput
        If a number is outside its range, or the start is not a distribution over the states.

    Notes
    -----
    Problems are immutable; those that say the same compare equal and have the same hash, in
    whatever form their start was given. `to_frame` has a row for each state: the probability
    that a round starts there, the value of the state and that of each action under the optimal
    policy; `plot` marks the problem in the plane of the two probabilities.

    Paper: sec:problem

    Examples
    --------
    >>> import grbp
    >>> grbp.Problem(goal=4, p_c=0.45, p_f=0.3)
    Problem(goal=4, p_c=0.45, p_f=0.3, start='uniform')
    >>> grbp.Problem(goal=4, p_c=0.45, p_f=0.3, start={1: 0.25, 3: 0.75}).start_probabilities
    array([0.25, 0.  , 0.75])
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

    def __repr__(self) -> str:
        start = repr(self.start)
        if len(self.canonical_start) > _MOST_SHOWN:
            start = f"<{len(self.canonical_start):,} states>"
        return f"Problem(goal={self.goal}, p_c={self.p_c}, p_f={self.p_f}, start={start})"

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

    def _table(self) -> Rows:
        from grbp.theory import values  # noqa: PLC0415 (exact answers are of a floor above)

        best = values.optimal_threshold(self)
        columns = (self.states, self.start_probabilities, values.value_at(self, best))
        q = values.q_at(self, best)
        rows = zip(*(column.tolist() for column in (*columns, q[:, 0], q[:, 1])), strict=True)
        return ("state", "start", "value", "q_continue", "q_finish"), rows

    def _summary(self) -> Rows:
        from grbp.theory import values  # noqa: PLC0415 (exact answers are of a floor above)

        best = values.optimal_threshold(self)
        return ("", ""), [
            ("boundary B(p_c)", f"{values.boundary(self.goal, self.p_c):.4g}"),
            ("optimal threshold", best),
            ("share of cases won with it", f"{values.value(self, best):.4g}"),
            (f"and with threshold {1 - best}", f"{values.value(self, 1 - best):.4g}"),
        ]

    def _draw(self, ax: Any) -> Any:
        from grbp.figures.boundary import boundary_figure  # noqa: PLC0415 (of a floor above)

        return boundary_figure([self.goal], point=(self.p_c, self.p_f), ax=ax)

    def __getstate__(self) -> dict[str, object]:
        # The cached arrays stay behind: a copy of them would not be read-only.
        return {"goal": self.goal, "p_c": self.p_c, "p_f": self.p_f, "start": self.start}


def _canonical_start(start: object, goal: int) -> Start:
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
