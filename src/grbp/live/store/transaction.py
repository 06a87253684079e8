"""What a script can read and write: the rows of one study, whatever keeps them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from operator import attrgetter, methodcaller
from typing import Any, Final, TypeAlias, TypeVar

from grbp.errors import Conflict, InvalidInput
from grbp.live.schema import CaseRow, CodeRow, Event, HeldRow, StudyRow

T = TypeVar("T")

PAGE: Final = 1_000
"""The rows that are read at a time."""

LAST: Final = "a"
"""A time after all times, which begin with a digit."""


def check_storable(values: Iterable[int | str]) -> None:
    """Refuse what not every database keeps to the last bit."""
    for value in values:
        if type(value) is str:
            if "\0" in value or not (value.isascii() or _is_unicode(value)):
                raise InvalidInput(
                    f"{value!r} was given; text must be valid Unicode without the character NUL"
                )
        elif type(value) is not int:
            raise InvalidInput(f"{value!r} was given; it must be a whole number or text")
        elif not -_LARGE <= value < _LARGE:
            raise InvalidInput(f"{value} was given; a number must be less than 2^63")


_LARGE: Final = 2**63


def _is_unicode(text: str) -> bool:
    with suppress(UnicodeEncodeError):
        text.encode()
        return True
    return False


def refuse_taken(name: str, found: object) -> None:
    """Refuse to import a study where there is one of its name."""
    if found:
        raise Conflict(
            f"the study {name!r} was to be imported; the store has one already: name another store"
        )


class Transaction(ABC):
    """What a script can read and write: the rows of one study."""

    @abstractmethod
    def study(self) -> StudyRow | None:
        """Return the study, if there is one; a script that writes asks for it first."""

    @abstractmethod
    def case(self, case: int) -> CaseRow | None:
        """Return a case, if there is one."""

    @abstractmethod
    def held(self, case: int, step: int) -> HeldRow | None:
        """Return a step that does not count yet, if there is such a one."""

    @abstractmethod
    def event_of_key(self, key: str) -> Event | None:
        """Return the event that was recorded with an idempotency key, if there is one."""

    def event(self, seq: int) -> Event | None:
        """Return the event of a number, if there is one."""
        return next((one for one in self.events(seq - 1, 1) if one.seq == seq), None)

    @abstractmethod
    def events(self, after: int, limit: int) -> list[Event]:
        """Return the next events after a number in the log."""

    @abstractmethod
    def cases(self, after: int, limit: int, status: str = "") -> list[CaseRow]:
        """Return the next cases after a number, of one status if one is given."""

    @abstractmethod
    def due(self, now: str) -> list[HeldRow]:
        """Return the held steps that are mature by now, by due time, case and step."""

    def count_held(self) -> int:
        """Return how many held steps there should be by what the cases say."""
        return sum(row.held for row in self.all_cases())

    @abstractmethod
    def codes(self, cases: Sequence[int]) -> dict[int, CodeRow]:
        """Return the codes of some cases, by their numbers; a case without one is left out."""

    @abstractmethod
    def find_codes(self, folded: str, limit: int) -> list[CodeRow]:
        """Return those who have a code: cases in progress first, then the last ones first."""

    @abstractmethod
    def append(self, event: Event) -> None:
        """Add an event to the log."""

    @abstractmethod
    def put_study(self, row: StudyRow) -> None:
        """Write the study's row, new or not; all but its configuration is in its last event."""

    @abstractmethod
    def put_case(self, row: CaseRow) -> None:
        """Write a case's row, new or not."""

    @abstractmethod
    def put_held(self, row: HeldRow) -> None:
        """Write the row of a held step."""

    @abstractmethod
    def drop_held(self, case: int, step: int) -> None:
        """Remove the row of a held step."""

    @abstractmethod
    def put_code(self, row: CodeRow) -> None:
        """Write the code of a case, new or not."""

    @abstractmethod
    def drop_code(self, case: int) -> None:
        """Remove the code of a case, if it has one."""

    def puts(self) -> Iterator["Put"]:
        """Yield what writes the rows of this study to another, empty one, a row after another."""
        study = self.study()
        if study is None:
            return
        kinds: dict[str, Iterable[Any]] = {
            "put_study": [study],
            "append": self.all_events(),
            "put_case": self.all_cases(),
            "put_held": self.due(LAST),
            "put_code": self.all_codes(),
        }
        for put, rows in kinds.items():
            for row in rows:
                yield methodcaller(put, row)

    def all_events(self, after: int = 0) -> Iterator[Event]:
        """Yield every event after a number."""
        return _read_pages(lambda last: self.events(last, PAGE), after, attrgetter("seq"))

    def all_cases(self, status: str = "") -> Iterator[CaseRow]:
        """Yield every case, of one status if one is given."""
        return _read_pages(lambda last: self.cases(last, PAGE, status), 0, attrgetter("case"))

    def all_codes(self) -> Iterator[CodeRow]:
        """Yield the codes of all cases."""
        cases = self.all_cases()
        while part := [row.case for row in islice(cases, PAGE)]:
            yield from self.codes(part).values()


Put: TypeAlias = Callable[[Transaction], None]
"""What writes a row."""


def put_all(puts: Iterable[Put], tx: Transaction) -> None:
    """Write some rows."""
    for put in puts:
        put(tx)


def _read_pages(
    page_after: Callable[[Any], list[T]], after: Any, key: Callable[[T], Any]
) -> Iterator[T]:
    """Yield rows page by page, as long as their keys go on; in a damaged file they may not."""
    while page := page_after(after):
        yield from page
        before, after = after, key(page[-1])
        with suppress(TypeError):  # A damaged key need not even be a number.
            if after > before:
                continue
        return
