"""A store in PostgreSQL, for several machines: the tables of the SQLite store in schema grbp.

A script that writes locks its study's row first and takes the number of its event from it, so that
events are committed in the order of their numbers. Commits wait for the server's disk.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Final, TypeAlias

from grbp.errors import CannotWrite, InvalidInput, NotFound, missing_extra
from grbp.live.store.base import Store
from grbp.live.store.sql import (
    STUDIES,
    STUDY,
    TABLES,
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
    import psycopg
except ImportError as error:
    raise missing_extra(error, "psycopg", "postgres") from error

# The same order of texts as everywhere else, whatever the language of the database.
DIALECT: Final = Dialect("bigint", 'text collate "C"', "")

_SETTINGS: Final = """
    set search_path to grbp;
    set client_encoding to 'UTF8';
    set synchronous_commit to on;
    set lock_timeout to '60s'
"""

# Whoever is cut off from the server while it has locked a study lets go of it after a minute.
_WRITING: Final = """
    begin isolation level read committed read write;
    set local idle_in_transaction_session_timeout to '60s';
    select version from meta
"""

_READING: Final = "begin isolation level repeatable read read only; select version from meta"

_WANTED: Final = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "server_encoding": "UTF8",
    "default_transaction_read_only": "off",
}


_SAVEPOINT: Final[tuple[bytes, Sequence[int | str]]] = (b"savepoint job", ())

Cursor: TypeAlias = psycopg.Cursor[tuple[Any, ...]]


class PostgresTransaction(SqlTransaction):
    """The rows of one study in PostgreSQL."""

    def __init__(self, name: str, store: "PostgresStore") -> None:
        super().__init__(name, store.cache)
        self._store = store

    def _select_study(self) -> list[tuple[Any, ...]]:
        """Return the study's row; a script that writes has it for itself until it is committed."""
        if not self._store.writes:
            return super()._select_study()
        statement = f"{STUDY} for update"
        found = self._query(statement, self._name)
        if not found:
            # There is no row to lock yet: one of several that create it does, the others wait.
            self._query("select pg_advisory_xact_lock(hashtextextended('grbp studies', 0))")
            found = self._query(statement, self._name)
        return found

    def _execute(self, statement: str, values: tuple[int | str, ...]) -> list[tuple[Any, ...]]:
        return self._store.run(_convert_marks(statement), values)


