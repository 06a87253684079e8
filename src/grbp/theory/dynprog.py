"""Answer independently of every closed form, by dynamic programming, and for far more chains.

A `Chain` lives on 0 .. goal; an action moves one state up or down, stays, jumps to an end or ends
the round on the spot. Every action may differ by state, and there may be several that continue
and several that finish. This module shares no formula with the closed forms of `grbp.value_at`
or `grbp.extensions`; the tests compare them.

Evaluation eliminates the states one after another, as one solves a tridiagonal system, but in
the form that only adds, multiplies and divides positive numbers (Grassmann, Taksar and Heyman
1985), so that small probabilities keep their digits. It takes goal steps.

Optimisation is policy iteration. A scan of goal steps settles which states finish; then the
choice among several continuing actions is improved, state by state, until no change is better.
The policy that remains satisfies Bellman's equation, hence is optimal.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from grbp.errors import InvalidInput
from grbp.model.problem import Problem
from grbp.model.transition import Action
from grbp.model.validation import SUM_TOLERANCE, check_goal, check_probabilities
from grbp.numerics.arrays import Floats, Ints
from grbp.theory.optimal_stops import TIE, StateLaw, optimal_stops


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

    Notes
    -----
    In each state the six must sum to one; the `Chain` that takes the move checks that.

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


@dataclass(frozen=True, eq=False)
class Chain:
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
    # The probabilities of going up, down, to the goal, to an end without it, and of staying, each
    # with a row for every move and a column for every state; and those of the finishing actions.
    _laws: Floats = field(init=False, repr=False, compare=False)
    _finishes: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", check_goal(self.goal))
        given: object = self.moves
        moves = (given,) if isinstance(given, Move) else given
        if not isinstance(moves, list | tuple) or not all(isinstance(m, Move) for m in moves):
            raise InvalidInput(f"moves = {given!r} was given; it must be a Move, or a list of them")
        finishes = self.finishes
        several = isinstance(finishes, list | tuple) and any(np.ndim(row) for row in finishes)
        rows = list(finishes) if several else [finishes]  # type: ignore[arg-type]
        if not moves or not rows:
            raise InvalidInput("a chain needs an action that continues and one that finishes")
        laws = [self._checked_move(move) for move in moves]
        object.__setattr__(self, "_laws", np.stack(laws, axis=1))
        checked = [self._over_states("the chance of finishing", row) for row in rows]
        object.__setattr__(self, "_finishes", np.vstack(checked))

    @classmethod
    def of(cls, problem: Problem) -> "Chain":
        """Make the chain of the paper's problem.

        Parameters
        ----------
        problem : Problem
            The problem, whose start does not matter here.

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
        return cls(problem.goal, Move(problem.p_c, 1.0 - problem.p_c), problem.p_f)

    def _checked_move(self, move: Move) -> Floats:
        """Return the probabilities of a move in every state, or refuse it."""
        law = [self._over_states(f.name, getattr(move, f.name)) for f in fields(move)]
        total = np.sum(law, axis=0)
        off = np.abs(total - 1.0)
        if off.max() > SUM_TOLERANCE:
            worst = int(np.argmax(off))
            raise InvalidInput(
                f"the outcomes of a move in state {worst + 1} sum to {total[worst]:.12g};"
                " they must sum to 1"
            )
        up, down, stay, windfall, catastrophe, absorb = law / total
        return np.array([up, down, windfall, catastrophe + absorb, stay])

    def _over_states(self, name: str, given: ArrayLike) -> Floats:
        """Return one probability for every state, or refuse what was given."""
        array = check_probabilities(name, given)
        if array.shape not in ((), (self.goal - 1,)):
            raise InvalidInput(
                f"{name} has shape {array.shape}; it must be one number, or one for every state"
                f" from 1 to {self.goal - 1}"
            )
        return np.broadcast_to(array, (self.goal - 1,))


class Evaluation(NamedTuple):
    """The achievements of a policy, for every first state.

    Attributes
    ----------
    value : ndarray, shape (goal - 1,)
        The probability of reaching the goal.
    steps : ndarray, shape (goal - 1,)
        The expected number of actions until the round ends; inf if it may never end.
    """

    value: Floats
    steps: Floats


class Solution(NamedTuple):
    """The best that can be done, and how, for every state.

    Attributes
    ----------
    value : ndarray, shape (goal - 1,)
        V*(s), the largest probability of reaching the goal.
    action : ndarray of int, shape (goal - 1,)
        CONTINUE (0) or FINISH (1).
    which : ndarray of int, shape (goal - 1,)
        The index of that action among the chain's moves, or among its finishes.
    threshold : int or None
        The number of states that finish, where they are the lowest ones; None where the optimum
        is not a threshold policy.
    """

    value: Floats
    action: Ints
    which: Ints
    threshold: int | None


