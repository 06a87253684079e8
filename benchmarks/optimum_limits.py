"""Regrets that no learner can be below, averaged over p_C and p_F from 0 to 1.

Each is the optimum of somebody who knows more: p_C itself; or what CONTINUE would have done after
every FINISH, and all of it in advance. With G = 2 nobody has to know more: the optimum is exact.
"""

import math
from typing import Any

import numpy as np

from grbp.learners.counters import play
from grbp.learners.doorstep import continue_value
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import compile_function, kernel, u64
from grbp.numerics.rng import WORLD, fold_in, replica_keys
from optimum_world import door_value, in_parts, reach, reach_table, start

WIDE = 7.0
"""Outside so many standard deviations there is nothing left to learn, to nine digits."""

NODES = np.sqrt(3.0) * np.array([-1.0, 0.0, 1.0]), np.array([1.0, 4.0, 1.0]) / 6.0
"""A normal variable as three points: right for polynomials up to the fifth degree."""

POINTS = 48
"""The points of the average over what p_C may be."""


@kernel
def taken_for_good(s: int, n: int, b: float, chances: int) -> float:
    """Compute what FINISH gains if it is taken in all chances that are left, as above the band."""
    return (chances - n) * ((s + 1.0) / (n + 2.0) - b)


@kernel
def one_armed_gain(b: float, chances: int) -> float:
    """Compute the most that trying FINISH can gain over a known value b, with some chances."""
    later, now = np.zeros(chances + 2), np.zeros(chances + 2)
    low, high = 0, chances
    for n in range(chances - 1, -1, -1):
        width = WIDE * math.sqrt(n * b * (1.0 - b) + 9.0)
        below, above = max(0, int(n * b - width)), min(n, int(n * b + width))
        for s in range(below, above + 1):
            p = (s + 1.0) / (n + 2.0)
            up = later[s + 1] if s + 1 <= high else taken_for_good(s + 1, n + 1, b, chances)
            down = later[s] if s <= high else taken_for_good(s, n + 1, b, chances)
            if s < low:
                down = 0.0
            now[s] = max(0.0, p - b + p * up + (1.0 - p) * down)
        later, now, low, high = now, later, below, above
    return later[0]


def _told(b: Any, chances: Any, gain: Any) -> None:
    """Nothing; computes the gain for every value and number of chances."""
    for k in range(len(b)):
        gain[k] = one_armed_gain(b[k], chances[k])


def told(goal: int, rounds: int, points: int) -> float:
    """The least regret of somebody who is told p_C and how many rounds come to state 1."""
    p_c = (np.arange(points) + 0.5) / points
    share, b = reach(goal, p_c), door_value(goal, p_c)
    spread = np.sqrt(rounds * share * (1.0 - share))
    chances = np.rint(rounds * share[:, None] + NODES[0] * spread[:, None])
    chances = np.clip(chances, 0, rounds).astype(np.int64)
    gain = np.zeros(chances.size)
    loop = compile_function(_told)
    in_parts(loop, np.repeat(b, len(NODES[0])), chances.ravel(), gain)
    free = chances * ((1.0 - b) ** 2 / 2.0)[:, None]  # the mean of (p_F - B)^+
    return float(((free - gain.reshape(chances.shape)) @ NODES[1]).mean())


@kernel
def expected_value(goal: int, share: Floats, up: int, c: int) -> float:
    """Compute the mean of B in rounds that come to state 1, given the moves of CONTINUE so far."""
    middle, sd = math.asin(math.sqrt((up + 0.5) / (c + 1.0))), 0.5 / math.sqrt(c + 1.0)
    low, high = max(0.0, middle - 5.0 * sd), min(0.5 * math.pi, middle + 5.0 * sd)
    best = (2 * up + 1) * math.log(math.sin(middle)) + (2 * (c - up) + 1) * math.log(
        math.cos(middle)
    )
    total, weighed = 0.0, 0.0
    for k in range(POINTS):
        angle = low + (high - low) * (k + 0.5) / POINTS
        p = math.sin(angle) ** 2
        weight = (2 * up + 1) * math.log(math.sin(angle)) - best
        weight = math.exp(weight + (2 * (c - up) + 1) * math.log(math.cos(angle)))
        place = p * (len(share) - 1)
        i = min(int(place), len(share) - 2)
        weight *= share[i] + (place - i) * (share[i + 1] - share[i])
        total += weight
        weighed += weight * continue_value(p, goal)
    return weighed / total


