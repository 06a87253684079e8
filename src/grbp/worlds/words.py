"""Say in words what a truth is."""

from typing import Literal

import numpy as np

from grbp.errors import InvalidInput
from grbp.worlds.chain import Chain
from grbp.worlds.course import World
from grbp.worlds.drift import Drift
from grbp.worlds.dynprog import solve
from grbp.worlds.groups import Groups
from grbp.worlds.problem import Problem


def check_world(given: object) -> World:
    """Return a truth that learners can be played on, or refuse what is none."""
    if not isinstance(given, Problem | Chain | Drift | Groups):
        raise InvalidInput(
            f"{given!r} was given; it must be a Problem, a Chain, a Drift or Groups of them"
        )
    return given


def write_chance(world: World, which: Literal["p_c", "p_f"]) -> float | str:
    """Write p_C or p_F: one number or, where it differs, one for each state, stage or group."""
    if isinstance(world, Problem):
        return float(getattr(world, which))
    if isinstance(world, Chain):
        chances = world.p_f if which == "p_f" else world.p_c
        same = np.all(chances == chances[0])
        return float(chances[0]) if same else " ".join(f"{p:.6g}" for p in chances)
    parts = world.stages if isinstance(world, Drift) else world.truths.items()
    written = [(name, write_chance(one, which)) for name, one in parts]
    if len({one for _, one in written}) == 1:
        return written[0][1]
    return "; ".join(f"{name}: {one}" for name, one in written)


def write_start(world: World) -> str:
    """Write the distribution of the first state, as the shell reads it."""
    if isinstance(world, Groups):
        starts = {name: write_start(one) for name, one in world.truths.items()}
        first, *others = set(starts.values())
        return "; ".join(f"{n}: {one}" for n, one in starts.items()) if others else first
    start = (
        world.stages[0][1].canonical_start if isinstance(world, Drift) else world.canonical_start
    )
    if isinstance(start, str):
        return start
    return ",".join(f"{state}={q!r}" for state, q in start)


def describe_world(world: World) -> str:
    """Describe a truth in one line, with what is best in a chain."""
    if isinstance(world, Problem):
        return repr(world)
    kind = {Chain: "chain", Drift: "drift", Groups: "groups"}[type(world)]
    p_c, p_f = write_chance(world, "p_c"), write_chance(world, "p_f")
    line = f"{kind}, G = {world.goal}, p_C = {p_c}, p_F = {p_f}"
    if isinstance(world, Drift):
        return f"{line} ({world.shape})"
    if isinstance(world, Groups):
        return line
    finishes = np.flatnonzero(solve(world).action) + 1
    best = ", ".join(map(str, finishes)) if len(finishes) else "no state"
    return f"{line}; best is FINISH in {best}"
