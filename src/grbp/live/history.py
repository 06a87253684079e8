"""Walk along the entries of a case: each event names the one before it in the same case."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from grbp.errors import Damaged
from grbp.live.schema import CaseRow, Event, loads
from grbp.live.store.base import Transaction

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
