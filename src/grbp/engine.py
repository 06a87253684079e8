"""Many replicas of many rounds: what was decided, and priced by nobody here.

One loop, walked step by step; compiled by Numba together with the learner's decision, or, where
that cannot be, interpreted. Each replica has its own streams, one for the cases and one for the
learner's draws, so learners meet the same cases and nothing depends on threads or blocks.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grbp._jit import compiled, compiler_errors, kernel, numba, reason, u64
from grbp.errors import InvalidInput
from grbp.history import opening, play, settle
from grbp.learners.contract import Decide, Learner
from grbp.learners.policies import PolicyLearner, play_policy, ucb1_choice
from grbp.model import Floats, Problem, first_state
from grbp.streams import LEARNER, OPENING, WORLD, noise, replica_keys, uniform

Ints = NDArray[np.int64]

BLOCK: Final = 4096
"""Replicas whose decisions are kept at a time: memory does not grow with their number."""

DONE: Final = -(2**63)
"""What a loop returns when all went well: no learner can mean it as a threshold."""

_SLICE: Final = 2**19
"""Rounds that a thread plays at once, about: a moment's work."""

Report = Callable[[int], None]
"""Called with the number of replicas done so far."""


class Decisions(NamedTuple):
    """What a block of replicas did, up to each round at which it was looked at.

    played   in how many rounds each of the learner's arms was: [replica, look, arm];
             where first states are told apart: [replica, look, first state, arm]
    won      how many rounds were won: [replica, look]
    """

    played: Ints
    won: Ints


class World(NamedTuple):
    """A problem as the loops take it.

    once   whether the first estimates come from taking each action once, as Algorithm 1 has
           it, rather than from a uniform draw, as in the paper's experiments
    """

    goal: int
    p_c: float
    p_f: float
    states: Ints
    cumulative: Floats
    once: bool = False


class Tape(NamedTuple):
    """Some replicas: the rounds to look at, their keys, and where to count what they do.

    stride   how far apart in `played` two first states are; 0 if they are not told apart
    """

    looks: Ints
    keys: NDArray[np.uint64]
    played: Ints
    won: Ints
    stride: int


def decisions(  # noqa: PLR0913 (each is a separate choice of the caller)
    problem: Problem,
    learner: Learner | PolicyLearner,
    looks: Sequence[int],
    replicas: int,
    seed: int,
    *,
    threads: int | None = None,
    by_start: bool = False,
    once: bool = False,
    report: Report | None = None,
) -> Iterator[Decisions]:
    """The decisions of all replicas, block by block, up to each of the rounds looked at.

    Paper: alg:GRBP
    """
    world = World(problem.goal, problem.p_c, problem.p_f, *problem.start_table, once)
    loop = _loop(learner, world)
    at = np.asarray(looks, dtype=np.int64)
    arms = len(learner.arms(problem.goal))
    starts = problem.goal - 1 if by_start else 1
    pool = ThreadPoolExecutor(threads or os.cpu_count() or 1)
    try:
        for first in range(0, replicas, BLOCK):
            size = min(BLOCK, replicas - first)
            block = Tape(
                at,
                _keys(seed, range(first, first + size)),
                np.zeros((size, len(at), starts * arms), dtype=np.int64),
                np.zeros((size, len(at)), dtype=np.int64),
                arms if by_start else 0,
            )
            done = first
            parts = list(_slices(block))
            for part, answer in zip(parts, pool.map(loop, parts), strict=True):
                if answer != DONE:
                    raise InvalidInput(
                        f"the learner {learner.name} played threshold {answer}, which is not"
                        " among the thresholds that it declares"
                    )
                done += len(part.keys)
                if report is not None:
                    report(done)
            shape = (size, len(at), starts, arms) if by_start else block.played.shape
            yield Decisions(block.played.reshape(shape), block.won)
    finally:
        # Interrupted, what has not begun is not begun.
        pool.shutdown(cancel_futures=True)


def _keys(seed: int, replicas: range) -> NDArray[np.uint64]:
    """The keys of the cases, the learner's draws and the first estimates: [replica, purpose]."""
    return np.column_stack([replica_keys(seed, p, replicas) for p in (WORLD, LEARNER, OPENING)])


