"""The engine and what is made of its decisions: streams, laws, a naive twin, prices, refusals."""

import dataclasses
import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from grbp import (
    Problem,
    expected_slots,
    gap,
    getbe_bound,
    optimal_threshold,
    ucb1_bound,
    value,
)
from grbp import engine as engine_module
from grbp._jit import compiled
from grbp.engine import Decisions, World, decisions
from grbp.errors import InvalidInput
from grbp.history import Counters, play
from grbp.learners import LEARNERS, AnyLearner, Learner, NoConstants, find_learner
from grbp.learners.getbe import SAMPLE_MEAN, Control, getbe_sm
from grbp.model import first_state
from grbp.regret import Curve, prices
from grbp.simulation import looked_at, simulate
from grbp.streams import LEARNER, OPENING, WORLD, mix, noise, replica_key, uniform

FIGURE_3, FIGURE_4 = Problem(4, 0.45, 0.3), Problem(4, 0.65, 0.3)
UNEVEN = Problem(7, 0.55, 0.2, {1: 0.2, 3: 0.5, 6: 0.3})


def all_at_once(
    problem: Problem,
    learner: AnyLearner | str,
    looks: Any,
    replicas: int,
    seed: int,
    **options: Any,
) -> Decisions:
    """The decisions of all replicas in one piece."""
    found = find_learner(learner, problem)
    blocks = list(decisions(problem, found, list(looks), replicas, seed, **options))
    return Decisions(*(np.concatenate(part) for part in zip(*blocks, strict=True)))


# Streams.


