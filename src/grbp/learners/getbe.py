"""GETBE, the paper's learner, in its three variants, and NoExplore."""

import math
from collections.abc import Callable
from typing import NamedTuple

from grbp._jit import kernel
from grbp.history import Counters
from grbp.learners.contract import Learner, NoConstants
from grbp.learners.estimate import beta_draw, finish_is_right
from grbp.streams import noise

PAPER = "Akbarzadeh and Tekin 2016"


class Control(NamedTuple):
    """The control function gamma log(rho): how often FINISH must have been tried by round rho."""

    gamma: float = 15.0


@kernel
def no_explore(goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """The threshold that the estimates call right."""
    return 1 if finish_is_right(goal, n.f_goal, n.f, n.c_up, n.c - n.c_up) else 0


@kernel
def getbe_sm(goal: int, constants: Control, n: Counters, _key: int) -> int:
    """The threshold that the estimates call right; where that never finishes, FINISH at once
    as long as it was tried fewer than gamma log(rho) times.

    Paper: alg:GRBP
    Differs: log is natural and the test strict, so round 1 is never forced.
    """  # noqa: D205
    if finish_is_right(goal, n.f_goal, n.f, n.c_up, n.c - n.c_up):
        return 1
    return goal - 1 if n.f < constants.gamma * math.log(n.rho) else 0


def getbe_with(control: Callable[[int], float], name: str = "getbe-sm (own D)") -> Learner:
    """GETBE-SM with any control function D(rho), non-decreasing in the round.

    Paper: alg:GRBP
    """
    kernel(control)

    def decide(goal: int, _: NoConstants, n: Counters, _key: int) -> int:
        if finish_is_right(goal, n.f_goal, n.f, n.c_up, n.c - n.c_up):
            return 1
        return goal - 1 if n.f < control(n.rho) else 0

    line = "sample means, FINISH forced while tried fewer than D(rho) times"
    return Learner(name, decide, NoConstants(), line=line, reference=PAPER)


@kernel
def getbe_ps(goal: int, _: NoConstants, n: Counters, key: int) -> int:
    """The threshold that is right for one draw of each probability from its posterior."""
    p_f = beta_draw(noise(key, 1), 1.0 + n.f_goal, 1.0 + n.f - n.f_goal)
    p_c = beta_draw(noise(key, 2), 1.0 + n.c_up, 1.0 + n.c - n.c_up)
    return 1 if finish_is_right(goal, p_f, 1.0, p_c, 1.0 - p_c) else 0


@kernel
def getbe_ucb(goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """The threshold that is right for both estimates raised by their inflation terms."""
    twice_log = 2.0 * math.log(n.f + n.c)
    p_f = min(1.0, n.f_goal / n.f + math.sqrt(twice_log / n.f))
    p_c = min(1.0, n.c_up / n.c + math.sqrt(twice_log / n.c))
    return 1 if finish_is_right(goal, p_f, 1.0, p_c, 1.0 - p_c) else 0


SAMPLE_MEAN = Learner(
    "getbe-sm",
    getbe_sm,
    Control(),
    line="sample means, FINISH forced gamma log(rho) times",
    reference=PAPER,
)
POSTERIOR_SAMPLING = Learner(
    "getbe-ps",
    getbe_ps,
    NoConstants(),
    line="a posterior draw of each probability",
    reference=PAPER,
)
UPPER_CONFIDENCE = Learner(
    "getbe-ucb",
    getbe_ucb,
    NoConstants(),
    line="both estimates raised by sqrt(2 log N/n)",
    reference=PAPER,
)
NO_EXPLORE = Learner(
    "no-explore",
    no_explore,
    NoConstants(),
    line="greedy on the sample means, never explores",
    reference=PAPER,
)
