"""Times, taken in turn: whatever disturbs the machine then disturbs everyone alike."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

Key = TypeVar("Key")
Task = Callable[[], object]


@dataclass(frozen=True)
class Effort:
    """How much is measured: little, to see that all works, or enough to quote."""

    quick: bool

    @property
    def passes(self) -> int:
        """How often every task is timed."""
        return 2 if self.quick else 5

    def choose(self, little: int, much: int) -> int:
        """The first number for a quick run, else the second."""
        return little if self.quick else much


def say(text: str) -> None:
    """Nothing; tells the person who waits what is being done."""
    sys.stderr.write(f"  {text}\n")
    sys.stderr.flush()


def seconds(task: Task) -> float:
    """How long a task takes."""
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def in_turn(tasks: Mapping[Key, Task], passes: int) -> dict[Key, float]:
    """The shortest time of every task, all of them run once in every pass."""
    best = dict.fromkeys(tasks, float("inf"))
    for k in range(passes):
        say(f"pass {k + 1} of {passes}")
        for key, task in tasks.items():
            best[key] = min(best[key], seconds(task))
    return best


def enough(task: Callable[[int], object], least: float, most: int = 2**20) -> int:
    """A number of replicas, two or more, that keeps a task busy for some seconds or longer."""
    replicas = 2
    task(replicas)
    while replicas < most and seconds(partial(task, replicas)) < least:
        replicas *= 2
    return replicas
