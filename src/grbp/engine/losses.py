"""Play many replicas on any truth, and return what each has lost."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, Final

import numpy as np

from grbp.engine.decisions import (
    Report,
    _stream_keys,
    compile_or_interpret,
    map_on_threads,
    zeros,
)
from grbp.engine.walk import DONE, Loop
from grbp.engine.world_walk import (
    LossRecorder,
    ask_by_state,
    ask_for_threshold,
    best_values,
    make_loss_loop,
)
from grbp.errors import InvalidInput, TooLarge
from grbp.learners.base import AnyLearner
from grbp.learners.memory import as_memory
from grbp.learners.state_counters import LARGEST_GOAL
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.jit import compile_function, kernel
from grbp.worlds.course import Course, as_course
from grbp.worlds.world import World

_SLICE: Final = 2**17
"""Rounds that a thread plays at once, about."""


@cache
def _make_loop(decide: Any, by_state: bool) -> Loop:
    """Make the loop of a learner, once."""
    ask = ask_by_state(kernel(decide)) if by_state else ask_for_threshold(kernel(decide))
    return make_loss_loop(ask, by_state)


def losses(  # noqa: PLR0913 (each is a separate choice of the caller)
    world: World,
    learner: AnyLearner,
    checkpoints: Sequence[int] | Ints,
    replicas: int,
    seed: int,
    *,
    threads: int | None = None,
    pooled: bool = False,
    once: bool = False,
    first: int = 0,
    report: Report | None = None,
) -> tuple[Floats, Ints]:
    """Return what each replica has lost, and how many rounds it has won, up to each checkpoint.

    These are the replicas from `first` on; each has its own keys, as in `decisions`.
    """
    kept = np.asarray(checkpoints, dtype=np.int64)
    course = _check_course(world, int(kept[-1]))
    best = _compute_best(course)
    memory = as_memory(learner.memory)
    recorder = LossRecorder(
        kept, _stream_keys(seed, range(first, first + replicas)), np.zeros((replicas, len(kept))),
        zeros(replicas, len(kept)), once, pooled,
    )  # fmt: skip
    play = compile_or_interpret(
        learner,
        partial(_make_loop, by_state=learner.by_state),
        course.goal,
        lambda run, some: run(learner.constants, memory, course, best, some),
        _take(recorder, slice(0, 0)),
    )
    size = max(1, _SLICE // int(kept[-1]))
    parts = [slice(k, k + size) for k in range(0, replicas, size)]
    with map_on_threads(threads) as played:
        answers = played(play, [_take(recorder, part) for part in parts])
        for part, answer in zip(parts, answers, strict=True):
            if answer != DONE:
                raise InvalidInput(
                    f"the learner {learner.name} decided something that is no policy of a goal of"
                    f" {course.goal}"
                )
            if report is not None:
                report(min(part.stop, replicas), replicas)
    return recorder.lost, recorder.won


def best_totals(world: World, checkpoints: Ints) -> Floats:
    """Compute how many rounds the best policy of every moment wins, up to each checkpoint."""
    course = _check_course(world, int(checkpoints[-1]))
    best, total = _compute_best(course), np.zeros(len(checkpoints))
    for share, row in zip(np.diff(course.shares, prepend=0.0), best, strict=True):
        won = checkpoints * row[0] if len(row) == 1 else np.cumsum(row)[checkpoints - 1]
        total += share * won
    return total


def _check_course(world: World, rounds: int) -> Course:
    """Return a truth as arrays; refuse one whose policies are no 64-bit numbers."""
    if world.goal > LARGEST_GOAL:
        raise TooLarge(
            f"a goal of {world.goal:,} was given where any policy may be best; it must be at most"
            f" {LARGEST_GOAL}"
        )
    return as_course(world, rounds)


def _compute_best(course: Course) -> Floats:
    return np.asarray(compile_function(best_values, "best values")(course))


def _take(recorder: LossRecorder, part: slice) -> LossRecorder:
    """Return some of the replicas, whose losses are written where they belong."""
    return recorder._replace(
        keys=recorder.keys[part], lost=recorder.lost[part], won=recorder.won[part]
    )
