"""A connection to a SQLite file, what it has read, and how SQLite's errors are said."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from grbp._io import reason
from grbp.errors import CannotWrite, Damaged, GrbpError, InvalidInput, missing_extra
from grbp.live.schema import Event
from grbp.live.store.base import Reader
from grbp.live.store.sql import CachedStudy, SqlTransaction, refuse_newer
from grbp.live.store.witness import make_line

try:
    import apsw
except ImportError as error:
    raise missing_extra(error, "apsw", "live") from error

_SENTENCES: Final[dict[type[Exception], str]] = {
    apsw.NotADBError: "was given; it is not a SQLite file",
    apsw.ConnectionClosedError: "was closed; open it again",
    apsw.CursorClosedError: "was closed; open it again",
    apsw.FullError: "cannot be written (the disk is full); make room",
    apsw.ReadOnlyError: "cannot be written (the file or its folder is read-only); change that",
    apsw.CantOpenError: "cannot be opened; see who may read and write it and its folder",
    apsw.CorruptError: "cannot be read or written (it is damaged); restore a backup",
    UnicodeDecodeError: "cannot be read or written (it is damaged); restore a backup",
    apsw.ConstraintError: "cannot be written (this contradicts what is stored)",
}

PAUSE: Final = 0.002
"""How many seconds to wait at a time; SQLite's own pauses grow, and leave somebody behind."""

Tails = dict[int, bytes]
"""What is to be noted of the last event that a transaction appends to each log, by its number."""


class SqliteTransaction(SqlTransaction):
    """The rows of one study in a SQLite file."""

    def __init__(
        self,
        name: str,
        cache: dict[str, CachedStudy],
        cursor: "apsw.Cursor",
        tails: Tails,
        forget: Callable[[int], None],
    ) -> None:
        super().__init__(name, cache)
        self._cursor, self._tails, self._forget_noted = cursor, tails, forget

    def append(self, event: Event) -> None:
        """Add an event."""
        super().append(event)
        # Made here, since after a commit the processor has forgotten how, and takes longer.
        number = self._require_study().number
        self._tails[number] = make_line(number, event.seq, event.hash)

    def _forget(self, number: int) -> None:
        self._tails.pop(number, None)
        self._forget_noted(number)

    def _execute(self, statement: str, values: tuple[int | str, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._cursor.execute(statement, values).fetchall()
        except UnicodeDecodeError:
            return self._execute_leniently(statement, values)

    def _execute_leniently(
        self, statement: str, values: tuple[int | str, ...]
    ) -> list[tuple[Any, ...]]:
        """Read rows with text that is damaged, so that a check can say which they are."""
        run = self._cursor.connection.execute
        columns = run(statement, values).description
        parts = [
            f'case typeof("{name}") when \'text\' then cast("{name}" as blob) else "{name}" end'
            for name, *_ in columns
        ]
        rows = run(f"select {', '.join(parts)} from ({statement})", values)  # noqa: S608 (our names)
        return [
            tuple(one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in row)
            for row in rows
        ]


class SqliteConnection(Reader):
    """A connection to the file, for one thread at a time, and what was read through it.

    `check` is called whenever a transaction has begun, and refuses files that are not the ones that
    were opened. `patience` returns how many seconds to wait for others. `forget` is told the number
    of a log that is being removed.
    """

    def __init__(
        self,
        connection: "apsw.Connection",
        where: str,
        check: Callable[[], None],
        patience: Callable[[], float],
        forget: Callable[[int], None],
    ) -> None:
        self.raw, self.tails, self._where, self._check = connection, Tails(), where, check
        self._forget = forget
        self._run = connection.cursor().execute
        self._cursor = connection.cursor()
        self._before: Tails = {}
        self._cache: dict[str, CachedStudy] = {}
        self._content = -1
        connection.set_busy_handler(_Waiting(patience))

    def begin(self) -> None:
        """Hold everything still."""
        self._run("begin")
        # The first statement that reads also says at which moment.
        self._run("pragma user_version").get  # noqa: B018
        self.refresh()

    def begin_writing(self) -> None:
        """Let nobody else write."""
        self.tails.clear()
        self._run("begin immediate")
        self.refresh()

    def refresh(self) -> None:
        """Forget what was seen if another connection has written since.

        Refuse files that were moved, and tables that a newer version has changed.
        """
        self._check()
        content = self.raw.data_version("main")
        if content != self._content:
            self._cache.clear()
            refuse_newer(self._where, self._run("pragma user_version").get)
            self._content = content

    def bind(self, name: str) -> SqliteTransaction:
        """Return the transaction that has begun."""
        return SqliteTransaction(name, self._cache, self._cursor, self.tails, self._forget)

    def commit(self) -> None:
        """Wait until everything is on the disk."""
        self._run("commit")
        self._content = self.raw.data_version("main")

    def rollback(self) -> None:
        """Undo what was written."""
        self._cache.clear()
        self._run("rollback")

    def savepoint(self) -> None:
        """Remember this place in the transaction."""
        self._before = Tails(self.tails)
        self._run("savepoint job")

    def rollback_to_savepoint(self) -> None:
        """Undo what was written since."""
        self._cache.clear()
        self._run("rollback to job; release job")
        self.tails.clear()
        self.tails.update(self._before)

    def release(self) -> None:
        """Keep what was written since."""
        self._run("release job")

    def end(self) -> bool:
        """Let go of the moment that was read."""
        with suppress(apsw.Error):
            self._run("rollback")
            return True
        return False

    def close(self) -> None:
        """Close the connection."""
        self.raw.close()


class _Waiting:
    """What SQLite asks whether to wait for another process that writes."""

    def __init__(self, patience: Callable[[], float]) -> None:
        self._patience, self._until = patience, 0.0

    def __call__(self, attempts: int) -> bool:
        """Wait a little, unless that was done for long enough."""
        now = time.monotonic()
        if not attempts:
            self._until = now + self._patience()
        if now >= self._until or not self._patience():
            return False
        time.sleep(PAUSE)
        return True


def translate_error(where: str, patience: float, error: BaseException) -> BaseException:
    """Say an error of SQLite or of the system in a sentence."""
    if isinstance(error, GrbpError):
        return error
    for kind, what in _SENTENCES.items():
        if isinstance(error, kind):
            refusal: type[GrbpError] = InvalidInput if what.startswith("was ") else CannotWrite
            return (Damaged if "damaged" in what else refusal)(f"{where} {what}")
    if isinstance(error, apsw.BusyError):
        return CannotWrite(
            f"{where} cannot be written (another process has been writing for {patience:g}"
            " seconds); try again"
        )
    if isinstance(error, apsw.Error):
        return CannotWrite(f"{where} cannot be read or written ({error})")
    if isinstance(error, OSError):
        return CannotWrite(f"{where} cannot be written ({reason(error)})")
    return error
