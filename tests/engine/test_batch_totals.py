"""Batches of rounds: their totals against walking and linear algebra, and their parts."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from grbp import Problem
from grbp.engine import batch_totals as bt
from grbp.engine.batch_totals import (
    AnyPart,
    BatchLaw,
    Part,
    Workspace,
    draw_batch,
    part_rounds,
)
from grbp.engine.recorder import StepLaw
from grbp.engine.walk import Starts
from grbp.learners.counters import play
from grbp.numerics.jit import compile_function, u64
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.transition import first_state

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PROBLEMS = {
    2: Problem(2, 0.5, 0.3),
    3: Problem(3, 0.55, 0.34, {1: 0.3, 2: 0.7}),
    4: Problem(4, 0.45, 0.3),
    9: Problem(9, 0.5, 0.2, {1: 0.1, 4: 0.2, 5: 0.3, 8: 0.4}),
    50: Problem(50, 0.65, 0.1),
}
KINDS = [
    "won",
    "f",
    "f_goal",
    "c",
    "c_up",
    "c - 3f",
    "c_up - won",
    "c - 2c_up",
    "c + 7won - 5f_goal",
]
MIXED = np.array(
    [*np.eye(5), [0, -3, 0, 1, 0], [-1, 0, 0, 0, 1], [0, 0, 0, 1, -2], [7, 0, -5, 1, 0]],
    dtype=np.int64,
)  # fmt: skip
DRAWS = 20_000


def thresholds_of(goal: int) -> list[int]:
    return sorted({0, 1, goal // 2, goal - 1})


EACH = pytest.mark.parametrize(
    ("goal", "threshold"), [(goal, tau) for goal in PROBLEMS for tau in thresholds_of(goal)]
)


# The draws: totals are rows of won, f, f_goal, c, c_up.


class Asked(NamedTuple):
    threshold: int
    rounds: int
    part: AnyPart
    key: int


def _batches(law: BatchLaw, what: Asked, work: Workspace, out: Ints) -> None:
    for i in range(len(out)):
        t = draw_batch(law, what.threshold, what.rounds, fold_in(what.key, i), what.part, work)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = t[1:]
        out[i, 5:] = work.starts[1:-1]


def _walked(
    world: StepLaw, starts: Starts, threshold: int, rounds: int, key: int, out: Ints
) -> None:
    for i in range(len(out)):
        for k in range(rounds):
            own = fold_in(fold_in(key, i), k)
            first = first_state(starts[0], starts[1], uniform(own, 0))
            one = play(world.goal, world.p_c, world.p_f, threshold, first, own)
            out[i, 0] += one.won
            out[i, 1] += one.f
            out[i, 2] += one.won * one.f
            out[i, 3] += one.c
            out[i, 4] += one.c_up
            out[i, 4 + first] += 1


fast = cache(compile_function)


def drawn(
    problem: Problem,
    threshold: int,
    rounds: int,
    size: int = DRAWS,
    part: AnyPart = None,
    key: int = 1,
) -> Ints:
    out = np.zeros((size, problem.goal + 4), dtype=np.int64)
    what, work = Asked(threshold, rounds, part, key), bt.workspace_for(problem.goal)
    fast(_batches)(bt.batch_law(problem), what, work, out)
    return out


def walked(problem: Problem, threshold: int, rounds: int, size: int = DRAWS, key: int = 2) -> Ints:
    out = np.zeros((size, problem.goal + 4), dtype=np.int64)
    world = StepLaw(problem.goal, problem.p_c, problem.p_f)
    fast(_walked)(world, problem.start_table, threshold, rounds, u64(key), out)
    return out


def leaf(rounds: int, index: int) -> Part:
    """The part that is a batch's index-th round alone."""
    path = depth = 0
    while rounds > 1:
        first, path, depth = rounds // 2, 2 * path, depth + 1
        if index < first:
            rounds = first
        else:
            rounds, index, path = rounds - first, index - first, path + 1
    return Part(path, depth)


# Judges.


def alike(ours: Ints, theirs: Ints) -> float:
    """How likely two samples are one law's, by chi-square on common quantiles."""
    both = np.concatenate([ours, theirs])
    edges = np.unique(np.quantile(both, np.linspace(0, 1, 41)[1:-1]))
    table = np.array([np.bincount(np.searchsorted(edges, one), minlength=len(edges) + 1)
                      for one in (ours, theirs)])  # fmt: skip
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0


def jointly_alike(ours: Ints, theirs: Ints) -> float:
    """The same for whole rows: each is a cell, and those seldom seen are one."""
    rows, label = np.unique(np.vstack([ours, theirs]), axis=0, return_inverse=True)
    label = label.ravel()
    table = np.array([np.bincount(part, minlength=len(rows))
                      for part in (label[: len(ours)], label[len(ours) :])])  # fmt: skip
    seldom = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~seldom], table[:, seldom].sum(axis=1)])
    table = table[:, table.sum(axis=0) >= 5]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0


