"""Play many replicas on any truth, and return what each has lost."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

import numpy as np

from grbp._numba.jit import compile_function, kernel
from grbp.engine.chain_walk import (
    LossRecorder,
    ask_by_state,
    ask_for_threshold,
    best_values,
    make_loss_loop,
)
from grbp.engine.decisions import Report, _stream_keys, zeros
from grbp.engine.walk import DONE, Loop
from grbp.errors import InvalidInput
from grbp.learners.base import Learner
from grbp.learners.memory import as_memory
from grbp.learners.statewise.base import StateLearner
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.course import World, as_course

_SLICE: Final = 2**17
"""Rounds that a thread plays at once, about."""


@cache
def _make_loop(decide: Any, by_state: bool) -> Loop:
    """Make the loop of a learner, once."""
    ask = ask_by_state(kernel(decide)) if by_state else ask_for_threshold(kernel(decide))
    return make_loss_loop(ask, by_state)


def losses(  # noqa: PLR0913 (each is a separate choice of the caller)
    world: World,
    learner: Learner | StateLearner,
    checkpoints: Sequence[int] | Ints,
    replicas: int,
    seed: int,
    *,
    threads: int | None = None,
    pooled: bool = False,
    once: bool = False,
    report: Report | None = None,
) -> tuple[Floats, Ints]:
    """Return what each replica has lost, and how many rounds it has won, up to each checkpoint."""
    kept = np.asarray(checkpoints, dtype=np.int64)
    course = as_course(world, int(kept[-1]))
    memory = as_memory(learner.memory)
    loop = _make_loop(learner.decide, isinstance(learner, StateLearner))
    run = compile_function(loop, learner.name)
    best = compile_function(best_values, "best values")(course)
    recorder = LossRecorder(
        kept, _stream_keys(seed, range(replicas)), np.zeros((replicas, len(kept))),
        zeros(replicas, len(kept)), once, pooled,
    )  # fmt: skip
    size = max(1, _SLICE // int(kept[-1]))
    parts = [slice(k, k + size) for k in range(0, replicas, size)]

    def play(part: slice) -> int:
        some = recorder._replace(
            keys=recorder.keys[part], lost=recorder.lost[part], won=recorder.won[part]
        )
        return int(run(learner.constants, memory, course, best, some))

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        for part, answer in zip(parts, pool.map(play, parts), strict=True):
            if answer != DONE:
                raise InvalidInput(
                    f"the learner {learner.name} played {answer}, which is no policy"
                )
            if report is not None:
                report(min(part.stop, replicas), replicas)
    return recorder.lost, recorder.won
