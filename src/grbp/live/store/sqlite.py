"""A store in one SQLite file, used as SQLite must be where nothing may be lost.

The log is written ahead (WAL) and every commit waits for the disk (``synchronous=FULL``).
Transactions that write lock at once (BEGIN IMMEDIATE) and wait for one another. Whoever reads has a
connection of their own. Beside the file there are SQLite's own two (-wal, -shm) while it is open,
and a witness of what was acknowledged (-head).
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from grbp._io import (
    check_file_name,
    check_writable,
    look_at,
    make_folder,
    make_private,
    reason,
    sync_folder,
    take_name,
)
from grbp._marks import STUDIES as MARK, lock_free_address, refuse_others
from grbp.errors import CannotWrite, Damaged, GrbpError, InvalidInput, NotFound, missing_extra
from grbp.live.schema import Event
from grbp.live.store.base import OWN_LOG
from grbp.live.store.files import NETWORKED, Files, file_system
from grbp.live.store.sql import (
    Dialect,
    SqlConnection,
    SqlTransaction,
    migration,
    newest_version,
    refuse_newer,
    schema,
    unused_name,
)
from grbp.live.store.sql_store import SqlStore
from grbp.live.store.witness import END, Witness, describe_gone, describe_loss, is_noted, make_line

try:
    import apsw
except ImportError as error:
    raise missing_extra(error, "apsw", "live") from error

DIALECT: Final = Dialect("integer", "text", " strict")

SAFE: Final = (3, 51, 3)
"""The first SQLite that loses nothing when one connection checkpoints while another writes."""

FILES: Final = ("", "-wal", "-shm", END)
"""What follows the store's name in the names of the files that belong to it."""

_WANTED: Final = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}

_CLOSED: Final = (InvalidInput, "was closed; open it again")
_DAMAGED: Final = (Damaged, "cannot be read or written (it is damaged); restore a backup")
_SAID: Final[dict[type[Exception], tuple[type[GrbpError], str]]] = {
    apsw.NotADBError: (InvalidInput, "was given; it is not a SQLite file"),
    apsw.ConnectionClosedError: _CLOSED,
    apsw.CursorClosedError: _CLOSED,
    apsw.FullError: (CannotWrite, "cannot be written (the disk is full); make room"),
    apsw.ReadOnlyError: (
        CannotWrite,
        "cannot be written (the file or its folder is read-only); change that",
    ),
    apsw.CantOpenError: (
        CannotWrite,
        "cannot be opened; see who may read and write it and its folder",
    ),
    apsw.CorruptError: _DAMAGED,
    UnicodeDecodeError: _DAMAGED,
    apsw.ConstraintError: (CannotWrite, "cannot be written (this contradicts what is stored)"),
}
"""What an error of SQLite, or of reading its text, means."""

_NO_STORE: Final = "there is no store {}; `grbp live init` makes one"


_PAUSE: Final = 0.002
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
        if not writes:  # The first statement that reads says at which moment.
            self._run("pragma user_version").get  # noqa: B018
        self._files.check()
        content = self.raw.data_version("main")
        if content != self._content:
            self.cache.clear()
            refuse_newer(self._files.where, self._run("pragma user_version").get)
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
        time.sleep(_PAUSE)
        return True