def assert_alike(ours: Ints, theirs: Ints, least: float = 1e-5) -> None:
    for what, mix in zip(KINDS, MIXED, strict=True):
        assert alike(ours[:, :5] @ mix, theirs[:, :5] @ mix) > least, what
    for first in range(5, ours.shape[1], max(1, ours.shape[1] // 6)):
        assert alike(ours[:, first], theirs[:, first]) > least, f"starts in {first - 4}"


def moments(problem: Problem, threshold: int) -> tuple[Floats, Floats]:
    """The mean of what a round adds to the totals, and its covariance, by linear algebra."""
    goal, p, p_f = problem.goal, problem.p_c, problem.p_f
    inner = goal - 1 - threshold
    step = p * np.eye(inner, k=1) + (1 - p) * np.eye(inner, k=-1)
    visits = np.linalg.inv(np.eye(inner) - step) if inner else step
    ends = np.zeros((inner, 2))
    if inner:
        ends[0, 0], ends[-1, 1] = 1 - p, p
    chance = visits @ ends  # P, E T and E T^2 on those that end at the bottom, and at the top
    steps = visits @ chance
    squares = visits @ (chance + 2 * step @ steps)
    mean, second = np.zeros(5), np.zeros((5, 5))
    slope = np.array([0, 0, 0, 1, 0.5])

    def add(weight: float, t: tuple[float, float, float], fixed: list[float]) -> None:
        nonlocal mean, second
        a = np.array(fixed)
        mean = mean + weight * (t[0] * a + t[1] * slope)
        crossed = np.outer(a, slope)
        second = second + weight * (
            t[0] * np.outer(a, a) + t[1] * (crossed + crossed.T) + t[2] * np.outer(slope, slope)
        )

    for state, q in zip(problem.states.tolist(), problem.start_probabilities.tolist(), strict=True):
        down, top = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        i = state - threshold - 1
        if i >= 0:
            down, top = ((chance[i, e], steps[i, e], squares[i, e]) for e in (0, 1))
        fallen = min(0, threshold - state) / 2
        add(q, top, [1, 0, 0, 0, (goal - state) / 2])
        add(q * (p_f if threshold else 0), down, [1, 1, 1, 0, fallen])
        add(q * (1 - p_f if threshold else 1), down, [0, int(threshold > 0), 0, 0, fallen])
    return mean, second - np.outer(mean, mean)


# The law of a batch.


@pytest.mark.sample("300-4-*", "1-4-0", "300-50-1")
@pytest.mark.slow
@EACH
@pytest.mark.parametrize("rounds", [1, 2, 7, 300])
def test_totals_have_the_law_of_walked_rounds(goal: int, threshold: int, rounds: int) -> None:
    ours = drawn(PROBLEMS[goal], threshold, rounds)
    theirs = walked(PROBLEMS[goal], threshold, rounds)
    assert np.all(ours[:, 5:].sum(axis=1) == rounds)
    assert_alike(ours, theirs)
    if rounds <= 2:
        assert jointly_alike(ours[:, :5], theirs[:, :5]) > 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0, 1, 25, 49])
def test_totals_of_long_rounds_have_their_law(threshold: int) -> None:
    problem = Problem(50, 0.5, 0.1)
    for rounds in (1, 7):
        assert_alike(drawn(problem, threshold, rounds), walked(problem, threshold, rounds))


@pytest.mark.slow
def test_the_judge_would_notice_one_in_a_hundred() -> None:
    for off in (Problem(4, 0.4545, 0.3), Problem(4, 0.45, 0.303)):
        with pytest.raises(AssertionError):
            assert_alike(drawn(off, 1, 300), walked(PROBLEMS[4], 1, 300))


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [10**6, 10**9])
@EACH
def test_large_totals_have_their_exact_moments(goal: int, threshold: int, rounds: int) -> None:
    size = DRAWS if goal < 9 else 2000
    totals = drawn(PROBLEMS[goal], threshold, rounds, size)[:, :5]
    mean, covariance = moments(PROBLEMS[goal], threshold)
    mean, covariance = mean * rounds, covariance * rounds
    variance = np.maximum(np.diagonal(covariance), 0.0)
    off = totals - np.round(mean)
    error = np.abs(off.mean(axis=0) + np.round(mean) - mean)
    assert np.all(error <= 4.5 * np.sqrt(variance / size) + 1e-6)
    # So many rounds are normal, whose sample covariances have these errors.
    spread = np.sqrt((np.outer(variance, variance) + covariance**2) / size)
    assert np.all(np.abs(np.cov(off.T) - covariance) <= 4.5 * spread + 1e-9 * rounds)


