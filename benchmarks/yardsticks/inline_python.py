"""The plain Python program written into one loop by hand, for all the speed that Python gives.

Everything is a local variable and nothing is called in the loop but `random`, `log`, `sqrt` and
`betavariate`.
"""

import math
import random

import numpy as np

from yardsticks.work import GAMMA, PS, SM, Curve, Work, curve


def run(work: Work) -> Curve:
    """The curve of a learner."""
    draws = random.Random(work.seed)  # noqa: S311 (nothing secret)
    return curve(np.array([replica(work, draws) for _ in range(work.replicas)]))


def replica(work: Work, draws: random.Random) -> list[float]:  # noqa: C901, PLR0912
    """The regret of one replica at every look."""
    uniform, beta, log, sqrt = draws.random, draws.betavariate, math.log, math.sqrt
    goal, p_c, p_f, states = work.goal, work.p_c, work.p_f, work.goal - 1
    sample_means, posterior = work.learner == SM, work.learner == PS
    price_0, price_1, price_forced = work.prices
    f, f_goal, c, c_up = 1.0, uniform(), 1.0, uniform()
    regret, rho, kept = 0.0, 0, []
    for look in work.looks:
        while rho < look:
            rho += 1
            if sample_means:
                won, tried, r = f_goal, f, (c - c_up) / c_up
            elif posterior:
                won, tried = beta(1.0 + f_goal, 1.0 + f - f_goal), 1.0
                p = beta(1.0 + c_up, 1.0 + c - c_up)
                r = (1.0 - p) / p
            else:
                twice_log = 2.0 * log(f + c)
                # Above 1 it decides as 1 does, for the sum is never below 1.
                won, tried = f_goal / f + sqrt(twice_log / f), 1.0
                p = c_up / c + sqrt(twice_log / c)
                r = (1.0 - p) / p if p < 1.0 else 0.0
            odds_sum = (1.0 - r**goal) / (1.0 - r) if r != 1.0 else goal
            if won * odds_sum >= tried:
                regret += price_1
                threshold = 1
            elif sample_means and f < GAMMA * log(rho):
                regret += price_forced
                f += 1.0
                if uniform() < p_f:
                    f_goal += 1.0
                continue
            else:
                regret += price_0
                threshold = 0
            state = 1 + int(states * uniform())
            while threshold < state < goal:
                c += 1.0
                if uniform() < p_c:
                    c_up += 1.0
                    state += 1
                else:
                    state -= 1
            if state == 1:
                f += 1.0
                if uniform() < p_f:
                    f_goal += 1.0
        kept.append(regret)
    return kept
