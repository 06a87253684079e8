"""Writers that are killed at seeded moments, and a witness of all that they were told.

Several processes write to two studies in one file. Before a writer puts a request it says so
through a pipe, and when the study has answered it passes the answer on; it is killed in the middle
of anything. Their parent has a clerk for each writer, who knows what was acknowledged; whoever
takes a killed writer's place goes on from there, and first puts again the last request that had an
answer and the one that had none.
"""

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, NoReturn

from clerk import GOAL, Answer, Clerk, Request, ask, repeats

from grbp import Study
from grbp.live.store.sqlite import SqliteStore

STUDIES = ("a", "b")
WRITERS = 3


class Writer:
    """A process that works for a clerk, and the pipe through which it tells what it does."""

    def __init__(self, clerk: Clerk, path: Path, study: str) -> None:
        self.clerk, self.study = clerk, study
        self.unanswered: Request | None = None
        self.answered: tuple[Request, Answer] | None = None
        self._path = path

    def begin(self, cycle: int, synchronous: str) -> None:
        """Start a process that begins with what is not settled yet."""
        self.clerk.sit_down(cycle)
        self._pipe, end = os.pipe()
        self._process = os.fork()
        if not self._process:
            self._write(lambda line: os.write(end, line), synchronous)
        os.close(end)

    def _write(self, say: Callable[[bytes], object], synchronous: str) -> NoReturn:
        """Work until somebody ends it; nothing of the parent may run in this process."""
        try:
            store = SqliteStore(self._path)
            study = Study(store, self.study, who=self.clerk.name)
            store._connection.wal_autocheckpoint(20)  # Some are killed in checkpoints, too.
            if synchronous != "FULL":
                store._connection.pragma("synchronous", synchronous)
            if self.answered is not None and not repeats(study, *self.answered):
                raise AssertionError(f"another answer was given to {self.answered[0]}")  # noqa: TRY301
            again = self.unanswered
            while True:
                request, again = again or self.clerk.request(), None
                say(_line(request))
                answer = ask(study, request)
                say(_line(answer))
                self.clerk.learn(answer)
        except BaseException as error:
            say(_line(f"{type(error).__name__}: {error}"))
        finally:
            os._exit(1)

    def kill(self) -> list[str]:
        """End the process, take note of what it told, and return what went wrong in it."""
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        with os.fdopen(self._pipe, "rb") as pipe:
            told = pipe.read()
        self.acknowledged: list[tuple[str, Answer]] = []
        wrong = []
        for line in told.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            said = json.loads(line)
            if isinstance(said, str):
                wrong.append(f"{self.clerk.name}: {said}")
            elif len(said) == len(Request._fields):
                self.unanswered = Request(*said)
            else:
                assert self.unanswered is not None
                answer = Answer(*said)
                self.clerk.learn(answer)
                self.answered = self.unanswered, answer
                self.acknowledged.append((self.unanswered.arguments["key"], answer))
                self.unanswered = None
        return wrong


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


class Witness:
    """Who knows what was acknowledged, and compares the file with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen = dict.fromkeys(STUDIES, 0)
        self.told: dict[str, dict[str, Answer]] = {name: {} for name in STUDIES}
        self.stored: dict[str, dict[str, tuple[int, str]]] = {name: {} for name in STUDIES}

    def look(self, *, whole: bool) -> Iterator[str]:
        """Say what is wrong with what was written since the last look, or with everything."""
        store = SqliteStore(self.path)
        try:
            for name in STUDIES:
                study = Study(store, name)
                if study.read_only:
                    yield f"{name}: {study.read_only}"
                while page := study.log(self.seen[name], 10_000):
                    self.stored[name].update((one.key, (one.seq, one.hash)) for one in page)
                    self.seen[name] = page[-1].seq
                yield from self._compare(name)
                if whole:
                    yield from (f"{name}: {problem}" for problem in study.verify().problems)
        finally:
            store.close()

    def has(self, name: str, request: Request | None) -> bool:
        """Return whether a request is stored that nobody was told of."""
        return request is not None and request.arguments["key"] in self.stored[name]

    def _compare(self, name: str) -> Iterator[str]:
        """Find each acknowledged event in the log, once: it may be older than its answer."""
        for key, answer in self.told[name].items():
            found = self.stored[name].pop(key, None)
            if found is None:
                yield f"{name}: event {answer.event} (key {key}) was acknowledged and is lost"
            elif found != (answer.event, answer.hash):
                yield f"{name}: event {found[0]} (key {key}) is not what was acknowledged"
        self.told[name].clear()


class Cycle(NamedTuple):
    """What a cycle came to: what is wrong, and what was under way when writers were killed."""

    wrong: list[str]
    killed: int
    unanswered: int
    stored: int
    """The requests without an answer that were stored nevertheless, where that was looked at."""


def watched(path: Path, seed: int) -> Witness:
    """Make a file with the studies, and somebody who remembers what is acknowledged there."""
    with closing(SqliteStore(path, create=True)) as store:
        for name in STUDIES:
            Study.create(store, name, GOAL, seed=seed)
    return Witness(path)


def kill_many(
    folder: Path, cycles: int, seed: int, synchronous: str = "FULL", every: int = 50
) -> Iterator[Cycle]:
    """Kill writers many times, and yield what each time came to.

    In a cycle, one writer is killed while the others go on, or all are at once; then the file is
    compared with what was acknowledged. Every 50 cycles, and at the end, studies are verified.
    """
    draw = random.Random(f"kill-{seed}")  # noqa: S311
    path = folder / "studies.db"
    witness = watched(path, seed)
    writers = [Writer(Clerk(f"{seed}-{n}"), path, STUDIES[n % 2]) for n in range(WRITERS)]
    victims = writers
    for cycle in range(1, cycles + 1):
        for one in victims:
            one.begin(cycle, synchronous)
        time.sleep(draw.expovariate(1 / 0.012))
        whole = cycle % every == 0 or cycle == cycles
        victims = writers if whole or draw.random() < 0.25 else [draw.choice(writers)]
        wrong: list[str] = []
        for one in draw.sample(victims, len(victims)):
            wrong += one.kill()
            witness.told[one.study].update(one.acknowledged)
        unanswered = [one for one in victims if one.unanswered is not None]
        stored = 0
        if victims == writers:  # Nobody has told anything that the witness does not know by now.
            wrong += witness.look(whole=whole)
            stored = sum(witness.has(one.study, one.unanswered) for one in unanswered)
        yield Cycle(wrong, len(victims), len(unanswered), stored)
