"""Play on a GPU that numba-cuda simulates, and on the CPU: a script, run in its own process.

It takes the names of functions below, and fails as an assertion in one of them does.
"""

import sys
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import own_learners
import pytest
from runs import BUILT_IN, FIGURE_3, FIGURE_4, UNEVEN, all_at_once

import grbp
from grbp import Counters, Learner, Problem
from grbp.engine import cuda
from grbp.learners.base import AnyLearner
from grbp.numerics.arrays import Ints

ENGINES: Any = ("walk", "draw")
CHECKPOINTS, REPLICAS, SEEDS = [1, 10, 30], range(2, 5), [5, 2**100 + 3]


def agree(problems: list[Problem], learner: AnyLearner, engines: Any = ENGINES) -> None:
    for engine in engines:
        seeds = SEEDS[: len(problems)]
        found = cuda.cuda_decisions(problems, learner, CHECKPOINTS, REPLICAS, seeds, engine)
        for problem, seed, played in zip(problems, seeds, found, strict=True):
            asked: Any = (problem, learner, CHECKPOINTS, len(REPLICAS), seed)
            wanted = all_at_once(*asked, first=REPLICAS.start, engine=engine, regret="pseudo")
            np.testing.assert_array_equal(played, wanted.played, f"{learner.name} {engine}")
        check_sums(found, *cuda.cuda_sums(problems, learner, CHECKPOINTS, REPLICAS, seeds, engine))


def check_sums(played: Ints, totals: Ints, products: Ints) -> None:
    np.testing.assert_array_equal(totals, played.sum(axis=1))
    np.testing.assert_array_equal(products, np.einsum("prci,prcj->pcij", played, played))


def getbe_sm() -> None:
    agree([FIGURE_3, FIGURE_4], grbp.find_learner("getbe-sm", 4))


def every_learner() -> None:
    for learner in BUILT_IN:
        agree([FIGURE_3, FIGURE_4], learner)


def every_goal() -> None:
    learner: Any = grbp.find_learner("getbe-sm", 4)
    for goal in (2, 3, 16):
        agree([Problem(goal, 0.5, 0.3), Problem(goal, 0.2, 0.6, 1)], learner)
    agree([UNEVEN, Problem(7, 0.5, 0.3)], learner)
    agree([Problem(20, 0.5, 0.3)], learner, ["walk"])
    cuda.SHARED = 0  # type: ignore[misc] # Tables stay in the memory that all blocks share.
    agree([FIGURE_3, FIGURE_4], learner, ["draw"])


class Taste(NamedTuple):
    """The constants of a learner that others wrote."""

    least: float = 0.4
    often: int = 3


@grbp.kernel
def share(won: float, tried: float) -> float:
    return won / tried if tried > 0.0 else 0.5


def moody(goal: int, constants: Taste, n: Counters, key: int) -> int:
    """Finish where it went well, in every third round, and now and then."""
    if n.rho % constants.often == 0 or grbp.uniform(key, 0) < 0.1:
        return goal - 1
    return share(n.f_goal, n.f) > constants.least


def own_learner() -> None:
    agree([FIGURE_3, FIGURE_4], Learner("moody", moody, Taste()))
    agree([FIGURE_3, FIGURE_4], Learner("moodier", moody, Taste(0.1, 2), thresholds=(1, 3, 0)))
    for name in ("counting", "drawing"):
        agree([FIGURE_3, FIGURE_4], grbp.find_learner(f"own_learners:{name}", 4))


def many_launches() -> None:
    learner: Any = grbp.find_learner("getbe-sm", 4)
    asked: Any = ([FIGURE_3, FIGURE_4], learner, [7, 20], range(1, 12), SEEDS, "draw")
    played = cuda.cuda_decisions(*asked)
    whole = cuda.cuda_sums(*asked)
    cuda._PROBLEMS, cuda._REPLICAS = 1, 4  # type: ignore[misc]
    parts = cuda.cuda_sums(*asked)
    check_sums(played, *whole)
    check_sums(played, *parts)
    assert {part.dtype for part in whole} == {np.dtype(np.int64)}
    assert {part.dtype for part in parts} == {np.dtype(object)}
    nobody: Any = (*asked[:3], range(5, 5), *asked[4:])
    nothing = cuda.cuda_sums(*nobody)
    assert not any(part.any() for part in nothing)


def undeclared() -> None:
    learner = Learner("sly", lambda _goal, _, n, _key: 2 + n.rho // 8, thresholds=(0, 1, 2))
    for engine in ENGINES:
        with pytest.raises(grbp.InvalidInput, match="sly decided 3, which") as on_cpu:
            all_at_once(FIGURE_3, learner, [30], 3, 5, engine=engine)
        with pytest.raises(grbp.InvalidInput) as on_gpu:
            cuda.cuda_sums([FIGURE_3], learner, [30], range(3), [5], engine)
        assert str(on_gpu.value) == str(on_cpu.value)


def swept() -> None:
    grid: Any = {"goal": [3, 4], "p_c": [0.4, 0.6], "p_f": 0.3}
    learners = ("getbe-sm", "oracle", own_learners.counting, "own_learners:drawing")
    spec = grbp.SweepSpec("gpu", grid, learners, (5, 20), 7, 3, "draw")
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        on_gpu = grbp.sweep(spec, one, device="cuda")
        assert on_gpu.digest == grbp.sweep(spec, other, processes=1).digest
        more = replace(spec, replicas=9)
        assert grbp.sweep(more, one, threads=1).digest == grbp.sweep(more, other).digest


if __name__ == "__main__":
    cuda.THREADS, cuda.GROUP = 4, 2  # type: ignore[misc] # A thread is slow to simulate.
    for name in sys.argv[1:]:
        globals()[name]()
