"""An independent answer by dynamic programming, for far more than the paper's problem.

A chain on 0 .. goal in which an action moves one state up or down, stays, jumps to an end or
ends the round on the spot. Every action may differ by state, and there may be several that
continue and several that finish. Nothing here knows the closed forms of `exact` or
`extensions`; the tests compare the two.

Evaluation eliminates the states one after another, as one solves a tridiagonal system, but in
the form that only adds, multiplies and divides positive numbers (Grassmann, Taksar and Heyman
1985), so that small probabilities keep their digits. It takes goal steps.

Optimisation is policy iteration. Which states finish is settled by a scan that starts from
FINISH everywhere and withdraws it where continuing to the next states that finish is better:
a withdrawal only ever makes others more attractive, so none is taken back and the scan takes
goal steps in all. Which of several continuing actions is used is then improved, state by
state, until nothing is better. What remains satisfies Bellman's equation, hence is optimal.
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
from grbp.numerics.arrays import Bools, Floats, Ints

_TIE = 8 * float(np.finfo(float).eps)
"""What counts as a tie: a gain that is no more than rounding error. Ties go to FINISH."""


@dataclass(frozen=True)
class Move:
    """An action that continues: where it leads from a state. They sum to one.

    Each is one number for all states, or one for every state from 1 to goal - 1.

    up, down      one state towards the goal, one towards the dead end
    stay          nowhere; the round goes on
    windfall      straight to the goal
    catastrophe   straight to the dead end
    absorb        the round ends where it stands, without the goal
    """

    up: ArrayLike
    down: ArrayLike
    stay: ArrayLike = 0.0
    windfall: ArrayLike = 0.0
    catastrophe: ArrayLike = 0.0
    absorb: ArrayLike = 0.0


class _Laws(NamedTuple):
    """Every move in every state: a row a move, a column a state."""

    up: Floats
    down: Floats
    goal: Floats
    dead: Floats
    stay: Floats


@dataclass(frozen=True, eq=False)
class Chain:
    """A goal, the actions that continue and the success probabilities of those that finish.

    moves      one `Move`, or a list of them
    finishes   the probability that finishing reaches the goal: one number, or one for every
               state; several finishing actions are a list of such inside a list
    """

    goal: int
    moves: Move | Sequence[Move]
    finishes: ArrayLike
    _laws: _Laws = field(init=False, repr=False, compare=False)
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
        object.__setattr__(self, "_laws", _Laws(*map(np.vstack, zip(*laws, strict=True))))
        checked = [self._over_states("the chance of finishing", row) for row in rows]
        object.__setattr__(self, "_finishes", np.vstack(checked))

    @classmethod
    def of(cls, problem: Problem) -> "Chain":
        """The chain of the paper's problem."""
        return cls(problem.goal, Move(problem.p_c, 1.0 - problem.p_c), problem.p_f)

    def _checked_move(self, move: Move) -> _Laws:
        law = {f.name: self._over_states(f.name, getattr(move, f.name)) for f in fields(move)}
        total = np.sum(list(law.values()), axis=0)
        off = np.abs(total - 1.0)
        if off.max() > SUM_TOLERANCE:
            worst = int(np.argmax(off))
            raise InvalidInput(
                f"the outcomes of a move in state {worst + 1} sum to {total[worst]:.12g};"
                " they must sum to 1"
            )
        law = {name: part / total for name, part in law.items()}
        dead = law["catastrophe"] + law["absorb"]
        return _Laws(law["up"], law["down"], law["windfall"], dead, law["stay"])

    def _over_states(self, name: str, given: ArrayLike) -> Floats:
        array = check_probabilities(name, given)
        if array.shape not in ((), (self.goal - 1,)):
            raise InvalidInput(
                f"{name} has shape {array.shape}; it must be one number, or one for every state"
                f" from 1 to {self.goal - 1}"
            )
        return np.broadcast_to(array, (self.goal - 1,))


class Evaluation(NamedTuple):
    """What a policy achieves from every state.

    value    the probability of reaching the goal
    steps    the expected number of actions until the round ends; inf if it may never end
    """

    value: Floats
    steps: Floats


