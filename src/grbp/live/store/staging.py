"""Copy a study into a store in which others write meanwhile, a little at a time.

It is copied under a name that nobody sees, in transactions that take a few milliseconds each, and
gets its own name in the last one. A program that dies on the way leaves rows that nobody sees
either; they are removed a day later.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Final, TypeVar

from grbp.errors import GrbpError
from grbp.live.store.base import STAGED, Store
from grbp.live.store.sql import SqlTransaction
from grbp.live.store.transaction import LAST, Transaction, refuse_taken

T = TypeVar("T")

PART: Final = 300
"""The rows that a transaction writes at most."""

_BREATH: Final = 0.004
"""How many seconds others have between two of them, who look every two milliseconds."""

_DAY: Final = 86_400


def adopt_study(store: Store, name: str, source: Store) -> None:
    """Copy a study of another store, all of it or nothing; refuse a name that is taken."""
    refuse_taken(name, store.read(name, lambda tx: tx.study()))
    _remove_leftovers(store)
    staged = f"{STAGED}{time.time():.0f} {secrets.token_hex(6)}"
    try:
        source.read(name, partial(_copy_parts, store, staged))
        store.write(staged, partial(_rename, name))
    except BaseException:
        with suppress(GrbpError):
            _remove(store, staged)
        raise


def _copy_parts(store: Store, staged: str, source: Transaction) -> None:
    """Write all rows of a study under another name, a part at a time."""
    study = source.study()
    if study is None:
        return
    store.write(staged, lambda tx: tx.put_study(study))
    writers: list[tuple[Iterable[Any], Callable[[Transaction, Any], None]]] = [
        (source.all_events(), lambda tx, row: tx.append(row)),
        (source.all_cases(), lambda tx, row: tx.put_case(row)),
        (source.due(LAST), lambda tx, row: tx.put_held(row)),
        (source.all_codes(), lambda tx, row: tx.put_code(row)),
    ]
    for rows, put in writers:
        for part in _split(rows):
            time.sleep(_BREATH)
            store.write(staged, lambda tx, put=put, part=part: _put_all(tx, put, part))  # type: ignore[misc]


def _put_all(tx: Transaction, put: Callable[[Transaction, Any], None], rows: list[Any]) -> None:
    for row in rows:
        put(tx, row)


def _split(rows: Iterable[T]) -> Iterator[list[T]]:
    """Yield rows, some at a time."""
    left = iter(rows)
    while part := list(islice(left, PART)):
        yield part


def _rename(name: str, tx: Transaction) -> None:
    assert isinstance(tx, SqlTransaction)  # noqa: S101 (others need no parts)
    tx.rename(name)


def _remove_leftovers(store: Store) -> None:
    """Remove what programs left behind that died while they imported something."""
    for name in store.names():
        if name.startswith(STAGED):
            with suppress(ValueError):
                since = int(name.removeprefix(STAGED).split()[0])
                if abs(time.time() - since) > _DAY:
                    _remove(store, name)


def _remove(store: Store, name: str) -> None:
    """Remove a log, a part at a time."""

    def remove(tx: Transaction) -> bool:
        assert isinstance(tx, SqlTransaction)  # noqa: S101 (others need no parts)
        return tx.study() is None or tx.remove(PART)

    while not store.write(name, remove):
        time.sleep(_BREATH)
