"""What a learner remembers: the counters of Algorithm 1, kept the same way for everyone.

A round is opened with the counters as they are, played with the threshold that the learner
chose from them, and settled into the counters afterwards.
"""

from typing import NamedTuple

from grbp._numba.jit import inlined, kernel
from grbp.model.transition import Action, next_state
from grbp.numerics.rng import uniform


class Counters(NamedTuple):
    """What happened before round rho.

    f, f_goal         FINISH taken; and the goal reached by it (N_F, N_F^G)
    c, c_up           CONTINUE taken; and moved up (N_C, N_C^u)
    plays_0, wins_0   rounds played with threshold 0; and won
    plays_1, wins_1   rounds played with threshold 1; and won
    They are floats because initial estimates are fractions.

    Paper: alg:GRBP
    """

    rho: int
    f: float
    f_goal: float
    c: float
    c_up: float
    plays_0: float
    wins_0: float
    plays_1: float
    wins_1: float


class Round(NamedTuple):
    """One round: its first state, won (1 or 0), FINISH taken (1 or 0), CONTINUE taken, moved up."""

    first: int
    won: int
    f: int
    c: int
    c_up: int


class Totals(NamedTuple):
    """What some rounds add up to: won, FINISH taken, won by it, CONTINUE taken, moved up."""

    rounds: int
    won: int
    f: int
    f_goal: int
    c: int
    c_up: int


class Corner(NamedTuple):
    """A corner of a box of counters, as wins and losses of every kind.

    FINISH that reached the goal and that did not, moves up and down, rounds won and lost with
    threshold 0 and with threshold 1.
    """

    f_goal: float
    f_lost: float
    up: float
    down: float
    won_0: float
    lost_0: float
    won_1: float
    lost_1: float


@inlined
def corners(low: Counters, high: Counters) -> tuple[Corner, Corner]:
    """Find the two corners of a box of counters between which every estimate lies.

    In the first, FINISH and threshold 1 have done worst (fewest wins, most losses) and CONTINUE
    and threshold 0 best; in the second it is the other way round. Counters in between have their
    wins and losses in between, and estimates are monotone in each.
    """
    lost, most_lost = low.f - low.f_goal, high.f - high.f_goal
    down, most_down = low.c - low.c_up, high.c - high.c_up
    lost_0, most_lost_0 = low.plays_0 - low.wins_0, high.plays_0 - high.wins_0
    lost_1, most_lost_1 = low.plays_1 - low.wins_1, high.plays_1 - high.wins_1
    return (
        Corner(
            low.f_goal, most_lost, high.c_up, down, high.wins_0, lost_0, low.wins_1, most_lost_1
        ),
        Corner(
            high.f_goal, lost, low.c_up, most_down, low.wins_0, most_lost_0, high.wins_1, lost_1
        ),
    )


@kernel
def opening(f_goal: float, c_up: float) -> Counters:
    """The counters before round 1, as if each action had been taken once.

    Paper: alg:GRBP
    """
    return Counters(1, 1.0, f_goal, 1.0, c_up, 0.0, 0.0, 0.0, 0.0)


@kernel
def play(goal: int, p_c: float, p_f: float, threshold: int, state: int, key: int) -> Round:
    """A round from a state under a threshold, walked step by step with the draws of a key.

    Draw 0 of the key chose the state; each slot takes the next one.

    Paper: alg:GRBP
    """
    first, slot, f, c_up = state, 0, 0, 0
    while 0 < state < goal:
        slot += 1
        before = state
        if state <= threshold:
            f = 1
            state = next_state(state, Action.FINISH, goal, p_c, p_f, uniform(key, slot))
        else:
            state = next_state(state, Action.CONTINUE, goal, p_c, p_f, uniform(key, slot))
            c_up += state - before + 1
    won = 1 if state == goal else 0
    return Round(first, won, f, slot - f, c_up // 2)


@inlined
def add_to(n: Counters, threshold: int, t: Totals) -> Counters:
    """The counters after rounds that were played with one threshold.

    Paper: eqn:updcounts
    """
    in_0 = 1.0 if threshold == 0 else 0.0
    in_1 = 1.0 if threshold == 1 else 0.0
    return Counters(
        n.rho + t.rounds,
        n.f + t.f,
        n.f_goal + t.f_goal,
        n.c + t.c,
        n.c_up + t.c_up,
        n.plays_0 + in_0 * t.rounds,
        n.wins_0 + in_0 * t.won,
        n.plays_1 + in_1 * t.rounds,
        n.wins_1 + in_1 * t.won,
    )


@inlined
def as_totals(one: Round) -> Totals:
    """The totals of one round."""
    return Totals(1, one.won, one.f, one.won * one.f, one.c, one.c_up)


@kernel
def settle(n: Counters, threshold: int, one: Round) -> Counters:
    """The counters after a round that was played with a threshold.

    Paper: eqn:updcounts
    """
    return add_to(n, threshold, as_totals(one))
