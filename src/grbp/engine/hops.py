"""Draw a round in a few hops, for goals too large for a table of rounds.

A walk is at least d = min(distances) away from both ends of its interval. When it first is d away
from where it was, it is at one of the ends or again inside; the side and the time are
independent, and `exit_time` draws the time. Two or three hops end a round on average over uniform
starts, whatever the goal, and more where a walk starts next to one end and hurries to the other.
"""

from typing import NamedTuple

import numpy as np

from grbp.engine.alias import alias_table, bits_for
from grbp.engine.exit_time import UP, Exits, exit_steps, exit_tables, hop_length, hop_row
from grbp.engine.recorder import StepLaw
from grbp.engine.round_table import CUT, LAST_DRAW, TABLE_GOAL, WORD_MASK, end_round
from grbp.learners.counters import Round
from grbp.numerics.arrays import Words
from grbp.numerics.jit import i64, inlined, kernel, u64
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.problem import Problem


class Hops(NamedTuple):
    """The tables from which rounds are drawn in hops.

    Attributes
    ----------
    starts : ndarray, shape (cells, 3)
        An alias table of first states. For each cell: CUT, its own share of it; OTHER, the cell
        that has the rest; STATE, the state.
    exits : Exits
        How long hops take, and how likely they go up.
    """

    starts: Words
    exits: Exits


OTHER, STATE = 1, 2
"""The columns of `Hops.starts` that follow CUT."""


def make_hops(problem: Problem, always: bool = False) -> Hops:
    """Make the tables for a problem's rounds; where `round_table` has one, only if always.

    `exit_time` says how large they are.
    """
    states = problem.start_table[0]
    bits = bits_for(len(states))
    starts = np.zeros((1 << bits, 3), dtype=np.uint64)
    starts[:, CUT], starts[:, OTHER] = alias_table(problem.start_probabilities[states - 1], bits)
    starts[: len(states), STATE] = states.astype(np.uint64)
    farthest = problem.goal // 2 if always or problem.goal > TABLE_GOAL else 0
    return Hops(starts, exit_tables(problem.p_c, farthest))


@inlined
def draw_first_state(starts: Words, draw: int) -> int:
    """Draw the state in which a round starts with a 64-bit word."""
    bits = 0
    while 1 << bits < len(starts):
        bits += 1
    cell = i64(draw >> u64(64 - bits))
    if ((draw << u64(bits)) & WORD_MASK) >= starts[cell, CUT]:
        cell = i64(starts[cell, OTHER])
    return i64(starts[cell, STATE])


@kernel
def hop_round(hops: Hops, world: StepLaw, _column: int, threshold: int, key: int) -> Round:
    """Draw a round by hops to the nearer end of its interval; called like `table_round`."""
    first = draw_first_state(hops.starts, fold_in(key, 1))
    state, steps, hop = first, 0, 1
    while threshold < state < world.goal:
        d = hop_length(min(state - threshold, world.goal - state))
        own = fold_in(key, hop + 1)
        steps += exit_steps(hops.exits, d, own)
        state += d if uniform(own, LAST_DRAW) < hops.exits.bins[hop_row(d), UP] else -d
        hop += 1
    c_up = (steps + state - first) // 2
    return end_round(world, first, state, steps, c_up, uniform(key, LAST_DRAW))
