"""The gambler's ruin against 60-digit arithmetic, up to a million states."""

import mpmath
import numpy as np
import pytest
from digits import DIGITS, SMALLEST, hit as wide_hit, relative_error, ruin, steps
from draws import large_goals, probabilities
from hypothesis import given, strategies as st

from grbp.theory.ruin import duration, hit, log_failure_ratio, log_hit


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


@pytest.mark.parametrize("p_c", [0.4999, 0.5, 0.7])
def test_many_positions_are_computed_as_each_is(p_c: float) -> None:
    n, log_r = 100_000, log_failure_ratio(p_c)
    i = np.arange(n + 1)
    for formula in (hit, log_hit, duration):
        at_once = formula(i, n, log_r)
        assert at_once.shape == i.shape
        for k in (0, 1, 32_767, 32_768, 65_535, 65_536, n):
            np.testing.assert_allclose(at_once[k], formula(k, n, log_r), rtol=1e-14)
