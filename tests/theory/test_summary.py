"""The summary of a problem says what the functions say."""

from typing import Any

import pytest

import grbp
from grbp import Problem


def test_summary_reports_what_the_functions_say() -> None:
    problem = Problem(5, 0.6, 0.2, start={1: 0.25, 4: 0.75})
    said = grbp.summary(problem)
    assert said["values"]["1"] == grbp.value_at(problem, 1).tolist()
    assert said["value"]["finish-now"] == 0.2
    assert said["states"] == [1, 2, 3, 4]
    assert said["gap"] == grbp.finish_probability(problem) * grbp.gap_max(problem)
    assert said["start"] == ((1, 0.25), (4, 0.75))


def test_summary_of_some_states_is_a_part_of_that_of_all() -> None:
    problem = Problem(9, 0.4, 0.3, start=2)
    whole: dict[str, Any] = {**grbp.summary(problem)}
    part: dict[str, Any] = {**grbp.summary(problem, [7, 2])}
    for name in ("values", "log_values"):
        for policy, values in part[name].items():
            assert values == [whole[name][policy][6], whole[name][policy][1]]
    assert part["states"] == [7, 2]
    for name in set(whole) - {"states", "values", "log_values"}:
        assert part[name] == whole[name]
    wrong: list[Any] = [0, 9, 1.5]
    for state in wrong:
        with pytest.raises(grbp.InvalidInput, match="state = "):
            grbp.summary(problem, [state])
