"""A store in memory, for trying a study out, and for playing a log again."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Final, TypeAlias, TypeVar

from grbp.errors import CannotWrite
from grbp.live.schema import OPEN, CaseRow, CodeRow, Event, HeldRow, StudyRow
from grbp.live.store.base import Connection, Store
from grbp.live.store.transaction import Transaction, check_storable

T = TypeVar("T")

_NOTHING: Final = object()


class StudyRows:
    """The rows of one study."""

    def __init__(self) -> None:
        self.study: dict[str, StudyRow] = {}
        self.events: dict[int, Event] = {}
        self.cases: dict[int, CaseRow] = {}
        self.held: dict[tuple[int, int], HeldRow] = {}
        self.keys: dict[str, int] = {}
        self.codes: dict[int, CodeRow] = {}


Undo: TypeAlias = list[tuple[dict[Any, Any], Any, Any]]
"""What rows were before they were written: the rows, the place and the row that was there."""


class MemoryTransaction(Transaction):
    """The rows of one study, and a list of what they were before, to undo what fails."""

    def __init__(self, name: str, rows: StudyRows, undo: Undo | None = None) -> None:
        self._name, self._rows, self._undo = name, rows, undo

    def study(self) -> StudyRow | None:
        """Return the study."""
        return self._rows.study.get(self._name)

    def case(self, case: int) -> CaseRow | None:
        """Return a case."""
        check_storable([case])
        return self._rows.cases.get(case)

    def held(self, case: int, step: int) -> HeldRow | None:
        """Return a held step."""
        check_storable([case, step])
        return self._rows.held.get((case, step))

    def event_of_key(self, key: str) -> Event | None:
        """Return the event of an idempotency key."""
        check_storable([key])
        return self._rows.events.get(self._rows.keys.get(key, 0))

    def events(self, after: int, limit: int) -> list[Event]:
        """Return the next events."""
        after, count = max(after, 0), len(self._rows.events)
        return [self._rows.events[seq] for seq in range(after + 1, min(after + limit, count) + 1)]

    def cases(self, after: int, limit: int, status: str = "") -> list[CaseRow]:
        """Return the next cases."""
        numbers = range(after + 1, len(self._rows.cases) + 1)
        found = (self._rows.cases[case] for case in numbers)
        return [*islice((one for one in found if status in ("", one.status)), limit)]

    def due(self, now: str) -> list[HeldRow]:
        """Return the held steps that are mature."""
        found = (row for row in self._rows.held.values() if row.due <= now)
        return sorted(found, key=attrgetter("due", "case", "step"))

    def codes(self, cases: Sequence[int]) -> dict[int, CodeRow]:
        """Return the codes of some cases."""
        check_storable(cases)
        return {case: self._rows.codes[case] for case in cases if case in self._rows.codes}

    def find_codes(self, folded: str, limit: int) -> list[CodeRow]:
        """Return those who have a code."""
        check_storable([folded])
        codes, cases = self._rows.codes.values(), self._rows.cases
        found = (row for row in codes if row.folded == folded and row.case in cases)
        return sorted(found, key=lambda row: (cases[row.case].status != OPEN, -row.case))[:limit]

    def append(self, event: Event) -> None:
        """Add an event."""
        check_storable(event)
        if not self._rows.study or event.seq in self._rows.events or event.key in self._rows.keys:
            raise CannotWrite(f"event {event.seq} of {self._name!r} contradicts what is stored")
        if event.key:
            self._set(self._rows.keys, event.key, event.seq)
        self._set(self._rows.events, event.seq, event)

    def put_study(self, row: StudyRow) -> None:
        """Write the study's row."""
        self._set(self._rows.study, self._name, row)

    def put_case(self, row: CaseRow) -> None:
        """Write a case's row."""
        self._set(self._rows.cases, row.case, row)

    def put_held(self, row: HeldRow) -> None:
        """Write the row of a held step."""
        self._set(self._rows.held, (row.case, row.step), row)

    def drop_held(self, case: int, step: int) -> None:
        """Remove the row of a held step."""
        self._set(self._rows.held, (case, step), _NOTHING)

    def put_code(self, row: CodeRow) -> None:
        """Write the code of a case."""
        check_storable(row)
        self._set(self._rows.codes, row.case, row)

    def drop_code(self, case: int) -> None:
        """Remove the code of a case."""
        self._set(self._rows.codes, case, _NOTHING)

    def _set(self, rows: dict[Any, Any], place: object, row: object) -> None:
        """Write or remove a row, and remember what was there."""
        if self._undo is not None:
            self._undo.append((rows, place, rows.get(place, _NOTHING)))
        _put_row(rows, place, row)


class MemoryConnection(Connection):
    """The rows of all studies, for whoever has the store for itself."""

    def __init__(self) -> None:
        self.rows: defaultdict[str, StudyRows] = defaultdict(StudyRows)
        self._undo: Undo = []
        self._before = 0

    def begin(self, *, writes: bool) -> None:
        """Do nothing: what was committed, or undone, left nothing to undo."""

    def bind(self, name: str) -> MemoryTransaction:
        """Return the transaction that has begun."""
        return MemoryTransaction(name, self.rows[name], self._undo)

    def commit(self) -> None:
        """Forget what the rows were before."""
        self._undo.clear()

    def rollback(self) -> None:
        """Undo what was written."""
        self._undo_to(0)

    def savepoint(self) -> None:
        """Remember how much there is to undo."""
        self._before = len(self._undo)

    def rollback_to_savepoint(self) -> None:
        """Undo what was written since."""
        self._undo_to(self._before)

    def release(self) -> None:
        """Do nothing: what was written since is undone with the rest."""

    def close(self) -> None:
        """Do nothing: the rows go with the program."""

    def _undo_to(self, length: int) -> None:
        while len(self._undo) > length:
            _put_row(*self._undo.pop())


class MemoryStore(Store):
    """A store that is gone with the program."""

    where = "memory"

    def __init__(self) -> None:
        super().__init__()
        self._writer: MemoryConnection = MemoryConnection()

    def names(self) -> list[str]:
        """Return the names of all logs."""
        return sorted(name for name, rows in list(self._writer.rows.items()) if rows.study)

    def read(self, name: str, script: Callable[[Transaction], T]) -> T:
        """Run a script that reads a study while nobody writes."""
        check_storable([name])
        if not self._lock.acquire(timeout=self.patience):
            raise CannotWrite(
                f"{self.where} cannot be read (others of this program have been writing for"
                f" {self.patience:g} seconds); try again"
            )
        try:
            return script(self._writer.bind(name))
        finally:
            self._lock.release()

    def close(self) -> None:
        """Do nothing: the rows go with the program."""

    def _check_open(self) -> None:
        """Allow everything: a process that was forked has rows of its own."""


def _put_row(rows: dict[Any, Any], place: object, row: object) -> None:
    if row is _NOTHING:
        rows.pop(place, None)
    else:
        rows[place] = row
