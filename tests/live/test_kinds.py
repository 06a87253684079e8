"""Every kind of event has all its parts, and one that is added in a line works everywhere."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from runs import one_sentence
from serving import Serving

from grbp import Study
from grbp.errors import GrbpError
from grbp.live.calls import Answer, Asked, Call, Request
from grbp.live.config import Config
from grbp.live.decide import decide_nothing
from grbp.live.endpoints import ROLES
from grbp.live.evolve import Effect, Past
from grbp.live.history import Entry
from grbp.live.kinds import KINDS, Kind
from grbp.live.recording import record
from grbp.live.schema import CaseRow, loads
from grbp.live.wording import EventLine, Recorded


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_all_its_parts(kind: str) -> None:
    one = KINDS[kind]
    for part in (one.check, one.decide, one.evolve, one.words):
        assert callable(part)
    assert one.role in (*ROLES, "")


def check_note(at: Request, /, case: int, text: str) -> Asked | Answer:
    """Write something down about a case."""
    at.find_case(case)
    words = {"case": case, "text": text}
    return at.find_answer("note", words) or Asked(case, 0, words)


def keep_case(_: Config, __: CaseRow, ___: Entry, ____: Past) -> Effect:
    """Leave a case as it is."""
    return Effect()


def word_note(entry: Recorded) -> EventLine:
    """Say what was written down."""
    return EventLine(entry.event, f"Noted: {entry.asked['text']}.")


NOTE = Kind(check_note, decide_nothing, keep_case, word_note, "recorder")


def write_note(study: Study, text: str, key: str = "") -> Any:
    call = Call("ada", f"2026-01-02T00:00:{len(text):02}.000000+00:00", key)
    return study._opened.write(lambda tx: record(tx, call, "note", case=1, text=text))


def test_a_kind_that_is_added_is_recorded_verified_reopened_exported_and_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "note", NOTE)
    file, log = tmp_path / "live.sqlite", tmp_path / "log"
    with Study.create(file, "ward", 4, "getbe-sm", who="ada") as study:
        study.open_case(2)
        study.tell(1, 3)
        first = write_note(study, "she sleeps", key="k")
        assert write_note(study, "she sleeps", key="k").event == first.event
        study.tell(1, 4, took="finish", why="a bed was free")
        before = study.case(1)
        write_note(study, "home")
        assert study.case(1) == before
        assert study.undo(1).step == 1
    with Study(file, "ward") as study:
        assert study.read_only is None
        assert study.verify().problems == study.replay().problems == ()
        notes = [event for event in study.log() if event.kind == "note"]
        assert [loads(event.request)["text"] for event in notes] == ["she sleeps", "home"]
        study.export(log)
    with Study.import_(tmp_path / "other.sqlite", log) as other:
        assert other.verify().ok
        assert other.status().head == loads(log.read_text().partition("\n")[0])["head"]
    monkeypatch.delitem(KINDS, "note")
    with Study(file, "ward") as study:
        (problem,) = study.verify().problems
        assert "of the kind 'note', which this version does not know" in problem
    with pytest.raises(GrbpError, match="kind 'note'") as refused:
        Study.import_(tmp_path / "third.sqlite", log)
    one_sentence(refused.value)


def test_a_kind_that_is_added_stands_on_the_page_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "note", NOTE)
    with Serving(tmp_path, asking="viewer") as server:
        study = Study.create(server.store, "ward", 4, "getbe-sm", who="ada")
        study.open_case(2)
        write_note(study, "she sleeps")
        assert "Noted: she sleeps." in server.ask("GET", "/studies/ward/log").text
        events = server.ask("GET", "/api/studies/ward/events").json()["items"]
        assert [event["kind"] for event in events] == ["study", "open", "note"]


def test_a_step_told_again_when_its_window_is_over_counts_at_once() -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    clock: Callable[[], datetime] = lambda: now[0]  # noqa: E731
    windows = {"finish": 3.0, "continue": 1.0}
    with Study.create("memory", "ward", 4, "threshold-1", windows=windows, clock=clock) as study:
        study.open_case(2)
        study.tell(1, 3)
        now[0] += timedelta(days=2)
        study.open_case(2)
        assert [event.kind for event in study.log()] == ["study", "open", "tell", "mature", "open"]
        study.void(1, "it was the other bed")
        assert study.tell(1, 1).step == 1
        assert (study.case(1).held, study.status().basis.c) == (0, 1)
        study.void(1, "it was not")
        assert (study.case(1).held, study.case(1).state, study.status().basis.c) == (0, 2, 0)
        assert study.verify().ok
