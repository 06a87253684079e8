"""Plan how many of the next rounds a learner will play with one threshold.

The longer such a batch is, the less it costs; the learner is asked about a box of counters that so
many rounds will hardly leave.
"""

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from grbp.engine.counter_box import choose_box, upper_corner
from grbp.learners.base import Doubt, Stable
from grbp.learners.counters import Counters
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import inlined, kernel
from grbp.numerics.rng import uniform

FEWEST: Final = 16
"""A batch of fewer rounds is not worth planning."""

_LIKELY: Final = 0.05
"""The chance of an unusual decision above which rounds are played one by one."""

_UNUSUAL: Final = 2.0
"""The number of unusual rounds, about, after which a batch is planned anew."""

FOREVER: Final = 1 << 62
"""More rounds than are ever played."""

Plan: TypeAlias = Callable[..., tuple[int, Doubt]]
"""(constants, counters, goal, threshold, sizes, column, tried, limit, single) -> the length of the
next batch, 1 if it would be too short, and the doubt in it; `tried` is the length of the last."""


def make_planner(doubt_over: Callable[..., Doubt], certain: bool) -> Plan:
    """Make the kernel that plans for a learner, from the doubt over a box: 0 or 1 if `certain`."""

    def doubt_in(  # noqa: PLR0913, PLR0917 (few arrays, and each by itself: many are slow to pass)
        constants: Any, n: Counters, goal: int, threshold: int, sizes: Floats, column: int,
        rounds: int, single: int,
    ) -> Doubt:  # fmt: skip
        """Return the doubt over the box of a number of rounds: a chance of 1 if too much."""
        box = choose_box(sizes, column, rounds, rounds > single)
        high = upper_corner(n, threshold, rounds, box)
        doubt = doubt_over(goal, constants, n, high)
        if doubt.chance > _LIKELY or doubt.chance * rounds > _UNUSUAL:
            return Doubt(doubt.usual, 1.0, 0.0, 0.0)
        return doubt

    inlined(doubt_in)

    def plan(  # noqa: PLR0913, PLR0917
        constants: Any, n: Counters, goal: int, threshold: int, sizes: Floats, column: int,
        tried: int, limit: int, single: int,
    ) -> tuple[int, Doubt]:  # fmt: skip
        most = min(2 * tried, limit)
        least, best = 1, doubt_in(constants, n, goal, threshold, sizes, column, most, single)
        # Double what fits, if asking is cheap, as it is for a learner that does not draw.
        while best.chance < 1.0:
            least = most
            if least == limit or not certain:
                return least, best
            most = min(2 * least, limit)
            doubt = doubt_in(constants, n, goal, threshold, sizes, column, most, single)
            if doubt.chance == 1.0:
                break
            best = doubt
        # Halve until something fits. Then bisect, if asking is cheap: some changes of mind come
        # at a round that is known beforehand, and the batch should end right there.
        while (least == 1 and most >= 2 * FEWEST) or (
            certain and least > 1 and most - least > (1 if least > single else 1 + least // 32)
        ):
            half = most // 2 if least == 1 else (least + most) // 2
            doubt = doubt_in(constants, n, goal, threshold, sizes, column, half, single)
            if doubt.chance < 1.0:
                least, best = half, doubt
            else:
                most = half
        return least, best

    return kernel(plan)


def make_certainty(stable: Stable) -> Callable[..., Doubt]:
    """Make the kernel that says the doubt over a box of a learner that does not draw: 0 or 1."""
    sure = inlined(stable)

    def doubt_over(goal: int, constants: Any, low: Counters, high: Counters) -> Doubt:
        return Doubt(0, 0.0 if sure(goal, constants, low, high) else 1.0, 0.0, 0.0)

    return inlined(doubt_over)


@inlined
def gap_before(key: int, chance: float) -> int:
    """Draw how many rounds pass before one in which something of a chance happens."""
    if chance <= 0.0:
        return FOREVER
    if chance >= 1.0:
        return 0
    gap = math.log(1.0 - uniform(key, 0)) / math.log1p(-chance)
    return int(gap) if gap < 4e18 else FOREVER
