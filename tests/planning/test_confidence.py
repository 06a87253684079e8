"""How sure one is: the quick kernel beside the exact posterior, and boxes that skip looks."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from grbp.numerics.beta import beta_tail, beta_tail_roughly
from grbp.planning.confidence import (
    chance_of_threshold_1,
    find_sure_threshold,
    is_inside_box,
    is_sure,
)
from grbp.theory.posterior import Posterior

ENOUGH = 1e-4
"""What the kernel promises."""

COUNTS = st.one_of(st.integers(0, 9), st.integers(0, 300), st.integers(0, 20_000))
GOALS = st.sampled_from([2, 3, 4, 7, 10, 50, 1000])


@example(50, 3, 3, 1, 1)  # the bend of the boundary in the middle
@example(1000, 9, 8, 1, 18380)  # and p_f known far better
@example(4, 65, 26, 5, 2)  # the bend at the edge
@example(2, 0, 267, 203, 9837)
@given(GOALS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_kernel_agrees_with_the_posterior(
    goal: int, ups: int, downs: int, wins: int, losses: int
) -> None:
    exact = Posterior(goal, ups, downs, wins, losses).probability
    assert chance_of_threshold_1(goal, ups, downs, wins, losses) == pytest.approx(exact, abs=ENOUGH)


@pytest.mark.parametrize(
    ("goal", "counts"), [(4, (0, 0, 0, 0)), (4, (12, 15, 3, 10)), (10, (6, 6, 1, 2))]
)
def test_the_kernel_agrees_with_higher_precision(
    goal: int, counts: tuple[int, int, int, int]
) -> None:
    ups, downs, wins, losses = (mpmath.mpf(count) + 0.5 for count in counts)

    def above(t: mpmath.mpf) -> mpmath.mpf:
        p = mpmath.sin(t) ** 2
        b = 1 / mpmath.fsum(((1 - p) / p) ** k for k in range(goal))
        density = 2 * mpmath.sin(t) ** (2 * ups - 1) * mpmath.cos(t) ** (2 * downs - 1)
        return density * mpmath.betainc(wins, losses, b, 1, regularized=True)

    with mpmath.workdps(20):
        total = mpmath.quad(above, [0, mpmath.pi / 8, mpmath.pi / 4, mpmath.pi / 2])
        exact = float(total / mpmath.beta(ups, downs))
    assert chance_of_threshold_1(goal, *counts) == pytest.approx(exact, abs=ENOUGH)


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.02, 0.3, 0.5, 0.9, 1.0 - 1e-9, 1.0])
@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.5, 3.5), (40.5, 0.5), (7.5, 20.5), (1e3, 3e3)])
def test_a_rough_tail_is_nearly_the_exact_one(a: float, b: float, x: float) -> None:
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    rough = beta_tail_roughly(a, b, x, log_beta, 1e-6)
    assert rough == pytest.approx(beta_tail(a, b, x), abs=3e-6)


def points_to(goal: int, ups: int, downs: int, wins: int, losses: int) -> int:
    """The threshold to which the two shares point, in whole numbers; -1 if there is none."""
    if ups + downs == 0 or wins + losses == 0:
        return -1
    odds = sum(Fraction(downs, ups) ** k for k in range(goal)) if ups else None
    worth = 1 / odds if odds is not None else Fraction(0)
    share = Fraction(wins, wins + losses)
    return -1 if share == worth else int(share > worth)


@given(GOALS, *[st.integers(0, 9)] * 4)
@example(10, 0, 8, 0, 1)  # nothing but losses: with a large goal, the prior is for threshold 1
@example(4, 9, 0, 9, 0)  # nothing but goals
def test_nobody_is_sure_by_the_prior_alone(
    goal: int, ups: int, downs: int, wins: int, losses: int
) -> None:
    seen, counts = np.array([ups, downs, wins, losses]), (ups, downs, wins, losses)
    sure = find_sure_threshold(goal, seen, 0.6, np.full((2, 3), -1))
    assert sure in (-1, points_to(goal, *counts))
    for threshold in range(2):
        box = np.full((2, 3), -1)
        box[:, 2] = 2
        assert is_sure(goal, seen, 0.6, threshold, box) == (sure == threshold)


def test_the_prior_would_be_sure_of_what_no_share_says() -> None:
    losses_only = (0, 8, 0, 1)
    assert chance_of_threshold_1(10, *losses_only) > 0.99
    assert find_sure_threshold(10, np.array(losses_only), 0.95, np.full((2, 3), -1)) == -1


@pytest.mark.parametrize("level", [pytest.param(0.8, marks=pytest.mark.slow), 0.95])
@pytest.mark.parametrize(("p_c", "p_f"), [(0.5, 0.12), (0.45, 0.3), (0.5, 0.27)])
def test_a_box_never_hides_that_one_is_sure(p_c: float, p_f: float, level: float) -> None:
    random = np.random.default_rng(3)
    seen, box = np.zeros(4, dtype=np.int64), np.full((2, 3), -1, dtype=np.int64)
    box[:, 2] = 2
    skipped, sure = 0, 0
    for _ in range(400):
        up, won = random.random() < p_c, random.random() < p_f
        seen[0 if up else 1] += 1
        if random.random() < 0.4:
            seen[2 if won else 3] += 1
        chance = chance_of_threshold_1(4, *seen.tolist())
        side = points_to(4, *seen.tolist())
        for threshold, right in ((1, chance), (0, 1.0 - chance)):
            skips = is_inside_box(seen, threshold, box)
            answer = not skips and is_sure(4, seen, level, threshold, box)
            surely = right >= level and side == threshold
            assert answer == surely or abs(right - level) < 2 * ENOUGH
            skipped += skips
            sure += answer
        expected = side if (1.0 - chance, chance, 0.0)[side] >= level else -1
        close = abs(max(chance, 1.0 - chance) - level) < 2 * ENOUGH
        assert find_sure_threshold(4, seen, level, box) == expected or close
        assert find_sure_threshold(4, seen, level, np.full((2, 3), -1)) == expected
    assert skipped > 200
    assert sure > 0
