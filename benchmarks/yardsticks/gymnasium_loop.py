"""The registered Gymnasium environment, stepped by a learner in plain Python."""

import math
import random

import gymnasium
import numpy as np

from yardsticks.work import GAMMA, PS, SM, Curve, Work, curve


def run(work: Work) -> Curve:
    """The curve of a learner."""
    env = gymnasium.make(
        "grbp.env:grbp/GamblersRuin-v0",
        disable_env_checker=True,
        goal=work.goal,
        p_c=work.p_c,
        p_f=work.p_f,
    )
    env.reset(seed=work.seed)
    draws = random.Random(work.seed)  # noqa: S311 (nothing secret)
    return curve(np.array([replica(work, env, draws) for _ in range(work.replicas)]))


def replica(work: Work, env: gymnasium.Env, draws: random.Random) -> list[float]:
    """The regret of one replica at every look."""
    learner = Learner(work, draws)
    reset, step = env.reset, env.step
    price = dict(zip((0, 1, work.goal - 1), work.prices, strict=True))
    regret, rho, kept = 0.0, 0, []
    for look in work.looks:
        while rho < look:
            rho += 1
            threshold = learner.threshold(rho)
            regret += price[threshold]
            state, over = int(reset()[0]), False
            while not over:
                before, action = state, 1 if state <= threshold else 0
                observation, reward, over, _, _ = step(action)
                state = int(observation)
                if action:
                    learner.f += 1
                    learner.f_goal += float(reward)
                else:
                    learner.c += 1
                    if state > before:
                        learner.c_up += 1.0
        kept.append(regret)
    return kept


class Learner:
    """GETBE: its counters, and the threshold that it chooses from them."""

    def __init__(self, work: Work, draws: random.Random) -> None:
        self.goal, self.draws = work.goal, draws
        self.f, self.f_goal, self.c, self.c_up = 1, draws.random(), 1, draws.random()
        self.forces = work.learner == SM
        self.estimates = {SM: self.means, PS: self.sample}.get(work.learner, self.upper)

    def threshold(self, rho: int) -> int:
        """The threshold of round rho."""
        p_f, p_c = self.estimates()
        r = (1.0 - p_c) / p_c
        odds_sum = (1.0 - r**self.goal) / (1.0 - r) if r != 1.0 else self.goal
        if p_f * odds_sum >= 1.0:
            return 1
        return self.goal - 1 if self.forces and self.f < GAMMA * math.log(rho) else 0

    def means(self) -> tuple[float, float]:
        """Both sample means."""
        return self.f_goal / self.f, self.c_up / self.c

    def sample(self) -> tuple[float, float]:
        """A draw from the posterior of each probability."""
        beta = self.draws.betavariate
        p_f = beta(1.0 + self.f_goal, 1.0 + self.f - self.f_goal)
        return p_f, beta(1.0 + self.c_up, 1.0 + self.c - self.c_up)

    def upper(self) -> tuple[float, float]:
        """Both sample means, raised by their inflation terms."""
        twice_log = 2.0 * math.log(self.f + self.c)
        p_f = self.f_goal / self.f + math.sqrt(twice_log / self.f)
        return min(p_f, 1.0), min(self.c_up / self.c + math.sqrt(twice_log / self.c), 1.0)
