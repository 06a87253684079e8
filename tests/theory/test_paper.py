"""Every lemma, theorem and corollary of the paper, under its LaTeX label.

The formulas are written here as the paper prints them, in exact fractions, and compared with
what the package computes; docs/paper-map.md lists label, function and test. The two theorems
that bound regret are in test_paper_bounds.py.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from digits import hit as wide_hit, number, relative_error
from draws import at_most, probabilities, problems
from hypothesis import given, strategies as st

import grbp
from grbp import Action, Problem
from grbp.theory.ruin import hit, log_failure_ratio
from grbp.worlds.chain import Chain
from grbp.worlds.dynprog import solve

small_goals = st.integers(2, 9)
fractions = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=50)
fair_or_not = st.one_of(st.just(Fraction(1, 2)), fractions)


def v_0(s: int, goal: int, p_c: Fraction) -> Fraction:
    r = (1 - p_c) / p_c
    return Fraction(s, goal) if r == 1 else (1 - r**s) / (1 - r**goal)


def v_1(s: int, goal: int, p_c: Fraction, p_f: Fraction) -> Fraction:
    if goal == 2:
        return p_f
    return p_f + (1 - p_f) * v_0(s - 1, goal - 1, p_c)


def close(got: float, true: Fraction, digits: float = 1e-12) -> bool:
    return abs(Fraction(float(got)) - true) <= Fraction(digits) * abs(true)


@given(problems())
def test_sec_problem(problem: Problem) -> None:
    # The transitions of the model are those of the table, which sums to one, for every draw.
    table = grbp.to_toy_text(problem)
    for state in {1, problem.goal // 2 or 1, problem.goal - 1}:
        for action in Action:
            (p, better, *_), (q, worse, *_) = table[state][action]
            assert math.isclose(p + q, 1.0)
            args = (state, action, problem.goal, problem.p_c, problem.p_f)
            draws = [0.0, np.nextafter(p, 0.0), p, np.nextafter(1.0, 0.0)]
            expected = [better if draw < p else worse for draw in draws]
            assert [grbp.next_state(*args, draw) for draw in draws] == expected
    assert math.isclose(math.fsum(problem.start_probabilities), 1.0)


@given(st.integers(2, 40), st.data())
def test_sec_structure(goal: int, data: st.DataObject) -> None:
    # A threshold policy finishes in the states up to it: as many values as such policies.
    tau = data.draw(st.integers(0, goal - 1))
    problem = Problem(goal, 0.6, 0.3)
    by_actions = [Action.FINISH if s <= tau else Action.CONTINUE for s in range(1, goal)]
    assert (grbp.value_at(problem, tau) == grbp.value_at(problem, by_actions)).all()


@given(problems())
def test_eqn_bellval(problem: Problem) -> None:
    tau = grbp.optimal_threshold(problem)
    best = grbp.value_at(problem, tau)
    np.testing.assert_allclose(best, grbp.q_at(problem, tau).max(axis=1), rtol=4e-13, atol=1e-300)
    # Any policy: V(s) = Q(s, policy(s)), and no policy is better anywhere.
    for other in (0, 1, problem.goal - 1):
        q = grbp.q_at(problem, other)
        v = grbp.value_at(problem, other)
        action = [int(s <= other) for s in range(1, problem.goal)]
        np.testing.assert_allclose(
            v, q[np.arange(problem.goal - 1), action], rtol=4e-13, atol=1e-300
        )
        assert (v <= best * (1 + 1e-13)).all()


@given(small_goals, fair_or_not, fractions)
def test_lemma_GINFreduction(goal: int, p_c: Fraction, p_f: Fraction) -> None:
    # Above state 1, continuing is strictly better, whatever the probabilities.
    problem = Problem(goal, float(p_c), float(p_f))
    assert solve(Chain.of(problem)).action[1:].tolist() == [Action.CONTINUE] * (goal - 2)
    q = grbp.q_at(problem, grbp.optimal_threshold(problem))
    assert (q[1:, Action.CONTINUE] > q[1:, Action.FINISH]).all()
    # Among all policies the best is threshold 0 or 1.
    assert int(np.argmin(grbp.policy_gaps(problem))) in (0, 1)


@given(small_goals, fair_or_not, fractions)
def test_lemma_ExpRew(goal: int, p_c: Fraction, p_f: Fraction) -> None:
    problem = Problem(goal, float(p_c), float(p_f))
    # The float nearest to a fraction is itself a fraction: no rounding in the comparison.
    p_c, p_f = Fraction(problem.p_c), Fraction(problem.p_f)
    for s in range(1, goal):
        assert close(grbp.value_at(problem, 0)[s - 1], v_0(s, goal, p_c))
        assert close(grbp.value_at(problem, 1)[s - 1], v_1(s, goal, p_c, p_f))
        assert close(float(hit(s, goal, log_failure_ratio(problem.p_c))), v_0(s, goal, p_c))
        for tau, true in ((0, v_0(s, goal, p_c)), (1, v_1(s, goal, p_c, p_f))):
            log = mpmath.log(number(true.numerator) / true.denominator)
            assert relative_error(grbp.log_value_at(problem, tau)[s - 1], log) < 1e-12


@given(small_goals, fair_or_not, fractions)
def test_thm_tauinf(goal: int, p_c: Fraction, p_f: Fraction) -> None:
    tau = 1 if p_f >= v_0(1, goal, p_c) else 0
    assert grbp.optimal_threshold(Problem(goal, float(p_c), float(p_f))) == tau


@given(small_goals, fair_or_not)
def test_thm_tauinf_gives_ties_to_one(goal: int, p_c: Fraction) -> None:
    on_the_boundary = Problem(goal, float(p_c), float(v_0(1, goal, p_c)))
    assert grbp.optimal_threshold(on_the_boundary) == 1
    just_below = Problem(goal, float(p_c), float(v_0(1, goal, p_c)) * (1 - 1e-13))
    assert grbp.optimal_threshold(just_below) == 0


@given(problems())
def test_eqn_boundaryP(problem: Problem) -> None:
    goal, p_c = problem.goal, problem.p_c
    b = grbp.boundary(goal, p_c)
    true = wide_hit(1, goal, p_c)
    assert relative_error(b, true) < 1e-12 or true < 1e-300
    assert b <= p_c * (1 + 1e-15)  # B(x) <= x, with equality for G = 2
    assert b == grbp.value_at(problem, 0)[0] or math.isclose(b, grbp.value_at(problem, 0)[0])
    explores = grbp.region(problem) == grbp.Region.EXPLORATION
    assert explores == (grbp.optimal_threshold(problem) == 0)
    # The exploration region shrinks as the goal moves away.
    assert grbp.boundary(goal + 1, p_c) <= b * (1 + 1e-15)


@given(small_goals, fair_or_not, fractions)
def test_lemma_DeltaBound(goal: int, p_c: Fraction, p_f: Fraction) -> None:
    problem = Problem(goal, float(p_c), float(p_f))
    p_c, p_f = Fraction(problem.p_c), Fraction(problem.p_f)
    r = (1 - p_c) / p_c
    delta_max = abs(p_f - v_0(1, goal, p_c))
    if delta_max < Fraction(1, 10**14):  # a tie in floats, whichever side the fraction is on
        return
    assert close(grbp.gap_max(problem), delta_max)
    gaps = grbp.gap_at(problem, 1 - grbp.optimal_threshold(problem))
    for s in range(1, goal):
        if r == 1:
            reach = Fraction(goal - s, goal - 1)
        else:
            reach = (r ** (goal - 1) - r ** (s - 1)) / (r ** (goal - 1) - 1)
        assert close(gaps[s - 1], reach * delta_max)
        assert close(gaps[s - 1], abs(v_1(s, goal, p_c, p_f) - v_0(s, goal, p_c)))
    assert gaps.max() == gaps[0]


@given(small_goals, fair_or_not, fractions)
def test_cor_ucbgap(goal: int, p_c: Fraction, p_f: Fraction) -> None:
    problem = Problem(goal, float(p_c), float(p_f))
    r = (1 - Fraction(problem.p_c)) / Fraction(problem.p_c)
    if r == 1:
        share = Fraction(goal, 2 * (goal - 1))
    else:
        top = r ** (goal - 1)
        share = top / (top - 1) + 1 / ((1 - r) * (goal - 1))
    assert math.isclose(grbp.gap(problem), share * Fraction(grbp.gap_max(problem)), rel_tol=1e-12)
    assert math.isclose(
        grbp.gap(problem),
        grbp.gap(problem, 1 - grbp.optimal_threshold(problem)),
        rel_tol=1e-12,
        abs_tol=1e-15,
    )


@given(st.integers(2, 60), probabilities, probabilities)
@at_most(60)
def test_lemma_infGapBound(goal: int, p_c: float, p_f: float) -> None:
    # No point of the curve is nearer, and one is as near.
    delta = grbp.margin(Problem(goal, p_c, p_f))
    xs = np.linspace(0.0, 1.0, 2001)
    seen = np.sqrt(((xs - p_c) ** 2 + (grbp.boundary(goal, xs) - p_f) ** 2).min())
    assert seen - 0.005 <= delta <= seen * (1 + 1e-12)


@pytest.mark.parametrize(
    ("goal", "p_c", "p_f"), [(4, 0.45, 0.3), (4, 0.65, 0.3), (10, 0.2, 0.7), (3, 0.5, 0.9)]
)
def test_lemma_infGapBound_point_is_stationary(goal: int, p_c: float, p_f: float) -> None:
    # p^F + ((1-r^G)/(r+1))^2 (p^C - 1/(r+1)) / ((G-1) r^G - G r^(G-1) + 1) = (1-r)/(1-r^G)
    def equation(r: mpmath.mpf) -> mpmath.mpf:
        top = ((1 - r**goal) / (r + 1)) ** 2 * (number(p_c) - 1 / (r + 1))
        below = (goal - 1) * r**goal - goal * r ** (goal - 1) + 1
        return number(p_f) + top / below - (1 - r) / (1 - r**goal)

    with mpmath.workdps(60):
        roots = set()
        for start in np.geomspace(0.05, 20, 60):
            try:
                r = mpmath.findroot(equation, number(start))
            except (ValueError, ZeroDivisionError):
                continue
            if r > 0 and abs(r - 1) > mpmath.mpf(10) ** -15:
                roots.add(r)
        distances = [
            mpmath.sqrt((1 / (1 + r) - p_c) ** 2 + ((1 - r) / (1 - r**goal) - p_f) ** 2)
            for r in roots
        ]
        assert relative_error(grbp.margin(Problem(goal, p_c, p_f)), min(distances)) < 1e-12


def test_lemma_infGapBound_takes_the_global_minimum() -> None:
    # G = 4, (.1, .5): two local minima; a local search from p_c would stop at the wrong one.
    xs = np.linspace(0, 1, 20001)
    d = np.sqrt((xs - 0.1) ** 2 + (grbp.boundary(4, xs) - 0.5) ** 2)
    minima = [k for k in range(1, 20000) if d[k] < d[k - 1] and d[k] < d[k + 1]]
    assert len(minima) == 2
    delta = grbp.margin(Problem(4, 0.1, 0.5))
    assert math.isclose(delta, d[minima].min(), rel_tol=1e-7)
    assert d[minima].max() - delta > 0.01


@given(probabilities, probabilities)
def test_lemma_infGapBound_for_goal_2_is_the_diagonal(p_c: float, p_f: float) -> None:
    delta = grbp.margin(Problem(2, p_c, p_f))
    # What agrees to the last digits is a tie, with margin 0.
    assert math.isclose(delta, abs(p_c - p_f) / math.sqrt(2), rel_tol=1e-15, abs_tol=2e-15 * p_c)


@given(small_goals, fair_or_not, st.data())
def test_lemma_MinNumPBinf(goal: int, p_c: Fraction, data: st.DataObject) -> None:
    # (i) The chances that a round under threshold 1 continues, and finishes.
    weights = [Fraction(data.draw(st.integers(1, 9))) for _ in range(goal - 1)]
    q = [w / sum(weights) for w in weights]
    problem = Problem(goal, float(p_c), 0.3, [float(x) for x in q])
    p_c = Fraction(problem.p_c)
    assert math.isclose(grbp.continue_probability(problem), 1 - q[0], abs_tol=1e-15)
    up = [v_0(s - 1, goal - 1, p_c) if goal > 2 else Fraction(0) for s in range(1, goal)]
    finish = sum((1 - h) * w for h, w in zip(up, q, strict=True))
    assert math.isclose(grbp.finish_probability(problem), finish, rel_tol=1e-12)


@given(st.integers(2, 40), fair_or_not)
def test_cor_probs(goal: int, p_c: Fraction) -> None:
    problem = Problem(goal, float(p_c), 0.3)
    r = (1 - Fraction(problem.p_c)) / Fraction(problem.p_c)
    assert math.isclose(grbp.continue_probability(problem), Fraction(goal - 2, goal - 1))
    if r == 1:
        true = printed = Fraction(goal, 2 * (goal - 1))
    else:
        # The last line of the proof is right; the statement (commented out) is not.
        true = ((goal - 1) * r**goal - goal * r ** (goal - 1) + 1) / (
            (goal - 1) * (r**goal - r ** (goal - 1) - r + 1)
        )
        printed = ((goal - 1) * (1 - r) - r + r**goal) / (
            (goal - 1) * (1 - r) * (1 - r ** (goal - 1))
        )
    assert math.isclose(grbp.finish_probability(problem), true, rel_tol=1e-12)
    if r != 1 and goal > 2:
        assert printed != true
