"""Give tasks to the workers of a Dask cluster.

A worker is fit if its source and its numbers are the driver's: it digests its copy of this
package and plays a small chunk, the canary. All workers are asked before anything is played, and
every task asks again, for workers that come later.
"""

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

from grbp.errors import InvalidInput, MissingExtra, WorkersFailed, how_to_install
from grbp.experiments.cells import Cell, Played, play, play_canary
from grbp.experiments.chunks import Task
from grbp.experiments.provenance import digest_of, source_digest
from grbp.experiments.sweep_spec import learner_as_json
from grbp.experiments.workers import Workers

_CALL: Final = 10
"""Seconds to wait for the scheduler."""

_PATIENCE: Final = 60
"""Seconds to wait for a first worker, which a batch system may still have to start."""

_AHEAD: Final = 2
"""Tasks for every thread of the cluster, so that none waits for its next one."""

_INTERVAL: Final = 5.0
"""Seconds after which the size of the cluster is asked for again."""

_RETRIES: Final = 3
"""How often a task that failed is tried again."""


class WorkerCheck(NamedTuple):
    """What a worker must agree on with the driver before it plays a kind of cell."""

    source: str
    learner: str
    canary: str

    def differs(self, wanted: "WorkerCheck") -> str:
        """Say in what this worker differs from what is wanted; nothing if it does not."""
        if self.source != wanted.source:
            return "its source of grbp differs"
        if self.learner != wanted.learner:
            return "its source of a learner differs"
        return "its results differ from the driver's" if self.canary != wanted.canary else ""


class Cluster(Workers):
    """The workers of a Dask cluster."""

    def __init__(self, address: str) -> None:
        try:
            import distributed  # noqa: PLC0415 (an extra)
        except ImportError as error:
            raise MissingExtra(
                f"a cluster needs Dask, which is not installed; {how_to_install('cluster')}"
            ) from error
        self._dask: Any = distributed  # which does not say all its types
        self._address = address
        self._threads, self._asked_at = 1, -_INTERVAL
        self._wanted: dict[object, WorkerCheck] = {}
        try:
            self._client: Any = self._dask.Client(address, timeout=_CALL, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InvalidInput(
                f"dask = {address!r} was given; there is no scheduler ({_shorten(error)}), so give"
                " the address that it printed when it was started, such as tcp://host:8786"
            ) from error

    def prepare(self, cells: Iterable[Cell]) -> None:
        """Refuse the cluster if one of its workers is not fit for the cells."""
        new = [cell for cell in cells if _group_key(cell) not in self._wanted]
        self._wanted |= {_group_key(cell): check_self(cell) for cell in new}
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise WorkersFailed(
                f"the cluster at {self._address} has no workers; start some and run the same again"
            ) from error
        wanted = [self._wanted[_group_key(cell)] for cell in new]
        for worker, answer in self._client.run(find_fault, new, wanted, on_error="return").items():
            why = answer if isinstance(answer, str) else f"it failed ({_shorten(answer)})"
            if why:
                raise WorkersFailed(_describe_refusal(worker, why))

    def play(self, tasks: Iterator[Task]) -> Generator[list[Played], None, None]:
        """Play the tasks, with a few ahead of the workers."""
        futures = [self._submit(task) for task in islice(tasks, self._count_ahead())]
        ended = self._dask.as_completed(
            futures, loop=self._client.loop, with_results=True, raise_errors=False
        )
        del futures  # The scheduler forgets a result that nobody holds.
        for future, answer in ended:
            if future.status != "finished":
                raise WorkersFailed(
                    f"a task failed on the cluster ({_shorten(future.exception())}); see the logs"
                    " of its workers and run the same again, which goes on from here"
                )
            if isinstance(answer, str):
                raise WorkersFailed(answer)
            yield answer
            for task in islice(tasks, max(0, self._count_ahead() - ended.count())):
                ended.add(self._submit(task))

    def _submit(self, task: Task) -> Any:
        what = digest_of([(one.cell.key, one.first, one.size) for one in task])
        wanted = self._wanted[_group_key(task[0].cell)]
        key = f"grbp-{task[0].cell.group[0]}-{what}"
        return self._client.submit(check_and_play, task, wanted, key=key, retries=_RETRIES)

    def _count_ahead(self) -> int:
        """Return how many tasks to have under way."""
        if time.monotonic() - self._asked_at > _INTERVAL:
            self._threads = sum(self._client.nthreads().values()) or 1
            self._asked_at = time.monotonic()
        return _AHEAD * self._threads

    def close(self) -> None:
        """Leave the cluster, which drops what is under way."""
        self._client.close()


def _group_key(cell: Cell) -> object:
    return cell.group, cell.engine


def check_self(cell: Cell) -> WorkerCheck:
    """Return what this process is: digests of its source and of what it plays as the cell."""
    return WorkerCheck(source_digest(), digest_of(learner_as_json(cell.learner)), play_canary(cell))


def find_fault(cells: list[Cell], wanted: list[WorkerCheck]) -> str:
    """Say why this worker is not fit for some cells; nothing if it is."""
    whys = (check_self(cell).differs(one) for cell, one in zip(cells, wanted, strict=True))
    return next(filter(None, whys), "")


def check_and_play(task: Task, wanted: WorkerCheck) -> list[Played] | str:
    """Play a task, whose cells are of one kind; return a sentence where a worker is not fit."""
    why = find_fault([task[0].cell], [wanted])
    return _describe_refusal(_find_own_address(), why) if why else play(task)


def _find_own_address() -> str:
    with suppress(Exception):
        import distributed  # noqa: PLC0415 (an extra)

        worker: Any = distributed.get_worker
        return str(worker().address)
    return "of the cluster"


def _describe_refusal(worker: str, why: str) -> str:
    return (
        f"the worker {worker} was refused because {why}; install there the driver's grbp, NumPy,"
        " Numba and learners, and run the same again"
    )


def _shorten(error: Any) -> str:
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
