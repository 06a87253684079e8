"""The chances of one round: what the environment plays, with the engine's own arithmetic."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from grbp.numerics.arrays import Floats
from grbp.worlds.chain import Chain, as_chain
from grbp.worlds.drift import Drift
from grbp.worlds.groups import Ungrouped
from grbp.worlds.problem import Problem
from grbp.worlds.transition import Action, next_state, state_by_law


class Chances(NamedTuple):
    """The chances of a round.

    Attributes
    ----------
    up, p_f : ndarray, shape (goal - 1,)
        The chance that CONTINUE moves up, and that FINISH reaches the goal.
    law : ndarray, shape (goal - 1, goal + 1), or None
        The law of CONTINUE, where it does not lead to neighbours alone.
    """

    up: Floats
    p_f: Floats
    law: Floats | None

    def next_state(self, state: int, action: int, draw: float) -> int:
        """Return the state after one action, given a uniform draw."""
        if action == Action.CONTINUE and self.law is not None:
            return state_by_law(self.law[state - 1], state, draw)
        goal, k = len(self.up) + 1, state - 1
        return next_state(state, action, goal, float(self.up[k]), float(self.p_f[k]), draw)


def chances_at(world: Ungrouped, rho: int) -> Chances:
    """Return the chances of a round, by its number."""
    if not isinstance(world, Drift):
        return _chances_of(world)
    stages, weights = world._place(np.array([rho]))
    chains = [as_chain(one) for _, one in world.stages]
    far = not all(chain.leads_to_neighbours for chain in chains)
    k, w = int(stages[0]), float(weights[0])
    one = _chances_of(chains[k], far)
    if w == 0.0:
        return one
    after = _chances_of(chains[k + 1], far)
    up, p_f, law = ((1.0 - w) * a + w * b for a, b in zip(_full(one), _full(after), strict=True))
    return Chances(up, p_f, law if far else None)


@lru_cache(maxsize=64)
def _chances_of(world: Problem | Chain, far: bool = False) -> Chances:
    if isinstance(world, Problem) and not far:
        up, p_f = (np.broadcast_to(chance, world.goal - 1) for chance in (world.p_c, world.p_f))
        return Chances(up, p_f, None)
    chain = as_chain(world)
    jumps = far or not chain.leads_to_neighbours
    return Chances(chain.law[:, 2:].diagonal(), chain.p_f, chain.law if jumps else None)


def _full(chances: Chances) -> tuple[Floats, Floats, Floats]:
    return chances.up, chances.p_f, np.zeros(0) if chances.law is None else chances.law
