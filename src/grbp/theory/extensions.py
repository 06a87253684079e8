"""Give closed forms for two chains that the paper cites but does not use.

With windfall and catastrophe (Hunter, Krinik, Nguyen, Switkes and von Bremen 2008) a step may
also end the round at once, won or lost; with stay and absorb (van Uem 2013) it may leave the
state as it is, or end the round where it stands. Both rest on the two roots of
up x^2 - (1 - stay) x + down = 0. `grbp.dynprog` answers the same questions without them, and
more general ones; the tests compare the two.
"""

import numpy as np

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Floats
from grbp.worlds.validation import SUM_TOLERANCE, check_goal, check_probability


def windfall_value(
    goal: int, up: float, down: float, windfall: float, catastrophe: float
) -> Floats:
    """Compute the probability of reaching the goal by continuing, for every first state.

    Parameters
    ----------
    goal : int
        The state in which a round is won.
    up : float
        The probability of one state up, positive.
    down : float
        The probability of one state down, positive.
    windfall : float
        The probability of going straight to the goal.
    catastrophe : float
        The probability of going straight to the dead end. The four sum to one.

    Returns
    -------
    ndarray, shape (goal - 1,)
        Entry ``s - 1`` belongs to state s.

    Raises
    ------
    InvalidInput
        If the four are not the probabilities of a step, or up or down is 0.

    Notes
    -----
    It is rise + (1 - rise - fall) w/(c + w), where rise and fall are the probabilities of
    reaching either end step by step.

    Examples
    --------
    >>> import grbp
    >>> grbp.extensions.windfall_value(4, 0.4, 0.5, windfall=0.06, catastrophe=0.04).round(4)
    array([0.2427, 0.4567, 0.6883])
    """
    rise, fall, end = _ends_by_steps(goal, up, down, windfall=windfall, catastrophe=catastrophe)
    return rise + (1.0 - rise - fall) * windfall / end if end > 0.0 else rise


def windfall_steps(
    goal: int, up: float, down: float, windfall: float, catastrophe: float
) -> Floats:
    """Compute the expected number of steps until the round ends, for every first state.

    Parameters
    ----------
    goal : int
        The state in which a round is won.
    up : float
        The probability of one state up, positive.
    down : float
        The probability of one state down, positive.
    windfall : float
        The probability of going straight to the goal.
    catastrophe : float
        The probability of going straight to the dead end, positive if windfall is 0. The four sum
        to one.

    Returns
    -------
    ndarray, shape (goal - 1,)
        Entry ``s - 1`` belongs to state s.

    Raises
    ------
    InvalidInput
        If the four are not the probabilities of a step, up or down is 0, or windfall and
        catastrophe both are.

    Notes
    -----
    Each step ends the round out of hand with probability c + w, so the number is
    (1 - rise - fall)/(c + w). Where c + w is tiny the difference has few digits; ``grbp.dynprog``
    keeps them.

    Examples
    --------
    >>> import grbp
    >>> grbp.extensions.windfall_steps(4, 0.4, 0.5, windfall=0.06, catastrophe=0.04).round(4)
    array([2.2667, 3.1667, 2.5833])
    """
    rise, fall, end = _ends_by_steps(goal, up, down, windfall=windfall, catastrophe=catastrophe)
    if end == 0.0:
        raise InvalidInput(
            "windfall = catastrophe = 0 was given; one must be positive (without them, a round"
            " is the plain walk of grbp.slots_at)"
        )
    return (1.0 - rise - fall) / end


def absorb_value(goal: int, up: float, down: float, stay: float, absorb: float) -> Floats:
    """Compute the probability of reaching the goal by continuing, for every first state.

    Parameters
    ----------
    goal : int
        The state in which a round is won.
    up : float
        The probability of one state up, positive.
    down : float
        The probability of one state down, positive.
    stay : float
        The probability of staying in the state.
    absorb : float
        The probability that the round ends where it stands, without the goal. The four sum to
        one.

    Returns
    -------
    ndarray, shape (goal - 1,)
        Entry ``s - 1`` belongs to state s.

    Raises
    ------
    InvalidInput
        If the four are not the probabilities of a step, or up or down is 0.

    Notes
    -----
    It is (l+^s - l-^s)/(l+^G - l-^G), with l+ and l- the two roots of
    up x^2 - (1 - stay) x + down = 0.

    Examples
    --------
    >>> import grbp
    >>> grbp.extensions.absorb_value(4, 0.4, 0.4, stay=0.1, absorb=0.1).round(4)
    array([0.1451, 0.3265, 0.5896])
    """
    return _ends_by_steps(goal, up, down, stay, absorb=absorb)[0]


def _ends_by_steps(
    goal: int, up: float, down: float, stay: float = 0.0, **ends: float
) -> tuple[Floats, Floats, float]:
    """Compute the probabilities of reaching the goal, and the dead end, by steps alone.

    They are written in powers of the roots that are below one, so that nothing overflows. The
    third result is the probability that a step ends the round at once.
    """
    goal = check_goal(goal)
    for name, p in {"up": up, "down": down, "stay": stay, **ends}.items():
        check_probability(name, p)
    end = sum(ends.values())
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
        return i / goal, 1.0 - i / goal, end
    whole = np.expm1(goal * ratio)
    rise = np.exp((i - goal) * np.log(larger)) * np.expm1(i * ratio) / whole
    fall = np.exp(i * np.log(smaller)) * np.expm1((goal - i) * ratio) / whole
    return rise, fall, end
