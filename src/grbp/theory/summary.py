"""The exact answers about one problem, together, under the names that the shell prints."""

from typing import TypedDict

from grbp.model.problem import Problem, Start
from grbp.theory.gaps import gap, gap_max
from grbp.theory.margin import margin
from grbp.theory.round_length import expected_slots
from grbp.theory.values import boundary, log_value_at, optimal_threshold, region, value, value_at


class Summary(TypedDict):
    """What `summary` returns."""

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


def summary(problem: Problem) -> Summary:
    """Everything `grbp solve` says, as plain numbers, lists and dictionaries.

    Lists run over the states from 1 to goal - 1; `states` names them. `log_values` says how
    small a value is that underflows to 0.
    """
    best = optimal_threshold(problem)
    policies = {"0": 0, "1": 1, "optimal": best}
    return Summary(
        goal=problem.goal,
        p_c=problem.p_c,
        p_f=problem.p_f,
        start=problem.canonical_start,
        boundary=boundary(problem.goal, problem.p_c),
        optimal_threshold=best,
        region=str(region(problem)),
        states=problem.states.tolist(),
        values={name: value_at(problem, tau).tolist() for name, tau in policies.items()},
        log_values={name: log_value_at(problem, tau).tolist() for name, tau in policies.items()},
        value={name: value(problem, tau) for name, tau in policies.items()}
        | {"finish-now": problem.p_f},
        gap_max=gap_max(problem),
        gap=gap(problem),
        margin=margin(problem),
        slots={name: expected_slots(problem, tau) for name, tau in policies.items()},
    )
