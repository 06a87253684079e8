"""Compile what draws batches in a process of its own, while this one compiles a learner's loop.

A process compiles one function at a time, and the first simulation needs two that take seconds:
the loop of its learner, and the batches that all learners share.
"""

import os
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import numpy as np

from grbp._process import module_command
from grbp.engine.batch_plan import CounterBox
from grbp.engine.batch_totals import batch_law, workspace_for
from grbp.engine.batches import draw_long_batch, draw_whole_batch
from grbp.numerics.jit import compile_function, is_kept
from grbp.worlds.problem import Problem

_LONGEST: Final = 60.0
"""Seconds after which this process compiles by itself."""

_LOCK: Final = threading.Lock()
_begun: list[subprocess.Popen[bytes]] = []
"""The process that compiles, if there is one."""


def compile_draw(apart: bool) -> Callable[..., Any]:
    """Return what draws long batches, and takes those `apart` that leave their boxes or not.

    What does not is needed by nearly all, so another process begins to compile it at once.
    """
    if apart:
        return compile_function(draw_long_batch, "batches of rounds, taken apart")
    draw = compile_function(draw_whole_batch, "batches of rounds", before=_await_process)
    if (os.cpu_count() or 1) > 1 and not is_kept(draw, _example_arguments()):
        _start_process()
    return draw


def _start_process() -> None:
    """Start the other process, if there is none."""
    command, environment = module_command("grbp.engine.ahead")
    # Where no program can be started, this process compiles all.
    with _LOCK, suppress(OSError, TypeError):
        if not _begun:
            process = subprocess.Popen(  # noqa: S603 (a module of this package)
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env=environment,
            )  # fmt: skip
            _begun.append(process)


def _await_process() -> None:
    """Wait until the other process is done."""
    while _begun:
        try:
            _begun[0].wait(_LONGEST)
        except subprocess.TimeoutExpired:
            _begun[0].kill()
        else:
            _begun.clear()


def _example_arguments() -> tuple[Any, ...]:
    """Return arguments of the types with which a loop calls what draws a batch."""
    law, box = batch_law(Problem(2, 0.5, 0.5)), CounterBox(1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    return law, 0, np.uint64(1), 1, box, workspace_for(2)


if __name__ == "__main__":
    compile_function(draw_whole_batch)(*_example_arguments())
