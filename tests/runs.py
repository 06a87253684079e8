"""What many tests ask: problems of the paper, small experiments, decisions in one piece."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from grbp import Problem
from grbp.engine.decisions import Decisions, decisions
from grbp.experiments import Meta
from grbp.experiments.cells import Cell, make_cells
from grbp.experiments.game import Tally
from grbp.experiments.moments import Sums
from grbp.experiments.regret import Curve
from grbp.experiments.sweep_result import SweepResult, SweptCell
from grbp.experiments.sweep_spec import SweepSpec
from grbp.learners.base import AnyLearner, Learner
from grbp.learners.registry import LEARNERS, find_problem_learner

FIGURE_3, FIGURE_4 = Problem(4, 0.45, 0.3), Problem(4, 0.65, 0.3)
UNEVEN = Problem(7, 0.55, 0.2, {1: 0.2, 3: 0.5, 6: 0.3})
FOUND = [find_problem_learner(name, FIGURE_4) for name in [*LEARNERS, "threshold-0", "threshold-3"]]
BUILT_IN = [learner for learner in FOUND if isinstance(learner, Learner)]
BOTH_ENGINES = pytest.mark.parametrize("engine", ["walk", "leap"])
CURVES = SweepSpec(
    "small",
    Problem(4, 0.45, 0.3),
    ("getbe-sm", "getbe-ucb", "no-explore"),
    rounds=200,
    replicas=40,
    seed=7,
    curves=True,
)
GRID = SweepSpec(
    "small-map",
    {"goal": 4, "p_c": (0.25, 0.5, 0.75), "p_f": (0.2, 0.6)},
    ("getbe-sm",),
    rounds=50,
    replicas=30,
    seed=7,
)
META = Meta({"getbe-sm": {"gamma": 15.0}}, {"getbe-sm": "walk"}, {}, "unknown", "now")


def made_up(spec: SweepSpec, regret: Callable[[Cell], tuple[float, float]]) -> SweepResult:
    """A result whose cells have a mean and a standard error of one's choice."""
    cells, nothing = [], np.zeros(1, dtype=np.int64)
    for cell in make_cells(spec):
        mean, se = regret(cell)
        tally = Tally((Sums(spec.replicas, nothing, nothing[:, None]),))
        cells.append(SweptCell(cell, tally, (mean,), (se,)))
    return SweepResult(spec, tuple(cells), META)


def made_up_curves(spec: SweepSpec, curves: Mapping[str, Curve]) -> SweepResult:
    """A result whose learners have curves of one's choice."""
    cells = []
    for cell in make_cells(spec):
        curve = curves[str(cell.learner)]
        cells.append(SweptCell(cell, Tally(()), tuple(curve.mean), tuple(curve.se), curve))
    return SweepResult(spec, tuple(cells), META)


def slow_but(quick: set[str], names: Any) -> list[Any]:
    """Parameters that are slow, as each is compiled anew, but for a few that stand for all."""
    marks = [[] if name in quick else [pytest.mark.slow] for name in names]
    return [pytest.param(name, marks=mark) for name, mark in zip(names, marks, strict=True)]


def all_at_once(
    problem: Problem,
    learner: AnyLearner | str,
    checkpoints: Any,
    replicas: int,
    seed: int,
    **options: Any,
) -> Decisions:
    """The decisions of all replicas in one piece."""
    found = find_problem_learner(learner, problem)
    blocks = list(decisions(problem, found, list(checkpoints), replicas, seed, **options))
    return Decisions(*(np.concatenate(part) for part in zip(*blocks, strict=True)))


def without_notes(err: str) -> str:
    """What the shell said on standard error, but not that something is being compiled."""
    kept = err.splitlines(keepends=True)
    return "".join(line for line in kept if not line.startswith("grbp: note: compiling "))


def one_sentence(error: BaseException) -> str:
    text = str(error)
    assert "\n" not in text
    assert ". " not in text
    assert not text.endswith(".")
    return text
