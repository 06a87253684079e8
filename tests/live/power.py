"""A disk that remembers every write, so that the power can be cut at any moment of its past.

`Disk` is a file system for SQLite: it passes everything on to the real one, and records what
changes files and what was acknowledged to whoever asked for it. From such a trace, `after_cut`
builds what the disk may hold when the power fails:

- what was written before a file's last sync is there;
- of what was written since, every write is kept, lost or torn, independently of the others and so
  in any order: of a torn write, every sector of 512 bytes is new, old or (rarely) noise;
- a name that was given or removed since the folder's last sync may or may not be in the folder;
- after a sync that failed, what was to be synced stays uncertain: a later sync does not catch up.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import apsw

SECTOR = 512
JOURNALS = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL | apsw.SQLITE_OPEN_WAL


class Write(NamedTuple):
    """Bytes were written into a file."""

    file: int
    offset: int
    data: bytes


class Truncate(NamedTuple):
    """A file was cut to a size."""

    file: int
    size: int


class Sync(NamedTuple):
    """A file was synced, and with a new journal its folder; file 0 is the folder alone."""

    file: int
    folder: bool


class FailedSync(NamedTuple):
    """A file was to be synced, and the disk refused."""

    file: int


class Create(NamedTuple):
    """A file was made; files have numbers, since a name can be used again."""

    file: int
    name: str


class Delete(NamedTuple):
    """A name was removed, with or without a sync of the folder."""

    name: str
    folder: bool


class Acknowledged(NamedTuple):
    """Somebody was told that something is stored."""

    what: Any


Operation = Write | Truncate | Sync | FailedSync | Create | Delete | Acknowledged


class Disk(apsw.VFS):
    """SQLite's default file system while the context lasts; a sync is recorded and costs no time.

    Its past begins with what an earlier cut left, if that is given. `refuse` is asked before
    whatever changes a file; it may raise what SQLite shall see.
    """

    def __init__(
        self,
        remains: "Remains | None" = None,
        refuse: Callable[[Operation], None] | None = None,
    ) -> None:
        self.trace: list[Operation] = []
        self.refuse: Callable[[Operation], None] | None = None
        self._numbers: dict[str, int] = {}
        self._files = 0
        if remains is not None:
            for name, content in remains.files.items():
                self.trace.append(Write(self.number(name, True), 0, content))
                self.trace.append(Sync(self._files, True))
            self.trace += map(Acknowledged, remains.acknowledged)
        self.begin = len(self.trace)
        self.refuse = refuse
        self._below = apsw.vfs_names()[0]
        self._noise = random.Random(0)  # noqa: S311
        super().__init__(f"disk-{id(self)}", self._below, makedefault=True)
        apsw.randomness(0)  # SQLite asks for a new seed, so that its draws are always the same.

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.unregister()

    def acknowledge(self, what: object) -> None:
        """Note that somebody was told that something is stored."""
        self.trace.append(Acknowledged(what))

    def perform(self, operation: Operation, action: Callable[[], None]) -> None:
        """Do and record one operation, unless it is to be refused."""
        if self.refuse is not None:
            try:
                self.refuse(operation)
            except BaseException:
                if isinstance(operation, Sync):
                    self.trace.append(FailedSync(operation.file))
                raise
        action()
        self.trace.append(operation)

    def sync_folder(self, _: Path) -> None:
        """Note that the folder was synced, which a store does by itself."""
        self.trace.append(Sync(0, True))

    def xRandomness(self, numbytes: int) -> bytes:  # noqa: N802
        return self._noise.randbytes(numbytes)

    def xOpen(  # noqa: N802
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> "File":
        return File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        name = Path(filename).name
        self.perform(Delete(name, syncdir), lambda: super(Disk, self).xDelete(filename, syncdir))
        self._numbers.pop(name, None)

    def number(self, name: str, new: bool) -> int:
        """Return the number of the file that has a name now."""
        if new or name not in self._numbers:
            self._files += 1
            self.perform(Create(self._files, name), lambda: None)
            self._numbers[name] = self._files
        return self._numbers[name]


class File(apsw.VFSFile):
    """A file of such a disk."""

    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        new = path is not None and not Path(path).exists()
        self.disk = disk
        self.folder_too = new and bool(flags[0] & JOURNALS)
        super().__init__(disk._below, name, flags)
        # A file without a name is a temporary one, which no power cut concerns.
        self.file = None if path is None else disk.number(Path(path).name, new)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        if self.file is None:
            super().xWrite(data, offset)
            return
        operation = Write(self.file, offset, bytes(data))
        self.disk.perform(operation, lambda: super(File, self).xWrite(data, offset))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        if self.file is None:
            super().xTruncate(newsize)
            return
        operation = Truncate(self.file, newsize)
        self.disk.perform(operation, lambda: super(File, self).xTruncate(newsize))

    def xSync(self, flags: int) -> None:  # noqa: ARG002, N802
        if self.file is not None:
            self.disk.perform(Sync(self.file, self.folder_too), lambda: None)
            self.folder_too = False


class Remains(NamedTuple):
    """What a power cut left: files by name, and what had been acknowledged before it."""

    files: dict[str, bytes]
    acknowledged: list[Any]

    def restore(self, folder: Path) -> None:
        """Write the files into an empty folder."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


