"""Where studies are kept: in memory, in a SQLite file or in PostgreSQL."""

from pathlib import Path
from typing import Final, TypeAlias

from grbp.live.store.base import Store

Where: TypeAlias = Store | Path | str
"""A store, the path of a SQLite file, the address of a PostgreSQL database, or "memory"."""

_ADDRESSES: Final = ("postgresql://", "postgres://")


def open_store(where: Where, *, create: bool = False) -> Store:
    """Open a store: a path is a SQLite file, "memory" is memory, and a DSN is PostgreSQL."""
    if isinstance(where, Store):
        return where
    if str(where) == "memory":
        from grbp.live.store.memory import MemoryStore  # noqa: PLC0415 (each loads what it needs)

        return MemoryStore()
    if str(where).startswith(_ADDRESSES):
        from grbp.live.store.postgres import PostgresStore  # noqa: PLC0415

        return PostgresStore(str(where), create=create)
    from grbp.live.store.sqlite import SqliteStore  # noqa: PLC0415

    return SqliteStore(Path(where), create=create)
