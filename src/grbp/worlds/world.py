"""Say what every truth answers: problems, chains, drifts and groups are one family.

A caller asks a world, and need not know of which kind it is. A new kind is a class that answers,
and a line in `grbp.worlds.plain.KINDS`.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import numpy as np

from grbp._arguments import name_kind, show
from grbp.errors import InvalidInput
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.round_chances import Chances
from grbp.worlds.start import Start, StartLike

if TYPE_CHECKING:
    from grbp.worlds.chain import Chain
    from grbp.worlds.problem import Problem

Written: TypeAlias = float | str
"""A chance as tables have it: a number or, where it differs, words."""

Columns: TypeAlias = tuple[int, Written, Written, str]
"""The goal, p_C, p_F and the start."""

Point: TypeAlias = tuple[int, float, float]
"""The goal, and p_C and p_F: one number each, whatever the world."""


class World:
    """A truth that learners can be played on.

    It is no `abc.ABC`: digests of learners that read a chain know that its class is a plain one.
    """

    _CALLED: ClassVar = "a Problem, a Chain, a Drift or Groups"

    if TYPE_CHECKING:  # The field of a dataclass would take a property for its default.

        @property
        def goal(self) -> int:
            """The state in which a round is won."""

    @property
    def paper(self) -> "Problem | None":
        """The paper's problem, if it is one."""
        return None

    @property
    def chain(self) -> "Chain | None":
        """The chain that every round is, if it is the same one."""
        return None

    @property
    def known(self) -> "Problem | Chain | int":
        """What a learner can be made for: a problem, a chain, or else the goal alone."""
        return self.paper or self.chain or self.goal

    @property
    def parts(self) -> Mapping[str, "World"]:
        """The truths that it is made of, by round or group; none if it is the same throughout."""
        return {}

    @property
    @abstractmethod
    def groups(self) -> Mapping[str, "UngroupedWorld"]:
        """The truth of each group by its name; without groups it is its own, and has no name."""

    @property
    def group_shares(self) -> Collection[float]:
        """The probability that a case is of each group."""
        return (1.0,)

    @property
    def changes(self) -> bool:
        """Whether chances change over the rounds."""
        return any(part.changes for part in self.parts.values())

    @property
    def point(self) -> Point:
        """The goal, and the means of p_C and p_F over states and parts: its place in a league."""
        _, p_c, p_f = np.mean([part.point for part in self.parts.values()], axis=0)
        return self.goal, float(p_c), float(p_f)

    @property
    def columns(self) -> Columns:
        """The goal, p_C, p_F and the start, as every table of results has them."""
        _, *columns = zip(*(part.columns for part in self.parts.values()), strict=True)
        p_c, p_f, start = (_join_parts(self.parts, column) for column in columns)
        return self.goal, p_c, p_f, str(start)

    @property
    def words(self) -> str:
        """What it is, in one line."""
        goal, p_c, p_f, _ = self.columns
        return f"{type(self).__name__.lower()}, G = {goal}, p_C = {p_c}, p_F = {p_f}"

    @abstractmethod
    def to_plain(self) -> dict[str, Any]:
        """Return it as plain data, for JSON, TOML and digests.

        Returns
        -------
        dict
            Numbers, words, lists and tables; `grbp.worlds.plain.from_plain` is the way back.
        """

    @classmethod
    @abstractmethod
    def from_plain(cls, data: Mapping[str, Any], read: Callable[[Any], Any]) -> "World":
        """Return the truth that plain data describe, or refuse them.

        Parameters
        ----------
        data : mapping
            What `to_plain` returns, or the table of a TOML file.
        read : callable
            It reads the plain data of a part.

        Returns
        -------
        World
        """


class UngroupedWorld(World):
    """A truth of one group of cases: a problem, a chain or a drift."""

    @property
    def groups(self) -> Mapping[str, "UngroupedWorld"]:
        """The truth itself, without a name."""
        return {"": self}

    if TYPE_CHECKING:  # As above.

        @property
        def stages(self) -> "Sequence[tuple[int, SteadyWorld]]":
            """The rounds at which the truth is known, and what it is then."""

    def path(self, rounds: int) -> tuple[Ints, Floats]:
        """Return where every round stands: the stage before it, and the weight of the next one.

        Parameters
        ----------
        rounds : int

        Returns
        -------
        stage : ndarray of int, shape (rounds,)
        weight : ndarray, shape (rounds,)
            The chances of a round are those of its stage times 1 - weight, and those of the next
            stage times the weight.
        """
        return np.zeros(rounds, dtype=np.int64), np.zeros(rounds)

    @abstractmethod
    def chances(self, rho: int) -> Chances:
        """Return the chances of a round.

        Parameters
        ----------
        rho : int
            The number of the round.

        Returns
        -------
        Chances
        """


class SteadyWorld(UngroupedWorld):
    """A truth that is the same in every round: a problem or a chain."""

    goal: int
    start: StartLike
    p_c: Any
    p_f: Any

    @property
    @abstractmethod
    def chain(self) -> "Chain":
        """The chain that every round is."""

    @property
    def stages(self) -> "Sequence[tuple[int, SteadyWorld]]":
        """The truth itself, from round 1 on."""
        return ((1, self),)

    @property
    def point(self) -> Point:
        """The goal, and the means of p_C and p_F over the states."""
        return self.goal, float(np.nanmean(self.p_c)), float(np.mean(self.p_f))

    @property
    def columns(self) -> Columns:
        """The goal, p_C, p_F and the start, as every table of results has them."""
        start = self.canonical_start
        words = start if isinstance(start, str) else ",".join(f"{s}={q!r}" for s, q in start)
        return self.goal, _join_states(self.p_c), _join_states(self.p_f), words

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

    def chances(self, rho: int) -> Chances:  # noqa: ARG002 (they are the same in all)
        """Return the chances of any round; see `UngroupedWorld.chances`."""
        return chances_of(self)

    @property
    @abstractmethod
    def leads_to_neighbours(self) -> bool:
        """Whether CONTINUE leads one state up or one down, wherever it is taken."""

    @abstractmethod
    def _chances(self, far: bool) -> Chances:
        """Return the chances of any round, with the law of CONTINUE or, if they need none, not."""


@lru_cache(maxsize=64)
def chances_of(world: SteadyWorld, far: bool = False) -> Chances:
    """Return the chances of any round, with the law of CONTINUE where that leads far."""
    return world._chances(far or not world.leads_to_neighbours)


def check_world(given: object) -> World:
    """Return a truth that learners can be played on, or refuse what is none."""
    if not isinstance(given, World):
        raise InvalidInput(f"{show(given)} was given; it must be {World._CALLED} of them")
    return given


def check_paper(given: object, why: str) -> "Problem":
    """Return the paper's problem, or refuse any other truth and say why."""
    problem = given.paper if isinstance(given, World) else None
    if problem is None:
        raise InvalidInput(f"{name_kind(type(given))} was given; {why}")
    return problem


def _join_states(chances: Floats | float) -> Written:
    """Write the chance of each state or, where it is the same in all, once as a number."""
    first, *others = by_state = np.atleast_1d(chances).tolist()
    return first if all(p == first for p in others) else " ".join(f"{p:.6g}" for p in by_state)


def _join_parts(names: Iterable[str], column: Sequence[Written]) -> Written:
    """Write what stands in a column for each part or, where it is the same in all, once."""
    if len({*column}) == 1:
        return column[0]
    return "; ".join(f"{name}: {text}" for name, text in zip(names, column, strict=True))
