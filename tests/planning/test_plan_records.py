"""A plan after records says what these hold against its model, and plans by group or by state."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fits import counted, joined, two_sites, walked

import grbp
from grbp.errors import InvalidInput
from grbp.fitting.result import Fit
from grbp.planning.printed_plan import summarize_group
from grbp.planning.records import read_past

ALIKE = "It does not hold that cases are alike."

SIZE: dict[str, Any] = {"cases": 20, "replicas": 20}


def stored(fit: Fit) -> dict[str, Any]:
    """What a file holds of a fit."""
    plain: dict[str, Any] = json.loads(json.dumps(fit.to_dict()))
    return plain


def by_state() -> Fit:
    """A fit that asks to finish in the highest state, where continuing often fails."""
    c = ((900, 1000), (500, 1000), (100, 1000))
    fit = counted(c, ((100, 1000), (100, 1000), (800, 1000)))
    assert [row.action for row in fit.by_state] == ["continue", "continue", "finish"]
    return replace(fit, decision="by-state")


def test_doubts_come_first() -> None:
    fit = replace(walked(120), doubts=(ALIKE, "Cases drift."))
    plan = grbp.plan(records=fit, **SIZE)
    assert plan.doubts == (ALIKE, "Cases drift.")
    lead = "The records raise doubts about the model on which this plan rests."
    start = f"{lead} {ALIKE} What is planned holds if"
    assert plan.sentence.startswith(start)
    assert "does not say how long learning takes" in plan.sentence
    assert " ".join(plan.summary().split()).startswith(start)
    assert "raise doubts about the model" in repr(plan)
    told = plan.to_dict()
    assert told["doubts"] == [ALIKE, "Cases drift."]
    assert told["sentence"] == plan.sentence
    assert plan.by_group == {}


def test_without_doubts_nothing_is_said_against_the_plan() -> None:
    plan = grbp.plan(records=walked(120), **SIZE)
    assert plan.doubts == ()
    assert plan.sentence.startswith("With 20 more cases")


def apart() -> dict[str, Fit]:
    """Fits of two groups that speak against taking them together, by the code of why."""
    never = joined(
        a=grbp.example_records(cases=200, seed=1, finish=1.0),
        b=grbp.example_records(cases=200, seed=2, finish=0.0),
    )
    return {
        "by-group": replace(walked(120, group="group"), decision="by-group"),
        "groups": grbp.fit(two_sites(1000, 0), 4, group="site"),
        "uncovered": grbp.fit(never, 4, group="site"),
        "pooled": grbp.fit(two_sites(1000, 1, p_f=(0.45, 0.1)), 4, group="site"),
    }


@pytest.mark.parametrize("why", ["by-group", "groups", "uncovered", "pooled"])
def test_groups_that_cannot_be_taken_together_have_plans_of_their_own(why: str) -> None:
    past = read_past(apart()[why])
    assert past.groups_differ
    assert read_past(stored(apart()[why])) == past


def test_words_about_groups_do_not_decide() -> None:
    told = replace(walked(120, group="group"), doubts=("The group is small.",))
    assert not read_past(told).groups_differ
    wordless = replace(apart()["groups"], doubts=())
    assert read_past(wordless).groups_differ


def test_groups_that_differ_have_plans_of_their_own() -> None:
    fit = apart()["by-group"]
    plan = grbp.plan(records=fit, **SIZE)
    assert list(plan.by_group) == ["a<b", "c&d"]
    for name, own in plan.by_group.items():
        alone = grbp.plan(records=fit.by_group[name], **SIZE)
        assert own.to_dict() == alone.to_dict()
        assert own.past_cases == fit.by_group[name].cases == 60
        assert f"{name}: {summarize_group(own)[:60]}" in " ".join(plan.summary().split())
    assert "there is a plan for each of them" in plan.sentence
    assert "All groups together: With 20 more cases" in plan.summary()
    told = plan.to_dict()
    assert told["by_group"]["a<b"] == plan.by_group["a<b"].to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    rows = list(plan.cells())
    assert plan.columns[0] == "group"
    assert [row[0] for row in rows] == [name for name in ("", "a<b", "c&d") for _ in range(9)]
    assert all(len(row) == len(plan.columns) for row in rows)


def test_a_group_that_never_finished_is_planned_with_what_all_know() -> None:
    fit = replace(walked(120, group="group"), decision="by-group")
    one, other = fit.by_group.values()
    groups = {"never": replace(one, p_f=None), "some": other}
    plan = grbp.plan(records=replace(fit, by_group=groups), **SIZE)
    never = plan.by_group["never"]
    assert {truth.p_f for truth in never.truths} == {truth.p_f for truth in plan.truths}
    assert {truth.p_c for truth in never.truths} != {truth.p_c for truth in plan.truths}


def test_a_threshold_has_its_price_where_states_differ() -> None:
    fit = by_state()
    lost = read_past(fit).lost_by_state
    # By hand: u(1) to u(3) with and without FINISH in 3, from the states as they were visited.
    up = [(row.c_up + 0.5) / (row.c + 1.0) for row in fit.by_state]
    won = [(row.f_goal + 0.5) / (row.f + 1.0) for row in fit.by_state]
    weights = np.array(fit.first_states) / sum(fit.first_states)

    def goals(finish: tuple[int, ...]) -> float:
        move, end = np.zeros((3, 3)), np.zeros(3)
        for k in range(3):
            if k + 1 in finish:
                end[k] = won[k]
                continue
            if k < 2:
                move[k, k + 1] = up[k]
            else:
                end[k] = up[k]
            if k > 0:
                move[k, k - 1] = 1.0 - up[k]
        return 100.0 * float(weights @ np.linalg.solve(np.eye(3) - move, end))

    assert lost == pytest.approx(goals((3,)) - max(goals(()), goals((1,))))
    assert lost is not None
    assert lost > 5.0
    plan = grbp.plan(records=fit, **SIZE)
    assert plan.lost_by_state == lost
    assert (
        f"which no learner of thresholds learns: judged by the shares of each state, the better"
        f" threshold loses {lost:.2g} goals in 100 cases against it." in plan.sentence
    )


def test_where_cases_jump_the_price_of_a_threshold_is_not_said() -> None:
    fit = by_state()
    rows = (fit.by_state[0]._replace(jumps=1), *fit.by_state[1:])
    plan = grbp.plan(records=replace(fit, by_state=rows), **SIZE)
    assert plan.lost_by_state is None
    assert "which no learner of thresholds learns." in plan.sentence


@pytest.mark.parametrize(
    "fit",
    [
        replace(walked(120, group="group"), doubts=(ALIKE,)),
        by_state(),
    ],
)
def test_a_file_says_what_the_fit_says(fit: Fit) -> None:
    assert read_past(stored(fit)) == read_past(fit)


@pytest.mark.parametrize(
    "wrong", [{"doubts": 7}, {"by_group": {"a": 3}}, {"by_state": [5]}, {"by_group": ["a"]}]
)
def test_a_file_that_no_fit_wrote_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"must be a result of grbp\.fit"):
        grbp.plan(records=stored(by_state()) | wrong, **SIZE)
