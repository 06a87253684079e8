"""Whole rounds, drawn at once instead of walked.

Within a round the policy is fixed, so a round is where it starts, where it ends and how many
steps lie between; the moves up follow. Its law is drawn exactly, in one of two ways.

For a goal of up to `TABLE_GOAL`: one table (Walker 1977) a threshold, whose cells are all rounds
of up to a number of steps, and the rounds that are not over by then, by where they stand; such
a one walks on. Nothing is cut off.

For a larger goal: hops. A walk is at least d = min(distances) away from both ends of its
interval. When it first is d away from where it was, it is at one of the ends or again inside;
the side and the time are independent, and `exits` draws the time. About two hops end a round,
whatever the goal.
"""

from typing import Final, NamedTuple

import numpy as np

from grbp._numba.jit import i64, inlined, kernel, u64
from grbp.engine.leap.alias import alias_table, bits_for
from grbp.learners.counters import Round, Totals
from grbp.model.problem import Problem
from grbp.model.transition import Action, next_state
from grbp.numerics.arrays import Words
from grbp.numerics.rng import fold_in, uniform

TABLE_GOAL: Final = 16
"""The largest goal whose rounds are drawn from tables."""

PACKED: Final = 256
"""Rounds whose words can be added up without one field running into the next."""

_UNFINISHED: Final = 1e-3
"""The share of rounds that may outlast a table and are walked to their end."""

_LONGEST: Final = 511
"""Steps that a cell can hold: PACKED of them fill a field of 17 bits."""

_OPEN: Final = 63
"""The bit of a word that marks a round that is not over."""


WORD_MASK: Final = 0xFFFFFFFFFFFFFFFF

LAST_DRAW: Final = 1 << 32
"""The draw of a key that decides a hop's side, or how FINISH ends: after all the others."""


class Walk(NamedTuple):
    """What a single step needs to know."""

    goal: int
    p_c: float
    p_f: float


class Table(NamedTuple):
    """The law of a round under each of some thresholds, as one table.

    cells   [arm, cell, what]: the share of the cell that is the first of two rounds'; the two
            rounds (`pack`); and 16 bits of each, where it started and, 8 bits up, stands
    shift   64 less the bits that choose a cell; 0 where there is no table
    """

    cells: Words
    shift: int


CUT: Final = 0
FIRST: Final = 1
SECOND: Final = 2
PLACES: Final = 3
"""The columns of a table of rounds."""


def table_of(problem: Problem, thresholds: tuple[int, ...]) -> Table:
    """The law of a problem's rounds under each of some thresholds; empty for a large goal.

    Memory: below 300 kB a threshold.
    """
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
    """A round in one number, such that numbers add up as rounds do, PACKED of them at most."""
    return c | c_up << 17 | f << 34 | f_goal << 43 | won << 52


def _law(problem: Problem, threshold: int) -> list[tuple[float, int, int, int]]:
    """The law of a round: (probability, word, first state, where it stands if not over)."""
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

    # [first state, state]: where the rounds are that are not over after n steps.
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
    """A round that a number of 64 bits draws, packed, and its places.

    All that may be needed is read at once, and no branch has to be guessed.
    """
    shift = u64(table.shift)
    cell = draw >> shift
    cut, places = table.cells[column, cell, CUT], table.cells[column, cell, PLACES]
    first, second = table.cells[column, cell, FIRST], table.cells[column, cell, SECOND]
    is_first = ((draw << (u64(64) - shift)) & WORD_MASK) < cut
    return u64(first if is_first else second), u64(places if is_first else places >> u64(16))


@inlined
def table_round(table: Table, walk: Walk, column: int, threshold: int, key: int) -> Round:
    """A round from a table, with the draws of a key, of which the key itself is the first."""
    word, places = word_of(table, column, u64(key))
    first = i64(places & u64(0xFF))
    c, c_up = i64(word & u64(0x1FFFF)), i64((word >> u64(17)) & u64(0x1FFFF))
    if word >> u64(_OPEN):
        stands = i64((places >> u64(8)) & u64(0xFF))
        return walk_on(walk, threshold, key, stands, Round(first, 0, 0, c, c_up))
    won, f = i64((word >> u64(52)) & u64(0x1FF)), i64((word >> u64(34)) & u64(0x1FF))
    return Round(first, won, f, c, c_up)


@inlined
def table_rounds(table: Table, column: int, world_key: int, rho: int, count: int) -> Totals:
    """The totals of some rounds, from rho on, up to the first that its table leaves unfinished.

    The key of a round is that part of `cases`. At most PACKED of them.
    """
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
def walk_on(walk: Walk, threshold: int, key: int, state: int, begun: Round) -> Round:
    """The rest of a round that is not over and stands in a state, step by step."""
    c, c_up, slot = begun.c, begun.c_up, 0
    while threshold < state < walk.goal:
        before = state
        draw = uniform(key, slot)
        state = next_state(state, Action.CONTINUE, walk.goal, walk.p_c, walk.p_f, draw)
        c_up += (state - before + 1) // 2
        c, slot = c + 1, slot + 1
    return ended(walk, begun.first, state, c, c_up, uniform(key, slot))


@kernel
def ended(walk: Walk, first: int, state: int, c: int, c_up: int, draw: float) -> Round:
    """The round that has come to an end of its interval; at the threshold, FINISH is next."""
    if state == walk.goal:
        return Round(first, 1, 0, c, c_up)
    if state == 0:
        return Round(first, 0, 0, c, c_up)
    after = next_state(state, Action.FINISH, walk.goal, walk.p_c, walk.p_f, draw)
    return Round(first, 1 if after == walk.goal else 0, 1, c, c_up)
