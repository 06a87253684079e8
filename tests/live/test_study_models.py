"""Studies by state, with groups and with memories: they decide as the engine does, and say so."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bases import make_state_basis
from runs import one_sentence

import grbp
from grbp import Study
from grbp.engine.losses import losses
from grbp.errors import GrbpError, InvalidInput
from grbp.learners.best_policy import best_policy, policy_values
from grbp.live.calls import Call
from grbp.live.config import make_config
from grbp.live.recording import record
from grbp.live.store.memory import MemoryStore
from grbp.numerics.rng import WORLD, fold_in, replica_key, uniform
from grbp.theory.posterior import Estimate
from grbp.worlds.dynprog import best_value
from grbp.worlds.transition import first_state

UP, P_F = np.array([0.3, 0.5, 0.8]), np.array([0.1, 0.6, 0.3])
OTHER = np.array([0.6, 0.5, 0.4]), np.array([0.5, 0.1, 0.2])
GROUPS = ("north", "south")
RECORDS = grbp.Counters(41, 12.0, 5.0, 90.0, 40.0, 10.0, 4.0, 6.0, 3.0)


def a_chain(up: Any, p_f: Any) -> grbp.Chain:
    return grbp.Chain(len(up) + 1, grbp.Move(up, 1.0 - up), p_f)


def play(study: Study, worlds: dict[str | None, grbp.Chain], seed: int, rounds: int) -> list[float]:
    """Play cases one at a time with the engine's draws; return what is lost after each."""
    names, lost, total = list(worlds), [], 0.0
    for rho in range(1, rounds + 1):
        key = fold_in(replica_key(seed, WORLD, 0), rho)
        group = names[int(uniform(key, 2**40) * len(names))] if len(names) > 1 else names[0]
        chain = worlds[group]
        up, p_f = chain.law[:, 2:].diagonal(), chain.p_f
        advice = study.open_case(first_state(*chain.start_table, uniform(key, 0)), group=group)
        assert advice.event is not None
        policy = json.loads(study.log(advice.event - 1)[0].response)["threshold"]
        policy = policy if study.status().model != "one" else (1 << policy) - 1
        total += best_value(chain) - chain.start_mean(policy_values(up, p_f, policy))
        lost.append(total)
        slot = 0
        while advice.action is not None:
            slot += 1
            chances = up[advice.state - 1], p_f[advice.state - 1]
            advice = study.tell(
                advice.case,
                grbp.next_state(
                    advice.state, advice.action, study.goal, *chances, uniform(key, slot)
                ),
            )
    return lost


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "learner",
    ["psrl", "psrl:memory=20", "psrl:memory=averaged", "getbe-ps", "getbe-ps:memory=20",
     "getbe-ps:memory=averaged", "averaged-states"],
)  # fmt: skip
def test_one_case_at_a_time_is_decided_as_the_engine_decides(learner: str, grouped: bool) -> None:
    one, rounds = a_chain(UP, P_F), 60
    worlds: dict[str | None, grbp.Chain] = {None: one}
    world: Any = one
    if grouped:
        worlds = {GROUPS[0]: one, GROUPS[1]: a_chain(*OTHER)}
        world = grbp.Groups(worlds)  # type: ignore[arg-type]
    study = Study.create("memory", "x", 4, learner, seed=5, groups=GROUPS if grouped else None)
    found: Any = grbp.find_learner(learner, 4)
    lost, _ = losses(world, found, [*range(1, rounds + 1)], 1, 5, threads=1)
    np.testing.assert_allclose(play(study, worlds, 5, rounds), lost[0], rtol=0, atol=1e-9)
    assert study.replay().ok


def filled(**settings: Any) -> Study:
    """Make a study of cases whose chance to move up differs by state."""
    study = Study.create("memory", "x", 4, **settings)
    play(study, {None: a_chain(np.array([0.1, 0.5, 0.9]), np.full(3, 0.2))}, 1, 80)
    return study


def test_an_alarm_warns_of_what_is_taken_for_granted_and_of_nothing_else() -> None:
    study = filled()
    (alarm,) = study.status().alarms or ()
    assert (alarm.name, alarm.case is not None) == ("p_C by state", True)
    advice = study.open_case(2)
    assert advice.warnings == study.ask(advice.case).warnings == (alarm.sentence,)
    assert advice.to_dict()["warnings"] == [alarm.sentence]
    by_state = filled(model="state")
    assert [one.name for one in by_state.status().alarms or ()] == ["p_C by state"]
    assert by_state.open_case(2).warnings == ()


