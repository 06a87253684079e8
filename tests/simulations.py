"""Simulations that never ran, for the tests of figures and pages."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from grbp.engine.decisions import Kind
from grbp.experiments.catalog import PAPER_LEARNERS
from grbp.experiments.regret import Curve
from grbp.experiments.simulation import Simulation, checkpoints_up_to
from grbp.worlds.problem import Problem

FIGURE_4 = Problem(4, 0.65, 0.3)


def few_checkpoints(rounds: int) -> NDArray[np.int64]:
    """1, 2, 5, 10, 20, ... and the last round: fewer than in a simulation, and so faster."""
    return checkpoints_up_to(
        rounds, [m * 10**k for k in range(13) for m in (1, 2, 5) if m * 10**k < rounds]
    )


def curve(final: float, rounds: int, replicas: int = 20, seed: int = 0) -> Curve:
    """A curve that grows like a logarithm to about a regret, as if it had been simulated."""
    checkpoints = few_checkpoints(rounds)
    growth = (1.0 + np.log(checkpoints)) / (1.0 + math.log(rounds))
    noise = np.random.default_rng(seed).standard_normal((replicas, 2)) if replicas > 1 else None
    regret = np.full((replicas, 1), final) * growth
    if noise is not None:
        regret = regret * (1.0 + 0.2 * noise[:, :1]) + 0.05 * final * noise[:, 1:] * growth**2
    off = regret - regret.mean(axis=0)
    covariance = off.T @ off / (replicas - 1 or math.nan) / replicas
    shares = {0: 0.7, 1: 0.29999, 3: 0.00001}
    return Curve(regret.mean(axis=0), covariance, regret[:, -1], shares)


def simulation(
    finals: Mapping[str, float],
    problem: Problem = FIGURE_4,
    rounds: int = 5000,
    replicas: int = 20,
    kind: Kind = "pseudo",
) -> Simulation:
    """A simulation that never ran: a learner a name, and about how much it regrets."""
    curves = {name: curve(y, rounds, replicas, i) for i, (name, y) in enumerate(finals.items())}
    return Simulation(
        problem=problem, checkpoints=few_checkpoints(rounds), replicas=replicas, seed=0, kind=kind,
        curves=curves,
    )  # fmt: skip


SIX = dict(zip([*PAPER_LEARNERS, "no-explore"], (53.0, 9.0, 55.0, 15.0, 63.0, 1.1), strict=True))
