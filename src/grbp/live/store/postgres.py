"""A store in PostgreSQL, for several machines: the tables of the SQLite store in schema grbp.

A script that writes locks its study's row first and takes the number of its event from it, so that
events are committed in the order of their numbers. Commits wait for the server's disk.
"""

from typing import Any, Final

from grbp.errors import CannotWrite, InvalidInput, NotFound, missing_extra
from grbp.live.store.base import UNKNOWN, Connection
from grbp.live.store.postgres_connection import Session
from grbp.live.store.sql import (
    Dialect,
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


class PostgresStore(SqlStore):
    """A store in a database of PostgreSQL; its tables are made where `create` says so."""

    def __init__(self, dsn: str, *, create: bool = False) -> None:
        super().__init__()
        self.dsn, self.hurries = dsn, False
        self._writer: Session = Session(self)
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
                self.prepare(self._writer, create=create)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections; give up what the server does not answer within seconds."""
        super().close()
        self.hurries = True

    def _make_reader(self) -> Session:
        return Session(self)

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

    def prepare(self, session: Session, *, create: bool = False) -> None:
        """Connect, make the tables of a new database, and migrate those of an old one."""
        run = session.connect()
        version = self._version(session)
        if not (version or create):
            raise NotFound(f"there is no store in {self.where}; `grbp live init` makes one")
        if version != newest_version():
            run.store = None  # To copy and to change tables may take long.
            try:
                self._make_tables(session)
            finally:
                run.store = self

    def _make_tables(self, session: Session) -> None:
        """Make the tables of a new database, or migrate those of an old one."""
        run = session.connection
        with run.transaction():
            run.execute("set local statement_timeout to 0")
            # One of several does it, the others wait.
            run.execute("select pg_advisory_xact_lock(hashtextextended('grbp', 0))")
            version = self._version(session)
            if version not in (0, newest_version()):
                _copy_tables(session, version)
            if not version:
                # Whoever may not make a schema can be given one.
                if not run.execute("select 1 from pg_namespace where nspname = 'grbp'").fetchall():
                    run.execute("create schema grbp")
                run.execute("create table meta (version bigint not null)")
                run.execute("insert into meta values (0)")
            for statement in migration(version, DIALECT) if version else schema(DIALECT):
                run.execute(statement.encode())
            run.execute("update meta set version = %s", [newest_version()])

    def _version(self, session: Session) -> int:
        """Return the schema of the tables, 0 if there are none; refuse a newer one."""
        run = session.connection
        # Functions such as to_regclass may not see what another process has just made.
        there = "select 1 from pg_tables where schemaname = 'grbp' and tablename = 'meta'"
        if not run.execute(there).fetchall():
            return 0
        ((version,),) = run.execute("select version from grbp.meta").fetchall()
        refuse_newer(self.where, version)
        return int(version)

    def _translate_error(
        self, error: BaseException, connection: Connection | None = None
    ) -> BaseException:
        """Say an error of PostgreSQL in a sentence."""
        session = connection if isinstance(connection, Session) else self._writer
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


def _copy_tables(session: Session, version: int) -> None:
    """Copy the tables into a schema of its own, named after their version."""
    run = session.connection
    there = {name for (name,) in run.execute("select nspname from pg_namespace")}
    name = unused_name(f"grbp-schema-{version}", there.__contains__)
    run.execute(f'create schema "{name}"'.encode())
    stored = "select tablename from pg_tables where schemaname = 'grbp'"
    for (table,) in run.execute(stored).fetchall():
        run.execute(f'create table "{name}".{table} as table {table}'.encode())


def _first_line(error: BaseException) -> str:
    """Return what an error says in one line, without the end of a sentence."""
    first = str(error).strip().partition("\n")[0]
    return first.rstrip(".:").replace(". ", "; ")


def _show_address(given: dict[str, Any]) -> str:
    """Return an address without what must stay secret."""
    host, port = given.get("host") or "", given.get("port")
    name = given.get("dbname") or given.get("user") or ""
    return f"postgresql://{host}{f':{port}' if port else ''}/{name}"
