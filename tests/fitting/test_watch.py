"""A watch: what it keeps, what it takes back, what it refuses and what it says."""

import importlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from histories import draw_steps, follow_all
from optional import optional

import grbp
from grbp.errors import InvalidInput
from grbp.fitting.e_values import log_evidence
from grbp.fitting.watch import NAMES, Step, Tally, Watch, find_alarms

BENT = draw_steps(3, 120, (0.2, 0.5, 0.8))
JUMPED = draw_steps(4, 240, (0.3,) * 3, last=0.9)


@pytest.mark.parametrize("steps", [[], BENT, JUMPED], ids=["nothing", "by state", "over time"])
def test_a_watch_is_the_same_after_a_round_trip(steps: list[Step]) -> None:
    watch = follow_all(steps)
    again = Watch.from_list(json.loads(json.dumps(watch.to_list())))
    assert again == watch
    assert again.alarms() == watch.alarms()
    for step in draw_steps(9, 30):
        watch, again = watch.follow(step), again.follow(step)
    assert again == watch


def test_what_is_kept_grows_with_states_and_groups_alone() -> None:
    few, many = (len(json.dumps(follow_all(draw_steps(6, n)).to_list())) for n in (100, 1000))
    assert many < few + 500


@pytest.mark.parametrize("k", [0, 17, 80])
def test_a_move_taken_back_leaves_the_counts_of_the_others(k: int) -> None:
    taken, others = BENT[k], BENT[:k] + BENT[k + 1 :]
    watch, without = follow_all(BENT).take_back(taken), follow_all(others)
    assert watch.by_state == without.by_state
    assert watch.by_group == without.by_group
    assert [watch._log_evidence(alarm) for alarm in (0, 2, 4)] == [
        without._log_evidence(alarm) for alarm in (0, 2, 4)
    ]
    # Over time it stays, as it was told.
    assert watch.told == follow_all(BENT).told


def test_an_alarm_goes_with_the_move_that_made_it_rise_and_comes_back_with_it() -> None:
    watch = Watch.start(4, 2)
    for step in BENT:
        before, watch = watch, watch.follow(step)
        if watch.rose[0] != -1:
            break
    undone = watch.take_back(step)
    assert undone.rose == before.rose
    assert undone.follow(step).rose == watch.rose


def test_an_alarm_of_an_earlier_case_stays() -> None:
    watch = follow_all(BENT)
    assert watch.rose[0] not in (-1, BENT[-1].case)
    assert watch.take_back(BENT[-1]).rose == watch.rose


def test_an_alarm_that_other_moves_of_its_case_bear_out_stays() -> None:
    watch, step = follow_all(BENT), BENT[-1]
    late = watch._replace(rose=(step.case, *watch.rose[1:]))
    assert late.take_back(step).rose == late.rose


def test_the_alarm_of_groups_rises_when_the_evidence_of_both_actions_is_enough() -> None:
    """That of one action is halved while nothing is told of the other."""
    watch, bar = Watch.start(4, 2), math.log(100.0)
    for case in range(100):
        before, watch = watch, watch.follow(Step(case, case % 2, 2, False, case % 2 == 0))
        if watch.alarms():
            break
    (alarm,) = watch.alarms()
    assert alarm.name == "groups"
    assert alarm.evidence >= 100.0 > math.exp(before._log_evidence(4))
    assert log_evidence(before._partitions(2)) >= bar


def test_after_moves_were_taken_back_an_alarm_rises_as_soon_as_its_evidence_is_enough() -> None:
    def move(case: int) -> Step:
        return Step(case, 0, 1 + case % 2, False, case % 2 == 1)

    watch = Watch.start(3)
    for case in range(100):
        before, watch = watch, watch.follow(move(case))
        if watch.rose[0] != -1:
            break
    against, watch = [Step(1000 + k, 0, 1, False, True) for k in range(200)], before
    for step in against:
        watch = watch.follow(step)
    for step in against:
        watch = watch.take_back(step)
    assert watch.rose[0] == -1
    assert watch.follow(move(case)).rose[0] == case


def test_a_move_that_was_never_told_is_not_taken_back() -> None:
    with pytest.raises(grbp.InvalidInput, match="it was never told"):
        Watch.start(4).take_back(Step(1, 0, 2, False, True))


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Step(1, 0, 0, False, True), "state = 0 was given; it must be a whole number from 1 to 3"),
        (Step(1, 0, 4, True, True), "state = 4 was given"),
        (Step(1, 2, 1, False, False), "group = 2 was given; it must be a whole number from 0 to 1"),
        (Step(-1, 0, 1, False, False), "case = -1 was given"),
    ],
)
def test_a_move_outside_is_refused(step: Step, said: str) -> None:
    for verb in (Watch.start(4, 2).follow, Watch.start(4, 2).take_back):
        with pytest.raises(grbp.InvalidInput, match=said):
            verb(step)


