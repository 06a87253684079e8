"""Walk along the entries of a case: each event names the one before it in the same case.

Whoever recorded the last entry that stands can undo it for a while, without a corrector.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from grbp.errors import Damaged
from grbp.live.arguments import format_time
from grbp.live.schema import CLOSED, CaseRow, Event, loads
from grbp.live.store.base import Transaction

UNDO_LASTS: Final = timedelta(minutes=15)
"""How long one's own last entry can be undone."""

_DAMAGE: Final = (AttributeError, LookupError, TypeError, ValueError, RecursionError)


class Entry(NamedTuple):
    """An event, and what was answered then."""

    event: Event
    answer: dict[str, Any]

    @property
    def since(self) -> str:
        """Since when the case was in the state that this entry led to."""
        return self.event.observed or self.event.recorded


def case_entries(tx: Transaction, case: CaseRow) -> Iterator[Entry]:
    """Yield what was recorded of a case, the last entry first."""
    seq = case.last
    while seq:
        event = tx.event(seq)
        try:
            answer = loads(event.response)  # type: ignore[union-attr]
            # A damaged log must not lead in a circle.
            before = min(int(answer["before"]), seq - 1)
        except _DAMAGE:
            event = None
        if event is None or event.case != case.case:
            raise Damaged(
                f"event {seq} of case {case.case} is missing or damaged; verify the study, and"
                " restore a backup"
            )
        yield Entry(event, answer)
        seq = before


def standing_entries(tx: Transaction, case: CaseRow) -> Iterator[Entry]:
    """Yield the steps of a case that were not taken back, the last one first, and its opening."""
    taken_back = 0
    for entry in case_entries(tx, case):
        kind, step = entry.event.kind, entry.event.step
        if kind == "void" and step:
            taken_back += 1
        elif kind == "tell" and taken_back:
            taken_back -= 1
        elif kind in ("tell", "open"):
            yield entry


def find_taken_back(events: Iterable[Event]) -> set[int]:
    """Return the numbers of the events of one case, in their order, that were taken back later."""
    steps: list[int] = []
    ends: list[int] = []
    found = set()
    for event in events:
        if event.kind == "tell":
            steps.append(event.seq)
        elif event.kind == "close":
            ends.append(event.seq)
        elif event.kind == "void" and (entries := steps if event.step else ends):
            found.add(entries.pop())
    return found


def last_entry(tx: Transaction, case: CaseRow) -> Entry:
    """Return the last entry of a case that stands: its withdrawal, a step, or its opening."""
    if case.status == CLOSED:
        return next(one for one in case_entries(tx, case) if one.event.kind == "close")
    return next(standing_entries(tx, case))


class Undoable(NamedTuple):
    """An entry that whoever recorded it can undo.

    Attributes
    ----------
    event : Event
        What recorded it: a step, a withdrawal or the opening of the case.
    until : str
        Until when it can be undone, in UTC.
    """

    event: Event
    until: str


def find_undoable(tx: Transaction, case: CaseRow, who: str, now: str) -> Undoable | None:
    """Return the last entry of a case if somebody can undo it now."""
    event = last_entry(tx, case).event
    recorded = datetime.fromisoformat(event.recorded)
    if event.who != who or datetime.fromisoformat(now) - recorded > UNDO_LASTS:
        return None
    return Undoable(event, format_time(recorded + UNDO_LASTS))
