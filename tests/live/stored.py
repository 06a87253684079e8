"""Rows for the tests of stores, and scripts that write them."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from grbp.live.schema import (
    NO_HASH,
    CaseRow,
    CodeRow,
    Event,
    HeldRow,
    StudyRow,
    dumps_answer,
    hash_fields,
    seal,
)
from grbp.live.store.base import LAST, Store, Transaction

T = TypeVar("T")


def _row(row: Callable[..., T], /, **values: Any) -> T:
    """Return a row with some values, and 0 or nothing for the others."""
    types = row.__annotations__
    return row(**{name: 0 if types[name] is int else "" for name in types} | values)


def a_study(name: str = "s", **values: Any) -> StudyRow:
    given: dict[str, Any] = {"name": name, "config": "{}", "seq": 0, "head": NO_HASH}
    return StudyRow(**given | values)


def an_event(seq: int = 1, **values: Any) -> Event:
    event = _row(Event, **{"seq": seq, "kind": "tell", "who": "me", "previous": NO_HASH} | values)
    return seal(event, event.response)


def a_case(case: int = 1, **values: Any) -> CaseRow:
    return _row(CaseRow, **{"case": case, "first": 2, "status": "open", "since": "t1"} | values)


def a_held_step(case: int = 1, step: int = 1, due: str = "2", seq: int = 3) -> HeldRow:
    return HeldRow(case, step, due, seq)


def a_code(case: int = 1, code: str = "B-12") -> CodeRow:
    return CodeRow(case, code, code.lower(), "me", "t2")


def eventually(condition: Callable[[], Any]) -> Any:
    """Wait until a condition holds, and return it; a test that waits in vain fails."""
    for _ in range(60_000):
        if found := condition():
            return found
        time.sleep(0.001)
    raise AssertionError("it did not happen within a minute")


def create(rows: Transaction) -> None:
    """Write an empty study, unless it is there."""
    if rows.study() is None:
        rows.put_study(a_study(rows._name))  # type: ignore[attr-defined]


def tell(rows: Transaction, key: str = "", who: str = "me") -> int:
    """Append the next event to a study, as every verb does; return its number."""
    study = rows.study()
    assert study is not None
    if key and (before := rows.event_of_key(key)):
        return before.seq
    said = dumps_answer({}, 0, study._asdict())
    event = an_event(study.seq + 1, previous=study.head, key=key, who=who, response=said)
    rows.append(event)
    rows.put_study(study._replace(seq=event.seq, head=event.hash))
    return event.seq


def some_rows(rows: Transaction) -> None:
    """Write three events, two cases, two held steps and a code."""
    for key in ("k1", "", ""):
        tell(rows, key)
    for case in (1, 2):
        rows.put_case(a_case(case))
        rows.put_held(a_held_step(case, 1))
    rows.put_code(a_code(2))


def log(store: Store, name: str = "s") -> list[Event]:
    """Return all events of a study, having seen that they are one whole chain."""

    def script(rows: Transaction) -> tuple[StudyRow | None, list[Event]]:
        return rows.study(), rows.events(0, 10**6)

    study, events = store.read(name, script)
    assert study is not None
    head = NO_HASH
    for number, event in enumerate(events, start=1):
        assert (event.seq, event.previous, event.hash) == (number, head, hash_fields(event[:-1]))
        head = event.hash
    assert (study.seq, study.head) == (len(events), head)
    return events


def everything(store: Store) -> dict[str, list[object]]:
    """Return all rows of all studies."""

    def script(rows: Transaction) -> list[object]:
        many = 10**6
        parts = rows.events(0, many), rows.cases(0, many), rows.due(LAST), [*rows.all_codes()]
        return [rows.study(), *parts]

    return {name: store.read(name, script) for name in store.studies()}