@pytest.mark.slow
@pytest.mark.parametrize("part", [None, Part(1, 1)], ids=["whole", "half"])
def test_the_longest_batch_of_the_longest_rounds_has_its_mean(part: AnyPart) -> None:
    """10^12 rounds of 4 x 10^6 steps each, from the middle to either end, and half of them."""
    problem, size = Problem(4096, 0.5, 0.3, 2048), 4
    for threshold in (0, 1):
        steps = drawn(problem, threshold, 10**12, size, part)[:, 3]
        rounds, exact = part_rounds(10**12, part), 2048.0 * (2048 - threshold)
        # The deviation of the time to leave an interval of 2d from its middle is d^2 sqrt(2/3).
        error = exact * math.sqrt(2 / 3 / rounds / size)
        assert abs((steps / rounds).mean() - exact) <= 4.5 * error


@pytest.mark.slow
@EACH
def test_rounds_start_where_the_distribution_says(goal: int, threshold: int) -> None:
    q = PROBLEMS[goal].start_probabilities
    possible = q > 0
    for rounds in (1, 7, 10**6):
        size = DRAWS if goal < 50 else 2000
        starts = drawn(PROBLEMS[goal], threshold, rounds, size)[:, 5:]
        assert np.all(starts.sum(axis=1) == rounds)
        assert not starts[:, ~possible].any()
        wanted = rounds * q[possible]
        seen = starts[:, possible].sum(axis=0)
        assert len(seen) == 1 or stats.chisquare(seen, size * wanted).pvalue > 1e-5
        # Pearson's sum has the mean of the multinomial, for whatever number of rounds.
        pearson = ((starts[:, possible] - wanted) ** 2 / wanted).sum(axis=1)
        error = 4.5 * pearson.std() / np.sqrt(size)
        assert abs(pearson.mean() - (possible.sum() - 1)) <= error + 1e-9


# Parts.


@pytest.mark.slow
@pytest.mark.parametrize("goal", [2, 3, 9, 50])
def test_halves_add_up_to_the_whole_at_every_depth(goal: int) -> None:
    rng = np.random.default_rng(goal)
    law, work, one = bt.batch_law(PROBLEMS[goal]), bt.workspace_for(goal), fast(draw_batch)
    for rounds in (2, 3, 13, 300, 10**6 + 1, 10**9):
        for threshold in thresholds_of(goal):
            key, part = u64(int(rng.integers(2**60))), Part(0, 0)
            whole, starts = one(law, threshold, rounds, key, None, work), work.starts.copy()
            assert whole == one(law, threshold, rounds, key, part, work)
            assert np.array_equal(starts, work.starts)
            while whole.rounds > 1:
                halves, by_start = [], []
                for second in (0, 1):
                    half = Part(2 * part.path + second, part.depth + 1)
                    halves.append(one(law, threshold, rounds, key, half, work))
                    by_start.append(work.starts.copy())
                    assert halves[-1].rounds == part_rounds(rounds, half) == by_start[-1].sum()
                    assert np.all(np.array(halves[-1]) >= 0)
                    assert not work.walks.any()
                    assert not work.hops.any()
                assert np.array_equal(np.sum(halves, axis=0), whole)
                assert np.array_equal(np.sum(by_start, axis=0), starts)
                assert halves[1].rounds - halves[0].rounds in (0, 1)
                second = int(rng.integers(2))
                part = Part(2 * part.path + second, part.depth + 1)
                whole, starts = halves[second], by_start[second]
            assert whole == one(law, threshold, rounds, key, part, bt.workspace_for(goal))
            first = int(np.flatnonzero(starts)[0])
            at_once, top = first <= threshold, whole.won - whole.f_goal
            end = first if at_once else goal if top else threshold
            assert 2 * whole.c_up - whole.c == end - first
            assert whole.f == (threshold > 0 and not top)


@pytest.mark.slow
@pytest.mark.parametrize("goal", [3, 9])
def test_all_leaves_of_a_batch_add_up_to_it(goal: int) -> None:
    law, work, one = bt.batch_law(PROBLEMS[goal]), bt.workspace_for(goal), fast(draw_batch)
    for rounds in (1, 5, 64, 77):
        parts = [leaf(rounds, index) for index in range(rounds)]
        assert len(set(parts)) == rounds
        for key in range(20):
            leaves = [one(law, 1, rounds, key, part, work) for part in parts]
            assert np.array_equal(np.sum(leaves, axis=0), one(law, 1, rounds, key, None, work))


