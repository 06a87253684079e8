"""A store in one SQLite file, used as SQLite must be where nothing may be lost.

The log is written ahead (WAL) and every commit waits for the disk (``synchronous=FULL``).
Transactions that write lock at once (BEGIN IMMEDIATE) and wait for one another.
"""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final

from grbp._io import (
    check_file_name,
    check_writable,
    make_folder,
    make_private,
    reason,
    sync_folder,
)
from grbp._marks import STUDIES as MARK, lock_free_address, refuse_others
from grbp.errors import (
    CannotWrite,
    Damaged,
    GrbpError,
    InvalidInput,
    NotFound,
    missing_extra,
)
from grbp.live.store.base import Store
from grbp.live.store.mounts import NETWORKED, file_system
from grbp.live.store.sql import (
    STUDIES,
    CachedStudy,
    Dialect,
    SqlTransaction,
    migration,
    newest_version,
    refuse_newer,
    schema,
    unused_name,
)

try:
    import apsw
except ImportError as error:
    raise missing_extra(error, "apsw", "live") from error

DIALECT: Final = Dialect("integer", "text", " strict")

SAFE: Final = (3, 51, 3)
"""The first SQLite that loses nothing when one connection checkpoints while another writes."""

_WANTED: Final = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}

_SENTENCES: Final = {
    apsw.NotADBError: "was given; it is not a SQLite file",
    apsw.ConnectionClosedError: "was closed; open it again",
    apsw.CursorClosedError: "was closed; open it again",
    apsw.FullError: "cannot be written (the disk is full); make room",
    apsw.BusyError: "cannot be written (another process has been writing for a minute); try again",
    apsw.ReadOnlyError: "cannot be written (the file or its folder is read-only); change that",
    apsw.CantOpenError: "cannot be opened; see who may read and write it and its folder",
    apsw.CorruptError: "cannot be read or written (it is damaged); restore a backup",
    apsw.ConstraintError: "cannot be written (this contradicts what is stored)",
}

_NO_STORE: Final = "there is no store {}; `grbp live init` makes one"

_PATIENCE: Final = 60.0
"""How many seconds to wait for another process that writes."""

_PAUSE: Final = 0.002
"""How many seconds to wait at a time; SQLite's own pauses grow, and leave somebody behind."""


class SqliteTransaction(SqlTransaction):
    """The rows of one study in a SQLite file."""

    def __init__(self, name: str, cache: dict[str, CachedStudy], cursor: "apsw.Cursor") -> None:
        super().__init__(name, cache)
        self._cursor = cursor

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


