"""Simulations: learners on one problem, with what they regret."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from grbp.engine.decisions import Engine, EngineLike, Report, choose_engine, decisions
from grbp.errors import InvalidInput
from grbp.experiments.regret import Curve, Kind, curve
from grbp.learners.registry import LearnerLike, find_learner
from grbp.model.problem import Problem
from grbp.model.validation import check_whole
from grbp.numerics.arrays import Ints

MOST_ROUNDS = 10**12
MOST_REPLICAS = 10**9
_LOOKS = 100

Progress = Callable[[str, int, int], None]
"""Called with (learner's name, replicas done, replicas in all)."""


@dataclass(frozen=True)
class Simulation:
    """What came of it: the checkpoints, and for every learner its curve.

    engines   how each learner's rounds were played: {learner: "walk" or "leap"}
    """

    problem: Problem
    checkpoints: Ints
    replicas: int
    seed: int
    kind: Kind
    curves: dict[str, Curve]
    engines: dict[str, Engine] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """The number of rounds: the last checkpoint."""
        return int(self.checkpoints[-1])


def simulate(  # noqa: PLR0913 (each is a separate choice of the user)
    problem: Problem,
    learners: Sequence[LearnerLike],
    rounds: int,
    replicas: int,
    seed: int,
    *,
    checkpoints: Sequence[int] | None = None,
    regret: Kind = "pseudo",
    opening: Literal["drawn", "once"] = "drawn",
    engine: EngineLike = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """The regret of learners over rounds, averaged over replicas; the same for the same seed.

    rounds are looked at in about a hundred places, evenly spaced in their logarithm, or in
    those of `at`, and always at the last. The estimates before round 1 are drawn from [0, 1],
    or come from taking each action once, which is not counted as a round.

    The engine "walk" takes every step, and every learner meets the same cases; "leap" draws
    rounds whole and skips those in which a learner cannot change its mind, with the same law and
    other draws; "auto" leaps unless that is not worth while. All threads there are, by default;
    their number changes no bit.

    Paper: sec:numeric
    """
    rounds = check_whole("rounds", rounds, 1, MOST_ROUNDS)
    replicas = check_whole("replicas", replicas, 1, MOST_REPLICAS)
    seed = check_whole("seed", seed, 0, 2**128 - 1)
    if threads is not None:
        threads = check_whole("threads", threads, 1, 1024)
    if regret not in ("pseudo", "realised", "by-start"):
        raise InvalidInput(
            f"regret = {regret!r} was given; it must be 'pseudo', 'realised' or 'by-start'"
        )
    if opening not in ("drawn", "once"):
        raise InvalidInput(f"opening = {opening!r} was given; it must be 'drawn' or 'once'")
    kept = checkpoints_up_to(rounds, checkpoints)
    found = [find_learner(learner, problem) for learner in learners]
    names = [learner.name for learner in found]
    if len(set(names)) < len(names) or not names:
        raise InvalidInput(
            f"the learners {names} were given; there must be one or more, each named once"
        )
    engines = {one.name: choose_engine(problem, one, rounds, engine) for one in found}
    curves = {}
    for learner in found:
        blocks = decisions(
            problem,
            learner,
            kept.tolist(),
            replicas,
            seed,
            engine=engines[learner.name],
            threads=threads,
            by_start=regret == "by-start",
            wins=regret == "realised",
            once=opening == "once",
            report=_report(learner.name, replicas, progress),
        )
        curves[learner.name] = curve(problem, learner, kept.astype(np.float64), blocks, regret)
    return Simulation(problem, kept, replicas, seed, regret, curves, engines)


def checkpoints_up_to(rounds: int, asked: Sequence[int] | None = None) -> Ints:
    """The rounds at which a curve is kept, in order, the last one always among them."""
    given: object = asked
    if asked is None:
        chosen = _spaced(rounds)
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInput(f"checkpoints = {asked!r} was given; it must be a list of rounds")
    else:
        chosen = np.unique(
            [check_whole("checkpoints", checkpoint, 1, rounds) for checkpoint in asked]
        )
    return np.union1d(chosen, [rounds]).astype(np.int64)


@lru_cache(maxsize=64)
def _spaced(rounds: int) -> Ints:
    """About a hundred rounds, evenly spaced in their logarithm."""
    spaced = np.geomspace(1, rounds, _LOOKS) if rounds > 1 else np.ones(1)
    return np.unique(np.floor(spaced + 0.5).astype(np.int64))


def _report(name: str, replicas: int, progress: Progress | None) -> Report | None:
    """What the engine calls as replicas are done; nothing where nobody wants to know."""
    if progress is None:
        return None
    return lambda done: progress(name, done, replicas)