@pytest.mark.slow
def test_a_part_is_the_same_whenever_it_is_asked_for() -> None:
    """Whatever was drawn before, of whatever batch, in the same workspace."""
    rng = np.random.default_rng(1)
    law, shared, one = bt.batch_law(PROBLEMS[9]), bt.workspace_for(9), fast(draw_batch)
    for _ in range(400):
        rounds, threshold = int(rng.integers(1, 5000)), int(rng.integers(9))
        part = leaf(rounds, int(rng.integers(rounds)))
        cut = int(rng.integers(part.depth + 1))
        part, key = Part(part.path >> cut, part.depth - cut), int(rng.integers(2**60))
        fresh = bt.workspace_for(9)
        t = one(law, threshold, rounds, key, part, shared)
        assert t == one(law, threshold, rounds, key, part, fresh)
        assert np.array_equal(shared.starts, fresh.starts)


@pytest.mark.slow
@pytest.mark.parametrize("goal", [3, 4, 50])
def test_interpreted_parts_are_the_compiled_ones(goal: int) -> None:
    law, work = bt.batch_law(PROBLEMS[goal]), bt.workspace_for(goal)
    for rounds in (1, 40, 10**7):
        for threshold in thresholds_of(goal):
            for part in (None, Part(1, 1), leaf(rounds, rounds // 3)):
                if part_rounds(rounds, part) > 0:
                    slow = draw_batch(law, threshold, rounds, 5, part, work)
                    starts = work.starts.copy()
                    assert slow == fast(draw_batch)(law, threshold, rounds, 5, part, work)
                    assert np.array_equal(starts, work.starts)


@pytest.mark.sample("4-0")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("goal", "threshold"), [(3, 0), (4, 0), (4, 1), (9, 1), (9, 4), (50, 0), (50, 25)]
)
def test_a_leaf_is_a_round(goal: int, threshold: int) -> None:
    """The first, one in the middle and the last of a batch have the law of a walked round."""
    problem, rounds = PROBLEMS[goal], 300 if goal < 9 else 37
    theirs = walked(problem, threshold, 1, 2 * DRAWS)
    leaves = [
        drawn(problem, threshold, rounds, DRAWS, leaf(rounds, index), key=6)
        for index in (0, 1, rounds // 3, rounds - 1)
    ]
    for ours in leaves:
        assert np.all(ours[:, 5:].sum(axis=1) == 1)
        assert jointly_alike(ours, theirs) > 1e-5
        assert_alike(ours, theirs)
    # They come from the same batches, and know nothing of one another.
    for k, one in enumerate(leaves):
        for two in leaves[:k]:
            assert_uncorrelated(one, two)


def assert_uncorrelated(one: Ints, two: Ints) -> None:
    first, second = one[:, :5] @ MIXED.T, two[:, :5] @ MIXED.T
    moving = (first.std(axis=0) > 0) & (second.std(axis=0) > 0)
    first, second = stats.zscore(first[:, moving]), stats.zscore(second[:, moving])
    assert np.abs(first.T @ second).max() <= 5 * np.sqrt(len(one))


@pytest.mark.sample("7-4-0", "300-4-0")
@pytest.mark.slow
@pytest.mark.parametrize(("goal", "threshold"), [(2, 0), (3, 1), (4, 0), (9, 4), (50, 1)])
@pytest.mark.parametrize("rounds", [7, 300, 10**6])
def test_a_half_is_a_batch_of_half_the_size(goal: int, threshold: int, rounds: int) -> None:
    problem, size = PROBLEMS[goal], DRAWS if goal * rounds < 10**7 else 5000
    parts = [Part(0, 1), Part(1, 1), Part(2, 2)]
    halves = [drawn(problem, threshold, rounds, size, part, key=4) for part in parts]
    for part, ours in zip(parts, halves, strict=True):
        theirs = drawn(problem, threshold, part_rounds(rounds, part), size, key=5)
        assert_alike(ours, theirs)
    assert_uncorrelated(halves[0], halves[1])
    assert_uncorrelated(halves[0], halves[2])


@pytest.mark.slow
@pytest.mark.parametrize("p_c", [0.0, 1.0, 1e-12, 1 - 1e-12])
@pytest.mark.parametrize("p_f", [0.0, 1.0])
@pytest.mark.parametrize("goal", [2, 4, 50])
def test_what_is_certain_happens(goal: int, p_c: float, p_f: float) -> None:
    problem = Problem(goal, p_c, p_f)
    for threshold in thresholds_of(goal):
        totals = drawn(problem, threshold, 1000, 50)
        won, f, f_goal, c, up = totals[:, :5].T
        state, starts = problem.states, totals[:, 5:]
        walking = starts * (state > threshold)
        assert np.all(f_goal == f * p_f)
        if p_c > 0.5:
            assert np.array_equal(c, walking @ (goal - state))
            assert np.array_equal(up, c)
            assert np.array_equal(won - f_goal, walking.sum(axis=1))
        else:
            assert np.array_equal(c, walking @ (state - threshold))
            assert not up.any()
            assert np.array_equal(won, f_goal)
