"""Play all studies of one truth, on several threads."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from grbp.engine.decisions import compile_or_interpret
from grbp.engine.walk import DONE
from grbp.errors import InvalidInput
from grbp.learners.base import AnyLearner
from grbp.learners.registry import LearnerLike, find_learner
from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.rng import LEARNER, OPENING, OVERRULE, WORLD, replica_keys
from grbp.planning.trial_simulation import Design, Log, make_study_loop
from grbp.theory.gaps import gap
from grbp.worlds.problem import Problem

_SLICE: Final = 2**17
"""Cases that a thread plays at once, about."""


class StudyRuns(NamedTuple):
    """What the studies of all truths have in common."""

    learner: LearnerLike
    replicas: int
    seed: int
    threads: int


def play_studies(study: StudyRuns, problem: Problem, design: Design, checkpoints: Ints) -> Log:
    """Play all studies of one truth, and look at them after so many cases."""
    learner = find_learner(study.learner, problem)
    if not learner.by_threshold or learner.memory:
        why = "forgets" if learner.by_threshold else "plays no thresholds"
        raise InvalidInput(
            f"the learner {learner.name!r} was given; it {why}, so nothing can be planned with it"
        )
    goal = problem.goal
    design = design._replace(goal=goal, p_c=problem.p_c, p_f=problem.p_f)
    gaps = _gaps(problem, learner)
    constants, starts = learner.constants, problem.start_table
    loop = compile_or_interpret(
        learner,
        _study_loop,
        goal,
        lambda run, log: run(constants, design, starts, gaps, log),
        empty_log(checkpoints, np.zeros((0, 4), dtype=np.uint64)),
    )
    purposes = (WORLD, LEARNER, OPENING, OVERRULE)
    keys = [replica_keys(study.seed, purpose, range(study.replicas)) for purpose in purposes]
    log = empty_log(checkpoints, np.column_stack(keys))
    size = max(1, _SLICE // int(checkpoints[-1]))
    arrays = log._asdict()
    del arrays["checkpoints"]
    parts = [
        log._replace(**{name: array[k : k + size] for name, array in arrays.items()})
        for k in range(0, study.replicas, size)
    ]
    pool = ThreadPoolExecutor(study.threads)
    try:
        answers = set(map(loop, parts) if study.threads == 1 else pool.map(loop, parts))
    finally:
        pool.shutdown(cancel_futures=True)
    for answer in answers - {DONE}:
        learner.check_choice(goal, answer)
    return log


def _gaps(problem: Problem, learner: AnyLearner) -> Floats:
    """Return what a case loses on average with each threshold; -1 for one that is not played."""
    gaps = np.full(problem.goal, -1.0)
    for threshold in {*learner.choices(problem.goal), 0, 1}:
        gaps[threshold] = gap(problem, threshold)
    return gaps


def empty_log(checkpoints: Ints, keys: Words) -> Log:
    """Return a log in which nothing is written yet."""
    shape = len(keys), len(checkpoints)

    def zeros(*more: int) -> Ints:
        return np.zeros((*shape, *more), dtype=np.int64)

    first = np.zeros((len(keys), 2), dtype=np.int64)
    return Log(checkpoints, keys, zeros(), zeros(), np.zeros(shape), zeros(), zeros(4), first)


_study_loop = cache(make_study_loop)
