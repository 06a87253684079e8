"""Draw a whole round with one word from a table, for goals up to `TABLE_GOAL`.

Within a round the policy is fixed, so a round is where it starts, where it ends and how many
steps lie between; the moves up follow. There is one alias table (Walker 1977) a threshold. Its
cells are all rounds of up to a number of steps, and the rounds that are not over by then, by the
state in which they stand; these are walked to their end, so that nothing is cut off.

Rounds of a larger goal are drawn in hops; see `hops.py`.
"""

from typing import Final, NamedTuple

import numpy as np

from grbp._numba.jit import i64, inlined, kernel, u64
from grbp.engine.leap.alias import alias_table, bits_for
from grbp.engine.recorder import World
from grbp.learners.counters import Round, Totals
from grbp.model.problem import Problem
from grbp.model.transition import Action, next_state
from grbp.numerics.arrays import Words
from grbp.numerics.rng import fold_in, uniform

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

WORD_MASK: Final = 0xFFFFFFFFFFFFFFFF

LAST_DRAW: Final = 1 << 32
"""The draw of a key that decides a hop's side, or how FINISH ends: after all the others."""


class Table(NamedTuple):
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
"""The columns of `Table.cells`."""


def table_of(problem: Problem, thresholds: tuple[int, ...]) -> Table:
    """Make the table of a problem's rounds, below 300 kB a threshold; empty for a large goal."""
    if problem.goal > TABLE_GOAL:
        return Table(np.zeros((1, 1, 4), dtype=np.uint64), 0)
    laws = [_law(problem, threshold) for threshold in thresholds]
    bits = max(bits_for(len(law)) for law in laws)
    cells = np.zeros((len(laws), 1 << bits, 4), dtype=np.uint64)
    for column, law in enumerate(laws):
        weights, words, starts, where = zip(*law, strict=True)
        cells[column, :, CUT], other = alias_table(np.array(weights), bits)
        cells[column, : len(law), FIRST] = np.array(words, dtype=np.uint64)
        cells[column, :, SECOND] = cells[column, other, FIRST]
        places = [start | stands << 8 for start, stands in zip(starts, where, strict=True)]
        cells[column, : len(law), PLACES] = np.array(places, dtype=np.uint64)
        cells[column, :, PLACES] |= cells[column, other, PLACES] << np.uint64(16)
    return Table(cells, 64 - bits)


def pack(won: int, f: int, f_goal: int, c: int, c_up: int) -> int:
    """Pack a round into one number, such that up to PACKED numbers add up as the rounds do."""
    return c | c_up << 17 | f << 34 | f_goal << 43 | won << 52


def _law(problem: Problem, threshold: int) -> list[tuple[float, int, int, int]]:
    """List the rounds: (probability, word, first state, the state it stands in if not over)."""
    goal, p_c, p_f = problem.goal, problem.p_c, problem.p_f
    law = []

    def add(mass: float, start: int, n: int, end: int) -> None:
        if end == goal:
            law.append((mass, pack(1, 0, 0, n, (n + goal - start) // 2), start, 0))
        elif end == 0:
            law.append((mass, pack(0, 0, 0, n, (n - start) // 2), start, 0))
        else:
            up = (n + end - start) // 2 if n else 0
            law.append((mass * p_f, pack(1, 1, 1, n, up), start, 0))
            law.append((mass * (1.0 - p_f), pack(0, 1, 0, n, up), start, 0))

    # [first state, state]: the rounds that are not over after n steps, by where they stand.
    inside = np.zeros((goal + 1, goal + 1))
    for state, q in zip(problem.states.tolist(), problem.start_probabilities.tolist(), strict=True):
        if 0 < state <= threshold and q > 0.0:
            add(q, state, 0, state)
        else:
            inside[state, state] = q
    n = 0
    while inside.sum() > _UNFINISHED and n < _LONGEST:
        n += 1
        after = np.zeros_like(inside)
        after[:, 1:] += inside[:, :-1] * p_c
        after[:, :-1] += inside[:, 1:] * (1.0 - p_c)
        for end in (threshold, goal):
            for start in np.flatnonzero(after[:, end]).tolist():
                add(float(after[start, end]), start, n, end)
            after[:, end] = 0.0
        inside = after
    for start, stands in np.argwhere(inside > 0.0).tolist():
        left = pack(0, 0, 0, n, (n + stands - start) // 2) | 1 << _OPEN
        law.append((float(inside[start, stands]), left, start, stands))
    return law


@inlined
def word_of(table: Table, column: int, draw: int) -> tuple[int, int]:
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
def table_round(table: Table, world: World, column: int, threshold: int, key: int) -> Round:
    """Draw a round from a table; the key itself is its first draw."""
    word, places = word_of(table, column, u64(key))
    first = i64(places & u64(0xFF))
    c, c_up = i64(word & u64(0x1FFFF)), i64((word >> u64(17)) & u64(0x1FFFF))
    if word >> u64(_OPEN):
        stands = i64((places >> u64(8)) & u64(0xFF))
        return walk_on(world, threshold, key, stands, Round(first, 0, 0, c, c_up))
    won, f = i64((word >> u64(52)) & u64(0x1FF)), i64((word >> u64(34)) & u64(0x1FF))
    return Round(first, won, f, c, c_up)


@inlined
def table_rounds(table: Table, column: int, world_key: int, rho: int, count: int) -> Totals:
    """Add up to PACKED rounds, from rho on, up to the first that the table leaves unfinished."""
    total, done = u64(0), 0
    while done < count:
        word, _ = word_of(table, column, fold_in(world_key, rho + done))
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
def walk_on(world: World, threshold: int, key: int, state: int, begun: Round) -> Round:
    """Walk the rest of a round that is not over and stands in a state."""
    c, c_up, slot = begun.c, begun.c_up, 0
    while threshold < state < world.goal:
        before = state
        draw = uniform(key, slot)
        state = next_state(state, Action.CONTINUE, world.goal, world.p_c, world.p_f, draw)
        c_up += (state - before + 1) // 2
        c, slot = c + 1, slot + 1
    return ended(world, begun.first, state, c, c_up, uniform(key, slot))


@kernel
def ended(world: World, first: int, state: int, c: int, c_up: int, draw: float) -> Round:
    """Return the round that has come to an end of its interval; at the threshold it finishes."""
    if state == world.goal:
        return Round(first, 1, 0, c, c_up)
    if state == 0:
        return Round(first, 0, 0, c, c_up)
    after = next_state(state, Action.FINISH, world.goal, world.p_c, world.p_f, draw)
    return Round(first, 1 if after == world.goal else 0, 1, c, c_up)
