"""Sums that are rounded once, against `math.fsum`."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st

from grbp.numerics.exact_sum import exact_sum
from grbp.numerics.jit import compile_function

fast = cache(compile_function)
TIES = [1.0, 2.0**-52, 2.0**-53, 2.0**-54, 2.0**-106, 1e-300, 5e-324, -(2.0**-53), -1e-300, 0.0]
numbers = st.one_of(st.sampled_from(TIES), st.floats(-1e300, 1e300), st.floats(0.0, 1.0))


@given(st.lists(numbers, max_size=60))
def test_a_sum_is_that_of_the_standard_library(these: list[float]) -> None:
    for run in (exact_sum, fast(exact_sum)):
        assert run(np.array(these)) == math.fsum(these)


@pytest.mark.parametrize("below", [5e-324, 0.0, -5e-324])
def test_half_a_unit_is_rounded_by_what_is_below_it(below: float) -> None:
    for first in (1.0, 1.0 + 2.0**-52):
        these = np.array([first, below, 2.0**-53])
        for order in (these, these[::-1].copy()):
            assert exact_sum(order) == math.fsum(these)