class SqliteStore(Store):
    """A store in a SQLite file, which is made where there is none and `create` says so."""

    def __init__(
        self, path: Path, *, create: bool = False, vfs: str | None = None, synchronous: str = "FULL"
    ) -> None:
        super().__init__()
        check_file_name(path)
        self.where, self._vfs = str(path), vfs
        self._cache: dict[str, CachedStudy] = {}
        self._content = -1
        # Whole, as SQLite takes names such as :memory: otherwise, and the folder may be changed.
        self.address = self._whole = os.path.abspath(path)  # noqa: PTH100
        self._path = path = Path(self._whole)
        if not self._exists():
            if not create:
                raise NotFound(_NO_STORE.format(self.where))
            make_folder(path.parent)
            make_private(path)
        elif path.is_dir():
            raise InvalidInput(f"{self.where} was given; it is a folder: name a file")
        self._check_mark()
        try:
            self._connection, self._file = self._connect(), self._file_identity()
            self._cursor = self._connection.cursor()
            try:
                self._prepare(create, synchronous)
                # SQLite syncs the name of a new log with the first commit of whoever made it. If
                # that one only reads, others would commit to a file without a name after a cut.
                sync_folder(path.parent)
            except BaseException:
                self.close()
                raise
        except (apsw.Error, OSError) as error:
            raise self._translate_error(error) from error

    def _connect(self) -> "apsw.Connection":
        return apsw.Connection(str(self._path), apsw.SQLITE_OPEN_READWRITE, self._vfs)

    def _check_mark(self) -> None:
        """Refuse a file of another kind; whatever else is wrong is said when it is opened."""
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with (
            suppress(apsw.Error, OSError),
            closing(apsw.Connection(lock_free_address(self._path), flags, self._vfs)) as connection,
        ):
            refuse_others(Path(self.where), MARK, connection)

    def _exists(self) -> bool:
        try:
            return self._path.exists()
        except OSError as error:  # a folder that nobody may look into
            raise self._translate_error(error) from error

    def _file_identity(self) -> tuple[int, int] | None:
        """Return which file the path leads to; None if there is none."""
        try:
            found = os.stat(self._whole)  # noqa: PTH116 (for every entry, and twice as quick)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _prepare(self, create: bool, synchronous: str) -> None:
        """Set the connection up, make the tables of a new file, and migrate those of an old one."""
        run = self._connection
        run.set_busy_handler(_wait_for_writer)
        version = self._version()
        if not (version or create):
            raise NotFound(_NO_STORE.format(self.where))
        run.pragma("foreign_keys", True)
        self._write_ahead()
        run.pragma("synchronous", synchronous)
        if version == newest_version():
            return
        run.execute("begin immediate")
        try:
            # Another process may have been quicker.
            version = self._version()
            if version not in (0, newest_version()):
                self.backup(Path(unused_name(f"{self.where}.schema-{version}", os.path.exists)))
            for statement in migration(version, DIALECT) if version else schema(DIALECT):
                run.execute(statement)
            run.pragma("application_id", MARK.number)
            run.pragma("user_version", newest_version())
            run.execute("commit")
        except BaseException:
            with suppress(apsw.Error):
                run.execute("rollback")
            raise

    def _write_ahead(self) -> None:
        """Switch to WAL; SQLite itself does not wait there while others open the file, too."""
        for attempt in count():
            try:
                self._connection.pragma("journal_mode", "wal")
            except apsw.BusyError:
                if not _wait_for_writer(attempt):
                    raise
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
        with self._lock:  # A connection serves one thread at a time.
            read_only = self._connection.readonly("main")
            values = {name: self._connection.pragma(name) for name in _WANTED}
        if read_only:
            found.append(f"{self.where} can only be read; change that, or copy it elsewhere")
        for name, wanted in _WANTED.items():
            value = values[name]
            if value != wanted:
                found.append(
                    f"SQLite says {name}={value} for {self.where}, where {wanted} is needed so that"
                    " nothing is lost"
                )
        return found

    def damage(self) -> list[str]:
        """Return what SQLite itself finds wrong with the file."""
        try:
            # Through a connection of its own: others need not wait.
            with closing(self._connect()) as run:
                found: list[tuple[Any, ...]] = run.execute("pragma integrity_check(20)").fetchall()
        except apsw.CorruptError as error:
            found = [(error,)]
        except apsw.Error as error:
            raise self._translate_error(error) from error
        lines = [line for (text,) in found for line in str(text).splitlines() if "***" not in line]
        return [] if lines == ["ok"] else [f"SQLite says of the file: {line}" for line in lines]

    def logs(self) -> list[str]:
        """Return the names of all logs."""
        with self._lock, self._read_transaction():
            return [name for (name,) in self._connection.execute(STUDIES)]

    def backup(self, path: Path) -> None:
        """Copy everything that is committed to a new file, by SQLite's own backup."""
        self._check_file()
        with new_file(path) as copy:
            try:
                # Through a connection of its own: the other may be writing.
                with (
                    closing(self._connect()) as source,
                    copy._connection.backup("main", source, "main") as work,
                ):
                    work.step()
            except apsw.Error as error:
                blamed = self if isinstance(error, apsw.CorruptError) else copy
                raise blamed._translate_error(error) from error

    def checkpoint(self) -> None:
        """Put everything into the one file, and wait until it is on the disk."""
        try:
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.Error as error:
            raise self._translate_error(error) from error

    def close(self) -> None:
        """Close the connection, when no other thread uses it."""
        with self._lock:
            self._connection.close()

    def _translate_error(self, error: BaseException) -> BaseException:
        """Say an error of SQLite or of the system in a sentence."""
        if isinstance(error, GrbpError):
            return error
        for kind, what in _SENTENCES.items():
            if isinstance(error, kind):
                refusal: type[GrbpError] = InvalidInput if what.startswith("was ") else CannotWrite
                return (Damaged if kind is apsw.CorruptError else refusal)(f"{self.where} {what}")
        if isinstance(error, UnicodeDecodeError):
            return Damaged(f"{self.where} {_SENTENCES[apsw.CorruptError]}")
        if isinstance(error, apsw.Error):
            return CannotWrite(f"{self.where} cannot be read or written ({error})")
        if isinstance(error, OSError):
            return CannotWrite(f"{self.where} cannot be written ({reason(error)})")
        return error

    @contextmanager
    def _read_transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("begin")
            # The first statement that reads also says at which moment.
            self._connection.execute("pragma user_version").get  # noqa: B018
            self._refresh()
            yield
        except (apsw.Error, UnicodeDecodeError) as error:
            raise self._translate_error(error) from error
        finally:
            with suppress(apsw.Error):
                self._connection.execute("rollback")

    def _bind(self, name: str) -> SqliteTransaction:
        return SqliteTransaction(name, self._cache, self._cursor)

    def _begin(self) -> None:
        self._cursor.execute("begin immediate")
        self._refresh()

    def _refresh(self) -> None:
        """Forget what was seen if another connection has written since.

        Refuse a file that was moved, and tables that a newer version has changed.
        """
        self._check_process()
        self._check_file()
        content = self._connection.data_version("main")
        if content != self._content:
            self._cache.clear()
            refuse_newer(self.where, self._connection.execute("pragma user_version").get)
            self._content = content

    def _check_file(self) -> None:
        """Refuse a file that has gone: SQLite would write to it, where nobody finds it."""
        if self._file_identity() != self._file:
            raise CannotWrite(
                f"{self.where} was moved, removed or replaced while it was open, so nothing was"
                " written; put it back, and move it only when nobody has it open"
            )

    def _commit(self) -> None:
        self._cursor.execute("commit")
        self._content = self._connection.data_version("main")

    def _rollback(self) -> None:
        self._cache.clear()
        self._connection.execute("rollback")

    def _savepoint(self) -> None:
        self._connection.execute("savepoint job")

    def _rollback_to_savepoint(self) -> None:
        self._cache.clear()
        self._connection.execute("rollback to job; release job")

    def _release(self) -> None:
        self._connection.execute("release job")


def _wait_for_writer(attempts: int) -> bool:
    """Wait for another process that writes, unless that was done for long enough."""
    time.sleep(_PAUSE)
    return attempts * _PAUSE < _PATIENCE


@contextmanager
def new_file(path: Path) -> Iterator[SqliteStore]:
    """Make a store that gets its name when it is complete; refuse a name that is taken."""
    check_writable(path)
    if path.exists():
        raise InvalidInput(f"a copy to {path} was asked for; it exists already: name a new file")
    draft = path.with_name(f".grbp-{secrets.token_hex(6)}")  # Two copies are not in one's way.
    try:
        copy = SqliteStore(draft, create=True)
        copy.where = str(path)  # as messages show it
        try:
            yield copy
            copy.checkpoint()
        finally:
            copy.close()
        draft.rename(path)
        sync_folder(path.parent)
    finally:
        for rest in ("", "-wal", "-shm"):
            draft.with_name(draft.name + rest).unlink(missing_ok=True)
