"""The small parts of a fit: open cases, a state, the running sum."""

from typing import NamedTuple

from grbp.numerics.arrays import Floats


class OpenCases(NamedTuple):
    """How many cases have no end yet.

    Attributes
    ----------
    empty_next : int
        Cases whose last row has no next state.
    no_row : int
        Cases that are in an inner state for which there is no row.
    """

    empty_next: int
    no_row: int


class StateRow(NamedTuple):
    """What the records say about one state.

    Attributes
    ----------
    state : int
        The state.
    c, c_up : int
        The moves by one state under CONTINUE, and those of them that went up.
    f, f_goal : int
        How often FINISH was tried, and how often it reached the goal.
    stays, jumps : int
        How often CONTINUE stayed, and how often it jumped further than one state.
    action : str
        The action that is right in the general chain: "continue" or "finish"; "unknown" where one
        of the two was never tried.
    probability : float or None
        How probable it is that this action is the right one.
    """

    state: int
    c: int
    c_up: int
    f: int
    f_goal: int
    stays: int
    jumps: int
    action: str
    probability: float | None


class Cusum(NamedTuple):
    """The running sum of what cases were above the model, in their order.

    Attributes
    ----------
    x : ndarray
        The number of the case.
    y : ndarray
        The sum up to it, in units of its standard deviation at the end.
    limit : float
        What the largest distance from 0 stays below in 95 of 100 tables without a drift.
    """

    x: Floats
    y: Floats
    limit: float
