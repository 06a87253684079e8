"""A connection to a SQLite file, and what it has read."""

import time
from collections.abc import Callable
from typing import Any, Final

from grbp.errors import missing_extra
from grbp.live.schema import Event
from grbp.live.store.files import Files
from grbp.live.store.sql import SqlConnection, refuse_newer
from grbp.live.store.witness import Witness, make_line

try:
    import apsw
except ImportError as error:
    raise missing_extra(error, "apsw", "live") from error

PAUSE: Final = 0.002
"""How many seconds to wait at a time; SQLite's own pauses grow, and leave somebody behind."""


class SqliteConnection(SqlConnection):
    """A connection to the file, with what is noted beside it of the logs that are written.

    `patience` returns how many seconds to wait for others.
    """

    def __init__(self, raw: "apsw.Connection", files: Files, patience: Callable[[], float]) -> None:
        super().__init__()
        self.raw, self.witness, self._files = raw, Witness(files.real, files.where), files
        self._run, self._cursor = raw.cursor().execute, raw.cursor()
        # The lines about the last event that is appended to each log, and those of a savepoint.
        self._lines: dict[int, bytes] = {}
        self._before: dict[int, bytes] = {}
        self._content, self._writes = -1, False
        raw.set_busy_handler(_Waiting(patience))

    def begin(self, *, writes: bool) -> None:
        """Hold everything still; forget what was seen if another connection has written since.

        Refuse files that were moved, and tables that a newer version has changed.
        """
        self._writes = writes
        self._lines.clear()
        self._run("begin immediate" if writes else "begin")
        # The first statement that reads also says at which moment.
        version = self._run("pragma user_version").get
        self._files.check()
        content = self.raw.data_version("main")
        if content != self._content:
            self.cache.clear()
            refuse_newer(self._files.where, version)
            self._content = content

    def run(self, statement: str, values: tuple[int | str, ...]) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        try:
            return self._cursor.execute(statement, values).fetchall()
        except UnicodeDecodeError:
            return self._read_leniently(statement, values)

    def _read_leniently(
        self, statement: str, values: tuple[int | str, ...]
    ) -> list[tuple[Any, ...]]:
        """Read rows with text that is damaged, so that a check can say which they are."""
        columns = self.raw.execute(statement, values).description
        parts = [
            f'case typeof("{name}") when \'text\' then cast("{name}" as blob) else "{name}" end'
            for name, *_ in columns
        ]
        rows = self.raw.execute(f"select {', '.join(parts)} from ({statement})", values)  # noqa: S608 (our names)
        return [
            tuple(one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in row)
            for row in rows
        ]

    def note(self, number: int, event: Event) -> None:
        """Remember what is to be noted of a log once it is committed."""
        # Made here, since after a commit the processor has forgotten how, and takes longer.
        self._lines[number] = make_line(number, event.seq, event.hash)

    def forget(self, number: int) -> None:
        """Note nothing of a log that is being removed: the next one may get its number."""
        self._lines.pop(number, None)
        self.witness.forget(number)

    def commit(self) -> None:
        """Wait until everything is on the disk, and note it."""
        self._run("commit")
        self._content = self.raw.data_version("main")
        for number, line in self._lines.items():
            self.witness.note(number, line)

    def rollback(self) -> None:
        """Undo what was written, and let go of that moment."""
        if self._writes:
            self.cache.clear()
        self._run("rollback")

    def savepoint(self) -> None:
        """Remember this place in the transaction."""
        self._before = dict(self._lines)
        self._run("savepoint job")

    def rollback_to_savepoint(self) -> None:
        """Undo what was written since."""
        self.cache.clear()
        self._run("rollback to job; release job")
        self._lines = self._before

    def release(self) -> None:
        """Keep what was written since."""
        self._run("release job")

    def close(self) -> None:
        """Close the connection, and let go of what is noted."""
        self.raw.close()
        self.witness.close()


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
