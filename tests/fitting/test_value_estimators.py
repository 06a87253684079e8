"""The value of continuing in state 1 as it was seen."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paths import columns_of, records_of

import grbp
from grbp import wilson
from grbp.fitting.transitions import Transitions
from grbp.fitting.value_estimators import _Paths, direct_value
from grbp.records.reading import read_records


def direct(*paths: str, goal: int = 3):  # type: ignore[no-untyped-def]
    return direct_value(Transitions(records_of(paths, goal)), 0.95)


def test_without_finish_it_is_the_share_of_cases_that_stood_in_state_1() -> None:
    """A case that never stood there says nothing, and one that stood there twice counts once."""
    seen = direct("1c2c3", "1c2c1c0", "2c3", "2c1c2c3", "1c0")
    assert seen == (pytest.approx(2 / 4), *map(pytest.approx, wilson(2, 4)))


def test_who_continued_stands_for_who_finished() -> None:
    """Half of the visits to state 1 finished, so one more visit doubles a weight."""
    seen = direct("1c2c1c0", "1c2c3", "1f3", "1f0", "1c2c1f3", "2c1c0", "1f0", "1f3")
    # State 1 was stood in ten times, and five times left by FINISH: a visit weighs 2.
    lost, won, lost_once = 2.0 * 2.0, 2.0, 2.0
    assert seen.estimate == pytest.approx(won / (lost + won + lost_once))
    effective = (lost + won + lost_once) ** 2 / (lost**2 + won**2 + lost_once**2)
    assert seen[1:] == pytest.approx(wilson(seen.estimate * effective, effective))


def test_open_cases_count_as_long_as_they_were_seen() -> None:
    """Three are seen to take a first step, two of them up; of these, one is seen to go on."""
    seen = direct("1c2c3", "1c2c", "1c0")
    # After the first step 1/3 is lost and 2/3 go on; all of those seen to go on won.
    assert seen.estimate == pytest.approx(2 / 3)
    # Dropping the open case would say one half.
    assert direct("1c2c3", "1c0").estimate == pytest.approx(1 / 2)


def test_staying_and_jumping_are_part_of_a_path() -> None:
    assert direct("1c1c1c2c3c4", "1c3c4", "1c0", goal=4).estimate == pytest.approx(2 / 3)


def test_there_is_none_where_nobody_went_on() -> None:
    assert direct("1f3", "2c3") is None
    assert direct("2c3", "2c3") is None
    assert direct("1c2c") is None


def slow_direct(paths: list[list[tuple[int, str, int | None]]], goal: int) -> float:
    """Weigh cases one by one, and let those still seen stand for those that dropped out."""
    chances = {}
    for state in range(1, goal):
        taken = [action for path in paths for s, action, _ in path if s == state]
        chances[state] = taken.count("c") / len(taken) if taken else 0.0
    at_risk: dict[int, list[tuple[float, int]]] = {}
    ends, is_open = [], False
    for path in paths:
        begin = next((k for k, (state, _, _) in enumerate(path) if state == 1), len(path))
        weight, action, after = 1.0, "", None
        for time, (state, action, after) in enumerate(path[begin:]):
            if action == "f" or after is None:
                break
            weight /= chances[state]
            at_risk.setdefault(time, []).append((weight, after))
        if action == "c" and after in (0, goal):
            ends.append((weight, after))
        is_open = is_open or (action == "c" and after not in (0, goal))
    if not is_open:
        return sum(weight for weight, end in ends if end) / sum(weight for weight, _ in ends)
    left, won, lost = 1.0, 0.0, 0.0
    for _, seen in sorted(at_risk.items()):
        risk = sum(weight for weight, _ in seen)
        win = sum(weight for weight, after in seen if after == goal) / risk
        loss = sum(weight for weight, after in seen if after == 0) / risk
        won, lost, left = won + left * win, lost + left * loss, left * (1.0 - win - loss)
    return won / (won + lost)


def walks(
    count: int, goal: int, p_c: float, finish: dict[int, float], drop: float, seed: int
) -> list[list[tuple[int, str, int | None]]]:
    random = np.random.default_rng(seed)
    paths = []
    for _ in range(count):
        state, path = int(random.integers(1, goal)), list[tuple[int, str, int | None]]()
        while 0 < state < goal:
            after: int | None
            if random.random() < finish.get(state, 0.0):
                action, after = "f", goal if random.random() < 0.3 else 0
            else:
                # Stays and jumps are part of it.
                move = random.choice([1, 2, -1, 0], p=[p_c, 0.05, 0.85 - p_c, 0.1])
                action, after = "c", min(max(state + int(move), 0), goal)
            path.append((state, action, after))
            state = after
            if 0 < state < goal and random.random() < drop:
                if random.random() < 0.5:
                    path.append((state, "c", None))
                break
        paths.append(path)
    return paths


@pytest.mark.parametrize("seed", range(8))
def test_it_is_a_slow_count_case_by_case(seed: int) -> None:
    goal, drop = 3 + seed % 4, 0.15 * (seed % 3)
    finish = {1: 0.4, 2: 0.25, 3: 0.1 * (seed % 2)}
    paths = walks(40, goal, 0.4, finish, drop, seed)
    written = ["".join(f"{s}{a}" for s, a, _ in path) + _end(path[-1][2]) for path in paths]
    seen = direct(*written, goal=goal)
    assert seen.estimate == pytest.approx(slow_direct(paths, goal), abs=1e-12)
    assert 0.0 <= seen.low <= seen.estimate <= seen.high <= 1.0


def _end(after: int | None) -> str:
    return "" if after is None else str(after)


def test_with_many_cases_two_ways_find_the_truth_of_a_chain_that_jumps() -> None:
    """The steps alone would say otherwise; who finished and who dropped out does not matter."""
    goal, paths = 4, walks(4000, 4, 0.4, {1: 0.3, 2: 0.2}, 0.1, 2)
    law = np.zeros((3, 5))
    for state in (1, 2, 3):
        for move, chance in ((1, 0.4), (2, 0.05), (-1, 0.45), (0, 0.1)):
            law[state - 1, min(max(state + move, 0), goal)] += chance
    truth = np.linalg.solve(np.eye(3) - law[:, 1:4], law[:, 4])[0]
    written = ["".join(f"{s}{a}" for s, a, _ in path) + _end(path[-1][2]) for path in paths]
    fit = grbp.fit(columns_of(written), goal)
    for name in ("general", "direct"):
        way = fit.ways[name]
        assert way is not None
        assert way.low < truth < way.high
        assert way.estimate == pytest.approx(truth, abs=0.03)


def test_endless_staying_does_not_overflow() -> None:
    """Half of the visits to state 1 finished, and one case made two thousand of them."""
    stays = "1c" * 2000
    seen = direct(stays + "2c3", "1c0", *["1f3"] * 2002)
    assert seen.estimate == pytest.approx(1.0)
    assert seen.low < seen.high


def test_open_cases_widen_the_interval_by_what_each_case_adds() -> None:
    """The variance is that of leaving out one case at a time."""
    paths = walks(60, 4, 0.4, {1: 0.2}, 0.15, 5)
    text = ["".join(f"{s}{a}" for s, a, _ in path) + _end(path[-1][2]) for path in paths]
    found = _Paths.of(Transitions(records_of(text, 4)))
    goals, ends, variance = found.incidence()
    left = []
    for case in np.unique(found.case):
        others = found.case != case
        columns = ("case", "time", "row_weight", "goal", "dead")
        kept = replace(found, **{name: getattr(found, name)[others] for name in columns})
        one, over, _ = kept.incidence()
        left.append(one / over)
    count = len(left)
    assert variance == pytest.approx((count - 1) * np.var(left), rel=1e-9)
    share = goals / ends
    effective = share * (1.0 - share) / variance
    ended = found.weight[found.ended]
    assert effective < ended.sum() ** 2 / (ended * ended).sum()
    assert direct(*text, goal=4)[1:] == pytest.approx(wilson(share * effective, effective))


def test_what_has_no_end_may_be_lost_or_won() -> None:
    """A third is lost, a third won; of the longest path no end was seen."""
    text = ["1c2c3", "1c2c1c2c", "1c0"] * 20
    goals, ends, _ = _Paths.of(Transitions(records_of(text, 3))).incidence()
    assert [goals, ends] == pytest.approx([1 / 3, 2 / 3])
    seen = direct(*text)
    assert seen.estimate == pytest.approx(1 / 2)
    assert seen.low < grbp.wilson(20, 60).low
    assert seen.high > grbp.wilson(40, 60).high


def test_there_is_none_where_a_path_led_to_a_state_that_nobody_continued() -> None:
    """Those who went up all finished in state 2, so only those who went down are left."""
    assert direct("1c2f3", "1c0", "1c2f0") is None
    # One who continues there stands for all three, and without a path to it all is as before.
    assert direct("1c2f3", "1c0", "1c2f0", "1c2c3").estimate == pytest.approx(3 / 4)
    assert direct("1c2c4", "1c0", "3f0", goal=4).estimate == pytest.approx(1 / 2)


def test_a_finish_that_is_pending_is_a_finish() -> None:
    """Nobody knows what came of it, but the case did not continue, and is not an open path."""
    assert direct("1c2c3", "1f", "1c0", "1c2c1c0") == direct("1c2c3", "1f3", "1c0", "1c2c1c0")


def test_who_continued_stands_for_who_finished_among_open_cases_too() -> None:
    seen = direct("1c2c3", "1c1c0", "1f0", "1f3", "1c")
    # State 1 was stood in six times, and twice left by FINISH: a visit weighs 3/2.
    won, lost = 1.5, 1.5**2
    assert seen.estimate == pytest.approx(won / (won + lost))


@pytest.mark.parametrize("kind", ["open", "jumps", "model"])
def test_the_value_is_a_probability_inside_its_interval(kind: Any) -> None:
    for seed in range(150):
        finish = [0.5, 0.2, 0.1] if seed % 2 else 0.3
        table = grbp.example_records(kind, p_c=0.15, cases=25, seed=seed, finish=finish)
        seen = direct_value(Transitions(read_records(table, 4)), 0.95)
        if seen is not None:
            assert 0.0 <= seen.low <= seen.estimate <= seen.high <= 1.0
