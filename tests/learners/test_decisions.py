"""What each learner decides: as often as quadrature says, and as its authors say."""

import math
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from runs import FIGURE_3, FIGURE_4
from scipy import integrate, stats

from grbp import Problem, boundary
from grbp.engine.decisions import decisions
from grbp.errors import GrbpError, InvalidInput, TooLarge
from grbp.experiments.catalog import TITLES
from grbp.learners.base import Learner
from grbp.learners.baselines import EPSILON_GREEDY, Decay, Exploration, explore_then_commit
from grbp.learners.counters import Counters, Round, initial_counters, settle
from grbp.learners.getbe import (
    NO_EXPLORE,
    POSTERIOR_SAMPLING,
    SAMPLE_MEAN,
    Control,
    getbe_sm,
)
from grbp.learners.policy_bandits import PS_POLSELECTION
from grbp.learners.registry import (
    DEFAULT_LEARNER,
    LEARNERS,
    find_learner,
    lacks_horizon,
    learner_constants,
    with_horizon,
)
from grbp.numerics.jit import compile_function
from grbp.numerics.rng import fold_in

# Decision probabilities of those who draw.


def _frequency(decide: Any, goal: int, constants: Any, n: Any, begin: int, count: int) -> int:
    ones = 0
    for k in range(count):
        ones += decide(goal, constants, n, fold_in(begin, k))
    return ones


def frequency(learner: Learner, goal: int, n: Counters, count: int) -> float:
    """How often threshold 1 is chosen, over many keys."""
    run, decide = compiled_frequency(), compiled_decide(learner.decide)
    return float(run(decide, goal, learner.constants, n, np.uint64(5), count)) / count


@cache
def compiled_frequency() -> Any:
    return compile_function(_frequency)


@cache
def compiled_decide(decide: Any) -> Any:
    return compile_function(decide)


def counters(**known: float) -> Counters:
    rho = int(known.pop("rho", 10))
    return initial_counters(0.5, 0.5)._replace(rho=rho, **known)


@pytest.mark.parametrize(
    ("goal", "f", "f_goal", "c", "c_up"),
    [
        (4, 1.0, 0.3, 1.0, 0.8),
        (4, 1.0, 0.0, 1.0, 1.0),
        (2, 7.0, 3.25, 9.0, 4.5),
        (4, 40.0, 12.3, 90.0, 60.1),
        (10, 40.0, 0.0, 30.0, 17.0),
        (50, 25.0, 2.0, 3000.0, 1500.0),
    ],
)
def test_getbe_ps_chooses_as_often_as_quadrature_says(
    goal: int, f: float, f_goal: float, c: float, c_up: float
) -> None:
    finish = stats.beta(1 + f_goal, 1 + f - f_goal)
    move = stats.beta(1 + c_up, 1 + c - c_up)
    low, high = move.ppf(1e-13), move.isf(1e-13)
    chance, error = integrate.quad(
        lambda x: finish.sf(boundary(goal, x)) * move.pdf(x), low, high, limit=400, epsabs=1e-9
    )
    n, count = counters(f=f, f_goal=f_goal, c=c, c_up=c_up), 20_000
    se = math.sqrt(chance * (1 - chance) / count)
    assert error < 1e-6
    assert abs(frequency(POSTERIOR_SAMPLING, goal, n, count) - chance) <= 4 * se


@pytest.mark.parametrize(
    ("plays_0", "wins_0", "plays_1", "wins_1"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, 1.0, 1.0),
        (30.0, 20.0, 3.0, 1.0),
        (300.0, 200.0, 80.0, 49.0),
    ],
)
def test_ps_polselection_chooses_as_often_as_quadrature_says(
    plays_0: float, wins_0: float, plays_1: float, wins_1: float
) -> None:
    zero, one = (
        stats.beta(1 + wins_0, 1 + plays_0 - wins_0),
        stats.beta(1 + wins_1, 1 + plays_1 - wins_1),
    )
    chance = integrate.quad(lambda x: one.sf(x) * zero.pdf(x), 0, 1, limit=400)[0]
    n = counters(plays_0=plays_0, wins_0=wins_0, plays_1=plays_1, wins_1=wins_1)
    se = math.sqrt(chance * (1 - chance) / 20_000)
    assert abs(frequency(PS_POLSELECTION, 4, n, 20_000) - chance) <= 4 * se


@pytest.mark.parametrize("rho", [1, 29, 30, 31, 100, 3000])
@pytest.mark.parametrize("wins_1", [5.0, 1.0, 2.0])
def test_epsilon_greedy_chooses_as_often_as_it_says(rho: int, wins_1: float) -> None:
    n = counters(rho=rho, plays_0=10.0, wins_0=4.0, plays_1=5.0, wins_1=wins_1)
    random = min(1.0, EPSILON_GREEDY.constants.scale / rho)
    chance = 0.5 * random + (1.0 - random) * (wins_1 >= 2.0)
    se = math.sqrt(chance * (1 - chance) / 20_000)
    assert abs(frequency(EPSILON_GREEDY, 4, n, 20_000) - chance) <= 4 * se