def test_alarms_change_no_advice_and_studies_of_older_versions_have_none() -> None:
    chain, lost = a_chain(np.array([0.1, 0.5, 0.9]), np.full(3, 0.2)), []
    for alarms in (True, False):
        named = {"seed": 1, "start": "drawn", "windows": None, "shadow": False, "level": 0.95}
        config = make_config("x", 4, "getbe-ps", None, named | {"alarms": alarms})
        assert [name in json.loads(config.text) for name in ("groups", "alarms")] == [False, alarms]
        store, call = MemoryStore(), Call("ada", "2026-01-01T00:00:00.000000+00:00")
        made = json.loads(config.text)
        store.write("x", lambda tx, call=call, made=made: record(tx, call, "study", config=made))  # type: ignore[misc]
        study = Study(store, "x")
        lost.append(play(study, {None: chain}, 1, 80))
        assert (study.status().alarms is None) is not alarms
        assert (len(study.open_case(1).warnings), study.verify().ok) == (int(alarms), True)
    assert lost[0] == lost[1]


def test_a_study_begins_from_the_steps_of_another_that_count(tmp_path: Path) -> None:
    old = filled()
    old.open_case(3)
    old.tell(81, 2, took="continue", why="so")
    old.void(81, "wrong")
    new = Study.create("memory", "y", 4, model="state", start=old)
    path = old.export_steps(tmp_path / "steps.csv")
    fit = grbp.fit(path, 4)
    for state in (1, 2, 3):
        basis, row = new.basis(new.open_case(state).case), fit.by_state[state - 1]
        assert basis is not None
        assert (basis.f, basis.f_goal, basis.c, basis.c_up) == (row.f, row.f_goal, row.c, row.c_up)
    assert new.status().start == "records"
    fitted = Study.create("memory", "z", 4, "psrl", start=fit)
    assert old._count_records() == fit.counters
    # Open cases are cases of a table as well.
    for kept, said in zip(old._count_records(by_state=True)[1:5], _start(fitted)[1:], strict=True):
        assert kept.tolist() == said


def _start(study: Study) -> Any:
    return json.loads(study.log()[0].request)["config"]["start"]


def test_what_a_study_began_with_is_passed_on() -> None:
    first = filled()
    second = Study.create("memory", "y", 4, model="state", start=first)
    assert [part.tolist() for part in second._count_records(by_state=True)[1:5]] == _start(second)[
        1:
    ]
    assert second._count_records() == first._count_records()
    back = Study.create("memory", "z", 4, "getbe-sm", start=second)
    assert back._count_records()[1:5] == first._count_records()[1:5]


def test_groups_keep_their_records_where_they_are_the_same() -> None:
    study = Study.create("memory", "x", 4, "psrl", groups=GROUPS)
    for case, group in enumerate(("north", "south", "north"), 1):
        study.open_case(2, group=group)
        study.tell(case, 3, took="continue", why="so")
    same = Study.create("memory", "y", 4, "psrl", groups=GROUPS[::-1], start=study)
    assert {name: sum(one[1]) for name, one in _start(same).items()} == {"north": 2, "south": 1}
    for groups in (None, ("east", "west")):
        pooled = Study.create("memory", "z", 4, "psrl", groups=groups, start=study)
        assert sum(_start(pooled)[1]) == 3
        assert pooled.verify().ok
    assert pooled.status().basis.c == 0  # in state 1, of all groups, and records count once
    assert {one.opened for one in study.status().by_group.values()} == {1, 2}


