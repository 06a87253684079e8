"""Learners of one's own, one of each kind, which tests give as objects and by `module:name`."""

from typing import Any, NamedTuple

import grbp
from grbp import Counters, StateCounters


class Hope(NamedTuple):
    """The constants of a learner that counts."""

    bonus: float = 0.4


def hope(goal: int, constants: Hope, n: Counters, _key: int) -> int:
    """Decide as if FINISH had succeeded a little more often than it did."""
    won, tried = n.f_goal + constants.bonus, n.f + constants.bonus
    if grbp.finish_is_right(goal, won, tried, n.c_up, n.c - n.c_up):
        return 1
    return goal - 1 if n.rho % 4 == 0 else 0


def drift(goal: int, _: Any, n: Counters, key: int) -> int:
    """Play at random, finishing more often where that went well."""
    return goal - 1 if grbp.uniform(key, 0) * n.f < 0.3 + n.f_goal else 0


def hope_by_state(_goal: int, _: Any, n: StateCounters, _key: int) -> int:
    """Play what is best by the shares seen so far, each state by itself."""
    up = (n.up + 1.0) / (n.up + n.down + 2.0)
    return grbp.best_policy(up, (n.won + 1.0) / (n.won + n.lost + 2.5))


def drift_by_state(goal: int, _: Any, n: StateCounters, key: int) -> int:
    """Finish at random in the states that were seen least."""
    policy = 0
    for k in range(goal - 1):
        if grbp.uniform(key, k) * (1.0 + n.won[k] + n.lost[k]) < 0.5:
            policy |= 1 << k
    return policy


counting = grbp.Learner("counting", hope, Hope())
drawing = grbp.Learner("drawing", drift, thresholds=(0, -1))
by_state = grbp.StateLearner("by-state", hope_by_state)
drawing_by_state = grbp.StateLearner("drawing-by-state", drift_by_state)
