"""The engine of any world: on a problem's chain it is the walk; its solver is that of `dynprog`."""

import numpy as np
import pytest

import grbp
from grbp.engine.losses import losses
from grbp.learners.best_policy import (
    best_policy,
    best_policy_of_law,
    law_values,
    policy_values,
)
from grbp.learners.registry import find_problem_learner

PROBLEM = grbp.Problem(4, 0.45, 0.3, start={1: 0.5, 3: 0.5})


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["getbe-ps", "getbe-sm", "doorstep-optimal"])
def test_the_chain_of_a_problem_is_walked_as_the_problem(name: str) -> None:
    walked = grbp.simulate(PROBLEM, name, 300, 50, seed=3, checkpoints=[20], engine="walk")
    chain = grbp.dynprog.Chain.of(PROBLEM)
    lost, _ = losses(chain, find_problem_learner(name, PROBLEM), [20, 300], 50, 3)
    curve = walked.curves[name]
    np.testing.assert_allclose(lost[:, -1], curve.final, rtol=0, atol=1e-11)
    np.testing.assert_allclose(lost.mean(axis=0), curve.mean, rtol=0, atol=1e-11)


@pytest.mark.parametrize("goal", [2, 3, 4, 7, 20, 63])
def test_the_solver_of_learners_is_that_of_dynprog(goal: int) -> None:
    random = np.random.default_rng(goal)
    for _ in range(30):
        up, p_f = random.beta(1.0, 1.0, (2, goal - 1))
        p_f **= random.integers(1, 5)
        best = grbp.dynprog.solve(grbp.dynprog.Chain(goal, grbp.dynprog.Move(up, 1.0 - up), p_f))
        policy = best_policy(up, p_f)
        assert [(policy >> k) & 1 for k in range(goal - 1)] == best.action.tolist()
        np.testing.assert_allclose(policy_values(up, p_f, policy), best.value, rtol=1e-12)


@pytest.mark.parametrize("goal", [2, 3, 6])
def test_so_it_is_with_jumps(goal: int) -> None:
    random = np.random.default_rng(goal)
    for _ in range(30):
        law = random.dirichlet(np.full(goal + 2, 0.5), goal - 1)[:, :-1]
        p_f = random.random(goal - 1) ** 3
        stay = 1.0 - law.sum(axis=1)
        move = grbp.dynprog.Move(
            0.0, 0.0, stay, law[:, -1], law[:, 0], jumps=law[:, 1:-1] if goal > 2 else None
        )
        if goal == 2:
            move = grbp.dynprog.Move(0.0, 0.0, stay + law[:, 1], law[:, -1], law[:, 0])
        chain = grbp.dynprog.Chain(goal, move, p_f)
        np.testing.assert_allclose(chain.law.sum(axis=1) <= 1.0 + 1e-12, True)
        best, policy = grbp.dynprog.solve(chain), best_policy_of_law(chain.law, p_f)
        assert [(policy >> k) & 1 for k in range(goal - 1)] == best.action.tolist()
        np.testing.assert_allclose(law_values(chain.law, p_f, policy), best.value, rtol=1e-11)
