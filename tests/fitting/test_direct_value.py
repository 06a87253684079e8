"""The value of continuing in state 1 as it was seen."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from paths import columns_of, records_of

import grbp
from grbp import wilson
from grbp.fitting.direct_value import _Paths, direct_value
from grbp.fitting.transitions import Transitions
from grbp.records.reading import read_records


def direct(*paths: str, goal: int = 3):  # type: ignore[no-untyped-def]
    return direct_value(Transitions(records_of(paths, goal)), 0.95)


def test_without_finish_it_is_the_share_of_cases_that_stood_in_state_1() -> None:
    """A case that never stood there says nothing, and one that stood there twice counts once."""
    seen = direct("1c2c3", "1c2c1c0", "2c3", "2c1c2c3", "1c0")
    assert seen == (pytest.approx(2 / 4), *map(pytest.approx, wilson(2, 4)))


def effective_number(sums: Any) -> float:
    """Return how many independent cases would vary as much as these sums."""
    count, middle = len(sums), (np.sum(sums) + 0.5) / (len(sums) + 1.0)
    return float(min(count, middle * (1.0 - middle) * count / np.var(sums)))


def test_who_continued_stands_for_who_finished() -> None:
    """Of two that came back to state 1 one finished there, so the other counts twice."""
    seen = direct("1c2c1c0", "1c2c3", "1f3", "1f0", "1c2c1f3", "2c1c0", "1f0", "1f3")
    # Of four that continued one was won; the value of state 1, where one stopped, drops out.
    assert seen.estimate == pytest.approx(1 / 4)
    one = grbp.boundary(3, 4.5 / 10.0)
    effective = effective_number([one - 2.0 * one, 1.0, one, 0.0])
    assert effective < 4.0
    assert seen[1:] == pytest.approx(wilson(seen.estimate * effective, effective))


@pytest.mark.parametrize("finishes", [[], ["1f3"], ["1f3", "1f0", "2c1f3"] * 4, ["2f3", "2f0"] * 9])
def test_who_finished_at_or_before_the_first_visit_changes_nothing(finishes: list[str]) -> None:
    """All who were there chose once, and those who continued are a sample of them."""
    paths = ["1c2c3", "1c2c1c0", "2c3", "2c1c2c3", "1c0"]
    assert direct(*paths, *finishes) == (pytest.approx(2 / 4), *map(pytest.approx, wilson(2, 4)))


def test_open_cases_count_as_long_as_they_were_seen() -> None:
    """Three are seen to take a first step, two of them up; of these, one is seen to go on."""
    # All of those seen to go on from state 2 won. Dropping the open case would say one half.
    assert direct("1c2c3", "1c2c", "1c0").estimate == pytest.approx(2 / 3)
    # A row without an outcome and a state without a row say the same.
    assert direct("1c2c3", "1c2c", "1c0") == direct("1c2c3", "1c2", "1c0")


def test_staying_and_jumping_are_part_of_a_path() -> None:
    assert direct("1c1c1c2c3c4", "1c3c4", "1c0", goal=4).estimate == pytest.approx(2 / 3)


def test_there_is_none_where_nobody_went_on() -> None:
    assert direct("1f3", "2c3") is None
    assert direct("2c3", "2c3") is None
    assert direct("1c2c") is None


def follow(path: list[tuple[int, str, int | None]]) -> list[int]:
    """Return the states of a path from the first visit to state 1 on, until it stopped."""
    begin = next((k for k, (state, _, _) in enumerate(path) if state == 1), len(path))
    states = [1]
    for _, action, after in path[begin:]:
        if action == "f" or after is None:
            break
        states.append(after)
    return states


def slow_direct(paths: list[list[tuple[int, str, int | None]]], goal: int) -> float:
    """Weigh cases one by one, and fill in what the model expects where somebody stopped."""
    moves = [after - s for path in paths for s, a, after in path if a == "c" and after is not None]
    p = (moves.count(1) + 0.5) / (moves.count(1) + moves.count(-1) + 1.0)
    r = (1.0 - p) / p
    value = [(r**i - 1.0) / (r**goal - 1.0) for i in range(goal + 1)]
    tracks = [states for states in map(follow, paths) if len(states) > 1]
    arrivals: dict[tuple[int, int], list[bool]] = {}
    for states in tracks:
        for time, state in enumerate(states[1:], start=1):
            if 0 < state < goal:
                arrivals.setdefault((state, time), []).append(time + 1 < len(states))

    def share_going_on(state: int, time: int) -> float:
        here = arrivals[state, time]
        if len(here) < 5:
            few = [them for (s, _), them in arrivals.items() if s == state and len(them) < 5]
            here = [one for them in few for one in them]
        return sum(here) / len(here)

    total = 0.0
    for states in tracks:
        weight, total = 1.0, total + value[1]
        for time, (state, after) in enumerate(itertools.pairwise(states)):
            weight /= share_going_on(state, time) if time else 1.0
            total += weight * (value[after] - value[state])
    return min(max(total / len(tracks), 0.0), 1.0)


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
    paths = walks(80, goal, 0.4, finish, drop, seed)
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


def test_a_weight_does_not_overflow() -> None:
    """One case comes to state 1 at every step of 260, where three of four others finish."""
    others = ["1c" + "2c" * k + "1f3" for k in range(1, 261) for _ in range(3)]
    seen = direct("1c" * 262 + "2c3", "1c0", *others)
    assert 0.0 <= seen.low <= seen.estimate <= seen.high <= 1.0


def test_what_nobody_went_on_from_may_be_lost_or_won() -> None:
    """A third is lost, a third won; the others came back to state 2 and were not seen again."""
    text = ["1c2c3", "1c2c1c2c", "1c0"] * 20
    found = _Paths.of(Transitions(records_of(text, 3)))
    assert found.weight[found.lost].sum() == 20.0
    seen = direct(*text)
    two = 1.0 - grbp.boundary(3, 1.0 - 80.5 / 121.0)
    effective = effective_number([1.0, two, 0.0] * 20)
    assert seen.estimate == pytest.approx((1.0 + two) / 3.0)
    assert seen.low == pytest.approx(wilson(effective / 3, effective).low)
    assert seen.high == pytest.approx(wilson(2 * effective / 3, effective).high)


def test_weights_go_by_state_and_steps() -> None:
    """Who is to finish in state 2 does so at once, so that later nobody there has more weight."""
    fast = ["1c2f3"] * 30 + ["1c2c3"] * 10 + ["1c2c1c0"] * 10 + ["1c2c1c2c3"] * 10
    found = _Paths.of(Transitions(records_of([*fast, *["1c0"] * 60], 3)))
    # Thirty of sixty went on from state 2 after one step, and all of ten after three.
    assert np.unique(found.weight[found.ended].round(12)).tolist() == [1.0, 2.0]


def test_the_effective_number_is_that_of_the_sums() -> None:
    """Few winners that stand for many vary more than the weights alone say."""
    paths = ["1c2f3"] * 45 + ["1c2c3"] * 5 + ["1c0"] * 300
    p = (55 + 0.5) / (55 + 300 + 1.0)
    two = 1.0 - grbp.boundary(3, 1.0 - p)
    sums = np.repeat([two, two + 10.0 * (1.0 - two), 0.0], [45, 5, 300])
    effective = effective_number(sums)
    assert effective < (5 * 10.0 + 300) ** 2 / (5 * 10.0**2 + 300)
    share = 50 / 350
    assert direct(*paths) == pytest.approx((share, *wilson(share * effective, effective)))


def test_there_is_none_where_most_paths_led_to_a_state_that_nobody_continued() -> None:
    """Those who went up all finished in state 2, so only those who went down are left."""
    assert direct("1c2f3", "1c0", "1c2f0") is None
    # One who continues there stands for all three, and without a path to it all is as before.
    assert direct("1c2f3", "1c0", "1c2f0", "1c2c3").estimate == pytest.approx(3 / 4)
    assert direct("1c2c4", "1c0", "3f0", goal=4).estimate == pytest.approx(1 / 2)


def test_a_finish_that_is_pending_is_a_finish() -> None:
    """Nobody knows what came of it, but the case did not continue, and is not an open path."""
    assert direct("1c2c3", "1f", "1c0", "1c2c1c0") == direct("1c2c3", "1f3", "1c0", "1c2c1c0")


# Randomised trials, practice, and what breaks the model.

PRACTICE = [0.5, 0.2, 0.1]


class Table(NamedTuple):
    kind: Any
    finish: list[float]
    trial: bool
    cases: int
    size: float | None = None


def drawn(table: Table, seeds: int) -> list[grbp.Estimate]:
    found = []
    for seed in range(seeds):
        rows = grbp.example_records(
            table.kind, cases=table.cases, seed=seed, size=table.size, finish=table.finish,
            trial=table.trial,
        )  # fmt: skip
        one = direct_value(Transitions(read_records(rows, 4)), 0.95)
        assert one is not None
        found.append(one)
    return found


def value_by_state(size: float) -> float:
    """Solve the chain of the kind "state" with goal 4 and p_C = 0.45."""
    law = np.zeros((3, 5))
    for state in (1, 2, 3):
        odds = 0.45 / 0.55 * math.exp(size * ((state - 1) / 2 - 0.5))
        law[state - 1, state + 1], law[state - 1, state - 1] = odds / (1 + odds), 1 / (1 + odds)
    return float(np.linalg.solve(np.eye(3) - law[:, 1:4], law[:, 4])[0])


@pytest.mark.parametrize(
    ("table", "truth"),
    [
        (Table("model", [0.5] * 3, True, 1000), grbp.boundary(4, 0.45)),
        (Table("model", [0.5, 0.0, 0.0], True, 1000), grbp.boundary(4, 0.45)),
        (Table("model", [0.0, 0.5, 0.0], True, 1000), grbp.boundary(4, 0.45)),
        (Table("model", PRACTICE, False, 1000), grbp.boundary(4, 0.45)),
        (Table("open", PRACTICE, False, 1000, 0.5), grbp.boundary(4, 0.45)),
        (Table("state", PRACTICE, False, 1000, 2.0), value_by_state(2.0)),
    ],
    ids=["at once or never", "thresholds", "finish in 2", "practice", "open", "state"],
)
def test_it_has_no_bias_and_its_interval_holds(table: Table, truth: float) -> None:
    found = drawn(table, 40)
    assert np.mean([one.estimate for one in found]) == pytest.approx(truth, abs=0.02)
    assert sum(one.low <= truth <= one.high for one in found) >= 34


def test_a_sound_trial_is_not_refused() -> None:
    """Who finishes at once or never says nothing against the model."""
    for seed in range(20):
        table = grbp.example_records(cases=300, seed=seed, finish=[0.5] * 3, trial=True)
        assert grbp.fit(table, 4).decision != "none"


def test_where_a_learner_chose_the_interval_is_the_anytime_one() -> None:
    table = grbp.example_records(cases=100, seed=3, finish=0.0)
    moves = Transitions(read_records(table, 4))
    seen, steered = direct_value(moves, 0.95), direct_value(moves, 0.95, adaptive=True)
    assert seen is not None
    visited = len(set(table["case"][table["state"] == 1]))
    assert steered == pytest.approx(
        (seen.estimate, *grbp.anytime(seen.estimate * visited, visited))
    )


@pytest.mark.parametrize("kind", ["open", "jumps", "model"])
def test_the_value_is_a_probability_inside_its_interval(kind: Any) -> None:
    for seed in range(150):
        finish = [0.5, 0.2, 0.1] if seed % 2 else 0.3
        table = grbp.example_records(kind, p_c=0.15, cases=25, seed=seed, finish=finish)
        seen = direct_value(Transitions(read_records(table, 4)), 0.95)
        if seen is not None:
            assert 0.0 <= seen.low <= seen.estimate <= seen.high <= 1.0
