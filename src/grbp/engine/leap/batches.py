"""Stretches of rounds under one threshold, each up to the first round that leaves a box.

A short stretch is drawn round by round, a long one as a block. Counters never decrease, so
totals inside the box were never outside. Where those of a block are not, the block is taken apart
until the round is found that left the box; what would have come after it never happens.
"""

from typing import Final

from grbp._numba.jit import inlined, kernel
from grbp.engine.leap.batch_totals import Blocks, Part, Room, block, part_rounds
from grbp.engine.leap.counter_box import Box, inside
from grbp.engine.leap.round_table import PACKED, Table, Walk, table_round, table_rounds
from grbp.learners.counters import Totals, as_totals
from grbp.numerics.arrays import Ints
from grbp.numerics.rng import fold_in

NOTHING: Final = Totals(0, 0, 0, 0, 0, 0)
"""The totals of no rounds."""


@inlined
def plus(t: Totals, other: Totals) -> Totals:
    """The totals of both."""
    return Totals(
        t.rounds + other.rounds,
        t.won + other.won,
        t.f + other.f,
        t.f_goal + other.f_goal,
        t.c + other.c,
        t.c_up + other.c_up,
    )


@inlined
def from_table(  # noqa: PLR0913, PLR0917 (arrays by themselves: many are slow to pass)
    table: Table,
    walk: Walk,
    column: int,
    threshold: int,
    world_key: int,
    rho: int,
    count: int,
    box: Box,
) -> Totals:
    """The totals of rounds from rho on, up to one that leaves the box or some before it.

    Hundreds are added up before the box is looked at; where they are too many, none is.
    """
    t = NOTHING
    while t.rounds < count:
        more = table_rounds(table, column, world_key, rho + t.rounds, min(PACKED, count - t.rounds))
        both = plus(t, more)
        if not inside(both, box):
            break
        t = both
        if t.rounds < count and more.rounds < PACKED:
            # The next one is not in the table.
            key = fold_in(world_key, rho + t.rounds)
            t = plus(t, as_totals(table_round(table, walk, column, threshold, key)))
            if not inside(t, box):
                break
    return t


@kernel
def add_up(sums: Ints, numbers: Ints) -> None:
    """Nothing; each sum has grown by its number."""
    for k in range(len(sums)):
        sums[k] += numbers[k]


@kernel
def as_block(law: Blocks, threshold: int, key: int, count: int, box: Box, room: Room) -> Totals:
    """The totals of a block of rounds, up to one that leaves the box.

    room.starts is left with how many of them started where.
    """
    t, path, depth, found = NOTHING, 0, 0, False
    room.elsewhere[:] = 0
    while True:
        # The only call, in a loop: compiled code has a copy of a block for each.
        both = plus(t, block(law, threshold, count, key, Part(path, depth), room))
        within = inside(both, box)
        if found or (within and depth == 0):
            add_up(room.starts, room.elsewhere)
            return both
        if within:
            # Not in this half, so in the other one.
            t, path = both, path + 1
            add_up(room.elsewhere, room.starts)
        if part_rounds(count, Part(path, depth)) > 1:
            path, depth = 2 * path, depth + 1
        else:
            found = True