def test_epsilon_greedy_plays_first_what_it_never_played() -> None:
    sure = Decay(0.0)
    for plays_0, plays_1, answer in ((0.0, 3.0, 0), (3.0, 0.0, 1), (0.0, 0.0, 1)):
        n = counters(plays_0=plays_0, plays_1=plays_1)
        assert EPSILON_GREEDY.decide(4, sure, n, 0) == answer


# What the paper and the textbooks say of each.


@given(st.lists(st.booleans(), min_size=30, max_size=60))
def test_explore_then_commit_never_changes_its_mind(wins: list[bool]) -> None:
    n, chosen = initial_counters(0.5, 0.5), []
    for won in wins:
        chosen.append(explore_then_commit(4, Exploration(5.0), n, 0))
        n = settle(n, chosen[-1], Round(0, int(won), 0, 1, int(won)))
    assert chosen[:10] == [0] * 5 + [1] * 5
    assert chosen[10] == (sum(wins[5:10]) >= sum(wins[:5]))
    assert len(set(chosen[10:])) == 1


def test_explore_then_commit_tries_both_whatever_its_number() -> None:
    n, chosen = initial_counters(0.5, 0.5), []
    for _ in range(12):
        chosen.append(explore_then_commit(4, Exploration(2.5), n, 0))
        n = settle(n, chosen[-1], Round(0, 0, 0, 1, 0))
    assert set(chosen) == {0, 1}


@pytest.mark.parametrize("name", ["ucb-polselection", "kl-ucb", "bayes-ucb"])
@given(won=st.booleans(), key=st.integers(0, 2**64 - 1))
def test_each_policy_is_first_played_once(name: str, won: bool, key: int) -> None:
    """A1: threshold 0, then 1, whatever happens."""
    learner = find_learner(name, FIGURE_4)
    n = initial_counters(0.9, 0.1)
    for expected in (0, 1):
        assert learner.choose(4, n, key) == expected
        n = settle(n, expected, Round(0, int(won), 0, 1, int(won)))


@given(st.floats(0, 1), st.floats(0, 1), st.integers(2, 50), st.floats(0, 1e9))
def test_round_1_is_never_forced(f_goal: float, c_up: float, goal: int, gamma: float) -> None:
    """A2: log 1 = 0."""
    answer = getbe_sm(goal, Control(gamma), initial_counters(f_goal, c_up), 0)
    assert answer in (0, 1)
    assert answer == NO_EXPLORE.decide(
        goal, NO_EXPLORE.constants, initial_counters(f_goal, c_up), 0
    )


def test_the_test_of_the_control_function_is_strict() -> None:
    """A2: N_F < D(rho), so equality is enough."""
    n = counters(rho=8, f=6.0, f_goal=0.0, c=9.0, c_up=6.0)
    exact = 6.0 / math.log(8)
    assert exact * math.log(8) == 6.0
    assert getbe_sm(4, Control(exact), n, 0) == 0
    assert getbe_sm(4, Control(exact * (1 + 1e-12)), n, 0) == 3
    assert getbe_sm(4, Control(exact * (1 - 1e-12)), n, 0) == 0


@pytest.mark.parametrize("gamma", [0.5, 2.0, 15.0])
@pytest.mark.parametrize("problem", [FIGURE_3, FIGURE_4], ids=["figure 3", "figure 4"])
def test_forced_explorations_never_exceed_the_control_function(
    gamma: float, problem: Problem
) -> None:
    learner = Learner("sm", getbe_sm, Control(gamma))
    checkpoints = [1, 2, 3, 5, 10, 30, 100, 300, 1000, 2000]
    (block,) = decisions(problem, learner, checkpoints, 200, 2)
    forced = block.played[:, :, learner.choices(4).index(3)]
    most = np.array([math.ceil(gamma * math.log(checkpoint)) for checkpoint in checkpoints])
    assert (forced <= most).all()
    assert (forced[:, 0] == 0).all()
    assert forced.max() > 0


# The table.


def test_the_table_of_learners() -> None:
    assert list(LEARNERS)[:8] == [
        "doorstep-optimal", "doorstep-kl",
        "getbe-sm", "getbe-ps", "getbe-ucb", "ps-polselection", "ucb-polselection", "no-explore",
    ]  # fmt: skip
    others = {
        "ucb1-policies", "explore-then-commit", "epsilon-greedy", "kl-ucb", "bayes-ucb", "oracle",
    }  # fmt: skip
    assert set(LEARNERS) == {*list(LEARNERS)[:8], *others}
    for name in LEARNERS:
        learner = find_learner(name, FIGURE_4)
        assert learner.name == name
        assert 10 < len(learner.summary) < 80
        assert "\n" not in learner.summary
        assert learner.reference or name == "oracle"
    lines = [find_learner(name, FIGURE_4).summary for name in LEARNERS]
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(("problem", "best"), [(FIGURE_3, 1), (FIGURE_4, 0)])
def test_the_oracle_and_fixed_thresholds_play_what_they_say(problem: Problem, best: int) -> None:
    for name, threshold in (("oracle", best), ("threshold-2", 2), ("threshold-0", 0)):
        learner = find_learner(name, problem)
        assert isinstance(learner, Learner)
        assert learner.thresholds == (threshold,)
        assert learner.choose(4, initial_counters(0.2, 0.9), 1) == threshold


