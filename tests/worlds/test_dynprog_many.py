"""Chains that jump, and many at once: against dense algebra, every policy, and each other."""

import itertools
from typing import Any

import mpmath
import numpy as np
import pytest
from draws import at_most
from hypothesis import given, strategies as st

import grbp
from grbp import InvalidInput
from grbp.worlds.chain import Chain, Move
from grbp.worlds.dynprog import Evaluation, evaluate, solve, solve_many

SEEDS = st.integers(0, 2**32)


def jumpy_laws(rng: np.random.Generator, draws: int, goal: int, sparse: float = 0.0) -> np.ndarray:
    """Laws that go from every inner state anywhere, but for a share of the ways."""
    weights = rng.dirichlet(np.full(goal + 1, 0.4), (draws, goal - 1)) + 1e-3
    weights[rng.random(weights.shape) < sparse] = 0.0
    weights[..., 0] += 1e-3  # something is left in every row
    laws: np.ndarray = weights / weights.sum(axis=-1, keepdims=True)
    return laws


def near_laws(rng: np.random.Generator, draws: int, goal: int) -> np.ndarray:
    """Laws that stay, go to a neighbour or to an end."""
    laws, i = np.zeros((draws, goal - 1, goal + 1)), np.arange(goal - 1)
    parts = rng.dirichlet([2, 2, 0.5, 0.05, 0.05], (draws, goal - 1))
    for part, column in enumerate((i + 2, i, i + 1, np.full(goal - 1, goal), np.zeros_like(i))):
        laws[:, i, column] += parts[..., part]
    return laws


def move_of(law: np.ndarray) -> Move:
    """A move with that law: everything between inner states is a jump."""
    return Move(0.0, 0.0, windfall=law[:, -1], catastrophe=law[:, 0], jumps=law[:, 1:-1])


def by_linear_algebra(law: np.ndarray) -> Evaluation:
    """(I - P)^-1 in one dense solve."""
    inner, n = law[:, 1:-1], len(law)
    both = np.linalg.solve(np.eye(n) - inner, np.column_stack([law[:, -1], np.ones(n)]))
    return Evaluation(both[:, 0], both[:, 1])


def finishing(goal: int, p_f: float) -> np.ndarray:
    """The row of a state that finishes."""
    row = np.zeros(goal + 1)
    row[0], row[-1] = 1 - p_f, p_f
    return row


def best_by_trying_every_policy(laws: list[np.ndarray], p_f: np.ndarray) -> np.ndarray:
    """The largest value of every state over all policies; NaN in p_f is no action."""
    n, goal = len(p_f), len(p_f) + 1
    best = np.zeros(n)
    for choice in itertools.product(range(len(laws) + 1), repeat=n):
        ends = [c == len(laws) for c in choice]
        if np.isnan(p_f[ends]).any():
            continue
        rows = [
            finishing(goal, p_f[k]) if end else laws[c][k]
            for k, (c, end) in enumerate(zip(choice, ends, strict=True))
        ]
        best = np.maximum(best, by_linear_algebra(np.array(rows)).value)
    return best


