"""The engine under test, on the work of the yardsticks."""

import grbp
from grbp.engine.decisions import EngineLike
from yardsticks.work import Curve, Work


def run(work: Work, engine: EngineLike = "auto", threads: int = 1) -> Curve:
    """The curve of a learner."""
    result = grbp.simulate(
        work.problem,
        [work.learner],
        work.rounds,
        work.replicas,
        work.seed,
        engine=engine,
        threads=threads,
    )
    curve = result.curves[work.learner]
    return Curve(curve.mean, curve.se)
