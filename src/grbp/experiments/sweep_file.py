"""Keep a sweep in one SQLite file that the driver alone writes, chunk by chunk.

The file is locked as long as a driver has it open. It has a rollback journal and not a write-ahead
log, which needs memory shared between processes and so fails on many a network file system, where
batch systems keep their files; a task of a second leaves time enough. Every task is committed when
it comes, and synchronously, so that it is kept through a kill and a power cut.
"""

import json
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from grbp._io import check_writable, make_folder
from grbp._marks import SWEEP, lock_free_address, refuse_others
from grbp.errors import CannotWrite, Conflict, InvalidInput
from grbp.experiments.cells import Cell, Played
from grbp.experiments.game import Tally, read_tally
from grbp.experiments.provenance import source_digest

_FORMAT: Final = 1

_LONG: Final = 2**14
"""Letters from which on a text is compressed: a curve's products and replicas."""

_TABLES: Final = (
    "CREATE TABLE header (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE chunks (cell TEXT NOT NULL, first INTEGER NOT NULL, size INTEGER NOT NULL,"
    " sums TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (cell, first, size))"
    " WITHOUT ROWID",
)


class StoredChunk(NamedTuple):
    """A chunk of a cell as the file keeps it."""

    first: int
    size: int
    sums: str | bytes

    @property
    def end(self) -> int:
        """The replica after the last one."""
        return self.first + self.size

    @property
    def tally(self) -> Any:
        """What its replicas add up to."""
        text = self.sums if isinstance(self.sums, str) else zlib.decompress(self.sums)
        return read_tally(json.loads(text))


