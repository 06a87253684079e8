"""Every lemma, theorem and corollary of the paper, under its LaTeX label.

The formulas are written here as the paper prints them, in exact fractions, and compared with
what the package computes; docs/paper-map.md lists label, function and test.
"""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from digits import hit as wide_hit
from digits import number, relative_error
from draws import probabilities, problems
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import grbp
from grbp import Action, Problem
from grbp.bounds import required_root, settling_rounds
from grbp.dynprog import Chain, evaluate, solve
from grbp.ruin import hit, log_failure_ratio

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


@given(st.integers(2, 7), st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.data())
def test_thm_UCB1Reg(goal: int, p_c: float, p_f: float, data: st.DataObject) -> None:
    # The sum over all policies, each evaluated by the independent solver.
    start = data.draw(st.one_of(st.just("uniform"), st.integers(1, goal - 1)))
    problem, rounds = Problem(goal, p_c, p_f, start), data.draw(st.integers(1, 10**6))
    chain = Chain.of(problem)
    q = problem.start_probabilities
    values = [
        float(evaluate(chain, np.array(policy)).value @ q)
        for policy in itertools.product((0, 1), repeat=problem.goal - 1)
    ]
    gaps = [max(values) - v for v in values]
    worse = [gap for gap in gaps if gap > 1e-14]
    if min(worse, default=1.0) < 1e-7:  # a difference of values has too few digits left there
        return
    bound = math.fsum(8 * math.log(rounds) / gap for gap in worse)
    bound += (1 + math.pi**2 / 3) * sum(worse)
    assert math.isclose(grbp.ucb1_bound(problem, rounds), bound, rel_tol=1e-8, abs_tol=1e-12)


def test_thm_UCB1Reg_holds_for_ucb1() -> None:
    # UCB1 itself, written out, on the four policies of G = 3.
    problem, rounds, rng = Problem(3, 0.6, 0.3), 2000, np.random.default_rng(5)
    policies = [(0, 0), (1, 0), (0, 1), (1, 1)]
    won = np.array([grbp.value(problem, policy) for policy in policies])
    regret = []
    for _ in range(20):
        plays, wins = np.ones(4), (rng.random(4) < won).astype(float)
        total = (won.max() - won).sum()
        for rho in range(5, rounds + 1):
            arm = int(np.argmax(wins / plays + np.sqrt(2 * np.log(rho - 1) / plays)))
            plays[arm] += 1
            wins[arm] += rng.random() < won[arm]
            total += won.max() - won[arm]
        regret.append(total)
    assert 1.0 < np.mean(regret) < grbp.ucb1_bound(problem, rounds)


def test_thm_UCB1Reg_is_refused_where_policies_are_too_many() -> None:
    with pytest.raises(grbp.TooLarge, match=r"a goal of 60 has 2\^59 .* up to a goal of 23"):
        grbp.ucb1_bound(Problem(60, 0.4, 0.3), 100)


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
@settings(max_examples=60)
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


@given(st.floats(0.05, 1), st.floats(0.05, 1), st.floats(1.01, 30))
def test_lemma_MinNumPBinf_law(p_c1: float, p_f1: float, excess: float) -> None:
    # (ii) From rho'_a on, action a was taken f_a(rho) times with probability 1 - 1/rho^2: in the
    # worst case of the proof, where the counts are binomial.
    gamma = excess / p_f1**2
    surplus = p_f1 * gamma - math.sqrt(gamma)
    rho_c, rho_f = settling_rounds(p_c1, p_f1, gamma)
    for rho in {int(rho_c), int(rho_c) + 1, 2 * int(rho_c)}:
        k = math.ceil(gamma * math.log(rho))
        few = stats.binom.cdf(math.floor(0.5 * p_c1 * rho), rho - k, p_c1)
        assert few <= 1 / rho**2
    for rho in {int(rho_f), int(rho_f) + 1, 2 * int(rho_f)} if rho_f < 1e9 else set():
        k = math.ceil(gamma * math.log(rho))
        few = stats.binom.cdf(math.ceil(0.5 * surplus * math.log(rho)) - 1, k, p_f1)
        assert few <= 1 / rho**2


