"""Say what a chain is: a goal, actions that may differ by state, and where a round starts.

A `Chain` lives on 0 .. goal; an action moves one state up or down, stays, jumps to an end or to any
other state, or ends the round on the spot. There may be several that continue and several that
finish. `grbp.dynprog` solves it.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from grbp._arguments import checked, name_kind, show
from grbp.errors import InvalidInput
from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.worlds.optimal_stops import StateLaw
from grbp.worlds.round_chances import Chances
from grbp.worlds.start import StartLike, check_start, read_start
from grbp.worlds.transition import Action
from grbp.worlds.validation import SUM_TOLERANCE, check_goal, check_keys, check_probabilities
from grbp.worlds.world import SteadyWorld, World

KEYS: Final = ("goal", "p_c", "p_f", "start")
"""The keys of the plain data of a problem."""

_MOVES: Final = ("stay", "windfall", "catastrophe")
"""What CONTINUE can do beside a step to a neighbour, and beside jumps."""


@dataclass(frozen=True)
class Move:
    """The law of an action that continues.

    Parameters
    ----------
    up : float or array_like
        The probability of one state towards the goal: one number for all states, here and below,
        or one for every state from 1 to goal - 1.
    down : float or array_like
        The probability of one state towards the dead end.
    stay : float or array_like, optional
        The probability of staying in the state; the round goes on.
    windfall : float or array_like, optional
        The probability of going straight to the goal.
    catastrophe : float or array_like, optional
        The probability of going straight to the dead end.
    absorb : float or array_like, optional
        The probability that the round ends where it stands, without the goal.
    jumps : array_like, shape (goal - 1, goal - 1), optional
        The probability of going from each inner state (a row) straight to each inner state (a
        column). Entries for a neighbour or the state itself add to `up`, `down` and `stay`.

    Notes
    -----
    In each state all of them must sum to one; the `Chain` that takes the move checks that.

    Examples
    --------
    >>> import grbp
    >>> lazy = grbp.dynprog.Move(up=0.3, down=0.2, stay=0.5)
    """

    up: ArrayLike
    down: ArrayLike
    stay: ArrayLike = 0.0
    windfall: ArrayLike = 0.0
    catastrophe: ArrayLike = 0.0
    absorb: ArrayLike = 0.0
    jumps: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class Chain(SteadyWorld):
    """A goal, the actions that continue, and those that finish.

    Parameters
    ----------
    goal : int
        The state in which a round is won, at least 2.
    moves : Move or list of Move
        The actions that continue.
    finishes : float, array_like or list of array_like
        The probability that finishing reaches the goal: one number, or one for every state.
        Several finishing actions are a list of such arrays.
    start : str, int, mapping or sequence, optional
        The first state of a round, as `grbp.Problem` takes it; by default any, alike.

    Raises
    ------
    InvalidInput
        If the outcomes of a move do not sum to one, or a shape does not fit the goal.

    Examples
    --------
    >>> import grbp
    >>> steady, bold = grbp.dynprog.Move(0.5, 0.5), grbp.dynprog.Move(0.3, 0.5, windfall=0.2)
    >>> chain = grbp.dynprog.Chain(4, [steady, bold], finishes=0.3)
    >>> grbp.dynprog.solve(chain).which
    array([1, 1, 0])
    """

    goal: int
    moves: Move | Sequence[Move]
    finishes: ArrayLike
    start: StartLike = "uniform"
    # The probabilities of going up, down, to the goal, to an end without it, and of staying, each
    # with a row for every move and a column for every state; and those of the finishing actions.
    _laws: Floats = field(init=False, repr=False, compare=False)
    _finishes: Floats = field(init=False, repr=False, compare=False)
    # The probabilities between inner states further apart, by move, if there are any.
    _jumps: Floats | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", check_goal(self.goal))
        object.__setattr__(self, "start", check_start(self.start, self.goal))
        given: object = self.moves
        moves = (given,) if isinstance(given, Move) else given
        if not isinstance(moves, list | tuple) or not all(isinstance(m, Move) for m in moves):
            raise InvalidInput(f"moves = {given!r} was given; it must be a Move, or a list of them")
        finishes = self.finishes
        several = isinstance(finishes, list | tuple) and any(np.ndim(row) for row in finishes)
        rows = list(finishes) if several else [finishes]  # type: ignore[arg-type]
        if not moves or not rows:
            raise InvalidInput("a chain needs an action that continues and one that finishes")
        laws, jumps = zip(*map(self._check_move, moves), strict=True)
        object.__setattr__(self, "_laws", np.stack(laws, axis=1))
        far = any(part.any() for part in jumps)
        object.__setattr__(self, "_jumps", np.array(np.broadcast_arrays(*jumps)) if far else None)
        checked = [_broadcast("the chance of finishing", row, self.goal) for row in rows]
        object.__setattr__(self, "_finishes", np.vstack(checked))

    @classmethod
    @checked
    def of(cls, problem: World) -> "Chain":
        """Make the chain of the paper's problem.

        Parameters
        ----------
        problem : Problem
            The problem.

        Returns
        -------
        Chain
            The chain with one move and one finishing action.

        Examples
        --------
        >>> import grbp
        >>> chain = grbp.dynprog.Chain.of(grbp.Problem(goal=4, p_c=0.45, p_f=0.3))
        >>> grbp.dynprog.solve(chain).threshold
        1
        """
        return as_chain(problem)

    @classmethod
    def from_law(cls, law: ArrayLike, p_f: ArrayLike, start: StartLike = "uniform") -> "Chain":
        """Make the chain in which CONTINUE has a law with a row for each inner state.

        Parameters
        ----------
        law : array_like, shape (goal - 1, goal + 1)
            The chances of every state from 0 to the goal; what is missing to 1 in a row is the
            chance of staying.
        p_f : float or array_like, shape (goal - 1,)
            The chance that FINISH reaches the goal.
        start : str, int, mapping or sequence, optional
            The first state of a round, as `grbp.Problem` takes it.

        Returns
        -------
        Chain

        Examples
        --------
        >>> import grbp
        >>> grbp.Chain.from_law([[0.5, 0.0, 0.5, 0.0], [0.1, 0.2, 0.3, 0.4]], 0.3).p_c.round(3)
        array([0.5  , 0.667])
        """
        rows = check_probabilities("law", law)
        goal = len(rows) + 1 if rows.ndim else 0
        if rows.shape != (goal - 1, goal + 1):
            raise InvalidInput(
                f"law has shape {rows.shape}; it must have a row for every state from 1 to goal - 1"
                " and a column for every state from 0 to the goal"
            )
        up, down, won, lost = np.zeros((4, goal - 1))
        won[:-1], lost[1:] = rows[:-1, -1], rows[1:, 0]
        up[-1], down[0] = rows[-1, -1], rows[0, 0]
        missing = 1.0 - rows.sum(axis=1)
        stay = np.where(missing > SUM_TOLERANCE, missing, 0.0)
        return cls(goal, Move(up, down, stay, won, lost, jumps=rows[:, 1:-1]), p_f, start)

    @property
    def chain(self) -> "Chain":
        """The chain itself."""
        return self

    @cached_property
    def law(self) -> Floats:
        """The chances of CONTINUE from each inner state (a row) to each state from 0 to the goal.

        What is missing to 1 in a row is the chance of staying. A chain with several actions of a
        kind has none: whoever plays it chooses among two.
        """
        if len(self._laws[0]) > 1 or len(self._finishes) > 1:
            raise InvalidInput(
                f"a chain with {len(self._laws[0])} moves and {len(self._finishes)} finishing"
                " actions was given; it must have one of each to be played"
            )
        return np.asarray(policy_matrix(self, np.zeros(self.goal - 1, dtype=np.int64), 0))

    @property
    def p_c(self) -> Floats:
        """The share of its steps to a neighbour that CONTINUE takes up, for every state.

        It is NaN where it never steps to a neighbour.
        """
        up, down = self._laws[:2, 0]
        with np.errstate(invalid="ignore"):
            return np.asarray(up / (up + down))

    @property
    def p_f(self) -> Floats:
        """The chance that the first finishing action reaches the goal, for every state."""
        return np.asarray(self._finishes[0])

    @property
    def stay(self) -> Floats:
        """The chance that CONTINUE stays where it is, for every state."""
        return np.asarray(self._laws[4, 0])

    @property
    def leads_to_neighbours(self) -> bool:
        """Whether CONTINUE leads one state up or one down, wherever it is taken."""
        return self._jumps is None and not self._laws[2:].any()

    def _chances(self, far: bool) -> Chances:
        return Chances(self.law[:, 2:].diagonal(), self.p_f, self.law if far else None)

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain data, without what it does not do; see `World.to_plain`."""
        _, _, won, lost, stay = self._laws[:, 0]
        p_c = np.where(np.isnan(self.p_c), 0.5, self.p_c)
        others = dict(zip(_MOVES, (stay, won, lost), strict=True))
        data = {"goal": self.goal, "p_c": p_c.tolist(), "p_f": self.p_f.tolist()}
        data |= {name: chances.tolist() for name, chances in others.items() if chances.any()}
        if self._jumps is not None:
            data["jumps"] = self._jumps[0].tolist()
        start = self.canonical_start  # The keys of plain data are words.
        words = start if isinstance(start, str) else {str(state): q for state, q in start}
        return data | {"start": words}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], read: Callable[[Any], Any]) -> "Chain":  # noqa: ARG003 (it has no parts)
        """Return the chain that plain data describe, or refuse them; see `World.from_plain`."""
        check_keys("a chain", data, KEYS[:3], (*KEYS[3:], *_MOVES, "jumps"))
        goal, start = check_goal(data["goal"]), read_start(data.get("start", "uniform"))
        p_c, jumps = _broadcast("p_c", data["p_c"], goal), None
        others = {name: _broadcast(name, data[name], goal) for name in _MOVES if name in data}
        elsewhere = sum(others.values(), np.zeros(goal - 1))
        if "jumps" in data:
            jumps = _broadcast("jumps", data["jumps"], goal, "pair of states")
            elsewhere = elsewhere + jumps.sum(axis=1)
        if (elsewhere > 1.0 + SUM_TOLERANCE).any():
            worst = int(np.argmax(elsewhere))
            raise InvalidInput(
                f"the chances beside p_c sum to {elsewhere[worst]:.12g} in state {worst + 1}; they"
                " must sum to at most 1, and what is missing are steps to a neighbour"
            )
        near = np.where(elsewhere > 1.0 - 1e-12, 0.0, 1.0 - elsewhere)
        move = Move(near * p_c, near * (1.0 - p_c), jumps=jumps, **others)
        return cls(goal, move, _broadcast("p_f", data["p_f"], goal), start)

    def _check_move(self, move: Move) -> tuple[Floats, Floats]:
        """Return the probabilities of a move in every state, and of its jumps (or 0); or refuse."""
        names = [f.name for f in fields(move) if f.name != "jumps"]
        law = [_broadcast(name, getattr(move, name), self.goal) for name in names]
        total = np.sum(law, axis=0)
        if move.jumps is not None:
            jumps = _broadcast("jumps", move.jumps, self.goal, "pair of states")
            total = total + jumps.sum(axis=1)
        off = np.abs(total - 1.0)
        if off.max() > SUM_TOLERANCE:
            worst = int(np.argmax(off))
            raise InvalidInput(
                f"the outcomes of a move in state {worst + 1} sum to {total[worst]:.12g};"
                " they must sum to 1"
            )
        up, down, stay, windfall, catastrophe, absorb = law / total
        near = np.array([up, down, windfall, catastrophe + absorb, stay])
        if move.jumps is None:
            return near, np.zeros(())
        jumps = jumps / total[:, None]
        for row, shift in ((0, 1), (1, -1), (4, 0)):  # up, down and stay
            states = np.arange(max(0, -shift), self.goal - 1 - max(0, shift))
            near[row, states] += jumps[states, states + shift]
            jumps[states, states + shift] = 0.0
        return near, jumps