@given(st.integers(2, 9), SEEDS)
def test_evaluation_with_jumps_equals_a_dense_linear_solve(goal: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    laws, p_f = jumpy_laws(rng, 2, goal, 0.3), rng.random(goal - 1)
    chain = Chain(goal, [move_of(laws[0]), move_of(laws[1])], p_f)
    action, which = rng.integers(0, 2, goal - 1), rng.integers(0, 2, goal - 1)
    which[action == 1] = 0
    rows = [finishing(goal, p_f[k]) if action[k] else laws[which[k], k] for k in range(goal - 1)]
    got, true = evaluate(chain, action, which), by_linear_algebra(np.array(rows))
    np.testing.assert_allclose(got.value, true.value, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(got.steps, true.steps, rtol=1e-11, atol=1e-14)


@given(st.integers(2, 5), st.integers(1, 2), SEEDS)
@at_most(30)
def test_optimum_with_jumps_equals_the_best_of_all_policies(
    goal: int, kinds: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    laws, p_f = list(jumpy_laws(rng, kinds, goal, 0.3)), rng.random(goal - 1) ** 2
    chain = Chain(goal, [move_of(law) for law in laws], p_f)
    solution, best = solve(chain), best_by_trying_every_policy(laws, p_f)
    np.testing.assert_allclose(solution.value, best, rtol=1e-11, atol=1e-14)
    attained = evaluate(chain, solution.action, solution.which)
    np.testing.assert_allclose(attained.value, best, rtol=1e-11, atol=1e-14)


@given(st.integers(2, 6), st.booleans(), SEEDS)
@at_most(40)
def test_many_chains_are_solved_as_by_trying_every_policy(
    goal: int, jumps: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    laws = jumpy_laws(rng, 3, goal, 0.3) if jumps else near_laws(rng, 3, goal)
    p_f = rng.random((3, goal - 1)) ** 2
    p_f[rng.random(p_f.shape) < 0.3] = np.nan
    many = solve_many(laws, p_f)
    for k, law in enumerate(laws):
        best = best_by_trying_every_policy([law], p_f[k])
        np.testing.assert_allclose(many.value[k], best, rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(
            many.continuing[k], by_linear_algebra(law).value, rtol=1e-11, atol=1e-14
        )
        rows = [
            finishing(goal, p_f[k, s]) if many.action[k, s] else law[s] for s in range(goal - 1)
        ]
        np.testing.assert_allclose(
            by_linear_algebra(np.array(rows)).value, best, rtol=1e-11, atol=1e-14
        )
        assert not many.action[k, np.isnan(p_f[k])].any()


@pytest.mark.parametrize("jumps", [False, True])
@pytest.mark.parametrize("goal", [4, 50])
def test_many_chains_are_solved_as_each_is(goal: int, jumps: bool) -> None:
    rng = np.random.default_rng(5)
    draws = 240  # at a goal of 50, more than are worked on at a time
    laws = near_laws(rng, draws, goal)
    if jumps:
        laws = 0.9 * laws + 0.1 * jumpy_laws(rng, draws, goal)
    p_f = rng.beta(2, 3, (draws, goal - 1))
    many = solve_many(laws, p_f)
    assert 0.01 < many.action.mean() < 0.99
    for k in range(0, draws, 7):
        one = solve(Chain(goal, move_of(laws[k]), p_f[k]))
        np.testing.assert_allclose(many.value[k], one.value, rtol=1e-12)
        assert (many.action[k] == one.action).all()
        never = evaluate(Chain(goal, move_of(laws[k]), 0.0), np.zeros(goal - 1, int))
        np.testing.assert_allclose(many.continuing[k], never.value, rtol=1e-12)
    around = np.concatenate(
        (np.zeros((draws, 1)), many.value, np.ones((draws, 1))), axis=1
    )  # Bellman's equation
    ahead = np.einsum("dij,dj->di", laws, around)
    np.testing.assert_allclose(many.value, np.maximum(ahead, p_f), rtol=1e-12)
    np.testing.assert_array_equal(many.action, p_f >= ahead)


@given(st.integers(2, 30), SEEDS)
@at_most(30)
def test_jumps_to_neighbours_are_ups_downs_and_stays(goal: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    law, p_f, i = near_laws(rng, 1, goal)[0], rng.random(goal - 1), np.arange(goal - 1)
    near = Chain(
        goal,
        Move(
            np.append(law[i[:-1], i[:-1] + 2], 0.0),
            np.append(0.0, law[i[1:], i[1:]]),
            law[i, i + 1],
            windfall=law[:, -1],
            catastrophe=law[:, 0],
        ),
        p_f,
    )
    jumping = Chain(goal, move_of(law), p_f)
    assert jumping._jumps is None  # so that it goes the fast way
    for mine, other in zip(solve(jumping)[:3], solve(near)[:3], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-13)


def test_moves_with_and_without_jumps_in_one_chain() -> None:
    leap = np.zeros((4, 4))
    leap[0, 3], leap[1, 3], leap[2, 0], leap[3, 1] = 0.5, 0.5, 0.5, 0.5
    leaping = Move(0.0, 0.0, catastrophe=[0.5, 0.5, 0.5, 0.0], windfall=[0, 0, 0, 0.5], jumps=leap)
    chain = Chain(5, [Move(0.5, 0.5), leaping], 0.1)
    solution = solve(chain)
    # From 4 both win at once with 1/2; downwards, 3 is better than 1.
    assert solution.which.tolist() == [1, 0, 0, 0]
    laws = [np.zeros((4, 6)), np.zeros((4, 6))]
    i = np.arange(4)
    laws[0][i, i], laws[0][i, i + 2] = 0.5, 0.5
    laws[1][:, 1:-1], laws[1][:3, 0], laws[1][3, -1] = leap, 0.5, 0.5
    best = best_by_trying_every_policy(laws, np.full(4, 0.1))
    np.testing.assert_allclose(solution.value, best, rtol=1e-13)


def test_small_probabilities_keep_their_digits() -> None:
    goal = 12
    law = np.zeros((goal - 1, goal + 1))
    for k in range(goal - 1):
        law[k, k + 2] += 1e-9
        law[k, max(k - 2, 0)] += 0.25
        law[k, k] += 0.75 - 1e-9
    law[0, 4] += 1e-12
    law[0, 0] -= 1e-12
    with mpmath.workdps(60):
        rows = mpmath.matrix(law.tolist())
        leave = mpmath.eye(goal - 1) - rows[:, 1:goal]
        for k in range(goal - 1):  # As floats they do not sum to one: staying takes the rest.
            leave[k, k] = sum(rows[k, j] for j in range(goal + 1)) - rows[k, k + 1]
        true = mpmath.lu_solve(leave, rows[:, goal])
        exact = [float(true[k]) for k in range(goal - 1)]
    assert exact[0] < 1e-75
    many = solve_many(law[None], np.full((1, goal - 1), np.nan))
    np.testing.assert_allclose(many.value[0], exact, rtol=1e-13)
    chain = Chain(goal, move_of(law), 0.0)
    np.testing.assert_allclose(evaluate(chain, np.zeros(goal - 1, int)).value, exact, rtol=1e-13)


def test_going_round_for_ever_never_reaches_the_goal() -> None:
    # States 1 and 3 change places for ever; from 2 one gets there half the time.
    law = np.array([[0, 0, 0, 1.0, 0], [0, 0.5, 0, 0, 0.5], [0, 1.0, 0, 0, 0]])
    for row in itertools.permutations(range(3)):
        order = np.array(row)
        columns = np.concatenate(([0], order + 1, [4]))
        moved = law[order][:, columns]
        walk = evaluate(Chain(4, move_of(moved), 0.0), [0, 0, 0])
        np.testing.assert_allclose(walk.value, np.array([0.0, 0.5, 0.0])[order])
        assert (walk.steps == np.inf).all()
        many = solve_many(moved[None], [np.array([np.nan, np.nan, 0.3])[order]])
        np.testing.assert_allclose(many.value[0], np.array([0.3, 0.65, 0.3])[order])
        np.testing.assert_allclose(many.continuing[0], walk.value)


def test_ties_go_to_finish() -> None:
    # Jumping down for sure and finishing there is worth as much as finishing at once.
    law = np.zeros((1, 3, 5))
    law[0, 0, 0] = law[0, 1, 1] = law[0, 2, 1] = 1.0
    assert solve_many(law, [[0.4, 0.4, 0.4]]).action.tolist() == [[1, 1, 1]]
    assert solve(Chain(4, move_of(law[0]), 0.4)).action.tolist() == [1, 1, 1]
    assert solve_many(law, [[0.4, np.nan, 0.4]]).value.tolist() == [[0.4, 0.4, 0.4]]


def test_no_draws_have_no_solutions() -> None:
    assert [part.shape for part in solve_many(np.zeros((0, 3, 5)), np.zeros((0, 3)))] == [
        (0, 3)
    ] * 3


@pytest.mark.parametrize(
    ("laws", "finishes", "message"),
    [
        (np.zeros((2, 3, 4)), np.zeros((2, 3)), r"laws of shape \(2, 3, 4\) were given"),
        ([[0.5, 0, 0.5]], [[0.5]], r"laws of shape \(1, 3\) were given"),
        ([[[0.5, 0, 0.6]]], [[0.5]], "in state 1 of draw 0 sum to 1.1; they must sum to 1"),
        ([[[0.5, np.nan, 0.5]]], [[0.5]], "it must be numbers from 0 to 1"),
        ([[[0.5, 0, 0.5]]], [0.5], r"finishes of shape \(1,\) were given; .* need \(1, 1\)"),
        ([[[0.5, 0, 0.5]]], [[1.5]], "it must be numbers from 0 to 1"),
        ([[[0.5, 0, 0.5]]], [["often"]], "it must be numbers from 0 to 1"),
    ],
)
def test_laws_that_are_none_are_refused(laws: Any, finishes: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        solve_many(laws, finishes)


def test_jumps_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidInput, match="one for every pair of states from 1 to 3"):
        Chain(4, Move(0.5, 0.5, jumps=np.zeros((3, 4))), 0.3)
    with pytest.raises(InvalidInput, match=r"in state 2 sum to 1\.25; they must sum to 1"):
        Chain(4, Move(0.5, 0.5, jumps=[[0.0] * 3, [0.25, 0.0, 0.0], [0.0] * 3]), 0.3)
    with pytest.raises(InvalidInput, match="was given; it must be numbers from 0 to 1"):
        Chain(4, Move(0.5, 0.5, jumps=np.full((3, 3), -0.1)), 0.3)
    assert grbp.dynprog.solve_many is solve_many
