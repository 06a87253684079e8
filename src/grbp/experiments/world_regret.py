"""Regret on any truth: chains, chances that drift, groups that differ; and of learners by state."""

import math
from typing import Final, Literal

import numpy as np

from grbp._arguments import check_choice, name_kind
from grbp.engine.decisions import EngineLike, InitialEstimates, Kind, Report
from grbp.engine.losses import best_totals, losses
from grbp.errors import InvalidInput
from grbp.experiments.moments import Sums, price_checkpoints
from grbp.experiments.regret import Curve
from grbp.learners.base import AnyLearner
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.problem import Problem
from grbp.worlds.world import World

_BLOCK: Final = 4096
"""Replicas whose losses are kept at a time, so that memory does not grow with their number."""

_FINE: Final = 60
"""Bits of what a replica lost, as a whole number."""


def as_paper(world: World, learner: AnyLearner) -> tuple[Problem, AnyLearner] | None:
    """Return a problem and a learner of its thresholds that forgets nothing, if they are that."""
    problem = world.paper
    return None if problem is None or learner.by_state or learner.memory else (problem, learner)


def check_player(world: World, learner: AnyLearner) -> AnyLearner:
    """Return a learner that can be played on any truth, or refuse it."""
    if not (learner.by_threshold or learner.by_state):
        raise InvalidInput(
            f"the learner {learner.name} was given with {name_kind(type(world))}; it plays a"
            " Problem alone"
        )
    return learner


def check_walked(
    world: World,
    learner: AnyLearner,
    engine: EngineLike,
    splitting: bool,
    regret: Kind,
) -> Literal["walk"]:
    """Refuse what only learners of thresholds on a Problem can do; return the engine."""
    check_choice("engine", engine, EngineLike)
    where = learner.name if world.paper else name_kind(type(world))
    asked = {
        f"engine = {engine!r}": engine in {"leap", "draw"},
        "splitting": splitting,
        "regret = 'by-start'": regret == "by-start",
    }
    for what, wrong in asked.items():
        if wrong:
            raise InvalidInput(
                f"{what} was given with {where}; it must be left out there, where every round is"
                " walked"
            )
    return "walk"


def check_pooled(pooled: object, world: World) -> bool:
    """Return whether all groups are counted as one; refuse where there are none."""
    if not isinstance(pooled, bool | np.bool_) or (pooled and "" in world.groups):
        raise InvalidInput(
            f"pooled = {pooled!r} was given; it must be False, or True where there are Groups"
        )
    return bool(pooled)


def loss_curve(  # noqa: PLR0913 (each is a separate choice of the caller)
    world: World,
    learner: AnyLearner,
    checkpoints: Ints,
    replicas: int,
    seed: int,
    *,
    regret: Kind = "pseudo",
    initial_estimates: InitialEstimates = "drawn",
    pooled: bool = False,
    threads: int | None = None,
    report: Report | None = None,
) -> Curve:
    """Play a learner on any truth, and compute its regret over all replicas."""
    sums, final = Sums.nothing(len(checkpoints)), []
    best = best_totals(world, checkpoints) if regret == "realised" else np.zeros(len(checkpoints))
    quantum = quantum_of(regret, int(checkpoints[-1]))
    for first in range(0, replicas, _BLOCK):
        count = min(_BLOCK, replicas - first)

        def tell(done: int, _: int, before: int = first) -> None:
            if report is not None:
                report(before + done, replicas)

        lost, won = losses(
            world,
            learner,
            checkpoints,
            count,
            seed,
            threads=threads,
            pooled=pooled,
            once=initial_estimates == "once",
            first=first,
            report=tell,
        )
        sums += Sums.of(as_wholes(-won if regret == "realised" else lost, quantum))
        final.append(best[-1] - won[:, -1] if regret == "realised" else lost[:, -1])
    mean, covariance = price_checkpoints(sums, np.array([quantum]))
    return Curve(best + mean, covariance, np.concatenate(final), {})


def quantum_of(kind: Kind, rounds: int) -> float:
    """Return the unit in which losses are summed: of rounds won, or a small power of two."""
    return 1.0 if kind == "realised" else 2.0 ** (math.frexp(rounds)[1] - _FINE)


def as_wholes(lost: Floats | Ints, quantum: float) -> Ints:
    """Return losses as whole numbers, which add up to the same in any order."""
    return np.rint(lost / quantum).astype(np.int64)
