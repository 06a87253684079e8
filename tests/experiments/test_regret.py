"""From decisions to regret: gaps, sums, errors and bands."""

import math
from fractions import Fraction
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest
from runs import FIGURE_3, FIGURE_4, UNEVEN, all_at_once
from scipy import stats

from grbp import Problem, gap, value
from grbp.engine import decisions as engine_module
from grbp.engine.decisions import Kind, choose_engine, decisions
from grbp.experiments.game import ChoiceGame, Tally, make_game
from grbp.experiments.moments import Sums, price
from grbp.experiments.regret import (
    Curve,
    band_width,
    gap_per_threshold,
)
from grbp.experiments.simulation import simulate
from grbp.learners.getbe import SAMPLE_MEAN
from grbp.learners.registry import find_problem_learner
from grbp.theory.values import optimal_threshold


def test_prices_are_the_exact_gaps() -> None:
    """E1: a forced exploration costs V* - p_f, .4335 in the setting of Figure 4."""
    np.testing.assert_allclose(
        gap_per_threshold(FIGURE_4, SAMPLE_MEAN), [0.0, 0.109538, 0.433486], atol=1e-6
    )
    np.testing.assert_allclose(
        gap_per_threshold(FIGURE_3, SAMPLE_MEAN),
        [0.502325581 - 0.417326733, 0.0, 0.202325581],
        atol=1e-9,
    )
    by_start = gap_per_threshold(UNEVEN, SAMPLE_MEAN, by_start=True)
    assert by_start.shape == (6, 3)
    np.testing.assert_allclose(
        UNEVEN.start_probabilities @ by_start, gap_per_threshold(UNEVEN, SAMPLE_MEAN), atol=1e-14
    )
    two = Problem(2, 0.4, 0.5)
    np.testing.assert_allclose(gap_per_threshold(two, SAMPLE_MEAN), [0.1, 0.0, 0.0], atol=1e-15)


def test_pseudo_regret_is_counts_times_prices() -> None:
    checkpoints = [1, 10, 80]
    played = all_at_once(FIGURE_4, "getbe-sm", checkpoints, 50, 4).played
    curve = simulate(FIGURE_4, ["getbe-sm"], 80, 50, 4, checkpoints=checkpoints).curves["getbe-sm"]
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
        curve = simulate(FIGURE_4, [name], 100, 3000, 7, checkpoints=[10], regret=kind).curves[name]
        final[kind] = curve.final
        assert curve.mean[-1] == pytest.approx(curve.final.mean())
        assert sum(curve.threshold_share.values()) == pytest.approx(1.0)
    for kind in ("realised", "by-start"):
        off = final[kind] - final["pseudo"]
        assert off.std() > 0.0
        assert abs(off.mean()) <= 4 * off.std(ddof=1) / math.sqrt(3000)


def test_regret_by_start_sums_to_the_total() -> None:
    curve = simulate(
        UNEVEN, ["getbe-sm"], 100, 40, 7, checkpoints=[1, 10], regret="by-start"
    ).curves
    by_start = curve["getbe-sm"].by_start
    assert by_start is not None
    assert by_start.shape == (3, 6)
    np.testing.assert_allclose(by_start.sum(axis=1), curve["getbe-sm"].mean, rtol=1e-12)
    assert (by_start[:, UNEVEN.start_probabilities == 0.0] == 0.0).all()
    played = all_at_once(UNEVEN, "getbe-sm", [1, 10, 100], 40, 7, regret="by-start").played
    cost = gap_per_threshold(UNEVEN, SAMPLE_MEAN, by_start=True)
    np.testing.assert_allclose(by_start, (played * cost).sum(axis=3).mean(axis=0), rtol=1e-12)


def test_one_replica_has_no_error() -> None:
    for kind in get_args(Kind):
        curve = simulate(UNEVEN, ["getbe-sm"], 100, 1, 7, checkpoints=[10], regret=kind).curves
        (alone,) = curve.values()
        assert np.isfinite(alone.mean).all()
        for unknown in (alone.se, alone.sd, alone.covariance, *alone.band()):
            assert np.isnan(unknown).all()


