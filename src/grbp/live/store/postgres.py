"""A store in PostgreSQL, for several machines: the tables of the SQLite store in schema grbp.

A script that writes locks its study's row first and takes the number of its event from it, so that
events are committed in the order of their numbers. Commits wait for the server's disk.
"""

import time
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from grbp.errors import CannotWrite, InvalidInput, NotFound, missing_extra
from grbp.live.store.base import UNKNOWN, Connection
from grbp.live.store.sql import (
    STUDY,
    Dialect,
    SqlConnection,
    migration,
    newest_version,
    refuse_newer,
    schema,
    unused_name,
)
from grbp.live.store.sql_store import SqlStore

try:
    import psycopg
except ImportError as error:
    raise missing_extra(error, "psycopg", "postgres") from error

# The same order of texts as everywhere else, whatever the language of the database.
DIALECT: Final = Dialect("bigint", 'text collate "C"', "")

_WANTED: Final = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "server_encoding": "UTF8",
    "default_transaction_read_only": "off",
}
"""What a server must say of its settings."""

_SETTINGS: Final = """
    set search_path to grbp;
    set client_encoding to 'UTF8';
    set synchronous_commit to on;
    set lock_timeout to {};
    set statement_timeout to {}
"""

# Whoever is cut off from the server while it has locked a study lets go of it, too.
_WRITING: Final = """
    begin isolation level read committed read write;
    set local idle_in_transaction_session_timeout to {};
    select version from meta
"""

_READING: Final = b"begin isolation level repeatable read read only; select version from meta"

