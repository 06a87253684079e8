"""A store in a database: who reads has a connection of their own, and a study is copied in parts.

It is copied under a name that nobody sees, in transactions that take a few milliseconds each, and
gets its own name in the last one. A program that dies on the way leaves rows that nobody sees
either; they are removed a day later.
"""

import os
import secrets
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from grbp.errors import GrbpError
from grbp.live.store.base import STAGED, Store
from grbp.live.store.sql import SqlConnection, SqlTransaction
from grbp.live.store.transaction import Transaction, check_storable, put_all, refuse_taken

T = TypeVar("T")

_KEPT: Final = 8
"""The readers that are kept for whoever reads next."""

PART: Final = 300
"""The rows that a transaction writes at most."""

_BREATH: Final = 0.004
"""How many seconds others have between two of them, who look every two milliseconds."""

_DAY: Final = 86_400


class SqlStore(Store):
    """A store in a database; a subclass says which."""

    def __init__(self) -> None:
        super().__init__()
        self._readers: list[SqlConnection] = []

    def read(self, name: str, script: Callable[[SqlTransaction], T]) -> T:
        """Run a script that reads a study, as it is at one moment; it waits for no other thread."""
        check_storable([name])
        reader = self._take_reader()
        try:
            with self._translated(reader):
                reader.begin(writes=False)
                return script(reader.bind(name))
        finally:
            self._give_back(reader)

    def _take_reader(self) -> SqlConnection:
        """Return a reader that nobody uses, or a new one."""
        self._check_open()
        try:
            return self._readers.pop()
        except IndexError:
            return self._make_reader()

    @abstractmethod
    def _make_reader(self) -> SqlConnection:
        """Open a connection that reads."""

    def _give_back(self, reader: SqlConnection) -> None:
        """Keep a reader for whoever reads next, unless there are enough, or it is broken."""
        works = False
        with suppress(Exception):
            reader.rollback()
            works = True
        if works and len(self._readers) < _KEPT:
            self._readers.append(reader)
        else:
            reader.close()
        if self._closed:
            self._close_readers()

    def _close_readers(self) -> None:
        """Close the readers that nobody uses; the others are closed when they are given back."""
        if os.getpid() != self._process:  # They are another's, who still uses them.
            return
        with suppress(IndexError):
            while True:
                self._readers.pop().close()

    def close(self) -> None:
        """Close the connections; wait for whoever writes, but not for long."""
        self._closed = True
        self._close_readers()
        super().close()

    @contextmanager
    def _translated(self, connection: SqlConnection | None = None) -> Iterator[None]:
        """Say an error of the database in a sentence."""
        try:
            yield
        except Exception as error:
            said = self._translate_error(error, connection)
            if said is error:
                raise
            raise said from error

    def names(self) -> list[str]:
        """Return the names of all logs."""
        return self.read("", SqlTransaction.names)

    def adopt(self, name: str, source: Store) -> None:
        """Copy a study of another store, a little at a time."""
        refuse_taken(name, self.read(name, SqlTransaction.study))
        _remove_leftovers(self)
        staged = f"{STAGED}{time.time():.0f} {secrets.token_hex(6)}"
        try:
            source.read(name, partial(_copy_parts, self, staged))
            self.write(staged, partial(_rename, name))
        except BaseException:
            with suppress(GrbpError):
                _remove(self, staged)
            raise


def _copy_parts(store: Store, staged: str, source: Transaction) -> None:
    """Write all rows of a study under another name, a part at a time."""
    puts = source.puts()
    while part := list(islice(puts, PART)):
        store.write(staged, partial(put_all, part))
        time.sleep(_BREATH)


def _rename(name: str, tx: Transaction) -> None:
    assert isinstance(tx, SqlTransaction)  # noqa: S101 (as all of this store)
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
        assert isinstance(tx, SqlTransaction)  # noqa: S101 (as above)
        return tx.study() is None or tx.remove(PART)

    while not store.write(name, remove):
        time.sleep(_BREATH)
