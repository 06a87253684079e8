"""The independent solver against the closed forms, against brute force, and beyond the paper."""

import itertools
import math

import numpy as np
import pytest
from draws import at_most, problems
from hypothesis import given, strategies as st
from scipy.linalg import solve as dense_solve

import grbp
from grbp import Action, Problem
from grbp.worlds.chain import Chain, Move
from grbp.worlds.dynprog import Solution, evaluate, solve

WEIGHT = st.floats(0.01, 1)


@st.composite
def moves(draw: st.DrawFn, goal: int, parts: int = 6) -> Move:
    """A move with every outcome it can have, different in every state."""
    weights = np.array([[draw(WEIGHT) for _ in range(parts)] for _ in range(goal - 1)])
    law = (weights / weights.sum(axis=1, keepdims=True)).T
    return Move(*law)


def by_linear_algebra(chain: Chain, action: list[int], which: list[int]) -> grbp.dynprog.Evaluation:
    """(I - P)^-1 in one dense solve: what `evaluate` must equal."""
    n = chain.goal - 1
    moves_ = [chain.moves] if isinstance(chain.moves, Move) else list(chain.moves)
    finishes = np.atleast_2d(np.asarray(chain.finishes, dtype=float))
    p, won = np.zeros((n, n)), np.zeros(n)
    for k in range(n):
        if action[k] == Action.FINISH:
            won[k] = np.broadcast_to(finishes[which[k]], n)[k]
            continue
        law = {
            name: float(np.broadcast_to(np.asarray(part, dtype=float), n)[k])
            for name, part in vars(moves_[which[k]]).items()
        }
        p[k, k] += law["stay"]
        if k > 0:
            p[k, k - 1] += law["down"]
        if k < n - 1:
            p[k, k + 1] += law["up"]
        won[k] = law["windfall"] + (law["up"] if k == n - 1 else 0.0)
    both = dense_solve(np.eye(n) - p, np.column_stack([won, np.ones(n)]))
    return grbp.dynprog.Evaluation(both[:, 0], both[:, 1])


def best_by_trying_every_policy(chain: Chain, n_moves: int, n_finishes: int) -> np.ndarray:
    best = np.zeros(chain.goal - 1)
    options = range(n_moves + n_finishes)
    for choice in itertools.product(options, repeat=chain.goal - 1):
        action = [int(c >= n_moves) for c in choice]
        which = [c - n_moves if c >= n_moves else c for c in choice]
        best = np.maximum(best, by_linear_algebra(chain, action, which).value)
    return best


@given(problems())
def test_optimum_agrees_with_the_closed_form(problem: Problem) -> None:
    solution = solve(Chain.of(problem))
    tau = grbp.optimal_threshold(problem)
    np.testing.assert_allclose(solution.value, grbp.value_at(problem, tau), rtol=1e-12, atol=1e-290)
    if grbp.gap_max(problem) > 1e-14 * problem.p_f:
        assert solution.threshold == tau


@given(problems(), st.data())
def test_any_policy_agrees_with_the_closed_form(problem: Problem, data: st.DataObject) -> None:
    policy = np.array(data.draw(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=40)))
    policy = np.resize(policy, problem.goal - 1)
    achieved = evaluate(Chain.of(problem), policy)
    np.testing.assert_allclose(
        achieved.value, grbp.value_at(problem, policy), rtol=1e-12, atol=1e-290
    )
    np.testing.assert_allclose(achieved.steps, grbp.slots_at(problem, policy), rtol=1e-12)


@pytest.mark.sample("0.4")
@pytest.mark.slow
@pytest.mark.parametrize("p_c", [1e-12, 0.4, 0.5, 0.500001, 0.7])
def test_a_hundred_thousand_states(p_c: float) -> None:
    problem = Problem(100_000, p_c, 0.3)
    solution = solve(Chain.of(problem))
    tau = grbp.optimal_threshold(problem)
    assert solution.threshold == tau
    np.testing.assert_allclose(solution.value, grbp.value_at(problem, tau), rtol=1e-11)


