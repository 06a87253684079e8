"""Draw a whole round with one word from a table, for goals up to `TABLE_GOAL`.

Within a round the policy is fixed, so a round is where it starts, where it ends and how many
steps lie between; the moves up follow. There is one alias table (Walker 1977) a threshold. Its
cells are all rounds of up to a number of steps, and the rounds that are not over by then, by the
state in which they stand; these are walked to their end, so that nothing is cut off.

Rounds of a larger goal are drawn in hops; see `hops.py`.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import numpy as np

from grbp.engine.alias import fill_alias
from grbp.engine.recorder import StepLaw
from grbp.learners.counters import Round, Totals
from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.jit import compile_if_long, i64, inlined, kernel, u64
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.problem import Problem
from grbp.worlds.transition import Action, next_state

TABLE_GOAL: Final = 16
"""The largest goal whose rounds are drawn from tables."""

PACKED: Final = 256
"""The most rounds whose words can be added up without one field running into the next."""

_UNFINISHED: Final = 1e-3
"""The share of rounds that may outlast a table and are walked to their end."""

_LONGEST: Final = 511
"""The most steps that a cell can hold: PACKED such rounds fill a field of 17 bits."""

_OPEN: Final = 63
"""The bit of a word that marks a round that is not over."""

_SECONDS: Final = 4e-5
"""What the interpreter takes for a problem's table, by the goal's cube, about."""

_PART: Final = 64
"""Problems whose tables a thread makes at once."""

WORD_MASK: Final = 0xFFFFFFFFFFFFFFFF

LAST_DRAW: Final = 1 << 32
"""The draw of a key that decides a hop's side, or how FINISH ends: after all the others."""


class RoundTable(NamedTuple):
    """The law of a round under each of some thresholds.

    Attributes
    ----------
    cells : ndarray, shape (thresholds, cells, 4)
        For each cell: CUT, the share of it that the first of two rounds has; FIRST and SECOND,
        the two rounds (see `pack`); PLACES, 16 bits of each: its first state and, 8 bits
        higher, the state in which it stands if it is not over.
    shift : int
        64 less the number of bits that choose a cell; 0 where there is no table.
    """

    cells: Words
    shift: int


CUT, FIRST, SECOND, PLACES = 0, 1, 2, 3
"""The columns of `RoundTable.cells`."""


class RoundTables(NamedTuple):
    """The tables of many problems of one goal, in one piece.

    The table of problem i is ``RoundTable(cells[i], shifts[i])``: it has the first cells, as many
    as it would have alone, and is followed by zeros that are never read.

    Attributes
    ----------
    cells : ndarray, shape (problems, thresholds, cells, 4)
        As for `RoundTable`, with the cells of the largest table.
    shifts : ndarray, shape (problems,)
    """

    cells: Words
    shifts: Ints


class RoundList(NamedTuple):
    """The rounds under one threshold: a list of them, which begins these arrays.

    Attributes
    ----------
    weights : ndarray
        Their probabilities.
    words, places : ndarray
        The rounds, as in `RoundTable`.
    """

    weights: Floats
    words: Words
    places: Words


def make_table(problem: Problem, thresholds: tuple[int, ...]) -> RoundTable:
    """Make the table of a problem's rounds, below 300 kB a threshold; empty for a large goal."""
    cells, shifts = make_tables([problem], thresholds)
    return RoundTable(cells[0], int(shifts[0]))


def make_tables(
    problems: Sequence[Problem], thresholds: tuple[int, ...], threads: int | None = None
) -> RoundTables:
    """Make the tables of the rounds of problems that have one goal; empty for a large one."""
    goal, count = problems[0].goal, len(problems)
    if goal > TABLE_GOAL:
        return RoundTables(
            np.zeros((count, 1, 1, 4), dtype=np.uint64), np.zeros(count, dtype=np.int64)
        )
    chances = np.array([(problem.p_c, problem.p_f) for problem in problems])
    starts = np.array([problem.start_probabilities for problem in problems])
    columns, bits = np.array(thresholds), np.ones(count, dtype=np.int64)
    fill = compile_if_long(_fill_round_tables, _SECONDS * count * goal**3, "tables of rounds")
    parts = [slice(k, k + _PART) for k in range(0, count, _PART)]

    def cells_for(size: int) -> Words:
        cells = np.zeros((count, len(columns), size, 4), dtype=np.uint64)
        with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
            run = map if fill is _fill_round_tables or len(parts) == 1 else pool.map
            tuple(
                run(lambda k: fill(goal, chances[k], starts[k], columns, bits[k], cells[k]), parts)
            )
        return cells

    cells_for(0)  # It finds how many bits are needed.
    cells = cells_for(1 << int(bits.max()))
    return RoundTables(cells, 64 - bits)


