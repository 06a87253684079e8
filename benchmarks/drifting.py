"""Rounds whose p_c changes from one to the next, and what they cost against the best of each."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

import grbp
from grbp.engine.recorder import first_counters
from grbp.learners.base import Decide, Learner
from grbp.learners.counters import play, settle
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import compile_function, kernel, u64
from grbp.numerics.rng import LEARNER, OPENING, WORLD, fold_in, replica_keys, uniform
from grbp.worlds.transition import first_state
from regrets import Estimate

GOAL, P_F, LOW, HIGH = 4, 0.3, 0.45, 0.65


def paths(rounds: int) -> dict[str, Floats]:
    """The drifts, by name: p_c in every round."""
    share = np.linspace(0.0, 1.0, rounds)
    middle, half = (HIGH + LOW) / 2.0, (HIGH - LOW) / 2.0
    return {
        "always .45": np.full(rounds, LOW),
        "always .65": np.full(rounds, HIGH),
        "rising": LOW + (HIGH - LOW) * share,
        "falling": HIGH - (HIGH - LOW) * share,
        "sine": middle + half * np.sin(2.0 * np.pi * share),
    }


@cache
def price(p_c: float) -> tuple[float, ...]:
    """What a round with each threshold costs, against the best."""
    problem = grbp.Problem(GOAL, p_c, P_F)
    return tuple(grbp.gap(problem, threshold) for threshold in range(GOAL))


@cache
def drifting(decide: Decide) -> Callable[..., None]:
    """The loop that plays rounds under a drift, as grbp.engine.walk without one; adds regret."""
    kernel(decide)

    def drift(
        constants: Any, p_c: Any, gap_per_threshold: Any, start: Any, keys: Any, regret: Any
    ) -> None:
        states, cumulative = start
        for r in range(len(keys)):
            world_key, learner_key, init_key = u64(keys[r, 0]), u64(keys[r, 1]), u64(keys[r, 2])
            n = first_counters(LOW, P_F, False, init_key)
            for k in range(len(p_c)):
                threshold = decide(GOAL, constants, n, fold_in(learner_key, k + 1))
                key = fold_in(world_key, k + 1)
                first = first_state(states, cumulative, uniform(key, 0))
                n = settle(n, threshold, play(GOAL, p_c[k], P_F, threshold, first, key))
                regret[r] += gap_per_threshold[k, threshold]

    return compile_function(drift)


def regrets(name: str, p_c: Floats, replicas: int, seed: int = 0) -> Floats:
    """The regret of every replica of a learner under a drift."""
    problem = grbp.Problem(GOAL, LOW, P_F)
    learner = grbp.find_learner(name, problem)
    if not isinstance(learner, Learner):
        raise TypeError(f"{name} plays no thresholds")
    keys = np.column_stack(
        [replica_keys(seed, part, range(replicas)) for part in (WORLD, LEARNER, OPENING)]
    )
    gap_per_threshold, regret = np.array([price(float(p)) for p in p_c]), np.zeros(replicas)
    run, start = drifting(learner.decide), problem.start_table
    count = 4 * (os.cpu_count() or 1)
    parts = zip(np.array_split(keys, count), np.array_split(regret, count), strict=True)
    with ThreadPoolExecutor() as pool:
        # To list what comes back raises what went wrong.
        list(pool.map(lambda p: run(learner.constants, p_c, gap_per_threshold, start, *p), parts))
    return regret


def regret_under(name: str, p_c: Floats, replicas: int) -> Estimate:
    """The regret of a learner under a drift."""
    found = regrets(name, p_c, replicas)
    return Estimate(float(found.mean()), float(found.std(ddof=1) / np.sqrt(replicas)))


def check(name: str, rounds: int = 1000, replicas: int = 50) -> None:
    """Nothing; an error unless the loop without a drift regrets what `grbp.simulate` says."""
    for p_c in (LOW, HIGH):
        ours = regrets(name, np.full(rounds, p_c), replicas)
        problem = grbp.Problem(GOAL, p_c, P_F)
        theirs = grbp.simulate(problem, [name], rounds, replicas, 0, engine="walk").curves[name]
        if not np.allclose(ours, theirs.final, rtol=1e-9, atol=1e-9):
            raise RuntimeError(
                f"{name} with p_c = {p_c} regrets {ours.mean()} in the drift's loop"
                f" and {theirs.final.mean()} in grbp.simulate"
            )
