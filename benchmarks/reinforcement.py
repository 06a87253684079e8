"""UCRL2 and Q-learning on a chain: they see states and actions, and know nothing of either."""

import math
from typing import Protocol

import numpy as np

from grbp.env import GamblersRuinEnv
from grbp.numerics.arrays import Floats
from grbp.worlds.chain import Chain
from grbp.worlds.dynprog import solve


class Agent(Protocol):
    """Somebody who acts step by step, and sees what comes of it."""

    def act(self, state: int, random: np.random.Generator) -> int:
        """The action in a state: CONTINUE (0) or FINISH (1)."""

    def see(self, state: int, action: int, after: int) -> None:
        """Nothing; learns where an action led."""


def gaps_of(chain: Chain) -> Floats:
    """V*(s) - Q*(s, a), a row for each inner state."""
    values = np.array([0.0, *solve(chain).value, 1.0])
    quality = np.stack([chain.law @ values, chain.p_f], axis=1)
    gaps: Floats = values[1:-1, None] - quality
    return gaps


def played_by_steps(chain: Chain, agent: Agent, rounds: int, seed: int) -> float:
    """What an agent loses over the Gymnasium environment of a chain, in some rounds."""
    env, random, gaps = GamblersRuinEnv(problem=chain), np.random.default_rng(seed), gaps_of(chain)
    lost = 0.0
    env.reset(seed=seed)
    for _ in range(rounds):
        first, _ = env.reset()
        state, over = int(first), False
        while not over:
            action = agent.act(state, random)
            lost += float(gaps[state - 1, action])
            after, _, over, _, _ = env.step(action)
            agent.see(state, action, int(after))
            state = int(after)
    return lost


class QLearning:
    """Watkins's Q-learning, with the goal worth 1 and the dead end 0."""

    def __init__(self, goal: int) -> None:
        self.goal, self.rounds = goal, 1
        self.quality, self.taken = np.full((goal + 1, 2), 0.5), np.zeros((goal + 1, 2))
        self.quality[0], self.quality[goal] = 0.0, 1.0

    def act(self, state: int, random: np.random.Generator) -> int:
        """The better action, or any."""
        if random.random() < self.rounds**-0.5:
            return int(random.integers(2))
        return int(self.quality[state, 1] >= self.quality[state, 0])

    def see(self, state: int, action: int, after: int) -> None:
        """Nothing; moves the worth of the action towards that of where it led."""
        self.taken[state, action] += 1.0
        step = self.taken[state, action] ** -0.7
        self.quality[state, action] += step * (
            self.quality[after].max() - self.quality[state, action]
        )
        self.rounds += after in {0, self.goal}


class Ucrl2:
    """UCRL2: the best policy of the most hopeful chain within L1 balls around the estimates."""

    def __init__(self, goal: int, delta: float = 0.05) -> None:
        self.goal, self.delta, self.time = goal, delta, 1
        self.seen = np.zeros((goal + 1, 2, goal + 1))
        self.begin()

    def begin(self) -> None:
        """Nothing; begins an episode: plans anew, and plays that until a count has doubled."""
        self.before = np.maximum(1.0, self.seen.sum(axis=2))
        states, actions = self.goal + 1, 2
        log = math.log(2.0 * actions * self.time / self.delta)
        room = np.sqrt(14.0 * states * log / self.before)
        shares = self.seen / self.before[:, :, None]
        values = np.zeros(states)
        values[self.goal] = 1.0
        for _ in range(500):
            order = np.argsort(-values)
            hope = shares.copy()
            hope[:, :, order[0]] = np.minimum(1.0, shares[:, :, order[0]] + room / 2.0)
            for worst in order[:0:-1]:
                excess = np.maximum(0.0, hope.sum(axis=2) - 1.0)
                hope[:, :, worst] = np.maximum(0.0, hope[:, :, worst] - excess)
            quality = hope @ values
            new = quality.max(axis=1)
            new[0], new[self.goal] = 0.0, 1.0
            if np.abs(new - values).max() < 1e-9:
                break
            values = new
        self.policy = (quality[:, 1] >= quality[:, 0]).astype(int)

    def act(self, state: int, random: np.random.Generator) -> int:  # noqa: ARG002
        """The action of this episode's policy."""
        return int(self.policy[state])

    def see(self, state: int, action: int, after: int) -> None:
        """Nothing; counts, and begins anew where a count has doubled."""
        self.seen[state, action, after] += 1.0
        self.time += 1
        if self.seen[state, action].sum() >= 2.0 * self.before[state, action]:
            self.begin()
