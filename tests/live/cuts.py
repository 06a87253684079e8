"""Studies on a disk whose power fails: the work that is recorded, and the look at what is left."""

import random
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from clerk import GOAL, Answer, Clerk, Clock, Request, ask
from power import Disk, Operation, Remains, after_cut

from grbp import GrbpError, Study
from grbp.live.store.sqlite import SqliteStore

FILE = "studies.db"
FOLDER = "grbp.live.store.sqlite._sync_folder"
STUDIES: dict[str, Any] = {
    "a": {},
    "b": {"learner": "getbe-sm", "start": "first", "windows": {"finish": 0.05}},
}
VERBS = 48
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
    clerks = {name: (Clerk(f"{name}1"), Clerk(f"{name}2")) for name in STUDIES}
    for pair in clerks.values():
        for one in pair:
            one.sit_down(seed)
    with Disk() as disk, patch(FOLDER, disk.sync_folder):
        for half in range(2):
            stores = [
                SqliteStore(folder / FILE, create=True, synchronous=synchronous) for _ in range(2)
            ]
            for store in stores:
                store._connection.wal_autocheckpoint(draw.choice((5, 12, 40, 1000)))
            if half == 0:
                for name, options in STUDIES.items():
                    made = Study.create(stores[0], name, GOAL, clock=clock, **options).status()
                    disk.acknowledge((name, made.events, made.head))
            studies = {
                name: [Study(store, name, clock=clock) for store in stores] for name in STUDIES
            }
            for _ in range(VERBS // 2):
                chosen = draw.randrange(2)
                group = [
                    (studies[name][chosen], clerk)
                    for name, pair in clerks.items()
                    for clerk in pair
                    if draw.random() < 0.3
                ] or [(studies["a"][chosen], clerks["a"][0])]
                for (study, clerk), answer in zip(
                    group, _together(stores[chosen], group), strict=True
                ):
                    clerk.learn(answer)
                    disk.acknowledge((study.name, answer.event, answer.hash))
            for store in stores:
                store.close()
    return disk.trace


def _together(store: SqliteStore, group: Sequence[tuple[Study, Clerk]]) -> list[Answer]:
    """Put requests so that one commit serves them all, in an order that is always the same."""
    if len(group) == 1:
        return [ask(group[0][0], group[0][1].request())]
    requests = [(study, clerk.request()) for study, clerk in group]
    answers: dict[int, Answer] = {}

    def put(place: int, study: Study, request: Request) -> None:
        answers[place] = ask(study, request)

    threads = []
    with store._lock:
        for place, (study, request) in enumerate(requests):
            threads.append(threading.Thread(target=put, args=(place, study, request)))
            threads[-1].start()
            while len(store._waiting) <= place:
                pass
    for thread in threads:
        thread.join()
    return [answers[place] for place in range(len(group))]


def damage(remains: Remains, folder: Path, disk: Disk) -> str:
    """Open what is left and go on with it; say what is wrong, an empty text if nothing is."""
    remains.restore(folder)
    acknowledged = {(name, seq): hash_ for name, seq, hash_ in remains.acknowledged}
    if not acknowledged and not (folder / FILE).exists():
        return ""
    try:
        store = SqliteStore(folder / FILE)
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
            study.open_case(1)
            status = study.status()
            disk.acknowledge((name, status.events, status.head))
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
            found, disk = _opened(remains)
            yield found
            if place % 4 == 3 and not found:
                for _, again in after_cut(disk.trace, 1, place, disk.begin):
                    yield _opened(again)[0]


def _opened(remains: Remains) -> tuple[str, Disk]:
    with (
        tempfile.TemporaryDirectory() as folder,
        Disk(remains) as disk,
        patch(FOLDER, disk.sync_folder),
    ):
        return damage(remains, Path(folder), disk), disk
