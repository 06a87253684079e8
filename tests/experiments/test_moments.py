"""Sums of whole numbers: exact, and the same in any order."""

import json
import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from grbp.experiments.moments import Sums, add_wholes, price, price_checkpoints, sum_wholes

RANGES = st.sampled_from([1, 10, 2**20, 2**21 - 1, 10**9, 10**12, 2**62])


@st.composite
def matrices(draw: st.DrawFn) -> Any:
    """A few rows, repeated often enough for sums that need all limbs, or not at all."""
    most = draw(RANGES)
    low = draw(st.sampled_from([0, -most]))
    columns = draw(st.integers(1, 4))
    row = st.lists(st.integers(low, most), min_size=columns, max_size=columns)
    rows = draw(st.lists(row, min_size=1, max_size=6))
    return np.array(rows * draw(st.sampled_from([1, 5, 1000])), dtype=np.int64)


def in_python(numbers: Any) -> list[Any]:
    """The sums of Python's integers, as `Sums.as_json` writes them."""
    columns = list(zip(*numbers.tolist(), strict=True))
    products = [[sum(map(int.__mul__, a, b)) for b in columns] for a in columns]
    return [len(numbers), list(map(sum, columns)), products]


@given(matrices())
def test_moments_are_those_of_python(numbers: Any) -> None:
    assert Sums.of(numbers).as_json() == in_python(numbers)


@pytest.mark.parametrize("most", [2**21, 2**42 - 1, 10**12, 2**63 - 1])
def test_moments_of_many_rows_are_those_of_python(most: int) -> None:
    numbers = np.random.default_rng(1).integers(most - most // 8, most, (3000, 3), endpoint=True)
    assert Sums.of(numbers).as_json() == in_python(numbers)
    assert Sums.of(-numbers).as_json() == in_python(-numbers)


@pytest.mark.slow
@given(matrices(), st.data())
def test_parts_add_up_to_the_whole_in_any_order(numbers: Any, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(numbers)), max_size=4))
    parts = [numbers[a:b] for a, b in pairwise([0, *sorted(cuts), len(numbers)])]
    total = Sums.of(numbers[:0])
    for part in data.draw(st.permutations(parts)):
        total += Sums.of(part)
    assert total.as_json() == Sums.of(numbers).as_json()
    one, two = (price_checkpoints(sums, np.array([0.3])) for sums in (total, Sums.of(numbers)))
    for mine, theirs in zip(one, two, strict=True):
        assert mine.tobytes() == theirs.tobytes()


def test_a_billion_replicas_of_a_trillion_rounds_are_summed_exactly() -> None:
    most, rows = 10**12, 5000
    sums = Sums.of(np.full((rows, 2), most))
    while sums.replicas < 10**9:
        sums += sums
    assert sums.totals.tolist() == [sums.replicas * most] * 2
    assert sums.products.tolist() == [[sums.replicas * most**2] * 2] * 2
    assert price(sums, np.array([0.25, 0.5])) == (0.75 * most, 0.0)
    lone = Sums.of(np.array([[most + 1, most]]))
    mean, se = price(sums + lone, np.array([1.0, 0.0]))
    n = sums.replicas + 1
    assert mean == most
    # One replica that is 1 away from all others.
    assert se == pytest.approx(math.sqrt((1 / n - 1 / n**2) / (n - 1)), rel=1e-12)


def test_moments_survive_being_written() -> None:
    for numbers in (np.arange(6).reshape(3, 2), np.full((3, 2), 2**62), np.zeros((4, 0), int)):
        sums = Sums.of(numbers)
        again = Sums.from_json(json.loads(json.dumps(sums.as_json())))
        assert again.as_json() == sums.as_json()
        for mine, theirs in zip(again[1:], sums[1:], strict=True):
            assert (mine == theirs).all()
            assert mine.shape == theirs.shape


@given(st.lists(st.tuples(*[st.integers(0, 10**12)] * 3), min_size=2, max_size=9))
def test_prices_are_those_of_exact_arithmetic(rows: list[tuple[int, ...]]) -> None:
    gaps = np.array([0.25, 0.0, 0.4335])
    mean, se = price(Sums.of(np.array(rows)), gaps)
    costs = [sum(Fraction(g) * n for g, n in zip(gaps.tolist(), r, strict=True)) for r in rows]
    exact = sum(costs) / len(costs)
    variance = sum((cost - exact) ** 2 for cost in costs) / (len(costs) - 1) / len(costs)
    assert mean == pytest.approx(float(exact), rel=1e-15)
    assert se == pytest.approx(math.sqrt(variance), rel=1e-9, abs=1e-4)


def test_one_replica_has_a_price_but_no_error() -> None:
    mean, se = price(Sums.of(np.array([[3, 4]])), np.array([0.5, 2.0]))
    assert mean == 9.5
    assert math.isnan(se)


def test_a_checkpoint_has_the_same_price_alone_and_free_choices_do_not_matter() -> None:
    numbers = np.random.default_rng(1).integers(0, 10**9, (300, 3, 4))
    gaps = np.array([0.1, 0.0, 0.37, 0.0])
    mean, covariance = price_checkpoints(Sums.of(numbers.reshape(300, -1)), gaps)
    for k in range(3):
        for columns in (slice(None), [0, 2]):
            alone = price(Sums.of(numbers[:, k, columns]), gaps[columns])
            assert alone == (mean[k], math.sqrt(covariance[k, k]))
    assert (covariance == covariance.T).all()
    regret = numbers @ gaps
    np.testing.assert_allclose(mean, regret.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(covariance, np.cov(regret.T) / 300, rtol=1e-10)


def test_totals_outgrow_64_bits() -> None:
    large = np.full((5, 2), 2**62)
    assert sum_wholes(large).tolist() == [5 * 2**62] * 2
    assert add_wholes(large[0], large[0]).tolist() == [2**63] * 2
    assert add_wholes(large[0], -large[0]).tolist() == [0, 0]