@given(st.integers(2, 8), st.data())
def test_evaluation_equals_a_dense_linear_solve(goal: int, data: st.DataObject) -> None:
    chain = Chain(goal, [data.draw(moves(goal)), data.draw(moves(goal))], [[0.4] * (goal - 1)] * 2)
    action = [data.draw(st.integers(0, 1)) for _ in range(goal - 1)]
    which = [data.draw(st.integers(0, 1)) for _ in range(goal - 1)]
    got, true = evaluate(chain, action, which), by_linear_algebra(chain, action, which)
    np.testing.assert_allclose(got.value, true.value, rtol=1e-11)
    np.testing.assert_allclose(got.steps, true.steps, rtol=1e-11)


@pytest.mark.slow
@given(st.integers(2, 5), st.data())
@at_most(25)
def test_optimum_equals_the_best_of_all_policies(goal: int, data: st.DataObject) -> None:
    probability = st.floats(0, 1)
    finishes = [[data.draw(probability) for _ in range(goal - 1)] for _ in range(2)]
    chain = Chain(goal, [data.draw(moves(goal)), data.draw(moves(goal))], finishes)
    solution = solve(chain)
    best = best_by_trying_every_policy(chain, 2, 2)
    np.testing.assert_allclose(solution.value, best, rtol=1e-11)
    attained = evaluate(chain, solution.action, solution.which)
    np.testing.assert_allclose(attained.value, best, rtol=1e-11)


@given(st.integers(2, 60), st.integers(0, 2**32), st.integers(1, 3))
def test_optimum_satisfies_bellmans_equation(goal: int, seed: int, kinds: int) -> None:
    # V is attained, and no action in any state is better: that is optimality.
    rng = np.random.default_rng(seed)
    laws = [rng.dirichlet([2, 2, 0.3, 0.1, 0.1, 0.1], size=goal - 1).T for _ in range(kinds)]
    finishes = rng.random(goal - 1) ** 2
    solution = solve(Chain(goal, [Move(*law) for law in laws], finishes))
    attained = evaluate(
        Chain(goal, [Move(*law) for law in laws], finishes), solution.action, solution.which
    )
    np.testing.assert_allclose(attained.value, solution.value, rtol=1e-12)
    around = np.concatenate(([0.0], solution.value, [1.0]))
    for up, down, stay, windfall, _, _ in laws:
        q = up * around[2:] + down * around[:-2] + stay * solution.value + windfall
        assert (q <= solution.value * (1 + 1e-12)).all()
    assert (finishes <= solution.value * (1 + 1e-12)).all()


def test_outcomes_that_sum_to_one_but_for_rounding_are_accepted() -> None:
    solution = solve(Chain(4, [Move(0.5, 0.5 + 5e-10), Move(0.2, 0.8)], 0.2))
    np.testing.assert_allclose(solution.value, [0.25, 0.5, 0.75], rtol=1e-8)


@pytest.mark.slow
def test_several_moves_over_many_states() -> None:
    chain = Chain(20_000, [Move(0.165, 0.835), Move(0.704, 0.296)], 0.3)
    np.testing.assert_allclose(
        solve(chain).value, grbp.value_at(Problem(20_000, 0.704, 0.3), 0), rtol=1e-10
    )


def test_ties_go_to_finish() -> None:
    # Going down for sure and finishing there is worth as much as finishing at once.
    assert solve(Chain(5, Move(0.0, 1.0), 0.4)).action.tolist() == [1, 1, 1, 1]


@given(st.integers(2, 12), st.data())
def test_probabilities_that_differ_by_state(goal: int, data: st.DataObject) -> None:
    # p_C(s) arbitrary and p_F the same or falling in s: the optimum is threshold 0 or 1.
    up = np.array([data.draw(st.floats(0.05, 0.95)) for _ in range(goal - 1)])
    p_f = sorted((data.draw(st.floats(0.05, 0.95)) for _ in range(goal - 1)), reverse=True)
    assert solve(Chain(goal, Move(up, 1 - up), np.array(p_f))).threshold in (0, 1)


