"""What a page says of the price of learning."""

import math
from typing import Any

import pytest

from grbp import Problem, Study, getbe_bound
from grbp.live.queries import read_config
from grbp.live.store import open_store
from grbp.serve.rendering import describe_regret
from grbp.theory.bounds import regret_floor

WON, LOST = ["1f4", "2c3c4"], ["1f0", "2c1c0"]


def played(paths: list[str], **choices: Any) -> tuple[list[str], Study]:
    """What is said of a study, of which each case is a first state and its moves."""
    store = open_store("memory")
    study = Study.create(store, "ward", 4, **{"learner": "getbe-sm"} | choices)
    for path in paths:
        advice = study.open_case(int(path[0]), group="a" if "groups" in choices else None)
        for action, state in zip(path[1::2], path[2::2], strict=True):
            took = "finish" if action == "f" else "continue"
            study.tell(advice.case, int(state), took=took, why="so it was")
    return describe_regret(read_config(store, "ward"), study.status()), study


@pytest.mark.parametrize(
    "paths",
    [[*WON, *LOST] * 5, ["2c3c4"] * 20 + ["1c0", "1f4"] + ["1f0"] * 9],
    ids=["stops", "goes on"],
)
def test_what_learning_costs_is_that_of_the_estimates_with_all_that_it_takes_for_granted(
    paths: list[str],
) -> None:
    (bound, floor, granted), study = played(paths)
    basis = study.status().basis
    problem = Problem(4, basis.p_c.estimate, basis.p_f.estimate)
    least = regret_floor(problem) * math.log(len(paths))
    gamma = read_config(study._store, "ward").constants["gamma"]
    assert bound == f"No regret bound applies: {getbe_bound(problem, gamma, len(paths)).why}."
    assert (least > 0.0) == (len(paths) == 31)
    if least > 0.0:
        assert f"less than about {least:.3g} wins in {len(paths)} cases" in floor
    else:
        assert floor.startswith("If the chances are as estimated, losses can stop")
    assert granted == (
        "All this holds on average, if the chances are exactly as estimated, starts are spread"
        " evenly over the states, cases come one at a time, and advice is followed."
    )


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"shadow": True}, "nobody is advised"),
        ({"groups": ["a", "b"]}, "in every group and at all times"),
        ({"memory": 50}, "in every group and at all times"),
        ({"learner": "getbe-ps"}, "its Theorem 3 is for the learner getbe-sm"),
    ],
)
def test_where_no_bound_applies_it_is_said_why(choices: dict[str, Any], words: str) -> None:
    said, _ = played([*WON, *LOST], **choices)
    assert said[0].startswith("No regret bound")
    assert words in said[0]


@pytest.mark.parametrize("paths", [[], ["2c3c4"]])
def test_before_both_actions_were_seen_nothing_can_be_computed(paths: list[str]) -> None:
    (said,), _ = played(paths)
    assert said == "No regret bound can be computed before a case was opened and both actions seen."
