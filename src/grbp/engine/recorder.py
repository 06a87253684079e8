"""What the loops of the engine are given, and where they count what was decided."""

from typing import NamedTuple

import numpy as np

from grbp._numba.jit import inlined, kernel, u64
from grbp.learners.counters import Counters, opening
from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.rng import uniform


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


class Recorder(NamedTuple):
    """Some replicas: the rounds to look at, their keys, and where to count what they do.

    stride   how far apart in `played` two first states are; 0 if they are not told apart
    wins     whether rounds won are counted
    """

    checkpoints: Ints
    keys: Words
    played: Ints
    won: Ints
    stride: int
    wins: bool


def columns_of(goal: int, thresholds: tuple[int, ...]) -> Ints:
    """The column of `played` for every threshold; -1 for one that is not declared."""
    column = np.full(goal, -1, dtype=np.int64)
    column[list(thresholds)] = np.arange(len(thresholds))
    return column


@kernel
def first_counters(p_c: float, p_f: float, once: bool, key: int) -> Counters:
    """The counters before round 1, from the key of the first estimates."""
    f_goal, c_up = uniform(key, 0), uniform(key, 1)
    if once:
        f_goal = 1.0 if f_goal < p_f else 0.0
        c_up = 1.0 if c_up < p_c else 0.0
    return opening(f_goal, c_up)


@inlined
def keys_of(recorder: Recorder, r: int) -> tuple[int, int, int]:
    """Read a replica's keys: of its world, of the learner's draws, of the first estimates."""
    return u64(recorder.keys[r, 0]), u64(recorder.keys[r, 1]), u64(recorder.keys[r, 2])


@kernel
def carry_forward(recorder: Recorder, r: int, checkpoint: int) -> None:
    """Copy the previous checkpoint's counts into this one."""
    if checkpoint > 0:
        if recorder.wins:
            recorder.won[r, checkpoint] = recorder.won[r, checkpoint - 1]
        for k in range(recorder.played.shape[2]):
            recorder.played[r, checkpoint, k] = recorder.played[r, checkpoint - 1, k]
