"""Drawing every round whole, and playing replicas in chunks."""

from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pytest
from runs import BUILT_IN, FIGURE_3, FIGURE_4, UNEVEN, all_at_once, slow_but

from grbp import Problem
from grbp.engine.decisions import Kind, choose_engine, decisions
from grbp.experiments.simulation import simulate
from grbp.learners.registry import find_problem_learner

DETERMINED = [learner.name for learner in BUILT_IN if learner.stable is not None]
DRAWING = [learner.name for learner in BUILT_IN if learner.thinning is not None]
LARGE = Problem(20, 0.5, 0.2)


@pytest.mark.sample("getbe-sm")
@pytest.mark.parametrize("name", slow_but({"getbe-sm"}, DETERMINED))
def test_drawing_is_leaping_bit_for_bit_where_no_batch_is_long(name: str) -> None:
    # Up to 768 rounds of a tabled goal, and 4 * goal of a larger one, are drawn one by one.
    problems = ((FIGURE_3, 700), (UNEVEN, 700), (LARGE, 80))
    # A larger goal is compiled by itself; one learner is enough for it.
    for problem, rounds in problems[: {"getbe-sm": 1, "doorstep-optimal": 3}.get(name, 2)]:
        for kind in get_args(Kind):
            asked: Any = (problem, name, [1, 30, rounds], 60, 5)
            drawn, leapt = (
                all_at_once(*asked, engine=engine, regret=kind) for engine in ("draw", "leap")
            )
            np.testing.assert_array_equal(drawn.played, leapt.played)
            np.testing.assert_array_equal(drawn.won, leapt.won)


@pytest.mark.soak
@pytest.mark.parametrize("name", slow_but({"getbe-sm"}, ["getbe-sm", "getbe-ps"]))
def test_drawing_is_leaping_of_who_says_nothing_of_later_rounds(name: str) -> None:
    learner = next(one for one in BUILT_IN if one.name == name)
    asked: Any = ([1, 30, 5000], 40, 5)
    silent = replace(learner, stable=None, thinning=None)
    drawn = all_at_once(FIGURE_4, learner, *asked, engine="draw")
    leapt = all_at_once(FIGURE_4, silent, *asked, engine="leap")
    np.testing.assert_array_equal(drawn.played, leapt.played)
    np.testing.assert_array_equal(drawn.won, leapt.won)
    assert (all_at_once(FIGURE_4, learner, *asked, engine="leap").won != drawn.won).any()


@pytest.mark.sample("getbe-ps*")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "problem"), [*((name, FIGURE_4) for name in DRAWING), ("getbe-sm", LARGE)]
)
def test_drawing_has_the_law_of_leaping(name: str, problem: Problem) -> None:
    """Within 4 standard errors, where the draws are others."""
    asked: Any = {"rounds": 5000, "replicas": 2000, "checkpoints": [50]}
    drawn = simulate(problem, name, seed=5, engine="draw", **asked).curves[name]
    leapt = simulate(problem, name, seed=6, engine="leap", **asked).curves[name]
    assert (np.abs(drawn.mean - leapt.mean) <= 4 * np.hypot(drawn.se, leapt.se)).all()
    assert (drawn.final != leapt.final).any()


def test_no_learner_is_drawn_unless_that_is_asked_for() -> None:
    learner = find_problem_learner("getbe-sm", FIGURE_3)
    chosen = {choose_engine(FIGURE_3, learner, rounds) for rounds in (1, 250, 10**4, 10**12)}
    assert chosen == {"walk", "leap"}


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("getbe-ps", "walk"),
        pytest.param("getbe-ps", "leap", marks=pytest.mark.slow),
        pytest.param("getbe-ps", "draw", marks=pytest.mark.slow),
        ("getbe-sm", "leap"),
        ("getbe-sm", "draw"),
        ("ucb1-policies", "walk"),
    ],
)
def test_replicas_are_the_same_in_chunks_that_begin_anywhere(name: str, engine: Any) -> None:
    asked: Any = {"engine": engine, "regret": "realised"}
    whole = all_at_once(FIGURE_4, name, [7, 300], 50, 3, **asked)
    for cuts in ([0, 50], [0, 1, 2, 50], [0, 13, 37, 50]):
        parts = [
            all_at_once(FIGURE_4, name, [7, 300], end - begin, 3, first=begin, **asked)
            for begin, end in pairwise(cuts)
        ]
        for one, more in zip(whole, zip(*parts, strict=True), strict=True):
            np.testing.assert_array_equal(one, np.concatenate(more))


def test_a_chunk_has_blocks_counters_and_reports_of_its_own() -> None:
    learner = find_problem_learner("getbe-sm", FIGURE_3)
    reports: list[tuple[int, int]] = []
    whole, part = np.zeros((20, 9)), np.zeros((8, 9))
    asked: Any = {"engine": "draw", "block_size": 3}
    list(decisions(FIGURE_3, learner, [40], 20, 1, counters=whole, **asked))
    told: Any = {"first": 9, "counters": part, "report": lambda *done: reports.append(done)}
    sizes = [len(b.played) for b in decisions(FIGURE_3, learner, [40], 8, 1, **asked, **told)]
    assert sizes == [3, 3, 2]
    assert reports[-1] == (8, 8)
    np.testing.assert_array_equal(part, whole[9:17])
