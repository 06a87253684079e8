"""Play many replicas of many rounds on all threads, and count the decisions.

Rounds are walked step by step, drawn in leaps or drawn one by one, each way by one loop that Numba
compiles together with the learner's decision or, where it cannot, Python interprets. Each replica
has its own streams, one for the cases and one for the learner's draws, so that results depend
neither on threads nor on blocks, and all learners that are walked meet the same cases.
"""

import logging
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from grbp._arguments import check_choice
from grbp.engine.batch_totals import workspace_for
from grbp.engine.leap import BATCH_GOAL, LEFT, make_leap_loop, make_leaps
from grbp.engine.recorder import Recorder, StepLaw, columns_of
from grbp.engine.round_table import TABLE_GOAL
from grbp.engine.walk import DONE, Loop, make_walk_loop, walk_policies
from grbp.errors import InvalidInput, how_to_install
from grbp.learners.base import AnyLearner
from grbp.learners.counters import Counters
from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.fingerprint import is_own
from grbp.numerics.jit import compile_function, numba, reason
from grbp.numerics.rng import LEARNER, OPENING, WORLD, replica_keys
from grbp.worlds.problem import Problem

R = TypeVar("R")

Engine: TypeAlias = Literal["walk", "leap", "draw"]
"""How rounds are played: step by step, drawn whole and in batches, or drawn whole one by one, with
the learner asked in every round. All have one law."""

EngineLike: TypeAlias = Literal["walk", "leap", "draw", "auto"]
"""An engine, or the faster one of walking and leaping."""

Kind: TypeAlias = Literal["pseudo", "realised", "by-start"]
"""How a round counts: with the gap of its threshold, averaged over first states; with what was lost
in fact; or with the gap of its threshold from the state in which it started."""

InitialEstimates: TypeAlias = Literal["drawn", "once"]
"""Where the estimates before round 1 come from: a uniform draw, or taking each action once."""

BLOCK: Final = 4096
"""Replicas whose decisions are kept at a time, so that memory does not grow with their number."""

_SLICE: Final = 2**19
"""Rounds that a thread plays at once, about: a moment's work."""

_LEAPT: Final = 2**14
"""Rounds that take about as long, in leaps, as any larger number of them."""

_WALKED: Final = 1000
"""States times rounds up to which walking is done before leaping has begun."""

Report: TypeAlias = Callable[[int, int], None]
"""A function that is called with the number of replicas done so far, and of all."""


class Decisions(NamedTuple):
    """The decisions of a block of replicas, up to each checkpoint.

    Attributes
    ----------
    played : ndarray, shape (replicas, checkpoints, choices)
        How many rounds were played with each of the learner's choices; for regret by first
        state, of shape (replicas, checkpoints, first states, choices).
    won : ndarray, shape (replicas, checkpoints)
        How many rounds were won; of shape (replicas, 0) unless regret is realised.
    """

    played: Ints
    won: Ints


def choose_engine(
    problem: Problem, learner: AnyLearner, rounds: int, asked: EngineLike = "auto"
) -> Engine:
    """Choose the engine that plays a learner's rounds: the one asked for, or else the faster."""
    check_choice("engine", asked, EngineLike)
    if not learner.by_threshold:
        if asked in {"leap", "draw"}:
            raise InvalidInput(
                f"engine = {asked!r} was given; {learner.name} plays no thresholds and can only be"
                " walked ('walk' or 'auto')"
            )
        return "walk"
    if asked != "auto":
        return asked
    return "walk" if problem.goal * rounds <= _WALKED else "leap"


def decisions(  # noqa: PLR0913 (each is a separate choice of the caller)
    problem: Problem,
    learner: AnyLearner,
    checkpoints: Sequence[int] | Ints,
    replicas: int,
    seed: int,
    *,
    first: int = 0,
    engine: Engine = "walk",
    threads: int | None = None,
    regret: Kind = "realised",
    initial_estimates: InitialEstimates = "drawn",
    counters: Floats | None = None,
    report: Report | None = None,
    block_size: int | None = None,
) -> Iterator[Decisions]:
    """Yield the decisions of some replicas, block by block, up to each checkpoint.

    These are the replicas from `first` on; each has its own keys, so that replicas may be played
    in chunks that begin anywhere. Decisions are counted as the kind of regret needs them. For
    realised regret and regret by first state, the batches of a leap end at every checkpoint. If
    `counters` are given, with a row for each replica, replicas go on from there (from round 1 where
    the row is zero), and the counters with which they end take their place.

    Notes
    -----
    Paper: alg:GRBP
    """
    loop = _make_loop(learner, problem, engine)
    choices = len(learner.choices(problem.goal))
    by_start, wins = regret == "by-start", regret == "realised"
    starts = problem.goal - 1 if by_start else 1
    kept = np.asarray(checkpoints, dtype=np.int64)
    with map_on_threads(threads) as played:
        most = block_size or BLOCK
        for begin in range(0, replicas, most):
            size = min(most, replicas - begin)
            block = Recorder(
                kept,
                _stream_keys(seed, range(first + begin, first + begin + size)),
                zeros(size, len(kept), starts * choices),
                zeros(size, len(kept) if wins else 0),
                _no_counters(size) if counters is None else counters[begin : begin + size],
                choices if by_start else 0,
                wins,
                initial_estimates == "once",
            )
            done = begin
            parts = list(_slice_block(block, engine))
            for part, answer in zip(parts, played(loop, parts), strict=True):
                if answer != DONE:
                    learner.check_choice(problem.goal, answer)
                done += len(part.keys)
                if report is not None:
                    report(done, replicas)
            shape = (size, len(kept), starts, choices) if by_start else block.played.shape
            yield Decisions(block.played.reshape(shape), block.won)


