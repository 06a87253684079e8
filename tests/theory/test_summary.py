"""The summary of a problem says what the functions say."""

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
