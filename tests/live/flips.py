"""A finished file in which one bit was flipped: who notices, and whether it can be read at all."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw
from clerk import GOAL, Clerk, Clock, ask

from grbp import GrbpError, Study
from grbp.live.schema import STATUSES, Event
from grbp.live.store.base import LAST
from grbp.live.store.sqlite import SqliteStore

STUDIES: dict[str, Any] = {"a": {"start": "first", "windows": {"finish": 0.05}}, "b": {}}


class Flip(NamedTuple):
    """What one flipped bit came to."""

    outcome: str
    """ "named" by verify, "refused" when the file is opened or read, "nothing" that can be read,
    or "unseen", which must not be."""
    sentences: list[str]
    by_sqlite: bool
    """Whether SQLite's own check notices it."""
    event: int | None
    """The number of the event that it is in, if it is in one."""


def finished(path: Path, requests: int = 40) -> None:
    """Make a file with two studies that were worked on, and close it."""
    for name, options in STUDIES.items():
        with Study.create(path, name, GOAL, clock=Clock(), **options) as study:
            clerk = Clerk(name)
            for _ in range(requests):
                clerk.learn(ask(study, clerk.request()))


def flip_many(folder: Path, flips: int, seed: int) -> Iterator[Flip]:
    """Flip one seeded bit of a finished file at a time, and yield what it comes to."""
    finished(folder / "whole.db")
    whole = (folder / "whole.db").read_bytes()
    events, shown = _events(folder / "whole.db"), _shown(folder / "whole.db")
    draw = random.Random(f"flip-{seed}")  # noqa: S311
    for number in range(flips):
        flipped = bytearray(whole)
        bit = draw.randrange(8 * len(whole))
        flipped[bit // 8] ^= 1 << bit % 8
        path = folder / f"{number}.db"
        path.write_bytes(flipped)
        by_sqlite, now = not _is_sound(path), _events(path)
        # Beside its study, which only says where in the file an event is.
        others = [one for one, other in zip(events, now, strict=False) if one[1:] != other[1:]]
        event = int(others[0][1]) if len(others) == 1 and len(now) == len(events) else None
        outcome, sentences = _outcome(path, shown)
        yield Flip(outcome, sentences, by_sqlite, event)


def _outcome(path: Path, shown: object) -> tuple[str, list[str]]:
    sentences = []
    try:
        for name in STUDIES:
            with Study(path, name) as study:
                sentences += [*filter(None, [study.read_only]), *study.verify().problems]
        if sentences:
            return "named", sentences
        return ("nothing" if _shown(path) == shown else "unseen"), []
    except GrbpError as error:
        return "refused", [*sentences, str(error)]


def _is_sound(path: Path) -> bool:
    """Return what SQLite itself says."""
    bare = apsw.Connection(str(path))
    try:
        return bare.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    except apsw.Error:
        return False
    finally:
        bare.close()


def _events(path: Path) -> list[tuple[Any, ...]]:
    """Return the bytes of all events, as far as SQLite finds them."""
    columns = ", ".join(f'cast("{name}" AS BLOB)' for name in Event._fields[1:])
    bare = apsw.Connection(str(path))
    try:
        found = f"SELECT id >> 40, id % (1 << 40), {columns} FROM events NOT INDEXED"  # noqa: S608
        return bare.execute(found).fetchall()
    except apsw.Error:
        return []
    finally:
        bare.close()


def _shown(path: Path) -> list[object]:
    """Return all that can be read through the studies of a file, by every way to read it."""
    store = SqliteStore(path)
    try:
        shown: list[object] = [store.studies()]
        for name in STUDIES:
            study = Study(store, name)
            log, cases = study.log(0, 10_000), study.cases(0, 10_000)
            shown += [log, cases, study.status()]
            shown += [study.cases(0, 10_000, status) for status in STATUSES]
            shown += [study.log(0, 10_000, case.case) for case in cases]
            keys = [event.key for event in log if event.key]
            shown += store.read(name, lambda tx, keys=keys: [*map(tx.event_of_key, keys)])  # type: ignore[misc]
            shown += store.read(name, lambda tx: tx.due(LAST))
        return shown
    finally:
        store.close()