class Solution(NamedTuple):
    """The best that can be done, and how, for every state.

    value       V*(s), the largest probability of reaching the goal
    action      CONTINUE or FINISH
    which       which of the chain's moves, or of its finishes, that is
    threshold   where FINISH is right exactly in the lowest states, the last of them (0: never);
                None where the optimum is not a threshold policy
    """

    value: Floats
    action: Ints
    which: Ints
    threshold: int | None


def evaluate(chain: Chain, action: ArrayLike, which: ArrayLike = 0) -> Evaluation:
    """The value and length of a round under any deterministic policy, in goal steps.

    Paper: eqn:bellval
    """
    value, steps = [0.0] * (chain.goal - 1), [0.0] * (chain.goal - 1)
    climbs = list(_climbs(chain, action, which))
    above_value, above_steps = 1.0, 0.0
    for k in range(chain.goal - 2, -1, -1):
        up, won, length = climbs[k]
        value[k] = above_value = won + up * above_value
        steps[k] = above_steps = length + (up * above_steps if up > 0.0 else 0.0)
    return Evaluation(np.array(value), np.array(steps))


def solve(chain: Chain) -> Solution:
    """The optimal value of every state and which action attains it; ties go to FINISH.

    Paper: eqn:bellval
    Differs: actions may differ by state, so the optimum need not be a threshold policy.
    """
    best_finish = chain._finishes.max(axis=0)
    states = np.arange(chain.goal - 1)
    # What goes up the most for each time it goes down is a good first guess.
    law = chain._laws
    move = np.argmax((law.up + law.goal) / (law.down + law.dead + 1e-300), axis=0)
    finish = np.argmax(chain._finishes, axis=0)
    while True:
        laws = _Laws(*(law[move, states] for law in chain._laws))
        action = np.where(_stops(laws, best_finish.tolist()), Action.FINISH, Action.CONTINUE)
        which = np.where(action == Action.FINISH, finish, move)
        value = evaluate(chain, action, which).value
        around = np.concatenate(([0.0], value, [1.0]))
        q = law.up * around[2:] + law.down * around[:-2] + law.goal + law.stay * value
        better = q.max(axis=0) > value * (1.0 + _TIE)
        if len(q) == 1 or not better.any():
            return Solution(value, action, which, _threshold(action))
        improved = np.where(better, np.argmax(q, axis=0), move)
        if (improved == move).all():
            return Solution(value, action, which, _threshold(action))
        move = improved


def _climbs(
    chain: Chain, action: ArrayLike, which: ArrayLike
) -> Iterator[tuple[float, float, float]]:
    """For every state s, from 1 on: how the round first gets above s, if it does.

    The probability that it does, that it is won before, and the expected number of actions
    until either, or the round is lost. All visits to lower states are summed up in these.
    """
    won, lost, length = 0.0, 1.0, 0.0  # below state 1 the round is lost
    for up, down, goal, dead in zip(*_policy_law(chain, action, which), strict=True):
        # 1 - stay - down * (what comes back from below), without the subtraction
        leave = up + goal + dead + down * (won + lost)
        if leave > 0.0:
            won, lost = (goal + down * won) / leave, (dead + down * lost) / leave
            length = (1.0 + (down * length if down > 0.0 else 0.0)) / leave
            yield up / leave, won, length
        else:  # stays for ever, which never reaches the goal
            won, lost, length = 0.0, 1.0, math.inf
            yield 0.0, won, length