_NETWORK: Final = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""When a connection that is silent is looked after, unless the address says otherwise."""

_LATER: Final = 2.0
"""How many seconds after the server should have given up, or the store was closed, we do."""

_SAVEPOINT: Final[tuple[bytes, Sequence[int | str]]] = (b"savepoint job", ())

Cursor: TypeAlias = psycopg.Cursor[tuple[Any, ...]]


class Overdue(psycopg.OperationalError):
    """The server did not answer, and the connection was given up."""


class PatientConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that is given up when an answer is overdue: a server that hangs says nothing."""

    store: "PostgresStore | None" = None

    def wait(self, gen: Generator[Any, Any, Any], *arguments: Any, **options: Any) -> Any:
        """Wait for an answer, but not for ever."""
        return super().wait(self._watch(gen), *arguments, **options)

    def _watch(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Pass everything on; look at the clock whenever psycopg has waited for a while."""
        began = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready:
                    self._check(time.monotonic() - began)
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value

    def _check(self, waited: float) -> None:
        """Give the connection up if it was waited for too long."""
        store = self.store
        if store is not None and waited > _LATER + (0.0 if store.hurries else store.patience):
            self.pgconn.finish()
            raise Overdue(f"it has not answered for {waited:.0f} seconds")


class PostgresConnection(SqlConnection):
    """A connection of a store, for one thread at a time; one that was lost is opened again."""

    def __init__(self, store: "PostgresStore") -> None:
        super().__init__()
        self._store, self._writes, self.committing = store, False, False
        self._unsent: list[tuple[bytes, Sequence[int | str]]] = []
        self._connection: PatientConnection | None = None
        self._patience, self._writing = 0.0, b""

    @property
    def connection(self) -> PatientConnection:
        """The connection that is there."""
        if self._connection is None:
            raise psycopg.OperationalError("the store is closed")
        return self._connection

    @property
    def lost(self) -> bool:
        """Whether there is no connection any more."""
        return self._connection is None or bool(self._connection.closed)

    def connect(self, *, create: bool = False) -> None:
        """Connect anew; make the tables of a new database, and migrate those of an old one."""
        self.close()
        store, patience = self._store, self._store.patience
        given = psycopg.conninfo.conninfo_to_dict(store.dsn)
        network = _NETWORK | {"tcp_user_timeout": int(1000 * (patience + _LATER))}
        limits: dict[str, Any] = {k: v for k, v in network.items() if k not in given}
        self._connection = PatientConnection.connect(
            store.dsn,
            autocommit=True,
            connect_timeout=max(2, min(10, int(patience))),
            fallback_application_name="grbp",
            **limits,
        )
        run = self._connection
        run.store = store
        self._set_up()
        version = self._version()
        if not (version or create):
            raise NotFound(f"there is no store in {store.where}; `grbp live init` makes one")
        if version != newest_version():
            run.store = None  # To copy and to change tables may take long.
            try:
                self._make_tables()
            finally:
                run.store = store

    def _version(self) -> int:
        """Return the schema of the tables, 0 if there are none; refuse a newer one."""
        run = self.connection
        # Functions such as to_regclass may not see what another process has just made.
        there = "select 1 from pg_tables where schemaname = 'grbp' and tablename = 'meta'"
        if not run.execute(there).fetchall():
            return 0
        ((version,),) = run.execute("select version from grbp.meta").fetchall()
        refuse_newer(self._store.where, version)
        return int(version)

    def _make_tables(self) -> None:
        """Make the tables of a new database, or migrate those of an old one."""
        run = self.connection
        with run.transaction():
            run.execute("set local statement_timeout to 0")
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

    def _copy_tables(self, version: int) -> None:
        """Copy the tables into a schema of its own, named after their version."""
        run = self.connection
        there = {name for (name,) in run.execute("select nspname from pg_namespace")}
        name = unused_name(f"grbp-schema-{version}", there.__contains__)
        run.execute(f'create schema "{name}"'.encode())
        stored = "select tablename from pg_tables where schemaname = 'grbp'"
        for (table,) in run.execute(stored).fetchall():
            run.execute(f'create table "{name}".{table} as table {table}'.encode())

    def _set_up(self) -> None:
        """Tell the server how long to wait, and what every connection needs."""
        self._patience = self._store.patience
        limit = max(1, int(1000 * self._patience))
        # The lock that it waits for comes first, then that a statement takes too long.
        self.connection.execute(_SETTINGS.format(limit, limit + 1000).encode())
        self._writing = _WRITING.format(limit).encode()

    def begin(self, *, writes: bool) -> None:
        """Begin a transaction; if the connection was lost since the last one, connect again."""
        self._writes, self.committing = writes, False
        self.cache.clear()
        self._unsent.clear()
        try:
            if self._patience != self._store.patience:
                self._set_up()
            cursor = self.connection.execute(self._writing if writes else _READING)
        except Overdue:
            raise  # It would not answer a new one either.
        except psycopg.OperationalError:
            self.connect()
            cursor = self.connection.execute(self._writing if writes else _READING)
        while cursor.nextset():
            pass
        # A newer version may have changed the tables since the store was opened.
        for (version,) in cursor:
            refuse_newer(self._store.where, version)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def find_study(self, name: str) -> list[tuple[Any, ...]]:
        """Return a study's row; a script that writes has it for itself until it is committed."""
        if not self._writes:
            return super().find_study(name)
        statement = f"{STUDY} for update"
        found = self.run(statement, (name,))
        if not found:
            # There is no row to lock yet: one of several that create it does, the others wait.
            self.run("select pg_advisory_xact_lock(hashtextextended('grbp studies', 0))", ())
            found = self.run(statement, (name,))
        return found

    def run(self, statement: str, values: tuple[int | str, ...]) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows; one that has none waits until the next one has."""
        marked = _convert_marks(statement)
        if marked.startswith(b"select"):
            return self._send(marked, values).fetchall()
        self._unsent.append((marked, values))
        return []

    def _send(self, statement: bytes, values: Sequence[int | str] = ()) -> Cursor:
        """Run a statement after those that wait, all of them in one message to the server."""
        run = self.connection
        unsent, self._unsent = self._unsent, []
        if not unsent:
            return run.execute(statement, values)
        with run.pipeline():
            for before in unsent:
                run.execute(*before)
            return run.execute(statement, values)

    def commit(self) -> None:
        """Wait until everything is on the server's disk."""
        self.committing = True
        # PostgreSQL answers otherwise where a statement failed and the script went on nevertheless.
        if self._send(b"commit").statusmessage != "COMMIT":
            raise psycopg.DatabaseError("a statement of the transaction failed")

    def rollback(self) -> None:
        """Undo what was written."""
        self._unsent.clear()
        self._send(b"rollback")

    def savepoint(self) -> None:
        """Remember this place in the transaction."""
        self._unsent.append(_SAVEPOINT)

    def rollback_to_savepoint(self) -> None:
        """Undo what was written since."""
        self.cache.clear()
        self._unsent = [one for one in self._unsent if one is _SAVEPOINT]
        self._send(b"rollback to job")

    def release(self) -> None:
        """Keep what was written since."""
        self._send(b"release job")


class PostgresStore(SqlStore):
    """A store in a database of PostgreSQL; its tables are made where `create` says so."""

    def __init__(self, dsn: str, *, create: bool = False) -> None:
        super().__init__()
        self.dsn, self.hurries = dsn, False
        self._writer: PostgresConnection = PostgresConnection(self)
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
            with self._translated():
                self._writer.connect(create=create)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections; give up what the server does not answer within seconds."""
        super().close()
        self.hurries = True

    def _make_reader(self) -> PostgresConnection:
        return PostgresConnection(self)

    def checks(self) -> list[str]:
        """Return what speaks against writing to this server."""

        def look(tx: Any) -> tuple[bool, dict[str, str]]:
            marks = ", ".join("?" * len(_WANTED))
            asked = f"select name, setting from pg_settings where name in ({marks})"  # noqa: S608
            ((standby,),) = tx._query("select pg_is_in_recovery()::int")
            return bool(standby), dict(tx._query(asked, *_WANTED))

        standby, values = self.read("", look)
        if standby:
            return [f"{self.where} is a standby, which can only be read; name its primary"]
        return [
            f"{self.where} says {name}={values[name]}, where {wanted} is needed so that nothing is"
            " lost"
            for name, wanted in _WANTED.items()
            if values[name] != wanted
        ]

    def _translate_error(
        self, error: BaseException, connection: Connection | None = None
    ) -> BaseException:
        """Say an error of PostgreSQL in a sentence."""
        session = connection if isinstance(connection, PostgresConnection) else self._writer
        lost = session.lost and isinstance(error, psycopg.Error)
        if lost and session.committing:
            return CannotWrite(
                f"the connection to {self.where} was lost while this was being written"
                f" ({_first_line(error)}), {UNKNOWN}"
            )
        if lost and self._closed:
            return InvalidInput(f"{self.where} was closed; open it again")
        if lost:
            return CannotWrite(
                f"{self.where} cannot be reached ({_first_line(error)}), so nothing was written;"
                " look at the address, or try again later"
            )
        waited = f"{self.patience:g} seconds"
        for kind, what in {
            psycopg.errors.LockNotAvailable: "cannot be written (another process has been writing"
            f" for {waited}); try again",
            psycopg.errors.QueryCanceled: f"has not answered for {waited}, so nothing was written;"
            " try again later",
            psycopg.IntegrityError: "cannot be written (this contradicts what is stored)",
            psycopg.Error: f"cannot be read or written ({_first_line(error)})",
        }.items():
            if isinstance(error, kind):
                return CannotWrite(f"{self.where} {what}")
        return error


def _first_line(error: BaseException) -> str:
    """Return what an error says in one line, without the end of a sentence."""
    first = str(error).strip().partition("\n")[0]
    return first.rstrip(".:").replace(". ", "; ")


def _show_address(given: dict[str, Any]) -> str:
    """Return an address without what must stay secret."""
    host, port = given.get("host") or "", given.get("port")
    name = given.get("dbname") or given.get("user") or ""
    return f"postgresql://{host}{f':{port}' if port else ''}/{name}"


@lru_cache(maxsize=512)
def _convert_marks(statement: str) -> bytes:
    """Return a statement with PostgreSQL's marks for values."""
    return statement.replace("?", "%s").encode()
