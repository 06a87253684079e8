"""The contract of a store, and how commits are grouped.

A store keeps rows and nothing else: what they mean is written in `grbp.live.evolve`, once for all
stores. A script is a function of a `Transaction`; all that it writes is kept, or nothing.
"""

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from grbp.errors import CannotWrite, GrbpError, InvalidInput
from grbp.live.store.transaction import LAST, Transaction, check_storable, put_all, refuse_taken

__all__ = ["HIDDEN", "LAST", "OWN_LOG", "STAGED", "Connection", "Store", "Transaction"]

T = TypeVar("T")

UNKNOWN: Final = (
    "so it may be stored or not; give it again with the same key, and it will be stored once"
)
"""What whoever writes is told where nobody knows how it ended."""

_CUT_OFF: Final = f"this was being written when the program was interrupted, {UNKNOWN}"

_MOMENT: Final = 2e-5
"""How many seconds one waits at a time for others to be committed together with."""

_CLOSING: Final = 5.0
"""How many seconds whoever closes a store waits for a thread that writes."""

HIDDEN: Final = "\x01"
"""How the name of a log begins that is the store's own; no name of a study has it."""

OWN_LOG: Final = f"{HIDDEN}house"
"""The log of the store itself: who may use a server, and when it was verified and backed up."""

STAGED: Final = f"{HIDDEN}import "
"""How the name of a log begins that is being imported, and has not got its own name yet."""


