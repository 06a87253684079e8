"""The contract of a store, and how commits are grouped.

A store keeps rows and nothing else: what they mean is written in `grbp.live.commands`, once for all
stores. A script is a function of a `Transaction`; all that it writes is kept, or nothing.
"""

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from grbp.errors import CannotWrite, GrbpError, InvalidInput
from grbp.live.schema import CaseRow, Event, HeldRow, StudyRow

T = TypeVar("T")


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


_CUT_OFF: Final = (
    "this was being written when the program was interrupted, so it may be stored or not; give it"
    " again with the same key, and it will be stored once"
)

PAGE: Final = 1_000
"""The rows that are read at a time."""

_MOMENT: Final = 2e-5
"""How many seconds one waits at a time for others to be committed together with."""

LAST: Final = "a"
"""A time after all times, which begin with a digit."""

HIDDEN: Final = "\x01"
"""How the name of a log begins that is the store's own; no name of a study has it."""

HOUSE: Final = f"{HIDDEN}house"
"""The log of the store itself: who may use a server, and when it was verified and backed up."""


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

    def copy_to(self, other: "Transaction") -> None:
        """Write all rows of this study to another, empty one."""
        study = self.study()
        if study is None:
            return
        other.put_study(study)
        for event in self.all_events():
            other.append(event)
        for case in self.all_cases():
            other.put_case(case)
        for held in self.due(LAST):
            other.put_held(held)

    def all_events(self, after: int = 0) -> Iterator[Event]:
        """Yield every event after a number."""
        return _read_pages(lambda last: self.events(last, PAGE), after, attrgetter("seq"))

    def all_cases(self, status: str = "") -> Iterator[CaseRow]:
        """Yield every case, of one status if one is given."""
        return _read_pages(lambda last: self.cases(last, PAGE, status), 0, attrgetter("case"))


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


