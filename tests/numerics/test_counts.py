"""Draws and tails against SciPy and many digits: on both sides of every switch, at any size."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from grbp.numerics.beta import (
    _WIDTH,
    _accepts_without_logarithms,
    _draw_beyond_layer,
    beta_below,
    beta_beyond_draw,
    beta_draw,
    beta_tail,
    beta_tail_bound,
    gamma_draw,
    gamma_pair,
    share_draw,
)
from grbp.numerics.counts import (
    beta_binomial_draw,
    binomial_draw,
    hypergeometric_draw,
    negative_binomial_draw,
    poisson_draw,
)
from grbp.numerics.jit import compile_function, kernel
from grbp.numerics.rng import fold_in, uniform
from grbp.numerics.special import deviance, log_binomial, stirling_error

Floats = NDArray[np.float64]
Draw = Callable[..., float]
SIZE = 400_000


def sampling(draw: Draw) -> Callable[..., None]:
    """What fills an array with the draws of the parts of a key."""

    def fill(out: Floats, key: int, arguments: tuple[Any, ...]) -> None:
        for i in range(len(out)):
            out[i] = draw(fold_in(key, i), *arguments)

    return fill


@cache
def compiled_sampling(draw: Draw) -> Callable[..., None]:
    return compile_function(sampling(draw))


def sample(draw: Draw, *arguments: float, key: int = 20, size: int = SIZE) -> Floats:
    out = np.empty(size)
    compiled_sampling(draw)(out, key, arguments)
    return out


def fit(drawn: Floats, law: Any) -> float:
    """The p-value of a chi-square test in up to a hundred cells that expect ten or more."""
    ends = [1e-4, 1e-3, *np.linspace(0.01, 0.99, 99), 0.999, 0.9999]
    cuts = np.unique(law.ppf(ends))[:-1]  # What lies beyond the last one may be next to nothing.
    expected = np.diff([0.0, *law.cdf(cuts), 1.0]) * len(drawn)
    found = np.bincount(np.searchsorted(cuts, drawn), minlength=len(expected))
    return float(stats.chisquare(found, expected).pvalue)


def hypergeometric(total: int, marked: int, taken: int) -> Any:
    """SciPy's law, or, where it would add up millions of terms, the normal one of a huge count."""
    if total <= 10**6:
        return stats.hypergeom(total, marked, taken)
    mean, others = taken * marked / total, 1.0 - marked / total
    return stats.norm(mean, math.sqrt(mean * others * (total - taken) / (total - 1)))


LAWS: list[tuple[Draw, tuple[float, ...], Any]] = [
    *(
        (binomial_draw, (n, p), stats.binom(n, p))
        for n, p in [
            (1, 0.3), (7, 0.5), (10, 0.05), (10, 0.93), (50, 0.01), (99, 0.1), (101, 0.1),
            (20, 0.5), (21, 0.49), (40, 0.7), (500, 0.98), (1000, 0.9905), (1000, 0.0095),
            (10**6, 9.9e-6), (10**6, 1.01e-5), (10**4, 0.1), (10**6, 0.5), (10**6, 0.999),
            (10**12, 1e-12), (10**12, 1e-6), (10**12, 0.5), (10**12, 1.0 - 1e-9), (10**15, 0.3),
        ]
    ),
    *(
        (poisson_draw, (mean,), stats.poisson(mean))
        for mean in [0.01, 0.5, 3.0, 9.9, 10.1, 14.04, 30.86, 1e3, 1e6]
    ),
    *((poisson_draw, (mean,), stats.norm(mean, math.sqrt(mean))) for mean in [1e12, 1e15, 2e18]),
    *(
        (negative_binomial_draw, (n, p), stats.nbinom(n, p))
        for n, p in [
            (1, 0.3), (1, 1e-6), (2, 0.9), (2, 0.17), (2, 0.16), (5, 0.999), (10, 0.5025),
            (10, 0.4975), (1000, 0.995), (1000, 0.1), (10**9, 1.0 - 5e-9), (10**9, 0.3),
        ]
    ),
    *(
        (hypergeometric_draw, case, hypergeometric(*case))
        for case in [
            (10, 4, 3), (10, 7, 8), (40, 20, 19), (40, 20, 21), (1000, 100, 99), (1000, 100, 101),
            (1000, 900, 101), (1000, 100, 899), (1000, 900, 899), (10**6, 10**5, 500),
            (10**13, 10**12, 10**12), (10**13, 6 * 10**12, 7 * 10**12), (10**13, 10**12, 10**11),
        ]
    ),
    *(
        (beta_binomial_draw, (n, a, b), stats.betabinom(n, a, b))
        for n, a, b in [(5, 1.0, 1.0), (30, 2.5, 1.0), (200, 3.5, 40.25), (1000, 30.0, 4.5)]
    ),
    # So many tries show the probability itself, here with a spread far above that of the tries.
    (beta_binomial_draw, (10**12, 2.5, 4.0), stats.beta(2.5, 4.0, scale=1e12)),
    (beta_binomial_draw, (10**15, 1e9, 1.5), stats.beta(1e9, 1.5, scale=1e15)),
    *((gamma_draw, (a,), stats.gamma(a)) for a in [1.0, 1.2, 2.0, 7.5, 100.0, 1e6]),
    (gamma_draw, (1e12,), stats.norm(1e12, 1e6)),
    *(
        (beta_draw, case, stats.beta(*case))
        for case in [(1.0, 1.0), (1.0, 3.0), (2.5, 1.3), (40.0, 7.0), (1e5, 1e3), (1e9, 2e9)]
    ),
    *(
        (share_draw, case, stats.beta(*case))
        for case in [(0.1, 0.1), (0.3, 1.0), (5.5, 0.2), (0.05, 3.0), (2.0, 3.0)]
    ),
]  # fmt: skip