def test_errors_are_those_of_numpy_on_the_raw_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "BLOCK", 64)
    checkpoints = [1, 5, 30, 200]
    regret = all_at_once(FIGURE_4, "getbe-ps", checkpoints, 300, 4).played @ np.array(
        [0.0, gap(FIGURE_4, 1), gap(FIGURE_4, 3)]
    )
    curve = simulate(FIGURE_4, ["getbe-ps"], 200, 300, 4, checkpoints=checkpoints).curves[
        "getbe-ps"
    ]
    np.testing.assert_allclose(curve.covariance, np.cov(regret.T) / 300, atol=1e-14)
    np.testing.assert_allclose(curve.se, stats.sem(regret), rtol=1e-9)
    assert curve.sd == pytest.approx(regret[:, -1].std(ddof=1), rel=1e-12)
    won = all_at_once(FIGURE_4, "getbe-ps", checkpoints, 300, 4).won
    realised = value(FIGURE_4, 0) * np.array(checkpoints) - won
    curve = simulate(
        FIGURE_4, ["getbe-ps"], 200, 300, 4, checkpoints=checkpoints, regret="realised"
    ).curves["getbe-ps"]
    np.testing.assert_allclose(curve.mean, realised.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(curve.se, stats.sem(realised), rtol=1e-9)


@pytest.mark.parametrize(
    ("problem", "name", "kind"),
    [
        *((FIGURE_4, "getbe-ps", kind) for kind in get_args(Kind)),
        (UNEVEN, "getbe-ps", "by-start"),  # too many columns to multiply: replicas are priced
        (FIGURE_4, "ucb1-policies", "pseudo"),
        (Problem(6, 0.45, 0.3), "ucb1-policies", "pseudo"),  # the same
        (FIGURE_4, "threshold-0", "pseudo"),  # nothing costs anything
    ],
)
def test_blocks_and_their_order_change_no_bit(problem: Problem, name: str, kind: Kind) -> None:
    learner, checkpoints = find_problem_learner(name, problem), [1, 9, 200]
    game = make_game(problem, learner, checkpoints, 4, "walk", kind=kind)
    assert isinstance(game, ChoiceGame)
    whole = game.curve(game.play(0, 90))
    played = partial(decisions, problem, learner, checkpoints, 90, 4, regret=kind)
    for size in (1, 7, 4096):
        blocks = list(map(game.count, played(block_size=size)))
        mixed = np.random.default_rng(size).permutation(len(blocks)).tolist()
        for order in (blocks, blocks[::-1], [blocks[k] for k in mixed]):
            again = game.curve(Tally.join(order))
            assert again.mean.tobytes() == whole.mean.tobytes()
            assert again.covariance.tobytes() == whole.covariance.tobytes()
            assert again.threshold_share == whole.threshold_share
            assert sorted(again.final) == sorted(whole.final)
            if kind == "by-start":
                assert again.by_start is not None
                assert whole.by_start is not None
                assert again.by_start.tobytes() == whole.by_start.tobytes()


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("problem", [FIGURE_4, UNEVEN])
def test_regret_is_that_of_exact_arithmetic(problem: Problem, kind: Kind) -> None:
    checkpoints, replicas = [1, 30, 200], 11
    asked: Any = (problem, "getbe-ps", checkpoints, replicas, 4)
    block = all_at_once(*asked, regret=kind)
    gaps = gap_per_threshold(problem, find_problem_learner("getbe-ps", problem), kind == "by-start")
    best = Fraction(value(problem, optimal_threshold(problem)))

    def cost(r: int, k: int) -> Fraction:
        if kind == "realised":
            return best * checkpoints[k] - int(block.won[r, k])
        pairs = zip(block.played[r, k].ravel().tolist(), gaps.ravel().tolist(), strict=True)
        return sum((count * Fraction(gap) for count, gap in pairs), Fraction())

    costs = [[cost(r, k) for r in range(replicas)] for k in range(3)]
    means = [sum(one) / replicas for one in costs]
    found = simulate(
        problem, "getbe-ps", 200, replicas, 4, checkpoints=checkpoints, regret=kind, engine="walk"
    ).curves["getbe-ps"]
    np.testing.assert_allclose(found.mean, [float(mean) for mean in means], rtol=1e-12)
    for i, j in np.ndindex(3, 3):
        pairs = zip(costs[i], costs[j], strict=True)
        products = sum((a - means[i]) * (b - means[j]) for a, b in pairs)
        exact = float(products / replicas / (replicas - 1))
        assert found.covariance[i, j] == pytest.approx(exact, rel=1e-11, abs=1e-15)


def test_the_end_of_a_curve_is_the_price_of_that_round_alone() -> None:
    for problem, name, rounds in (
        (FIGURE_3, "getbe-sm", 5000),
        (FIGURE_4, "getbe-sm", 10**9),
        (FIGURE_4, "ucb1-policies", 100),
        (Problem(6, 0.45, 0.3), "ucb1-policies", 100),
    ):
        learner = find_problem_learner(name, problem)
        ends = simulate(problem, name, rounds, 60, 2).curves[name]
        engine = choose_engine(problem, learner, rounds)
        block = all_at_once(problem, name, [rounds], 60, 2, engine=engine, regret="pseudo")
        gaps = gap_per_threshold(problem, learner)
        game = make_game(problem, learner, [rounds], 2, engine)
        assert isinstance(game, ChoiceGame)
        assert game.price(game.count(block)) == [(ends.mean[-1], ends.se[-1])]
        counted = price(Sums.of(block.played[:, 0]), gaps)
        if problem.goal == 4:
            assert counted == (ends.mean[-1], ends.se[-1])
        assert counted == pytest.approx((ends.mean[-1], ends.se[-1]), rel=1e-12)


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


def test_a_band_is_as_wide_whoever_decomposes_its_covariance() -> None:
    """Columns that are turned, doubled or disturbed by rounding do not move it."""
    rng = np.random.default_rng(4)
    factor = rng.standard_normal((30, 6))
    covariance = factor @ factor.T  # of rank 6, as neighbouring checkpoints nearly have
    turned, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    width = band_width(covariance, 0.95)
    assert band_width((factor @ turned) @ (factor @ turned).T, 0.95) == width
    noise = 1e-14 * rng.standard_normal((30, 30))
    assert band_width(covariance + noise + noise.T, 0.95) == width
    doubled = np.repeat(np.repeat(covariance, 2, axis=0), 2, axis=1)
    assert band_width(doubled, 0.95) == pytest.approx(width, abs=0.04)
    draws = np.random.default_rng(5).standard_normal((200_000, 6)) @ factor.T
    largest = np.abs(draws / np.sqrt(np.diagonal(covariance))).max(axis=1)
    assert np.mean(largest <= width) == pytest.approx(0.95, abs=0.006)