class PostgresStore(Store):
    """A store in a database of PostgreSQL; its tables are made where `create` says so."""

    def __init__(self, dsn: str, *, create: bool = False) -> None:
        super().__init__()
        self._dsn, self.writes, self._committing, self._closed = dsn, False, False, False
        self.cache: dict[str, CachedStudy] = {}
        self._unsent: list[tuple[bytes, Sequence[int | str]]] = []
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        try:
            given = psycopg.conninfo.conninfo_to_dict(dsn)
        except psycopg.Error:
            # What PostgreSQL says shows the address, with its password.
            raise InvalidInput(
                "an address of PostgreSQL was given that cannot be read; it must be like"
                " postgresql://user@host:5432/database"
            ) from None
        self.where, self.address = _show_address(given), dsn
        try:
            self._connect(create)
        except psycopg.Error as error:
            translated = self._translate_error(error)
            self.close()
            raise translated from error
        except BaseException:
            self.close()
            raise

    def logs(self) -> list[str]:
        """Return the names of all logs."""
        with self._lock, self._read_transaction():
            return [name for (name,) in self._require_connection().execute(STUDIES)]

    def close(self) -> None:
        """Close the connection, when no other thread uses it."""
        with self._lock:
            self._closed = True
            self._disconnect()

    def _disconnect(self) -> None:
        # A process that was forked must not say goodbye for the one that is still connected.
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def checks(self) -> list[str]:
        """Return what speaks against writing to this server."""
        with self._lock, self._read_transaction():
            run = self._require_connection()
            if run.execute("select pg_is_in_recovery()").fetchone() == (True,):
                return [f"{self.where} is a standby, which can only be read; name its primary"]
            asked = "select name, setting from pg_settings where name = any(%s)"
            values = dict(run.execute(asked, [list(_WANTED)]).fetchall())
        return [
            f"{self.where} says {name}={values[name]}, where {wanted} is needed so that nothing is"
            " lost"
            for name, wanted in _WANTED.items()
            if values[name] != wanted
        ]

    def _connect(self, create: bool = False) -> None:
        """Connect, make the tables of a new database, and migrate those of an old one."""
        self._disconnect()
        self._connection = run = psycopg.connect(
            self._dsn, autocommit=True, connect_timeout=10, fallback_application_name="grbp"
        )
        run.execute(_SETTINGS)
        version = self._version()
        if not (version or create):
            raise NotFound(f"there is no store in {self.where}; `grbp live init` makes one")
        if version == newest_version():
            return
        with run.transaction():
            # One of several does it, the others wait.
            run.execute("select pg_advisory_xact_lock(hashtextextended('grbp', 0))")
            version = self._version()
            if version not in (0, newest_version()):
                self._copy_tables(version)
            if not version:
                # Whoever may not make a schema can be given one.
                if not run.execute("select 1 from pg_namespace where nspname = 'grbp'").fetchall():
                    run.execute("create schema grbp")
                run.execute("create table meta (version bigint not null)")
                run.execute("insert into meta values (0)")
            for statement in migration(version, DIALECT) if version else schema(DIALECT):
                run.execute(statement.encode())
            run.execute("update meta set version = %s", [newest_version()])

    def _version(self) -> int:
        """Return the schema of the tables, 0 if there are none; refuse a newer one."""
        run = self._require_connection()
        # Functions such as to_regclass may not see what another process has just made.
        there = "select 1 from pg_tables where schemaname = 'grbp' and tablename = 'meta'"
        if not run.execute(there).fetchall():
            return 0
        ((version,),) = run.execute("select version from grbp.meta").fetchall()
        refuse_newer(self.where, version)
        return int(version)

    def _copy_tables(self, version: int) -> None:
        """Copy the tables into a schema of its own, named after their version."""
        run = self._require_connection()
        there = {name for (name,) in run.execute("select nspname from pg_namespace")}
        name = unused_name(f"grbp-schema-{version}", there.__contains__)
        run.execute(f'create schema "{name}"'.encode())
        for table in ("meta", *TABLES):
            run.execute(f'create table "{name}".{table} as table {table}'.encode())

    def _require_connection(self) -> psycopg.Connection[tuple[Any, ...]]:
        """Return the connection that is there."""
        if self._connection is None:
            raise psycopg.OperationalError("the store is closed")
        return self._connection

    def _start_transaction(self, statement: str) -> None:
        """Begin a transaction; if the connection was lost since the last one, connect again."""
        self._check_process()
        if self._closed:
            raise InvalidInput(f"{self.where} was closed; open it again")
        self._committing = False
        self.cache.clear()
        message, cursor = statement.encode(), None
        if self._connection is not None:
            with suppress(psycopg.OperationalError):
                cursor = self._connection.execute(message)
        if cursor is None:
            self._connect()
            cursor = self._require_connection().execute(message)
        while cursor.nextset():
            pass
        # A newer version may have changed the tables since the store was opened.
        for (version,) in cursor:
            refuse_newer(self.where, version)

    def run(self, statement: bytes, values: Sequence[int | str]) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows; one that has none waits until the next one has."""
        if statement.startswith(b"select"):
            return self._send(statement, values).fetchall()
        self._unsent.append((statement, values))
        return []

    def _send(self, statement: bytes, values: Sequence[int | str] = ()) -> Cursor:
        """Run a statement after those that wait, all of them in one message to the server."""
        run = self._require_connection()
        unsent, self._unsent = self._unsent, []
        if not unsent:
            return run.execute(statement, values)
        with run.pipeline():
            for before in unsent:
                run.execute(*before)
            return run.execute(statement, values)

    def _translate_error(self, error: BaseException) -> BaseException:
        """Say an error of PostgreSQL in a sentence."""
        if not isinstance(error, psycopg.Error):
            return error
        lost = self._connection is None or self._connection.closed
        if lost and self._committing:
            return CannotWrite(
                f"the connection to {self.where} was lost while this was being written"
                f" ({_first_line(error)}), so it may be stored or not; give it again with the same"
                " key, and it will be stored once"
            )
        if lost:
            return CannotWrite(
                f"{self.where} cannot be reached ({_first_line(error)}), so nothing was written;"
                " look at the address, or try again later"
            )
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return CannotWrite(
                f"{self.where} cannot be written (another process has been writing for a minute);"
                " try again"
            )
        if isinstance(error, psycopg.IntegrityError):
            return CannotWrite(f"{self.where} cannot be written (this contradicts what is stored)")
        return CannotWrite(f"{self.where} cannot be read or written ({_first_line(error)})")

    @contextmanager
    def _read_transaction(self) -> Iterator[None]:
        try:
            self.writes = False
            self._start_transaction(_READING)
            yield
        except psycopg.Error as error:
            raise self._translate_error(error) from error
        finally:
            with suppress(psycopg.Error):
                self._rollback()

    def _bind(self, name: str) -> PostgresTransaction:
        return PostgresTransaction(name, self)

    def _begin(self) -> None:
        self.writes = True
        self._start_transaction(_WRITING)

    def _commit(self) -> None:
        self._committing = True
        # PostgreSQL answers otherwise where a statement failed and the script went on nevertheless.
        if self._send(b"commit").statusmessage != "COMMIT":
            raise psycopg.DatabaseError("a statement of the transaction failed")

    def _rollback(self) -> None:
        self._unsent.clear()
        self._send(b"rollback")

    def _savepoint(self) -> None:
        self._unsent.append(_SAVEPOINT)

    def _rollback_to_savepoint(self) -> None:
        self.cache.clear()
        self._unsent = [one for one in self._unsent if one is _SAVEPOINT]
        self._send(b"rollback to job")

    def _release(self) -> None:
        self._send(b"release job")


@lru_cache(maxsize=512)
def _convert_marks(statement: str) -> bytes:
    """Return a statement with PostgreSQL's marks for values."""
    return statement.replace("?", "%s").encode()


def _first_line(error: BaseException) -> str:
    """Return what an error says in one line, without the end of a sentence."""
    first = str(error).strip().partition("\n")[0]
    return first.rstrip(".:").replace(". ", "; ")


def _show_address(given: dict[str, Any]) -> str:
    """Return an address without what must stay secret."""
    host, port = given.get("host") or "", given.get("port")
    name = given.get("dbname") or given.get("user") or ""
    return f"postgresql://{host}{f':{port}' if port else ''}/{name}"