@pytest.mark.sample(12)
@pytest.mark.slow
@pytest.mark.parametrize(("draw", "arguments", "law"), LAWS)
def test_draws_have_their_law(draw: Draw, arguments: tuple[float, ...], law: Any) -> None:
    size = SIZE if draw is not hypergeometric_draw else SIZE // 4  # It is slow.
    assert fit(sample(draw, *arguments, size=size), law) > 1e-4


def test_the_layers_of_the_ziggurat() -> None:
    # They close at the peak, where one more step reaches height 1.
    lowest, tail, last = (float(_WIDTH[k]) for k in (0, 1, 255))
    area = lowest * math.exp(-0.5 * tail * tail)
    assert area / last + math.exp(-0.5 * last * last) == pytest.approx(1.0, abs=1e-13)
    # At their rims, points are kept as often as the density says.
    for layer in (1, 100, 255):
        outer, inner = float(_WIDTH[layer]), float(_WIDTH[layer + 1])
        for share in (0.1, 0.8):
            x = -(inner + share * (outer - inner))
            heights = np.exp(-0.5 * np.array([x, outer, inner]) ** 2)
            kept = sum(_draw_beyond_layer(fold_in(layer, i), layer, x) == x for i in range(4000))
            chance = (heights[0] - heights[1]) / (heights[2] - heights[1])
            assert stats.binomtest(kept, 4000, chance).pvalue > 1e-4
    # Beyond the lowest one comes the tail of the normal law, on either side.
    for sign in (1.0, -1.0):
        beyond = [sign * _draw_beyond_layer(fold_in(1, i), 256, sign * 3.7) for i in range(4000)]
        assert stats.kstest(stats.norm.sf(beyond) / stats.norm.sf(tail), "uniform").pvalue > 1e-4


def test_gamma_draws_skip_logarithms_only_where_these_would_accept() -> None:
    sure = np.vectorize(_accepts_without_logarithms)
    for d in (2 / 3, 1.0, 4.0, 100.0):
        x = np.linspace(max(-3.7, -2.99 * math.sqrt(d)), 3.7, 400)
        z = x / (3.0 * math.sqrt(d))
        refused = -np.expm1(x**2 / 2 + d * (1.0 - (1.0 + z) ** 3 + 3.0 * np.log1p(z)))
        assert not sure(refused - 1e-12, z, x).any()
        assert sure(1.2 * refused + 1e-12, z, x).mean() > 0.5


def test_the_two_gammas_of_a_pair_are_independent() -> None:
    pairs = np.array([gamma_pair(fold_in(3, i), 2.0, 2.0) for i in range(20_000)])
    ranks = np.floor(stats.rankdata(pairs, axis=0) * 5 / 20_001).astype(int)
    table = np.bincount(ranks[:, 0] * 5 + ranks[:, 1], minlength=25).reshape(5, 5)
    assert stats.chi2_contingency(table).pvalue > 1e-4


