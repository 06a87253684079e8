"""How many more records would settle it: the number, if the estimates stay, gives the level."""

import math

import pytest
from scipy import stats

from grbp import Posterior, Proportion, boundary
from grbp.fitting.decide import Need, boundary_variance, find_tries
from grbp.fitting.sentences import say_need

LEVEL = 0.95


def need_of(goal: int, up: int, down: int, won: int, lost: int, level: float = LEVEL) -> Need:
    c, f = Proportion(up, up + down), Proportion(won, won + lost)
    assert c.estimate is not None
    return find_tries(f, boundary(goal, c.estimate), boundary_variance(goal, c), level)


def sure(goal: int, *counts: float) -> float:
    up, down, won, lost = map(round, counts)
    one = Posterior(goal, up, down, won, lost).probability
    return max(one, 1.0 - one)


@pytest.mark.parametrize(
    "counts", [(450, 550, 12, 38), (500, 500, 30, 70), (6500, 3500, 45, 55)], ids=str
)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_as_many_tries_of_finish_as_it_says_give_just_the_level(
    counts: tuple[int, int, int, int], level: float
) -> None:
    up, down, won, lost = counts
    tries = need_of(4, *counts, level).tries
    assert tries is not None
    assert sure(4, *counts) < 0.88
    more = 1.0 + tries / (won + lost)
    assert sure(4, up, down, won * more, lost * more) == pytest.approx(level, abs=0.013)


UNSURE = [(4, 45, 55, 12, 38), (4, 50, 50, 30, 80), (4, 200, 110, 100, 90), (4, 300, 300, 100, 250)]
"""B(p_C) itself is so unsure that more tries of FINISH alone would not be enough."""


@pytest.mark.parametrize("counts", UNSURE, ids=str)
def test_as_many_times_the_records_as_it_says_give_just_the_level(
    counts: tuple[int, int, int, int, int],
) -> None:
    """The variance of B(p_C) matters here: it is the square of the slope times that of p_C."""
    goal, *four = counts
    times = need_of(*counts).times
    assert 1.0 < times < 100.0
    assert sure(goal, *(times * count for count in four)) == pytest.approx(LEVEL, abs=0.012)


def test_the_variance_of_the_boundary_is_that_of_draws() -> None:
    """By the delta method, against the spread of B(p_C) over the binomial law of p_C."""
    for goal, up, down in ((4, 450, 550), (4, 650, 350), (10, 5200, 4800)):
        n, p = up + down, up / (up + down)
        law = stats.binom.pmf(range(n + 1), n, p)
        values = boundary(goal, [k / n for k in range(n + 1)])
        mean = (law * values).sum()
        exact = (law * (values - mean) ** 2).sum()
        assert boundary_variance(goal, Proportion(up, n)) == pytest.approx(exact, rel=0.03)


def test_twenty_times_the_tries_are_the_most_that_are_asked_of_finish_alone() -> None:
    """Where the value is known, tries alone settle it: their number follows from the binomial."""
    f = Proportion(12, 40)
    z = 1.6448536269514722
    for times in (19.5, 20.5, 30.0):
        distance = z * math.sqrt(0.3 * 0.7 / (40 * (times + 1.0)))
        need = find_tries(f, 0.3 - distance, 0.0, LEVEL)
        assert need.times == pytest.approx(times + 1.0)
        if times < 20.0:
            assert need.tries == pytest.approx(40 * times, abs=1)
        else:
            assert need.tries is None


def test_the_words_give_the_numbers() -> None:
    assert say_need(Need(123, 5.0)).startswith("About 130 more tries of FINISH would settle it")
    assert say_need(Need(None, 19.2)).startswith("About 20 times as many records would")
    assert say_need(Need(None, 1.1)).startswith("About 2 times as many")
    assert say_need(Need(None, 100.0)).startswith("About 100 times as many")
    assert "over 100 times as many records" in say_need(Need(None, 100.5))
    assert "over 100 times as many records" in say_need(Need(None, math.inf))
