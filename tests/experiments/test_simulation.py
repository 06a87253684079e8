"""Simulations: who grows as the theorems say, where curves are kept, what is refused."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from runs import BOTH_ENGINES, FIGURE_3, FIGURE_4, UNEVEN

from grbp import Problem, getbe_bound, optimal_threshold, ucb1_bound, value
from grbp.engine.decisions import Engine, InitialEstimates, choose_engine
from grbp.errors import InvalidInput
from grbp.experiments.simulation import Simulation, checkpoints_up_to, simulate
from grbp.learners.base import Learner
from grbp.learners.getbe import SAMPLE_MEAN, Control, getbe_sm
from grbp.learners.registry import DEFAULT_LEARNER, find_problem_learner
from grbp.worlds.validation import as_seed

# What the theorems say.


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [4.0, 15.0])
def test_getbe_sm_grows_by_its_control_function(gamma: float) -> None:
    """gamma (V* - p_f) per unit of log(rho) where threshold 0 is right."""
    learner = Learner("sm", getbe_sm, Control(gamma))
    curve = simulate(FIGURE_4, [learner], 20_000, 150, 2, checkpoints=[1000, 20_000]).curves["sm"]
    slope = (curve.mean[1] - curve.mean[0]) / math.log(20)
    variance = curve.covariance[0, 0] + curve.covariance[1, 1] - 2 * curve.covariance[0, 1]
    expected = gamma * (value(FIGURE_4, 0) - 0.3)
    # Five in a hundred for the rounds in which D(rho) is rounded up at either end.
    error = 4 * math.sqrt(max(variance, 0.0)) / math.log(20)
    assert abs(slope - expected) <= error + 0.05 * expected


@pytest.mark.parametrize("problem", [Problem(3, 0.3, 0.6), Problem(3, 0.7, 0.2), FIGURE_4])
def test_theorem_1_is_above_the_mean(problem: Problem) -> None:
    curve = simulate(problem, ["ucb1-policies"], 2000, 60, 3, checkpoints=[10, 100, 1000]).curves
    bounds = [ucb1_bound(problem, t) for t in (10, 100, 1000, 2000)]
    assert (curve["ucb1-policies"].mean + 4 * curve["ucb1-policies"].se <= bounds).all()
    assert curve["ucb1-policies"].mean[-1] > 1.0


@pytest.mark.parametrize("first", ["once", "drawn"])  # It is proved for "once".
@pytest.mark.parametrize("problem", [Problem(3, 0.2, 0.8), Problem(3, 0.9, 0.1)], ids=["1", "0"])
def test_theorem_3_is_above_the_mean_where_it_applies(
    problem: Problem, first: InitialEstimates
) -> None:
    gamma = 1.01 * getbe_bound(problem, 1.0, 1).gamma_required
    learner = Learner("sm", getbe_sm, Control(gamma))
    checkpoints = [10, 100, 1000, 3000]
    result = simulate(
        problem, [learner], 3000, 100, 3, checkpoints=checkpoints, initial_estimates=first
    )
    curve = result.curves["sm"]
    bounds = [getbe_bound(problem, gamma, checkpoint) for checkpoint in checkpoints]
    assert all(bound.applies for bound in bounds)
    assert (curve.mean + 4 * curve.se <= [bound.regret_bound for bound in bounds]).all()
    assert {optimal_threshold(p) for p in (Problem(3, 0.2, 0.8), Problem(3, 0.9, 0.1))} == {0, 1}


# Checkpoints.


def test_checkpoints_are_even_in_the_logarithm() -> None:
    checkpoints = checkpoints_up_to(5000)
    assert checkpoints[0] == 1
    assert checkpoints[-1] == 5000
    assert (np.diff(checkpoints) > 0).all()
    assert 60 < len(checkpoints) <= 100
    ratio = np.diff(np.log(checkpoints[checkpoints > 100]))
    assert ratio.max() / ratio.min() < 1.2
    assert checkpoints_up_to(1).tolist() == [1]
    assert checkpoints_up_to(2).tolist() == [1, 2]
    assert checkpoints_up_to(10**12)[-1] == 10**12


@BOTH_ENGINES
@pytest.mark.parametrize("name", ["getbe-sm", "getbe-ps"])
def test_checkpoints_are_those_asked_for_and_the_last_round(name: str, engine: Engine) -> None:
    """The number of checkpoints changes nothing in a replica."""
    assert checkpoints_up_to(50, [30, 10, 10]).tolist() == [10, 30, 50]
    assert checkpoints_up_to(50, []).tolist() == [50]
    asked: Any = (FIGURE_4, [name], 500, 30, 0)
    every = simulate(*asked, checkpoints=range(1, 501), engine=engine)
    some = simulate(*asked, checkpoints=[3, 17, 280], engine=engine)
    assert some.checkpoints.tolist() == [3, 17, 280, 500]
    mean = every.curves[name].mean
    np.testing.assert_array_equal(some.curves[name].mean, mean[[2, 16, 279, 499]])
    np.testing.assert_array_equal(some.curves[name].final, every.curves[name].final)


# Engines.


def test_the_engine_asked_for_plays_and_else_the_faster_one() -> None:
    """Walking is chosen up to a thousand states times rounds, and for who plays no thresholds."""
    for goal, rounds, faster in (
        (4, 250, "walk"),
        (4, 251, "leap"),
        (2, 500, "walk"),
        (2, 501, "leap"),
        (1000, 1, "walk"),
        (1001, 1, "leap"),
    ):
        problem = Problem(goal, 0.5, 0.3)
        for name in ("getbe-sm", "explore-then-commit", "oracle"):
            learner = find_problem_learner(name, problem)
            assert choose_engine(problem, learner, rounds) == faster
            for asked in ("walk", "leap", "draw"):
                assert choose_engine(problem, learner, rounds, asked) == asked
    policies = find_problem_learner("ucb1-policies", FIGURE_4)
    assert {choose_engine(FIGURE_4, policies, 10**6, e) for e in ("auto", "walk")} == {"walk"}


def test_the_faster_engine_is_the_engine_of_its_name() -> None:
    names = ["getbe-sm", "getbe-ps"]
    for rounds, engine in ((250, "walk"), (251, "leap")):
        auto = simulate(FIGURE_3, names, rounds, 30, 3)
        asked = simulate(FIGURE_3, names, rounds, 30, 3, engine=engine)  # type: ignore[arg-type]
        assert auto.engines == asked.engines == dict.fromkeys(names, engine)
        for name in names:
            np.testing.assert_array_equal(auto.curves[name].final, asked.curves[name].final)


# Refusals.


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rounds": 0}, "rounds = 0 was given; it must be a whole number from 1 to"),
        ({"rounds": 2.5}, "rounds = 2.5 was given"),
        ({"rounds": 10**13}, "rounds = 10000000000000 was given"),
        ({"replicas": 0}, "replicas = 0 was given"),
        ({"replicas": True}, "replicas = True was given"),
        ({"seed": -1}, "seed = -1 was given"),
        ({"seed": 2**128}, "seed = "),
        ({"seed": "7"}, "seed = '7' was given"),
        ({"seed": 7.0}, "seed = 7.0 was given"),
        ({"learners": []}, r"the learners \[\] were given; there must be one or more"),
        ({"learners": ["getbe-sm", "getbe-sm"]}, "each named once"),
        ({"learners": ["getbe-sm", SAMPLE_MEAN]}, "each named once"),
        ({"learners": ["nobody"]}, "learner 'nobody' was asked for; there is doorstep-optimal"),
        ({"learners": 7}, "learner 7 was given; it must be a name or a grbp.Learner"),
        ({"replicas": math.inf}, "replicas = inf was given"),
        ({"rounds": "9"}, "rounds = '9' was given"),
        ({"learners": ["threshold-4"]}, "threshold = 4 was given"),
        ({"checkpoints": [0]}, "checkpoints = 0 was given; it must be a whole number from 1 to 10"),
        ({"checkpoints": [11]}, "checkpoints = 11 was given"),
        ({"checkpoints": [1.5]}, "checkpoints = 1.5 was given"),
        ({"checkpoints": 5}, "checkpoints = 5 was given"),
        ({"regret": "real"}, "regret = 'real' was given; it must be 'pseudo', 'realised' or"),
        ({"threads": 0}, "threads = 0 was given"),
        ({"threads": 1025}, "threads = 1025 was given"),
        ({"initial_estimates": "twice"}, "initial_estimates = 'twice' was given"),
        (
            {"engine": "fly"},
            "engine = 'fly' was given; it must be 'walk', 'leap', 'draw' or 'auto'",
        ),
        ({"horizon": True}, "horizon = True was given with getbe-sm; one at least must have"),
        ({"horizon": 10}, "horizon = 10 was given; it must be True, for as many rounds as are"),
        (
            {"horizon": True, "learners": [DEFAULT_LEARNER, f"{DEFAULT_LEARNER}:horizon=10"]},
            "each named once",
        ),
        ({"engine": None}, "engine = None was given"),
        ({"engine": ["walk"]}, r"engine = \['walk'\] was given"),
        *(
            (
                {"engine": engine, "learners": ["getbe-sm", "ucb1-policies"]},
                f"engine = '{engine}' was given; ucb1-policies plays no thresholds and can only",
            )
            for engine in ("leap", "draw")
        ),
    ],
)
def test_wrong_questions_are_refused_in_one_sentence(change: dict[str, Any], words: str) -> None:
    asked: dict[str, Any] = {"learners": ["getbe-sm"], "rounds": 10, "replicas": 2, "seed": 0}
    with pytest.raises(InvalidInput, match=words) as refusal:
        simulate(FIGURE_4, **(asked | change))
    assert "\n" not in str(refusal.value)


# What need not be said.


def same(one: Simulation, other: Simulation) -> bool:
    """Whether two simulations are the same to the last bit."""
    finals = ([curve.final.tolist() for curve in result.curves.values()] for result in (one, other))
    return one.seed == other.seed and next(finals) == next(finals)


def test_nothing_but_the_problem_need_be_said() -> None:
    told = simulate(FIGURE_4, ["doorstep-optimal"], 5000, 1000, 0)
    assert same(simulate(FIGURE_4), told)


def test_learners_that_can_be_told_are_told_the_rounds_that_are_played() -> None:
    found = find_problem_learner(f"{DEFAULT_LEARNER}:good=2", 4)
    given: list[Any] = [DEFAULT_LEARNER, found, f"{DEFAULT_LEARNER}:horizon=7", "getbe-sm"]
    spelled = [f"{DEFAULT_LEARNER}:{more}horizon=60" for more in ("", "good=2,")] + given[2:]
    told = simulate(FIGURE_4, given, 60, 40, 0, horizon=True)
    assert list(told.curves) == spelled
    assert same(told, simulate(FIGURE_4, spelled, 60, 40, 0))
    assert same(told, simulate(FIGURE_4, spelled, 60, 40, 0, horizon=True))


def test_one_learner_is_that_learner_and_whole_floats_are_numbers() -> None:
    told = simulate(FIGURE_4, ["getbe-sm"], 100, 20, 0, checkpoints=[10])
    for learner in ("getbe-sm", SAMPLE_MEAN):
        result = simulate(FIGURE_4, learner, 1e2, np.float64(20), checkpoints=[1e1])
        assert same(result, told)
        assert [type(n) for n in (result.rounds, result.replicas, result.seed)] == [int] * 3
        assert result.checkpoints.tolist() == [10, 100]


def test_any_seed_is_a_whole_number_that_gives_the_same_again() -> None:
    seeds = [None, 5, np.int64(5), np.random.default_rng(5), np.random.SeedSequence(5)]
    used = []
    for seed in seeds:
        result = simulate(FIGURE_4, "getbe-ps", 20, 20, seed)
        assert type(result.seed) is int
        assert same(simulate(FIGURE_4, "getbe-ps", 20, 20, result.seed), result)
        used.append(result.seed)
    assert used[1] == used[2] == 5
    assert len(set(used)) == 4
    # A generator moves on, and one like it goes the same way; a sequence stays.
    generator, other = np.random.default_rng(5), np.random.default_rng(5)
    drawn = [as_seed(generator), as_seed(generator)]
    assert drawn == [as_seed(other), as_seed(other)]
    assert drawn[0] == used[3] != drawn[1]
    assert as_seed(np.random.SeedSequence(5)) == used[4]
    assert as_seed(None) != as_seed(None)


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    simulate(FIGURE_4, ["getbe-sm", "oracle"], 10, 30, 0, progress=lambda *said: told.append(said))
    for name in ("getbe-sm", "oracle"):
        done = [count for who, count, of in told if who == name and of == 30]
        assert done == sorted(done)
        assert done[-1] == 30


def test_the_oracle_regrets_nothing() -> None:
    for problem in (FIGURE_3, FIGURE_4, UNEVEN):
        assert (simulate(problem, ["oracle"], 30, 20, 0).curves["oracle"].final == 0.0).all()


def test_a_simulation_says_what_it_was() -> None:
    done = simulate(FIGURE_4, ["oracle", "getbe-sm"], 30, 20, 9, regret="realised")
    assert done.engines == {"oracle": "walk", "getbe-sm": "walk"}
    assert dataclasses.astuple(done)[2:5] == (20, 9, "realised")
    assert done.problem == FIGURE_4
    assert list(done.curves) == ["oracle", "getbe-sm"]
