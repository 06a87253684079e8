"""The margin against every distance that is seen, next to the curve and in its corner."""

import math

import numpy as np
import pytest
from draws import problems
from hypothesis import given, strategies as st

import grbp
from grbp import Problem


@given(problems(), st.integers(-4, 4))
def test_margin_is_no_more_than_any_distance_seen(problem: Problem, k: int) -> None:
    x = np.clip(np.append(np.linspace(0, 1, 301), 0.5 + k * 1e-4), 0, 1)
    seen = np.hypot(x - problem.p_c, grbp.boundary(problem.goal, x) - problem.p_f).min()
    delta = grbp.margin(problem)
    assert delta <= seen * (1 + 1e-12)
    # B rises at most 4 times as fast as p_c for large goals, so delta is not far below either.
    assert delta >= grbp.gap_max(problem) / math.sqrt(17) * (1 - 1e-9)
    assert delta <= grbp.gap_max(problem)


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


@pytest.mark.parametrize("goal", [3, 10, 1000])
@pytest.mark.parametrize("p_c", [1e-18, 2.8e-20, 1e-100])
@pytest.mark.parametrize("p_f", [0.0, 1e-176, 1e-30])
def test_margin_in_the_other_corner(goal: int, p_c: float, p_f: float) -> None:
    # Next to (0, 0) the curve is all but flat, so that the nearest point is below or above.
    problem = Problem(goal, p_c, p_f)
    assert grbp.margin(problem) == pytest.approx(grbp.gap_max(problem), rel=1e-9)