BEYOND = [
    (1.0, 1.0, 0.3), (1.0, 5.0, 0.9), (5.0, 1.0, 0.999), (5.0, 1.0, 0.1), (3.5, 4.5, 0.0),
    (3.5, 4.5, 0.4), (3.5, 4.5, 0.55), (3.5, 4.5, 0.99), (50.0, 200.0, 0.21), (50.0, 200.0, 0.42),
    (1e9, 1e9, 0.5 + 7.9e-5), (1e9, 1e9, 0.5 + 1e-5), (1e9, 1e9, 0.5), (2.0, 1e9, 3e-8),
    (1e9, 3.0, 1.0 - 1e-13),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b", "x"), BEYOND)
def test_draws_beyond_a_point_have_the_law_that_is_left(a: float, b: float, x: float) -> None:
    drawn = sample(beta_beyond_draw, a, b, x, size=20_000)
    assert drawn.min() >= x
    left = special.betainc(b, a, 1.0 - drawn) / special.betainc(b, a, 1.0 - x)
    assert stats.kstest(left, "uniform").pvalue > 1e-4


def test_extreme_counts_need_no_chance() -> None:
    for i in range(9):
        assert [binomial_draw(i, n, p) for n, p in ((0, 0.3), (9, 0.0), (9, 1.0))] == [0, 0, 9]
        assert [negative_binomial_draw(i, n, p) for n, p in ((0, 0.3), (9, 1.0))] == [0, 0]
        assert poisson_draw(i, 0.0) == beta_binomial_draw(i, 0, 1.0, 2.0) == 0
        for case in [(9, 0, 4, 0), (9, 9, 4, 4), (9, 4, 0, 0), (9, 4, 9, 4), (0, 0, 0, 0)]:
            assert hypergeometric_draw(i, *case[:3]) == case[3]
    assert negative_binomial_draw(1, 1, 1e-300) == 4 * 10**18
    assert beta_beyond_draw(5, 2.0, 3.0, 1.0) == 1.0


def test_stirling_error_against_many_digits() -> None:
    with mpmath.workdps(60):
        for v in map(mpmath.mpf, [*10.0 ** np.linspace(-8, 18, 150), *range(1, 30)]):
            stirling = (v + 0.5) * mpmath.log(v) - v + mpmath.log(2 * mpmath.pi) / 2
            true = float(mpmath.loggamma(v + 1) - stirling)
            assert stirling_error(float(v)) == pytest.approx(true, rel=6e-16, abs=3e-16)
    assert stirling_error(0.0) == math.inf


def test_log_binomial_against_many_digits() -> None:
    rng = np.random.default_rng(1)
    for n in [1.0, 7.3, 100.0, 12345.6, 1e6, 1e9, 1e12]:
        for p in [1e-9, 0.01, 0.3, 0.5, 0.97, 1.0 - 1e-9]:
            around = n * p + math.sqrt(n * p * (1.0 - p)) * rng.normal(0, 2, 4)
            for x in [0.0, n, *np.clip(around, 0.0, n)]:
                with mpmath.workdps(60):
                    x_, n_, p_ = mpmath.mpf(float(x)), mpmath.mpf(n), mpmath.mpf(p)
                    true = mpmath.log(mpmath.binomial(n_, x_))
                    true += x_ * mpmath.log(p_) + (n_ - x_) * mpmath.log1p(-p_)
                close = pytest.approx(float(true), rel=1e-14, abs=1e-14 + 1e-15 * math.sqrt(n))
                assert log_binomial(float(x), n, p) == close
    assert log_binomial(0.0, 5.0, 0.0) == log_binomial(5.0, 5.0, 1.0) == 0.0
    assert log_binomial(1.0, 5.0, 0.0) == log_binomial(1.0, 5.0, 1.0) == -math.inf
    assert (deviance(0.0, 3.0), deviance(3.0, 0.0)) == (3.0, math.inf)


def tail_by_quadrature(*case: float) -> float:
    """P(Beta(a, b) > x) with 30 digits, for x above the mean."""
    with mpmath.workdps(30):
        a_, b_, x_ = map(mpmath.mpf, case)
        width = min(mpmath.sqrt(a_ * b_ / (a_ + b_) ** 3), (1 - x_) / 64)
        steps = [k for k in (0, 1, 2, 4, 8, 16, 32) if x_ + k * width < 1]
        log_beta = mpmath.loggamma(a_) + mpmath.loggamma(b_) - mpmath.loggamma(a_ + b_)

        def density(t: Any) -> Any:
            return mpmath.exp((a_ - 1) * mpmath.log(t) + (b_ - 1) * mpmath.log1p(-t) - log_beta)

        return float(mpmath.quad(density, [*(x_ + k * width for k in steps), 1]))


@pytest.mark.sample(6)
@pytest.mark.slow
@pytest.mark.parametrize("n", [2.0, 12.5, 300.0, 1e5, 1e8, 1e10])
@pytest.mark.parametrize("share", [0.5, 0.02, 0.9])
def test_beta_tail_against_many_digits(n: float, share: float) -> None:
    a, b = max(1.0, n * share), max(1.0, n * (1.0 - share))
    mean, spread = a / (a + b), math.sqrt(a * b / (a + b) ** 3)
    for z in [0.0, 0.5, 3.0, 7.0]:
        x = mean + z * spread
        if x < 1.0:
            true = tail_by_quadrature(a, b, x)
            assert beta_tail(a, b, x) == pytest.approx(true, rel=1e-10)
            assert beta_below(b, a, 1.0 - x) == pytest.approx(true, rel=1e-10 + 1e-16 * n)
            assert beta_tail(b, a, 1.0 - x) == pytest.approx(1.0 - true, rel=1e-10)


def test_a_tail_is_small_without_losing_digits() -> None:
    assert beta_below(3.0, 2.0, 1e-80) == pytest.approx(4e-240, rel=1e-12)
    assert beta_tail(2.0, 3.0, 1.0 - 2.0**-40) == pytest.approx(4.0 * 2.0**-120, rel=1e-11)
    assert [beta_tail(2.0, 3.0, x) for x in (-1.0, 0.0, 1.0, 2.0)] == [1.0, 1.0, 0.0, 0.0]
    assert (beta_below(2.0, 3.0, 0.0), beta_below(2.0, 3.0, 1.0)) == (0.0, 1.0)


def test_the_bound_is_never_below_the_tail_and_close_to_it_far_out() -> None:
    rng = np.random.default_rng(4)
    a, b = 1.0 + 10.0 ** rng.uniform(-3, 9, (2, 20_000))
    a[:500], b[500:1000] = 1.0, 1.0
    spread = np.sqrt(a * b / (a + b) ** 3)
    x = np.clip(a / (a + b) + rng.uniform(-1, 9, 20_000) * spread, 0.0, 1.0)
    true = special.betainc(b, a, 1.0 - x)
    bound = np.array([beta_tail_bound(*case) for case in zip(a, b, x, strict=True)])
    assert (bound >= true).all()
    far = (true < 1e-4) & (true > 1e-300)
    assert far.sum() > 4_000
    assert (bound[far] <= 1.5 * true[far]).all()
    assert [beta_tail_bound(2.0, 3.0, x) for x in (0.0, 0.1, 1.0)] == [1.0, 1.0, 0.0]


@kernel
def some_value(key: int, which: int, n: float) -> float:
    """A function of numbers, at an argument drawn from counts up to n."""
    a, b, x = 1.0 + n * uniform(key, 0), 1.0 + n * uniform(key, 1), uniform(key, 2)
    if which < 2:
        return stirling_error(a - 1.0) if which == 0 else deviance(a, b)
    if which == 2:
        return log_binomial(a, a + b, x)
    # Near the mean, where there is something to tell.
    x = (a + x * math.sqrt(a)) / (a + b + math.sqrt(a))
    if which == 3:
        return beta_tail(a, b, x)
    return beta_tail_bound(a, b, x) if which == 4 else beta_below(b, a, x)


DRAWS: list[tuple[Draw, tuple[float, ...]]] = [
    *((draw, arguments) for draw, arguments, _ in LAWS),
    *((beta_beyond_draw, case) for case in BEYOND),
    *((some_value, (which, n)) for which in range(6) for n in (1.0, 40.0, 1e4, 1e7)),
]


@pytest.mark.slow
def test_every_function_is_the_same_compiled_and_interpreted_and_again() -> None:
    for draw, arguments in DRAWS:
        slow = np.empty(60)
        sampling(draw)(slow, 5, arguments)
        fast = sample(draw, *arguments, key=5, size=60)
        np.testing.assert_array_equal(fast, slow, err_msg=f"{draw.__name__}{arguments}")
        np.testing.assert_array_equal(sample(draw, *arguments, key=5, size=20), fast[:20])