def test_a_learner_is_summed_up_by_its_author() -> None:
    """By the first line of what is written about `decide`, if by nothing else."""

    def decide(_goal: int, _: Any, _n: Counters, _key: int) -> int:
        """Play threshold 0.

        Nothing else.
        """
        return 0

    assert Learner("x", decide).summary == "Play threshold 0"
    assert Learner("x", decide, summary="Wait").summary == "Wait"
    assert Learner("x", lambda _goal, _, _n, _key: 0).summary == ""


def test_a_learner_finds_itself() -> None:
    assert find_learner(SAMPLE_MEAN, FIGURE_3) is SAMPLE_MEAN


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("nobody", "learner 'nobody' was asked for; there is doorstep-optimal, doorstep-kl"),
        ("GETBE-SN", "learner 'GETBE-SN' was asked for; did you mean 'getbe-sm'?"),
        ("dorstep-optimal:good=2", "was asked for; did you mean 'doorstep-optimal'?"),
        ("treshold-0", "was asked for; did you mean 'threshold-0'?"),
        ("", "learner '' was asked for"),
        ("threshold-", "learner 'threshold-' was asked for"),
        ("threshold--1", "learner 'threshold--1' was asked for"),
        ("threshold-1.5", "learner 'threshold-1.5' was asked for"),
        ("my-threshold-1", "learner 'my-threshold-1' was asked for"),
        ("threshold-4", "threshold = 4 was given; it must be a whole number from 0 to 3"),
        (3, "3"),
        (None, "None"),
    ],
)
def test_unknown_learners_are_refused(given: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refusal:
        find_learner(given, FIGURE_3)
    assert "\n" not in str(refusal.value)


def test_learners_are_found_however_their_names_are_written() -> None:
    for name in LEARNERS:
        for written in (name.upper(), name.replace("-", "_"), name.replace("-", "").title()):
            assert find_learner(written, FIGURE_3).name == name
    for name, written in TITLES.items():
        assert find_learner(written, FIGURE_3) is LEARNERS[name]
    assert find_learner("Threshold-2", FIGURE_3).name == "threshold-2"
    assert find_learner("GETBE-SM:gamma=30", FIGURE_3) == find_learner("getbe-sm:gamma=30", 4)


def test_every_constant_has_a_default_a_range_and_a_meaning() -> None:
    constants = {
        (name, one): one
        for name in LEARNERS
        for one in learner_constants(find_learner(name, FIGURE_3))
    }
    assert len(constants) == 8
    for (name, _), one in constants.items():
        assert len(one.meaning.split()) > 4, name
        assert getattr(find_learner(name, 4).constants, one.name) == one.default
        for value in (0.0, -1.0, 0.5):
            allowed = value > 0.0 or (value == 0.0 and one.range == "0 or more")
            with nullcontext() if allowed else pytest.raises(InvalidInput, match=one.name):
                found = find_learner(f"{name}:{one.name}={value}", 4)
                assert getattr(found.constants, one.name) == value
    assert [one.name for one in constants.values() if one.range == "0 or more"] == ["horizon"]


@pytest.mark.parametrize("name", [DEFAULT_LEARNER, "DOORSTEP-Optimal", "doorstep-optimal:good=2"])
def test_a_learner_is_told_how_many_rounds_there_will_be(name: str) -> None:
    untold: Any = find_learner(name, 4)
    told: Any = with_horizon(name, 400, 4)
    assert told == f"{untold.name}{',' if '=' in name else ':'}horizon=400"
    found = find_learner(told, 4)
    assert found == replace(untold, name=told, constants=untold.constants._replace(horizon=400.0))
    assert find_learner(with_horizon(untold, 4e2, 4), 4) == found
    assert (lacks_horizon(untold), lacks_horizon(found)) == (True, False)


@pytest.mark.parametrize(
    ("learner", "rounds", "words"),
    [
        *((DEFAULT_LEARNER, rounds, f"rounds = {rounds} was") for rounds in (0, -3, 2.5, True)),
        ("getbe-sm", 9, f"it cannot be told how many.*{DEFAULT_LEARNER}.* can$"),
        ("ucb1-policies", 9, "it cannot be told how many"),
        (f"{DEFAULT_LEARNER}:horizon=5", 9, "it has a horizon already"),
        (f"{DEFAULT_LEARNER}:horizon=0", 9, "it has a horizon already"),
        ("nobody", 9, "learner 'nobody' was asked for"),
    ],
)
def test_who_cannot_be_told_the_rounds_is_refused(learner: str, rounds: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refusal:
        with_horizon(learner, rounds, 4)
    assert "\n" not in str(refusal.value)


def test_too_many_policies_are_refused() -> None:
    with pytest.raises(
        TooLarge, match=r"goal of 12; it tries all 2\^\(goal-1\) policies"
    ) as refusal:
        find_learner("ucb1-policies", 12)
    assert isinstance(refusal.value, GrbpError)
