"""Values and the boundary against 60-digit arithmetic, and laws that tie all answers together."""

import math
import sys

import mpmath
import numpy as np
import pytest
from digits import DIGITS, SMALLEST, hit as wide_hit, relative_error, value as wide_value
from draws import EXTREMES, goals, probabilities, problems
from hypothesis import example, given, strategies as st

import grbp
from grbp import Problem


@pytest.mark.sample("2-*", "1000000-0.5*")
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


@given(goals, st.sampled_from([0.9, 0.999, 1 - 1e-9]), st.sampled_from([0.5, 1 - 1e-9]))
def test_logarithm_next_to_one_is_that_of_what_is_missing(
    goal: int, p_c: float, p_f: float
) -> None:
    logs = grbp.log_value_at(Problem(goal, p_c, p_f), 1)
    for s in {1, goal // 2, goal - 1} & set(range(1, goal)):
        log = mpmath.log(wide_value(goal, p_c, p_f, 1, s))
        if abs(log) > SMALLEST:
            assert relative_error(logs[s - 1], log) < DIGITS
