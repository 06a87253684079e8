"""Cut what is left of a sweep into chunks, bundled or split so that each task takes a moment.

How many replicas fill a task is measured for each learner and goal as the sweep runs. The result
does not depend on it.
"""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from grbp.experiments.cells import Chunk, Played
from grbp.experiments.sweep_file import StoredChunk

Task: TypeAlias = tuple[Chunk, ...]
"""Some chunks that a worker plays at once."""

Group: TypeAlias = tuple[str, int]
"""A learner's name and a goal."""

_PROBE: Final = 16
"""Replicas in a first task, when it is not known how long one takes."""

_GROWTH: Final = 8
"""How many times larger a task may be than all that was measured before it."""

_WHOLE: Final = 2**20
"""Replicas up to which a cell is not split where that is slow, on a GPU."""

_MOST_CHUNKS: Final = 4096
"""Chunks in a task, at most."""


def choose_chunks(stored: Sequence[StoredChunk], replicas: int) -> list[StoredChunk]:
    """Choose chunks that do not overlap and cover as many of the first replicas as possible.

    Files hold overlapping chunks where fewer replicas were asked for later, or parts were cut
    differently. Whatever is chosen, the sums are of the same replicas.
    """
    fitting = sorted((one for one in stored if one.end <= replicas), key=lambda one: one.end)
    ends = [one.end for one in fitting]
    # Weighted interval scheduling: the best choice among the first k chunks, for every k.
    covered, last = [0], [-1]
    for k, one in enumerate(fitting):
        before = bisect_right(ends, one.first, 0, k)
        taken = covered[before] + one.size
        covered.append(max(covered[k], taken))
        last.append(before if taken > covered[k] else -1)
    found, k = [], len(fitting)
    while k:
        if last[k] < 0:
            k -= 1
        else:
            found.append(fitting[k - 1])
            k = last[k]
    return found[::-1]


def find_missing(chosen: Sequence[StoredChunk], wanted: range) -> Iterator[range]:
    """Yield the replicas, of those wanted, that no chosen chunk has."""
    place = wanted.start
    for one in chosen:
        if one.first > place:
            yield range(place, min(one.first, wanted.stop))
        place = max(place, one.end)
        if place >= wanted.stop:
            return
    yield range(place, wanted.stop)


@dataclass
class Rate:
    """How quickly the cells of a group were played in this run."""

    replicas: int = 0
    seconds: float = 0.0
    left: int = 0

    @property
    def each(self) -> float:
        """The seconds that a replica takes."""
        return self.seconds / self.replicas


@dataclass
class Queue:
    """All that is left to be played, cut into tasks as they are asked for."""

    seconds: float
    whole: bool = False
    rates: dict[Group, Rate] = field(default_factory=lambda: defaultdict(Rate))
    _waiting: dict[Group, deque[Chunk]] = field(default_factory=lambda: defaultdict(deque))

    def put(self, chunks: Iterable[Chunk]) -> None:
        """Add what is to be played."""
        for cell, first, size in chunks:
            self.rates[cell.group].left += size
            step = min(size, _WHOLE) if self.whole else size
            for k in range(0, size, step):
                self._waiting[cell.group].append(Chunk(cell, first + k, min(step, size - k)))

    def learn_from(self, played: Iterable[Played]) -> None:
        """Measure how quickly it was played."""
        for one in played:
            rate = self.rates[one.chunk.cell.group]
            rate.replicas += one.chunk.size
            rate.seconds += one.seconds
            rate.left -= one.chunk.size

    @property
    def left(self) -> int:
        """The replicas that have not been played."""
        return sum(rate.left for rate in self.rates.values())

    @property
    def work_left(self) -> float | None:
        """The seconds of work that are left; None until every learner left was measured."""
        rates = [rate for rate in self.rates.values() if rate.left]
        return sum(one.left * one.each for one in rates) if all(r.replicas for r in rates) else None

    def tasks(self) -> Iterator[Task]:
        """Yield tasks, of every group a small one first, then as large as they should be."""
        for group, waiting in self._waiting.items():
            if waiting and not self.rates[group].replicas:
                yield self._next_task(group)
        for group, waiting in self._waiting.items():
            while waiting:
                yield self._next_task(group)

    def _next_task(self, group: Group) -> Task:
        waiting, rate = self._waiting[group], self.rates[group]
        room = self._fitting_replicas(rate)
        task: list[Chunk] = []
        while waiting and room > 0 and len(task) < _MOST_CHUNKS:
            cell, first, size = waiting[0]
            if cell.splitting:
                return (waiting.popleft(),)
            if size > room and not self.whole:
                if task and size <= 2 * self._fitting_replicas(rate):
                    break  # The next task takes it unsplit.
                task.append(Chunk(cell, first, room))
                waiting[0] = Chunk(cell, first + room, size - room)
                break
            task.append(waiting.popleft())
            room -= size
        return tuple(task)

    def _fitting_replicas(self, rate: Rate) -> int:
        """Return the replicas that fill a task."""
        if not rate.replicas:
            return _PROBE
        fitting = self.seconds / max(rate.each, 1e-12)
        return max(1, int(min(fitting, _GROWTH * rate.replicas)))
