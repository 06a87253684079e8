"""The tables of results, which all have the same columns."""

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from grbp.experiments.regret import Z_95, bound_unseen
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


def cell_row(
    problem: World,
    choices: Sequence[int] | None,
    how: Row,
    found: tuple[int, float, float],
    lost: float | None = None,
) -> Row:
    """Return the row of one cell of a sweep, whose learner has some choices, or any.

    `how` stands in the columns from "learner" to "regret", and its third entry are the replicas;
    `found` are the round, the mean regret and its standard error; `lost` is as for `bound_unseen`.
    """
    at, mean, se = found
    unseen = None
    if problem.paper is not None and choices is not None:
        unseen = bound_unseen(problem.paper, choices, np.array([at]), int(how[2]), lost)
    room = 0.0 if unseen is None else float(unseen[0])
    return *problem.columns, *how, at, mean, se, mean - Z_95 * se, mean + Z_95 * se + room
