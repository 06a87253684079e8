"""A connection to PostgreSQL that waits for no answer for ever, and what was read through it."""

import time
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from grbp.errors import missing_extra
from grbp.live.store.sql import STUDY, SqlConnection, refuse_newer

if TYPE_CHECKING:
    from grbp.live.store.postgres import PostgresStore

try:
    import psycopg
except ImportError as error:
    raise missing_extra(error, "psycopg", "postgres") from error

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


class Connection(psycopg.Connection[tuple[Any, ...]]):
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


class Session(SqlConnection):
    """A connection of a store, for one thread at a time; one that was lost is opened again."""

    def __init__(self, store: "PostgresStore") -> None:
        super().__init__()
        self._store, self._writes, self.committing = store, False, False
        self._unsent: list[tuple[bytes, Sequence[int | str]]] = []
        self._connection: Connection | None = None
        self._patience, self._writing = 0.0, b""

    @property
    def connection(self) -> Connection:
        """The connection that is there."""
        if self._connection is None:
            raise psycopg.OperationalError("the store is closed")
        return self._connection

    @property
    def lost(self) -> bool:
        """Whether there is no connection any more."""
        return self._connection is None or bool(self._connection.closed)

    def connect(self) -> Connection:
        """Connect anew."""
        self.close()
        store, patience = self._store, self._store.patience
        given = psycopg.conninfo.conninfo_to_dict(store.dsn)
        network = _NETWORK | {"tcp_user_timeout": int(1000 * (patience + _LATER))}
        limits: dict[str, Any] = {k: v for k, v in network.items() if k not in given}
        self._connection = Connection.connect(
            store.dsn,
            autocommit=True,
            connect_timeout=max(2, min(10, int(patience))),
            fallback_application_name="grbp",
            **limits,
        )
        self._connection.store = store
        self._set_up()
        return self._connection

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
            self._store.prepare(self)
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


@lru_cache(maxsize=512)
def _convert_marks(statement: str) -> bytes:
    """Return a statement with PostgreSQL's marks for values."""
    return statement.replace("?", "%s").encode()
