"""Random numbers by place: their law, their independence, compiled and interpreted."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from grbp.numerics.jit import compile_function
from grbp.numerics.rng import LEARNER, OPENING, WORLD, fold_in, replica_key, splitmix64, uniform


def _fill(begin: int, replicas: int, out: Any) -> None:
    """The first draws of many keys: [key, index]."""
    for k in range(len(out)):
        key = fold_in(fold_in(begin, k // replicas), k % replicas)
        for i in range(out.shape[1]):
            out[k, i] = uniform(key, i)


def _fill_keys(begin: int, replicas: int, out: Any) -> None:
    for k in range(len(out)):
        out[k] = fold_in(fold_in(begin, k // replicas), k % replicas)


@pytest.fixture(scope="module")
def draws() -> NDArray[np.float64]:
    out = np.zeros((300_000, 3))
    compile_function(_fill)(np.uint64(replica_key(0, WORLD, 0)), 1000, out)
    return out


def test_draws_are_uniform(draws: NDArray[np.float64]) -> None:
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    for index in range(3):
        assert stats.kstest(draws[:, index], "uniform").pvalue > 1e-3


def test_interpreted_draws_are_the_compiled_ones(draws: NDArray[np.float64]) -> None:
    begin = replica_key(0, WORLD, 0)
    for k in range(0, 300_000, 4321):
        key = fold_in(fold_in(begin, k // 1000), k % 1000)
        assert [uniform(key, i) for i in range(3)] == draws[k].tolist()


def test_the_mix_is_that_of_splitmix64() -> None:
    # The first outputs of SplitMix64 from the state 1234567 (Vigna's reference program).
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [fold_in(1234567, i) for i in (1, 2, 3)] == known
    assert splitmix64(0) == 0


def _plain_key(key: int, out: Any) -> None:
    for k in range(len(out)):
        out[k] = uniform(key + k, 0)


def test_a_key_that_was_computed_with_is_still_a_key() -> None:
    """An author who writes uniform(key + 1, 0) gets the same, compiled and interpreted."""
    fast, slow = np.zeros(200), np.zeros(200)
    for key in (3, 2**63 - 1, replica_key(0, LEARNER, 0) | 2**63):
        compile_function(_plain_key)(np.uint64(key), fast)
        _plain_key(key, slow)
        np.testing.assert_array_equal(fast, slow)


def independent(one: NDArray[np.float64], two: NDArray[np.float64]) -> bool:
    table = np.histogram2d(one, two, bins=16, range=[[0, 1], [0, 1]])[0]
    return bool(stats.chisquare(table.ravel()).pvalue > 1e-3)


def test_neighbours_are_independent(draws: NDArray[np.float64]) -> None:
    assert independent(draws[:, 0], draws[:, 1])  # the next draw of a key
    assert independent(draws[:, 1], draws[:, 2])
    assert independent(draws[:-1, 0], draws[1:, 0])  # the next key
    assert independent(draws[:-1, 1], draws[1:, 0])
    assert independent(draws[:-1000, 0], draws[1000:, 0])  # the next parent
    assert independent(draws[::2, 0], draws[1::2, 2])


def test_purposes_and_seeds_are_independent() -> None:
    columns = [
        np.array([uniform(replica_key(seed, purpose, r), 0) for r in range(6000)])
        for seed, purpose in ((0, WORLD), (0, LEARNER), (0, OPENING), (1, WORLD), (2**64, WORLD))
    ]
    for k, one in enumerate(columns):
        for two in columns[:k]:
            assert independent(one, two)


@pytest.mark.slow
def test_a_million_keys_are_a_million() -> None:
    out = np.zeros(1_000_000, dtype=np.uint64)
    compile_function(_fill_keys)(np.uint64(replica_key(3, LEARNER, 0)), 1000, out)
    assert len(np.unique(out)) == len(out)


def test_keys_differ_by_seed_purpose_and_replica() -> None:
    seeds = [0, 1, 2, 7, 2**63, 2**64, 2**64 + 1, 2**65, 7 + (7 << 64), 2**128 - 1]
    keys = [
        replica_key(seed, purpose, replica)
        for seed in seeds
        for purpose in (WORLD, LEARNER, OPENING)
        for replica in range(50)
    ]
    assert len(set(keys)) == len(keys)
