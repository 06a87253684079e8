"""A change of p_C at some case: its test, and the picture whose limits are those of the test."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import special

import grbp
from grbp.fitting.assumptions import holm, shift_limit
from grbp.fitting.model_tests import AssumptionTest
from grbp.numerics.special import kolmogorov_tail


def test_the_tail_of_a_bridge_is_scipys() -> None:
    for x in np.linspace(0.01, 6.0, 200).tolist():
        assert kolmogorov_tail(x) == pytest.approx(special.kolmogorov(x), rel=1e-11, abs=1e-15)
    assert kolmogorov_tail(0.0) == 1.0


def there_and_back(cases: int, size: float) -> dict[str, Any]:
    """Draw cases whose p_C is low, then high, then low again, without a trend."""
    parts = [
        grbp.example_records(p_c=0.5 + side * size, cases=n, seed=k)
        for k, (side, n) in enumerate([(-1, cases // 4), (1, cases // 2), (-1, cases // 4)])
    ]
    first = np.cumsum([0, *(max(part["case"]) + 1 for part in parts)])
    return {
        name: np.concatenate(
            [np.asarray(part[name]) + (at if name == "case" else 0)
             for part, at in zip(parts, first, strict=False)]
        )
        for name in parts[0]
    }  # fmt: skip


def test_a_change_that_a_trend_does_not_show_is_found_as_a_shift() -> None:
    fit = grbp.fit(there_and_back(400, 0.15), goal=4)
    found = {test.name: test for test in fit.tests}
    assert not found["p_c drift"].rejected_at(0.95)
    assert found["p_c shift"].rejected_at(0.95)
    # The largest sum is at one of the two changes, and has the sign of that change.
    effect = found["p_c shift"].effect
    assert effect is not None
    place = int(re.findall(r"case ([0-9]+)", found["p_c shift"].effect_is)[0])
    assert min(abs(place - 100), abs(place - 300)) < 20
    assert (effect > 0.0) == (place < 200)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("size", [0.0, 0.06, 0.1, 0.2])
def test_the_sum_leaves_its_limits_just_where_its_test_rejects(size: float, level: float) -> None:
    fit = grbp.fit(there_and_back(200, size), goal=4, level=level)
    (shift,) = (test for test in fit.tests if test.name == "p_c shift")
    assert fit.cusum is not None
    assert fit.cusum.y[-1] == pytest.approx(0.0, abs=1e-9)
    leaves = bool(np.abs(fit.cusum.y).max() > fit.cusum.limit)
    assert leaves == shift.rejected_at(level)


@given(
    st.lists(st.floats(1e-6, 1.0), max_size=8), st.floats(1e-6, 1.0), st.sampled_from([0.5, 0.95])
)
def test_the_limit_is_where_holms_probability_is_one_less_the_level(
    others: list[float], p: float, level: float
) -> None:
    tests = [AssumptionTest(f"{k}", "", p=q) for k, q in enumerate(others)]
    limit = shift_limit(tests, level)
    mine = AssumptionTest(name="p_c shift", p=p)
    rejected = holm([*tests, mine])[-1].rejected_at(level)
    far = kolmogorov_tail(limit)
    assume(abs(p - far) > 1e-9)
    assert (p < far) == rejected
