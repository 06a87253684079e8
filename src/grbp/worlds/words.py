"""Say in words what a truth is."""

import numpy as np

from grbp.worlds.dynprog import solve
from grbp.worlds.world import World


def describe_world(world: World) -> str:
    """Describe a truth in one line, with what is best in a chain."""
    if world.paper is not None:
        return repr(world)
    if world.chain is None:
        return world.words
    finishes = np.flatnonzero(solve(world).action) + 1
    best = ", ".join(map(str, finishes)) if len(finishes) else "no state"
    return f"{world.words}; best is FINISH in {best}"
