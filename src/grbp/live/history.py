"""Walk along the entries of a case: each event names the one before it in the same case.

Whoever recorded the last entry that stands can undo it for a while, without a corrector.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from grbp.errors import Damaged
from grbp.live.arguments import format_time
from grbp.live.schema import DAMAGE, CaseRow, Event, loads
from grbp.live.store.base import Transaction

UNDO_LASTS: Final = timedelta(minutes=15)
"""How long one's own last entry can be undone."""

Moved: TypeAlias = tuple[str, int, int]
"""What was done in a step, and from where it led where."""


class Entry(NamedTuple):
    """An event, what was answered then, and what was asked for, where that is known already."""

    event: Event
    answer: dict[str, Any]
    words: dict[str, Any] | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """What was asked for."""
        found: dict[str, Any] = self.words or loads(self.event.request)
        return found

    @property
    def since(self) -> str:
        """Since when the case was in the state that this entry led to."""
        return self.event.observed or self.event.recorded

    @property
    def move(self) -> Moved:
        """The step that was told."""
        return self.answer["took"], self.answer["from"], self.answer["state"]


def case_entries(tx: Transaction, case: CaseRow) -> Iterator[Entry]:
    """Yield what was recorded of a case, the last entry first."""
    seq = case.last
    while seq:
        event = tx.event(seq)
        try:
            answer = loads(event.response)  # type: ignore[union-attr]
            # A damaged log must not lead in a circle.
            before = min(int(answer["before"]), seq - 1)
        except DAMAGE:
            event = None
        if event is None or event.case != case.case:
            raise Damaged(
                f"event {seq} of case {case.case} is missing or damaged; verify the study, and"
                " restore a backup"
            )
        yield Entry(event, answer)
        seq = before


def drop_taken_back(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries of a case that stand, of all of them, the last one first.

    An entry that takes another back stands for nothing itself: it is left out with the other, and
    with what let that count. The withdrawal of a case has no step, which is 0.
    """
    voided: list[int] = []
    for entry in entries:
        kind, step = entry.event.kind, entry.event.step
        if kind == "void":
            voided.append(step)
        elif kind == "mature" and step in voided:
            continue
        elif kind in ("tell", "close") and voided[-1:] == [step]:
            voided.pop()
        else:
            yield entry


def standing_entries(tx: Transaction, case: CaseRow) -> Iterator[Entry]:
    """Yield what was recorded of a case, as far as it stands, the last entry first."""
    return drop_taken_back(case_entries(tx, case))


def keep_steps(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the steps among entries, and the opening."""
    return (one for one in entries if one.event.kind in ("tell", "open"))


def find_taken_back(events: Iterable[Event]) -> set[int]:
    """Return the numbers of the events of one case, in their order, that were taken back later."""
    entries = [Entry(event, {}) for event in events][::-1]
    standing = {one.event.seq for one in drop_taken_back(entries)}
    all_of = {one.event.seq for one in entries if one.event.kind in ("tell", "close")}
    return all_of - standing


def last_entry(tx: Transaction, case: CaseRow) -> Event:
    """Return the last entry of a case that stands: its withdrawal, a step, or its opening."""
    found = (entry.event for entry in standing_entries(tx, case))
    return next(event for event in found if event.kind in ("open", "tell", "close"))


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
    event = last_entry(tx, case)
    recorded = datetime.fromisoformat(event.recorded)
    if event.who != who or datetime.fromisoformat(now) - recorded > UNDO_LASTS:
        return None
    return Undoable(event, format_time(recorded + UNDO_LASTS))
