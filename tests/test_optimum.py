"""The limits of benchmarks/optimum.py against brute force, and its loop against the engine."""

import importlib
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grbp
from grbp.numerics.rng import LEARNER, OPENING, WORLD, replica_keys

ROOT = Path(__file__).parent.parent


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What imports the modules of the benchmarks."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


@cache
def most_successes(rounds: int, won: int, lost: int, up: int, down: int) -> Fraction:
    """The most successes with two arms, from every history."""
    if rounds == 0:
        return Fraction(0)
    p_f, p_c = Fraction(won + 1, won + lost + 2), Fraction(up + 1, up + down + 2)
    left = rounds - 1
    finish = p_f * (1 + most_successes(left, won + 1, lost, up, down))
    finish += (1 - p_f) * most_successes(left, won, lost + 1, up, down)
    go_on = p_c * (1 + most_successes(left, won, lost, up + 1, down))
    go_on += (1 - p_c) * most_successes(left, won, lost, up, down + 1)
    return max(finish, go_on)


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_the_optimum_with_two_states_is_that_of_all_histories(modules: Any, rounds: int) -> None:
    found = rounds * 2.0 / 3.0 - modules("optimum_limits")._two_armed(rounds)
    assert found == pytest.approx(rounds * 2 / 3 - float(most_successes(rounds, 0, 0, 0, 0)))


def most_gain(b: float, chances: int) -> float:
    """The most that an arm of unknown mean can gain over a known value, without a band."""
    later = np.zeros(chances + 1)
    for n in range(chances - 1, -1, -1):
        p = (np.arange(n + 1) + 1) / (n + 2)
        later = np.maximum(0.0, p - b + p * later[1 : n + 2] + (1 - p) * later[: n + 1])
    return float(later[0])


@pytest.mark.parametrize("b", [0.0, 0.03, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("chances", [0, 1, 8, 400])
def test_one_who_is_told_gains_what_a_plain_recursion_says(
    modules: Any, b: float, chances: int
) -> None:
    found = modules("optimum_limits").one_armed_gain(b, chances)
    assert found == pytest.approx(most_gain(b, chances) if chances else 0.0, abs=1e-7)


def test_to_foresee_what_does_not_change_is_to_be_told(modules: Any) -> None:
    limits = modules("optimum_limits")
    for b in (0.1, 0.6):
        assert limits.foreseen_gain(np.full(20, b), 20) == pytest.approx(most_gain(b, 20))


def test_to_foresee_estimates_gains_at_least_as_much_as_their_mean(modules: Any) -> None:
    foreseen = modules("optimum_limits").foreseen_gain
    b = np.random.default_rng(0).random(15)
    assert foreseen(b, 15) >= most_gain(float(b.mean()), 15)


@pytest.mark.parametrize(("up", "c"), [(0, 0), (0, 3), (7, 9), (400, 700)])
def test_the_value_of_continue_is_averaged_over_what_p_c_may_be(
    modules: Any, up: int, c: int
) -> None:
    world, goal = modules("optimum_world"), 4
    p = (np.arange(4000) + 0.5) / 4000
    log = up * np.log(p) + (c - up) * np.log1p(-p)
    weight = np.exp(log - log.max()) * world.reach(goal, p)
    right = float(weight @ world.door_value(goal, p) / weight.sum())
    found = modules("optimum_limits").expected_value(goal, world.reach_table(goal)[1], up, c)
    assert found == pytest.approx(right, abs=2e-4)


def test_a_wrong_choice_costs_the_gap_of_its_threshold(modules: Any) -> None:
    p_c, p_f = np.array([0.3, 0.65]), np.array([0.4, 0.3])
    found = modules("optimum_world").prices(4, p_c, p_f)
    for row, (c, f) in zip(found, zip(p_c, p_f, strict=True), strict=True):
        gaps = [grbp.gap(grbp.Problem(4, c, f), threshold) for threshold in (0, 1)]
        assert row == pytest.approx(gaps, abs=1e-6)


@pytest.mark.slow
def test_the_loop_plays_as_the_engine_does(modules: Any) -> None:
    pytest.importorskip("numba")
    world, name, replicas = modules("optimum_world"), "doorstep-optimal:horizon=60", 20
    problem = grbp.Problem(4, 0.65, 0.3)
    who, p_c, p_f = world.player(name), np.full(replicas, 0.65), np.full(replicas, 0.3)
    keys = np.column_stack(
        [replica_keys(0, part, range(replicas)) for part in (WORLD, LEARNER, OPENING)]
    )
    regret = np.zeros(replicas)
    price = world.prices(4, p_c, p_f)
    world.playing(who.decide)(4, who.constants, 60, p_c, p_f, price, keys, regret)
    theirs = grbp.simulate(problem, [name], 60, replicas, 0, engine="walk").curves[name]
    assert regret == pytest.approx(theirs.final, abs=1e-4)


@pytest.mark.slow
def test_the_programme_is_above_the_limits_and_not_far_above_the_rule(modules: Any) -> None:
    pytest.importorskip("numba")
    limits, policy, world = map(modules, ("optimum_limits", "optimum_policy", "optimum_world"))
    goal, rounds = 7, 40
    fine = policy.Fineness(estimates=60, hidden=400)
    programme = world.regrets(goal, policy.best_policy(goal, rounds, fine), rounds, 20_000, 0)
    known = world.player(f"doorstep-optimal:horizon={rounds}")
    rule = world.regrets(goal, known, rounds, 20_000, 0)
    error = 4.0 * programme.std() / np.sqrt(len(programme))
    told, (foreseen, noise) = limits.told(goal, rounds, 50), limits.foreseen(goal, rounds, 2000, 0)
    assert told <= foreseen + 4.0 * noise
    assert max(told, foreseen - 4.0 * noise) <= programme.mean() + error
    assert programme.mean() <= 1.1 * rule.mean() + error
