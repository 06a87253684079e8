"""Many replicas of many rounds: what was decided, and priced by nobody here.

Rounds are walked step by step, or leapt over; both by one loop, compiled by Numba together with
the learner's decision or, where that cannot be, interpreted. Each replica has its own streams, one
for the cases and one for the learner's draws, so nothing depends on threads or blocks, and
learners that are walked meet the same cases.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from grbp._numba.jit import compiled, compiler_errors, numba, reason
from grbp.engine.leap.batch_totals import room_for
from grbp.engine.leap.loop import STRETCH_GOAL, leaping, leaps_of
from grbp.engine.leap.round_table import TABLE_GOAL
from grbp.engine.recorder import Recorder, World, columns_of
from grbp.engine.walk import DONE, Loop, walk_policies, walking
from grbp.errors import InvalidInput
from grbp.learners.base import Learner
from grbp.learners.ucb1_policies import PolicyLearner
from grbp.model.problem import Problem
from grbp.numerics.arrays import Ints, Words
from grbp.numerics.rng import LEARNER, OPENING, WORLD, replica_keys

Engine: TypeAlias = Literal["walk", "leap"]
"""How rounds are played: step by step, or drawn whole and in stretches. Both have one law."""

EngineLike: TypeAlias = Literal["walk", "leap", "auto"]
"""An engine, or the faster one."""

BLOCK: Final = 4096
"""Replicas whose decisions are kept at a time: memory does not grow with their number."""

_SLICE: Final = 2**19
"""Rounds that a thread plays at once, about: a moment's work."""

_LEAPT: Final = 2**14
"""Rounds that are as much work as any larger number of them, about, when they are leapt over."""

_WALKED: Final = 1000
"""States times rounds up to which walking is done before leaping has begun."""

Report = Callable[[int], None]
"""Called with the number of replicas done so far."""


class Decisions(NamedTuple):
    """What a block of replicas did, up to each round at which it was looked at.

    played   in how many rounds each of the learner's arms was: [replica, look, arm];
             where first states are told apart: [replica, look, first state, arm]
    won      how many rounds were won: [replica, look]; [replica, 0] where nobody asked
    """

    played: Ints
    won: Ints


def check_engine(asked: object) -> None:
    """Nothing, or a refusal of what names no engine."""
    if asked not in ("walk", "leap", "auto"):
        raise InvalidInput(f"engine = {asked!r} was given; it must be 'walk', 'leap' or 'auto'")


def choose_engine(
    problem: Problem, learner: Learner | PolicyLearner, rounds: int, asked: EngineLike = "auto"
) -> Engine:
    """The engine that plays a learner's rounds: the one asked for, or else the faster one."""
    check_engine(asked)
    if isinstance(learner, PolicyLearner):
        if asked == "leap":
            raise InvalidInput(
                f"engine = 'leap' was given; {learner.name} plays no thresholds and can only be"
                " walked ('walk' or 'auto')"
            )
        return "walk"
    if asked != "auto":
        return asked
    return "walk" if problem.goal * rounds <= _WALKED else "leap"


def decisions(  # noqa: PLR0913 (each is a separate choice of the caller)
    problem: Problem,
    learner: Learner | PolicyLearner,
    checkpoints: Sequence[int],
    replicas: int,
    seed: int,
    *,
    engine: Engine = "walk",
    threads: int | None = None,
    by_start: bool = False,
    wins: bool = True,
    once: bool = False,
    report: Report | None = None,
) -> Iterator[Decisions]:
    """The decisions of all replicas, block by block, up to each of the rounds looked at.

    Wins, and first states told apart, make the stretches of a leap end at every look.

    Paper: alg:GRBP
    """
    loop = _loop(learner, problem, once, engine)
    at = np.asarray(checkpoints, dtype=np.int64)
    choices = len(learner.choices(problem.goal))
    starts = problem.goal - 1 if by_start else 1
    threads = threads or os.cpu_count() or 1
    pool = ThreadPoolExecutor(threads)
    # One thread needs no other: that would only be waited for.
    played = map if threads == 1 else pool.map
    try:
        for first in range(0, replicas, BLOCK):
            size = min(BLOCK, replicas - first)
            block = Recorder(
                at,
                _keys(seed, range(first, first + size)),
                np.zeros((size, len(at), starts * choices), dtype=np.int64),
                np.zeros((size, len(at) if wins else 0), dtype=np.int64),
                choices if by_start else 0,
                wins,
            )
            done = first
            parts = list(_slices(block, engine))
            for part, answer in zip(parts, played(loop, parts), strict=True):
                if answer != DONE:
                    raise InvalidInput(
                        f"the learner {learner.name} played threshold {answer}, which is not"
                        " among the thresholds that it declares"
                    )
                done += len(part.keys)
                if report is not None:
                    report(done)
            shape = (size, len(at), starts, choices) if by_start else block.played.shape
            yield Decisions(block.played.reshape(shape), block.won)
    finally:
        # Interrupted, what has not begun is not begun.
        pool.shutdown(cancel_futures=True)


