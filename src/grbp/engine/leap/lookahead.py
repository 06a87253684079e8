"""How many of the next rounds a learner will surely play with one threshold."""

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from grbp._numba.jit import inlined, kernel
from grbp.engine.leap.counter_box import box_of, corner
from grbp.learners.base import Doubt, Stable, Thinning
from grbp.learners.counters import Counters
from grbp.numerics.arrays import Floats
from grbp.numerics.rng import uniform

FEWEST: Final = 16
"""A stretch of fewer rounds is not worth planning."""

_LIKELY: Final = 0.05
"""A chance of the unusual above which rounds are played one by one."""

_UNUSUAL: Final = 2.0
"""How many unusual rounds a stretch may have, about, before it is planned anew."""

_FOREVER: Final = 1 << 62

Plan: TypeAlias = Callable[..., tuple[int, Doubt]]
"""(constants, counters, goal, threshold, sizes, arm, tried, limit, single) -> the length of the
next stretch and the doubt in it; 1 if it is too short. tried: how long the last one was."""


def planning(  # noqa: C901 (the loop inside counts)
    stable: Stable | None, thinning: Thinning | None
) -> Plan:
    """The kernel that plans for a learner that is stable, or thinned."""
    certain = stable is not None
    doubt_over = _doubt_of(stable, thinning)

    def fits(  # noqa: PLR0913, PLR0917 (few arrays, and each by itself: many are slow to pass)
        constants: Any, n: Counters, goal: int, threshold: int, sizes: Floats, column: int,
        rounds: int, single: int,
    ) -> Doubt:  # fmt: skip
        """The doubt over the box of a number of rounds; all of it if it is too much."""
        high = corner(n, threshold, rounds, box_of(sizes, column, rounds, rounds > single))
        doubt = doubt_over(goal, constants, n, high)
        if doubt.chance > _LIKELY or doubt.chance * rounds > _UNUSUAL:
            return Doubt(doubt.usual, 1.0, 0.0, 0.0)
        return doubt

    inlined(fits)

    def plan(  # noqa: PLR0913, PLR0917
        constants: Any, n: Counters, goal: int, threshold: int, sizes: Floats, column: int,
        tried: int, limit: int, single: int,
    ) -> tuple[int, Doubt]:  # fmt: skip
        most = min(2 * tried, limit)
        least, best = 1, fits(constants, n, goal, threshold, sizes, column, most, single)
        # Up from what fits, if asking is cheap, as it is where nothing is drawn.
        while best.chance < 1.0:
            least = most
            if least == limit or not certain:
                return least, best
            most = min(2 * least, limit)
            doubt = fits(constants, n, goal, threshold, sizes, column, most, single)
            if doubt.chance == 1.0:
                break
            best = doubt
        # Or down to it.
        while least == 1 and most >= 2 * FEWEST:
            half = most // 2
            doubt = fits(constants, n, goal, threshold, sizes, column, half, single)
            if doubt.chance < 1.0:
                least, best = half, doubt
            else:
                most = half
        # Some changes of mind come at a round that is known beforehand: go right up to it.
        while certain and least > 1 and most - least > (1 if least > single else 1 + least // 32):
            half = (least + most) // 2
            doubt = fits(constants, n, goal, threshold, sizes, column, half, single)
            if doubt.chance < 1.0:
                least, best = half, doubt
            else:
                most = half
        return least, best

    return kernel(plan)


def _doubt_of(stable: Stable | None, thinning: Thinning | None) -> Callable[..., Doubt]:
    """The kernel that says how much doubt there is over a box; none or all, if nothing is drawn."""
    if stable is None:
        return kernel(thinning.doubt if thinning is not None else _no_idea)
    sure = inlined(stable)

    def doubt_over(goal: int, constants: Any, low: Counters, high: Counters) -> Doubt:
        return Doubt(0, 0.0 if sure(goal, constants, low, high) else 1.0, 0.0, 0.0)

    return inlined(doubt_over)


def _no_idea(_goal: int, _: Any, _low: Counters, _high: Counters) -> Doubt:
    """All doubt there is, for a learner that says nothing about boxes."""
    return Doubt(0, 1.0, 0.0, 0.0)


@inlined
def gap_before(key: int, chance: float) -> int:
    """How many rounds pass before one in which something of that chance happens."""
    if chance <= 0.0:
        return _FOREVER
    if chance >= 1.0:
        return 0
    gap = math.log(1.0 - uniform(key, 0)) / math.log1p(-chance)
    return int(gap) if gap < 4e18 else _FOREVER
