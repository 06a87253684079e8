"""Say once what is given: the goal, the two success probabilities, and where a round starts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from grbp._display import Displayable, Rows
from grbp.errors import refuse_unknown_names
from grbp.worlds.chain import KEYS, Chain, Move
from grbp.worlds.round_chances import Chances
from grbp.worlds.start import StartLike, check_start, read_start
from grbp.worlds.validation import check_goal, check_probability
from grbp.worlds.world import SteadyWorld

_MOST_SHOWN = 8
"""First states that a problem names when it is printed; "uniform" is short as well."""


@dataclass(frozen=True, repr=False)
class Problem(SteadyWorld, Displayable):
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

    leads_to_neighbours = True

    if not TYPE_CHECKING:  # Type checkers know the names.

        def __new__(cls, *_: object, **named: object) -> Self:
            """Ask for what may have been meant by a name that a problem does not have."""
            refuse_unknown_names("Problem", named, [one.name for one in fields(cls)])
            return super().__new__(cls)

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", check_goal(self.goal))
        object.__setattr__(self, "p_c", check_probability("p_c", self.p_c))
        object.__setattr__(self, "p_f", check_probability("p_f", self.p_f))
        object.__setattr__(self, "start", check_start(self.start, self.goal))

    def __repr__(self) -> str:
        start = repr(self.start)
        if len(self.canonical_start) > _MOST_SHOWN:
            start = f"<{len(self.canonical_start):,} states>"
        return f"Problem(goal={self.goal}, p_c={self.p_c}, p_f={self.p_f}, start={start})"

    @property
    def paper(self) -> "Problem":
        """The problem itself."""
        return self

    @property
    def chain(self) -> Chain:
        """The chain with one move and one finishing action."""
        return Chain(self.goal, Move(self.p_c, 1.0 - self.p_c), self.p_f, self.start)

    def _chances(self, far: bool) -> Chances:
        if far:
            return self.chain._chances(far)
        up, p_f = (np.broadcast_to(chance, self.goal - 1) for chance in (self.p_c, self.p_f))
        return Chances(up, p_f, None)

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain data; see `World.to_plain`."""
        return self.__getstate__()

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], read: Callable[[Any], Any]) -> "Problem | Chain":
        """Return the problem that plain data describe, or the chain if they say more."""
        numbers = all(isinstance(data.get(name), int | float) for name in ("p_c", "p_f"))
        if not (numbers and {"goal"} <= {*data} <= {*KEYS}):
            return Chain.from_plain(data, read)
        return cls(**{**data, "start": read_start(data.get("start", "uniform"))})

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