def _fill_round_tables(
    goal: int, chances: Floats, starts: Floats, thresholds: Ints, bits: Ints, tables: Words
) -> None:
    """Write the cells of each problem's table or, without room for any, how many bits they need."""
    law, room = _empty_list(goal), tables.shape[2]
    cut, other = np.empty(room, dtype=np.uint64), np.empty(room, dtype=np.int64)
    waiting = np.empty(room, dtype=np.int64)
    for i in range(len(bits)):
        for column in range(len(thresholds)):
            count = _list_rounds(goal, chances[i], starts[i], thresholds[column], law)
            if room == 0:
                while 1 << bits[i] < count:
                    bits[i] += 1
                continue
            size = 1 << bits[i]
            fill_alias(law.weights[:count], bits[i], cut[:size], other[:size], waiting[:size])
            _fill_cells(law, count, cut, other, tables[i, column, :size])


@kernel
def _fill_cells(law: RoundList, count: int, cut: Words, other: Ints, cells: Words) -> None:
    """Write the cells of a table."""
    for k in range(count, len(cells)):
        law.words[k], law.places[k] = 0, 0
    for k in range(len(cells)):
        cells[k, CUT], cells[k, FIRST] = cut[k], law.words[k]
        cells[k, SECOND] = law.words[other[k]]
        cells[k, PLACES] = law.places[k] | law.places[other[k]] << u64(16)


@kernel
def pack(won: int, f: int, f_goal: int, c: int, c_up: int) -> int:
    """Pack a round into one number, such that up to PACKED numbers add up as the rounds do."""
    return c | c_up << 17 | f << 34 | f_goal << 43 | won << 52


