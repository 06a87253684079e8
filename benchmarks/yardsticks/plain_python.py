"""A plain Python program, as one writes it: a function for each thing, step by step.

`inline_python` is the same with everything written into one loop, by hand, for speed.
"""

import math
import random
from dataclasses import dataclass

import numpy as np

from yardsticks.work import GAMMA, PS, SM, Curve, Work, curve


@dataclass
class Counts:
    """How often each action was taken, and how often with success."""

    f: float
    f_goal: float
    c: float
    c_up: float


def run(work: Work) -> Curve:
    """The curve of a learner."""
    draws = random.Random(work.seed)  # noqa: S311 (nothing secret)
    return curve(np.array([replica(work, draws) for _ in range(work.replicas)]))


def replica(work: Work, draws: random.Random) -> list[float]:
    """The regret of one replica at every look."""
    n = Counts(1.0, draws.random(), 1.0, draws.random())
    prices = {0: work.prices[0], 1: work.prices[1], work.goal - 1: work.prices[2]}
    looks, regret, kept = set(work.looks), 0.0, []
    for rho in range(1, work.rounds + 1):
        threshold = decide(work, n, rho, draws)
        regret += prices[threshold]
        play(work, n, threshold, draws)
        if rho in looks:
            kept.append(regret)
    return kept


def decide(work: Work, n: Counts, rho: int, draws: random.Random) -> int:
    """The threshold of the next round."""
    if work.learner == SM:
        if n.f_goal / n.f >= boundary(n.c_up / n.c, work.goal):
            return 1
        return work.goal - 1 if n.f < GAMMA * math.log(rho) else 0
    if work.learner == PS:
        p_f = draws.betavariate(1.0 + n.f_goal, 1.0 + n.f - n.f_goal)
        p_c = draws.betavariate(1.0 + n.c_up, 1.0 + n.c - n.c_up)
    else:
        twice_log = 2.0 * math.log(n.f + n.c)
        p_f = min(1.0, n.f_goal / n.f + math.sqrt(twice_log / n.f))
        p_c = min(1.0, n.c_up / n.c + math.sqrt(twice_log / n.c))
    return 1 if p_f >= boundary(p_c, work.goal) else 0


def boundary(p_c: float, goal: int) -> float:
    """The chance of reaching the goal from state 1 by continuing."""
    if p_c == 0.5:
        return 1.0 / goal
    r = (1.0 - p_c) / p_c
    return (1.0 - r) / (1.0 - r**goal)


def play(work: Work, n: Counts, threshold: int, draws: random.Random) -> None:
    """Nothing; a round is walked, and counted."""
    state = draws.randrange(1, work.goal)
    while 0 < state < work.goal:
        if state <= threshold:
            n.f += 1.0
            if draws.random() < work.p_f:
                n.f_goal += 1.0
            return
        n.c += 1.0
        if draws.random() < work.p_c:
            n.c_up += 1.0
            state += 1
        else:
            state -= 1