def test_steps_have_their_groups_where_there_are_groups(tmp_path: Path) -> None:
    study = Study.create("memory", "x", 3, groups=GROUPS)
    study.open_case(2, group="south")
    study.tell(1, 3, took="continue", why="so")
    with study.export_steps(tmp_path / "steps.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert row["group"] == "south"
    assert study.case(1).group == study.ask(1).group == "south"


def test_the_value_of_continuing_lies_in_its_interval_and_rises_with_every_chance() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        n = grbp.empty_state_counters(5)
        for part in n[1:5]:
            part[:] = random.integers(0, 30, 4)
        for state in range(1, 5):
            basis = make_state_basis(5, state, 0b0101, n[1:5], level=0.9)
            low, high = basis.value_continue[1:]
            assert 0.0 <= low <= basis.value_continue.estimate <= high <= 1.0
            assert basis.action == (grbp.Action.FINISH if state in (1, 3) else grbp.Action.CONTINUE)
            assert (basis.side is None) == (not basis.f)
            assert f"is advised in state {state}." in basis.summary
            assert basis.to_dict()["value_finish"] == basis.to_dict()["p_f"]
        up, p_f = random.random((2, 4))
        more = np.minimum(1.0, up + 0.1), np.minimum(1.0, p_f + 0.1)
        worth = policy_values(up, p_f, best_policy(up, p_f))
        assert (policy_values(*more, best_policy(*more)) >= worth - 1e-12).all()


def test_by_state_one_try_of_finish_is_a_try() -> None:
    n = grbp.empty_state_counters(3)
    unknown = make_state_basis(3, 1, 0b01, n[1:5])
    assert unknown.side is None
    assert unknown.forced
    n.won[0] = 1.0
    n.down[0] = 9.0
    known = make_state_basis(3, 1, 0b01, n[1:5])
    assert known.side == known.action == grbp.Action.FINISH
    assert not known.forced


def test_an_action_is_settled_by_the_ends_of_both_intervals_alone() -> None:
    def basis(worth: Estimate, finish: Estimate) -> bool:
        n = grbp.empty_state_counters(3)
        known = make_state_basis(3, 1, 0, n[1:5])
        return replace(known, value_continue=worth, p_f=finish).settled

    middle = Estimate(0.5, 0.4, 0.6)
    assert not basis(middle, Estimate(0.7, 0.55, 0.9))
    assert basis(middle, Estimate(0.7, 0.6, 0.9))
    assert not basis(middle, Estimate(0.3, 0.2, 0.45))
    assert not basis(middle, Estimate(0.3, 0.2, 0.4))
    assert basis(middle, Estimate(0.3, 0.2, 0.39))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "two"}, "model = 'two' was given; it must be one of one, state"),
        ({"model": "state", "learner": "getbe-sm"}, "its model is 'one': leave one of the two out"),
        ({"memory": "long"}, "memory = 'long' was given; it must be a number of rounds"),
        ({"memory": 5, "learner": "threshold-1"}, "nothing for this learner"),
        ({"groups": ["a"]}, "it must be 2 to 100 names, none of them twice"),
        ({"groups": ["a", "a"]}, "it must be 2 to 100 names, none of them twice"),
        ({"groups": "ab"}, "a group = "),
        ({"groups": ["a", "b"], "cases": 50}, "cases = 50 was given with groups"),
        ({"model": "state", "start": "first"}, "which begins with nothing: leave it out"),
        ({"model": "state", "goal": 64}, "it must be at most 63"),
        ({"model": "state", "start": RECORDS}, "it must be counters by state or a fit"),
        ({"groups": ["a", "b"], "start": {"a": None}}, "it must be of a, b"),
        ({"groups": [*"abcdefghijklmnopqrstuvwxyz"], "model": "state", "goal": 63}, "6,448 counts"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(settings: dict[str, Any], words: str) -> None:
    named = {"goal": 4} | settings
    if named.get("groups") == "ab":
        named["groups"] = ["a", ""]
    with pytest.raises(GrbpError) as refusal:
        Study.create("memory", "x", **named)
    assert words in one_sentence(refusal.value)


def test_a_group_is_asked_for_where_there_are_groups_alone() -> None:
    grouped, plain = (Study.create("memory", "x", 4, groups=names) for names in (GROUPS, None))
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: grouped.open_case(1), "without its group; it must be one of north, south"),
        (lambda: grouped.open_case(1, group="west"), "it must be one of north, south"),
        (lambda: plain.open_case(1, group="west"), "the study has no groups: leave it out"),
    ]
    for call, words in calls:
        with pytest.raises(InvalidInput) as refusal:
            call()
        assert words in one_sentence(refusal.value)
