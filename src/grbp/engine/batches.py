"""Draw batches of rounds under one threshold, each up to the first round that leaves a box.

A short batch is drawn round by round, a long one at once. Counters never decrease, so totals
inside the box were never outside. Where the totals of a long batch are outside, it is taken apart
until the round is found that left the box; the rounds after that one are never played.
"""

from typing import Final

from grbp.engine.batch_plan import CounterBox, is_inside
from grbp.engine.batch_totals import BatchLaw, Part, Workspace, draw_batch, part_rounds
from grbp.engine.recorder import StepLaw
from grbp.engine.round_table import PACKED, RoundTable, table_round, table_rounds
from grbp.learners.counters import Totals, as_totals
from grbp.numerics.arrays import Ints
from grbp.numerics.jit import inlined, kernel
from grbp.numerics.rng import fold_in

NOTHING: Final = Totals(0, 0, 0, 0, 0, 0)
"""The totals of no rounds."""


@inlined
def add_totals(t: Totals, other: Totals) -> Totals:
    """Add totals up."""
    return Totals(
        t.rounds + other.rounds,
        t.won + other.won,
        t.f + other.f,
        t.f_goal + other.f_goal,
        t.c + other.c,
        t.c_up + other.c_up,
    )


@inlined
def draw_from_table(  # noqa: PLR0913, PLR0917 (arrays by themselves: many are slow to pass)
    table: RoundTable, world: StepLaw, column: int, threshold: int, world_key: int, rho: int,
    count: int, box: CounterBox,
) -> Totals:  # fmt: skip
    """Draw rounds from rho on, up to one that leaves the box or some rounds before it.

    The box is checked after every PACKED rounds; if they leave it, none of them is counted.
    """
    t = NOTHING
    while t.rounds < count:
        more = table_rounds(table, column, world_key, rho + t.rounds, min(PACKED, count - t.rounds))
        both = add_totals(t, more)
        if not is_inside(both, box):
            break
        t = both
        if t.rounds < count and more.rounds < PACKED:
            # The next round outlasts the table.
            key = fold_in(world_key, rho + t.rounds)
            t = add_totals(t, as_totals(table_round(table, world, column, threshold, key)))
            if not is_inside(t, box):
                break
    return t


@kernel
def add_to_each(sums: Ints, numbers: Ints) -> None:
    """Add to each sum its number."""
    for k in range(len(sums)):
        sums[k] += numbers[k]


@kernel
def draw_whole_batch(
    law: BatchLaw, threshold: int, key: int, count: int, _: CounterBox, work: Workspace
) -> Totals:
    """Draw a batch at once, which `draw_long_batch` returns as well if it is inside the box.

    Afterwards work.starts has the rounds by first state.
    """
    return draw_batch(law, threshold, count, key, None, work)


@kernel
def draw_long_batch(
    law: BatchLaw, threshold: int, key: int, count: int, box: CounterBox, work: Workspace
) -> Totals:
    """Draw a batch at once, up to the round that leaves the box.

    Afterwards work.starts has the rounds by first state.
    """
    t, path, depth, found = NOTHING, 0, 0, False
    work.elsewhere[:] = 0
    while True:
        # One call, in a loop: compiled code has a copy of `draw_batch` for each call.
        both = add_totals(t, draw_batch(law, threshold, count, key, Part(path, depth), work))
        within = is_inside(both, box)
        if found or (within and depth == 0):
            add_to_each(work.starts, work.elsewhere)
            return both
        if within:
            # The round is not in this half, so it is in the other one.
            t, path = both, path + 1
            add_to_each(work.elsewhere, work.starts)
        if part_rounds(count, Part(path, depth)) > 1:
            path, depth = 2 * path, depth + 1
        else:
            found = True
