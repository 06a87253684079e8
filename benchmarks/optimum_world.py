"""Problems drawn at random, what a wrong choice costs in them, and a loop that plays them."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import grbp
from grbp.engine.recorder import first_counters
from grbp.learners.base import Decide, Learner
from grbp.learners.counters import play, settle
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import compile_function, kernel, u64
from grbp.numerics.rng import LEARNER, OPENING, WORLD, fold_in, replica_keys, uniform
from regrets import near_boundary

PLASTIC = 1.32471795724474602596
"""Its powers fill the square evenly (the R2 sequence of Roberts)."""

PLAIN = 500
"""The most rounds for which problems are not drawn near the boundary on purpose."""


class Player(NamedTuple):
    """What decides, and the constants that it decides with: a learner, or a policy like one."""

    decide: Decide
    constants: Any


def player(given: str | Learner) -> Player:
    """A learner, or one by its name."""
    learner = grbp.find_learner(given, grbp.Problem(4, 0.5, 0.5))
    if not isinstance(learner, Learner):
        raise TypeError(f"{learner.name} plays no thresholds")
    return Player(learner.decide, learner.constants)


def problems(count: int, seed: int) -> tuple[Floats, Floats]:
    """p_C and p_F of many problems, evenly spread over the square from a place that is drawn."""
    place = np.random.default_rng(seed).random(2)
    steps = np.outer(1.0 / PLASTIC ** np.arange(1, 3), np.arange(1, count + 1))
    p_c, p_f = (place[:, None] + steps) % 1.0
    return p_c, p_f


def near_problems(goal: int, count: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """The same with half of them near the boundary, and weights that undo that."""
    p_c, place = problems(count, seed)
    return p_c, *near_boundary(door_value(goal, p_c), place)


def moves(goal: int, p_c: Floats) -> Floats:
    """How often CONTINUE is taken in a round in which nothing else is, on average."""
    grid = np.linspace(0.0, 1.0, 2001)
    lengths = [grbp.expected_continues(grbp.Problem(goal, p, 0.5), 0) for p in grid]
    return np.interp(p_c, grid, lengths)


@cache
def reach_table(goal: int) -> tuple[Floats, Floats]:
    """The probability that a round comes to state 1, for p_C on a fine grid."""
    p_c = np.linspace(0.0, 1.0, 2001)
    return p_c, np.array([grbp.finish_probability(grbp.Problem(goal, p, 0.5)) for p in p_c])


def reach(goal: int, p_c: Floats) -> Floats:
    """The probability that a round comes to state 1."""
    return np.interp(p_c, *reach_table(goal))


def door_value(goal: int, p_c: Floats) -> Floats:
    """B(p_C), the value of CONTINUE in state 1."""
    return np.array([grbp.boundary(goal, float(p)) for p in p_c])


def prices(goal: int, p_c: Floats, p_f: Floats) -> Floats:
    """What a round with threshold 0, and with 1, loses against the better of the two."""
    gap = reach(goal, p_c) * (p_f - door_value(goal, p_c))
    return np.column_stack([np.maximum(gap, 0.0), np.maximum(-gap, 0.0)])


@kernel
def start(goal: int, key: int) -> int:
    """Draw the first state of a round, all alike."""
    return min(1 + int(uniform(key, 0) * (goal - 1)), goal - 1)


@cache
def playing(decide: Decide) -> Callable[..., None]:
    """The loop that plays a learner in problems of its own for every replica; adds regret."""
    kernel(decide)

    def run(  # noqa: PLR0913, PLR0917 (a compiled loop)
        goal: Any, constants: Any, rounds: Any, p_c: Any, p_f: Any, price: Any, keys: Any,
        regret: Any,
    ) -> None:  # fmt: skip
        for r in range(len(keys)):
            world_key, learner_key, init_key = u64(keys[r, 0]), u64(keys[r, 1]), u64(keys[r, 2])
            n = first_counters(p_c[r], p_f[r], False, init_key)
            for k in range(rounds):
                threshold = decide(goal, constants, n, fold_in(learner_key, k + 1))
                key = fold_in(world_key, k + 1)
                outcome = play(goal, p_c[r], p_f[r], threshold, start(goal, key), key)
                n = settle(n, threshold, outcome)
                regret[r] += price[r, threshold]

    return compile_function(run)


def in_parts(run: Callable[..., None], *columns: Any) -> None:
    """Nothing; calls for parts of the rows, on all cores."""
    count = 8 * (os.cpu_count() or 1)
    parts = zip(*(np.array_split(column, count) for column in columns), strict=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda part: run(*part), parts))  # a list raises what went wrong


def regrets(goal: int, who: Player | Learner, rounds: int, replicas: int, seed: int) -> Floats:
    """The regret in every replica; all players meet the same problems and the same draws."""
    p_c, p_f = problems(replicas, seed)
    weights = np.ones(replicas)
    if rounds > PLAIN:
        p_c, p_f, weights = near_problems(goal, replicas, seed)
    keys = np.column_stack(
        [replica_keys(seed, part, range(replicas)) for part in (WORLD, LEARNER, OPENING)]
    )
    regret, loop = np.zeros(replicas), playing(who.decide)
    in_parts(
        lambda *part: loop(goal, who.constants, rounds, *part),
        p_c, p_f, weights[:, None] * prices(goal, p_c, p_f), keys, regret,
    )  # fmt: skip
    return regret