def test_lemma_MinNumPBinf_as_printed_is_false() -> None:
    # G = 3, q = (.9, .1), p_C = .5, gamma = 1.2: with sqrt(rho - ceil(D) log rho), as the
    # lemma prints it, the condition holds for rounds in which C is too often too rare.
    p_c1, gamma = 0.1, 1.2
    printed = next(
        rho
        for rho in range(2, 10**5)
        if (k := math.ceil(gamma * math.log(rho))) and rho > k * math.log(rho)
        and 0.5 * p_c1 * rho - p_c1 * k - math.sqrt(rho - k * math.log(rho)) > 0
    )  # fmt: skip
    k = math.ceil(gamma * math.log(printed))
    assert stats.binom.cdf(math.floor(0.5 * p_c1 * printed), printed - k, p_c1) > 1 / printed**2
    assert settling_rounds(p_c1, 0.9, gamma)[0] > printed


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


@pytest.mark.parametrize(("p_c", "required"), [(0.45, 1818.73), (0.65, 1157.91)])
def test_thm_GRBPreg_does_not_apply_to_the_papers_gamma(p_c: float, required: float) -> None:
    bound = grbp.getbe_bound(Problem(4, p_c, 0.3), 15, 5000)
    assert not bound.applies
    assert bound.gamma_required == pytest.approx(required, abs=0.005)
    assert bound.why == f"gamma = 15 is not above the {required} that Theorem 3 asks for"
    assert math.isinf(bound.regret_bound)
    assert grbp.getbe_bound(Problem(4, p_c, 0.3), required + 0.01, 5000).applies


@given(problems(small_goals), st.floats(0.5, 4), st.integers(1, 10**9))
def test_thm_GRBPreg(problem: Problem, factor: float, rounds: int) -> None:
    p_c1, p_f1 = grbp.continue_probability(problem), grbp.finish_probability(problem)
    delta = grbp.margin(problem)
    if not (p_c1 > 0.05 and p_f1 > 0.05 and delta > 0.02):
        return
    x_1 = (1 + math.sqrt(24 * p_f1 / delta**2 + 1)) / (2 * p_f1)
    assert math.isclose(required_root(p_f1, delta), x_1, rel_tol=1e-13)
    assert x_1**2 >= 1 / p_f1**2
    gamma = factor * x_1**2
    bound = grbp.getbe_bound(problem, gamma, rounds)
    assert bound.applies == (factor > 1)
    assert bound.rho_prime == max(bound.rho_c, bound.rho_f, bound.rho_pp)
    if not bound.applies:
        assert math.isinf(bound.regret_bound)
        return
    w = 4 * bound.rho_prime
    w += 2 * math.pi**2 / 3 * (1 + 1 / (1 - math.exp(-(delta**2))))
    assert math.isclose(bound.w, w, rel_tol=1e-9)
    if grbp.optimal_threshold(problem) == 1:
        assert bound.regret_bound == bound.w
    else:
        explored = math.ceil(gamma * math.log(rounds))
        expected = explored + bound.w * grbp.gap_max(problem)
        assert math.isclose(bound.regret_bound, expected, rel_tol=1e-12)


def holds_c(rho: int, p_c1: float, gamma: float) -> bool:
    k = math.ceil(gamma * math.log(rho))
    if rho < k:
        return False
    return 0.5 * p_c1 * rho - p_c1 * k - math.sqrt((rho - k) * math.log(rho)) > 0


def holds_f(rho: int, surplus: float, gamma: float) -> bool:
    log = math.log(rho)
    return 0.5 * surplus * log - math.sqrt(log) > 0 and rho - 2 - math.ceil(gamma * log) > 0


