"""Plans by model: what each wins and loses adds up, and is what the engine plays."""

import numpy as np
import pytest

import grbp
from grbp.engine.losses import losses
from grbp.errors import InvalidInput
from grbp.learners.registry import find_learner

pytestmark = pytest.mark.usefixtures("interpreted")

CHAIN = grbp.dynprog.Chain(4, grbp.dynprog.Move(0.5, 0.5), [0.05, 0.6, 0.9], start=1)


def test_a_model_loses_what_the_engine_plays() -> None:
    plan = grbp.plan_models(CHAIN, [40, 100], ["state"], replicas=30, seed=5)
    lost, won = losses(CHAIN, find_learner("psrl", 4), [40, 100], 30, 5)
    assert [one.lost.estimate for one in plan.outlooks] == lost.mean(axis=0).tolist()
    assert [one.won.estimate for one in plan.outlooks] == won.mean(axis=0).tolist()


def test_what_is_won_and_lost_is_what_the_best_policy_wins() -> None:
    plan = grbp.plan_models(CHAIN, 100, replicas=40, seed=1)
    assert plan.best is not None
    for one in plan.outlooks:
        apart = one.won.estimate + one.lost.estimate - 100 * plan.best
        assert abs(apart) < 4 * np.sqrt(100 * 0.25 / 40)


def test_the_best_threshold_is_worse_where_none_is_best() -> None:
    plan = grbp.plan_models(CHAIN, 50, ["one"], replicas=5)
    assert plan.best is not None
    assert plan.best_threshold is not None
    assert plan.best > plan.best_threshold
    assert "No threshold is best here" in plan.summary()
    paper = grbp.plan_models(grbp.Problem(4, 0.45, 0.3), 50, ["one"], replicas=5)
    assert paper.best == pytest.approx(paper.best_threshold)
    assert "A threshold is best here." in paper.summary()


def test_the_best_threshold_may_be_any() -> None:
    for p_f, best in (([0.5, 0.6, 0.05], 2), ([0.7, 0.8, 0.95], 3), ([0.001, 0.001, 0.001], 0)):
        chain = grbp.Chain(4, grbp.Move(0.1, 0.9), p_f)
        assert grbp.dynprog.solve(chain).action.tolist() == [state <= best for state in (1, 2, 3)]
        plan = grbp.plan_models(chain, 1, ["state"], replicas=2)
        assert plan.best == pytest.approx(plan.best_threshold)
        assert "A threshold is best here." in plan.summary()


def test_a_model_that_forgets_is_averaged_over_memories() -> None:
    turned = grbp.Drift([(1, CHAIN), (50, grbp.Chain.of(grbp.Problem(4, 0.3, 0.3, 1)))], "jumps")
    plan = grbp.plan_models(turned, 150, ["state-forgets"], replicas=30, seed=5)
    lost, _ = losses(turned, find_learner("psrl:memory=averaged", 4), [150], 30, 5)
    assert plan.outlooks[0].lost.estimate == lost.mean()
    assert plan.outlooks[0].words == "gives each state its own chances and forgets"


def test_a_plan_by_model_is_said_at_80_columns_and_in_plain_types() -> None:
    plan = grbp.plan_models(CHAIN, [50, 2000], replicas=2)
    assert max(map(len, plan.summary().splitlines())) <= 80
    assert len(plan.to_dict()["outlooks"]) == len(plan.outlooks) > 0
    assert len(next(plan.cells())) == len(plan.columns)
    frame = plan.to_frame()
    assert tuple(frame.columns) == plan.columns
    assert [tuple(row) for row in frame.itertuples(index=False)] == list(plan.cells())


@pytest.mark.parametrize("model", ["both", 3, "one-remembers"])
def test_another_model_is_refused(model: object) -> None:
    with pytest.raises(InvalidInput, match="it must be one of one, state"):
        grbp.plan_models(CHAIN, 50, [model])  # type: ignore[list-item]


def test_one_thread_is_enough_and_none_is_too_few() -> None:
    plans = [grbp.plan_models(CHAIN, 20, ["one"], replicas=5, threads=k) for k in (1, 2)]
    assert plans[0].outlooks == plans[1].outlooks
    with pytest.raises(InvalidInput, match="threads"):
        grbp.plan_models(CHAIN, 20, ["one"], replicas=5, threads=0)