class Job(Generic[T]):
    """A script that waits to be run, and then what came of it."""

    def __init__(self, name: str, script: Callable[[Transaction], T]) -> None:
        self.name, self.script = name, script
        self.value: T | None = None
        self.error: BaseException | None = None
        self.done = False
        # Whoever asked waits here until it is done, or until it is their turn to run what waits.
        self.turn = threading.Lock()
        self.turn.acquire()

    def result(self) -> T:
        """Return what the script returned, or raise what it raised."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Store(ABC):
    """A place where studies are kept.

    One thread at a time runs all scripts that wait, each within a savepoint, and commits them
    together: one write to the disk serves them all. Then it lets one of those run the next that has
    come meanwhile.
    """

    where: str
    """The path or address, as messages show it."""

    address: str | None = None
    """The whole path or address, by which another process opens it; None if none can."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._gate = threading.Lock()
        self._waiting: list[Job[Any]] = []
        self._leader: Job[Any] | None = None
        self._served = 1
        self._process = os.getpid()
        self.remembered: dict[str, Any] = {}
        """What those who read here know of a study, by its name, while the store is open."""

    def write(self, name: str, script: Callable[[Transaction], T]) -> T:
        """Run a script that writes on a study; return when what it wrote is safe."""
        check_storable([name])
        job = Job(name, script)
        with self._gate:
            self._waiting.append(job)
            self._leader = self._leader or job
            waits = self._leader is not job
        try:
            if waits:
                job.turn.acquire()
            if not job.done:
                self._lead()
        finally:
            self._hand_over(job)
        return job.result()

    def _lead(self) -> None:
        """Run all that waits, and tell those who asked for it."""
        batch: list[Job[Any]] = []
        try:
            with self._lock:
                self._gather()
                with self._gate:
                    batch, self._waiting = self._waiting, []
                self._served = len(batch)
                self._run(batch)
        finally:
            for job in batch:
                job.turn.release()

    def _gather(self) -> None:
        """Wait for those who were served together, as long as one after another asks again."""
        before, now = -1, len(self._waiting)
        while before < now < self._served:
            time.sleep(_MOMENT)
            before, now = now, len(self._waiting)

    def _hand_over(self, job: Job[Any]) -> None:
        """Let somebody else run what waits, if it was this one's turn; wait for nothing more."""
        with self._gate:
            if job in self._waiting:  # An interruption came first.
                self._waiting.remove(job)
            if self._leader is job:
                self._leader = self._waiting[0] if self._waiting else None
                if self._leader is not None:
                    self._leader.turn.release()

    def read(self, name: str, script: Callable[[Transaction], T]) -> T:
        """Run a script that reads a study, as it is at one moment."""
        check_storable([name])
        with self._lock, self._read_transaction():
            return script(self._bind(name))

    def _run(self, batch: list[Job[Any]]) -> None:
        """Run scripts in one transaction; none of them is done before it is committed."""
        # Two processes that lock several studies must do it in the same order.
        batch.sort(key=lambda job: job.name)
        try:
            self._begin()
            if len(batch) == 1:
                batch[0].value = batch[0].script(self._bind(batch[0].name))
            else:
                for job in batch:
                    self._run_one(job)
            self._commit()
        except BaseException as error:
            with suppress(Exception):
                self._rollback()
            # An interruption is meant for this thread alone; the others only lose its help.
            stopped = isinstance(error, Exception)
            for job in batch:
                job.error = job.error or (
                    self._translate_error(error) if stopped else CannotWrite(_CUT_OFF)
                )
            if not stopped:
                raise
        finally:
            for job in batch:
                job.done = True

    def _run_one(self, job: Job[Any]) -> None:
        """Run one of several scripts; one that fails leaves nothing behind."""
        self._savepoint()
        try:
            job.value = job.script(self._bind(job.name))
            self._release()
        except Exception as error:
            try:
                self._rollback_to_savepoint()
            except Exception as gone:
                # So is the whole transaction, because of what went wrong first.
                raise (gone if isinstance(error, GrbpError) else error) from None
            job.error = self._translate_error(error)

    def _check_process(self) -> None:
        """Refuse a connection that was opened before a fork: two processes would use it as one."""
        if os.getpid() != self._process:
            raise InvalidInput(
                f"{self.where} was opened in another process than this one; open it again in every"
                " process that uses it"
            )

    def checks(self) -> list[str]:
        """Return what speaks against writing here, a sentence each."""
        return []

    def damage(self) -> list[str]:
        """Return what the database itself finds wrong with what it keeps, a sentence each."""
        return []

    def studies(self) -> list[str]:
        """Return the names of all studies, sorted."""
        return [name for name in self.logs() if not name.startswith(HIDDEN)]

    @abstractmethod
    def logs(self) -> list[str]:
        """Return the names of all logs, sorted: the store's own, and those of its studies."""

    def backup(self, path: Path) -> None:
        """Write a copy of every study, each as it is at one moment, to a new SQLite file."""
        from grbp.live.store.sqlite import new_file  # noqa: PLC0415 (which stands on this one)

        with new_file(path) as copy:
            for name in self.logs():
                self.read(name, partial(_copy_study, copy, name))

    @abstractmethod
    def close(self) -> None:
        """Let go of the file or the connection."""

    def _translate_error(self, error: BaseException) -> BaseException:
        """Return an error of the database as one of this package's, where it is one."""
        return error

    @contextmanager
    def _read_transaction(self) -> Iterator[None]:
        """Hold everything still while something is read."""
        yield

    @abstractmethod
    def _bind(self, name: str) -> Transaction:
        """Return the transaction that is open, bound to a study."""

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _rollback(self) -> None: ...

    @abstractmethod
    def _savepoint(self) -> None: ...

    @abstractmethod
    def _rollback_to_savepoint(self) -> None: ...

    @abstractmethod
    def _release(self) -> None: ...


def _copy_study(store: Store, name: str, tx: Transaction) -> None:
    """Copy a study to another store."""
    store.write(name, tx.copy_to)
