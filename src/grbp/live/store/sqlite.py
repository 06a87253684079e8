"""A store in one SQLite file, used as SQLite must be where nothing may be lost.

The log is written ahead (WAL) and every commit waits for the disk (``synchronous=FULL``).
Transactions that write lock at once (BEGIN IMMEDIATE) and wait for one another.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from grbp._io import check_file_name, make_folder, reason
from grbp.errors import CannotWrite, InvalidInput, MissingExtra, how_to_install
from grbp.live.store.base import Store
from grbp.live.store.sql import SCHEMA_VERSION, STUDIES, SqlTransaction, schema

try:
    import apsw
except ImportError as error:
    raise MissingExtra(f"apsw is not installed; {how_to_install('live')} installs it") from error

APPLICATION_ID: Final = 0x67726270
"""What marks a file as ours: the letters grbp."""

_PATIENCE: Final = 60_000
"""How many milliseconds to wait for another process that writes."""


class SqliteTransaction(SqlTransaction):
    """The rows of one study in a SQLite file."""

    def __init__(self, name: str, connection: "apsw.Connection") -> None:
        super().__init__(name)
        self._connection = connection

    def _rows(self, statement: str, *values: int | str) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()

    def _run(self, statement: str, *values: int | str) -> None:
        self._connection.execute(statement, values)


class SqliteStore(Store):
    """A store in a SQLite file, which is made where there is none and `create` says so."""

    def __init__(
        self, path: Path, *, create: bool = False, vfs: str | None = None, synchronous: str = "FULL"
    ) -> None:
        super().__init__()
        self.where = str(path)
        check_file_name(path)
        if not path.exists():
            if not create:
                raise InvalidInput(f"there is no store {path}; `grbp live init` makes one")
            make_folder(path.parent)
            _make_private(path)
        try:
            self._connection = apsw.Connection(str(path), vfs=vfs)
            self._prepare(synchronous)
        except apsw.Error as error:
            raise self._said(error) from error

    def _prepare(self, synchronous: str) -> None:
        """Set the connection up, and make the tables of a new file."""
        run = self._connection
        run.set_busy_timeout(_PATIENCE)
        run.pragma("foreign_keys", True)
        run.pragma("journal_mode", "wal")
        run.pragma("synchronous", synchronous)
        run.execute("begin immediate")
        try:
            self._make_or_check()
            run.execute("commit")
        except BaseException:
            with suppress(apsw.Error):
                run.execute("rollback")
            raise

    def _make_or_check(self) -> None:
        """Make the tables of a new file; refuse a file of others, or of a newer version."""
        run = self._connection
        mark, version = run.pragma("application_id"), run.pragma("user_version")
        if mark == 0 and version == 0 and not run.execute("select 1 from sqlite_schema").get:
            for statement in schema("integer", " strict, without rowid"):
                run.execute(statement)
            run.pragma("application_id", APPLICATION_ID)
            run.pragma("user_version", SCHEMA_VERSION)
        elif mark != APPLICATION_ID:
            raise InvalidInput(f"{self.where} was given; it is a SQLite file of another program")
        elif version > SCHEMA_VERSION:
            raise InvalidInput(
                f"{self.where} has schema {version}; this version of grbp reads up to"
                f" {SCHEMA_VERSION}: install a newer one"
            )

    def studies(self) -> list[str]:
        """Return the names of all studies."""
        with self._lock, self._reading():
            return [name for (name,) in self._connection.execute(STUDIES)]

    def backup(self, path: Path) -> None:
        """Copy everything to a new file by SQLite's own backup."""
        with new_file(path) as copy, self._lock:
            try:
                with copy._connection.backup("main", self._connection, "main") as work:
                    work.step()
            except apsw.Error as error:
                raise self._said(error) from error

    def fold(self) -> None:
        """Put everything into the one file, and wait until it is on the disk."""
        self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _said(self, error: BaseException) -> BaseException:
        """Say an error of SQLite or of the system in a sentence."""
        if isinstance(error, apsw.NotADBError):
            return InvalidInput(f"{self.where} was given; it is not a SQLite file")
        if isinstance(error, apsw.FullError):
            return CannotWrite(f"{self.where} cannot be written (the disk is full); make room")
        if isinstance(error, apsw.BusyError):
            return CannotWrite(
                f"{self.where} cannot be written (another process has been writing for a minute);"
                " try again"
            )
        if isinstance(error, apsw.Error):
            return CannotWrite(f"{self.where} cannot be read or written ({error})")
        if isinstance(error, OSError):
            return CannotWrite(f"{self.where} cannot be written ({reason(error)})")
        return error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            self._connection.execute("begin")
            yield
        except apsw.Error as error:
            raise self._said(error) from error
        finally:
            with suppress(apsw.Error):
                self._connection.execute("rollback")

    def _bound(self, name: str) -> SqliteTransaction:
        return SqliteTransaction(name, self._connection)

    def _begin(self) -> None:
        self._connection.execute("begin immediate")

    def _commit(self) -> None:
        self._connection.execute("commit")

    def _rollback(self) -> None:
        self._connection.execute("rollback")

    def _savepoint(self) -> None:
        self._connection.execute("savepoint job")

    def _rollback_to_savepoint(self) -> None:
        self._connection.execute("rollback to job; release job")

    def _release(self) -> None:
        self._connection.execute("release job")


def _make_private(path: Path) -> None:
    """Make an empty file that nobody but its owner can read."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise CannotWrite(
            f"{path} cannot be written ({reason(error)}); name a file in a folder that can be"
            " written to"
        ) from error


@contextmanager
def new_file(path: Path) -> Iterator[SqliteStore]:
    """Make a store that gets its name when it is complete; refuse a name that is taken."""
    check_file_name(path)
    if path.exists():
        raise InvalidInput(f"a copy to {path} was asked for; that file is there already")
    draft = path.with_name(f".{path.name}.part")
    draft.unlink(missing_ok=True)
    try:
        copy = SqliteStore(draft, create=True)
        try:
            yield copy
            copy.fold()
        finally:
            copy.close()
        draft.rename(path)
        _sync_folder(path.parent)
    finally:
        for rest in ("", "-wal", "-shm"):
            draft.with_name(draft.name + rest).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Wait until a new name in a folder is on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
