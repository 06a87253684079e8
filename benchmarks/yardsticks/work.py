"""The work that everyone is given, and the curve that everyone gives back.

A learner plays a number of rounds, again in every replica, on a problem whose rounds start in a
uniform state and with initial estimates drawn from [0, 1]. A round costs the gap of the
threshold it was played with; a forced exploration, which finishes at once, is the threshold
goal - 1 and costs V* - p_f.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import grbp
from grbp.experiments.simulation import checkpoints_up_to

Floats = NDArray[np.float64]

SM, UCB, PS = "getbe-sm", "getbe-ucb", "getbe-ps"
LEARNERS = (SM, UCB, PS)
P_C = (0.45, 0.65)

GAMMA = 15.0
"""FINISH is forced until it was tried gamma log(rho) times."""


@dataclass(frozen=True)
class Work:
    """One learner on one problem; what is not said is the paper's."""

    learner: str
    p_c: float
    rounds: int = 5000
    replicas: int = 200
    seed: int = 0
    goal: int = 4
    p_f: float = 0.3

    @property
    def size(self) -> int:
        """The number of rounds in all."""
        return self.rounds * self.replicas

    @cached_property
    def problem(self) -> grbp.Problem:
        """The problem, as grbp takes it."""
        return grbp.Problem(self.goal, self.p_c, self.p_f)

    @cached_property
    def looks(self) -> list[int]:
        """The rounds at which the curve is kept, about a hundred of them."""
        return [int(look) for look in checkpoints_up_to(self.rounds)]

    @cached_property
    def prices(self) -> list[float]:
        """What a round costs with threshold 0, with threshold 1, and finishing at once."""
        return [grbp.gap(self.problem, threshold) for threshold in (0, 1, self.goal - 1)]


@dataclass(frozen=True)
class Curve:
    """The mean regret over the replicas and its standard error, at each look."""

    mean: Floats
    se: Floats


def curve(regret: Floats) -> Curve:
    """The curve of the regret of every replica at every look: [replica, look]."""
    return Curve(regret.mean(axis=0), regret.std(axis=0, ddof=1) / math.sqrt(len(regret)))


def forced_rounds(rounds: int) -> list[int]:
    """For FINISH tried n = 0, 1, ... times: the first round with gamma log(rho) > n."""
    table: list[int] = []
    while not table or table[-1] <= rounds:
        rho = max(int(math.exp(len(table) / GAMMA)) - 1, 1)
        while GAMMA * math.log(rho) <= len(table):
            rho += 1
        table.append(rho)
    return table