def _fill(begin: int, replicas: int, out: Any) -> None:
    """The first draws of many keys: [key, index]."""
    for k in range(len(out)):
        key = noise(noise(begin, k // replicas), k % replicas)
        for i in range(out.shape[1]):
            out[k, i] = uniform(key, i)


def _fill_keys(begin: int, replicas: int, out: Any) -> None:
    for k in range(len(out)):
        out[k] = noise(noise(begin, k // replicas), k % replicas)


@pytest.fixture(scope="module")
def draws() -> NDArray[np.float64]:
    out = np.zeros((300_000, 3))
    compiled(_fill)(np.uint64(replica_key(0, WORLD, 0)), 1000, out)
    return out


def test_draws_are_uniform(draws: NDArray[np.float64]) -> None:
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    for index in range(3):
        assert stats.kstest(draws[:, index], "uniform").pvalue > 1e-3


def test_interpreted_draws_are_the_compiled_ones(draws: NDArray[np.float64]) -> None:
    begin = replica_key(0, WORLD, 0)
    for k in range(0, 300_000, 4321):
        key = noise(noise(begin, k // 1000), k % 1000)
        assert [uniform(key, i) for i in range(3)] == draws[k].tolist()


def test_the_mix_is_that_of_splitmix64() -> None:
    # The first outputs of SplitMix64 from the state 1234567 (Vigna's reference program).
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [noise(1234567, i) for i in (1, 2, 3)] == known
    assert mix(0) == 0


def _plain_key(key: int, out: Any) -> None:
    for k in range(len(out)):
        out[k] = uniform(key + k, 0)


def test_a_key_that_was_computed_with_is_still_a_key() -> None:
    """An author who writes uniform(key + 1, 0) gets the same, compiled and interpreted."""
    fast, slow = np.zeros(200), np.zeros(200)
    for key in (3, 2**63 - 1, replica_key(0, LEARNER, 0) | 2**63):
        compiled(_plain_key)(np.uint64(key), fast)
        _plain_key(key, slow)
        np.testing.assert_array_equal(fast, slow)


def independent(one: NDArray[np.float64], two: NDArray[np.float64]) -> bool:
    table = np.histogram2d(one, two, bins=16, range=[[0, 1], [0, 1]])[0]
    return bool(stats.chisquare(table.ravel()).pvalue > 1e-3)


def test_neighbours_are_independent(draws: NDArray[np.float64]) -> None:
    assert independent(draws[:, 0], draws[:, 1])  # the next draw of a key
    assert independent(draws[:, 1], draws[:, 2])
    assert independent(draws[:-1, 0], draws[1:, 0])  # the next key
    assert independent(draws[:-1, 1], draws[1:, 0])
    assert independent(draws[:-1000, 0], draws[1000:, 0])  # the next parent
    assert independent(draws[::2, 0], draws[1::2, 2])


def test_purposes_and_seeds_are_independent() -> None:
    columns = [
        np.array([uniform(replica_key(seed, purpose, r), 0) for r in range(6000)])
        for seed, purpose in ((0, WORLD), (0, LEARNER), (0, OPENING), (1, WORLD), (2**64, WORLD))
    ]
    for k, one in enumerate(columns):
        for two in columns[:k]:
            assert independent(one, two)


def test_a_million_keys_are_a_million() -> None:
    out = np.zeros(1_000_000, dtype=np.uint64)
    compiled(_fill_keys)(np.uint64(replica_key(3, LEARNER, 0)), 1000, out)
    assert len(np.unique(out)) == len(out)


def test_keys_differ_by_seed_purpose_and_replica() -> None:
    seeds = [0, 1, 2, 7, 2**63, 2**64, 2**64 + 1, 2**65, 7 + (7 << 64), 2**128 - 1]
    keys = [
        replica_key(seed, purpose, replica)
        for seed in seeds
        for purpose in (WORLD, LEARNER, OPENING)
        for replica in range(50)
    ]
    assert len(set(keys)) == len(keys)


# The naive twin, from Algorithm 1 and nothing else.

Twin = Callable[[int, dict[str, float], np.random.Generator], int]


def twin_regret(choose: Twin, problem: Problem, rounds: int, rng: np.random.Generator) -> float:
    """The pseudo-regret of one run, with its own way to walk, count and price."""
    goal, p_c, p_f = problem.goal, problem.p_c, problem.p_f
    n = {"rho": 1.0, "F": 1.0, "FG": rng.random(), "C": 1.0, "Cu": rng.random()}
    n |= {"n0": 0.0, "w0": 0.0, "n1": 0.0, "w1": 0.0}
    worth = twin_values(problem)
    regret = 0.0
    for _ in range(rounds):
        tau = choose(goal, n, rng)
        state = int(rng.integers(1, goal))
        t = {"F": 0, "FG": 0, "C": 0, "Cu": 0}
        while state not in (0, goal):
            if state <= tau:
                state = goal if rng.random() < p_f else 0
                t["F"] += 1
                t["FG"] = int(state == goal)
            else:
                up = rng.random() < p_c
                state += 1 if up else -1
                t["C"] += 1
                t["Cu"] += int(up)
        for name, count in t.items():
            n[name] += count
        if tau < 2:
            n[f"n{tau}"] += 1
            n[f"w{tau}"] += state == goal
        n["rho"] += 1
        regret += max(worth[0], worth[1]) - worth[tau]
    return regret


def twin_values(problem: Problem) -> dict[int, float]:
    """The values of thresholds 0, 1 and goal - 1 from a uniform start, by repeated sweeps."""
    found = {}
    for tau in (0, 1, problem.goal - 1):
        v = np.zeros(problem.goal + 1)
        v[-1] = 1.0
        for _ in range(500):
            v[1:-1] = problem.p_c * v[2:] + (1 - problem.p_c) * v[:-2]
            v[1 : tau + 1] = problem.p_f
        found[tau] = float(v[1:-1].mean())
    return found


def twin_estimate(goal: int, p_f: float, p_c: float) -> int:
    if p_c in (0.0, 1.0):
        b = p_c
    elif p_c == 0.5:
        b = 1 / goal
    else:
        r = (1 - p_c) / p_c
        b = (1 - r) / (1 - r**goal)
    return 1 if p_f >= b else 0


def twin_sm(goal: int, n: dict[str, float], _: np.random.Generator) -> int:
    tau = twin_estimate(goal, n["FG"] / n["F"], n["Cu"] / n["C"])
    return goal - 1 if tau == 0 and n["F"] < 15 * math.log(n["rho"]) else tau


def twin_no_explore(goal: int, n: dict[str, float], _: np.random.Generator) -> int:
    return twin_estimate(goal, n["FG"] / n["F"], n["Cu"] / n["C"])


def twin_ucb(goal: int, n: dict[str, float], _: np.random.Generator) -> int:
    log = 2 * math.log(n["F"] + n["C"])
    p_f = min(1.0, n["FG"] / n["F"] + math.sqrt(log / n["F"]))
    return twin_estimate(goal, p_f, min(1.0, n["Cu"] / n["C"] + math.sqrt(log / n["C"])))


def twin_ps(goal: int, n: dict[str, float], rng: np.random.Generator) -> int:
    p_f = rng.beta(1 + n["FG"], 1 + n["F"] - n["FG"])
    return twin_estimate(goal, p_f, rng.beta(1 + n["Cu"], 1 + n["C"] - n["Cu"]))


def twin_ps_policies(_: int, n: dict[str, float], rng: np.random.Generator) -> int:
    draw = [rng.beta(1 + n[f"w{k}"], 1 + n[f"n{k}"] - n[f"w{k}"]) for k in (0, 1)]
    return int(draw[1] >= draw[0])


def twin_ucb_policies(_: int, n: dict[str, float], __: np.random.Generator) -> int:
    if n["rho"] <= 2:
        return int(n["rho"]) - 1
    log = 2 * math.log(n["rho"] - 1)
    index = [n[f"w{k}"] / n[f"n{k}"] + math.sqrt(log / n[f"n{k}"]) for k in (0, 1)]
    return int(index[1] >= index[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("getbe-sm", twin_sm),
        ("getbe-ps", twin_ps),
        ("getbe-ucb", twin_ucb),
        ("no-explore", twin_no_explore),
        ("ps-polselection", twin_ps_policies),
        ("ucb-polselection", twin_ucb_policies),
    ],
)
@pytest.mark.parametrize("problem", [FIGURE_3, FIGURE_4], ids=["figure 3", "figure 4"])
def test_final_regret_has_the_law_of_the_naive_twin(
    name: str, twin: Twin, problem: Problem
) -> None:
    """Two samples of one distribution; means within 4 standard errors of each other."""
    rng = np.random.default_rng(11)
    naive = np.array([twin_regret(twin, problem, 200, rng) for _ in range(200)])
    ours = simulate(problem, [name], 200, 3000, 5).curves[name]
    assert stats.ks_2samp(naive.round(9), ours.final.round(9)).pvalue > 1e-3
    se = math.hypot(naive.std(ddof=1) / math.sqrt(200), float(ours.se[-1]))
    assert abs(naive.mean() - ours.mean[-1]) <= 4 * se


# One definition, two lives.


@pytest.mark.parametrize("name", [*LEARNERS, "threshold-2"])
@pytest.mark.parametrize("by_start", [False, True])
def test_interpreted_replicas_are_the_compiled_ones_bit_for_bit(
    name: str, by_start: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = UNEVEN if by_start else FIGURE_4
    rounds, replicas = (60, 2) if name == "bayes-ucb" else (400, 4)
    if by_start:
        rounds //= 2
    looks = [1, 2, 3, 10, rounds]
    fast = all_at_once(problem, name, looks, replicas, 8, by_start=by_start)
    monkeypatch.setattr(engine_module, "_compiled", lambda function: function)
    slow = all_at_once(problem, name, looks, replicas, 8, by_start=by_start)
    np.testing.assert_array_equal(fast.played, slow.played)
    np.testing.assert_array_equal(fast.won, slow.won)
    assert (fast.played.reshape(replicas, len(looks), -1).sum(axis=2) == looks).all()


def in_words(_goal: int, k: Control, n: Counters, key: int) -> int:
    """A decision that Numba does not take."""
    known = n._asdict()
    return 1 if uniform(key, 0) * known["rho"] > k.gamma else 0


def in_numbers(_goal: int, k: Control, n: Counters, key: int) -> int:
    """The same, which Numba takes."""
    return 1 if uniform(key, 0) * n.rho > k.gamma else 0


def test_what_numba_does_not_take_runs_all_the_same() -> None:
    looks = [1, 10, 100]
    with pytest.warns(RuntimeWarning, match="in-words cannot be compiled and runs interpreted"):
        slow = all_at_once(FIGURE_4, Learner("in-words", in_words, Control(9.0)), looks, 20, 4)
    fast = all_at_once(FIGURE_4, Learner("in-numbers", in_numbers, Control(9.0)), looks, 20, 4)
    np.testing.assert_array_equal(fast.played, slow.played)
    np.testing.assert_array_equal(fast.won, slow.won)


def test_the_warning_says_what_numba_minds() -> None:
    with pytest.warns(RuntimeWarning) as said:
        all_at_once(FIGURE_4, Learner("in-words", in_words, Control(9.0)), [1], 1, 4)
    assert "_asdict" in str(said[0].message)


class Callables:
    """A decision that is not a function."""

    def __call__(self, _goal: int, k: Control, n: Counters, key: int) -> int:
        return in_numbers(_goal, k, n, key)


def test_a_decision_that_is_no_function_runs_all_the_same() -> None:
    with pytest.warns(RuntimeWarning, match="object cannot be compiled and runs interpreted"):
        slow = all_at_once(FIGURE_4, Learner("object", Callables(), Control(9.0)), [50], 20, 4)
    fast = all_at_once(FIGURE_4, Learner("in-numbers", in_numbers, Control(9.0)), [50], 20, 4)
    np.testing.assert_array_equal(fast.won, slow.won)


# Neither threads nor blocks change anything.


def test_threads_change_nothing() -> None:
    one = simulate(FIGURE_4, ["getbe-ps"], 100, 300, 1, threads=1).curves["getbe-ps"]
    three = simulate(FIGURE_4, ["getbe-ps"], 100, 300, 1, threads=3).curves["getbe-ps"]
    for field in ("mean", "covariance", "final"):
        np.testing.assert_array_equal(getattr(one, field), getattr(three, field))


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_and_slices_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [5, 60]
    whole = all_at_once(FIGURE_3, "getbe-ps", looks, 130, 1, by_start=True)
    curve = simulate(FIGURE_3, ["getbe-ps"], 60, 130, 1, at=looks).curves["getbe-ps"]
    monkeypatch.setattr(engine_module, "BLOCK", block)
    monkeypatch.setattr(engine_module, "_SLICE", 100)
    parts = all_at_once(FIGURE_3, "getbe-ps", looks, 130, 1, by_start=True)
    np.testing.assert_array_equal(whole.played, parts.played)
    np.testing.assert_array_equal(whole.won, parts.won)
    again = simulate(FIGURE_3, ["getbe-ps"], 60, 130, 1, at=looks).curves["getbe-ps"]
    np.testing.assert_array_equal(curve.final, again.final)
    np.testing.assert_allclose(curve.mean, again.mean, rtol=1e-12)
    np.testing.assert_allclose(curve.covariance, again.covariance, rtol=1e-9, atol=1e-15)


def test_more_replicas_and_rounds_keep_what_was() -> None:
    few = all_at_once(FIGURE_3, "getbe-ps", [10, 20], 5, 1)
    many = all_at_once(FIGURE_3, "getbe-ps", [10, 20, 50], 9, 1)
    np.testing.assert_array_equal(few.played, many.played[:5, :2])
    np.testing.assert_array_equal(few.won, many.won[:5, :2])


def test_seeds_change_everything() -> None:
    finals = [
        simulate(FIGURE_4, ["getbe-ps"], 100, 50, seed).curves["getbe-ps"].final.tobytes()
        for seed in (0, 1, 2, 2**64, 2**127)
    ]
    assert len(set(finals)) == len(finals)


# Common random numbers.


def always_1(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    return 1 if n.rho > 0 else 0


def alternating(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    return n.rho % 2


def test_learners_meet_the_same_cases() -> None:
    looks = range(1, 61)
    one = all_at_once(FIGURE_4, "threshold-1", looks, 100, 3).won
    np.testing.assert_array_equal(
        one, all_at_once(FIGURE_4, Learner("1", always_1), looks, 100, 3).won
    )
    zero = all_at_once(FIGURE_4, "threshold-0", looks, 100, 3).won
    mixed = all_at_once(FIGURE_4, Learner("mixed", alternating), looks, 100, 3).won
    rounds = [np.diff(won, axis=1, prepend=0) for won in (zero, one, mixed)]
    np.testing.assert_array_equal(rounds[2][:, 0::2], rounds[1][:, 0::2])
    np.testing.assert_array_equal(rounds[2][:, 1::2], rounds[0][:, 1::2])
    assert (rounds[0] != rounds[1]).any()
    # FINISH everywhere, as a threshold and as a policy of UCB1, which plays it in round 8.
    policies = np.diff(all_at_once(FIGURE_4, "ucb1-policies", looks, 100, 3).won, axis=1, prepend=0)
    at_once = np.diff(all_at_once(FIGURE_4, "threshold-3", looks, 100, 3).won, axis=1, prepend=0)
    np.testing.assert_array_equal(policies[:, 7], at_once[:, 7])
    np.testing.assert_array_equal(policies[:, 0], rounds[0][:, 0])
    np.testing.assert_array_equal(policies[:, 1], rounds[1][:, 1])


def coin(_goal: int, _: NoConstants, _n: Counters, key: int) -> int:
    return 1 if uniform(key, 0) < 0.5 else 0


def test_a_learner_draws_apart_from_the_world() -> None:
    played = all_at_once(FIGURE_4, Learner("coin", coin), [200], 200, 3, by_start=True).played
    table = played[:, 0, :, :2].sum(axis=0)
    assert stats.chi2_contingency(table).pvalue > 1e-3
    assert abs(table[:, 0].sum() - 20_000) <= 4 * 100


# Laws.


@pytest.mark.parametrize("problem", [FIGURE_3, FIGURE_4, UNEVEN], ids=["3", "4", "uneven"])
@pytest.mark.parametrize("threshold", [0, 1, 2, 3])
def test_rounds_are_won_as_often_as_the_exact_value_says(problem: Problem, threshold: int) -> None:
    rounds = 400 * 250
    won = all_at_once(problem, f"threshold-{threshold}", [250], 400, 6).won
    v = value(problem, threshold)
    assert abs(won.sum() / rounds - v) <= 4 * math.sqrt(v * (1 - v) / rounds)


def test_rounds_start_as_often_as_the_distribution_says() -> None:
    played = all_at_once(UNEVEN, "threshold-0", [250], 200, 6, by_start=True).played[:, 0, :, 0]
    possible = UNEVEN.start_probabilities > 0
    seen = played.sum(axis=0)
    assert (seen[~possible] == 0).all()
    wanted = 250 * 200 * UNEVEN.start_probabilities[possible]
    assert stats.chisquare(seen[possible], wanted).pvalue > 1e-3


def _slots(world: World, threshold: int, begin: int, out: Any) -> None:
    for k in range(len(out)):
        key = noise(begin, k)
        first = first_state(world.states, world.cumulative, uniform(key, 0))
        outcome = play(world.goal, world.p_c, world.p_f, threshold, first, key)
        out[k] = outcome.f + outcome.c


@pytest.mark.parametrize("problem", [FIGURE_3, FIGURE_4, UNEVEN], ids=["3", "4", "uneven"])
def test_rounds_are_as_long_as_the_exact_mean_says(problem: Problem) -> None:
    run = compiled(_slots)
    world = World(problem.goal, problem.p_c, problem.p_f, *problem.start_table)
    for threshold in (0, 1, 2, problem.goal - 1):
        out = np.zeros(40_000)
        run(world, threshold, np.uint64(9), out)
        se = out.std(ddof=1) / 200
        assert abs(out.mean() - expected_slots(problem, threshold)) <= 4 * se


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [4.0, 15.0])
def test_getbe_sm_grows_by_its_control_function(gamma: float) -> None:
    """gamma (V* - p_f) per unit of log(rho) where threshold 0 is right."""
    learner = Learner("sm", getbe_sm, Control(gamma))
    curve = simulate(FIGURE_4, [learner], 20_000, 150, 2, at=[1000, 20_000]).curves["sm"]
    slope = (curve.mean[1] - curve.mean[0]) / math.log(20)
    variance = curve.covariance[0, 0] + curve.covariance[1, 1] - 2 * curve.covariance[0, 1]
    expected = gamma * (value(FIGURE_4, 0) - 0.3)
    # Five in a hundred for the rounds in which D(rho) is rounded up at either end.
    error = 4 * math.sqrt(max(variance, 0.0)) / math.log(20)
    assert abs(slope - expected) <= error + 0.05 * expected


@pytest.mark.parametrize("problem", [Problem(3, 0.3, 0.6), Problem(3, 0.7, 0.2), FIGURE_4])
def test_theorem_1_is_above_the_mean(problem: Problem) -> None:
    curve = simulate(problem, ["ucb1-policies"], 2000, 60, 3, at=[10, 100, 1000]).curves
    bounds = [ucb1_bound(problem, t) for t in (10, 100, 1000, 2000)]
    assert (curve["ucb1-policies"].mean + 4 * curve["ucb1-policies"].se <= bounds).all()
    assert curve["ucb1-policies"].mean[-1] > 1.0


@pytest.mark.parametrize("problem", [Problem(3, 0.2, 0.8), Problem(3, 0.9, 0.1)], ids=["1", "0"])
def test_theorem_3_is_above_the_mean_where_it_applies(problem: Problem) -> None:
    gamma = 1.01 * getbe_bound(problem, 1.0, 1).gamma_required
    learner = Learner("sm", getbe_sm, Control(gamma))
    looks = [10, 100, 1000, 3000]
    curve = simulate(problem, [learner], 3000, 100, 3, at=looks).curves["sm"]
    bounds = [getbe_bound(problem, gamma, look) for look in looks]
    assert all(bound.applies for bound in bounds)
    assert (curve.mean + 4 * curve.se <= [bound.regret_bound for bound in bounds]).all()
    assert {optimal_threshold(p) for p in (Problem(3, 0.2, 0.8), Problem(3, 0.9, 0.1))} == {0, 1}


def test_each_action_is_taken_once_before_round_1_if_asked() -> None:
    """Algorithm 1's own beginning: the estimates are 0 or 1, as often as the chances say."""

    def told(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
        whole = n.f_goal in (0.0, 1.0) and n.c_up in (0.0, 1.0)
        return 3 if not whole else int(n.f_goal) + 2 * int(n.c_up) if n.f_goal + n.c_up < 2 else 4

    learner = Learner("told", told, thresholds=(0, 1, 2, 3, 4))
    problem = Problem(7, 0.6, 0.3)
    seen = all_at_once(problem, learner, [1], 20_000, 1, once=True).played[:, 0].sum(axis=0)
    assert seen[3] == 0
    wanted = 20_000 * np.array([0.4 * 0.7, 0.4 * 0.3, 0.6 * 0.7, 0.0, 0.6 * 0.3])
    assert stats.chisquare(seen[[0, 1, 2, 4]], wanted[[0, 1, 2, 4]]).pvalue > 1e-3
    drawn = all_at_once(problem, learner, [1], 200, 1).played[:, 0].sum(axis=0)
    assert drawn[3] == 200


# Looks and memory.


def test_curves_are_looked_at_evenly_in_the_logarithm() -> None:
    looks = looked_at(5000)
    assert looks[0] == 1
    assert looks[-1] == 5000
    assert (np.diff(looks) > 0).all()
    assert 60 < len(looks) <= 100
    ratio = np.diff(np.log(looks[looks > 100]))
    assert ratio.max() / ratio.min() < 1.2
    assert looked_at(1).tolist() == [1]
    assert looked_at(2).tolist() == [1, 2]
    assert looked_at(10**12)[-1] == 10**12


def test_curves_are_looked_at_where_asked_and_at_the_end() -> None:
    assert looked_at(50, [30, 10, 10]).tolist() == [10, 30, 50]
    assert looked_at(50, []).tolist() == [50]
    every = simulate(FIGURE_4, ["getbe-sm"], 40, 30, 0, at=range(1, 41))
    some = simulate(FIGURE_4, ["getbe-sm"], 40, 30, 0, at=[3, 17])
    assert some.rounds.tolist() == [3, 17, 40]
    mean = every.curves["getbe-sm"].mean
    np.testing.assert_allclose(some.curves["getbe-sm"].mean, mean[[2, 16, 39]], rtol=1e-12)


def peak_memory(rounds: int, replicas: int, at: list[int]) -> int:
    tracemalloc.start()
    try:
        simulate(FIGURE_4, ["getbe-sm"], rounds, replicas, 0, at=at, threads=1)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_rounds_times_replicas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "BLOCK", 256)
    peak_memory(10, 10, [5])  # compiles
    short, long = peak_memory(100, 256, [10, 50]), peak_memory(4000, 256, [10, 50])
    assert long < short + 100_000
    # Of a replica more, only its final regret is kept, which is copied once.
    many = peak_memory(100, 256 * 16, [10, 50])
    assert many < 2 * short + 256 * 16 * 8 * 3 + 100_000


# Refusals.


def three_in_the_end(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    return 3 if n.rho > 20 else 0


def minus_one(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    return -1 if n.rho > 20 else 0


def too_far(goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    return goal + 3 if n.rho > 20 else 0


@pytest.mark.parametrize(
    ("learner", "answer"),
    [
        (Learner("mine", three_in_the_end, thresholds=(0, 1)), 3),
        (Learner("mine", minus_one), -1),
        (Learner("mine", too_far), 7),
    ],
    ids=["3", "-1", "7"],
)
def test_thresholds_not_declared_are_refused(learner: Learner, answer: int) -> None:
    with pytest.raises(InvalidInput, match=f"learner mine played threshold {answer}") as refusal:
        simulate(FIGURE_4, [learner], 100, 40, 0)
    assert "\n" not in str(refusal.value)
    # As long as it does not play it, nobody minds.
    assert simulate(FIGURE_4, [learner], 20, 40, 0).curves["mine"].threshold_share[0] == 1.0


@pytest.mark.parametrize("threshold", [4, 7, -2])
def test_thresholds_that_the_goal_lacks_are_refused(threshold: int) -> None:
    learner = Learner("mine", three_in_the_end, thresholds=(0, 3, threshold))
    with pytest.raises(InvalidInput, match=f"{threshold}"):
        simulate(FIGURE_4, [learner], 10, 4, 0)


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
        ({"seed": None}, "seed = None was given"),
        ({"learners": []}, r"the learners \[\] were given; there must be one or more"),
        ({"learners": ["getbe-sm", "getbe-sm"]}, "each named once"),
        ({"learners": ["getbe-sm", SAMPLE_MEAN]}, "each named once"),
        ({"learners": ["nobody"]}, "learner 'nobody' was asked for; there is getbe-sm"),
        ({"learners": "getbe-sm"}, "learner"),
        ({"learners": ["threshold-4"]}, "threshold = 4 was given"),
        ({"at": [0]}, "at = 0 was given; it must be a whole number from 1 to 10"),
        ({"at": [11]}, "at = 11 was given"),
        ({"at": [1.5]}, "at = 1.5 was given"),
        ({"at": 5}, "at = 5 was given"),
        ({"regret": "real"}, "regret = 'real' was given; it must be 'pseudo', 'realised' or"),
        ({"threads": 0}, "threads = 0 was given"),
        ({"threads": 1025}, "threads = 1025 was given"),
        ({"opening": "twice"}, "opening = 'twice' was given"),
    ],
)
def test_wrong_questions_are_refused_in_one_sentence(change: dict[str, Any], words: str) -> None:
    asked: dict[str, Any] = {"learners": ["getbe-sm"], "rounds": 10, "replicas": 2, "seed": 0}
    with pytest.raises(InvalidInput, match=words) as refusal:
        simulate(FIGURE_4, **(asked | change))
    assert "\n" not in str(refusal.value)


# Regret.


def test_prices_are_the_exact_gaps() -> None:
    """E1: a forced exploration costs V* - p_f, .4335 in the setting of Figure 4."""
    np.testing.assert_allclose(prices(FIGURE_4, SAMPLE_MEAN), [0.0, 0.109538, 0.433486], atol=1e-6)
    np.testing.assert_allclose(
        prices(FIGURE_3, SAMPLE_MEAN), [0.502325581 - 0.417326733, 0.0, 0.202325581], atol=1e-9
    )
    by_start = prices(UNEVEN, SAMPLE_MEAN, by_start=True)
    assert by_start.shape == (6, 3)
    np.testing.assert_allclose(
        UNEVEN.start_probabilities @ by_start, prices(UNEVEN, SAMPLE_MEAN), atol=1e-14
    )
    two = Problem(2, 0.4, 0.5)
    np.testing.assert_allclose(prices(two, SAMPLE_MEAN), [0.1, 0.0, 0.0], atol=1e-15)


def test_pseudo_regret_is_counts_times_prices() -> None:
    looks = [1, 10, 80]
    played = all_at_once(FIGURE_4, "getbe-sm", looks, 50, 4).played
    curve = simulate(FIGURE_4, ["getbe-sm"], 80, 50, 4, at=looks).curves["getbe-sm"]
    cost = np.array([0.0, gap(FIGURE_4, 1), gap(FIGURE_4, 3)])
    np.testing.assert_allclose(curve.final, played[:, -1] @ cost, rtol=1e-12)
    np.testing.assert_allclose(curve.mean, (played @ cost).mean(axis=0), rtol=1e-12)
    shares = played[:, -1].sum(axis=0) / (50 * 80)
    assert curve.threshold_share == pytest.approx(dict(zip((0, 1, 3), shares, strict=True)))
    assert sum(curve.threshold_share.values()) == pytest.approx(1.0)
    assert curve.sd == pytest.approx((played[:, -1] @ cost).std(ddof=1))


@pytest.mark.parametrize("name", ["getbe-sm", "getbe-ps", "ucb1-policies"])
def test_the_three_kinds_of_regret_have_one_mean(name: str) -> None:
    """Within 4 standard errors of their difference, replica by replica."""
    final = {}
    for kind in ("pseudo", "realised", "by-start"):
        curve = simulate(FIGURE_4, [name], 100, 3000, 7, at=[10], regret=kind).curves[name]
        final[kind] = curve.final
        assert curve.mean[-1] == pytest.approx(curve.final.mean())
        assert sum(curve.threshold_share.values()) == pytest.approx(1.0)
    for kind in ("realised", "by-start"):
        off = final[kind] - final["pseudo"]
        assert off.std() > 0.0
        assert abs(off.mean()) <= 4 * off.std(ddof=1) / math.sqrt(3000)


def test_regret_by_start_sums_to_the_total() -> None:
    curve = simulate(UNEVEN, ["getbe-sm"], 100, 40, 7, at=[1, 10], regret="by-start").curves
    by_start = curve["getbe-sm"].by_start
    assert by_start is not None
    assert by_start.shape == (3, 6)
    np.testing.assert_allclose(by_start.sum(axis=1), curve["getbe-sm"].mean, rtol=1e-12)
    assert (by_start[:, UNEVEN.start_probabilities == 0.0] == 0.0).all()
    played = all_at_once(UNEVEN, "getbe-sm", [1, 10, 100], 40, 7, by_start=True).played
    cost = prices(UNEVEN, SAMPLE_MEAN, by_start=True)
    np.testing.assert_allclose(by_start, (played * cost).sum(axis=3).mean(axis=0), rtol=1e-12)


def test_errors_are_those_of_numpy_on_the_raw_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "BLOCK", 64)
    looks = [1, 5, 30, 200]
    regret = all_at_once(FIGURE_4, "getbe-ps", looks, 300, 4).played @ np.array(
        [0.0, gap(FIGURE_4, 1), gap(FIGURE_4, 3)]
    )
    curve = simulate(FIGURE_4, ["getbe-ps"], 200, 300, 4, at=looks).curves["getbe-ps"]
    np.testing.assert_allclose(curve.covariance, np.cov(regret.T) / 300, atol=1e-14)
    np.testing.assert_allclose(curve.se, stats.sem(regret), rtol=1e-9)
    won = all_at_once(FIGURE_4, "getbe-ps", looks, 300, 4).won
    realised = value(FIGURE_4, 0) * np.array(looks) - won
    curve = simulate(FIGURE_4, ["getbe-ps"], 200, 300, 4, at=looks, regret="realised").curves[
        "getbe-ps"
    ]
    np.testing.assert_allclose(curve.mean, realised.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(curve.se, stats.sem(realised), rtol=1e-9)


def test_one_replica_has_no_error() -> None:
    curve = simulate(FIGURE_4, ["getbe-ps"], 50, 1, 4).curves["getbe-ps"]
    assert curve.sd == 0.0
    assert (curve.se == 0.0).all()
    low, high = curve.band()
    np.testing.assert_array_equal(low, curve.mean)
    np.testing.assert_array_equal(high, curve.mean)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("law", ["independent", "walk", "equal"])
def test_the_band_holds_the_whole_curve_as_often_as_it_says(level: float, law: str) -> None:
    size = 30
    steps = np.arange(1, size + 1, dtype=np.float64)
    covariance = {
        "independent": np.diag(steps),
        "walk": np.minimum.outer(steps, steps),
        "equal": np.outer(steps, steps),
    }[law]
    truth = np.sqrt(steps)
    empty = Curve(truth, covariance, np.zeros(1), {})
    low, high = empty.band(level)
    rng = np.random.default_rng(5)
    roots = np.linalg.cholesky(covariance + 1e-9 * np.eye(size))
    errors = rng.standard_normal((20_000, size)) @ roots.T
    # The curve was seen with an error; the band about it moves along.
    held = ((low + errors <= truth) & (truth <= high + errors)).all(axis=1).mean()
    # Twenty thousand here and twenty thousand to find the width.
    assert abs(held - level) <= 4 * math.sqrt(2 * level * (1 - level) / 20_000)
    if law == "equal":
        assert (high - low) / 2 == pytest.approx(stats.norm.isf((1 - level) / 2) * steps, rel=0.03)


def test_a_band_leaves_what_does_not_vary_alone() -> None:
    covariance = np.diag([0.0, 4.0, 0.0])
    low, high = Curve(np.array([1.0, 2.0, 3.0]), covariance, np.zeros(1), {}).band()
    assert (low[[0, 2]] == [1.0, 3.0]).all()
    assert (high[[0, 2]] == [1.0, 3.0]).all()
    assert high[1] - low[1] == pytest.approx(2 * 1.96 * 2.0, rel=0.03)


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
    assert dataclasses.astuple(done)[2:5] == (20, 9, "realised")
    assert done.problem == FIGURE_4
    assert list(done.curves) == ["oracle", "getbe-sm"]
