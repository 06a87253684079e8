"""Give tasks to the workers of a Dask cluster.

A worker is fit if its source and its numbers are ours: it digests its copy of this package and
plays a few small chunks, the canary. All workers are asked when we connect, and every task asks
again, once in a process, for workers that come later.
"""

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

from grbp.errors import InvalidInput, MissingExtra, how_to_install
from grbp.experiments.provenance import source_digest
from grbp.experiments.sweeps.cells import Cell, Played, canary, digest_of, play
from grbp.experiments.sweeps.chunks import Task
from grbp.experiments.sweeps.workers import WorkersFailed
from grbp.learners.own import OwnLearner

_PATIENCE: Final = 60
"""Seconds to wait for the scheduler and for a first worker."""

_AHEAD: Final = 2
"""Tasks for every thread of the cluster, so that none waits for its next one."""

_LOOK: Final = 5.0
"""Seconds after which the size of the cluster is asked for again."""

_RETRIES: Final = 3


class Fitness(NamedTuple):
    """What a worker must agree on with the driver."""

    source: str
    canary: str
    learners: tuple[tuple[str, str], ...] = ()
    """The names and digests of learners that others wrote."""

    def differs(self, other: "Fitness") -> str:
        """Say in what two differ; nothing if they agree."""
        if self.source != other.source:
            return "its source of grbp differs"
        if self.canary != other.canary:
            return "it plays the same chunks to other numbers"
        ours = dict(self.learners)
        wrong = [name for name, digest in other.learners if ours.get(name, digest) != digest]
        return f"its source of the learner {wrong[0]} differs" if wrong else ""


class Cluster:
    """The workers of a Dask cluster."""

    def __init__(self, address: str) -> None:
        try:
            import distributed  # noqa: PLC0415 (an extra)
        except ImportError as error:
            raise MissingExtra(
                f"a cluster needs Dask, which is not installed; {how_to_install('cluster')}"
            ) from error
        self._dask, self._fitness = distributed, fitness()
        self._threads, self._looked = 1, -_LOOK
        try:
            self._client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InvalidInput(
                f"dask = {address!r} was given; there is no scheduler ({_short(error)}), so give"
                " the address that it printed when it was started, such as tcp://host:8786"
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
            self._ask_all()
        except TimeoutError as error:
            self.close()
            raise WorkersFailed(
                f"the cluster at {address} has no workers; start some and run the same again"
            ) from error
        except BaseException:
            self.close()
            raise

    def _ask_all(self) -> None:
        """Refuse a cluster if one of its workers is not fit."""
        said = self._client.run(fitness, on_error="return")
        for worker, answer in said.items():
            why = (
                self._fitness.differs(Fitness(*answer))
                if isinstance(answer, tuple)
                else f"it failed ({_short(answer)})"
            )
            if why:
                raise WorkersFailed(_unfit(worker, why))

    def prepare(self, cells: Iterable[Cell]) -> None:
        """Note what learners of one's own the workers must agree on."""
        own = {str(cell.learner): cell.learner for cell in cells}
        digests = ((name, one.digest) for name, one in own.items() if isinstance(one, OwnLearner))
        self._fitness = self._fitness._replace(learners=tuple(digests))

    def play(self, tasks: Iterator[Task]) -> Generator[list[Played], None, None]:
        """Play the tasks, with a few ahead of the workers."""
        futures = [self._submitted(task) for task in islice(tasks, self._window())]
        ended = self._dask.as_completed(futures, with_results=True, raise_errors=False)
        del futures  # The scheduler forgets a result that nobody holds.
        for future, answer in ended:
            if future.status != "finished":
                raise WorkersFailed(
                    f"a task failed on the cluster ({_short(future.exception())}); see the logs of"
                    " its workers and run the same again, which goes on from here"
                )
            if isinstance(answer, str):
                raise WorkersFailed(answer)
            yield answer
            for task in islice(tasks, max(0, self._window() - ended.count())):
                ended.add(self._submitted(task))

    def _submitted(self, task: Task) -> Any:
        what = digest_of([(one.cell.key, one.first, one.size) for one in task])
        key = f"grbp-{task[0].cell.group[0]}-{what}"
        return self._client.submit(work, task, self._fitness, key=key, retries=_RETRIES)

    def _window(self) -> int:
        """Return how many tasks to have under way."""
        if time.monotonic() - self._looked > _LOOK:
            self._threads = sum(self._client.nthreads().values()) or 1
            self._looked = time.monotonic()
        return _AHEAD * self._threads

    def close(self) -> None:
        """Leave the cluster; what is under way is cancelled."""
        self._client.close()


def fitness() -> Fitness:
    """Return what this process is: a digest of its source, and one of its numbers."""
    return Fitness(source_digest(), canary())


def work(task: Task, wanted: Fitness) -> list[Played] | str:
    """Play a task on a worker; a sentence where the worker is not fit."""
    own = {str(one.cell.learner): one.cell.learner for one in task}
    learners = tuple(
        (name, one.digest) for name, one in own.items() if isinstance(one, OwnLearner)
    )
    why = fitness()._replace(learners=learners).differs(wanted)
    return _unfit(_address(), why) if why else play(task)


def _address() -> str:
    with suppress(Exception):
        from distributed import get_worker  # noqa: PLC0415 (an extra)

        return str(get_worker().address)
    return "a worker"


def _unfit(worker: str, why: str) -> str:
    return (
        f"the worker {worker} was refused: {why}, so that its results would not fit; install the"
        " driver's version of grbp and its learners there, with the same NumPy and Numba, and run"
        " the same again"
    )


def _short(error: Any) -> str:
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