@kernel
def _empty_list(goal: int) -> RoundList:
    """Return room for the rounds under any threshold."""
    # A walk can be at either end every other step, which is the end of one round at the goal and of
    # two at the threshold; some finish at once, some are not over. A table has up to twice as many.
    most = 2 * (3 * goal * _LONGEST // 2 + 2 * goal + goal * goal)
    return RoundList(
        np.empty(most), np.empty(most, dtype=np.uint64), np.empty(most, dtype=np.uint64)
    )


@kernel
def _list_rounds(goal: int, chances: Floats, starts: Floats, threshold: int, law: RoundList) -> int:
    """List the rounds under a threshold, and return how many there are.

    `chances` holds p_c and p_f.
    """
    p_c, p_f, count, left = float(chances[0]), float(chances[1]), 0, 0.0
    # [first state, state]: the rounds that are not over after n steps, by where they stand.
    inside = np.zeros((goal, goal + 1))
    for first in range(1, goal):
        if first > threshold:
            inside[first, first] = starts[first - 1]
            left += starts[first - 1]
        elif starts[first - 1] > 0.0:
            count = _add_end(law, count, starts[first - 1], p_f, goal, first, 0, first)
    n = 0
    while left > _UNFINISHED and n < _LONGEST:
        n, left = n + 1, 0.0
        for first in range(threshold + 1, goal):
            lost = inside[first, threshold + 1] * (1.0 - p_c)
            left += _step_once(inside[first], threshold, goal, p_c)
            count = _add_end(law, count, lost, p_f, goal, first, n, threshold)
        for first in range(threshold + 1, goal):
            count = _add_end(law, count, inside[first, goal], p_f, goal, first, n, goal)
            inside[first, goal] = 0.0
    for first in range(threshold + 1, goal):
        for state in range(threshold + 1, goal):
            if inside[first, state] > 0.0:
                word = u64(pack(0, 0, 0, n, (n + state - first) // 2)) | (u64(1) << u64(_OPEN))
                count = _add_round(law, count, inside[first, state], word, first | state << 8)
    return count


@kernel
def _step_once(inside: Floats, threshold: int, goal: int, p_c: float) -> float:
    """Move what is inside by one step, and return how much still is; some is at the goal then."""
    below, left = 0.0, 0.0
    for state in range(threshold + 1, goal):
        here = float(inside[state])
        inside[state] = below * p_c + inside[state + 1] * (1.0 - p_c)
        left += inside[state]
        below = here
    inside[goal] = below * p_c
    return left


@kernel
def _add_end(  # noqa: PLR0913, PLR0917
    law: RoundList, count: int, mass: float, p_f: float, goal: int, first: int, n: int, end: int
) -> int:
    """Add the rounds that are at an end of their interval after n steps, if there are any."""
    up = (n + end - first) // 2
    if mass == 0.0:
        return count
    if end in (0, goal):
        return _add_round(law, count, mass, u64(pack(end // goal, 0, 0, n, up)), first)
    count = _add_round(law, count, mass * p_f, u64(pack(1, 1, 1, n, up)), first)
    return _add_round(law, count, mass * (1.0 - p_f), u64(pack(0, 1, 0, n, up)), first)


@kernel
def _add_round(law: RoundList, count: int, weight: float, word: int, places: int) -> int:
    """Add a round to a list, and return how many it has."""
    law.weights[count], law.words[count], law.places[count] = weight, word, places
    return count + 1


@inlined
def look_up_round(table: RoundTable, column: int, draw: int) -> tuple[int, int]:
    """Look up the round that a 64-bit word draws, packed, and its places.

    Both rounds of the cell are read, so that the processor has no branch to guess.
    """
    shift = u64(table.shift)
    cell = draw >> shift
    cut, places = table.cells[column, cell, CUT], table.cells[column, cell, PLACES]
    first, second = table.cells[column, cell, FIRST], table.cells[column, cell, SECOND]
    is_first = ((draw << (u64(64) - shift)) & WORD_MASK) < cut
    return u64(first if is_first else second), u64(places if is_first else places >> u64(16))


@inlined
def table_round(table: RoundTable, world: StepLaw, column: int, threshold: int, key: int) -> Round:
    """Draw a round from a table; the key itself is its first draw."""
    word, places = look_up_round(table, column, u64(key))
    first = i64(places & u64(0xFF))
    c, c_up = i64(word & u64(0x1FFFF)), i64((word >> u64(17)) & u64(0x1FFFF))
    if word >> u64(_OPEN):
        stands = i64((places >> u64(8)) & u64(0xFF))
        return walk_on(world, threshold, key, stands, Round(first, 0, 0, c, c_up))
    won, f = i64((word >> u64(52)) & u64(0x1FF)), i64((word >> u64(34)) & u64(0x1FF))
    return Round(first, won, f, c, c_up)


@inlined
def table_rounds(table: RoundTable, column: int, world_key: int, rho: int, count: int) -> Totals:
    """Add up to PACKED rounds, from rho on, up to the first that the table leaves unfinished."""
    total, done = u64(0), 0
    while done < count:
        word, _ = look_up_round(table, column, fold_in(world_key, rho + done))
        if word >> u64(_OPEN):
            break
        total += word
        done += 1
    return Totals(
        done,
        i64((total >> u64(52)) & u64(0x1FF)),
        i64((total >> u64(34)) & u64(0x1FF)),
        i64((total >> u64(43)) & u64(0x1FF)),
        i64(total & u64(0x1FFFF)),
        i64((total >> u64(17)) & u64(0x1FFFF)),
    )


@kernel
def walk_on(world: StepLaw, threshold: int, key: int, state: int, begun: Round) -> Round:
    """Walk the rest of a round that is not over and stands in a state."""
    c, c_up, slot = begun.c, begun.c_up, 0
    while threshold < state < world.goal:
        before = state
        draw = uniform(key, slot)
        state = next_state(state, Action.CONTINUE, world.goal, world.p_c, world.p_f, draw)
        c_up += (state - before + 1) // 2
        c, slot = c + 1, slot + 1
    return end_round(world, begun.first, state, c, c_up, uniform(key, slot))


@kernel
def end_round(world: StepLaw, first: int, state: int, c: int, c_up: int, draw: float) -> Round:
    """Return the round that has come to an end of its interval; at the threshold it finishes."""
    if state == world.goal:
        return Round(first, 1, 0, c, c_up)
    if state == 0:
        return Round(first, 0, 0, c, c_up)
    after = next_state(state, Action.FINISH, world.goal, world.p_c, world.p_f, draw)
    return Round(first, 1 if after == world.goal else 0, 1, c, c_up)