class Connection(ABC):
    """A way to what is stored, for one thread at a time."""

    @abstractmethod
    def begin(self, *, writes: bool) -> None:
        """Hold everything still, as it is at this moment; let nobody else write if this does."""

    @abstractmethod
    def bind(self, name: str) -> Transaction:
        """Return the transaction that has begun, bound to a study."""

    @abstractmethod
    def commit(self) -> None:
        """Wait until everything is safe."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo what was written, and let go of that moment."""

    @abstractmethod
    def savepoint(self) -> None:
        """Remember this place in the transaction."""

    @abstractmethod
    def rollback_to_savepoint(self) -> None:
        """Undo what was written since."""

    @abstractmethod
    def release(self) -> None:
        """Keep what was written since."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it, once or again."""


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
    come meanwhile. Whoever reads has a connection of their own, and waits for nobody.
    """

    where: str
    """The path or address, as messages show it."""

    address: str | None = None
    """The whole path or address, by which another process opens it; None if none can."""

    patience: float = 60.0
    """How many seconds to wait for others, or for an answer of the database, before giving up."""

    _writer: Connection

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._closed = False
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
        self._check_open()
        job = Job(name, script)
        with self._gate:
            self._waiting.append(job)
            self._leader = self._leader or job
            waits = self._leader is not job
        try:
            if waits and not job.turn.acquire(timeout=self.patience):
                self._leave(job)
            if not job.done:
                self._lead(job)
        finally:
            self._hand_over(job)
        return job.result()

    def _leave(self, job: Job[Any]) -> None:
        """Wait no longer; say what became of a script, unless it is done by now."""
        with self._gate:
            waits = job in self._waiting
            if waits:
                self._waiting.remove(job)
        if waits:
            raise CannotWrite(
                f"{self.where} cannot be written (others of this program have been writing for"
                f" {self.patience:g} seconds), so nothing was written; try again"
            )
        if not job.done:
            raise CannotWrite(
                f"{self.where} has not answered for {self.patience:g} seconds while this was being"
                f" written, {UNKNOWN}"
            )

    def _lead(self, job: Job[Any]) -> None:
        """Run all that waits, and tell those who asked for it."""
        batch: list[Job[Any]] = []
        if not self._lock.acquire(timeout=self.patience):
            return self._leave(job)
        try:
            self._check_open()
            self._gather()
            self._run(batch)
        finally:
            try:
                if self._closed:  # Whoever closed it did not wait so long.
                    self._disconnect()
            finally:
                self._lock.release()
                for one in batch:
                    one.turn.release()

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

    @abstractmethod
    def read(self, name: str, script: Callable[[Transaction], T]) -> T:
        """Run a script that reads a study, as it is at one moment."""

    def _check_open(self) -> None:
        """Refuse a store that was closed, or was opened before a fork: two would use it as one."""
        if os.getpid() != self._process:
            raise InvalidInput(
                f"{self.where} was opened in another process than this one; open it again in every"
                " process that uses it"
            )
        if self._closed:
            raise InvalidInput(f"{self.where} was closed; open it again")

    def _run(self, batch: list[Job[Any]]) -> None:
        """Run the scripts that wait in one transaction; none is done before it is committed.

        They wait until it has begun, so that whoever gives up before that knows that nothing was
        written. Where it cannot begin, that is said to the one who tried; the next tries again.
        """
        try:
            self._writer.begin(writes=True)
            with self._gate:
                batch += self._waiting
                self._waiting.clear()
            self._served = len(batch)
            # Two processes that lock several studies must do it in the same order.
            batch.sort(key=lambda job: job.name)
            if len(batch) == 1:
                batch[0].value = batch[0].script(self._writer.bind(batch[0].name))
            else:
                for job in batch:
                    self._run_one(job)
            self._writer.commit()
        except BaseException as error:
            # An interruption is meant for this thread alone; the others only lose its help.
            stopped = isinstance(error, Exception)
            with suppress(Exception):
                self._writer.rollback()
            said = self._translate_error(error) if stopped else CannotWrite(_CUT_OFF)
            for job in batch:
                job.error = job.error or said
            if not stopped:
                raise
            if not batch:
                raise said from (None if said is error else error)
        finally:
            for job in batch:
                job.done = True

    def _run_one(self, job: Job[Any]) -> None:
        """Run one of several scripts; one that fails leaves nothing behind."""
        self._writer.savepoint()
        try:
            job.value = job.script(self._writer.bind(job.name))
            self._writer.release()
        except Exception as error:
            try:
                self._writer.rollback_to_savepoint()
            except Exception as gone:
                # So is the whole transaction, because of what went wrong first.
                raise (gone if isinstance(error, GrbpError) else error) from None
            job.error = self._translate_error(error)

    def checks(self) -> list[str]:
        """Return what speaks against writing here, a sentence each."""
        return []

    def damage(self) -> list[str]:
        """Return what the database itself finds wrong with what it keeps, a sentence each."""
        return []

    def studies(self) -> list[str]:
        """Return the names of all studies, sorted."""
        return [name for name in self.logs() if not name.startswith(HIDDEN)]

    def logs(self) -> list[str]:
        """Return the names of all logs, sorted: the store's own, and those of its studies."""
        return [name for name in self.names() if not name.startswith(STAGED)]

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of all logs, sorted, with those that are being imported."""

    def missing(self, name: str) -> str | None:  # noqa: ARG002
        """Say what was acknowledged of a study and is not there; None if nothing is known of."""
        return None

    def adopt(self, name: str, source: "Store") -> None:
        """Copy a study of another store, all of it or nothing; refuse a name that is taken."""
        source.read(name, partial(_copy_study, self, name))

    def backup(self, path: Path) -> None:
        """Write a copy of every study, each as it is at one moment, to a new SQLite file."""
        from grbp.live.store.sqlite import new_file  # noqa: PLC0415 (which stands on this one)

        with new_file(path) as copy:
            for name in self.logs():
                self.read(name, partial(_copy_study, copy, name))

    def close(self) -> None:
        """Let go of the file or the connection; wait for whoever writes, but not for long."""
        self._closed = True
        if self._lock.acquire(timeout=_CLOSING):
            try:
                self._disconnect()
            finally:
                self._lock.release()

    def _disconnect(self) -> None:
        """Let go of what is written through, once or again."""
        # A process that was forked must leave alone what the other still uses.
        if os.getpid() == self._process:
            self._writer.close()

    def _translate_error(
        self,
        error: BaseException,
        connection: Connection | None = None,  # noqa: ARG002
    ) -> BaseException:
        """Return an error of the database as one of this package's, where it is one."""
        return error


def _copy_study(store: Store, name: str, tx: Transaction) -> None:
    """Copy a study to another store."""

    def copy(other: Transaction) -> None:
        refuse_taken(name, other.study())
        put_all(tx.puts(), other)

    store.write(name, copy)