@pytest.mark.parametrize(
    ("given", "named"),
    [({"goal": 1}, "goal"), ({"groups": 0}, "groups"), ({"level": 1.0}, "between 0 and 1")],
)
def test_a_watch_that_cannot_be_is_refused(given: dict[str, Any], named: str) -> None:
    with pytest.raises(grbp.InvalidInput, match=named):
        Watch.start(**{"goal": 4, **given})


def change(plain: list[Any], path: tuple[int, ...], value: Any) -> list[Any]:
    """Put something else into a list of lists."""
    changed = json.loads(json.dumps(plain))
    place = changed
    for k in path[:-1]:
        place = place[k]
    place[path[-1]] = value
    return changed  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((0,), 1.0), ((0,), 95), ((1,), 7), ((1, 0, 0, 0), -1), ((1, 0, 0, 0), 1.5),
        ((1, 0, 0, 0), 10**6), ((1, 1, 1), [1]), ((2, 0), [[], []]), ((2, 0, 0), "ab"),
        ((3, 0, 2), []), ((3, 0, 2, 0), 1000), ((3, 1), [1]), ((4,), [-1]), ((4, 0), True),
        ((4, 0), -2), ((5, 0), None), ((5,), [0] * 5),
    ],
)  # fmt: skip
def test_a_damaged_list_is_refused(path: tuple[int, ...], value: Any) -> None:
    plain = follow_all(BENT).to_list()
    with pytest.raises(grbp.InvalidInput, match="it must be as to_list"):
        Watch.from_list(change(plain, path, value))


@pytest.mark.parametrize("plain", [None, 3, "watch", [], {}, [[]] * 6, [0.95, 1, 2, 3, 4, 5]])
def test_what_is_no_list_of_a_watch_is_refused(plain: Any) -> None:
    with pytest.raises(grbp.InvalidInput, match="damaged"):
        Watch.from_list(plain)


def test_alarms_are_told_with_the_largest_suspect_first() -> None:
    both = follow_all(draw_steps(5, 600, (0.2, 0.5, 0.8), last=0.95))
    alarms = both.alarms()
    assert {"p_C by state", "p_C over time"} <= {alarm.name for alarm in alarms}
    evidence = [alarm.evidence for alarm in alarms]
    assert evidence == sorted(evidence, reverse=True)
    assert all(math.isfinite(one) for one in evidence)


@pytest.mark.parametrize("name", NAMES)
def test_an_alarm_says_what_is_assumed_since_when_and_what_follows(name: str) -> None:
    watch = follow_all(BENT)._replace(
        rose=tuple(1322 if one == name else -1 for one in NAMES),
    )
    (alarm,) = watch.alarms()
    assert (alarm.name, alarm.case) == (name, 1322)
    assert alarm.sentence.startswith("The advice assumes ")
    assert "; these cases say otherwise since case 1,322: " in alarm.sentence
    assert alarm.sentence.endswith(".")


def test_counts_without_an_order_have_no_alarm_over_time() -> None:
    watch = follow_all(BENT)
    alarms = find_alarms(watch.by_state, watch.by_group, 0.95)
    assert [(alarm.name, alarm.case) for alarm in alarms] == [("p_C by state", None)]
    assert "otherwise: " in alarms[0].sentence
    none = Tally((0, 0, 0), (0, 0, 0)), Tally((0, 0, 0), (0, 0, 0))
    assert find_alarms(none, none, 0.95) == ()


@pytest.mark.slow
def test_the_benchmark_watches_as_the_package_does(monkeypatch: pytest.MonkeyPatch) -> None:
    optional("numba")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    rises = importlib.import_module("alarms_world").rises
    for steps in (BENT, JUMPED, draw_steps(7, 200, p_f=0.6)):
        for level in (0.75, 0.95):
            moves = np.array([[int(part) for part in step] for step in steps])
            rose = rises(4, 2, moves, math.log(5.0 / (1.0 - level)))
            assert tuple(rose) == follow_all(steps, level=level).rose


def test_a_word_is_not_taken_for_yes() -> None:
    watch = Watch.start(4, 1, 0.95)
    for name in ("finish", "success"):
        wrong: dict[str, Any] = {name: "no"}
        with pytest.raises(InvalidInput, match=f"{name} = 'no' was given"):
            watch.follow(Step(1, 0, 1, finish=True, success=True)._replace(**wrong))
    told = Step(1, 0, 1, finish=True, success=False)
    in_a_table = Step(1, 0, 1, np.int64(1), np.bool_(False))  # type: ignore[arg-type]
    assert watch.follow(in_a_table) == watch.follow(told)