def test_rising_success_by_state_is_not_a_threshold_policy() -> None:
    solution = solve(Chain(4, Move(0.5, 0.5), [0.1, 0.6, 0.1]))
    assert solution.threshold is None
    assert solution.action.tolist() == [Action.CONTINUE, Action.FINISH, Action.CONTINUE]
    np.testing.assert_allclose(solution.value, [0.3, 0.6, 0.8], rtol=1e-15)


def concave_majorant(points: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """The least concave function above the points, at each of them: by all pairs."""
    least = heights.copy()
    for k, x in enumerate(points):
        for a, b in itertools.product(range(k), range(k + 1, len(points))):
            share = (x - points[a]) / (points[b] - points[a])
            least[k] = max(least[k], heights[a] * (1 - share) + heights[b] * share)
    return least


@given(st.integers(2, 9), st.data())
def test_optimum_is_the_concave_majorant_in_the_scale_of_the_walk(
    goal: int, data: st.DataObject
) -> None:
    up = np.array([data.draw(st.floats(0.2, 0.8)) for _ in range(goal - 1)])
    p_f = np.array([data.draw(st.floats(0, 1)) for _ in range(goal - 1)])
    scale = np.concatenate(([0.0], np.cumsum(np.concatenate(([1.0], np.cumprod((1 - up) / up))))))
    best = concave_majorant(scale, np.concatenate(([0.0], p_f, [1.0])))
    np.testing.assert_allclose(solve(Chain(goal, Move(up, 1 - up), p_f)).value, best[1:-1])


@given(st.integers(2, 40), st.floats(0.05, 1), st.floats(0.05, 1), WEIGHT, WEIGHT)
def test_windfall_and_catastrophe(goal: int, up: float, down: float, w: float, c: float) -> None:
    total = up + down + w + c
    up, down, w, c = up / total, down / total, w / total, c / total
    walk = evaluate(
        Chain(goal, Move(up, down, windfall=w, catastrophe=c), 0.0), np.zeros(goal - 1, int)
    )
    np.testing.assert_allclose(
        grbp.extensions.windfall_value(goal, up, down, w, c), walk.value, rtol=1e-9
    )
    np.testing.assert_allclose(
        grbp.extensions.windfall_steps(goal, up, down, w, c), walk.steps, rtol=1e-9
    )


@given(st.integers(2, 40), st.floats(0.05, 1), st.floats(0.05, 1), WEIGHT, st.floats(0, 1))
def test_stay_and_absorb(goal: int, up: float, down: float, stay: float, absorb: float) -> None:
    total = up + down + stay + absorb
    up, down, stay, absorb = up / total, down / total, stay / total, absorb / total
    walk = evaluate(Chain(goal, Move(up, down, stay=stay, absorb=absorb), 0.0), [0] * (goal - 1))
    np.testing.assert_allclose(
        grbp.extensions.absorb_value(goal, up, down, stay, absorb), walk.value, rtol=1e-9
    )


def test_without_windfall_it_is_the_plain_walk() -> None:
    plain = grbp.value_at(Problem(7, 0.6, 0.5), 0)
    np.testing.assert_allclose(grbp.extensions.windfall_value(7, 0.6, 0.4, 0, 0), plain, rtol=1e-12)


def test_closed_forms_of_a_long_walk_do_not_overflow() -> None:
    goal = 5000
    walk = evaluate(
        Chain(goal, Move(0.6, 0.3, windfall=0.04, catastrophe=0.06), 0.0), [0] * (goal - 1)
    )
    closed = grbp.extensions.windfall_value(goal, 0.6, 0.3, 0.04, 0.06)
    np.testing.assert_allclose(closed, walk.value, rtol=1e-11)
    fair = grbp.extensions.absorb_value(goal, 0.25, 0.25, 0.5, 0.0)
    np.testing.assert_allclose(fair, np.arange(1, goal) / goal, rtol=1e-12)


def test_catastrophe_gives_every_threshold() -> None:
    # Lemma 1 needs the plain walk: with catastrophe, finishing early can be right anywhere.
    seen = {
        solve(Chain(6, Move(0.9 - c, 0.1, catastrophe=c), p_f)).threshold
        for c in np.linspace(0, 0.8, 81)
        for p_f in np.linspace(0.05, 0.95, 19)
    }
    assert seen == {0, 1, 2, 3, 4, 5}


@given(st.integers(2, 6), st.data())
def test_several_actions_reduce_to_the_best_of_each(goal: int, data: st.DataObject) -> None:
    ups = [data.draw(st.floats(0.05, 0.95)) for _ in range(3)]
    p_fs = [data.draw(st.floats(0.05, 0.95)) for _ in range(3)]
    many = solve(Chain(goal, [Move(up, 1 - up) for up in ups], [[p] * (goal - 1) for p in p_fs]))
    one = solve(Chain(goal, Move(max(ups), 1 - max(ups)), max(p_fs)))
    np.testing.assert_allclose(many.value, one.value, rtol=1e-12)
    for action, which in zip(many.action, many.which, strict=True):
        options = p_fs if action == Action.FINISH else ups
        assert math.isclose(options[which], max(options), rel_tol=1e-12)


def test_chances_whose_product_underflows() -> None:
    """State 1 cannot lose, so going on wins for sure, however seldom the next states move up."""
    up = np.array([1.0, 1e-300, 1e-300, 0.5, 0.5])
    best = solve(Chain(6, Move(up, 1.0 - up), [0.0, 0.0, 0.5, 0.0, 0.3]))
    assert best.value.tolist() == [1.0] * 5
    assert best.threshold == 0


def test_a_round_that_never_ends_is_worth_nothing() -> None:
    chain = Chain(4, Move([0.5, 0.0, 0.5], [0.5, 0.0, 0.5], stay=[0.0, 1.0, 0.0]), 0.2)
    stuck = evaluate(chain, [0, 0, 0])
    assert stuck.value.tolist() == [0.0, 0.0, 0.5]
    assert stuck.steps.tolist() == [math.inf, math.inf, math.inf]
    best = solve(chain)
    assert best.action[1] == Action.FINISH
    assert isinstance(best, Solution)
    np.testing.assert_allclose(best.value, [0.2, 0.2, 0.6], rtol=1e-15)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Chain(4, Move(0.5, 0.6), 0.3), "in state 1 sum to 1.1; they must sum to 1"),
        (lambda: Chain(4, Move([0.5, 0.5], 0.5), 0.3), r"up has shape \(2,\)"),
        (lambda: Chain(4, Move(1.5, -0.5), 0.3), "up = 1.5 was given"),
        (lambda: Chain(4, Move(0.5, 0.5), math.nan), "the chance of finishing = nan was given"),
        (lambda: Chain(4, [], 0.3), "needs an action that continues"),
        (lambda: Chain(1, Move(0.5, 0.5), 0.3), "goal = 1 was given"),
        (lambda: evaluate(Chain(4, Move(0.5, 0.5), 0.3), [0, 2, 0]), "each 0 .* or 1"),
        (lambda: evaluate(Chain(4, Move(0.5, 0.5), 0.3), [0, 0]), "needs 3 actions"),
        (lambda: evaluate(Chain(4, Move(0.5, 0.5), 0.3), [0, 0, 0], 1), "does not have"),
        (lambda: grbp.extensions.windfall_value(4, 0.5, 0.5, 0.5, 0), "sum to 1.5"),
        (lambda: grbp.extensions.windfall_steps(4, 0.5, 0.5, 0, 0), "one must be positive"),
        (lambda: grbp.extensions.windfall_value(4, 0.5, 0.4, 0.2, -0.1), "catastrophe = -0.1"),
        (lambda: grbp.extensions.windfall_value(4, 0.5, 0.5, None, 0), "windfall = None"),  # type: ignore[arg-type]
        (lambda: Chain(4, None, 0.3), "moves = None was given"),  # type: ignore[arg-type]
        (lambda: evaluate(Chain(4, Move(0.5, 0.5), 0.3), [0] * 3, [0, 0]), "which has shape"),
        (lambda: grbp.extensions.absorb_value(4, 0, 0.5, 0.5, 0), "needs both positive"),
    ],
)
def test_refusals(make: object, sentence: str) -> None:
    with pytest.raises(grbp.InvalidInput, match=sentence):
        make()  # type: ignore[operator]