def _keys(seed: int, replicas: range) -> Words:
    """The keys of the cases, the learner's draws and the first estimates: [replica, purpose]."""
    return np.column_stack([replica_keys(seed, p, replicas) for p in (WORLD, LEARNER, OPENING)])


def _slices(block: Recorder, engine: Engine) -> Iterator[Recorder]:
    """The block in pieces that a thread takes at once."""
    rounds = int(block.checkpoints[-1])
    size = max(1, _SLICE // (rounds if engine == "walk" else min(rounds, _LEAPT)))
    for k in range(0, len(block.keys), size):
        part = slice(k, k + size)
        yield block._replace(keys=block.keys[part], played=block.played[part], won=block.won[part])


def _loop(
    learner: Learner | PolicyLearner, problem: Problem, once: bool, engine: Engine
) -> Callable[[Recorder], int]:
    """What plays the replicas of a tape: compiled if possible, else interpreted."""
    world = World(problem.goal, problem.p_c, problem.p_f, *problem.start_table, once)
    if isinstance(learner, PolicyLearner):
        run_policies = _compiled(walk_policies, learner.name)
        return lambda recorder: int(run_policies(world, recorder))
    constants, choices = learner.constants, learner.choices(problem.goal)
    if engine == "leap":
        leaps, goal = leaps_of(problem, choices, once), problem.goal
        plans = goal <= STRETCH_GOAL
        loop = _leaping(
            learner.decide,
            learner.stable if plans else None,
            learner.thinning if plans else None,
            goal <= TABLE_GOAL,
        )
        return _compiled_or_not(
            learner,
            loop,
            lambda run, recorder: run(constants, leaps, room_for(goal if plans else 0), recorder),
        )
    column = columns_of(problem.goal, choices)
    return _compiled_or_not(
        learner,
        _walking(learner.decide),
        lambda run, recorder: run(constants, world, column, recorder),
    )


def _compiled_or_not(
    learner: Learner, loop: Loop, play: Callable[[Loop, Recorder], int]
) -> Callable[[Recorder], int]:
    """A loop that plays a tape: compiled, or interpreted with a warning."""
    not_compiled: tuple[type[Exception], ...] = (TypeError, *compiler_errors())
    try:
        run = _compiled(loop, learner.name)
        play(run, _EMPTY)
    except not_compiled as error:
        warnings.warn(
            f"{learner.name} cannot be compiled and runs interpreted, about a hundred times"
            f" slower ({reason(error)})",
            RuntimeWarning,
            stacklevel=6,
        )
        return lambda recorder: play(loop, recorder)
    return lambda recorder: int(play(run, recorder))


_walking = cache(walking)
_leaping = cache(leaping)


@cache
def _compiled(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function compiled; itself, with a warning, where Numba is not installed."""
    if numba() is None:
        warnings.warn(
            "Numba is not installed, so rounds are walked by the interpreter, about a hundred"
            " times slower; install grbp[engine]",
            RuntimeWarning,
            stacklevel=7,
        )
    return compiled(function, name)


_EMPTY: Final = Recorder(
    np.zeros(0, dtype=np.int64),
    _keys(0, range(0)),
    np.zeros((0, 0, 0), dtype=np.int64),
    np.zeros((0, 0), dtype=np.int64),
    0,
    False,
)
"""A tape without replicas, to see whether a loop compiles."""