def _broadcast(name: str, given: ArrayLike, goal: int, each: str = "state") -> Floats:
    """Return one probability for every state, or pair of states, or refuse what was given."""
    array, count = check_probabilities(name, given), goal - 1
    shape = (count,) if each == "state" else (count, count)
    if array.shape not in ((), shape):
        raise InvalidInput(
            f"{name} has shape {array.shape}; it must be one number, or one for every {each}"
            f" from 1 to {count}"
        )
    return np.broadcast_to(array, shape)


def as_chain(world: World) -> Chain:
    """Return a chain, or that of a problem; refuse a truth that has several."""
    if world.chain is None:
        raise InvalidInput(
            f"cannot solve {name_kind(type(world))}: the parts differ, so ask about one of them"
            f" ({', '.join(world.parts)})"
        )
    return world.chain


def _as_array(name: str, given: ArrayLike, kind: type | None = None) -> Any:
    """Return an array of what was given, or refuse what makes none."""
    with suppress(TypeError, ValueError, OverflowError):
        return np.asarray(given, dtype=kind)
    raise InvalidInput(f"{name} = {show(given)} was given; it must be whole numbers")


def policy_law(chain: Chain, action: ArrayLike, which: ArrayLike) -> list[StateLaw]:
    """Return the law of the policy's action in every state, or refuse the policy."""
    ends, chosen = _check_policy(chain, action, which)
    states = np.arange(chain.goal - 1)
    p_f = chain._finishes[np.where(ends, chosen, 0), states]
    finishing = np.array([np.zeros_like(p_f), np.zeros_like(p_f), p_f, 1.0 - p_f])
    moving = chain._laws[:4, np.where(ends, 0, chosen), states]
    return list(map(StateLaw, *np.where(ends, finishing, moving).tolist()))