def _policy_law(chain: Chain, action: ArrayLike, which: ArrayLike) -> list[list[float]]:
    """The chances of going up, down, to the goal and to an end, in every state."""
    count = chain.goal - 1
    chosen, actions = np.asarray(which, dtype=np.int64), np.asarray(action)
    if chosen.shape not in ((), (count,)):
        raise InvalidInput(f"which has shape {chosen.shape}; it must be one number, or {count}")
    chosen = np.broadcast_to(chosen, (count,))
    if actions.shape != (count,) or not np.isin(actions, tuple(Action)).all():
        raise InvalidInput(
            f"a policy of shape {actions.shape} was given; a goal of {chain.goal} needs"
            f" {count} actions, each 0 (continue) or 1 (finish)"
        )
    ends, states = actions == Action.FINISH, np.arange(count)
    available = np.where(ends, len(chain._finishes), len(chain._laws.up))
    if ((chosen < 0) | (chosen >= available)).any():
        raise InvalidInput("a policy uses an action that the chain does not have")
    move, finish = np.where(ends, 0, chosen), np.where(ends, chosen, 0)
    p_f = chain._finishes[finish, states]
    law = _Laws(*(rows[move, states] for rows in chain._laws))
    return [
        np.where(ends, 0.0, law.up).tolist(),
        np.where(ends, 0.0, law.down).tolist(),
        np.where(ends, p_f, law.goal).tolist(),
        np.where(ends, 1.0 - p_f, law.dead).tolist(),
    ]


class _Crossing(NamedTuple):
    """What happens between two states that finish, entered from either of them.

    over     log probability of coming out on the other side (a log: it can underflow)
    won, lost   probabilities that the round ends in between
    The rest comes back to where it entered.
    """

    over: float
    won: float
    lost: float


_STEP = _Crossing(0.0, 0.0, 0.0)
"""The crossing between neighbours: nothing in between."""


class _Stop(NamedTuple):
    """A state that finishes, its reward, and the crossings to the one below and back."""

    state: int
    reward: float
    rising: _Crossing
    falling: _Crossing


def _stops(law: _Laws, reward: list[float]) -> Bools:
    """Where an optimal policy finishes, when only one action continues."""
    moves = list(zip(*(row.tolist() for row in law[:4]), strict=True))
    kept = [_Stop(0, 0.0, _STEP, _STEP)]
    for state, r in enumerate([*reward, 1.0], start=1):
        kept.append(_Stop(state, r, _STEP, _STEP))
        while len(kept) > 2:
            merged = _withdrawn(kept[-3], kept[-2], kept[-1], moves[kept[-2].state - 1])
            if merged is None:
                break
            kept[-2:] = [merged]
    stops = np.zeros(len(reward), dtype=bool)
    stops[[stop.state - 1 for stop in kept[1:-1]]] = True
    return stops


def _withdrawn(
    below: _Stop, here: _Stop, above: _Stop, move: tuple[float, float, float, float]
) -> _Stop | None:
    """The stop above, now next to the one below, if continuing here is better; else None."""
    up, down, goal, dead = move
    log_up, log_down = _log(up) + above.rising.over, _log(down) + here.falling.over
    won = goal + up * above.rising.won + down * here.falling.won
    lost = dead + up * above.rising.lost + down * here.falling.lost
    ways = [
        (log_up, above.reward - here.reward),
        (log_down, below.reward - here.reward),
        (_log(won), 1.0 - here.reward),
        (_log(lost), -here.reward),
    ]
    largest = max((weight for weight, gain in ways if gain != 0.0), default=-math.inf)
    if largest == -math.inf:
        return None  # nothing to gain or lose, or it never ends: a tie
    gains = [math.exp(weight - largest) * gain for weight, gain in ways if gain != 0.0]
    if math.fsum(gains) <= _TIE * math.fsum(map(abs, gains)):
        return None
    leave = math.exp(log_up) + math.exp(log_down) + won + lost
    log_leave = _log(leave)
    rise, fall = math.exp(here.rising.over), math.exp(above.falling.over)
    rising = _Crossing(
        here.rising.over + log_up - log_leave,
        here.rising.won + rise * won / leave,
        here.rising.lost + rise * lost / leave,
    )
    falling = _Crossing(
        above.falling.over + log_down - log_leave,
        above.falling.won + fall * won / leave,
        above.falling.lost + fall * lost / leave,
    )
    return _Stop(above.state, above.reward, rising, falling)


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -math.inf


def _threshold(action: Ints) -> int | None:
    finishing = int(np.count_nonzero(action == Action.FINISH))
    return finishing if (action[:finishing] == Action.FINISH).all() else None
