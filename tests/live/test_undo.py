"""Whoever made a slip undoes it: one's own last entry, within 15 minutes."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from small_wards import clock_of, kinds, rows, ward
from test_replay import forged, refused

from grbp import Study
from grbp.errors import Conflict, NotFound
from grbp.live.queries import read_undoable

MICROSECOND = timedelta(microseconds=1)
LONG = timedelta(minutes=15)


@pytest.fixture
def study() -> Study:
    """A ward in which Anna has opened a case and told two steps."""
    study = ward("getbe-sm")
    study.open_case(2, who="anna")
    study.tell(1, 3, took="continue", why="so", who="anna")
    study.tell(1, 2, took="continue", why="so", who="anna")
    return study


def refusal(study: Study, who: str, case: int = 1) -> str:
    """See that nothing is undone; return what is said."""
    before = rows(study)
    with pytest.raises(Conflict) as refused:
        study.undo(case, who=who)
    assert rows(study) == before
    return str(refused.value)


def test_steps_are_undone_one_after_another_then_the_opening(study: Study) -> None:
    assert [study.undo(1, who="anna").state for _ in range(2)] == [3, 2]
    assert study.undo(1, who="anna").status == "closed"
    assert kinds(study) == ["study", "open", "tell", "tell", "void", "void", "close"]
    asked = [json.loads(event.request) for event in study.log(4)]
    assert [(one["own"], one["why"]) for one in asked] == [
        (True, ""), (True, ""), (True, "opened by mistake")
    ]  # fmt: skip
    assert study.undo(1, who="anna").status == "open"  # She withdrew it, and undoes that as well.
    assert study.verify().ok


def test_a_withdrawal_is_undone(study: Study) -> None:
    study.withdraw_case(1, "moved away", who="anna")
    assert (study.undo(1, who="anna").status, study.case(1).steps) == ("open", 2)
    assert study.undo(1, who="anna").step == 1  # Then the step before it is the last entry.


def test_it_can_be_undone_to_the_microsecond(study: Study) -> None:
    clock = clock_of(study)
    recorded = study.log()[-1].recorded
    clock.now += LONG + MICROSECOND
    said = refusal(study, "anna")
    assert said == (
        f"the last entry of case 1, step 2, was to be undone; anna recorded it on"
        f" {recorded[:16].replace('T', ' at ')} UTC: only the same person can undo it, within 15"
        " minutes, and a corrector can take it back"
    )
    clock.now -= MICROSECOND
    assert study.undo(1, who="anna").step == 1


def test_another_person_s_entry_cannot_be_undone(study: Study) -> None:
    assert "step 2, was to be undone; anna recorded it" in refusal(study, "bob")
    study.tell(1, 1, took="continue", why="so", who="bob")
    assert "step 3, was to be undone; bob recorded it" in refusal(study, "anna")
    assert study.undo(1, who="bob").step == 2
    assert study.undo(1, who="anna").step == 1  # Nothing that stands came after it.


def test_the_pages_know_what_can_be_undone_and_until_when(study: Study) -> None:
    clock, store = clock_of(study), study._store
    found = read_undoable(store, study.name, 1, "anna", clock.now)
    assert found is not None
    assert (found.event, found.until) == (
        study.log()[-1], (clock.now + LONG).isoformat(timespec="microseconds")
    )  # fmt: skip
    late = clock.now + LONG + MICROSECOND
    assert read_undoable(store, study.name, 1, "anna", late) is None
    assert read_undoable(store, study.name, 1, "bob", clock.now) is None
    study.archive("done")
    assert read_undoable(store, study.name, 1, "anna", clock.now) is None
    with pytest.raises(NotFound):
        read_undoable(store, study.name, 2, "anna", clock.now)


def test_a_step_that_counts_by_now_can_still_be_undone() -> None:
    study = ward("getbe-sm", windows={"continue": 0.001})
    study.open_case(2, who="anna")
    study.tell(1, 3, took="continue", why="so", who="anna")
    clock_of(study).now += timedelta(minutes=10)
    study.open_case(2, who="bob")
    assert kinds(study)[-2:] == ["mature", "open"]
    assert study.undo(1, who="anna").state == 2
    assert study.verify().ok


def test_the_same_key_undoes_once(study: Study) -> None:
    key = {"key": "k", "who": "anna"}
    first, again = study.undo(1, **key), study.undo(1, **key)
    assert (again, again.replayed) == (first, True)
    study.undo(1, who="anna")
    clock_of(study).now += timedelta(minutes=20)
    assert study.undo(1, **key) == first
    with pytest.raises(Conflict, match="by somebody else"):
        study.undo(1, key="k", who="bob")
    other = study.open_case(2, who="anna").case
    opened = study.undo(other, key="o", who="anna")
    assert (opened.status, study.undo(other, key="o", who="anna").replayed) == ("closed", True)


@pytest.mark.parametrize("kind", ["void", "close"])
def test_a_log_in_which_somebody_undoes_what_they_could_not_is_refused(
    kind: str, study: Study, tmp_path: Path
) -> None:
    for _ in range(3):
        study.undo(1, who="anna")
    lines = study.export(tmp_path / "log").read_text("utf-8").splitlines()
    assert Study.import_("memory", tmp_path / "log").verify().ok
    seq = next(event.seq for event in study.log() if event.kind == kind)
    for change in ({"who": "bob"}, {"recorded": "2100-01-01T00:00:00.000000+00:00"}):
        said = refused(forged(lines, seq, lambda event, change=change: event | change), tmp_path)  # type: ignore[misc]
        assert "was to be undone" in said
