"""The chances of one round: what the environment plays, with the engine's own arithmetic."""

from typing import NamedTuple

from grbp.numerics.arrays import Floats
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
        if self.law is not None and action == Action.CONTINUE:
            return state_by_law(self.law[state - 1], state, draw)
        k, goal = state - 1, len(self.up) + 1
        return next_state(state, action, goal, self.up.item(k), self.p_f.item(k), draw)

    def mix(self, after: "Chances", weight: float) -> "Chances":
        """Return the chances between these and later ones, which have a weight."""
        up = (1.0 - weight) * self.up + weight * after.up
        p_f = (1.0 - weight) * self.p_f + weight * after.p_f
        if self.law is None or after.law is None:
            return Chances(up, p_f, None)
        return Chances(up, p_f, (1.0 - weight) * self.law + weight * after.law)
