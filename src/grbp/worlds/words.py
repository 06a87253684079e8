"""Say in words what a truth is."""

import numpy as np

from grbp.worlds.dynprog import solve
from grbp.worlds.world import World, Written, check_world

__all__ = ["check_world", "describe_world", "write_chance", "write_start"]


def describe_world(world: World) -> str:
    """Describe a truth in one line, with what is best in a chain."""
    if world.paper is not None:
        return repr(world)
    if world.chain is None:
        return world.words
    finishes = np.flatnonzero(solve(world).action) + 1
    best = ", ".join(map(str, finishes)) if len(finishes) else "no state"
    return f"{world.words}; best is FINISH in {best}"


def write_chance(world: World, which: str) -> Written:
    """Write p_C or p_F as a table has it."""
    return world.columns[1 if which == "p_c" else 2]


def write_start(world: World) -> str:
    """Write the distribution of the first state, as the shell reads it."""
    return world.columns[3]