@contextmanager
def map_on_threads(threads: int | None) -> Iterator[Callable[..., Iterator[int]]]:
    """Provide a `map` that calls on so many threads, by default on as many as there are cores."""
    count = threads or os.cpu_count() or 1
    pool = ThreadPoolExecutor(count)
    try:
        # A single thread is this one: another would only be waited for.
        yield map if count == 1 else pool.map
    finally:
        # After an interruption, slices that have not begun do not begin any more.
        pool.shutdown(cancel_futures=True)


def _stream_keys(seed: int, replicas: range) -> Words:
    """Compute the keys of the cases, the learner's draws and the first estimates."""
    return np.column_stack([replica_keys(seed, p, replicas) for p in (WORLD, LEARNER, OPENING)])


def zeros(*shape: int) -> Ints:
    """Return an array of whole numbers that are 0."""
    return np.zeros(shape, dtype=np.int64)


def _no_counters(replicas: int) -> Floats:
    """Return the counters of replicas that begin at round 1."""
    return np.zeros((replicas, len(Counters._fields)))


_NO_REPLICAS: Final = Recorder(
    zeros(0), _stream_keys(0, range(0)), zeros(0, 0, 0), zeros(0, 0), _no_counters(0),
    stride=0, wins=False, once=False,
)  # fmt: skip
"""A recorder to try whether a loop compiles."""


def _slice_block(block: Recorder, engine: Engine) -> Iterator[Recorder]:
    """Yield the block in pieces that a thread takes at once."""
    rounds = int(block.checkpoints[-1])
    size = max(1, _SLICE // (min(rounds, _LEAPT) if engine == "leap" else rounds))
    for k in range(0, len(block.keys), size):
        part = slice(k, k + size)
        arrays = ("keys", "played", "won", "counters")
        yield block._replace(**{name: getattr(block, name)[part] for name in arrays})


def _make_loop(learner: AnyLearner, problem: Problem, engine: Engine) -> Callable[[Recorder], int]:
    """Make the function that plays the replicas of a recorder: compiled if that is possible."""
    goal, starts = problem.goal, problem.start_table
    world = StepLaw(goal, problem.p_c, problem.p_f)
    if not learner.by_threshold:
        run_policies = _compile(walk_policies, learner.name)
        return lambda recorder: int(run_policies(world, starts, recorder))
    constants, choices = learner.constants, learner.choices(goal)
    if engine == "walk":
        column = columns_of(goal, choices)
        return compile_or_interpret(
            learner,
            _walk_loop,
            goal,
            lambda run, recorder: run(constants, world, starts, column, recorder),
            _NO_REPLICAS,
        )
    leaps, plans = make_leaps(problem, choices), engine == "leap" and goal <= BATCH_GOAL
    stable, thinning = (learner.stable, learner.thinning) if plans else (None, None)

    def make(apart: bool) -> Callable[[Recorder], int]:
        return compile_or_interpret(
            learner,
            partial(
                _leap_loop,
                stable=stable,
                thinning=thinning,
                tabled=goal <= TABLE_GOAL,
                apart=apart,
            ),
            goal,
            lambda run, recorder: run(
                constants, leaps, workspace_for(goal if plans else 0), recorder
            ),
            _NO_REPLICAS,
        )

    loops = [make(False)]

    def leap(recorder: Recorder) -> int:
        before = recorder.counters.copy()
        answer = loops[-1](recorder)
        if answer == LEFT:  # That is rare, and what it takes is compiled only then.
            recorder.played[:], recorder.won[:], recorder.counters[:] = 0, 0, before
            loops.append(make(True))
            answer = loops[-1](recorder)
        return answer

    return leap


def compile_or_interpret(
    learner: AnyLearner,
    loop_of: Callable[[Any], Loop],
    goal: int,
    play: Callable[[Loop, R], int],
    nothing: R,
) -> Callable[[R], int]:
    """Make the function that plays a recorder: compiled, or interpreted with a warning.

    It is tried with `nothing`, a recorder of no replicas.
    """
    check_first_decision(learner, goal)
    loop = loop_of(learner.decide)
    try:
        run = _compile(loop, learner.name)
        play(run, nothing)
    except Exception as error:  # Whatever the compiler raises: no replica was played.
        warnings.warn(
            f"{learner.name} cannot be compiled and runs interpreted, about a hundred times"
            f" slower ({reason(error)})",
            RuntimeWarning,
            stacklevel=6,
        )
        run = loop
    if run is loop:
        strict = loop_of(learner.decide_or_refuse)
        return lambda recorder: play(strict, recorder)
    return lambda recorder: int(play(run, recorder))


def check_first_decision(learner: AnyLearner, goal: int) -> None:
    """Refuse a learner that others wrote if its first decision is none that it may make."""
    if not is_own(learner.decide):
        counters = learner.initial_counters(goal, 0.5, 0.5)
        try:
            answer = learner.decide(goal, learner.constants, counters, 0)
        except Exception:  # The compiler, or the run itself, will show it.
            return
        learner.check_choice(goal, answer)


_walk_loop = cache(make_walk_loop)
_leap_loop = cache(make_leap_loop)


def _compile(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Compile the function; return it as it is, with a warning, where Numba is not installed."""
    if numba() is None:
        warnings.warn(
            "Numba is not installed, so rounds are walked by the interpreter, about a hundred"
            f" times slower; {how_to_install('engine')}",
            RuntimeWarning,
            stacklevel=7,
        )
    return compile_function(function, name, logging.WARNING)
