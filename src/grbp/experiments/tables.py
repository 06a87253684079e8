"""The tables of results, which all have the same columns."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.world import World

COLUMNS: Final = (
    "goal", "p_c", "p_f", "start", "learner", "rounds", "replicas", "seed", "engine", "splitting",
    "regret", "round", "mean", "se", "low", "high",
)  # fmt: skip
"""The columns of every table of results: what was run, and the mean regret after a round.

What `simulate` needs to give a row again stands in the row: that of a sweep has the seed of its
cell. The last two are the ends of a 95 % interval; those of a curve hold all of it at once.
"""

NAMED_COLUMNS: Final = ("name", *COLUMNS)
"""The columns where some problem has a name."""

Row: TypeAlias = tuple[str | float, ...]
"""A row of such a table."""


def learner_rows(world: World, how: Row, *columns: Floats | Ints) -> Iterator[Row]:
    """Yield the rows of a learner on a truth, with what stands in the columns from "round" on.

    `how` stands in the columns from "learner" to "regret".
    """
    what = *world.columns, *how
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield *what, *row
