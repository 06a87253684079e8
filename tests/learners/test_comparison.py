"""The kernels of the learners: against fractions, SciPy and root finders."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from draws import problems
from hypothesis import assume, given, strategies as st
from scipy import stats

from grbp import Problem, boundary, optimal_threshold
from grbp.learners.comparison import finish_is_right, odds_sum
from grbp.numerics.beta import beta_draw, beta_tail, gamma_draw
from grbp.numerics.jit import compile_function
from grbp.numerics.rng import fold_in


@given(st.floats(1e-3, 1e3), st.integers(1, 300))
def test_odds_sum_against_fractions(r: float, n: int) -> None:
    ratio = Fraction(r)
    exact = (ratio**n - 1) / (ratio - 1) if ratio != 1 else Fraction(n)
    assume(exact < Fraction(10) ** 300)
    assert abs(Fraction(odds_sum(r, n)) / exact - 1) < n * 4e-16


@pytest.mark.parametrize(
    ("r", "n", "exact"), [(1.0, 50, 50.0), (0.0, 9, 1.0), (2.0, 1, 1.0), (1e9, 900, math.inf)]
)
def test_odds_sum_at_the_edges(r: float, n: int, exact: float) -> None:
    assert odds_sum(r, n) == exact


@given(problems())
def test_finish_is_right_where_the_exact_answer_says_so(problem: Problem) -> None:
    b = boundary(problem.goal, problem.p_c)
    assume(abs(problem.p_f - b) > 1e-11 * b)
    answer = finish_is_right(problem.goal, problem.p_f, 1.0, problem.p_c, 1.0 - problem.p_c)
    assert answer == (optimal_threshold(problem) == 1)


def ties() -> Iterator[tuple[int, int, int, int, int]]:
    """Whole counters whose estimates lie exactly on the boundary."""
    for goal in (2, 3, 4, 6):
        for c in range(1, 30):
            for up in range(1, c + 1):
                total = sum(Fraction(c - up, up) ** i for i in range(goal))
                for k in (1, 2, 3, 7):
                    if k * total.numerator < 10_000:
                        yield goal, k * total.denominator, k * total.numerator, up, c - up


def test_ties_go_to_finish() -> None:
    """E11. One tie less in the numerator is no tie any more."""
    wrong = []
    for goal, won, tried, up, down in ties():
        if not finish_is_right(goal, won, tried, up, down):
            wrong.append((goal, won, tried, up, down))
        assert not finish_is_right(goal, won - 1, tried, up, down)
    assert wrong == []


@pytest.mark.parametrize("goal", [2, 4, 50])
def test_estimates_at_the_ends(goal: int) -> None:
    """A3: B = 0 where nothing moved up, B = 1 where everything did, 1/G at one half."""
    assert finish_is_right(goal, 0.0, 1.0, 0.0, 7.0)
    assert not finish_is_right(goal, 0.999, 1.0, 7.0, 0.0)
    assert finish_is_right(goal, 3.0, 3.0, 7.0, 0.0)
    assert finish_is_right(goal, 1.0, float(goal), 3.5, 3.5)
    assert not finish_is_right(goal, 0.999, float(goal), 3.5, 3.5)
    assert not finish_is_right(goal, 0.0, 1.0, 1e-3, 1.0)
    # The textbook form overflows here.
    assert finish_is_right(2000, 1e-9, 1.0, 0.001, 0.999)
    assert not finish_is_right(2000, 0.0, 1.0, 0.001, 0.999)


def _gammas(shape: float, begin: int, out: Any) -> None:
    for k in range(len(out)):
        out[k] = gamma_draw(fold_in(begin, k), shape)


def _betas(a: float, b: float, begin: int, out: Any) -> None:
    for k in range(len(out)):
        out[k] = beta_draw(fold_in(begin, k), a, b)


def test_gamma_draws_have_their_law() -> None:
    run = compile_function(_gammas)
    for shape in (1.0, 1.3, 5.0, 300.0, 1e5):
        out = np.zeros(20_000)
        run(shape, np.uint64(3), out)
        assert stats.kstest(out, stats.gamma(shape).cdf).pvalue > 1e-3, shape


@pytest.mark.slow
def test_beta_draws_have_their_law() -> None:
    run = compile_function(_betas)
    for a, b in ((1.0, 1.0), (1.5, 2.25), (1.0, 400.0), (900.0, 350.5), (1e5, 3e5)):
        out = np.zeros(20_000)
        run(a, b, np.uint64(4), out)
        assert stats.kstest(out, stats.beta(a, b).cdf).pvalue > 1e-3, (a, b)
        assert out.min() > 0.0
        assert out.max() < 1.0


@given(st.floats(1, 5000), st.floats(1, 5000), st.floats(-6, 6))
def test_beta_tail_against_scipy(a: float, b: float, z: float) -> None:
    law = stats.beta(a, b)
    x = float(np.clip(law.mean() + z * law.std(), 0.0, 1.0))
    assert beta_tail(a, b, x) == pytest.approx(law.sf(x), rel=1e-9, abs=1e-12)
