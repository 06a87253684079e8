"""The hats of the rejection samplers: nowhere below the law, and each point kept as it should be.

The published constants are written out again here, and the samplers are given their random numbers
one by one, so that nothing is left to chance.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from grbp.numerics import beta, counts

CENTRES = np.linspace(-0.4999, 0.4999, 161).tolist()
SHORTCUT = np.linspace(-0.4299, 0.4299, 300).tolist()  # 1/2 - |u| > 0.07: kept without logarithms
PLACES = [*CENTRES, *SHORTCUT, *(s * (0.5 - 10.0**-k) for k in (5, 6, 8) for s in (-1, 1))]


class Rejected(Exception):
    """A sampler asks for more numbers than it was given."""


def kept(
    patch: pytest.MonkeyPatch, module: Any, draw: Callable[[], float], *numbers: float
) -> float | None:
    """What a sampler returns that is given so many random numbers; None if it rejects them."""
    left = list(numbers)

    def given(_key: int, _index: int) -> float:
        if not left:
            raise Rejected
        return left.pop(0)

    patch.setattr(module, "uniform", given)
    try:
        return draw()
    except Rejected:
        return None


def assert_kept_with(
    patch: pytest.MonkeyPatch, draw: Callable[[], float], u: float, k: int, share: float
) -> None:
    """A point is proposed as k, and kept with that chance: for v below it, and not above it."""
    assert share <= 1.0 + 1e-9, (u, k, share)
    below, above = share * (1.0 - 1e-6), share * (1.0 + 1e-6)
    assert kept(patch, counts, draw, u + 0.5, 1.0 - below) == k
    if above < 1.0:
        assert kept(patch, counts, draw, u + 0.5, 1.0 - above) is None, (u, k, share)


@pytest.mark.sample(6)
@pytest.mark.slow
@pytest.mark.parametrize("p", [0.5, 0.3, 0.05, 1e-4])
@pytest.mark.parametrize("mean", [10.0, 10.7, 13.3, 25.0, 80.5, 1e3])
def test_the_hat_of_the_binomial_law(
    p: float, mean: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BTRS of Hormann (1993): y = (2a/s + b) u + np + 1/2, s = 1/2 - |u|, k = floor(y)."""
    n = math.ceil(mean / p)
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha = (2.83 + 5.1 / b) * spread
    law, mode = stats.binom(n, p), math.floor((n + 1) * p)
    for u in PLACES:
        s = 0.5 - abs(u)
        y = (2 * a / s + b) * u + n * p + 0.5
        if 0 <= y < n + 1 and abs(y - round(y)) > 1e-6:
            relative = math.exp(law.logpmf(math.floor(y)) - law.logpmf(mode))
            share = relative * (a / s**2 + b) / alpha
            if share > 1e-4:
                assert_kept_with(
                    monkeypatch, lambda: counts.binomial_draw(0, n, p), u, math.floor(y), share
                )


MEANS = [
    # Twelve are enough to come by every branch.
    *(
        pytest.param(mean, marks=[] if k % 7 == 0 else pytest.mark.soak)
        for k, mean in enumerate(np.geomspace(10.0, 60.0, 60).tolist())
    ),
    200.3,
    1e3,
    1e5,
]


@pytest.mark.parametrize("mean", MEANS)
def test_the_hat_of_the_poisson_law(mean: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """PTRS, with two constants larger than published, for the published ones are too small."""
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    alpha = 1.1239 + 1.2 / (b - 3.4)
    law = stats.poisson(mean)
    for u in PLACES:
        s = 0.5 - abs(u)
        y = (2 * a / s + b) * u + mean + 0.43
        if y >= 0 and abs(y - round(y)) > 1e-6:
            share = math.exp(law.logpmf(math.floor(y))) * (a / s**2 + b) / alpha
            if share > 1e-4:
                assert_kept_with(
                    monkeypatch, lambda: counts.poisson_draw(0, mean), u, math.floor(y), share
                )


@pytest.mark.parametrize(
    ("total", "marked", "taken"),
    [(60, 30, 31), (100, 50, 50), (1000, 300, 400), (10**5, 900, 3000)],
)
def test_the_hat_of_the_hypergeometric_law(
    total: int, marked: int, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P min(1, e^(w - P |y|)) with w = 1 + P/2, P the largest probability (Devroye 1987)."""
    few, part = min(marked, total - marked), min(taken, total - taken)
    law = stats.hypergeom(total, few, part)
    mode = math.floor((few + 1) * (part + 1) / (total + 2))
    peak = float(law.pmf(mode))
    w = 1.0 + 0.5 * peak
    assert math.isclose(peak, law.pmf(np.arange(few + 1)).max(), rel_tol=1e-9)

    def draw() -> int:
        return counts._hypergeometric_up_to_half(0, float(total), float(few), float(part))

    for place in np.linspace(1e-6, 1 - 1e-6, 120).tolist():
        u = place * (1 + w)
        y = (u if u < w else w - math.log(1 + w - u)) / peak
        for side, sign in ((0.25, 1), (0.75, -1)):
            x = mode + sign * math.floor(y + 0.5)
            if not 0 <= x <= min(few, part) or abs(y + 0.5 - round(y + 0.5)) < 1e-6:
                continue
            share = math.exp(law.logpmf(x) - math.log(peak) - min(0.0, w - peak * y))
            assert share <= 1.0 + 1e-9
            if share > 1e-4:
                below = kept(monkeypatch, counts, draw, place, side, 1 - share * (1 - 1e-6))
                assert below == x
                if share < 1 - 1e-5:
                    above = 1 - share * (1 + 1e-6)
                    assert kept(monkeypatch, counts, draw, place, side, above) is None


@pytest.mark.parametrize(
    ("a", "b", "x"), [(1.0, 5.0, 0.9), (3.5, 4.5, 0.9), (50.0, 200.0, 0.3), (1e6, 2e6, 0.3341)]
)
def test_the_tangent_of_a_beta_tail(
    a: float, b: float, x: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The density of s = -log(1 - theta), e^(-b s) (1 - e^-s)^(a-1), against its tangent at x."""
    y = 1.0 - x
    rate = b - (a - 1.0) * y / x
    assert beta.beta_tail_bound(a, b, x) < 1.0
    for place in np.linspace(0.0, 0.999, 80).tolist():
        step = -math.log(1 - place) / rate
        theta = x + y * -math.expm1(-step)
        # Both relative to their value at x, where they touch.
        log_law = (a - 1.0) * (math.log(theta) - math.log(x)) - b * step
        share = math.exp(log_law + rate * step)
        assert share <= 1.0 + 1e-9

        def draw() -> float:
            return beta.beta_beyond_draw(0, a, b, x)

        assert kept(monkeypatch, beta, draw, place, 1 - share * (1 - 1e-6)) == pytest.approx(
            theta, rel=1e-12
        )
        if share < 1 - 1e-5:
            assert kept(monkeypatch, beta, draw, place, 1 - share * (1 + 1e-6)) is None
