"""Gaps against 60-digit arithmetic, next to the boundary too, and against one another."""

import math

import pytest
from digits import (
    DIGITS,
    SMALLEST,
    hit as wide_hit,
    number,
    optimum,
    relative_error,
    value as wide_value,
)
from draws import goals, probabilities, problems
from hypothesis import example, given, strategies as st

import grbp
from grbp import Problem, StartLike
from grbp.theory.gaps import threshold_gaps


@given(problems())
@example(Problem(4, 1 - 1e-12, 1 - 1e-9))
def test_gaps_keep_twelve_digits(problem: Problem) -> None:
    if grbp.gap_max(problem) == 0.0:  # a tie, whose gaps are 0 by decree
        return
    goal, p_c, p_f = problem.goal, problem.p_c, problem.p_f
    for tau in {0, 1, goal // 2, goal - 1}:
        gaps = grbp.gap_at(problem, tau)
        for s in {1, 2, tau, goal - 1} & set(range(1, goal)):
            true = optimum(goal, p_c, p_f, s) - wide_value(goal, p_c, p_f, tau, s)
            if true > 1e-290:
                assert relative_error(gaps[s - 1], true) < DIGITS


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
def test_gaps_are_never_negative(problem: Problem) -> None:
    for policy in (0, 1, problem.goal - 1, [s % 2 for s in range(1, problem.goal)]):
        assert (grbp.gap_at(problem, policy) >= 0.0).all()


def test_gaps_of_many_problems_are_those_of_each() -> None:
    points = (0.0, 0.3, 0.45, 0.5, 0.5 + 1e-9, 0.7, 1.0)
    cases: list[tuple[int, StartLike]] = [(2, 1), (4, "uniform"), (4, {1: 0.5, 3: 0.5}), (30, 7)]
    for goal, start in cases:
        many = [Problem(goal, p_c, p_f, start) for p_c in points for p_f in points]
        thresholds = sorted({0, 1, goal - 1})
        each = [[grbp.gap(problem, threshold) for threshold in thresholds] for problem in many]
        assert threshold_gaps(many, thresholds).tolist() == each