class SweepFile:
    """An open file of a sweep, which no other process can open meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        make_folder(self.path.parent)
        check_writable(self.path)
        _check_mark(self.path)
        self._database = _connect(self.path)
        self._chunks: defaultdict[str, list[StoredChunk]] = defaultdict(list)
        try:
            with self._errors_in_words():
                self._open()
                self._load()
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> "SweepFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        """Lock the file; make its tables, or check that they are ours and by this source."""
        pragmas = ["locking_mode = EXCLUSIVE", "journal_mode = DELETE", "synchronous = FULL"]
        if not self.path.stat().st_size:
            pragmas.insert(0, "auto_vacuum = FULL")  # so that it shrinks when chunks are joined
        for pragma in pragmas:
            self._database.execute(f"PRAGMA {pragma}").fetchall()
        self._database.execute("BEGIN EXCLUSIVE")
        refuse_others(self.path, SWEEP, self._database)
        (tables,) = self._row("SELECT count(*) FROM sqlite_master")
        if not tables:
            self._make()
        self._check()
        self._database.commit()

    def _make(self) -> None:
        for statement in (
            f"PRAGMA application_id = {SWEEP.number}",
            f"PRAGMA user_version = {_FORMAT}",
            *_TABLES,
        ):
            self._database.execute(statement)
        self.put("source", source_digest())

    def _check(self) -> None:
        (version,) = self._row("PRAGMA user_version")
        if version != _FORMAT:
            raise InvalidInput(
                f"{self.path} is written in format {version}; this version reads format {_FORMAT}"
            )
        (sound,) = self._row("PRAGMA quick_check(1)")
        if sound != "ok":
            raise _damage_error(self.path)
        if self.get("source") != source_digest():
            raise InvalidInput(
                f"{self.path} was made by other source code than this, so that its numbers may"
                " differ; go on with the version that made it, or move it away to begin anew"
            )

    def get(self, name: str) -> str | None:
        """Return an entry of the header."""
        with self._errors_in_words():
            found = self._database.execute("SELECT value FROM header WHERE name = ?", (name,))
            row = found.fetchone()
        return None if row is None else str(row[0])

    def put(self, name: str, value: str) -> None:
        """Write an entry of the header, unless it is there."""
        if self.get(name) != value:
            with self._errors_in_words():
                self._database.execute("INSERT OR REPLACE INTO header VALUES (?, ?)", (name, value))
                self._database.commit()

    def add(self, played: Iterable[Played]) -> None:
        """Keep chunks that were played, all of them or, if this process is killed, none."""
        self.add_stored(
            (one.chunk.cell.key, _store(one.chunk.first, one.chunk.size, one.tally))
            for one in played
        )

    def join(self, cell: Cell, chunks: Sequence[StoredChunk]) -> None:
        """Put one chunk into the place of several that follow each other."""
        size = chunks[-1].end - chunks[0].first
        whole = _store(chunks[0].first, size, Tally.join(one.tally for one in chunks))
        self._chunks[cell.key] = [one for one in self.chunks(cell) if one not in chunks]
        self.add_stored([(cell.key, whole)], [(cell.key, one.first, one.size) for one in chunks])

    def add_stored(
        self,
        rows: Iterable[tuple[str, StoredChunk]],
        instead: Iterable[tuple[str, int, int]] = (),
    ) -> None:
        """Keep chunks as they stand in a file, instead of others; one that is there stays."""
        new = list(rows)
        with self._errors_in_words():
            self._database.executemany(
                "DELETE FROM chunks WHERE cell = ? AND first = ? AND size = ?", instead
            )
            self._database.executemany(
                "INSERT OR IGNORE INTO chunks VALUES (?, ?, ?, ?, ?)",
                ((key, *chunk, _checksum(key, chunk)) for key, chunk in new),
            )
            self._database.commit()
        for key, chunk in new:
            self._chunks[key].append(chunk)

    def chunks(self, cell: Cell) -> list[StoredChunk]:
        """Return the chunks of a cell."""
        return self._chunks.get(cell.key, [])

    def _load(self) -> None:
        """Read all chunks, once; refuse the file if one of them was changed."""
        rows = self._database.execute("SELECT cell, first, size, sums, checksum FROM chunks")
        for key, *row, checksum in rows:
            chunk = StoredChunk(*row)
            if _checksum(key, chunk) != checksum:
                raise _damage_error(self.path)
            self._chunks[key].append(chunk)

    def close(self) -> None:
        """Let others open the file."""
        self._database.close()

    def _row(self, query: str) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self._database.execute(query).fetchone()
        return row

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        """Turn what SQLite raises into a sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise Conflict(
                    f"another sweep is writing to {self.path}; wait until it ends, or name another"
                    " folder"
                ) from error
            raise CannotWrite(
                f"{self.path} cannot be written ({error}); name a folder on a disk with room"
            ) from error
        except sqlite3.DatabaseError as error:
            raise _damage_error(self.path) from error


def _check_mark(path: Path) -> None:
    """Refuse a file of another kind; whatever else is wrong shows when it is opened to write."""
    with (
        suppress(sqlite3.Error, OSError),
        closing(sqlite3.connect(lock_free_address(path), uri=True)) as connection,
    ):
        refuse_others(path, SWEEP, connection)


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path, timeout=0.0)
    except sqlite3.Error as error:
        raise CannotWrite(f"{path} cannot be opened ({error}); name another folder") from error


def _store(first: int, size: int, tally: Any) -> StoredChunk:
    """Write what replicas add up to as JSON, which is compressed if it is long."""
    text = json.dumps(tally.as_json(), separators=(",", ":"))
    return StoredChunk(first, size, text if len(text) < _LONG else zlib.compress(text.encode()))


def _checksum(key: str, chunk: StoredChunk) -> int:
    """Return a sum over a row by which a changed one is known."""
    first, size, sums = chunk
    where = f"{key} {first} {size} ".encode()
    return zlib.crc32(where + (sums.encode() if isinstance(sums, str) else sums))


def _damage_error(path: Path) -> InvalidInput:
    return InvalidInput(
        f"{path} is damaged, or is not a file of a sweep; move it away to begin anew"
    )
