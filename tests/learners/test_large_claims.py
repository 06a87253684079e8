"""Claims over boxes of up to 10^12 counts, as far as they go: rounding must not make them false."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grbp.learners.base import Learner
from grbp.learners.counters import Counters
from grbp.learners.registry import find_learner

pytestmark = pytest.mark.slow

DOORSTEP = ["doorstep-kl", "doorstep-optimal"]
KNOWING = [
    f"doorstep-optimal:{known}"
    for known in ("horizon=2e7", "horizon=2e12", "good=2,bad=6,up=5,down=5", "good=0.5,bad=0.5")
]
MEANS = ["getbe-sm", "no-explore"]
FARTHEST = 10**12


def learner_of(name: str) -> Learner:
    found = find_learner(name, 4)
    assert isinstance(found, Learner)
    return found


def grown(n: Counters, more: Any) -> Counters:
    """Counters after more wins and losses of each kind, added as the engine adds them."""
    goal, lost, up, down, won_0, lost_0, won_1, lost_1, rounds = map(float, more)
    return Counters(
        n.rho + int(rounds), n.f + goal + lost, n.f_goal + goal, n.c + up + down, n.c_up + up,
        n.plays_0 + won_0 + lost_0, n.wins_0 + won_0, n.plays_1 + won_1 + lost_1, n.wins_1 + won_1,
    )  # fmt: skip


def within(low: Counters, more: Any, rng: Any) -> Iterator[Counters]:
    """The corners of a box, each in its first and its last round, and some counters inside."""
    for ends in np.ndindex(2, 2, 2, 2, 2):
        for last in (0, 1):
            yield grown(low, np.floor(more * [*ends[:4], *ends[4:] * 4, last]))
    for _ in range(8):
        yield grown(low, np.floor(more * rng.random(9)))


def decided(learner: Learner, goal: int, n: Counters) -> int:
    return learner.decide(goal, learner.constants, n, 0)


def claimed(learner: Learner, goal: int, low: Counters, more: Any) -> bool:
    assert learner.stable is not None
    return learner.stable(goal, learner.constants, low, grown(low, more))


def assert_true(learner: Learner, goal: int, low: Counters, more: Any, rng: Any) -> None:
    answers = {decided(learner, goal, n) for n in within(low, more, rng)}
    assert answers == {decided(learner, goal, low)}, (goal, low, more.tolist())


def about_to_change(learner: Learner, goal: int, size: float, rng: Any) -> Counters | None:
    """Counters of about a size next to where a decision changes with the successes of FINISH."""
    rho = int(size * rng.uniform(1, 4))
    p_c = rng.uniform(0.3, 0.8) if rng.random() < 0.7 else 1 - 10.0 ** rng.uniform(-12, -2)
    often = rng.uniform(0.3, 3) if rng.random() < 0.7 else rng.uniform(0.01, 0.3)
    c = float(math.floor(rho * often))
    plays_1 = float(math.floor(rho * rng.random()))
    f = 1.0 + math.floor(plays_1 * rng.uniform(0.2, 1))
    if rng.random() < 0.3:
        f = float(math.floor(size ** rng.uniform(0.1, 1)))
    c_up = math.floor(c * p_c) - rng.random()
    n = Counters(rho, f, 0.0, c, c_up, rho - 1 - plays_1, 0.0, plays_1, 0.0)
    first, low, high = decided(learner, goal, n), 0.0, f
    if decided(learner, goal, n._replace(f_goal=f)) == first:
        return None
    while low < (middle := 0.5 * (low + high)) < high:
        same = decided(learner, goal, n._replace(f_goal=middle)) == first
        low, high = (middle, high) if same else (low, middle)
    off = 10.0 ** rng.uniform(-15, -6) * f * float(rng.choice([-1, 1]))
    return n._replace(f_goal=min(f, max(0.0, high + off)))


def more_after(n: Counters, threshold: int, rounds: int) -> Any:
    """What rounds of a threshold add, and six standard deviations to spare."""
    p_f, p_c = n.f_goal / n.f, n.c_up / n.c
    rate = np.array([0.4 * p_f, 0.4 * (1 - p_f), 2 * p_c, 2 * (1 - p_c), 0.5, 0.5, 0.5, 0.5, 1.0])
    rate[[0, 1, 6, 7] if threshold == 0 else [4, 5]] = 0.0
    more = rate * rounds + 6 * np.sqrt(rate * rounds) + 10 * (rate > 0)
    more[8] = rounds
    return more


@pytest.mark.sample("doorstep-optimal-*", "getbe-sm-*")
@pytest.mark.parametrize("size", [1e7, 1e12])
@pytest.mark.parametrize("name", [*DOORSTEP, *KNOWING, *MEANS, "getbe-ucb"])
def test_the_largest_box_that_is_claimed_has_one_answer(name: str, size: float) -> None:
    """As the engine plans: it asks for ever larger boxes, and takes the last that is claimed."""
    learner, rng, count = learner_of(name), np.random.default_rng(1), 0
    for goal in rng.choice([2, 3, 4, 10, 50, 1000, 4096], 800).tolist():
        low = about_to_change(learner, goal, size, rng)
        if low is None or count == 40:
            continue
        threshold, fits, most = decided(learner, goal, low), 0, 1
        while most <= FARTHEST and claimed(learner, goal, low, more_after(low, threshold, most)):
            fits, most = most, 2 * most
        while most - fits > 1:
            middle = (fits + most) // 2
            if claimed(learner, goal, low, more_after(low, threshold, middle)):
                fits = middle
            else:
                most = middle
        if fits > 0:
            count += 1
            assert_true(learner, goal, low, more_after(low, threshold, fits), rng)
    assert count == 40 or (size < 1e12 and count > 10)


@pytest.mark.parametrize("name", [*MEANS, "getbe-ucb"])
def test_a_box_that_adds_hardly_a_loss_to_a_huge_total_has_one_answer(name: str) -> None:
    """A few moves down, or FINISH lost, among 10^12: a total less the wins has no digits left."""
    learner, rng, count = learner_of(name), np.random.default_rng(3), 0
    for _ in range(120):
        goal, finish = int(rng.choice([2, 3, 4, 10])), rng.random() < 0.5
        c, f = math.floor(10 ** rng.uniform(1, 5)), int(rng.integers(2, 400))
        lost, wide = rng.integers(0, 4) + rng.random(), math.floor(10 ** rng.uniform(11, 12.5))
        few, rho = int(rng.integers(1, 6)), int(rng.integers(2, 10**4))
        more = np.array([0, 0, wide, few, wide, few, 0, 0, wide])
        if finish:
            more = np.array([wide, few, 3 * wide, wide, 0, 0, wide, few, wide])

        def at(
            x: float, c: int = c, f: int = f, lost: float = lost, rho: int = rho,
            finish: bool = finish,
        ) -> Counters:  # fmt: skip
            f_goal, c_up = (f * max(0.5, 1 - lost / f), c * x) if finish else (f * x, c - lost)
            return Counters(rho, float(f), f_goal, float(c), max(0.5, c_up), 0.0, 0.0, 0.0, 0.0)

        shares = np.linspace(1e-9, 1 - 1e-9, 60).tolist()
        said = [claimed(learner, goal, at(x), more) for x in shares]
        for k in range(59):
            if said[k] != said[k + 1]:
                x, y = (shares[k], shares[k + 1]) if said[k] else (shares[k + 1], shares[k])
                for _ in range(70):  # The claim holds at x, and ends on the way to y.
                    middle = 0.5 * (x + y)
                    if claimed(learner, goal, at(middle), more):
                        x = middle
                    else:
                        y = middle
                count += 1
                assert_true(learner, goal, at(x), more, rng)
    assert count > 10