def policy_matrix(chain: Chain, action: ArrayLike, which: ArrayLike) -> Floats:
    """Return that law with jumps: a row for each inner state, a column for each state from 0 on."""
    ends, chosen = _check_policy(chain, action, which)
    states, matrix = np.arange(chain.goal - 1), np.zeros((chain.goal - 1, chain.goal + 1))
    if chain._jumps is not None:
        jumps = chain._jumps[np.where(ends, 0, chosen), states]
        matrix[:, 1:-1] = np.where(ends[:, None], 0.0, jumps)
    up, down, won, lost = np.transpose(policy_law(chain, action, which))
    matrix[states, states + 2] += up
    matrix[states, states] += down
    matrix[:, -1] += won
    matrix[:, 0] += lost
    return matrix


def _check_policy(chain: Chain, action: ArrayLike, which: ArrayLike) -> tuple[Bools, Ints]:
    """Return where a policy finishes, and the index of its action in each state, or refuse it."""
    count = chain.goal - 1
    chosen, actions = _as_array("which", which, np.int64), _as_array("action", action)
    if chosen.shape not in ((), (count,)):
        raise InvalidInput(f"which has shape {chosen.shape}; it must be one number, or {count}")
    if actions.shape != (count,) or not np.isin(actions, tuple(Action)).all():
        raise InvalidInput(
            f"a policy of shape {actions.shape} was given; a goal of {chain.goal} needs"
            f" {count} actions, each 0 (continue) or 1 (finish)"
        )
    ends = actions == Action.FINISH
    available = np.where(ends, len(chain._finishes), chain._laws.shape[1])
    if ((chosen < 0) | (chosen >= available)).any():
        raise InvalidInput("a policy uses an action that the chain does not have")
    return ends, chosen
