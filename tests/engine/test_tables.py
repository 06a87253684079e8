"""Tables of rounds, against the same with Python's whole numbers: equal to the last bit."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from draws import problems
from hypothesis import given, strategies as st

from grbp import Problem
from grbp.engine import alias, round_table as rd
from grbp.numerics import jit
from grbp.worlds.start import StartLike

LIVES = ["interpreted", "compiled"]

EXTREMES = [0.0, 1.0, 1e-300, 2.0**-53, 1 - 2.0**-53, 1e-17, 0.5]
chances = st.one_of(st.sampled_from(EXTREMES), st.floats(0.0, 1.0))


# The reference: NumPy walks the law, and a share of 2^64 words is a number like any other.


def slow_law(problem: Problem, threshold: int) -> list[tuple[float, int, int]]:
    """The rounds under a threshold: (probability, word, places)."""
    goal, p_c, p_f = problem.goal, problem.p_c, problem.p_f
    law = []

    def add(mass: float, first: int, n: int, end: int) -> None:
        up = (n + end - first) // 2
        if end in {0, goal}:
            law.append((mass, rd.pack(end // goal, 0, 0, n, up), first))
        else:
            law.append((mass * p_f, rd.pack(1, 1, 1, n, up), first))
            law.append((mass * (1.0 - p_f), rd.pack(0, 1, 0, n, up), first))

    inside = np.zeros((goal + 1, goal + 1))
    for first, q in enumerate(problem.start_probabilities.tolist(), start=1):
        if first <= threshold and q > 0.0:
            add(q, first, 0, first)
        else:
            inside[first, first] = q
    n = 0
    while inside.sum() > rd._UNFINISHED and n < rd._LONGEST:
        n += 1
        after = np.zeros_like(inside)
        after[:, 1:] += inside[:, :-1] * p_c
        after[:, :-1] += inside[:, 1:] * (1.0 - p_c)
        for end in (threshold, goal):
            for first in np.flatnonzero(after[:, end]).tolist():
                add(float(after[first, end]), first, n, end)
            after[:, end] = 0.0
        inside = after
    for first, state in np.argwhere(inside > 0.0).tolist():
        word = rd.pack(0, 0, 0, n, (n + state - first) // 2) | 1 << 63
        law.append((float(inside[first, state]), word, first | state << 8))
    return law


def slow_alias(weights: list[float], bits: int) -> tuple[list[int], list[int]]:
    scale = math.fsum(weights)
    left = [int(weight / scale * 2.0**64) for weight in weights]
    left[left.index(max(left))] += 2**64 - sum(left)
    share = np.array(left + [0] * ((1 << bits) - len(left)), dtype=object)
    other, waiting = np.empty((2, 1 << bits), dtype=np.int64)
    alias.pair_cells(share, 1 << (64 - bits), other, waiting)
    return [min(part << bits, 2**64 - 1) for part in share.tolist()], other.tolist()


def slow_table(problem: Problem, thresholds: tuple[int, ...]) -> rd.RoundTable:
    laws = [slow_law(problem, threshold) for threshold in thresholds]
    bits = max(alias.bits_for(len(law)) for law in laws)
    cells = np.zeros((len(laws), 1 << bits, 4), dtype=np.uint64)
    for column, law in enumerate(laws):
        cut, other = slow_alias([weight for weight, _, _ in law], bits)
        listed = law + [(0.0, 0, 0)] * (len(cut) - len(law))
        for k, (_, word, places) in enumerate(listed):
            _, second, its_places = listed[other[k]]
            cells[column, k] = cut[k], word, second, places | its_places << 16
    return rd.RoundTable(cells, 64 - bits)


def assert_same(found: rd.RoundTable, wanted: rd.RoundTable) -> None:
    assert found.shift == wanted.shift
    np.testing.assert_array_equal(found.cells, wanted.cells)


@contextmanager
def always(life: str) -> Iterator[None]:
    """All tables are made in one life, however few they are."""
    with patch.object(jit, "ENOUGH", math.inf if life == "interpreted" else -1.0):
        yield


def thresholds_of(goal: int) -> tuple[int, ...]:
    return tuple(sorted({0, 1, goal // 2, goal - 1}))


@given(problems(st.integers(2, 6)), st.one_of(st.none(), chances), st.one_of(st.none(), chances))
def test_a_table_has_the_words_of_pythons_whole_numbers(
    drawn: Problem, p_c: float | None, p_f: float | None
) -> None:
    p_c, p_f = drawn.p_c if p_c is None else p_c, drawn.p_f if p_f is None else p_f
    problem = Problem(drawn.goal, p_c, p_f, drawn.start)
    thresholds = thresholds_of(problem.goal)
    wanted = slow_table(problem, thresholds)
    for life in LIVES:
        with always(life):
            assert_same(rd.make_table(problem, thresholds), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("goal", range(2, 17))
def test_the_tables_of_many_problems_are_those_of_each(goal: int) -> None:
    starts: list[StartLike] = ["uniform", goal - 1, {1: 1e-300, goal // 2 + 1: 1.0}]
    many = [
        Problem(goal, p_c, p_f, start)
        for p_c, p_f in [(0.5, 0.3), (0.07, 1.0), (1e-300, 0.0), (1.0, 1e-300), (0.0, 0.5)]
        for start in (starts if goal > 2 else ["uniform"])
    ]
    thresholds = thresholds_of(goal)
    with patch.object(rd, "_PART", 4):
        cells, shifts = rd.make_tables(many, thresholds, threads=2)
    assert len(set(shifts.tolist())) > 1 or goal < 4
    for i, problem in enumerate(many):
        own = cells[i, :, : 1 << (64 - int(shifts[i]))]
        assert_same(rd.RoundTable(own, int(shifts[i])), slow_table(problem, thresholds))
        # What is not its own is never read, and the same in every run.
        assert not cells[i, :, 1 << (64 - int(shifts[i])) :].any()


def test_a_large_goal_has_no_tables() -> None:
    cells, shifts = rd.make_tables([Problem(17, 0.5, 0.3)] * 3, (0, 1, 16))
    assert cells.shape == (3, 1, 1, 4)
    assert not cells.any()
    assert not shifts.any()


@pytest.mark.slow
@pytest.mark.parametrize("life", LIVES)
@given(st.lists(st.one_of(chances, st.just(3.0)), min_size=1, max_size=70), st.integers(0, 2))
def test_an_alias_table_has_the_words_of_pythons_whole_numbers(
    life: str, weights: list[float], more: int
) -> None:
    weights[0] += float(sum(weights) == 0.0)
    bits = alias.bits_for(len(weights)) + more
    with always(life):
        cut, other = alias.alias_table(np.array(weights), bits)
    assert (cut.tolist(), other.tolist()) == slow_alias(weights, bits)
