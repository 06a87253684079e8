"""Intervals, Beta quantiles and chi-squared tails against SciPy, statsmodels and 40 digits."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
from optional import optional
from scipy import stats

import grbp
from grbp import InvalidInput
from grbp.numerics.beta import beta_below, beta_quantile, beta_tail
from grbp.numerics.intervals import Interval, anytime, clopper_pearson, jeffreys, wilson
from grbp.numerics.special import chi2_tail

Method = Callable[..., Interval]
METHODS: list[Method] = [wilson, jeffreys, clopper_pearson, anytime]
LEVELS = [0.5, 0.8, 0.95, 0.999]


def samples() -> Iterator[tuple[int, int]]:
    """Successes and tries: none, all, and shares in between, up to ten million tries."""
    for tries in (1, 2, 7, 20, 143, 1000, 54_321, 10**7):
        shares = {0, 1, tries // 10, tries // 3, tries // 2, tries - 1, tries}
        yield from ((successes, tries) for successes in sorted(shares))


@pytest.mark.soak
@pytest.mark.parametrize("level", LEVELS)
def test_intervals_equal_those_of_statsmodels(level: float) -> None:
    proportion_confint = optional("statsmodels.stats.proportion").proportion_confint
    for (method, name), (s, n) in itertools.product(
        [(wilson, "wilson"), (jeffreys, "jeffreys"), (clopper_pearson, "beta")], samples()
    ):
        low, high = proportion_confint(s, n, alpha=1 - level, method=name)
        assert method(s, n, level) == pytest.approx((low, high), rel=0, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_equal_those_of_scipy(level: float) -> None:
    for (method, name), (s, n) in itertools.product(
        [(wilson, "wilson"), (clopper_pearson, "exact")], samples()
    ):
        true = stats.binomtest(s, n).proportion_ci(level, method=name)
        assert method(s, n, level) == pytest.approx((true.low, true.high), rel=0, abs=1e-9)


def wide_anytime_excess(s: int, n: int, level: float, p: Any) -> Any:
    """Log of the mixture over the likelihood at p, less log(1/(1 - level)), to 40 digits."""
    mixture = mpmath.log(mpmath.beta(s + mpmath.mpf(0.5), n - s + mpmath.mpf(0.5)) / mpmath.pi)
    likelihood = (s * mpmath.log(p) if s else 0) + ((n - s) * mpmath.log1p(-p) if n > s else 0)
    return mixture - likelihood + mpmath.log1p(-mpmath.mpf(level))


@pytest.mark.parametrize("level", LEVELS)
def test_anytime_ends_where_the_mixture_has_gained_enough(level: float) -> None:
    with mpmath.workdps(40):
        for s, n in samples():
            low, high = anytime(s, n, level)
            assert (low == 0.0) == (s == 0)
            assert (high == 1.0) == (s == n)
            ends = ([mpmath.mpf(low)] if s else []) + ([mpmath.mpf(high)] if s < n else [])
            for end in ends:
                # One Newton step from our end to the exact one.
                slope = (s - n * end) / (end * (1 - end))
                assert abs(wide_anytime_excess(s, n, level, end) / slope) < 1e-12


def test_anytime_is_wider_than_every_interval_of_a_fixed_sample() -> None:
    for s, n in samples():
        low, high = anytime(s, n)
        for method in (wilson, jeffreys):
            inner = method(s, n)
            assert low <= inner.low
            assert inner.high <= high


@pytest.mark.parametrize("method", METHODS)
def test_laws_of_every_interval(method: Method) -> None:
    for s, n in samples():
        low, high = method(s, n)
        assert 0.0 <= low < high <= 1.0
        other = method(n - s, n)
        assert (1.0 - other.high, 1.0 - other.low) == pytest.approx((low, high), rel=0, abs=1e-15)
        wider = method(s, n, 0.99)
        assert wider.low <= low
        assert high <= wider.high
        if s < n:
            assert method(s + 1, n).low > low
    assert method(0, 0) == (0.0, 1.0)


def test_numbers_that_are_not_whole_are_interpolated() -> None:
    for method in METHODS:
        ends = [method(s, 40.5) for s in np.linspace(0.0, 40.5, 82)]
        assert (np.diff(ends, axis=0) > 0).all()
    low, high = stats.beta.ppf([0.025, 0.975], [7.25, 8.25], [13.25, 12.25])
    assert clopper_pearson(7.25, 19.5) == pytest.approx((low, high), rel=0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("successes", "tries"),
    [(4, 3), (-1, 3), (0, -1), (math.nan, 3), (1, math.inf), ("1", 3), (None, 3)],
)
def test_counts_that_are_none_are_refused(method: Method, successes: Any, tries: Any) -> None:
    with pytest.raises(InvalidInput, match=r"0 <= successes <= tries$") as refusal:
        method(successes, tries)
    assert f"successes = {successes!r} of tries = {tries!r}" in str(refusal.value)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan, "0.95"])
def test_levels_that_are_none_are_refused(method: Method, level: Any) -> None:
    with pytest.raises(InvalidInput, match=r"level = .* was given; it must be a number between"):
        method(1, 3, level)


def test_intervals_are_public() -> None:
    assert [grbp.wilson, grbp.jeffreys, grbp.clopper_pearson, grbp.anytime] == METHODS
    assert grbp.Interval is Interval


COUNTS = [0.5, 1.0, 1.5, 4.5, 30.0, 999.5, 123_456.5, 1e7 + 0.5]
SHARES = [1e-12, 1e-4, 0.025, 0.3, 0.5, 0.6, 0.975, 1 - 1e-6]


@pytest.mark.parametrize("a", COUNTS)
def test_beta_quantile_equals_scipys(a: float) -> None:
    for b, p in itertools.product(COUNTS, SHARES):
        assert abs(beta_quantile(p, a, b) - stats.beta.ppf(p, a, b)) < 1e-12
    assert beta_quantile(0.0, a, 2.0) == 0.0
    assert beta_quantile(1.0, a, 2.0) == 1.0


@pytest.mark.parametrize("a", COUNTS)
def test_beta_quantile_inverts_the_distribution(a: float) -> None:
    for b, p in itertools.product(COUNTS, SHARES):
        x = beta_quantile(p, a, b)
        y = beta_quantile(1.0 - p, b, a)  # 1 - x, to all its digits
        small = beta_below(a, b, x) if x < 0.5 else beta_tail(b, a, y)
        assert small == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.5, 3.5), (0.5, 200.5), (40.5, 0.5)])
def test_beta_tails_hold_down_to_a_half(a: float, b: float) -> None:
    with mpmath.workdps(40):
        for x in (1e-15, 1e-4, 0.1, 0.5, 0.9, 1 - 1e-4):
            below = mpmath.betainc(a, b, 0, mpmath.mpf(x), regularized=True)
            assert beta_below(a, b, x) == pytest.approx(float(below), rel=1e-13)
            assert beta_tail(a, b, x) == pytest.approx(float(1 - below), rel=1e-13)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 20, 51, 300, 2001, 5000])
def test_chi_squared_tail_equals_scipys(df: int) -> None:
    for x in (0.0, 1e-9, 0.3, 1.0, 3.84, 10.0, 47.0, 300.0, 1400.0, 2000.0, 5500.0, math.inf):
        true = float(stats.chi2.sf(x, df))
        assert chi2_tail(x, df) == pytest.approx(true, rel=1e-11, abs=1e-300)
