"""Closed forms for two chains that the paper cites but does not use.

With windfall and catastrophe (Hunter, Krinik, Nguyen, Switkes and von Bremen 2008) a step may
also end the round at once, won or lost; with stay and absorb (van Uem 2013) it may leave the
state as it is, or end the round where it stands. Both rest on the two roots of
up x^2 - (1 - stay) x + down = 0. `dynprog` answers the same questions without them, and more
general ones; the tests compare the two.
"""

import numpy as np

from grbp.errors import InvalidInput
from grbp.model.validation import SUM_TOLERANCE, check_goal, check_probability
from grbp.numerics.arrays import Floats


def windfall_value(
    goal: int, up: float, down: float, windfall: float, catastrophe: float
) -> Floats:
    """The probability of reaching the goal by continuing, for every state.

    Walking there, or a windfall on the way: rise + (1 - rise - fall) w/(c + w), where rise and
    fall are the chances of reaching either end on foot.
    """
    rise, fall = _on_foot(goal, up, down, 0.0, _both(windfall, catastrophe))
    if windfall + catastrophe == 0.0:
        return rise
    return rise + (1.0 - rise - fall) * windfall / (windfall + catastrophe)


def windfall_steps(
    goal: int, up: float, down: float, windfall: float, catastrophe: float
) -> Floats:
    """The expected number of steps until the round ends, for every state.

    Each step ends it out of hand with probability c + w, so it is (1 - rise - fall)/(c + w).
    Where c + w is tiny the difference has few digits; `dynprog` keeps them.
    """
    if _both(windfall, catastrophe) == 0.0:
        raise InvalidInput(
            "windfall = catastrophe = 0 was given; one must be positive (without them, a round"
            " is the plain walk of grbp.slots_at)"
        )
    rise, fall = _on_foot(goal, up, down, 0.0, windfall + catastrophe)
    return (1.0 - rise - fall) / (windfall + catastrophe)


def absorb_value(goal: int, up: float, down: float, stay: float, absorb: float) -> Floats:
    """The probability of reaching the goal by continuing, for every state.

    (l+^i - l-^i)/(l+^G - l-^G) with l+ and l- the two roots.
    """
    return _on_foot(goal, up, down, stay, absorb)[0]


def _both(windfall: float, catastrophe: float) -> float:
    return check_probability("windfall", windfall) + check_probability("catastrophe", catastrophe)


def _on_foot(goal: int, up: float, down: float, stay: float, end: float) -> tuple[Floats, Floats]:
    """The chances of reaching the goal, and the dead end, by steps alone, for every state.

    In powers of the roots that are below one, so that nothing overflows.
    """
    goal = check_goal(goal)
    for name, p in (("up", up), ("down", down), ("stay", stay), ("the chance to end", end)):
        check_probability(name, p)
    if abs(up + down + stay + end - 1.0) > SUM_TOLERANCE:
        raise InvalidInput(
            f"the outcomes of a step sum to {up + down + stay + end:.12g}; they must sum to 1"
        )
    if up == 0.0 or down == 0.0:
        raise InvalidInput(
            f"up = {up} and down = {down} were given; the closed form needs both positive"
            " (grbp.dynprog answers the rest)"
        )
    i = np.arange(1, goal, dtype=np.float64)
    # (1 - stay)^2 - 4 up down, with 1 - stay = up + down + end
    root = np.sqrt((up - down) ** 2 + end * (end + 2.0 * (up + down)))
    larger = (up + down + end + root) / (2.0 * up)
    smaller = down / (up * larger)
    ratio = np.log(smaller / larger)
    if ratio == 0.0:  # a fair walk that cannot end on the way: the double root 1
        return i / goal, 1.0 - i / goal
    whole = np.expm1(goal * ratio)
    rise = np.exp((i - goal) * np.log(larger)) * np.expm1(i * ratio) / whole
    fall = np.exp(i * np.log(smaller)) * np.expm1((goal - i) * ratio) / whole
    return rise, fall
