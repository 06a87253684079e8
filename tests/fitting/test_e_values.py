"""The evidence is an e-process: what is expected of it, exactly, over all histories."""

import math
from itertools import product

import pytest
from histories import draw_steps, follow_all

from grbp.fitting.e_values import Cell, Partition, log_evidence, log_ratio, look
from grbp.fitting.watch import MARKS, NAMES, Step, Watch

CHANCES = (0.02, 0.3, 0.5, 0.9)


def of_walk(outcomes: tuple[int, ...], strength: float) -> list[Partition]:
    """Put moves into two cells, the next one by what came last: nobody knows it before."""
    counts, cell = [[0, 0], [0, 0]], 0
    for success in outcomes:
        counts[cell][1 - success] += 1
        cell = success
    return [(1.0, [Cell(won, lost, strength) for won, lost in counts])]


@pytest.mark.parametrize("strength", [0.5, 32.0])
@pytest.mark.parametrize("p", CHANCES)
def test_over_all_histories_the_ratio_is_one_on_average_and_the_evidence_no_more(
    p: float, strength: float
) -> None:
    ratio = evidence = 0.0
    for outcomes in product((0, 1), repeat=9):
        chance = p ** sum(outcomes) * (1.0 - p) ** (9 - sum(outcomes))
        cells = of_walk(outcomes, strength)
        ratio += chance * math.exp(log_ratio(cells, p))
        evidence += chance * math.exp(log_evidence(cells))
    assert ratio == pytest.approx(1.0, abs=1e-9)
    assert evidence <= 1.0 + 1e-9


@pytest.mark.parametrize("p", CHANCES)
@pytest.mark.parametrize("k", range(6))
def test_every_ratio_of_a_watch_is_a_martingale(p: float, k: int) -> None:
    """Also where a mark is passed: from any history, what is expected next is what is there."""

    def ratio_after(watch: Watch, successes: tuple[bool, ...]) -> float:
        for success in successes:
            watch = watch.follow(Step(99, 1, 2, k > 2, success))
        return math.exp(log_ratio(watch._partitions(k), p) - at)

    begun = follow_all(draw_steps(1, 40))
    while sum(begun.told[k > 2][:2]) < MARKS[0] - 2:
        begun = begun.follow(Step(98, 0, 1, k > 2, sum(begun.told[k > 2][:2]) % 2 == 0))
    at = log_ratio(begun._partitions(k), p)
    expected = sum(
        p ** sum(ways) * (1.0 - p) ** (4 - sum(ways)) * ratio_after(begun, ways)
        for ways in product((False, True), repeat=4)
    )
    assert expected == pytest.approx(1.0, rel=1e-9)


def test_the_marks_begin_where_the_walk_above_passes_one() -> None:
    assert MARKS[0] == 64
    assert len(set(MARKS)) == len(MARKS)


@pytest.mark.parametrize("k", range(6))
def test_the_evidence_is_the_least_over_all_chances(k: int) -> None:
    cells = follow_all(draw_steps(2, 150, (0.2, 0.5, 0.8)))._partitions(k)
    chances = [(i + 0.5) / 500 for i in range(500)]
    logs = [log_ratio(cells, p) for p in chances]
    assert log_evidence(cells) <= min(logs) + 1e-9
    assert log_evidence(cells) == pytest.approx(min(logs), abs=0.02)
    # The logarithm is convex, so that there is one least.
    assert all(
        2.0 * here <= left + right + 1e-9
        for left, here, right in zip(logs, logs[1:], logs[2:], strict=False)
    )


def test_where_all_went_alike_there_is_no_evidence() -> None:
    cells: list[Partition] = [(1.0, [Cell(5, 0, 32.0), Cell(900, 0, 32.0)])]
    assert log_evidence(cells) == 0.0
    assert look(cells, 1.0) == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("p_c", [(0.5, 0.5, 0.5), (0.05, 0.5, 0.95)])
def test_an_alarm_rises_where_one_rises_that_looks_after_every_move(
    seed: int, p_c: tuple[float, ...]
) -> None:
    watch, bar, rose = Watch.start(4, 2), math.log(100.0), [-1] * len(NAMES)
    for step in draw_steps(seed, 90, p_c):
        watch = watch.follow(step)
        for k in (0, 2, 4):
            if rose[k] == -1 and watch._log_evidence(k) >= bar:
                rose[k] = step.case
    assert [watch.rose[k] for k in (0, 2, 4)] == [rose[k] for k in (0, 2, 4)]
    assert p_c[0] == p_c[1] or rose[0] > 0


def test_an_alarm_over_time_rises_where_one_rises_that_looks_after_every_move() -> None:
    watch, bar, rose = Watch.start(4), math.log(100.0), -1
    for step in draw_steps(5, 160, (0.2,) * 3, groups=1, last=0.9):
        watch = watch.follow(step)
        if rose == -1 and watch._log_evidence(1) >= bar:
            rose = step.case
    assert rose > 80
    assert watch.rose[1] == rose


def test_in_many_studies_few_have_an_alarm() -> None:
    """Ville's bound for all five together, here at a level of 0.75: an evidence of 20."""
    rose = [follow_all(draw_steps(seed, 80), level=0.75).rose for seed in range(100, 180)]
    share = sum(any(case != -1 for case in cases) for cases in rose) / len(rose)
    assert share <= 0.25
