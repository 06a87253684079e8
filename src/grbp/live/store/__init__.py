"""Where studies are kept: in memory, in a SQLite file or in PostgreSQL."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Final, TypeAlias

from grbp.errors import InvalidInput
from grbp.live.store.base import Store

Where: TypeAlias = Store | Path | str
"""A store, the path of a SQLite file, the address of a PostgreSQL database, or "memory"."""

_ADDRESSES: Final = ("postgresql://", "postgres://")

_OTHER: Final = re.compile(r"\s*(\w[\w+.-]+:/|(\w+=\S*\s+)*(host|dbname)=)")
"""How an address of another kind begins."""


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
    # It may have a password, which nobody should see.
    if not isinstance(where, str | PathLike) or _OTHER.match(str(where)):
        raise InvalidInput(
            "a store was given that is neither a file nor an address such as"
            " postgresql://user@host:5432/database; give one of these"
        )
    from grbp.live.store.sqlite import SqliteStore  # noqa: PLC0415

    return SqliteStore(Path(where), create=create)


@contextmanager
def open_or_make_store(where: Where) -> Iterator[Store]:
    """Open a store, or make it; close it again if what follows fails, unless others have it."""
    store = open_store(where, create=True)
    try:
        yield store
    except BaseException:
        if store is not where:
            store.close()
        raise
