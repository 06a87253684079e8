"""The time a walk takes to leave an interval: the law against other roads to it, and the draws."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from grbp.engine import exit_time as ex
from grbp.engine.exit_time import exit_steps, log_exit
from grbp.numerics.jit import compile_function, u64
from grbp.numerics.rng import fold_in

Floats = NDArray[np.float64]

WALKS = [0.5, 0.5 + 1e-9, 0.45, 0.65, 0.05]
EXTREMES = [1e-12, 1 - 1e-12, 0.5 - 1e-12, 0.5 + 1e-12, 0.999]
DISTANCES = [2, 3, 7, 16, 64, 500, 1024]
ADMITTED = [*range(512), *range(512, 1024, 2), *range(1024, 2048, 4), 2048, 2056]


def _logs(p_c: float, d: int, out: Floats) -> None:
    for m in range(len(out)):
        out[m] = log_exit(p_c, d, m)


def _draws(exits: ex.Exits, d: int, key: int, out: NDArray[np.int64]) -> None:
    for i in range(len(out)):
        out[i] = exit_steps(exits, d, fold_in(key, i))


@cache
def fast(loop: Callable[..., Any]) -> Callable[..., Any]:
    return compile_function(loop)


@cache
def tables(p_c: float) -> ex.Exits:
    return ex.exit_tables(p_c, 1024)


@cache
def law(p_c: float, d: int, far: int) -> Floats:
    """P(M = m) for m up to some standard deviations beyond the mean."""
    mean, variance = ex.exit_mean_variance(p_c, d)
    out = np.empty(int((mean - d + far * math.sqrt(variance)) / 2) + 60)
    fast(_logs)(p_c, d, out)
    return np.exp(out)


def drawn(p_c: float, d: int, size: int, seed: int = 1) -> NDArray[np.int64]:
    out = np.empty(size, dtype=np.int64)
    fast(_draws)(tables(p_c), d, np.uint64(seed), out)
    return out


def p_value(values: NDArray[np.int64], pmf: Floats) -> float:
    """How likely such counts are by chi-square: in a hundred groups, and a few more far out."""
    below = np.cumsum(pmf / pmf.sum())
    edges = np.unique(np.searchsorted(below, [*np.arange(0.01, 1, 0.01), 0.998, 0.9998]))
    share = np.diff([0.0, *below[edges], 1.0])
    seen = np.bincount(np.searchsorted(edges, values), minlength=len(share))
    likely = share * len(values) > 10
    expected = np.append(share[likely], share[~likely].sum()) * len(values)
    counts = np.append(seen[likely], seen[~likely].sum())
    surprise = np.sum((counts - expected) ** 2 / np.maximum(expected, 1e-9))
    return float(chi2.sf(surprise, max(1, len(counts) - 1)))


def path_counts(d: int, steps: int) -> list[int]:
    """How many paths leave (-d, d) at the steps d, d + 2, ..., by counting them all."""
    inside, counts = np.array([0] * d + [1] + [0] * d, dtype=object), []
    for _ in range(steps):
        inside = np.convolve(inside, [1, 0, 1])[1:-1]
        counts.append(inside[0] + inside[-1])
        inside[[0, -1]] = 0
    return counts[d - 1 :: 2]


def paths_by_images(d: int, m: int) -> Any:
    """The same for one number of steps: by images, with digits to lose."""
    n = d + 2 * m
    reach = range(d, min(n, 81 * d) + 1, 2 * d)
    terms = [mp.mpf(b) / n * mp.binomial(n, (n - b) // 2) for b in reach]
    return 2 * (sum(terms[::2]) - sum(terms[1::2]))


def log_of_paths(p_c: float, d: int, m: int, paths: Any) -> Any:
    """log P from the number of paths, half of which leave on each side."""
    p = mp.mpf(p_c)
    q = 1 - p
    return mp.log(mp.mpf(paths) / 2 * (p * q) ** m * (p**d + q**d))


@pytest.mark.parametrize("p_c", WALKS + EXTREMES)
def test_the_law_counts_the_paths(p_c: float) -> None:
    with mp.workdps(60):
        for d in range(1, 41):
            for m, paths in enumerate(path_counts(d, d + 24)):
                if paths == 0:
                    assert log_exit(p_c, d, m) == -math.inf
                else:
                    error = log_exit(p_c, d, m) - log_of_paths(p_c, d, m, paths)
                    assert abs(error) < 2e-12, (d, m)


@pytest.mark.parametrize("d", [12, 40, 500, 2000])
def test_the_law_where_paths_are_too_many_to_count(d: int) -> None:
    half = d * d // 4 - d // 2  # where images give way to modes
    with mp.workdps(80):
        for m in (0, 3, d // 2, d, 3 * d, half // 9, half // 2, half, half + 1, d * d, 5 * d * d):
            paths = paths_by_images(d, m)
            for p_c in WALKS + EXTREMES:
                exact = log_of_paths(p_c, d, m, paths)
                if exact > -700:
                    assert abs(log_exit(p_c, d, m) - exact) < 1e-11, (m, p_c)


@pytest.mark.parametrize("p_c", [0.5, 0.45, 0.97])
@pytest.mark.parametrize("d", [1, 2, 5, 16, 31])
def test_the_law_and_the_side_by_matrix_powers(p_c: float, d: int) -> None:
    inside = np.zeros(2 * d - 1)
    inside[d - 1] = 1.0
    step = p_c * np.eye(2 * d - 1, k=1) + (1 - p_c) * np.eye(2 * d - 1, k=-1)
    for n in range(1, 3 * d * d + 1):
        up, down = p_c * inside[-1], (1 - p_c) * inside[0]
        inside = inside @ step
        if n >= d and (n - d) % 2 == 0:
            assert math.exp(log_exit(p_c, d, (n - d) // 2)) == pytest.approx(up + down, rel=1e-12)
            assert ex.exit_up(p_c, d) * (up + down) == pytest.approx(up, rel=1e-12)


@pytest.mark.sample(5)
@pytest.mark.slow
@pytest.mark.parametrize("p_c", WALKS)
@pytest.mark.parametrize("d", [2, 3, 7, 16, 64, 150])
def test_the_law_is_log_concave_and_has_its_moments(p_c: float, d: int) -> None:
    pmf = law(p_c, d, 30)
    steps = d + 2 * np.arange(len(pmf))
    mean, variance = ex.exit_mean_variance(p_c, d)
    assert math.fsum(pmf) == pytest.approx(1, rel=1e-11)
    assert math.fsum(pmf * steps) == pytest.approx(mean, rel=1e-10)
    assert math.fsum(pmf * (steps - mean) ** 2) == pytest.approx(variance, rel=1e-10)
    seen = np.log(pmf[pmf > 1e-290])
    assert np.all(np.diff(seen, 2) <= 1e-11)


@pytest.mark.parametrize("p_c", [*WALKS, *EXTREMES, 0.499, 0.5 + 1e-4, 0.5 + 2.0**-52])
def test_moments_are_those_of_the_geometric_variables(p_c: float) -> None:
    for d in (1, 2, 3, 10, 77, 500):
        angles = (2 * np.arange(1, d // 2 + 1) - 1) * np.pi / (2 * d)
        spread = 4 * p_c * (1 - p_c)
        ratio = spread * np.cos(angles) ** 2
        stop = (1 - 2 * p_c) ** 2 + spread * np.sin(angles) ** 2
        mean, variance = ex.exit_mean_variance(p_c, d)
        assert mean == pytest.approx(d + 2 * math.fsum(ratio / stop), rel=1e-12)
        assert variance == pytest.approx(4 * math.fsum(ratio / stop**2), rel=1e-11)
    assert ex.exit_mean_variance(0.5, 10) == pytest.approx((100, 6600), rel=1e-15)


def test_the_side_at_extremes() -> None:
    assert ex.exit_up(0.5, 10**6) == 0.5
    assert ex.exit_up(1e-12, 10**6) == 0.0
    assert ex.exit_up(1 - 1e-12, 10**6) == 1.0
    assert ex.exit_up(1e-12, 1) == pytest.approx(1e-12, rel=1e-14)
    assert ex.exit_up(0.5 + 1e-9, 1000) == pytest.approx(0.5 + 1e-6, abs=1e-12)


@pytest.mark.sample(5)
@pytest.mark.slow
@pytest.mark.parametrize("p_c", WALKS)
@pytest.mark.parametrize("d", DISTANCES)
def test_draws_follow_the_law(p_c: float, d: int) -> None:
    values = (drawn(p_c, d, 300_000) - d) // 2
    assert p_value(values, law(p_c, d, 14)) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("p_c", [1e-12, 1 - 1e-12])
def test_draws_at_extremes(p_c: float) -> None:
    assert all(np.all(drawn(p_c, d, 1000) == d) for d in [1, *DISTANCES])
    assert np.all(drawn(0.5, 1, 1000) == 1)


@pytest.mark.slow
@pytest.mark.parametrize(("p_c", "d", "cell"), [(0.5, 7, 127), (0.65, 200, 127), (0.65, 200, 0)])
def test_what_is_kept_of_a_tail_follows_the_law(p_c: float, d: int, cell: int) -> None:
    draws = np.random.default_rng(3).random((20_000, 2)).tolist()
    kept = np.array(
        [ex._accept_value(tables(p_c), d, cell, within, 1 - luck) for within, luck in draws]
    )
    low, width = tables(p_c).bins[ex.hop_row(d), [ex.LOW, ex.WIDTH]].astype(int)
    first, end = (0, low) if cell == 0 else (low + (ex.CELLS - 2) * width, None)
    assert p_value(kept[kept >= 0] - first, law(p_c, d, 30)[first:end]) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("p_c", [0.5, 0.5 + 1e-12, 0.45, 0.65])
@pytest.mark.parametrize("d", [2, 7, 64, 200, 1024])
def test_the_bounds_of_each_cell_hold(p_c: float, d: int) -> None:
    bins = tables(p_c).bins[ex.hop_row(d)]
    low, width, levels = int(bins[ex.LOW]), int(bins[ex.WIDTH]), bins[ex.LEVEL :]
    above = np.zeros(ex.CELLS)
    for cell in range(1, ex.CELLS - 1):
        first = low + (cell - 1) * width
        assert levels[cell] == log_exit(p_c, d, first)
        hat = ex.concave_bound(*levels[cell - 1 : cell + 3]) if width > 1 else levels[cell]
        above[cell] = width * math.exp(hat)
        for m in {first, first + width // 3, first + width // 2, first + width - 1}:
            log_p = log_exit(p_c, d, m)
            assert hat + math.log(bins[ex.SURE + cell]) - 1e-11 <= log_p <= hat + 1e-11
    k = np.arange(700 * width)
    slope = np.diff(levels) / width
    after = levels[-2] + k * slope[-2]
    before = levels[1] - (k + 1) * slope[1] if low > 0 else np.full(low, -np.inf)
    above[0], above[-1] = np.exp(before).sum(), np.exp(after).sum()
    for j in (0, 1, width, 20 * width):
        assert log_exit(p_c, d, low + (ex.CELLS - 2) * width + j) <= after[j] + 1e-11
        assert low <= j or log_exit(p_c, d, low - 1 - j) <= before[j] + 1e-11
    assert above.sum() < 1.05  # So few proposals are thrown away.
    # Cells are drawn in proportion to what lies above the law.
    share = np.zeros(ex.CELLS)
    for cell, packed in enumerate(tables(p_c).cells[ex.hop_row(d)].tolist()):
        share[cell] += packed // ex.CELLS
        share[packed % ex.CELLS] += 2**57 - packed // ex.CELLS
    assert share / share.sum() == pytest.approx(above / above.sum(), rel=1e-9, abs=1e-14)
    assert bins[ex.UP] == ex.exit_up(p_c, d)


def test_hops_are_admitted_lengths() -> None:
    lengths = [ex.hop_length(m) for m in range(2060)]
    assert sorted(set(lengths)) == ADMITTED
    for m, d in enumerate(lengths):
        assert d <= m < d + max(1, d // 256)
        assert ex.hop_length(d) == d
        assert ex.hop_row(m) == ex.hop_row(d) == ADMITTED.index(d)
    assert len(ex.exit_tables(0.5, 20).bins) == 21
    assert len(tables(0.5).bins) == 1 + ex.hop_row(1024) == 769


@pytest.mark.slow
@pytest.mark.parametrize("p_c", [0.5, 0.45])
def test_compiled_and_interpreted_agree_bit_for_bit(p_c: float) -> None:
    interpreted, quick = ex.exit_tables(p_c, 24), tables(p_c)
    assert np.array_equal(interpreted.cells, quick.cells[:25])
    assert np.array_equal(interpreted.bins, quick.bins[:25])
    for d in (1, 7, 300, 1024):
        slow = np.empty(4000, dtype=np.int64)
        _draws(quick, d, u64(1), slow)
        assert np.array_equal(slow, drawn(p_c, d, 4000))
