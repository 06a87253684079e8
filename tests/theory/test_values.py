"""Closed forms against 60-digit arithmetic, and the laws that tie them together."""

import math
import sys

import mpmath
import numpy as np
import pytest
from digits import (
    hit as wide_hit,
    number,
    optimum,
    relative_error,
    ruin,
    steps,
    value as wide_value,
)
from draws import EXTREMES, goals, large_goals, probabilities, problems
from hypothesis import example, given, strategies as st

import grbp
from grbp import Problem
from grbp.theory.ruin import duration, hit, log_failure_ratio, log_hit

DIGITS = 1e-12
SMALLEST = 1e-300
"""Below this a float has fewer digits than it could; the logarithm takes over."""


@given(st.data(), large_goals, probabilities)
def test_hitting_probability_keeps_twelve_digits(data: st.DataObject, n: int, p_c: float) -> None:
    i = data.draw(st.integers(0, n))
    log_r = log_failure_ratio(p_c)
    true = wide_hit(i, n, p_c)
    if true > SMALLEST:
        assert relative_error(float(hit(i, n, log_r)), true) < DIGITS
    other = ruin(i, n, p_c)
    if other > SMALLEST:
        assert relative_error(float(hit(n - i, n, -log_r)), other) < DIGITS
    if true > 0:
        log = mpmath.log(true)
        if abs(log) > SMALLEST:
            assert relative_error(float(log_hit(i, n, log_r)), log) < DIGITS


@given(st.data(), large_goals, probabilities)
def test_duration_keeps_twelve_digits(data: st.DataObject, n: int, p_c: float) -> None:
    i = data.draw(st.integers(0, n))
    assert relative_error(float(duration(i, n, log_failure_ratio(p_c))), steps(i, n, p_c)) < DIGITS


