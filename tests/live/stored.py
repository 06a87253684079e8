"""Rows for the tests of stores, and scripts that write them."""

from typing import Any

from grbp.live.rows import NO_HASH, CaseRow, Event, StepRow, StudyRow, hash_of, sealed
from grbp.live.store.base import Store, Transaction


def a_study(name: str = "s", **changes: Any) -> StudyRow:
    row = StudyRow(name, "{}", 0, NO_HASH, 0, 0, 0, 0, 0, "[1,2]", 0, 0, 0, 0)
    return row._replace(**changes)


def an_event(seq: int = 1, **changes: Any) -> Event:
    time = "2026-01-02T03:04:05.000006Z"
    event = Event(seq, "tell", 0, 0, "{}", "{}", "me", time, "", "", NO_HASH, "")
    return sealed(*event._replace(**changes)[:-1])


def a_case(case: int = 1, **changes: Any) -> CaseRow:
    row = CaseRow(case, 2, 3, 1, "open", 1, 0, 0, 0, 1, 1, 0, 0, 0, "t0", "t1", "[]", "0.1.0")
    return row._replace(**changes)


def a_step(case: int = 1, step: int = 1, **changes: Any) -> StepRow:
    return StepRow(case, step, 2, 3, "continue", "continue", "t0", "", 1)._replace(**changes)


def create(rows: Transaction) -> None:
    """Write an empty study, unless it is there."""
    if rows.study() is None:
        rows.put_study(a_study(rows._name))  # type: ignore[attr-defined]


def tell(rows: Transaction, key: str = "", who: str = "me") -> int:
    """Append the next event to a study, as every verb does; return its number."""
    study = rows.study()
    assert study is not None
    if key and (before := rows.keyed(key)):
        return before.seq
    event = an_event(study.seq + 1, previous=study.head, key=key, who=who)
    rows.append(event)
    rows.put_study(study._replace(seq=event.seq, head=event.hash))
    return event.seq


def some_rows(rows: Transaction) -> None:
    """Write three events, two cases and three steps, one of them held."""
    for key in ("k1", "", ""):
        tell(rows, key)
    for case in (1, 2):
        rows.put_case(a_case(case))
        rows.put_step(a_step(case, 1))
    rows.put_step(a_step(2, 2, due="t2"))


def log(store: Store, name: str = "s") -> list[Event]:
    """Return all events of a study, having seen that they are one whole chain."""

    def script(rows: Transaction) -> tuple[StudyRow | None, list[Event]]:
        return rows.study(), rows.events(0, 10**6)

    study, events = store.read(name, script)
    assert study is not None
    head = NO_HASH
    for number, event in enumerate(events, start=1):
        assert (event.seq, event.previous, event.hash) == (number, head, hash_of(event[:-1]))
        head = event.hash
    assert (study.seq, study.head) == (len(events), head)
    return events


def everything(store: Store) -> dict[str, list[object]]:
    """Return all rows of all studies."""

    def script(rows: Transaction) -> list[object]:
        many = 10**6
        parts = rows.events(0, many), rows.cases(0, many), rows.steps((0, 0), many)
        return [rows.study(), *parts]

    return {name: store.read(name, script) for name in store.studies()}