@given(st.floats(0.2, 1), st.floats(0.2, 1), st.floats(-2, 2.5))
@settings(max_examples=60)
def test_thm_GRBPreg_rounds_by_trying_every_round(p_c1: float, p_f1: float, log: float) -> None:
    # "First round" means: from which round on. The last failing round below 20,000, plus one.
    gamma, rounds = 10**log, range(1, 20_000)
    surplus = p_f1 * gamma - math.sqrt(gamma)
    last_c = max((rho for rho in rounds if not holds_c(rho, p_c1, gamma)), default=0)
    last_f = max((rho for rho in rounds if not holds_f(rho, surplus, gamma)), default=0)
    rho_c, rho_f = settling_rounds(p_c1, p_f1, gamma)
    assert rho_c == last_c + 1 if last_c < rounds[-1] else rho_c > last_c
    assert rho_f == last_f + 1 if last_f < rounds[-1] else rho_f > last_f


@pytest.mark.parametrize(("p_c", "p_f"), [(0.45, 0.3), (0.65, 0.3), (0.2, 0.6), (0.8, 0.1)])
def test_thm_GRBPreg_error_round_by_trying_every_round(p_c: float, p_f: float) -> None:
    # rho'': delta^2 >= 3 log(rho)/f_a(rho) for both actions, from there on.
    problem = Problem(4, p_c, p_f)
    needed = grbp.getbe_bound(problem, 15, 10)
    gamma = 1.001 * needed.gamma_required
    surplus = needed.p_f1 * gamma - math.sqrt(gamma)
    assert needed.margin**2 >= 3 / (0.5 * surplus)
    fails = [
        rho
        for rho in range(2, 60_000)
        if needed.margin**2 < 3 * math.log(rho) / (0.5 * needed.p_c1 * rho)
    ]
    assert grbp.getbe_bound(problem, gamma, 10).rho_pp == fails[-1] + 1


@given(problems(small_goals))
def test_thm_GRBPreg_applies_exactly_where_it_bounds(problem: Problem) -> None:
    required = grbp.getbe_bound(problem, 1, 10).gamma_required
    for gamma in (required, np.nextafter(required, math.inf), 1.1 * required):
        if 0 < gamma < 1e12:
            bound = grbp.getbe_bound(problem, float(gamma), 10)
            assert bound.applies == math.isfinite(bound.regret_bound)
            assert not bound.applies or gamma > required


@pytest.mark.parametrize(
    ("problem", "gamma"),
    [
        (Problem(100, 0.01, 0.0), 15),
        (Problem(200, 0.01, 1e-170), 15),
        (Problem(4, 0.45, 0.3), 1e22),
        (Problem(4, 0.45, 0.3), 1e300),
        (Problem(4, 0.45, 0.3, {1: 0.999999999999, 2: 1e-12}), 2000),
        (Problem(4, 0.45, 0.3, {1: 1, 2: 1e-300}), 2000),
    ],
)
def test_thm_GRBPreg_answers_at_the_extremes(problem: Problem, gamma: float) -> None:
    bound = grbp.getbe_bound(problem, gamma, 100)
    assert bound.rho_prime == max(bound.rho_c, bound.rho_f, bound.rho_pp)
    assert not any(math.isnan(x) for x in bound if isinstance(x, float))


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (Problem(3, 0.5, 1 / 3), "on the decision boundary"),
        (Problem(4, 0.0, 0.3), "strictly between 0 and 1"),
        (Problem(4, 0.5, 1.0), "strictly between 0 and 1"),
        (Problem(4, 0.5, 0.25), "on the decision boundary"),
        (Problem(2, 0.4, 0.3), "every round starts in state 1"),
        (Problem(5, 0.4, 0.3, start=1), "every round starts in state 1"),
    ],
)
def test_thm_GRBPreg_names_the_assumption_that_fails(problem: Problem, why: str) -> None:
    bound = grbp.getbe_bound(problem, 1e7, 100)
    assert not bound.applies
    assert why in bound.why
    assert math.isinf(bound.regret_bound)


@pytest.mark.parametrize(("gamma", "rounds"), [(0, 5), (-1, 5), (math.nan, 5), (1, 0), (1, 2.5)])
def test_thm_GRBPreg_refuses_nonsense(gamma: float, rounds: int) -> None:
    with pytest.raises(grbp.InvalidInput, match=r"was given; it must be"):
        grbp.getbe_bound(Problem(4, 0.4, 0.3), gamma, rounds)
