"""NumPy over the replicas: all of them play round 1, then round 2, and so on.

Slots are drawn in bunches, in which the first that leaves ends the round; who has not left
draws another bunch.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from yardsticks.work import GAMMA, PS, SM, Curve, Floats, Work, curve

Ints = NDArray[np.int64]

BUNCH = 12
"""Slots drawn at once: enough for most rounds of four states."""

SLOTS = np.arange(1, BUNCH + 1)[:, None]


class Counters(NamedTuple):
    """FINISH taken, and the goal reached by it; CONTINUE taken, and moved up: [replica]."""

    f: Floats
    f_goal: Floats
    c: Floats
    c_up: Floats


def run(work: Work) -> Curve:
    """The curve of a learner."""
    rng, count = np.random.default_rng(work.seed), work.replicas
    n = Counters(np.ones(count), rng.random(count), np.ones(count), rng.random(count))
    price = np.zeros(work.goal)
    price[[0, 1, work.goal - 1]] = work.prices
    regret, kept, rho = np.zeros(count), [], 0
    for look in work.looks:
        while rho < look:
            rho += 1
            threshold = choose(work, n, rho, rng)
            regret += price[threshold]
            play(work, n, threshold, rng)
        kept.append(regret.copy())
    return curve(np.column_stack(kept))


def choose(work: Work, n: Counters, rho: int, rng: np.random.Generator) -> Ints:
    """The threshold of every replica in round rho."""
    p_f, p_c = estimates(work.learner, n, rng)
    r = 1.0 / p_c - 1.0
    odds_sum = 1.0 + r
    for _ in range(work.goal - 2):
        odds_sum *= r
        odds_sum += 1.0
    threshold = (p_f * odds_sum >= 1.0).astype(np.int64)
    if work.learner == SM:
        threshold[(threshold == 0) & (n.f < GAMMA * np.log(rho))] = work.goal - 1
    return threshold


def estimates(learner: str, n: Counters, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """What every replica takes p_f and p_c for."""
    if learner == PS:
        p_f = rng.beta(1.0 + n.f_goal, 1.0 + n.f - n.f_goal)
        return p_f, rng.beta(1.0 + n.c_up, 1.0 + n.c - n.c_up)
    p_f, p_c = n.f_goal / n.f, n.c_up / n.c
    if learner == SM:
        return p_f, p_c
    twice_log = 2.0 * np.log(n.f + n.c)
    p_f += np.sqrt(twice_log / n.f)
    p_c += np.sqrt(twice_log / n.c)
    return np.minimum(p_f, 1.0), np.minimum(p_c, 1.0)


def play(work: Work, n: Counters, threshold: Ints, rng: np.random.Generator) -> None:
    """Nothing; one round of every replica, counted."""
    state = rng.integers(1, work.goal, len(threshold))
    on = np.flatnonzero(state > threshold)
    while on.size:
        ups = (rng.random((BUNCH, on.size)) < work.p_c).cumsum(axis=0, dtype=np.int64)
        path = 2 * ups + (state[on] - SLOTS)
        ended = (path == threshold[on]) | (path == work.goal)
        last = ended.argmax(axis=0)
        columns = np.arange(on.size)
        over = ended[last, columns]
        last[~over] = BUNCH - 1
        n.c[on] += last + 1
        n.c_up[on] += ups[last, columns]
        state[on] = path[last, columns]
        on = on[~over]
    finish = (state > 0) & (state <= threshold)
    n.f[finish] += 1.0
    n.f_goal[finish] += rng.random(np.count_nonzero(finish)) < work.p_f
