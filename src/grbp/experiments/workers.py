"""Give tasks to workers: this process, its threads, or processes of this machine.

Every kind of workers has one method, `play`, which takes tasks as there is room for them and
yields what was played, in any order.
"""

import logging
import os
import pickle
import signal
import sys
import threading
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from typing import Final

from grbp.errors import InvalidInput, WorkersFailed
from grbp.experiments.cells import Cell, Device, Played, play, prepare
from grbp.experiments.chunks import Task
from grbp.worlds.validation import check_whole

_DEATHS: Final = 4
"""How often workers may die while a task is under way before all is given up."""

_AHEAD: Final = 2
"""Tasks for every worker, so that none waits for its next one."""


class Workers:
    """Some workers, until they are closed."""

    told: Callable[[int], None] = staticmethod(lambda _: None)
    """What is called with how many replicas are done of a chunk that is never cut."""

    def prepare(self, cells: Iterable[Cell]) -> None:
        """Get ready for cells, of which there is one of every kind."""

    def play(self, tasks: Iterator[Task]) -> Generator[list[Played], None, None]:
        """Play tasks as there is room for them; yield what was played, in any order."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop."""


class Serial(Workers):
    """The process itself, one task after the other, on several threads where there are some."""

    def __init__(self, device: Device = "cpu", threads: int = 1) -> None:
        self._device, self._threads = device, threads

    def play(self, tasks: Iterator[Task]) -> Generator[list[Played], None, None]:
        """Play the tasks."""
        for task in tasks:
            yield play(task, self._device, self._threads, self.told)


class Pool(Workers):
    """Threads of this process, or processes of this machine.

    When a worker process is killed, its pool is broken as a whole: another one is made, and gets
    the tasks that were under way.
    """

    def __init__(self, make: Callable[[], Executor], width: int) -> None:
        self._make, self._width = make, width
        self._executor: Executor | None = None
        self._deaths: Counter[tuple[object, ...]] = Counter()

    def prepare(self, cells: Iterable[Cell]) -> None:
        """Compile once, here, what the workers then share or load."""
        for cell in cells:
            prepare(cell)

    def play(self, tasks: Iterator[Task]) -> Generator[list[Played], None, None]:
        """Play the tasks, with a few ahead of the workers."""
        running: dict[Future[list[Played]], tuple[Task, Executor]] = {}
        again: deque[Task] = deque()
        try:
            while True:
                while len(running) < _AHEAD * self._width:
                    task = again.popleft() if again else next(tasks, None)
                    if task is None:
                        break
                    executor = self._get_executor()
                    running[executor.submit(play, task)] = (task, executor)
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task, executor = running.pop(future)
                    try:
                        played = future.result()
                    except BrokenExecutor as error:
                        self._count_death(task, executor, error)
                        again.append(task)
                        continue
                    yield played
        finally:
            if running:
                self._kill()

    def _get_executor(self) -> Executor:
        """Return the pool, made anew if it is broken."""
        if self._executor is None or getattr(self._executor, "_broken", False):
            self._executor = self._make()
        return self._executor

    def _count_death(self, task: Task, executor: Executor, error: BaseException) -> None:
        """Note that workers died over a task; give up where that happens again and again."""
        if executor is self._executor:
            self._executor = None
        chunk = task[0]
        what = (chunk.cell.key, *chunk[1:])
        self._deaths[what] += 1
        if self._deaths[what] >= _DEATHS:
            name, goal = chunk.cell.group
            raise WorkersFailed(
                f"worker processes died {_DEATHS} times over the same chunk ({name} at goal"
                f" {goal}); see whether memory runs out or whether a script that calls this lacks"
                " 'if __name__ == \"__main__\":', and run the same again, which goes on from here"
            ) from error

    def _kill(self) -> None:
        """End workers in the midst of their tasks; threads end them first."""
        executor, self._executor = self._executor, None
        for process in list((getattr(executor, "_processes", None) or {}).values()):
            process.terminate()
        if executor is not None:
            executor.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Stop the workers, which have nothing to do any more."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)


class Processes(Pool):
    """Processes of this machine."""

    def __init__(self, count: int) -> None:
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 (slow to import)
        from multiprocessing import get_context  # noqa: PLC0415 (slow to import)

        spawn = get_context("spawn")
        super().__init__(lambda: ProcessPoolExecutor(count, spawn, _start_worker), count)

    def prepare(self, cells: Iterable[Cell]) -> None:
        """Compile once, here, what the workers then load; refuse what they cannot be given."""
        listed = list(cells)
        for cell in listed:
            if not _can_be_sent(cell):
                raise InvalidInput(
                    f"the learner {cell.learner} was given; other processes cannot read it from"
                    " this session, so put it into a module or leave processes out, which plays on"
                    " threads"
                )
        super().prepare(listed)


def _can_be_sent(cell: Cell) -> bool:
    """Return whether other processes can read a cell: its learner stands in a module, or a file."""
    module = getattr(cell.game.learner.decide, "__module__", "")
    if module == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
        return False
    try:
        pickle.dumps(cell)
    except Exception:  # What a learner is made of may refuse in any way.
        return False
    return True


class Threads(Pool):
    """Threads of this process; the compiled loops run side by side."""

    def __init__(self, count: int) -> None:
        super().__init__(lambda: ThreadPoolExecutor(count), count)


def hire_workers(
    processes: int | None = None,
    threads: int | None = None,
    dask: str | None = None,
    device: Device = "cpu",
    whole: bool = False,
) -> Workers:
    """Return workers: of a cluster, processes of this machine, or threads of this process.

    What is played as a whole, one task after the other, has all threads for itself.
    """
    for name, count in (("processes", processes), ("threads", threads)):
        if count is not None:
            check_whole(name, count, 1, 1024)
    if dask is not None:
        if processes is not None or device != "cpu":
            other = "device" if processes is None else "processes"
            raise InvalidInput(
                f"dask and {other} were given; a cluster plays alone, on its processors"
            )
        from grbp.experiments.cluster import Cluster  # noqa: PLC0415 (only a few need it)

        return Cluster(dask)
    if device == "cuda":
        return Serial(device)
    if processes is not None and processes > 1:
        return Processes(processes)
    count = 1 if processes == 1 else threads or os.cpu_count() or 1
    return Serial(threads=count) if whole or count == 1 else Threads(count)


def _start_worker() -> None:
    """Begin as a worker: leave interruptions and notes to the driver, and end when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    logging.getLogger("grbp").setLevel(logging.ERROR)
    threading.Thread(target=_end_with_driver, daemon=True).start()


def _end_with_driver() -> None:
    from multiprocessing import parent_process  # noqa: PLC0415 (slow to import)

    driver = parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)
