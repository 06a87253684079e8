"""The rules of a live study one by one, with what exactly they say."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from small_wards import RECORDS, Clock, answer, clock_of, kinds, known, rows, ward

from grbp import Action, Study
from grbp.errors import Conflict, InvalidInput

CONTINUE, FINISH = Action.CONTINUE, Action.FINISH


# Deciding and asking.


def test_a_decision_is_made_when_a_case_opens_and_never_changes() -> None:
    study = ward("no-explore")
    assert study.status().next_threshold == 1
    first = study.open_case(1)
    assert first.action == FINISH
    basis = first.to_dict()["basis"]
    for _ in range(4):
        case = study.open_case(1).case
        for _ in range(3):
            study.tell(case, 2, took="continue", why="so")
            study.tell(case, 1)
        study.tell(case, 0, took="finish")
    for _ in range(30):
        case = study.open_case(3).case
        study.tell(case, 4)
    assert study.status().next_threshold == 0
    again = study.ask(1)
    assert (again.action, again.to_dict()["basis"]) == (FINISH, basis)
    assert study.tell(1, 2, took="continue", why="so").action == CONTINUE
    assert study.tell(1, 1).action == FINISH
    assert study.open_case(1).action == CONTINUE


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_asking_changes_nothing(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    study = ward("getbe-ps", path if kind == "file" else "memory", windows={"finish": 9.0})
    study.open_case(1)
    study.open_case(2)
    study.tell(2, 3)

    def everything() -> Any:
        files = [one.read_bytes() for one in sorted(tmp_path.iterdir()) if "shm" not in one.name]
        return files, rows(study), study.log()

    before = everything()
    for _ in range(3):
        for case in (1, 2):
            study.ask(case).to_dict()
        study.cases(status="open")
        study.status().to_dict()
        assert study.verify().ok
        assert study.replay().ok
        clock_of(study).add(100)
    assert everything() == before
    assert study.ask(1).event is None
    study.close()


def test_randomised_learners_draw_by_seed_and_case_and_say_so() -> None:
    one, other = ward("ps-polselection", seed=4), ward("ps-polselection", seed=4)
    draws = []
    for _ in range(20):
        advice, same = one.open_case(2), other.open_case(2)
        assert answer(one, advice) == answer(other, same)
        draws.append(answer(one, advice)["draw"])
    assert len(set(draws)) == 20
    assert answer(one, ward("ps-polselection", seed=5).open_case(2))["draw"] not in draws[1:]


def test_a_case_opens_in_a_state_between_the_ends() -> None:
    study = ward()
    for state in (-1, 0, 4, 5):
        with pytest.raises(InvalidInput, match="it must be a whole number from 1 to 3"):
            study.open_case(state)
    assert [study.open_case(state).state for state in (1, 2, 3)] == [1, 2, 3]


def test_what_was_drawn_was_not_observed() -> None:
    study = ward(start="drawn", seed=3)
    basis = study.status().basis
    assert (basis.f, basis.f_goal, basis.c, basis.c_up) == (0, 0, 0, 0)
    n, _ = known(study)
    assert (n.f, n.c, basis.drawn) == (1.0, 1.0, (n.c_up, n.f_goal))
    assert ward(start="first").status().basis.drawn is None


@pytest.mark.parametrize("start", ["drawn", "first", RECORDS])
@pytest.mark.parametrize("shadow", [False, True])
def test_every_answer_can_be_written_as_json(start: Any, shadow: bool) -> None:
    study = ward("getbe-ps", start=start, shadow=shadow)
    answers: list[Any] = [study.status(), study.open_case(2), study.ask(1)]
    answers += [study.tell(1, 3, took="continue"), study.cases()[0], study.status()]
    answers += [study.tell(1, 4, took="finish", why="so"), study.status()]
    for one in answers:
        plain = one.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain


# Counting.


def test_a_step_counts_when_it_is_told() -> None:
    study = ward()
    study.open_case(2)
    assert known(study) == (RECORDS._replace(rho=42), 0)
    study.tell(1, 3)
    counted = RECORDS._replace(rho=43, c=91.0, c_up=41.0)
    assert known(study) == (counted, 0)
    study.tell(1, 2)
    assert known(study) == (counted._replace(rho=44, c=92.0), 0)
    study.tell(1, 1)
    study.tell(1, 4)
    over = counted._replace(rho=45, c=93.0, f=13.0, f_goal=6.0, plays_1=7.0, wins_1=4.0)
    assert known(study) == (over, 0)
    assert study.status().cases == {"opened": 5, "open": 4, "won": 1, "lost": 0, "closed": 0}


def test_a_finish_is_issued_when_it_is_advised_and_observed_when_it_is_told() -> None:
    study = ward("threshold-3")
    for case in (1, 2, 3):
        study.open_case(2)
        assert study.status().pending == case
    n, pending = known(study)
    assert (n.f, n.f_goal, pending) == (12.0, 5.0, 3)
    study.tell(1, 0)
    study.tell(2, 4)
    n, pending = known(study)
    assert (n.f, n.f_goal, pending) == (14.0, 6.0, 2 + 1 - 1)
    # Of threshold 1, FINISH is issued when the doorstep is reached.
    study = ward("threshold-1")
    study.open_case(2)
    assert study.status().pending == 0
    study.tell(1, 1)
    assert study.status().pending == 1
    study.tell(1, 2, took="continue", why="she was well")
    assert study.status().pending == 0


def test_what_was_done_counts_and_what_was_advised_is_kept() -> None:
    study = ward("threshold-1")
    study.open_case(1)
    told = study.tell(1, 2, took=CONTINUE, why="she was well")
    event = study.log(case=1)[-1]
    assert json.loads(event.request)["why"] == "she was well"
    assert json.loads(event.request)["took"] == "continue"
    said = {"took": "continue", "advised": "finish", "counted": True, "action": "continue"}
    assert answer(study, told).items() >= said.items()
    study.tell(1, 0, took="finish", why="she wished it")
    n, _ = known(study)
    assert n == RECORDS._replace(rho=42, f=13.0, c=91.0, c_up=41.0)  # No credit for threshold 1.
    assert study.cases()[0].overridden == 2
    study.open_case(1)
    study.tell(3, 4, took="finish", why="as advised")  # A reason does no harm.
    n, _ = known(study)
    assert (n.plays_1, n.wins_1, n.plays_0) == (7.0, 4.0, 10.0)
    for took, state in (("finish", 4), ("continue", 3)):
        study.open_case(2)
        case = study.cases(after=4)[-1].case
        if took == "finish":
            with pytest.raises(InvalidInput, match="where continuing was advised; also tell why"):
                study.tell(case, state, took=took)
        else:
            assert study.tell(case, state, took=took).step == 1


def test_a_withdrawn_case_keeps_what_was_seen_and_releases_what_was_pending() -> None:
    study = ward("threshold-1")
    study.open_case(2)
    study.tell(1, 1)
    assert study.status().pending == 1
    closed = study.withdraw_case(1, "moved")
    assert (closed.status, closed.action, closed.basis) == ("closed", None, None)
    n, pending = known(study)
    assert (n, pending) == (RECORDS._replace(rho=42, c=91.0), 0)  # rho counts cases opened
    calls: list[Callable[[], Any]] = [
        lambda: study.withdraw_case(1, "moved"),
        lambda: study.tell(1, 4),
    ]
    for call in calls:
        with pytest.raises(Conflict, match="it was withdrawn after step 1: take that back"):
            call()
    assert study.void(1, "it was the other bed").action == FINISH
    assert study.status().pending == 1


@pytest.mark.parametrize("learner", ["threshold-1", "ucb-polselection", "getbe-sm"])
@pytest.mark.parametrize("windows", [None, {"finish": 30.0}, {"continue": 30.0, "finish": 1.0}])
def test_what_is_taken_back_is_as_if_it_had_never_been(
    learner: str, windows: dict[str, float] | None
) -> None:
    study = ward(learner, windows=windows)
    for state in (1, 2, 3):
        study.open_case(state)
    study.tell(3, 2)
    clock_of(study).add(0.0625)
    steps: list[Callable[[], object]] = [
        lambda: study.tell(2, 3, took="continue", why="so", observed=clock_of(study).now),
        lambda: study.tell(3, 0, took="finish", why="so"),
        lambda: study.tell(1, 4, took="finish", why="so"),
        lambda: study.withdraw_case(2, "so"),
    ]
    cases = [2, 3, 1, 2]

    def without_head() -> Any:
        row, cases, held = rows(study)
        # Over time, the alarms keep what was told: what came after was foretold with it.
        return (
            row._replace(seq=0, head="", alarms=None),
            [case._replace(last=0) for case in cases],
            held,
        )

    def without_events() -> Any:
        row, cases, held = without_head()
        return row, cases, [step._replace(seq=0) for step in held]

    for step, case in zip(steps, cases, strict=True):
        before = without_head()
        step()
        told = without_events()
        assert without_head() != before
        clock_of(study).add(0.125)
        study.void(case, "wrong")
        assert without_head() == before
        clock_of(study).add(-0.125)
        step()
        assert without_events() == told
    assert study.verify().ok
    assert kinds(study).count("void") == 4


def test_only_the_last_entry_can_be_taken_back() -> None:
    study = ward()
    study.open_case(2)
    with pytest.raises(Conflict, match="there is none yet: withdraw it if it was opened by"):
        study.void(1, "wrong")
    study.tell(1, 3)
    study.tell(1, 2)
    for step in (1, 3):
        with pytest.raises(Conflict, match="only the last entry can be, which is step 2"):
            study.void(1, "wrong", step=step)
    assert study.void(1, "wrong", step=2).state == 3
    study.withdraw_case(1, "moved")
    with pytest.raises(Conflict, match="only the last entry can be, which is its withdrawal"):
        study.void(1, "wrong", step=1)
    assert study.void(1, "wrong").state == 3
    assert study.void(1, "wrong").state == 2
    assert [event.step for event in study.log() if event.kind == "void"] == [2, 0, 1]
    assert study.cases()[0].steps == 0


# Windows.


def test_an_outcome_is_held_until_its_window_is_over_and_an_event_says_so() -> None:
    study = ward("threshold-1", windows={"finish": 30.0})
    clock = clock_of(study)
    study.open_case(1)
    clock.add(2)
    lost = study.tell(1, 0)
    assert lost.status == "lost"
    assert answer(study, lost)["counted"] is False
    assert (study.cases()[0].held, study.status().pending) == (1, 1)
    clock.add(27.9)
    n, pending = known(study)
    assert (n, pending) == (RECORDS._replace(rho=42), 1)
    clock.add(0.2)
    # Time alone changes nothing: neither what is asked nor what would be decided.
    assert (study.status().basis.f, study.status().pending) == (12, 1)
    n, pending = known(study)
    assert (n, pending) == (RECORDS._replace(rho=43, f=13.0, plays_1=7.0), 0)
    assert kinds(study)[-2:] == ["mature", "open"]
    ripe = study.log()[-2]
    assert (ripe.case, ripe.step, ripe.who) == (1, 1, "ada")
    assert study.cases()[0].held == 0
    clock.add(-300)  # A clock that is set back does not take it back.
    assert known(study)[0].f == 13.0
    assert study.verify().ok


def test_a_window_begins_when_the_state_was_entered() -> None:
    study = ward("threshold-1", windows={"finish": 30.0})
    clock = clock_of(study)
    study.open_case(2, observed=clock.now - timedelta(days=100))
    study.tell(1, 1, observed=clock.now - timedelta(days=29))
    told = study.tell(1, 4, observed=clock.now - timedelta(days=29))
    assert answer(study, told)["counted"] is False
    # What is told late counts at once.
    study.open_case(1, observed=clock.now - timedelta(days=30))
    told = study.tell(2, 4, observed=clock.now - timedelta(days=29))
    assert answer(study, told)["counted"] is True
    assert known(study)[0].f == 13.0
    assert "mature" not in kinds(study)
    clock.add(1)
    assert known(study)[0].f == 14.0


def test_what_matures_together_does_so_in_the_order_of_its_time_case_and_step() -> None:
    study = ward("threshold-0", windows={"continue": 10.0, "finish": 10.0})
    clock = clock_of(study)
    for _ in range(3):
        study.open_case(2)
    study.tell(3, 3)
    clock.add(0.5)
    study.tell(3, 2)
    for case in (2, 1):
        study.tell(case, 3)
    clock.add(20)
    study.withdraw_case(2, "moved")
    ripe = [(event.case, event.step) for event in study.log() if event.kind == "mature"]
    assert ripe == [(1, 1), (2, 1), (3, 1), (3, 2)]
    assert kinds(study)[-1] == "close"
    assert study.status().basis.c == 94


def test_a_held_step_can_be_taken_back_before_and_after_it_is_mature() -> None:
    study = ward("threshold-1", windows={"finish": 30.0})
    study.open_case(1)
    for days in (1, 31):
        study.tell(1, 0)
        clock_of(study).add(days)
        study.void(1, "wrong")
        assert (study.status().basis.f, study.status().pending) == (12, 1)
    assert kinds(study) == ["study", "open", "tell", "void", "tell", "mature", "void"]
    assert answer(study, study.tell(1, 4))["counted"] is True


def test_a_withdrawn_case_waits_for_what_is_held_in_it() -> None:
    study = ward("threshold-0", windows={"continue": 30.0})
    study.open_case(2)
    study.tell(1, 3)
    study.withdraw_case(1, "moved")
    assert known(study)[0].c == 90.0
    clock_of(study).add(31)
    assert known(study)[0] == RECORDS._replace(rho=43, c=91.0, c_up=41.0)


# Shadow mode.


def test_in_shadow_mode_nobody_is_advised_and_what_is_done_is_learned_from() -> None:
    study = ward("threshold-1", shadow=True)
    advice = study.open_case(1)
    assert (advice.action, advice.basis, advice.shadow) == (None, None, True)
    assert (study.ask(1).action, study.cases()[0].action) == (None, None)
    assert study.status().pending == 0  # Nobody was told to do anything.
    with pytest.raises(InvalidInput, match="also tell what was done"):
        study.tell(1, 4)
    assert study.tell(1, 2, took="continue").status == "open"  # Nobody has to say why.
    study.tell(1, 3, took="continue")
    study.tell(1, 4, took="continue")
    study.open_case(1)
    study.tell(2, 0, took="finish")
    n, pending = known(study)
    assert (n, pending) == (
        RECORDS._replace(rho=43, f=13.0, c=93.0, c_up=43.0, plays_1=7.0), 0
    )  # fmt: skip


# Asked twice, and asked otherwise.


def test_the_same_key_gives_the_same_answer_whatever_happened_since() -> None:
    study = ward("threshold-1")
    asks: list[Callable[[], Any]] = [
        lambda: study.open_case(2, key="a"),
        lambda: study.tell(1, 1, key="b", observed="2026-02-28T08:30+01:00"),
        lambda: study.tell(1, 2, took=CONTINUE, why="so", key="c", who="bob"),
        lambda: study.void(1, "wrong", key="d"),
        lambda: study.withdraw_case(1, "moved", key="e"),
    ]
    answers = [ask() for ask in asks]
    study.void(1, "wrong")
    study.tell(1, 2, took="continue", why="so")
    before = rows(study), study.log()
    clock_of(study).add(1 - 1e-9)
    for ask, first in zip(asks, answers, strict=True):
        again = ask()
        assert (again, first.replayed, again.replayed) == (first, False, True)
        assert again.to_dict() == first.to_dict() | {"replayed": True}
    assert (rows(study), study.log()) == before
    assert [event.key for event in study.log() if event.key] == ["a", "b", "c", "d", "e"]


def test_the_same_key_with_other_words_is_refused() -> None:
    study = ward("threshold-1")
    study.open_case(2, key="a")
    study.tell(1, 1, key="b")
    others: list[Callable[[], Any]] = [
        lambda: study.open_case(3, key="a"),
        lambda: study.open_case(2, key="a", observed="2026-02-28T08:30+01:00"),
        lambda: study.open_case(2, key="b"),
        lambda: study.tell(1, 2, key="b"),
        lambda: study.tell(1, 1, key="b", took="continue"),
        lambda: study.tell(1, 1, key="b", step=1),
        lambda: study.tell(1, 1, key="a"),
        lambda: study.void(1, "wrong", key="b"),
        lambda: study.withdraw_case(1, "wrong", key="a"),
    ]
    before = rows(study), study.log()
    for ask in others:
        with pytest.raises(Conflict, match=r"was used with another request: event [23] (op|told)"):
            ask()
    assert (rows(study), study.log()) == before


def test_a_key_is_of_one_person_and_one_day_and_of_a_case_that_is_not_over() -> None:
    study = ward("threshold-1")
    study.open_case(2, key="bed 7")
    study.tell(1, 1, key="b")
    with pytest.raises(Conflict, match=r"by somebody else: event 2 opened case 1 .* for ada, and"):
        study.open_case(2, key="bed 7", who="bob")
    assert study.open_case(2, key="bed 7").replayed
    clock_of(study).add(1)
    asks: list[Callable[[], Any]] = [
        lambda: study.open_case(2, key="bed 7"),
        lambda: study.tell(1, 1, key="b"),
    ]
    for ask in asks:
        with pytest.raises(Conflict, match=r"more than a day ago: .* on 2026-03-01 at 12:00 UTC, "):
            ask()
    clock_of(study).add(-30)  # A clock that was set back does not make a key old.
    assert study.tell(1, 1, key="b").replayed
    study.tell(1, 4)
    before = rows(study), study.log()
    with pytest.raises(Conflict, match=r"for a case that is over: event 2 .* such as a UUID"):
        study.open_case(2, key="bed 7")
    assert study.tell(1, 1, key="b").event == 3  # What was told in it is told.
    assert (rows(study), study.log()) == before


def test_a_step_is_told_once_and_never_otherwise() -> None:
    study = ward("threshold-1")
    study.open_case(3)
    first = study.tell(1, 2, step=1)
    study.tell(1, 1, step=2)
    for _ in range(2):
        assert (study.tell(1, 2, step=1), study.tell(1, 2, step=1).replayed) == (first, True)
        assert study.tell(1, 2, step=1, took="continue") == first
    with pytest.raises(
        Conflict,
        match="you already recorded step 1 of case 1: continuing led from state 3 to state 2",
    ):
        study.tell(1, 4, step=1)
    with pytest.raises(Conflict, match="you already recorded step 1 of case 1"):
        study.tell(1, 2, step=1, took="finish")
    with pytest.raises(Conflict, match="step 4 of case 1 was told; the next step is 3"):
        study.tell(1, 4, step=4)
    last = study.tell(1, 4, step=3)
    assert study.tell(1, 4, step=3) == last
    with pytest.raises(Conflict, match=r"it ended in the goal \(4\) after step 3: take that back"):
        study.tell(1, 0)
    assert len(study.log()) == 5
    # After a correction the step is told anew, and the new answer is the one that stays.
    study.void(1, "wrong")
    lost = study.tell(1, 0, step=3)
    assert lost.status == "lost"
    assert study.tell(1, 0, step=3) == lost


def test_asked_again_after_the_clock_was_set_back() -> None:
    study = ward()
    told = study.open_case(2, key="a", observed=clock_of(study).now)
    clock_of(study).add(-1)
    assert study.open_case(2, key="a", observed=clock_of(study).now + timedelta(days=1)) == told


# Time.


def test_the_order_of_the_log_is_the_truth_whatever_the_clock_says() -> None:
    study = ward()
    for days in (0, 10, -400, 3):
        clock_of(study).add(days)
        study.open_case(2)
        study.tell(study.cases(after=0)[-1].case, 3)
    recorded = [event.recorded for event in study.log()]
    assert recorded != sorted(recorded)
    assert [event.seq for event in study.log()] == list(range(1, 10))
    assert [case.case for case in study.cases()] == [1, 2, 3, 4]
    assert study.replay().ok


def test_nothing_was_observed_in_the_future() -> None:
    study, now = ward(), Clock().now
    study.open_case(2, observed=now + timedelta(minutes=5))  # Clocks differ.
    events = study.log()
    for call in (study.open_case, lambda state, **named: study.tell(1, state + 1, **named)):
        for late in (now + timedelta(minutes=5, microseconds=1), "2027-01-01T00:00Z"):
            with pytest.raises(InvalidInput, match="it must not be in the future"):
                call(2, observed=late)
    assert study.log() == events
    study.tell(1, 3, observed="2026-03-01T12:30+01:00")
    assert study.log()[-1].observed == "2026-03-01T11:30:00.000000+00:00"
    assert study.cases()[0].since == study.log()[-1].observed


# Archived.


def test_an_archived_study_is_kept_and_takes_no_entries() -> None:
    study = ward("threshold-1", windows={"finish": 1.0})
    study.open_case(1)
    study.tell(1, 4)
    clock_of(study).add(2)
    advice = study.open_case(2, key="a")
    status = study.archive("the ward was closed", who="bob")
    assert status.archived == clock_of(study).now.isoformat(timespec="microseconds")
    before = rows(study), study.log()
    entries: list[Callable[[], Any]] = [
        lambda: study.open_case(2),
        lambda: study.open_case(2, key="a"),
        lambda: study.tell(2, 3),
        lambda: study.void(1, "wrong"),
        lambda: study.withdraw_case(2, "moved"),
        lambda: ward("threshold-1", study._store, windows={"finish": 2.0}),
    ]
    for entry in entries:
        with pytest.raises(Conflict, match=r"it is archived since 2026-03-03 and takes no entries"):
            entry()
    assert study.archive("again") == status  # It is archived already.
    assert (rows(study), study.log()) == before
    assert (study.ask(2).action, study.read_only) == (advice.action, None)
    event = study.log()[-1]
    assert (event.kind, event.case, event.who) == ("archive", 0, "bob")
    assert json.loads(event.request) == {"why": "the ward was closed"}
    for found in (study.verify(), study.replay()):
        assert found.problems == ()
    assert study.unarchive("it opens again").archived is None
    with pytest.raises(Conflict, match="it is not archived"):
        study.unarchive("it opens again")
    assert study.tell(2, 3).step == 1
    assert kinds(study)[-3:] == ["archive", "unarchive", "tell"]
    assert study.replay().ok


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_an_archived_study_goes_elsewhere_as_it_is(kind: str, tmp_path: Path) -> None:
    study = ward(where=tmp_path / "x.db" if kind == "file" else "memory")
    study.archive("it was a trial")
    assert Study.names(study._store) == []
    assert Study.names(study._store, archived=True) == ["ward"]
    assert Study(study._store).name == "ward"  # It is the only one.
    with Study.import_(tmp_path / "y.db", study.export(tmp_path / "log")) as there:
        assert there.status() == study.status()
    with Study(tmp_path / "y.db", "ward") as again:
        assert again.status().archived is not None
        again.unarchive("it is needed")
        again.open_case(2)
        assert again.verify().ok
    study.close()
