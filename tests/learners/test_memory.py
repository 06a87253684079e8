"""Forgetting: the laws of memories, the same for all who count, and what is refused."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import grbp
from grbp.engine.losses import losses
from grbp.learners import memory as memories
from grbp.learners.base import Learner
from grbp.learners.counters import Counters, Round, initial_counters, play, settle
from grbp.learners.memory import Memory, as_memory, forget, outcomes_of, recall, reweigh
from grbp.learners.registry import find_problem_learner
from grbp.learners.state_learner import StateLearner
from grbp.numerics.arrays import Floats
from grbp.numerics.rng import LEARNER, OPENING, WORLD, fold_in, replica_key, uniform
from grbp.worlds.transition import first_state

FIG3 = grbp.Problem(4, 0.45, 0.3)
SWITCHES = grbp.Drift([(1, FIG3), (101, grbp.Problem(4, 0.65, 0.3))], "jumps")
AVERAGED = as_memory("averaged")
WITHOUT_MEMORY = ("ucb1-policies", "oracle", "threshold-0", "threshold-1")


def lost(name: str | Learner | StateLearner, rounds: int = 200, replicas: int = 20) -> Floats:
    learner = grbp.find_learner(name, 4)
    assert isinstance(learner, Learner | StateLearner)
    return losses(SWITCHES, learner, [rounds // 2, rounds], replicas, 5)[0]


# --- laws ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["getbe-ps", "doorstep-optimal", "psrl"])
def test_a_memory_without_end_never_forgets(name: str) -> None:
    np.testing.assert_array_equal(lost(f"{name}:memory=1e300", 100, 4), lost(name, 100, 4))


def test_averaged_over_equal_memories_is_that_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memories, "ROUNDS", (50.0,) * 5)
    np.testing.assert_array_equal(lost("getbe-ps:memory=averaged"), lost("getbe-ps:memory=50"))


@pytest.mark.parametrize("name", [name for name in grbp.LEARNERS if name not in WITHOUT_MEMORY])
def test_every_learner_decides_where_an_action_is_forgotten(name: str) -> None:
    learner = grbp.find_learner(f"{name}:memory=1", 4)
    assert isinstance(learner, Learner)
    for f, c, good in itertools.product((0.0, 1e-12, 3.0), (0.0, 1e-12, 3.0), (0.0, 1.0)):
        n = Counters(500, f, good * f, c, good * c, *[0.0] * 4)
        assert learner.choose(4, n, 7) in learner.choices(4)


def test_what_was_forgotten_is_tried_again() -> None:
    nothing = Counters(500, *[0.0] * 8)
    kl = grbp.find_learner("doorstep-kl:memory=1", 4)
    assert isinstance(kl, Learner)
    assert kl.choose(4, nothing._replace(f=1.0), 0) == kl.choose(4, nothing, 0) == 0
    assert kl.choose(4, nothing._replace(c=1.0), 0) == 1


def test_a_memory_of_one_round_holds_the_last_round_alone() -> None:
    keep = as_memory(1).keep[0]
    n = settle(forget(initial_counters(0.5, 0.5), keep), 1, Round(2, 1, 1, 3, 2))
    assert n == Counters(2, 1.0, 1.0, 3.0, 2.0, 0.0, 0.0, 1.0, 1.0)
    assert recall(as_memory(1), [n._replace(rho=900)], np.ones((2, 1)), 0).rho == 2


@pytest.mark.parametrize("rounds", [2.0, 50.0, 1000.0])
def test_a_learner_is_in_the_round_after_those_it_remembers(rounds: float) -> None:
    keep = np.array([1.0 - 1.0 / rounds, 1.0])
    assert [memories.remembered_rho(keep, (0, 1), rho) for rho in (1, 2)] == [1, 2]
    assert memories.remembered_rho(keep, (0, 1), 10**6) in (1 + rounds, rounds)
    assert memories.remembered_rho(keep, (1, 1), 10**6) == 10**6


@pytest.mark.parametrize("rounds", [1.0, 3.0, 250.0])
def test_the_kth_of_n_rounds_counts_a_power(rounds: float) -> None:
    keep, n = 1.0 - 1.0 / rounds, 40
    counted, whole = initial_counters(0.25, 0.5), 0.0
    for _ in range(n):
        counted = settle(forget(counted, keep), 0, Round(2, 1, 0, 2, 2))
        whole = keep * whole + 1.0
    weights = keep ** np.arange(n)
    assert counted.c == pytest.approx(keep**n + 2.0 * weights.sum(), rel=1e-12)
    assert counted.plays_0 == pytest.approx(memories.remembered(keep, n), rel=1e-12)


def test_weights_sum_to_one_and_stay_where_nothing_was_shown() -> None:
    random = np.random.default_rng(1)
    weights = AVERAGED.prior
    for _ in range(50):
        counts = random.gamma(2.0, 20.0, (5, 4, 3))
        shown = random.integers(0, 3, (4, 3)).astype(float)
        shown[2:] = 0.0
        new = reweigh(AVERAGED, weights, counts, shown)
        np.testing.assert_allclose(new.sum(axis=1), 1.0, rtol=1e-14)
        np.testing.assert_array_equal(new[1], weights[1])
        assert (new[0] >= AVERAGED.share * AVERAGED.prior[0]).all()
        weights = new


def test_weights_are_those_of_bayes() -> None:
    random = np.random.default_rng(2)
    counts = random.gamma(2.0, 5.0, (5, 4, 1))
    shown = np.array([[2.0], [1.0], [0.0], [1.0]])
    new = reweigh(AVERAGED._replace(share=0.0), AVERAGED.prior, counts, shown)
    for action in range(2):
        a, b = counts[:, 2 * action, 0] + 0.5, counts[:, 2 * action + 1, 0] + 0.5
        won, gone = shown[2 * action, 0], shown[2 * action + 1, 0]
        found = AVERAGED.prior[action] * np.array(
            [
                math.exp(_log_beta(x + won, y + gone) - _log_beta(x, y))
                for x, y in zip(a, b, strict=True)
            ]
        )
        np.testing.assert_allclose(new[action], found / found.sum(), rtol=1e-12)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def test_a_change_moves_the_weights_to_short_memories() -> None:
    kept = [initial_counters(0.5, 0.5)] * 5
    weights = AVERAGED.prior
    for k in range(400):
        one = Round(2, 0, 0, 2, 2 if k < 300 else 0)
        weights, kept = _told(weights, kept, one)
        if k == 299:
            assert weights[0, 0] > 0.4
    assert weights[0, 0] < 1e-3
    np.testing.assert_array_equal(weights[1], AVERAGED.prior[1])


def _told(weights: Floats, kept: list[Counters], one: Round) -> tuple[Floats, list[Counters]]:
    """Tell every memory of a round that was played with threshold 0."""
    counts = np.stack([outcomes_of(n) for n in kept])
    shown = np.array([[one.c_up], [one.c - one.c_up], [0.0], [0.0]])
    after = [settle(forget(n, keep), 0, one) for n, keep in zip(kept, AVERAGED.keep, strict=True)]
    return reweigh(AVERAGED, weights, counts, shown), after


# --- a twin -------------------------------------------------------------------------------------


def twin(learner: Learner, memory: Memory, rounds: int, seed: int) -> float:
    """Play a replica on the switches by the functions of `grbp.learners.memory`, and settle."""
    world_key, own_key = replica_key(seed, WORLD, 0), replica_key(seed, LEARNER, 0)
    init = replica_key(seed, OPENING, 0)
    kept = [initial_counters(uniform(init, 0), uniform(init, 1))] * len(memory.keep)
    weights, total = memory.prior, 0.0
    for rho in range(1, rounds + 1):
        key, own = fold_in(world_key, rho), fold_in(own_key, rho)
        problem = SWITCHES.stages[rho > 100][1]
        assert isinstance(problem, grbp.Problem)
        threshold = learner.choose(4, recall(memory, kept, weights, own), own)
        first = first_state(*problem.start_table, uniform(key, 0))
        one = play(4, problem.p_c, problem.p_f, threshold, first, key)
        won = one.won * one.f if one.f else 0
        shown = np.array([[one.c_up], [one.c - one.c_up], [won], [one.f - won]], float)
        weights = reweigh(memory, weights, np.stack([outcomes_of(n) for n in kept]), shown)
        kept = [
            settle(forget(n, keep), threshold, one)
            for n, keep in zip(kept, memory.keep, strict=True)
        ]
        total += float(grbp.gap(problem, threshold))
    return total


@pytest.mark.parametrize("told", [30.0, "averaged"])
@pytest.mark.parametrize("name", ["getbe-ps", "doorstep-optimal"])
def test_the_engine_forgets_as_the_functions_do(name: str, told: memories.MemoryLike) -> None:
    learner = find_problem_learner(name, 4)
    assert isinstance(learner, Learner)
    learner = replace(learner, memory=told)
    ours = twin(learner, as_memory(told), 200, 5)
    assert ours == pytest.approx(lost(learner, replicas=1)[0, -1], abs=1e-10)


def test_simulate_forgets() -> None:
    name = "getbe-ps:memory=20"
    learner = grbp.find_learner(name, 4)
    assert isinstance(learner, Learner)
    found = grbp.simulate(FIG3, name, 300, 10, seed=2)
    np.testing.assert_array_equal(
        found.curves[name].final, losses(FIG3, learner, [300], 10, 2)[0][:, -1]
    )


# --- names and refusals -------------------------------------------------------------------------


def test_a_memory_is_a_setting_beside_others() -> None:
    learner = grbp.find_learner("doorstep-optimal:good=2,memory=500", 4)
    assert isinstance(learner, Learner)
    assert (learner.memory, learner.constants.good) == (500.0, 2.0)
    assert grbp.find_learner("psrl:memory=averaged", 4).memory == "averaged"
    assert grbp.find_learner("getbe-ps:memory=0", 4).memory == 0.0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("getbe-ps:memory=0.5", "memory = 0.5 was given; it must be a number of rounds from 1 on"),
        ("getbe-ps:memory=inf", "memory = inf was given"),
        ("getbe-ps:memory=long", "memory = 'long' was given"),
        ("getbe-ps:remember=5", "there can be memory=ROUNDS, memory=averaged"),
        ("ucb1-policies:memory=500", "there can be nothing for this learner"),
        ("threshold-1:memory=500", "there can be nothing for this learner"),
    ],
)
def test_what_is_no_memory_is_refused(name: str, said: str) -> None:
    with pytest.raises(grbp.InvalidInput, match=said):
        grbp.find_learner(name, 4)


def test_engines_and_sweeps_refuse_a_learner_that_forgets() -> None:
    with pytest.raises(grbp.InvalidInput, match="with getbe-ps:memory=500"):
        grbp.simulate(FIG3, "getbe-ps:memory=500", 100, 10, seed=0, engine="leap")
    with pytest.raises(grbp.InvalidInput, match="it forgets, and here every round must count"):
        find_problem_learner("getbe-ps:memory=500", 4)
