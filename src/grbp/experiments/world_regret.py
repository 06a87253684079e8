"""Say who can be played on which truth, and how."""

from typing import Literal

import numpy as np

from grbp._arguments import check_choice, name_kind
from grbp.engine.decisions import EngineLike, Kind
from grbp.errors import InvalidInput
from grbp.learners.base import AnyLearner
from grbp.worlds.problem import Problem
from grbp.worlds.world import World


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
