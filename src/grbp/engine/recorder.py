"""The recorder: both engines count decisions in it, so that their results have one form."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grbp.learners.counters import Counters, initial_counters
from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.jit import i64, inlined, kernel, u64
from grbp.numerics.rng import uniform


class StepLaw(NamedTuple):
    """The numbers of a problem that every step needs."""

    goal: int
    p_c: float
    p_f: float


class Recorder(NamedTuple):
    """Some replicas: their keys, and the counts of what they did up to each checkpoint.

    Attributes
    ----------
    checkpoints : ndarray, shape (checkpoints,)
        The rounds up to which is counted; the replicas end with the last.
    keys : ndarray, shape (replicas, 3)
        The keys of each replica: of its world, of the learner's draws, of the first estimates.
    played : ndarray, shape (replicas, checkpoints, columns)
        How many rounds were played with each of the learner's choices.
    won : ndarray, shape (replicas, checkpoints)
        How many rounds were won.
    counters : ndarray, shape (replicas, 9)
        The counters of each replica: before, those with which it begins, or zeros where it begins
        at round 1; afterwards, those with which it ended.
    stride : int
        The distance between the columns of two first states; 0 if they are not told apart.
    wins : bool
        Whether won rounds are counted.
    once : bool
        Whether the first estimates come from taking each action once, as Algorithm 1 has it,
        rather than from a uniform draw, as in the paper's experiments.
    """

    checkpoints: Ints
    keys: Words
    played: Ints
    won: Ints
    counters: Floats
    stride: int
    wins: bool
    once: bool


def columns_of(goal: int, thresholds: Sequence[int]) -> Ints:
    """Return the column of `played` of every threshold; -1 for one that is not declared."""
    column = np.full(goal, -1, dtype=np.int64)
    column[list(thresholds)] = np.arange(len(thresholds))
    return column


@kernel
def first_counters(p_c: float, p_f: float, once: bool, key: int) -> Counters:
    """Draw the counters before round 1, with the key of the first estimates."""
    f_goal, c_up = uniform(key, 0), uniform(key, 1)
    if once:
        f_goal = 1.0 if f_goal < p_f else 0.0
        c_up = 1.0 if c_up < p_c else 0.0
    return initial_counters(f_goal, c_up)


@inlined
def begin_replica(world: StepLaw, recorder: Recorder, r: int) -> tuple[int, int, Counters]:
    """Return the keys of a replica's world and of the learner's draws, and its first counters."""
    n = first_counters(world.p_c, world.p_f, recorder.once, u64(recorder.keys[r, 2]))
    c = recorder.counters[r]
    if c[0] > 0.0:
        n = Counters(i64(c[0]), c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8])
    return u64(recorder.keys[r, 0]), u64(recorder.keys[r, 1]), n


@kernel
def end_replica(recorder: Recorder, r: int, n: Counters) -> None:
    """Keep the counters with which a replica ended."""
    c = recorder.counters[r]
    c[0], c[1], c[2], c[3], c[4] = float(n.rho), n.f, n.f_goal, n.c, n.c_up
    c[5], c[6], c[7], c[8] = n.plays_0, n.wins_0, n.plays_1, n.wins_1


@kernel
def carry_forward(recorder: Recorder, r: int, checkpoint: int) -> None:
    """Copy the previous checkpoint's counts into this one."""
    if checkpoint > 0:
        if recorder.wins:
            recorder.won[r, checkpoint] = recorder.won[r, checkpoint - 1]
        for k in range(recorder.played.shape[2]):
            recorder.played[r, checkpoint, k] = recorder.played[r, checkpoint - 1, k]