@kernel
def foreseen_gain(b: Floats, chances: int) -> float:
    """Compute the most that FINISH can gain if all coming estimates b are known."""
    gain = np.zeros((chances + 2, chances + 2))
    for j in range(chances - 1, -1, -1):
        for n in range(j + 1):
            for s in range(n + 1):
                p = (s + 1.0) / (n + 2.0)
                tried = p - b[j] + p * gain[n + 1, s + 1] + (1.0 - p) * gain[n + 1, s]
                gain[n, s] = max(gain[n, s], tried)
    return gain[0, 0]


def _foreseen(  # noqa: PLR0913, PLR0917 (a compiled loop)
    goal: Any, rounds: Any, share: Any, p_c: Any, keys: Any, regret: Any, noise: Any
) -> None:
    """Nothing; computes the regret along every path, and a noise whose mean is 0."""
    for r in range(len(p_c)):
        true = continue_value(p_c[r], goal)
        b, chances, up, c = np.zeros(rounds), 0, 0, 0
        for t in range(rounds):
            key = fold_in(u64(keys[r]), t + 1)
            first = start(goal, key)
            if play(goal, p_c[r], 0.0, 1, first, key).f == 1:
                b[chances] = expected_value(goal, share, up, c)
                noise[r] += b[chances] - true
                chances += 1
            walk = play(goal, p_c[r], 0.0, 0, first, key)
            up, c = up + walk.c_up, c + walk.c
        regret[r] = chances * (1.0 - true) ** 2 / 2.0 - foreseen_gain(b, chances)


def foreseen(goal: int, rounds: int, paths: int, seed: int) -> tuple[float, float]:
    """The least regret of somebody who foresees all estimates of B, and its standard error.

    Such a learner is paid by the estimate of B at the time, not by B, so knowing the estimates to
    come is its only advantage, with the walks that CONTINUE would have had after FINISH.
    """
    p_c = (np.arange(paths) + np.random.default_rng(seed).random(paths)) / paths
    regret, noise = np.zeros(paths), np.zeros(paths)
    loop, share = compile_function(_foreseen), reach_table(goal)[1]
    keys = np.asarray(replica_keys(seed, WORLD, range(paths)))
    in_parts(lambda *part: loop(goal, rounds, share, *part), p_c, keys, regret, noise)
    slope = float(np.cov(regret, noise)[0, 1] / noise.var(ddof=1))
    calm = regret - slope * noise
    return float(calm.mean()), float(calm.std(ddof=2) / math.sqrt(paths))


def _two_armed(rounds: Any) -> float:
    """The most successes in some rounds with two arms of unknown means, by backward induction."""
    later = np.zeros((rounds + 1, rounds + 1, rounds + 1), np.float32)
    for t in range(rounds - 1, -1, -1):
        # What is written here is not read again in this round: all of it has n >= this n.
        for n in range(t + 1):
            c = t - n
            for s in range(n + 1):
                p_f = (s + 1.0) / (n + 2.0)
                for u in range(c + 1):
                    p_c = (u + 1.0) / (c + 2.0)
                    f = p_f * (1.0 + later[n + 1, s + 1, u]) + (1.0 - p_f) * later[n + 1, s, u]
                    g = p_c * (1.0 + later[n, s, u + 1]) + (1.0 - p_c) * later[n, s, u]
                    later[n, s, u] = max(f, g)
    return float(later[0, 0, 0])


def two_armed(rounds: int) -> float:
    """The regret of the best learner of all with G = 2, where both actions end the round."""
    return rounds * 2.0 / 3.0 - float(compile_function(_two_armed)(rounds))
