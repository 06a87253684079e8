"""Rounds by hops: for goals too large for a table of rounds."""

from typing import Final, NamedTuple

import numpy as np

from grbp._numba.jit import i64, inlined, kernel, u64
from grbp.engine.leap.alias import alias_table, bits_for
from grbp.engine.leap.exit_time import UP, Exits, exit_steps, exit_tables, hop_index, hop_length
from grbp.engine.leap.round_table import CUT, LAST_DRAW, TABLE_GOAL, WORD_MASK, Walk, ended
from grbp.learners.counters import Round
from grbp.model.problem import Problem
from grbp.numerics.arrays import Words
from grbp.numerics.rng import fold_in, uniform


class Hops(NamedTuple):
    """What rounds are hopped with.

    starts       [cell, what]: a table of first states: its own share, the cell of the rest,
                 the state
    exits        how long hops take, and how likely they go up
    """

    starts: Words
    exits: Exits


OTHER: Final = 1

STATE: Final = 2
"""The columns of a table of first states that follow CUT."""


def hops_of(problem: Problem, always: bool = False) -> Hops:
    """What a problem's rounds are hopped with; where there is a table, only if always.

    Memory: see `exits`.
    """
    states = problem.start_table[0]
    bits = bits_for(len(states))
    starts = np.zeros((1 << bits, 3), dtype=np.uint64)
    starts[:, CUT], starts[:, OTHER] = alias_table(problem.start_probabilities[states - 1], bits)
    starts[: len(states), STATE] = states.astype(np.uint64)
    farthest = problem.goal // 2 if always or problem.goal > TABLE_GOAL else 0
    return Hops(starts, exit_tables(problem.p_c, farthest))


@inlined
def first_of(starts: Words, draw: int) -> int:
    """The state in which a round starts, from a number of 64 bits."""
    bits = 0
    while 1 << bits < len(starts):
        bits += 1
    cell = i64(draw >> u64(64 - bits))
    if ((draw << u64(bits)) & WORD_MASK) >= starts[cell, CUT]:
        cell = i64(starts[cell, OTHER])
    return i64(starts[cell, STATE])


@kernel
def hop_round(hops: Hops, walk: Walk, threshold: int, key: int) -> Round:
    """A round by hops to the nearer end of the interval between the threshold and the goal."""
    first = first_of(hops.starts, fold_in(key, 1))
    state, steps, hop = first, 0, 1
    while threshold < state < walk.goal:
        d = hop_length(min(state - threshold, walk.goal - state))
        own = fold_in(key, hop + 1)
        steps += exit_steps(hops.exits, d, own)
        state += d if uniform(own, LAST_DRAW) < hops.exits.bins[hop_index(d), UP] else -d
        hop += 1
    c_up = (steps + state - first) // 2
    return ended(walk, first, state, steps, c_up, uniform(key, LAST_DRAW))
