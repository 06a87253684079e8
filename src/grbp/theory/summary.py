"""Put the exact answers about one problem together, under the names that the shell prints."""

from collections.abc import Callable, Sequence
from typing import TypedDict

import numpy as np

from grbp.errors import InvalidInput
from grbp.numerics.arrays import Floats
from grbp.theory.gaps import gap, gap_max
from grbp.theory.margin import margin
from grbp.theory.round_length import expected_slots
from grbp.theory.values import boundary, log_value_at, optimal_threshold, region, value, value_at
from grbp.worlds.problem import Problem
from grbp.worlds.start import Start


class Summary(TypedDict):
    """The answers of `summary`, as plain numbers, lists and dictionaries.

    Lists run over the states that were asked for, which are all unless some are named. The keys
    of dictionaries are policies: "0" and "1" are thresholds, "optimal" is the better of the two.

    Attributes
    ----------
    goal : int
        The goal of the problem.
    p_c : float
        The success probability of CONTINUE.
    p_f : float
        The success probability of FINISH.
    start : str or tuple
        The start distribution: "uniform", or (state, probability) pairs.
    boundary : float
        B(p_c).
    optimal_threshold : int
        0 or 1.
    region : str
        "exploration" or "no-exploration".
    states : list of int
        The states to which the other lists belong.
    values : dict of list of float
        V(s) for every state.
    log_values : dict of list of float
        The logarithm of V(s), which says how small a value is that underflows to 0.
    value : dict of float
        V, averaged over the first state; also that of "finish-now", which is p_f.
    gap_max : float
        Delta_max, the cost of the wrong action in state 1.
    gap : float
        The loss of the wrong threshold in a round.
    margin : float
        The distance from the boundary.
    slots : dict of float
        The expected number of slots of a round.
    """

    goal: int
    p_c: float
    p_f: float
    start: Start
    boundary: float
    optimal_threshold: int
    region: str
    states: list[int]
    values: dict[str, list[float]]
    log_values: dict[str, list[float]]
    value: dict[str, float]
    gap_max: float
    gap: float
    margin: float
    slots: dict[str, float]


def summary(problem: Problem, states: Sequence[int] | None = None) -> Summary:
    """Return every exact answer about a problem, as ``grbp solve`` prints them.

    Parameters
    ----------
    problem : Problem
        The problem to solve.
    states : sequence of int, optional
        The first states to answer for; by default all, of which there may be ten million.

    Returns
    -------
    Summary
        A dictionary of plain Python values.

    Raises
    ------
    InvalidInput
        If there is no such state.

    Examples
    --------
    >>> import grbp
    >>> answers = grbp.summary(grbp.Problem(goal=4, p_c=0.5, p_f=0.3))
    >>> answers["optimal_threshold"], answers["boundary"], answers["values"]["0"]
    (1, 0.25, [0.25, 0.5, 0.75])
    >>> grbp.summary(grbp.Problem(goal=1000, p_c=0.5, p_f=0.3), [500])["values"]["0"]
    [0.5]
    """
    if states is not None and not isinstance(states, Sequence | np.ndarray):
        raise InvalidInput(f"states = {states!r} was given; it must be a list of states")
    best = optimal_threshold(problem)

    def as_list(at: Callable[..., Floats]) -> dict[str, list[float]]:
        found = {str(tau): at(problem, tau, states).tolist() for tau in (0, 1)}
        return found | {"optimal": found[str(best)]}

    def by_policy(of: Callable[[Problem, int], float]) -> dict[str, float]:
        found = {str(tau): of(problem, tau) for tau in (0, 1)}
        return found | {"optimal": found[str(best)]}

    return Summary(
        goal=problem.goal,
        p_c=problem.p_c,
        p_f=problem.p_f,
        start=problem.canonical_start,
        boundary=boundary(problem.goal, problem.p_c),
        optimal_threshold=best,
        region=str(region(problem)),
        states=problem.states.tolist() if states is None else list(states),
        values=as_list(value_at),
        log_values=as_list(log_value_at),
        value=by_policy(value) | {"finish-now": problem.p_f},
        gap_max=gap_max(problem),
        gap=gap(problem),
        margin=margin(problem),
        slots=by_policy(expected_slots),
    )