def evaluate(chain: Chain, action: ArrayLike, which: ArrayLike = 0) -> Evaluation:
    """Compute the value and the length of a round under any deterministic policy.

    Parameters
    ----------
    chain : Chain
        The chain that is played.
    action : array_like of int, shape (goal - 1,)
        CONTINUE (0) or FINISH (1) for every state.
    which : int or array_like of int, optional
        The index of the action among the chain's moves, or its finishes: one number for all
        states, or one for each.

    Returns
    -------
    Evaluation
        The value and the expected number of actions, for every first state.

    Raises
    ------
    InvalidInput
        If a shape does not fit the goal, or the chain does not have such an action.

    Notes
    -----
    It takes goal steps, and no two numbers are subtracted.

    Paper: eqn:bellval

    Examples
    --------
    >>> import grbp
    >>> chain = grbp.dynprog.Chain.of(grbp.Problem(goal=3, p_c=0.5, p_f=0.5))
    >>> grbp.dynprog.evaluate(chain, [1, 0])
    Evaluation(value=array([0.5 , 0.75]), steps=array([1. , 1.5]))
    """
    value, steps = [1.0], [0.0]
    for up, won, length in reversed(list(_climbs(_policy_law(chain, action, which)))):
        value.append(won + up * value[-1])
        steps.append(length + (up * steps[-1] if up > 0.0 else 0.0))
    return Evaluation(np.array(value[:0:-1]), np.array(steps[:0:-1]))


def solve(chain: Chain) -> Solution:
    """Compute the optimal value of every state and the action that attains it.

    Parameters
    ----------
    chain : Chain
        The chain that is played.

    Returns
    -------
    Solution
        The value, the action and its index, for every state; ties go to FINISH.

    Notes
    -----
    Paper: eqn:bellval
    Differs: actions may differ by state, so the optimum need not be a threshold policy.

    Examples
    --------
    >>> import grbp
    >>> chain = grbp.dynprog.Chain.of(grbp.Problem(goal=4, p_c=0.45, p_f=0.3))
    >>> best = grbp.dynprog.solve(chain)
    >>> best.value.round(4), best.action, best.threshold
    (array([0.3   , 0.4884, 0.7186]), array([1, 0, 0]), 1)
    """
    finish, rewards = np.argmax(chain._finishes, axis=0), chain._finishes.max(axis=0).tolist()
    up, down, won, lost, stay = chain._laws
    # The move that goes up the most for each time it goes down is a good first guess.
    move = np.argmax((up + won) / (down + lost + 1e-300), axis=0)
    while True:
        stops = optimal_stops(_policy_law(chain, np.zeros_like(move), move), rewards)
        action, which = stops.astype(np.int64), np.where(stops, finish, move)
        value = evaluate(chain, action, which).value
        around = np.concatenate(([0.0], value, [1.0]))
        q = up * around[2:] + down * around[:-2] + won + stay * value
        improved = np.where(q.max(axis=0) > value * (1.0 + TIE), np.argmax(q, axis=0), move)
        if (improved == move).all():
            count = int(stops.sum())
            return Solution(value, action, which, count if stops[:count].all() else None)
        move = improved


def _climbs(laws: Sequence[StateLaw]) -> Iterator[tuple[float, float, float]]:
    """Compute how the round first gets above each state, from state 1 on, if it does.

    These are the probability that it does, the probability that it is won before, and the expected
    number of actions until either, or until the round is lost. All visits to lower states are
    summed up in these.
    """
    won, lost, length = 0.0, 1.0, 0.0  # below state 1 the round is lost
    for law in laws:
        # 1 - stay - down * (what comes back from below), without the subtraction
        leave = law.up + law.won + law.lost + law.down * (won + lost)
        if leave > 0.0:
            won, lost = (law.won + law.down * won) / leave, (law.lost + law.down * lost) / leave
            length = (1.0 + (law.down * length if law.down > 0.0 else 0.0)) / leave
            yield law.up / leave, won, length
        else:  # stays for ever, which never reaches the goal
            won, lost, length = 0.0, 1.0, math.inf
            yield 0.0, won, length


def _policy_law(chain: Chain, action: ArrayLike, which: ArrayLike) -> list[StateLaw]:
    """Return the law of the policy's action in every state, or refuse the policy."""
    count = chain.goal - 1
    chosen, actions = np.asarray(which, dtype=np.int64), np.asarray(action)
    if chosen.shape not in ((), (count,)):
        raise InvalidInput(f"which has shape {chosen.shape}; it must be one number, or {count}")
    if actions.shape != (count,) or not np.isin(actions, tuple(Action)).all():
        raise InvalidInput(
            f"a policy of shape {actions.shape} was given; a goal of {chain.goal} needs"
            f" {count} actions, each 0 (continue) or 1 (finish)"
        )
    ends, states = actions == Action.FINISH, np.arange(count)
    available = np.where(ends, len(chain._finishes), chain._laws.shape[1])
    if ((chosen < 0) | (chosen >= available)).any():
        raise InvalidInput("a policy uses an action that the chain does not have")
    p_f = chain._finishes[np.where(ends, chosen, 0), states]
    finishing = np.array([np.zeros(count), np.zeros(count), p_f, 1.0 - p_f])
    moving = chain._laws[:4, np.where(ends, 0, chosen), states]
    return list(map(StateLaw, *np.where(ends, finishing, moving).tolist()))
