"""Whole rounds drawn at once: their law against first passages by linear algebra and walking."""

from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import solve_banded

from grbp import Problem
from grbp.engine import round_table as rd
from grbp.engine.alias import alias_table, bits_for
from grbp.engine.hops import OTHER, STATE, Hops, hop_round, make_hops
from grbp.engine.recorder import StepLaw
from grbp.engine.round_table import table_round, table_rounds
from grbp.engine.walk import Starts
from grbp.learners.counters import Round, play
from grbp.numerics.jit import compile_function, u64
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.transition import first_state

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WALKS = [0.5, 0.5 + 1e-9, 0.45, 0.65, 0.05, 0.97]
STARTS = ["uniform", "point", "uneven"]
FIRST, WON, F, C, UP = range(5)
LOST, FINISHED, AT_GOAL = range(3)  # How it ends: lost in either way, won by FINISH, won


def a_problem(goal: int, p_c: float, p_f: float = 0.3, start: str = "uniform") -> Problem:
    if start == "point":
        return Problem(goal, p_c, p_f, goal // 2)
    if start == "uneven" and goal > 2:
        weights = {goal // 2 + 1: 0.625} | ({1: 0.375} if goal < 5 else {1: 0.25, goal - 1: 0.125})
        return Problem(goal, p_c, p_f, weights)
    return Problem(goal, p_c, p_f)


def thresholds_of(goal: int) -> tuple[int, ...]:
    return tuple(sorted({0, 1, goal // 2, goal - 1}))


# The draws.


def _by_table(
    table: rd.RoundTable, world: StepLaw, column: int, threshold: int, key: int, out: Ints
) -> None:
    for i in range(len(out)):
        one = table_round(table, world, column, threshold, fold_in(key, i))
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = one


def _by_hops(hops: Hops, world: StepLaw, threshold: int, key: int, out: Ints) -> None:
    for i in range(len(out)):
        one = hop_round(hops, world, 0, threshold, fold_in(key, i))
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = one


def _walked(world: StepLaw, starts: Starts, threshold: int, key: int, out: Ints) -> None:
    for i in range(len(out)):
        own = fold_in(key, i)
        first = first_state(starts[0], starts[1], uniform(own, 0))
        one = play(world.goal, world.p_c, world.p_f, threshold, first, own)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = one


fast, hops_for = cache(compile_function), cache(make_hops)


def drawn(problem: Problem, threshold: int, size: int, key: int = 1, run: Any = fast) -> Ints:
    out = np.zeros((size, 5), dtype=np.int64)
    world, seed = StepLaw(problem.goal, problem.p_c, problem.p_f), u64(key)
    if problem.goal <= rd.TABLE_GOAL:
        run(_by_table)(rd.make_table(problem, (threshold,)), world, 0, threshold, seed, out)
    else:
        run(_by_hops)(hops_for(problem), world, threshold, seed, out)
    return out


def walked(problem: Problem, threshold: int, size: int, key: int = 2) -> Ints:
    out = np.zeros((size, 5), dtype=np.int64)
    world = StepLaw(problem.goal, problem.p_c, problem.p_f)
    fast(_walked)(world, problem.start_table, threshold, np.uint64(key), out)
    return out


def coherent(rounds: Ints, goal: int, threshold: int) -> bool:
    """Whether each is a path from its first state to an end of its interval."""
    first, won, f, c, up = rounds.T
    at_once = first <= threshold
    end = np.where(at_once, first, np.where(f == 1, threshold, won * goal))
    return bool(
        np.all((first >= 1) & (first < goal))
        and np.isin(rounds[:, [WON, F]], (0, 1)).all()
        and (threshold > 0 or not f.any())
        and np.all(won[(f == 0)] == 1 if threshold > 0 else won >= 0)
        and np.all((f == 1)[at_once] & (c == 0)[at_once])
        and np.all(2 * up - c == end - first)
        and np.all(c >= np.maximum(np.abs(end - first), ~at_once))
    )


# The law, by powers of the matrix of the steps between two ends.


def matrix(goal: int, threshold: int, p_c: float) -> Any:
    inner = goal - 1 - threshold
    return p_c * np.eye(inner, k=1) + (1 - p_c) * np.eye(inner, k=-1)


def passages(goal: int, threshold: int, p_c: float, steps: int) -> Floats:
    """The chance of being first at an end after n steps: [n, bottom or top, first state]."""
    found = np.zeros((steps + 1, 2, goal))
    if threshold == goal - 1:
        return found
    step = matrix(goal, threshold, p_c)
    at = np.zeros((goal - 1 - threshold, 2))
    at[0, 0], at[-1, 1] = 1 - p_c, p_c
    for n in range(1, steps + 1):
        found[n, :, threshold + 1 :] = at.T
        at = step @ at
    return found


def law(problem: Problem, threshold: int, steps: int) -> Any:
    """The chance of a first state, an ending and a number of steps: [first, ending, c]."""
    goal, p_f = problem.goal, problem.p_f
    down, top = passages(goal, threshold, problem.p_c, steps).transpose(1, 2, 0)
    found = np.zeros((goal, 3, steps + 1))
    down[1 : threshold + 1, 0] = 1.0
    found[:, AT_GOAL] = top
    found[:, FINISHED] = down * p_f if threshold else 0.0
    found[:, LOST] = down - found[:, FINISHED]
    return found * np.append(0.0, problem.start_probabilities)[:, None, None]


def p_value(rounds: Ints, exact: Floats) -> float:
    """How likely such rounds are by chi-square: first state, ending and steps, or the last two."""
    first, won, f, c, _ = rounds.T
    ending = np.where(won == 0, LOST, np.where(f == 1, FINISHED, AT_GOAL))
    steps = np.minimum(c, exact.shape[2] - 1)
    jointly = chi_square((first, ending, steps), exact, 25)
    coarsely = chi_square((ending, steps), exact.sum(axis=0), len(c) // 50)
    return min(1.0, 2 * min(jointly, coarsely))


def chi_square(seen: tuple[Ints, ...], exact: Floats, each: int) -> float:
    """The p-value, along the last axis in groups of which `each` rounds are expected, about."""
    size = len(seen[0])
    group = np.floor(np.cumsum(exact * size, axis=-1) / each).astype(np.int64)
    rows = np.arange(exact[..., :1].size).reshape(*exact.shape[:-1], 1)
    label = np.unique(rows * (size + 1) + group, return_inverse=True)[1].reshape(exact.shape)
    counts = np.bincount(label[seen], minlength=label.max() + 1)
    wanted = np.bincount(label.ravel(), exact.ravel()) * size
    few = wanted < 10
    if few.any() and (wanted[few].sum() >= 1 or counts[few].sum() >= 10):
        wanted = np.append(wanted, max(wanted[few].sum(), 1e-9))
        counts, few = np.append(counts, counts[few].sum()), np.append(few, False)
    wanted, counts = wanted[~few], counts[~few]
    surprise = np.sum((counts - wanted) ** 2 / wanted)
    return float(stats.chi2.sf(surprise, max(1, len(counts) - 1)))


def steps_enough(goal: int) -> int:
    """Steps after which one in ten million rounds is not over, whatever p_c is."""
    return 3 + int(16.5 / -np.log(np.cos(np.pi / goal))) if goal > 2 else 2


# The table.


def shares(cut: Any, other: Any, bits: int) -> Counter[int]:
    """How many of all numbers of 64 bits draw each index, by reading the table as it is read."""
    found: Counter[int] = Counter()
    cap = 1 << (64 - bits)
    for k, (upto, rest) in enumerate(zip(cut.tolist(), other.tolist(), strict=True)):
        own = cap if rest == k else -(-upto >> bits)
        found[k] += own
        found[int(rest)] += cap - own
    return found


@pytest.mark.sample(8)
@pytest.mark.parametrize("goal", [2, 3, 4, 8, 16])
@pytest.mark.parametrize("p_c", WALKS)
def test_the_cells_of_a_table_are_first_passages(goal: int, p_c: float) -> None:
    thresholds = thresholds_of(goal)
    for start, p_f in zip(STARTS, (0.3, 1.0, 0.85), strict=True):
        problem = a_problem(goal, p_c, p_f, start)
        table = rd.make_table(problem, thresholds)
        assert table.cells.nbytes <= 300_000 * len(thresholds)
        for column, threshold in enumerate(thresholds):
            found = cells_by_what_they_are(table, column)
            longest = max(c for *_, c, _ in found)
            wanted = all_cells(problem, threshold, longest)
            assert sum(found.values()) == 2**64
            for cell in found.keys() | wanted.keys():
                assert abs(found[cell] / 2**64 - wanted.get(cell, 0.0)) < 1e-13, cell
            assert sum(p for (_, stands, *_), p in wanted.items() if stands) <= 1e-3


def cells_by_what_they_are(table: rd.RoundTable, column: int) -> Counter[tuple[int, ...]]:
    """The share of (first state, where it stands, won, f, f_goal, c, c_up)."""
    cells, bits = table.cells[column], 64 - table.shift
    found: Counter[tuple[int, ...]] = Counter()
    for cut, first, second, places in cells.tolist():
        own = 2**table.shift if cut == 2**64 - 1 else cut >> bits
        rest = 2**table.shift - own
        for share, word, at in ((own, first, places), (rest, second, places >> 16)):
            counts = [(word >> 52) & 511, (word >> 34) & 511, (word >> 43) & 511]
            moves = [word & 0x1FFFF, (word >> 17) & 0x1FFFF]
            start, stands = at & 0xFF, (at >> 8) & 0xFF
            assert (word >> 63) == (stands > 0)
            if share:
                found[start, stands, *counts, *moves] += share
    return found


def all_cells(problem: Problem, threshold: int, longest: int) -> dict[tuple[int, ...], float]:
    """The same from the law: the rounds of up to a number of steps, and where the others are."""
    found: dict[tuple[int, ...], float] = {}
    goal, exact = problem.goal, law(problem, threshold, longest)
    for first, ending, c in np.argwhere(exact > 0.0).tolist():
        f = int(ending == FINISHED or (ending == LOST and threshold > 0))
        end = goal if ending == AT_GOAL else first if c == 0 else threshold
        kind = (int(ending != LOST), f, int(ending == FINISHED), c, (c + end - first) // 2)
        found[first, 0, *kind] = float(exact[first, ending, c])
    if threshold < goal - 1:
        power = np.linalg.matrix_power(matrix(goal, threshold, problem.p_c), longest)
        weighted = power * problem.start_probabilities[threshold:, None]
        for i, j in np.argwhere(weighted > 0.0).tolist():
            first, stands = i + threshold + 1, j + threshold + 1
            kind = (0, 0, 0, longest, (longest + stands - first) // 2)
            found[first, stands, *kind] = float(weighted[i, j])
    return found


@pytest.mark.parametrize("seed", range(8))
def test_an_alias_table_has_the_weights_to_the_last_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = [1, 2, 3, 17, 64, 100, 1000, 4095][seed]
    bits = bits_for(size)
    for weights in (np.ones(size), rng.random(size), rng.random(size) ** 40 + 1e-300):
        weights[rng.random(size) < 0.2] = 0.0
        weights[size // 2] += 0.01
        found = shares(*alias_table(weights, bits), bits)
        assert sum(found.values()) == 2**64
        total = sum(Fraction(weight) for weight in weights.tolist())
        largest, lost = int(np.argmax(weights)), Fraction(0)
        for k in set(range(2**bits)) - {largest}:
            exact = Fraction(weights[k] if k < size else 0) / total
            error = abs(Fraction(found[k], 2**64) - exact)
            # The weight is a float: its 53 bits, and the last of the 64.
            assert error <= exact * Fraction(2, 2**53) + Fraction(1, 2**64)
            lost += error
        assert abs(Fraction(found[largest], 2**64) - Fraction(weights[largest]) / total) <= lost
    dyadic = rng.multinomial(2**20, np.full(size, 1 / size)) / 2**20
    found = shares(*alias_table(dyadic, bits), bits)
    assert [found[k] for k in range(size)] == [int(w * 2**20) * 2**44 for w in dyadic]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("goal", [17, 50, 1000])
def test_first_states_have_their_chances(goal: int, start: str) -> None:
    problem = a_problem(goal, 0.5, 0.3, start)
    starts, found = make_hops(problem).starts, np.zeros(goal)
    for k, share in shares(starts[:, rd.CUT], starts[:, OTHER], bits_for(len(starts))).items():
        found[int(starts[k, STATE])] += share / 2**64
    assert found == pytest.approx(np.append(0.0, problem.start_probabilities), abs=1e-15)


def test_as_many_rounds_as_are_added_up_fit_into_the_fields_of_a_word() -> None:
    longest = rd.pack(1, 1, 1, rd._LONGEST, rd._LONGEST)
    assert rd.PACKED * longest < 1 << rd._OPEN
    assert rd.PACKED * rd._LONGEST < 1 << 17
    assert rd.PACKED < 1 << 9


def test_rounds_added_up_are_those_drawn_one_by_one() -> None:
    table, unfinished = rd.make_table(a_problem(8, 0.5, 1.0), (0, 2, 7)), 0
    world = StepLaw(8, 0.5, 1.0)
    for column, threshold in enumerate((0, 2, 7)):
        one_by_one = np.zeros((20_000, 5), dtype=np.int64)
        fast(_by_table)(table, world, column, threshold, np.uint64(9), one_by_one)
        for rho in range(0, 19_700, 237):
            for count in (0, 1, 100, rd.PACKED):
                t = table_rounds(table, column, 9, rho, count)
                _, won, f, c, up = one_by_one[rho : rho + t.rounds].T
                assert t[1:] == (won.sum(), f.sum(), (won * f).sum(), c.sum(), up.sum())
                if t.rounds < count:
                    unfinished += 1
                    word, _ = rd.look_up_round(table, column, fold_in(9, rho + t.rounds))
                    assert word >> 63 == 1
    assert unfinished > 20


# The draws have the law.


@pytest.mark.sample("*-4", "0.45-17", "0.5-50")
@pytest.mark.slow
@pytest.mark.parametrize("goal", [2, 3, 4, 8, 16, 17, 50])
@pytest.mark.parametrize("p_c", WALKS)
def test_rounds_have_the_law_of_first_passages(goal: int, p_c: float) -> None:
    """First state, ending and steps jointly; the moves up follow from them."""
    for threshold in thresholds_of(goal):
        for k, start in enumerate(STARTS):
            problem = a_problem(goal, p_c, (0.3, 0.85, 0.02)[k], start)
            size = 200_000 if goal <= rd.TABLE_GOAL else 400_000
            rounds = drawn(problem, threshold, size, key=10 + k)
            assert coherent(rounds, goal, threshold)
            assert p_value(rounds, law(problem, threshold, steps_enough(goal))) > 1e-4, threshold


@pytest.mark.sample("3")
@pytest.mark.slow
@pytest.mark.parametrize("goal", [3, 16, 17, 50])
def test_the_judge_would_notice_one_in_a_hundred(goal: int) -> None:
    exact = law(a_problem(goal, 0.45), 1, steps_enough(goal))
    for p_c, p_f in ((0.4545, 0.3), (0.45, 0.303)):
        assert p_value(drawn(a_problem(goal, p_c, p_f), 1, 4_000_000), exact) < 1e-6
    # And it is right about walking.
    assert p_value(walked(a_problem(goal, 0.45), 1, 200_000), exact) > 1e-4


def banded(goal: int, threshold: int, p_c: float, z: float) -> Floats:
    """1 - zQ of the states between the threshold and the goal, as SciPy wants it."""
    found = np.ones((3, goal - 1 - threshold))
    found[0], found[2] = -z * p_c, -z * (1 - p_c)
    return found


@pytest.mark.sample("0.501-50", "0.45-1000", "0.5-4000")
@pytest.mark.slow
@pytest.mark.parametrize("goal", [50, 1000, 4000])
@pytest.mark.parametrize("p_c", [0.5, 0.5 + 1e-9, 0.501, 0.45, 0.65])
def test_long_rounds_have_their_exact_moments_and_transforms(goal: int, p_c: float) -> None:
    """E exp(-sT) on each ending, for s from 0 on, and the mean and the variance of T."""
    size = 200_000
    for threshold in (0, 1, goal // 2, goal - 2):
        problem = a_problem(goal, p_c, 0.3, "uneven" if threshold == 1 else "uniform")
        weight = problem.start_probabilities[threshold:]
        rounds = drawn(problem, threshold, size)
        assert coherent(rounds, goal, threshold)
        c = rounds[:, C].astype(np.float64)
        plain = ((1, 1), banded(goal, threshold, p_c, 1.0))
        mean = solve_banded(*plain, np.ones(goal - 1 - threshold))
        square = solve_banded(*plain, 2 * mean - 1)
        variance = weight @ square - (weight @ mean) ** 2
        assert abs(c.mean() - weight @ mean) <= 4.5 * np.sqrt(variance / size)
        fourth = np.mean((c - c.mean()) ** 4)
        assert abs(c.var() - variance) <= 4.5 * np.sqrt((fourth - c.var() ** 2) / size)
        top = (rounds[:, F] == 0) & (rounds[:, WON] == 1)
        for ending in (top, ~top & (rounds[:, FIRST] > threshold)):
            for s in np.array([0.0, 0.3, 1.0, 4.0, 20.0]) / mean.max():
                exact, squared = (
                    weight @ transform(goal, threshold, p_c, np.exp(-k * s), ending is top)
                    for k in (1, 2)
                )
                error = 4.5 * np.sqrt(abs(squared - exact**2) / size) + 10 / size
                assert abs(np.mean(np.exp(-s * c) * ending) - exact) <= error, (threshold, s)


def transform(goal: int, threshold: int, p_c: float, z: float, top: bool) -> Any:
    """E z^T on the rounds that end at the top, or at the bottom, for every first state."""
    right = np.zeros(goal - 1 - threshold)
    right[-1 if top else 0] = z * (p_c if top else 1 - p_c)
    return solve_banded((1, 1), banded(goal, threshold, p_c, z), right)


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "size"), [(50, 60_000), (200, 20_000)])
@pytest.mark.parametrize("p_c", [0.5, 0.49, 0.65])
def test_long_rounds_are_as_long_as_walked_ones(goal: int, size: int, p_c: float) -> None:
    for threshold in (0, 1, goal // 2):
        problem = a_problem(goal, p_c)
        ours, theirs = drawn(problem, threshold, size), walked(problem, threshold, size)
        assert coherent(theirs, goal, threshold)
        for what in (C, UP, FIRST):
            assert stats.ks_2samp(ours[:, what], theirs[:, what]).pvalue > 1e-4
        endings = [np.bincount(2 * r[:, WON] + r[:, F], minlength=4) for r in (ours, theirs)]
        assert stats.chi2_contingency(np.array(endings)[:, np.any(endings, axis=0)]).pvalue > 1e-4


@pytest.mark.parametrize(("p_c", "p_f"), [(0.5, 0.3), (0.45, 0.9), (0.3, 0.3)])
def test_finish_has_a_draw_of_its_own_in_a_round_that_outlasts_its_table(
    p_c: float, p_f: float
) -> None:
    """The last step down would have decided it otherwise: its draw is p_c or more."""
    world, begun = StepLaw(8, p_c, p_f), Round(5, 0, 0, 4, 2)
    rounds = [rd.walk_on(world, 2, fold_in(1, k), 5, begun) for k in range(4000)]
    finished = [one.won for one in rounds if one.f == 1]
    assert len(finished) > 1000
    assert stats.binomtest(sum(finished), len(finished), p_f).pvalue > 1e-4
    steps = [one.c - 4 for one in rounds]
    assert min(steps) == 3  # Each walks on from where it stands, and counts every step.
    assert all(2 * (one.c_up - 2) - (one.c - 4) == (3 if one.f == 0 else -3) for one in rounds)


@pytest.mark.slow
@pytest.mark.parametrize("goal", [2, 4, 16, 17, 50, 1000])
@pytest.mark.parametrize("p_c", [0.0, 1.0, 1e-12, 1 - 1e-12])
@pytest.mark.parametrize("p_f", [0.0, 1.0])
def test_what_is_certain_happens(goal: int, p_c: float, p_f: float) -> None:
    for threshold in thresholds_of(goal):
        rounds = drawn(a_problem(goal, p_c, p_f), threshold, 2000)
        first, won, f, c, up = rounds.T
        walks = first > threshold
        assert coherent(rounds, goal, threshold)
        assert np.all(won[f == 1] == p_f)
        if p_c > 0.5:
            assert np.all(c[walks] == goal - first[walks])
            assert np.all((up == c) & (won == 1) | ~walks)
        else:
            assert np.all(c[walks] == first[walks] - threshold)
            assert not up.any()


@pytest.mark.parametrize("goal", [3, 16, 17, 200])
@pytest.mark.parametrize("p_c", [0.5, 0.45])
def test_interpreted_rounds_are_the_compiled_ones_bit_for_bit(goal: int, p_c: float) -> None:
    for threshold in (0, goal // 2):
        problem = a_problem(goal, p_c, 0.3, "uneven")
        slow = drawn(problem, threshold, 3000, run=lambda loop: loop)
        np.testing.assert_array_equal(slow, drawn(problem, threshold, 3000))
