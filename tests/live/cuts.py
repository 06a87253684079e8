"""Studies on a disk whose power fails: the work that is recorded, and the look at what is left."""

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from clerk import GOAL, Answer, Clerk, Clock, Request, ask, together
from power import Disk, Operation, Remains, Write, after_cut

from grbp import GrbpError, Study
from grbp.live.store.sqlite import SqliteStore
from grbp.live.store.witness import Witness

FILE = "studies.db"
FOLDER = "grbp.live.store.sqlite.sync_folder"
STUDIES: dict[str, Any] = {
    "a": {},
    "b": {"learner": "getbe-sm", "start": "first", "windows": {"finish": 0.05}},
}
COMMITS = 48
"""The commits of a trace, beside those that make and open the store."""

PER_TRACE = 250
"""The cuts into one trace."""


def work(folder: Path, seed: int, synchronous: str = "FULL") -> list[Operation]:
    """Let clerks work on two studies in one file, and return what became of the disk.

    Two connections write in turns; some commits are grouped; checkpoints are frequent in most
    traces; half way through, everything is closed and opened again.
    """
    draw = random.Random(f"work-{seed}")  # noqa: S311
    clock = Clock()
    clerks = [(name, Clerk(f"{name}{n}").sit_down(seed)) for name in STUDIES for n in range(2)]
    with Disk() as disk, patch(FOLDER, disk.sync_folder), witnessed(disk, synchronous):
        for half in range(2):
            stores = [SqliteStore(folder / FILE, create=True) for _ in range(2)]
            if half == 0:
                for name, options in STUDIES.items():
                    made = Study.create(stores[0], name, GOAL, clock=clock, **options).status()
                    disk.acknowledge((name, made.events, made.head))
            studies = [
                {name: Study(store, name, clock=clock) for name in STUDIES} for store in stores
            ]
            for store in stores:
                open_readers(store, len(clerks))
                store._connection.wal_autocheckpoint(draw.choice((5, 12, 40, 1000)))
                if synchronous != "FULL":  # Only now, as such a study can only be read.
                    store._connection.pragma("synchronous", synchronous)
            for _ in range(COMMITS // 2):
                chosen = draw.randrange(2)
                at_once = [one for one in clerks if draw.random() < 0.3] or clerks[:1]
                calls = [partial(ask, studies[chosen][name], c.request()) for name, c in at_once]
                for (name, clerk), answer in zip(
                    at_once, together(stores[chosen], calls), strict=True
                ):
                    assert isinstance(answer, Answer), answer
                    clerk.learn(answer)
                    disk.acknowledge((name, answer.event, answer.hash))
            for store in stores:
                store.close()
    return disk.trace


@contextmanager
def witnessed(disk: Disk, synchronous: str = "FULL") -> Iterator[None]:
    """Record what a store notes beside itself, which nobody syncs; not where commits are not."""
    note = Witness.note

    def record(self: Witness, number: int, line: bytes) -> None:
        note(self, number, line)
        file, place = Path(self._path), 64 * number
        noted = file.read_bytes()[place : place + 64]
        disk.trace.append(Write(disk.number(file.name, False), place, noted))

    with patch.object(Witness, "note", record if synchronous == "FULL" else note):
        yield


def open_readers(store: SqliteStore, count: int) -> None:
    """Open a connection for each who may read at one time: each draws some of SQLite's noise."""
    readers = [store._take_reader() for _ in range(count)]
    for reader in readers:
        reader.begin(writes=False)
        store._give_back(reader)


def damage(remains: Remains, folder: Path, disk: Disk) -> str:
    """Open what is left and go on with it; say what is wrong, an empty text if nothing is."""
    remains.restore(folder)
    acknowledged = {(name, seq): hash_ for name, seq, hash_ in remains.acknowledged}
    try:
        store = SqliteStore(folder / FILE, create=True)
    except GrbpError as error:
        return f"damaged: {error}"
    try:
        for name in store.studies():
            study = Study(store, name)
            if problems := [*filter(None, [study.read_only]), *study.verify().problems]:
                return f"damaged: {problems[0]}"
            for event in study.log(0, 10_000):
                if acknowledged.pop((name, event.seq), event.hash) != event.hash:
                    return f"damaged: event {event.seq} of {name} is another"
            answer = ask(study, Request("open_case", {"state": 1}))
            disk.acknowledge((name, answer.event, answer.hash))
    except GrbpError as error:
        return f"damaged: {error}"
    finally:
        store.close()
    return f"lost: {len(acknowledged)} acknowledged" if acknowledged else ""


def cut_many(cuts: int, seed: int, synchronous: str = "FULL") -> Iterator[str]:
    """Yield what is wrong after each of many cuts, an empty text where nothing is.

    Of five cuts, four fall into a recorded trace, and one into what followed the last of them:
    recovery, the next commits and the end of the program.
    """
    for number, begin in enumerate(range(0, cuts, PER_TRACE)):
        own = 1_000 * seed + number
        with tempfile.TemporaryDirectory() as folder:
            trace = work(Path(folder), own, synchronous)
        here = min(PER_TRACE, cuts - begin)
        first = here - here // 5
        for place, (_, remains) in enumerate(after_cut(trace, first, own)):
            found, disk = _opened(remains, synchronous)
            yield found
            if place % 4 == 3:
                # What is lost already would be missed again: then the first trace is cut once more.
                past, start = (trace, 0) if found else (disk.trace, disk.begin)
                for _, again in after_cut(past, 1, place, start):
                    yield _opened(again, synchronous)[0]


def _opened(remains: Remains, synchronous: str) -> tuple[str, Disk]:
    with (
        tempfile.TemporaryDirectory() as folder,
        Disk(remains) as disk,
        patch(FOLDER, disk.sync_folder),
        witnessed(disk, synchronous),
    ):
        return damage(remains, Path(folder), disk), disk
