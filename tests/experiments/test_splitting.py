"""Splitting: the mean that rare replicas carry, known exactly for a learner made for that."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from runs import BOTH_ENGINES, FIGURE_3, FIGURE_4, made_up, one_sentence

from grbp import Counters, InvalidInput, Learner, Problem, SweepSpec, gap, simulate
from grbp.engine.decisions import Engine, decisions
from grbp.experiments.splitting import BATCHES, LEAST, _batches, _resample, _stage_ends
from grbp.learners.registry import find_problem_learner


class Patience(NamedTuple):
    tries: float = 100.0


def gives_up(goal: int, constants: Patience, n: Counters, _key: int) -> int:
    """Finish at once until FINISH succeeds, and never again if it has failed too often."""
    if n.f_goal >= 1.0:
        return 1
    return goal - 1 if n.f <= constants.tries else 0


def given_up(_goal: int, constants: Patience, low: Counters, high: Counters) -> bool:
    """Return whether FINISH has succeeded throughout a box, or is due throughout, or nowhere."""
    if low.f_goal >= 1.0:
        return True
    return high.f_goal < 1.0 and (high.f <= constants.tries or low.f > constants.tries)


STUBBORN = Learner("gives-up", gives_up, Patience(), stable=given_up)
LOW = Problem(4, 0.2, 0.1)  # Threshold 1 is right, and one replica in 37,649 gives up.


def exact_regret(rounds: int) -> float:
    tries, fails = int(STUBBORN.constants.tries), 1.0 - LOW.p_f
    forced = sum(fails**k for k in range(tries))
    return gap(LOW, 3) * forced + gap(LOW, 0) * fails**tries * (rounds - tries)


@pytest.mark.slow
@pytest.mark.sample("leap")
@BOTH_ENGINES
def test_splitting_sees_what_independent_replicas_do_not(engine: Engine) -> None:
    rounds = 1000 if engine == "walk" else 10**7
    asked = (LOW, [STUBBORN], rounds, 2000, 3)
    curve = simulate(*asked, engine=engine, splitting=True).curves["gives-up"]
    exact = exact_regret(rounds)
    assert abs(curve.mean[-1] - exact) <= 4 * curve.se[-1]
    if engine == "leap":
        assert curve.se[-1] < 0.2 * exact
        plain = simulate(*asked).curves["gives-up"]
        assert plain.unseen is not None
        assert plain.mean[-1] + 20 * plain.se[-1] < exact < plain.mean[-1] + plain.unseen[-1]
        assert not plain.covered


@pytest.mark.sample("getbe-sm")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["getbe-sm", "getbe-ps", "ps-polselection", "no-explore"])
def test_splitting_agrees_with_independent_replicas(name: str) -> None:
    split = simulate(FIGURE_3, [name], 1000, 1000, 5, splitting=True).curves[name]
    plain = simulate(FIGURE_3, [name], 1000, 10_000, 6).curves[name]
    error = np.hypot(split.se, plain.se)
    assert (np.abs(split.mean - plain.mean) <= 4.5 * error).all()
    assert split.weights is not None
    assert math.isclose(split.weights.sum(), 1.0, abs_tol=0.05)
    assert math.isclose((split.weights * split.final).sum(), split.mean[-1], rel_tol=0.2)
    assert math.isclose(sum(split.threshold_share.values()), 1.0)
    for threshold, share in plain.threshold_share.items():
        assert abs(split.threshold_share[threshold] - share) < 0.02


@pytest.mark.slow
def test_splitting_does_not_depend_on_threads_or_checkpoints() -> None:
    asked = (FIGURE_3, ["getbe-sm"], 3000, LEAST, 1)
    one, two = (simulate(*asked, splitting=True, threads=k).curves["getbe-sm"] for k in (1, 2))
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(one.final, two.final)
    np.testing.assert_array_equal(one.covariance, two.covariance)


@pytest.mark.parametrize("name", ["getbe-sm", "ps-polselection"])
def test_a_replica_goes_on_from_its_counters_as_if_it_had_not_stopped(name: str) -> None:
    learner = find_problem_learner(name, FIGURE_3)
    counters = np.zeros((50, len(Counters._fields)))
    (whole,) = decisions(FIGURE_3, learner, [300], 50, 9, regret="pseudo")
    (first,) = decisions(FIGURE_3, learner, [120], 50, 9, regret="pseudo", counters=counters)
    assert (counters[:, 0] == 121).all()
    (rest,) = decisions(FIGURE_3, learner, [200, 300], 50, 9, regret="pseudo", counters=counters)
    assert (counters[:, 0] == 301).all()
    np.testing.assert_array_equal(whole.played[:, 0], first.played[:, 0] + rest.played[:, 1])


@pytest.mark.slow
def test_resampling_keeps_every_batch_and_every_expectation() -> None:
    rng = np.random.default_rng(4)
    before, after = _batches(2050), _batches(1010)
    weights, evidence = rng.random(2050) / 20.0, rng.normal(0.0, 3.0, 2050)
    what = rng.random(2050)
    sums = np.zeros(BATCHES)
    for key in range(400):
        chosen, new = _resample(before, weights, evidence, after, key)
        np.testing.assert_array_equal(before[chosen], after)
        sums += np.bincount(after, new * what[chosen]) / 400
    np.testing.assert_allclose(sums, np.bincount(before, weights * what), rtol=0.05)
    # What looks most like a problem on the boundary is copied more than its weight warrants.
    copies, mean = np.bincount(chosen, minlength=2050), weights * 1010 / weights.sum()
    assert copies[evidence > 5.0].sum() > 2 * mean[evidence > 5.0].sum()
    assert copies[evidence < 0.0].sum() < 0.7 * mean[evidence < 0.0].sum()


def test_stages_end_four_times_a_decade_and_with_the_last_round() -> None:
    assert _stage_ends(7) == [7]
    assert _stage_ends(1000) == [10, 18, 32, 56, 100, 178, 316, 562, 1000]
    assert _stage_ends(1001)[-2:] == [1000, 1001]


@pytest.mark.parametrize(
    ("learner", "replicas", "regret", "said"),
    [
        ("getbe-sm", LEAST - 1, "pseudo", "replicas = 999"),
        ("ucb1-policies", LEAST, "pseudo", "ucb1-policies keeps no counters"),
        ("getbe-sm", LEAST, "realised", "regret = 'realised'"),
    ],
)
def test_splitting_is_refused(learner: str, replicas: int, regret: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        simulate(FIGURE_3, [learner], 100, replicas, 0, splitting=True, regret=regret)  # type: ignore[arg-type]
    assert said in one_sentence(caught.value)


def test_a_cell_of_a_map_has_room_for_stuck_replicas_where_they_can_be() -> None:
    spec = SweepSpec("x", [FIGURE_3, FIGURE_4], ("getbe-sm",), 100, 40)
    result = made_up(spec, lambda _: (5.0, 0.5))
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows()]
    room = (1.0 - 0.025 ** (1 / 40)) * gap(FIGURE_3, 0) * 100
    above = [float(row["high"]) - 5.0 for row in rows]
    assert above == pytest.approx([1.959964 * 0.5 + room, 1.959964 * 0.5])
    assert [5.0 - float(row["low"]) for row in rows] == pytest.approx([1.959964 * 0.5] * 2)