class SqliteStore(SqlStore):
    """A store in a SQLite file, which is made where there is none and `create` says so."""

    def __init__(self, path: Path, *, create: bool = False, synchronous: str = "FULL") -> None:
        super().__init__()
        check_file_name(path)
        self.where = str(path)
        # Whole, as SQLite takes names such as :memory: otherwise, and the folder may be changed.
        self.address = os.path.abspath(path)  # noqa: PTH100
        self._path = path = Path(self.address)
        self._files = Files(self.address, self.where)
        self._settings: dict[str, Any] = {}
        self._lost: list[str] = []
        with self._translated():  # It may be in a folder that nobody may look into.
            new = look_at(path) is None
        if new:
            if not create:
                raise NotFound(_NO_STORE.format(self.where))
            make_folder(path.parent)
            make_private(path)
        elif path.is_dir():
            raise InvalidInput(f"{self.where} was given; it is a folder: name a file")
        self._check_mark()
        with self._translated():
            self._writer = self._connect()
        self._connection, self._witness = self._writer.raw, self._writer.witness
        try:
            with self._translated():
                self._files.remember_main()
                self._prepare(create, new, synchronous)
                # SQLite syncs the name of a new log with the first commit of whoever made it. If
                # that one only reads, others would commit to a file without a name after a cut.
                sync_folder(path.parent)
        except BaseException:
            self.close()
            raise

    def _connect(self) -> SqliteConnection:
        raw = apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READWRITE)
        return SqliteConnection(raw, self._files, self._may_wait)

    def _make_reader(self) -> SqliteConnection:
        # A new connection would make a log anew that was removed.
        self._files.check()
        with self._translated():
            made = self._connect()
            made.raw.pragma("query_only", True)
        return made

    def _may_wait(self) -> float:
        """Return how many seconds to wait for another process."""
        return 0.0 if self._closed else self.patience

    def _check_mark(self) -> None:
        """Refuse a file of another kind; whatever else is wrong is said when it is opened."""
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with (
            suppress(apsw.Error, OSError),
            closing(apsw.Connection(lock_free_address(self._path), flags)) as connection,
        ):
            refuse_others(Path(self.where), MARK, connection)

    def _prepare(self, create: bool, new: bool, synchronous: str) -> None:
        """Set the connection up, make the tables of a new file, and migrate those of an old one."""
        run = self._connection
        version = self._version()
        if not (version or create):
            self._refuse_emptied(new)
            raise NotFound(_NO_STORE.format(self.where))
        run.pragma("foreign_keys", True)
        self._write_ahead()
        run.pragma("synchronous", synchronous)
        run.pragma("secure_delete", True)  # A code that is erased leaves nothing in free pages.
        if version != newest_version():
            self._make_tables(new)
        self._version()  # By now the log is there.
        self._files.remember_log()
        self._look_for_lost_logs()
        self._look_at_settings()

    def _make_tables(self, new: bool) -> None:
        """Make the tables of a new file, or migrate those of an old one."""
        run = self._connection
        run.execute("begin immediate")
        try:
            # Another process may have been quicker.
            version = self._version()
            if version not in (0, newest_version()):
                self.backup(Path(unused_name(f"{self.where}.schema-{version}", os.path.exists)))
            if not version:
                self._refuse_emptied(new)
                self._witness.clear()
            for statement in migration(version, DIALECT) if version else schema(DIALECT):
                run.execute(statement)
            run.pragma("application_id", MARK.number)
            run.pragma("user_version", newest_version())
            run.execute("commit")
        except BaseException:
            with suppress(apsw.Error):
                run.execute("rollback")
            raise

    def _refuse_emptied(self, new: bool) -> None:
        """Refuse a file that is empty, but had studies."""
        if not new and self._witness.read() and not self._version():
            raise CannotWrite(f"{self.where} is empty, but had studies: {self._witness.advice}")

    def _write_ahead(self) -> None:
        """Switch to WAL; SQLite itself does not wait there while others open the file, too."""
        until = time.monotonic() + self.patience
        while True:
            try:
                self._connection.pragma("journal_mode", "wal")
            except apsw.BusyError:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE)
            else:
                return

    def _version(self) -> int:
        """Return the schema of the file, 0 if it is empty; refuse one that we cannot use."""
        refuse_others(Path(self.where), MARK, self._connection)
        version = self._connection.execute("pragma user_version").get
        refuse_newer(self.where, version)
        return int(version)

    def checks(self) -> list[str]:
        """Return what speaks against writing to this file."""
        found = []
        library = apsw.sqlite_lib_version()
        if tuple(map(int, library.split("."))) < SAFE:
            found.append(
                f"SQLite {library} can lose what one process writes while another does; install"
                f" apsw {'.'.join(map(str, SAFE))} or later"
            )
        kind = file_system(self._path)
        if kind in NETWORKED:
            found.append(
                f"{self.where} is on a network file system ({kind}), on which SQLite can lose what"
                " is written; keep it on a disk of this machine, or use PostgreSQL"
            )
        self._look_at_settings()
        if self._settings["read_only"]:
            found.append(f"{self.where} can only be read; change that, or copy it elsewhere")
        for name, wanted in _WANTED.items():
            value = self._settings[name]
            if value != wanted:
                found.append(
                    f"SQLite says {name}={value} for {self.where}, where {wanted} is needed so that"
                    " nothing is lost"
                )
        return [*found, *self._lost]

    def _look_at_settings(self) -> None:
        """Look at the connection that writes, unless it is busy; only we change its settings."""
        if self._lock.acquire(blocking=False):
            try:
                settings = {name: self._connection.pragma(name) for name in _WANTED}
                self._settings = settings | {"read_only": self._connection.readonly("main")}
            finally:
                self._lock.release()

    def _look_for_lost_logs(self) -> None:
        """Find the logs of which something was acknowledged, and of which nothing is there."""
        if noted := self._witness.read():
            there = {number for (number,) in self._connection.execute("select id from studies")}
            # Somebody may have removed one meanwhile, and then it is noted no more.
            if gone := len(self._witness.read().keys() & (noted.keys() - there)):
                self._lost = [f"{describe_gone(self.where, gone)}: {self._witness.advice}"]

    def missing(self, name: str) -> str | None:
        """Say what was acknowledged of a study and is not there."""
        number = self.read(name, SqlTransaction.number)
        # Before the log is read, as somebody may be adding to it.
        noted = self._witness.read()
        if number not in noted:
            return None
        seq, head = noted[number]
        event, study = self.read(name, lambda tx: (tx.event(seq), tx.study()))
        if event is not None and is_noted(head, event.hash):
            return None
        log = "the store's own log" if name == OWN_LOG else repr(name)
        said = describe_loss(log, seq, study.seq if study else seq)
        return f"{said}: {self._witness.advice}"

    def damage(self) -> list[str]:
        """Return what SQLite itself finds wrong with the file."""
        with self._translated():
            try:
                # Through a connection of its own: others need not wait.
                with closing(self._make_reader()) as own:
                    run = own.raw.execute
                    found: list[tuple[Any, ...]] = run("pragma integrity_check(20)").fetchall()
            except apsw.CorruptError as error:
                found = [(error,)]
        lines = [line for (text,) in found for line in str(text).splitlines() if "***" not in line]
        said = [] if lines == ["ok"] else [f"SQLite says of the file: {line}" for line in lines]
        return [*self._lost, *said]

    def backup(self, path: Path) -> None:
        """Copy everything that is committed to a new file, by SQLite's own backup."""
        self._check_open()
        with new_file(path) as copy:
            try:
                # Through a connection of its own: the other may be writing.
                with (
                    closing(self._make_reader()) as source,
                    copy._connection.backup("main", source.raw, "main") as work,
                ):
                    work.step()
            except apsw.Error as error:
                blamed = self if isinstance(error, apsw.CorruptError) else copy
                raise blamed._translate_error(error) from error

    def checkpoint(self) -> None:
        """Put everything into the one file, and wait until it is on the disk."""
        with self._translated():
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def _translate_error(self, error: BaseException, _: object = None) -> BaseException:
        """Say an error of SQLite or of the system in a sentence."""
        busy = (
            f"cannot be written (another process has been writing for {self.patience:g} seconds);"
            " try again"
        )
        said = _SAID | {
            apsw.BusyError: _CLOSED if self._closed else (CannotWrite, busy),
            apsw.Error: (CannotWrite, f"cannot be read or written ({error})"),
        }
        for kind, (refusal, what) in said.items():
            if isinstance(error, kind):
                return refusal(f"{self.where} {what}")
        if isinstance(error, OSError) and not isinstance(error, GrbpError):
            return CannotWrite(f"{self.where} cannot be written ({reason(error)})")
        return error


@contextmanager
def new_file(path: Path) -> Iterator[SqliteStore]:
    """Make a store that gets its name when it is complete; refuse a name that is taken."""
    check_writable(path)
    for rest in FILES:
        # SQLite would take what is left of another file for a part of this one.
        if (other := path.with_name(path.name + rest)).exists():
            raise _refuse_name(other)
    draft = path.with_name(f".grbp-{secrets.token_hex(6)}")  # Two copies are not in one's way.
    try:
        copy = SqliteStore(draft, create=True)
        copy.where = str(path)  # as messages show it
        try:
            yield copy
            copy.checkpoint()
        finally:
            copy.close()
        if not take_name(draft, path):
            raise _refuse_name(path)
        sync_folder(path.parent)
    finally:
        for rest in FILES:
            draft.with_name(draft.name + rest).unlink(missing_ok=True)


def _refuse_name(path: Path) -> InvalidInput:
    return InvalidInput(f"a copy to {path} was asked for; it exists already: name a new file")