def _slices(block: Tape) -> Iterator[Tape]:
    """The block in pieces that a thread takes at once."""
    size = max(1, _SLICE // int(block.looks[-1]))
    for k in range(0, len(block.keys), size):
        part = slice(k, k + size)
        yield block._replace(keys=block.keys[part], played=block.played[part], won=block.won[part])


def _loop(learner: Learner | PolicyLearner, world: World) -> Callable[[Tape], int]:
    """What plays the replicas of a tape: compiled if possible, else interpreted."""
    if isinstance(learner, PolicyLearner):
        run_policies = _compiled(policy_replicas)
        return lambda tape: int(run_policies(world, tape))
    column = np.full(world.goal, -1, dtype=np.int64)
    for k, threshold in enumerate(learner.arms(world.goal)):
        column[threshold] = k
    constants = learner.constants
    not_compiled: tuple[type[Exception], ...] = (TypeError, *compiler_errors())
    try:
        run, decide = _compiled(replicas), _compiled(learner.decide)
        run(decide, constants, world, column, _EMPTY)
    except not_compiled as error:
        warnings.warn(
            f"{learner.name} cannot be compiled and runs interpreted, about a hundred times"
            f" slower ({reason(error)})",
            RuntimeWarning,
            stacklevel=4,
        )
        return lambda tape: replicas(learner.decide, constants, world, column, tape)
    return lambda tape: int(run(decide, constants, world, column, tape))


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled; itself, with a warning, where Numba is not installed."""
    if numba() is None:
        warnings.warn(
            "Numba is not installed, so rounds are walked by the interpreter, about a hundred"
            " times slower; install grbp[engine]",
            RuntimeWarning,
            stacklevel=6,
        )
    return compiled(function)


@kernel
def carry(tape: Tape, r: int, look: int) -> None:
    """Nothing; a look starts from what the one before it ended with."""
    if look > 0:
        tape.won[r, look] = tape.won[r, look - 1]
        for k in range(tape.played.shape[2]):
            tape.played[r, look, k] = tape.played[r, look - 1, k]


def replicas(decide: Decide, constants: Any, world: World, column: Ints, tape: Tape) -> int:
    """DONE; plays every round of a tape and counts. A threshold not declared is returned.

    Paper: alg:GRBP
    """
    for r in range(len(tape.keys)):
        cases, own, begin = u64(tape.keys[r, 0]), u64(tape.keys[r, 1]), u64(tape.keys[r, 2])
        f_goal, c_up = uniform(begin, 0), uniform(begin, 1)
        if world.once:
            f_goal = 1.0 if f_goal < world.p_f else 0.0
            c_up = 1.0 if c_up < world.p_c else 0.0
        n = opening(f_goal, c_up)
        rho = 0
        for look in range(len(tape.looks)):
            carry(tape, r, look)
            while rho < tape.looks[look]:
                rho += 1
                threshold = decide(world.goal, constants, n, noise(own, rho))
                if not 0 <= threshold < world.goal or column[threshold] < 0:
                    return threshold
                key = noise(cases, rho)
                first = first_state(world.states, world.cumulative, uniform(key, 0))
                outcome = play(world.goal, world.p_c, world.p_f, threshold, first, key)
                n = settle(n, threshold, outcome)
                tape.played[r, look, column[threshold] + tape.stride * (first - 1)] += 1
                tape.won[r, look] += outcome.won
    return DONE


def policy_replicas(world: World, tape: Tape) -> int:
    """DONE; the same for UCB1 over all policies, whose memory is an array."""
    count = 2 ** (world.goal - 1)
    for r in range(len(tape.keys)):
        cases = u64(tape.keys[r, 0])
        plays, wins = np.zeros(count), np.zeros(count)
        rho = 0
        for look in range(len(tape.looks)):
            carry(tape, r, look)
            while rho < tape.looks[look]:
                rho += 1
                policy = ucb1_choice(plays, wins)
                key = noise(cases, rho)
                first = first_state(world.states, world.cumulative, uniform(key, 0))
                won = play_policy(world.goal, world.p_c, world.p_f, policy, first, key)
                plays[policy] += 1.0
                wins[policy] += won
                tape.played[r, look, policy + tape.stride * (first - 1)] += 1
                tape.won[r, look] += won
    return DONE


_EMPTY: Final = Tape(
    np.zeros(0, dtype=np.int64),
    _keys(0, range(0)),
    np.zeros((0, 0, 0), dtype=np.int64),
    np.zeros((0, 0), dtype=np.int64),
    0,
)
"""A tape without replicas, to see whether a loop compiles."""
