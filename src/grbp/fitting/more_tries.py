"""How many more records would settle a decision, if the estimates stay as they are."""

import math
from statistics import NormalDist
from typing import Final, NamedTuple

from grbp.fitting.estimates import Proportion
from grbp.theory.values import boundary

_MOST_TIMES: Final = 100
"""Beyond so many times the records, it is not said how many would settle it."""

_MOST_TRIES: Final = 20
"""Beyond so many times its tries, FINISH alone is not what more records should be of."""


class Need(NamedTuple):
    """What would settle a decision.

    Attributes
    ----------
    tries : int or None
        So many more tries of FINISH would; None where no number of them does, or too many.
    times : float
        So many times as many records of both actions would.
    """

    tries: int | None
    times: float


def find_need(f: Proportion, value: float, variance: float, level: float) -> Need:
    """Find what would make it sure on which side of a value p_F lies.

    The value has been estimated with a variance, which more records divide; more tries of FINISH
    alone leave it as it is.
    """
    p_f = f.successes / f.tries
    of_f = max(p_f * (1.0 - p_f), 0.25 / f.tries) / f.tries
    wanted = ((p_f - value) / NormalDist().inv_cdf(level)) ** 2
    times = (of_f + variance) / wanted if wanted > 0.0 else math.inf
    tries = math.ceil(of_f * f.tries / (wanted - variance)) - f.tries if wanted > variance else 0
    return Need(tries if 0 < tries <= _MOST_TRIES * f.tries else None, times)


def boundary_variance(goal: int, c: Proportion) -> float:
    """Compute the variance of B(p_C), as far as the estimate of p_C is off."""
    p_c = c.successes / c.tries
    step = 1e-4 * min(p_c, 1.0 - p_c)
    slope = (boundary(goal, p_c + step) - boundary(goal, p_c - step)) / (2.0 * step)
    return slope * slope * p_c * (1.0 - p_c) / sum(c.counts)


def say_need(need: Need) -> str:
    """Say in a sentence what would settle it."""
    if need.tries is not None:
        more = f"{_round_up(need.tries):,} more tries of FINISH"
    elif need.times > _MOST_TIMES:
        return f"It would take over {_MOST_TIMES} times as many records to settle it."
    else:
        more = f"{max(2, math.ceil(need.times))} times as many records"
    return f"About {more} would settle it, if the estimates stay as they are."


def _round_up(number: int) -> int:
    """Round a number up to two digits."""
    unit = int(10 ** max(0, math.floor(math.log10(number)) - 1))
    return math.ceil(number / unit) * unit