@pytest.mark.parametrize("p_c", EXTREMES)
@pytest.mark.parametrize("goal", [2, 3, 4, 1000, pytest.param(10**6, marks=pytest.mark.slow)])
def test_values_keep_twelve_digits_up_to_a_million_states(goal: int, p_c: float) -> None:
    problem = Problem(goal, p_c, 0.3)
    for tau in (0, 1):
        values = grbp.value_at(problem, tau)
        logs = grbp.log_value_at(problem, tau)
        for s in {1, 2, goal // 2, goal - 2, goal - 1} & set(range(1, goal)):
            true = wide_value(goal, p_c, 0.3, tau, s)
            if true > SMALLEST:
                assert relative_error(values[s - 1], true) < DIGITS
            assert relative_error(logs[s - 1], mpmath.log(true)) < DIGITS
    assert not np.isnan(values).any()


@given(problems())
def test_any_threshold_keeps_twelve_digits(problem: Problem) -> None:
    goal, p_c, p_f = problem.goal, problem.p_c, problem.p_f
    for tau in {0, 1, goal // 2, goal - 1}:
        values = grbp.value_at(problem, tau)
        for s in {1, tau, tau + 1, goal - 1} & set(range(1, goal)):
            true = wide_value(goal, p_c, p_f, tau, s)
            if true > SMALLEST:
                assert relative_error(values[s - 1], true) < DIGITS


@given(problems())
def test_gaps_keep_twelve_digits(problem: Problem) -> None:
    goal, p_c, p_f = problem.goal, problem.p_c, problem.p_f
    for tau in {0, 1, goal // 2, goal - 1}:
        gaps = grbp.gap_at(problem, tau)
        for s in {1, 2, tau, goal - 1} & set(range(1, goal)):
            true = optimum(goal, p_c, p_f, s) - wide_value(goal, p_c, p_f, tau, s)
            if true > 1e-290:
                assert relative_error(gaps[s - 1], true) < DIGITS


@given(goals, probabilities, st.integers(-40, 40))
def test_gap_survives_next_to_the_boundary(goal: int, p_c: float, ulps: int) -> None:
    # p_f and B agree to 14 digits here; their difference must still have 12.
    p_f = grbp.boundary(goal, p_c) * (1 + ulps * 2.0**-48)
    if not SMALLEST < p_f < 1 or ulps == 0:
        return
    true = abs(number(p_f) - wide_hit(1, goal, p_c))
    assert relative_error(grbp.gap_max(Problem(goal, p_c, p_f)), true) < DIGITS


@given(problems(st.integers(2, 9)))
def test_policy_gaps_are_the_gaps_of_every_policy_in_bit_order(problem: Problem) -> None:
    gaps = grbp.policy_gaps(problem)
    best = grbp.value(problem, grbp.optimal_threshold(problem))
    assert len(gaps) == 2 ** (problem.goal - 1)
    for index, gap in enumerate(gaps):
        policy = [(index >> bit) & 1 for bit in range(problem.goal - 1)]
        assert math.isclose(gap, grbp.gap(problem, policy), rel_tol=1e-12, abs_tol=1e-300)
        assert abs(gap - (best - grbp.value(problem, policy))) < 4e-16 * problem.goal
    assert gaps.min() >= 0


def test_gaps_of_policies_that_differ_only_where_nobody_comes_are_equal() -> None:
    # From state 3, finishing in 2 and 4, states 1 and 5 are never seen.
    problem = Problem(6, 0.3, 0.4, start=3)
    seen = {grbp.gap(problem, [a, 1, 0, 1, b]) for a in (0, 1) for b in (0, 1)}
    assert len(seen) == 1


@given(problems())
def test_round_length_law_agrees_with_its_closed_forms(problem: Problem) -> None:
    for tau in (0, 1, problem.goal - 1):
        law = grbp.round_length(problem, tau, 60)
        total = law.goal.sum() + law.dead_end.sum() + law.beyond
        assert math.isclose(total, 1.0, rel_tol=1e-12)
        shown = np.arange(61) @ (law.goal + law.dead_end)
        # The mean lies between what is seen and that plus what is beyond, at 61 slots or more.
        slots = grbp.expected_slots(problem, tau)
        assert shown + 61 * law.beyond <= slots * (1 + 1e-12)
        won = grbp.value(problem, tau)
        assert law.goal.sum() * (1 - 1e-12) <= won <= (law.goal.sum() + law.beyond) * (1 + 1e-12)
        if law.beyond < 1e-18:
            assert math.isclose(shown, slots, rel_tol=1e-12)


def test_round_length_by_hand() -> None:
    # G = 3, from state 1, fair: dead at slot 1 w.p. 1/2; goal at slot 2 w.p. 1/4; back to 1.
    law = grbp.round_length(Problem(3, 0.5, 0.3, start=1), 0, 4)
    assert law.dead_end.tolist() == [0, 0.5, 0, 0.125, 0]
    assert law.goal.tolist() == [0, 0, 0.25, 0, 0.0625]
    assert law.beyond == 0.0625


@given(problems())
def test_slots_are_continues_plus_the_finish(problem: Problem) -> None:
    for tau in (0, 1, problem.goal - 1):
        continues = grbp.expected_continues(problem, tau)
        finish = grbp.finish_probability(problem, tau)
        slots = grbp.expected_slots(problem, tau)
        assert math.isclose(slots, continues + finish, rel_tol=1e-13)
    assert grbp.expected_continues(problem, problem.goal - 1) == 0


@given(problems())
def test_policy_given_by_actions_equals_its_threshold(problem: Problem) -> None:
    for tau in (0, 1, problem.goal // 2):
        actions = [int(s <= tau) for s in range(1, problem.goal)]
        assert grbp.value(problem, actions) == grbp.value(problem, tau)
        assert grbp.expected_slots(problem, actions) == grbp.expected_slots(problem, tau)


@pytest.mark.parametrize("p_c", [0.0, 1.0])
@pytest.mark.parametrize("p_f", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("goal", [2, 3, 7])
def test_certainties_are_the_limits(goal: int, p_c: float, p_f: float) -> None:
    problem = Problem(goal, p_c, p_f)
    near = Problem(goal, abs(p_c - 1e-13), abs(p_f - 1e-13))
    for tau in range(goal):
        np.testing.assert_allclose(
            grbp.value_at(problem, tau), grbp.value_at(near, tau), atol=1e-11
        )
        np.testing.assert_allclose(
            grbp.slots_at(problem, tau), grbp.slots_at(near, tau), rtol=1e-11
        )
    assert math.isclose(grbp.margin(problem), grbp.margin(near), abs_tol=1e-12)
    assert math.isclose(grbp.gap_max(problem), grbp.gap_max(near), abs_tol=1e-11)
    assert grbp.boundary(goal, p_c) == p_c


def test_the_two_settings_of_the_paper() -> None:
    # Figures 3 and 4: G = 4, uniform start, p_F = .3 and p_C = .45 or .65.
    for p_c, tau, v_0, v_1, slots_0, slots_1, delta in [
        (0.45, 1, 0.417326733, 0.502325581, 3.3069, 2.0399, 0.0692708159),
        (0.65, 0, 0.733486239, 0.623948220, 3.1131, 1.8317, 0.1010133692),
    ]:
        problem = Problem(4, p_c, 0.3)
        assert grbp.optimal_threshold(problem) == tau
        assert grbp.value(problem, 0) == pytest.approx(v_0, abs=5e-10)
        assert grbp.value(problem, 1) == pytest.approx(v_1, abs=5e-10)
        assert grbp.expected_slots(problem, 0) == pytest.approx(slots_0, abs=5e-5)
        assert grbp.expected_slots(problem, 1) == pytest.approx(slots_1, abs=5e-5)
        assert grbp.margin(problem) == pytest.approx(delta, abs=5e-11)
        # Finishing at once is worth p_F whatever the state (a forced exploration).
        assert grbp.value(problem, 3) == 0.3


@given(problems(), st.integers(-4, 4))
def test_margin_is_no_more_than_any_distance_seen(problem: Problem, k: int) -> None:
    x = np.clip(np.append(np.linspace(0, 1, 301), 0.5 + k * 1e-4), 0, 1)
    seen = np.hypot(x - problem.p_c, grbp.boundary(problem.goal, x) - problem.p_f).min()
    delta = grbp.margin(problem)
    assert delta <= seen * (1 + 1e-12)
    # B rises at most 4 times as fast as p_c for large goals, so delta is not far below either.
    assert delta >= grbp.gap_max(problem) / math.sqrt(17) * (1 - 1e-9)
    assert delta <= grbp.gap_max(problem)


def test_summary_reports_what_the_functions_say() -> None:
    problem = Problem(5, 0.6, 0.2, start={1: 0.25, 4: 0.75})
    said = grbp.summary(problem)
    assert said["values"]["1"] == grbp.value_at(problem, 1).tolist()
    assert said["value"]["finish-now"] == 0.2
    assert said["states"] == [1, 2, 3, 4]
    assert said["gap"] == grbp.finish_probability(problem) * grbp.gap_max(problem)
    assert said["start"] == ((1, 0.25), (4, 0.75))


@given(goals, probabilities)
@example(11, 0.25)
def test_the_boundary_is_rounded_correctly(goal: int, p_c: float) -> None:
    assert grbp.boundary(goal, p_c) == float(wide_hit(1, goal, p_c))
    assert grbp.boundary(goal, [p_c, 0.5]).tolist() == [grbp.boundary(goal, p_c), 1 / goal]


@given(goals, probabilities)
@example(11, 0.25)
def test_a_tie_is_a_tie_for_every_answer(goal: int, p_c: float) -> None:
    b = grbp.boundary(goal, p_c)
    if b < sys.float_info.min:  # a float so small has fewer digits than a tie has
        return
    problem = Problem(goal, p_c, b)
    assert grbp.gap_max(problem) == grbp.gap(problem) == grbp.gap(problem, 0) == 0.0
    assert grbp.gap(problem, 1) == grbp.margin(problem) == 0.0
    assert grbp.optimal_threshold(problem) == 1
    assert grbp.region(problem) == grbp.Region.NO_EXPLORATION


@given(problems())
def test_gaps_are_never_negative(problem: Problem) -> None:
    for policy in (0, 1, problem.goal - 1, [s % 2 for s in range(1, problem.goal)]):
        assert (grbp.gap_at(problem, policy) >= 0.0).all()


@given(goals, st.sampled_from([0.9, 0.999, 1 - 1e-9]), st.sampled_from([0.5, 1 - 1e-9]))
def test_logarithm_next_to_one_is_that_of_what_is_missing(
    goal: int, p_c: float, p_f: float
) -> None:
    logs = grbp.log_value_at(Problem(goal, p_c, p_f), 1)
    for s in {1, goal // 2, goal - 1} & set(range(1, goal)):
        log = mpmath.log(wide_value(goal, p_c, p_f, 1, s))
        if abs(log) > SMALLEST:
            assert relative_error(logs[s - 1], log) < DIGITS


def margin_next_to(goal: int, x: float, away: float) -> tuple[float, float]:
    """The margin of a problem a little above the curve, and what it is to first order."""
    p_f = grbp.boundary(goal, x) + away
    slope = (grbp.boundary(goal, x + 1e-6) - grbp.boundary(goal, x - 1e-6)) / 2e-6
    gap = grbp.gap_max(Problem(goal, x, p_f))
    return grbp.margin(Problem(goal, x, p_f)), gap / math.sqrt(1 + slope**2)


@pytest.mark.parametrize("goal", [3, 4, 50])
@pytest.mark.parametrize("x", [0.3, 0.52, 0.8])
def test_margin_next_to_the_curve(goal: int, x: float) -> None:
    margin, expected = margin_next_to(goal, x, 1e-9)
    assert margin == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("goal", [3, 4, 1000])
@pytest.mark.parametrize("missing", [1e-6, 1e-10, 1e-13])
def test_margin_in_the_corner(goal: int, missing: float) -> None:
    # Next to (1, 1) the curve is the diagonal.
    problem = Problem(goal, 1.0, 1.0 - missing)
    assert grbp.margin(problem) == pytest.approx((1 - problem.p_f) / math.sqrt(2), rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("p_c", [0.3, 0.5, 0.500001, 0.7])
def test_gaps_keep_twelve_digits_up_to_a_million_states(p_c: float) -> None:
    goal = 10**6
    problem = Problem(goal, p_c, 0.3)
    for tau in (0, 1, 2, goal - 1):
        gaps = grbp.gap_at(problem, tau)
        for s in (1, 2, 1000, goal - 1):
            true = optimum(goal, p_c, 0.3, s) - wide_value(goal, p_c, 0.3, tau, s)
            if true > 1e-290:
                assert relative_error(gaps[s - 1], true) < DIGITS