class _Fate(Enum):
    """What becomes of a write: open until a sync, which keeps it, or fails and never will."""

    OPEN = 0
    KEPT = 1
    FORGOTTEN = 2


class _Machine:
    """The disk at one moment of a trace: what is certain, and what is on its way."""

    def __init__(self) -> None:
        self.stored: dict[int, bytearray] = {0: bytearray()}
        self.waiting: dict[int, list[tuple[Write | Truncate, _Fate]]] = {0: []}
        self.names: dict[str, int] = {}
        self.changes: dict[str, list[int | None]] = {}
        self.acknowledged: list[Any] = []

    def step(self, operation: Operation) -> None:
        """Go on by one operation."""
        match operation:
            case Write() | Truncate():
                self.waiting[operation.file].append((operation, _Fate.OPEN))
            case Sync(file, folder):
                self.settle(file, _Fate.KEPT)
                if folder:
                    self.sync_folder()
            case FailedSync(file):
                self.settle(file, _Fate.FORGOTTEN)
            case Create(file, name):
                self.stored[file], self.waiting[file] = bytearray(), []
                self.changes.setdefault(name, []).append(file)
            case Delete(name, folder):
                self.changes.setdefault(name, []).append(None)
                if folder:
                    self.sync_folder()
            case Acknowledged(what):
                self.acknowledged.append(what)

    def settle(self, file: int, fate: "_Fate") -> None:
        """Decide what becomes of the writes to a file that are open."""
        writes = [(one, fate if was is _Fate.OPEN else was) for one, was in self.waiting[file]]
        if all(was is _Fate.KEPT for _, was in writes):
            for one, _ in writes:
                _apply(self.stored[file], one)
            writes.clear()
        self.waiting[file] = writes

    def sync_folder(self) -> None:
        """Make the names in the folder certain."""
        for name, changes in self.changes.items():
            self._name(self.names, name, changes[-1])
        self.changes.clear()

    def cut(self, draw: random.Random) -> Remains:
        """Return what is left when the power fails now."""
        names = dict(self.names)
        for name, changes in self.changes.items():
            happened = draw.randint(0, len(changes))
            if happened:
                self._name(names, name, changes[happened - 1])
        files = {name: self._content(file, draw) for name, file in names.items()}
        return Remains(files, list(self.acknowledged))

    def _content(self, file: int, draw: random.Random) -> bytes:
        content = bytearray(self.stored[file])
        # How much reaches a disk by itself differs: little right after a write, much a while later.
        kept, torn = draw.choice(((0.0, 0.0), (0.5, 0.25), (0.9, 0.1), (0.1, 0.1), (0.3, 0.7)))
        for one, fate in self.waiting[file]:
            chance = draw.random()
            if chance < kept or fate is _Fate.KEPT:
                _apply(content, one)
            elif chance < kept + torn:
                for part in _torn(one, draw):
                    _apply(content, part)
        return bytes(content)

    @staticmethod
    def _name(names: dict[str, int], name: str, file: int | None) -> None:
        if file is None:
            names.pop(name, None)
        else:
            names[name] = file


def _apply(content: bytearray, operation: Write | Truncate) -> None:
    if isinstance(operation, Truncate):
        del content[operation.size :]
        return
    _, offset, data = operation
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


def _torn(operation: Write | Truncate, draw: random.Random) -> Iterator[Write]:
    """Yield the sectors of a write that reached the disk; a truncation is never torn."""
    if isinstance(operation, Truncate):
        return
    file, offset, data = operation
    cuts = [0, *range(SECTOR - offset % SECTOR, len(data), SECTOR), len(data)]
    for begin, end in pairwise(cuts):
        chance = draw.random()
        if chance < 0.5:
            yield Write(file, offset + begin, data[begin:end])
        elif chance < 0.55:
            yield Write(file, offset + begin, draw.randbytes(end - begin))


def after_cut(
    trace: Sequence[Operation], cuts: int, seed: int, begin: int = 0
) -> Iterator[tuple[int, Remains]]:
    """Yield a moment and what is left when the power is cut then, for many seeded moments.

    A moment is the number of operations that were done; cuts fall evenly from `begin` to the end,
    and moments at which nothing is on its way are as frequent as they are in the trace.
    """
    draw = random.Random(seed)  # noqa: S311
    moments = iter(sorted(draw.randint(begin, len(trace)) for _ in range(cuts)))
    moment = next(moments, None)
    machine = _Machine()
    for done in range(len(trace) + 1):
        while moment == done:
            yield done, machine.cut(draw)
            moment = next(moments, None)
        if done < len(trace):
            machine.step(trace[done])
