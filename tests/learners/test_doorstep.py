"""The doorstep learners: when they give up, what they regret, and what nobody can beat."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import grbp
from grbp.experiments.catalog import PAPER_LEARNERS
from grbp.learners import doorstep, doorstep_optimal as optimal, optimal_stopping as stopping
from grbp.learners.counters import Counters
from grbp.numerics.arrays import Floats

FIG_3, FIG_4 = grbp.Problem(4, 0.45, 0.3), grbp.Problem(4, 0.65, 0.3)
FAMILY = ["doorstep-optimal", "doorstep-kl"]
chances = st.floats(0.01, 0.99)


def found(name: str, goal: int) -> grbp.Learner:
    learner = grbp.find_learner(name, goal)
    assert isinstance(learner, grbp.Learner)
    return learner


# When to give up.


def solve_by_induction(fine: float = 0.02, grid: float = 0.01) -> Floats:
    """Compute the table by backward induction from the last round.

    `fine` is the step of log(had/to come), and `grid` that of the mean in standard deviations. The
    mean moves in steps of a standard deviation w, and a boundary for steps lies below one for
    Brownian motion by 0.5826 w (Chernoff 1965).
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    weights = weights / weights.sum()
    z = np.arange(-10.0, 10.0 + grid / 2, grid)
    log_odds = np.arange(stopping.LOWEST, stopping.HIGHEST + 8.0, fine)
    times = np.append(1.0 / (1.0 + np.exp(-log_odds)), 1.0)
    value, found = np.zeros_like(z), np.zeros(len(log_odds))
    for k in range(len(log_odds) - 1, -1, -1):
        now, then = times[k], times[k + 1]
        step = math.sqrt((then - now) / now)
        scaled = z * math.sqrt(then / now)
        go_on = (then - now) * z / math.sqrt(now)
        for node, weight in zip(nodes, weights, strict=True):
            after = scaled + step * node
            never_stops = after / math.sqrt(then) * (1.0 - then)
            go_on += weight * np.where(after > z[-1], never_stops, np.interp(after, z, value))
        first = int(np.argmax(go_on > 0.0))
        zero = z[first] - grid * go_on[first] / (go_on[first] - go_on[first - 1])
        found[k] = (0.5826 * step - zero) ** 2 / 2.0
        value = np.maximum(go_on, 0.0)
    count = round((stopping.HIGHEST - stopping.LOWEST) / stopping.STEP) + 1
    places = np.arange(count) * stopping.STEP + stopping.LOWEST
    at_places: Floats = np.interp(places, log_odds, found)
    return at_places


def test_the_table_is_what_backward_induction_finds() -> None:
    found = solve_by_induction()
    assert len(found) == len(stopping.TABLE)
    assert np.all(np.diff(stopping.TABLE) < 0.0)
    np.testing.assert_allclose(stopping.TABLE, found, rtol=0.01, atol=0.005)


def lai_1987(t: float) -> float:
    """The published approximation of h."""
    if t <= 0.01:
        log, tail = math.log(1 / t), 0.99232 * math.exp(-0.03812 / math.sqrt(t))
        return math.sqrt(2 * log - math.log(log) - math.log(16 * math.pi) + tail)
    if t <= 0.1:
        return -1.58 * math.sqrt(t) + 1.53 + 0.07 / math.sqrt(t)
    if t <= 0.8:
        return 0.299 * math.sqrt(t) + 0.403 / math.sqrt(t) - 0.576 * t * math.sqrt(t)
    return math.sqrt(1 - t) / t * (0.639 - 0.403 * (1 / t - 1))


@pytest.mark.parametrize("t", [1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97])
def test_the_boundary_is_near_the_published_approximation(t: float) -> None:
    h = math.sqrt(2.0 * stopping.stopping_evidence(t, 1.0 - t))
    assert h == pytest.approx(lai_1987(t), rel=0.035)


def test_the_evidence_to_give_up_falls_with_rounds_had_and_has_no_jump() -> None:
    odds = np.exp(np.linspace(-45.0, 30.0, 40_001))
    evidence = np.array([stopping.stopping_evidence(x, 1.0) for x in odds])
    assert np.all(np.diff(evidence) < 0.0)
    assert np.all(evidence > 0.0)
    assert np.abs(np.diff(evidence)).max() < 0.003
    assert stopping.stopping_evidence(5.0, 0.0) == 0.0
    assert stopping.stopping_evidence(3.0, 700.0) == pytest.approx(
        stopping.stopping_evidence(30.0, 7000.0)
    )


def bayes_regrets(known: float, rounds: int, prior: float, rule: str) -> tuple[float, float]:
    """What is lost over the rounds on the average over the prior: at least, and by a rule."""
    learner = found(rule, 4)
    p_c = doorstep.boundary_inverse(known, 4)
    optimal, own = np.zeros(rounds + 2), np.zeros(rounds + 2)
    for n in range(rounds - 1, -1, -1):
        s = np.arange(n + 1)
        mean, stop = (prior + s) / (2.0 * prior + n), known * (rounds - n)
        go = mean * (1.0 + optimal[1 : n + 2]) + (1.0 - mean) * optimal[: n + 1]
        kept = mean * (1.0 + own[1 : n + 2]) + (1.0 - mean) * own[: n + 1]
        tries = [
            learner.choose(4, Counters(n + 1, n, k, 1e12, p_c * 1e12, 0.0, 0.0, n, k), 0) == 1
            for k in s.tolist()
        ]
        optimal[: n + 1] = np.maximum(go, stop)
        own[: n + 1] = np.where(tries, kept, stop)
    x = np.linspace(0.0, 1.0, 20_001)[1:-1]
    weight = (x * (1.0 - x)) ** (prior - 1.0)
    best = rounds * float((np.maximum(x, known) * weight).sum() / weight.sum())
    return best - float(optimal[0]), best - float(own[0])


@pytest.mark.slow
@pytest.mark.parametrize("known", [0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("prior", [1.0, 2.0])
def test_where_p_c_is_known_it_is_within_3_percent_of_the_exact_bayes_rule(
    known: float, prior: float
) -> None:
    """The exact one goes back from the last round over all numbers of samples and successes."""
    for rounds in (50, 200):
        name = f"doorstep-optimal:horizon={rounds},good={prior:g},bad={prior:g}"
        least, regret = bayes_regrets(known, rounds, prior, name)
        assert least <= regret <= 1.03 * least


def two_armed_regrets(rounds: int) -> tuple[float, float]:
    """What is lost with two arms of uniform chances: at least, and by the rule, told the rounds."""
    learner = found(f"doorstep-optimal:horizon={rounds}", 2)
    at = np.arange(rounds + 1)
    least, own = np.zeros((2, rounds + 1, rounds + 2, rounds + 2))
    for played in range(rounds - 1, -1, -1):
        for f in range(played + 1):
            c = played - f
            p, q = ((at[: k + 1] + 1.0) / (k + 2.0) for k in (f, c))
            for values, is_own in ((least, False), (own, True)):
                after_f, after_c = values[f + 1], values[f]
                won = p[:, None] * (1.0 + after_f[1 : f + 2, : c + 1])
                finish = won + (1.0 - p)[:, None] * after_f[: f + 1, : c + 1]
                up = q * (1.0 + after_c[: f + 1, 1 : c + 2])
                go_on = up + (1.0 - q) * after_c[: f + 1, : c + 1]
                better = finish > go_on
                if is_own:
                    better = decisions_of(learner, f, c)
                values[f, : f + 1, : c + 1] = np.where(better, finish, go_on)
    best = rounds * 2.0 / 3.0  # The mean of the larger of two uniform chances.
    return best - float(least[0, 0, 0]), best - float(own[0, 0, 0])


def decisions_of(learner: grbp.Learner, f: int, c: int) -> Any:
    """Whether FINISH is taken, after every number of successes of either arm."""
    return np.array(
        [
            [
                learner.choose(2, Counters(f + c + 1, f, won, c, up, c, 0.0, f, 0.0), 0) == 1
                for up in range(c + 1)
            ]
            for won in range(f + 1)
        ]
    )


@pytest.mark.slow
def test_with_two_arms_it_is_within_half_a_percent_of_the_exact_optimum() -> None:
    for rounds in (5, 12, 50):
        least, regret = two_armed_regrets(rounds)
        assert least - 1e-12 <= regret <= 1.005 * least


# Decisions.


@st.composite
def counters(draw: st.DrawFn) -> Counters:
    """Where CONTINUE is learned on the way."""
    f = draw(st.integers(1, 400))
    rho = draw(st.integers(f, 5_000))
    c = draw(st.integers(rho, 6 * rho))
    f_goal = draw(st.integers(0, f - 1)) + draw(st.floats(0.001, 0.999))
    c_up = draw(st.integers(0, c - 1)) + draw(st.floats(0.001, 0.999))
    plays_1 = draw(st.integers(f - 1, rho - 1))
    return Counters(rho, f, f_goal, c, c_up, rho - 1 - plays_1, 0.0, plays_1, 0.0)


@given(n=counters(), goal=st.sampled_from([2, 3, 4, 10, 100]), name=st.sampled_from(FAMILY))
def test_what_speaks_for_finish_never_speaks_against_it(n: Counters, goal: int, name: str) -> None:
    learner = found(name, goal)
    decision = learner.choose(goal, n, 0)
    if n.f_goal + 1.0 <= n.f:
        assert learner.choose(goal, n._replace(f_goal=n.f_goal + 1.0), 0) >= decision
    if n.c_up >= 1.0:
        assert learner.choose(goal, n._replace(c_up=n.c_up - 1.0), 0) >= decision


priors = st.sampled_from([(1.0, 1.0), (2.0, 6.0), (0.5, 0.5), (20.0, 20.0)])


@st.composite
def records(draw: st.DrawFn) -> Counters:
    """Whole numbers, as records have them; CONTINUE is learned on the way or not."""
    rho = draw(st.integers(1, 5_000))
    plays_1 = draw(st.integers(0, rho - 1))
    f = draw(st.integers(0, min(plays_1, 400)))
    c = draw(st.integers(0, 2 * rho))
    f_goal, c_up = draw(st.integers(0, f)), draw(st.integers(0, c))
    return Counters(rho, f, f_goal, c, c_up, rho - 1 - plays_1, 0.0, plays_1, 0.0)


@st.composite
def knowledge(draw: st.DrawFn) -> optimal.Known:
    horizon = draw(st.sampled_from([0.0, 50.0, 500.0, 5_000.0]))
    return optimal.Known(horizon, *draw(priors), *draw(priors))


def optimal_choice(goal: int, known: optimal.Known, n: Counters) -> int:
    return optimal.doorstep_optimal(goal, known, n, 0)


goals = st.sampled_from([2, 3, 4, 10, 100])
fractions = st.floats(0.001, 0.999)


@given(n=records(), goal=goals, known=knowledge(), f_goal=fractions, c_up=fractions)
def test_first_estimates_that_were_drawn_change_no_decision(
    n: Counters, goal: int, known: optimal.Known, f_goal: float, c_up: float
) -> None:
    """Each counts as a sample in the counters, so that only the rest is whole outcomes."""
    opened = n._replace(f=n.f + 1, f_goal=n.f_goal + f_goal, c=n.c + 1, c_up=n.c_up + c_up)
    assume((n.c >= doorstep.FREE * n.rho) == (opened.c >= doorstep.FREE * n.rho))
    assert optimal_choice(goal, known, opened) == optimal_choice(goal, known, n)
    whole, drawn = ((m.f_goal, m.f - m.f_goal) for m in (n, opened))
    prior = (known.good, known.bad)
    assert optimal.belief(*prior, *whole) == optimal.belief(*prior, *drawn)


@given(n=records(), goal=goals, known=knowledge(), good=st.integers(0, 30), bad=st.integers(0, 30))
def test_a_prior_is_as_many_outcomes_had_at_the_usual_rate(
    n: Counters, goal: int, known: optimal.Known, good: int, bad: int
) -> None:
    """A sample of FINISH is had in (plays + 2)/(taken + 1) rounds; so are those of the prior."""
    rate = (n.plays_1 + 2.0) / (n.f + 1.0)
    taken = n._replace(
        f=n.f + good + bad, f_goal=n.f_goal + good, plays_1=n.plays_1 + rate * (good + bad)
    )
    prior = known._replace(good=known.good + good, bad=known.bad + bad)
    assert optimal_choice(goal, prior, n) == optimal_choice(goal, known, taken)


@given(n=records(), goal=goals, known=knowledge(), up=st.integers(0, 30), down=st.integers(0, 30))
def test_a_prior_of_continue_is_as_many_moves(
    n: Counters, goal: int, known: optimal.Known, up: int, down: int
) -> None:
    rate = (n.plays_0 + 2.0) / (n.c + 1.0)
    taken = n._replace(c=n.c + up + down, c_up=n.c_up + up, plays_0=n.plays_0 + rate * (up + down))
    assume((n.c >= doorstep.FREE * n.rho) == (taken.c >= doorstep.FREE * n.rho))
    prior = known._replace(up=known.up + up, down=known.down + down)
    assert optimal_choice(goal, prior, n) == optimal_choice(goal, known, taken)


@given(n=records(), goal=goals, known=knowledge())
def test_another_success_of_finish_or_step_down_never_speaks_against_finish(
    n: Counters, goal: int, known: optimal.Known
) -> None:
    """But for the step that makes CONTINUE learned on the way, where another rule begins."""
    decision = optimal_choice(goal, known, n)
    won = n._replace(f=n.f + 1, f_goal=n.f_goal + 1, plays_1=n.plays_1 + 1)
    assert optimal_choice(goal, known, won) >= decision
    down = n._replace(c=n.c + 1)
    assume((n.c >= doorstep.FREE * n.rho) == (down.c >= doorstep.FREE * n.rho))
    assert optimal_choice(goal, known, down) >= decision


def test_rounds_to_come() -> None:
    """As many as the horizon leaves; none given, or after it, they grow with those played."""
    to_come = optimal.rounds_to_come
    assert [to_come(500.0, rho) for rho in (1, 500)] == [500.0, 1.0]
    unknown = [to_come(0.0, rho) for rho in range(1, 3000)]
    beyond = [to_come(500.0, rho) for rho in range(501, 3000)]
    for found in (unknown, beyond):
        assert min(found) > 0.0
        assert found == sorted(found)
    assert beyond[0] < 10.0 < unknown[0]


def test_after_the_horizon_it_does_not_explore_anew() -> None:
    """A horizon that was too short: who had given up does so still, though much may be to come."""
    known = optimal.Known(horizon=500.0)
    for rho in (500, 501, 510, 550):
        n = Counters(rho, 40.0, 8.0, 1000.0, 650.0, rho - 101.0, 0.0, 100.0, 0.0)
        assert optimal_choice(4, known, n) == 0
    assert optimal_choice(4, known._replace(horizon=1e9), n) == 1


@given(n=counters(), goal=st.sampled_from([2, 4, 30]))
def test_kl_is_its_definition(n: Counters, goal: int) -> None:
    p_f, b = n.f_goal / n.f, grbp.boundary(goal, n.c_up / n.c)
    evidence = 0.0 if p_f >= b or b == 0.0 else n.f * float(divergence(p_f, b))
    assume(abs(evidence - math.log(n.rho)) > 1e-9 and abs(p_f - b) > 1e-12)
    tries = p_f >= b or evidence <= math.log(n.rho)
    assert doorstep.doorstep_kl(goal, grbp.NoConstants(), n, 0) == int(tries)


def divergence(p: float, q: float) -> mpmath.mpf:
    with mpmath.workdps(40):
        a, b = mpmath.mpf(p), mpmath.mpf(q)
        first = a * mpmath.log(a / b) if a else mpmath.mpf(0)
        return first + (1 - a) * mpmath.log((1 - a) / (1 - b))


@given(chances, st.integers(2, 500))
def test_what_p_c_is_as_good_as_p_f(p_f: float, goal: int) -> None:
    x = doorstep.boundary_inverse(p_f, goal)
    assert doorstep.continue_value(x, goal) == pytest.approx(p_f, rel=1e-9)
    assert doorstep.continue_value(x, goal) == pytest.approx(grbp.boundary(goal, x), rel=1e-9)


def test_a_box_in_which_continue_falls_below_a_quarter_of_the_rounds_is_not_claimed() -> None:
    """FINISH is tried at its cost only where CONTINUE is learned on the way."""
    learner = found("doorstep-kl", 4)
    assert learner.stable is not None
    n = Counters(1000, 8.0, 3.0, 251.0, 170.0, 0.0, 0.0, 100.0, 0.0)
    later = n._replace(rho=1010)
    assert [learner.choose(4, at, 0) for at in (n, later)] == [1, 0]
    assert not learner.stable(4, learner.constants, n, later)
    assert learner.stable(4, learner.constants, n, n._replace(rho=1003))


@pytest.mark.parametrize(
    ("settings", "first", "last"), [(":horizon=5000", 1000, 4990), ("", 10_000, 10**6)]
)
def test_a_claim_about_trying_finish_holds_in_the_first_round_and_the_last(
    settings: str, first: int, last: int
) -> None:
    """Rounds to come grow with the round, or fall if somebody says how many there are."""
    learner, changes, claims = found("doorstep-optimal" + settings, 4), 0, 0
    assert learner.stable is not None
    for won in range(100):
        n = Counters(first, 200.0, won, last, 0.65 * last, 0.0, 0.0, 400.0, 0.0)
        answers = [learner.choose(4, n._replace(rho=rho), 0) for rho in (first, last)]
        claimed = learner.stable(4, learner.constants, n, n._replace(rho=last))
        changes, claims = changes + (answers[0] != answers[1]), claims + claimed
        assert claimed == (answers[0] == answers[1]), won
    assert changes > 2
    assert claims > 50


@pytest.mark.parametrize(("known", "low", "high"), [("", 1000, 1010), (":horizon=1005", 800, 1006)])
def test_a_box_with_two_rules_is_not_claimed(known: str, low: int, high: int) -> None:
    """CONTINUE falls below a quarter of the rounds, or the horizon passes."""
    learner = found("doorstep-optimal" + known, 4)
    assert learner.stable is not None
    n = Counters(low, 400.0, 390.0, 251.0, 100.0, 0.0, 0.0, 700.0, 0.0)
    assert not learner.stable(4, learner.constants, n, n._replace(rho=high))
    assert learner.stable(4, learner.constants, n, n._replace(rho=low + 3))


def test_a_box_over_the_horizon_is_not_claimed_though_both_ends_agree() -> None:
    """At the horizon nothing is left to come, so that nothing is tried there."""
    learner = found("doorstep-optimal:horizon=1000", 4)
    assert learner.stable is not None
    n = Counters(802, 2.0, 0.0, 2500.0, 1711.0, 0.0, 0.0, 2.0, 0.0)
    at = [learner.choose(4, n._replace(rho=rho), 0) for rho in (802, 1000, 1505)]
    assert at == [1, 0, 1]
    assert not learner.stable(4, learner.constants, n, n._replace(rho=1505))


# What they regret.


def final(problem: grbp.Problem, learner: str, rounds: int, replicas: int) -> float:
    result = grbp.simulate(problem, [learner], rounds, replicas, seed=11, checkpoints=(rounds,))
    return float(result.curves[learner].mean[-1])


@pytest.mark.slow
def test_the_default_loses_less_than_the_best_of_the_five_on_both_sides_together() -> None:
    """Each of the five is good in one of the two settings and poor in the other."""
    five = min(sum(final(p, name, 5000, 500) for p in (FIG_3, FIG_4)) for name in PAPER_LEARNERS)
    for known, share in (("", 0.75), (":horizon=5000", 0.6)):
        own = grbp.DEFAULT_LEARNER + known
        assert sum(final(p, own, 5000, 2000) for p in (FIG_3, FIG_4)) < share * five


@pytest.mark.sample("0.03")
@pytest.mark.slow
@pytest.mark.parametrize("off", [0.03, 0.06])
def test_next_to_the_boundary_the_worse_side_costs_the_default_least(off: float) -> None:
    """Whoever loses nothing on one side of it pays on the other."""
    b = grbp.boundary(4, 0.7)
    sides = [grbp.Problem(4, 0.7, b - off), grbp.Problem(4, 0.7, b + off)]
    five = min(max(final(p, name, 5000, 1000) for p in sides) for name in PAPER_LEARNERS)
    assert max(final(p, grbp.DEFAULT_LEARNER, 5000, 4000) for p in sides) < five


@pytest.mark.soak
@pytest.mark.parametrize("learner", FAMILY)
def test_growth_is_near_the_floor_where_continuing_is_right(learner: str) -> None:
    result = grbp.simulate(FIG_4, [learner], 10**7, 500, seed=5, checkpoints=(10**5,))
    early, late = result.curves[learner].mean
    slope = (late - early) / math.log(100.0)
    assert 0.7 < slope / grbp.regret_floor(FIG_4) < 1.1


@pytest.mark.sample("doorstep-optimal")
@pytest.mark.slow
@pytest.mark.parametrize("learner", FAMILY)
def test_regret_stays_where_finishing_is_right(learner: str) -> None:
    result = grbp.simulate(FIG_3, [learner], 10**7, 4000, seed=5, checkpoints=(10**5,))
    early, late = result.curves[learner].mean
    assert late - early < 0.02


@pytest.mark.sample("*-doorstep-optimal")
@pytest.mark.slow
@pytest.mark.parametrize("learner", FAMILY)
@pytest.mark.parametrize("problem", [grbp.Problem(2, 0.6, 0.3), grbp.Problem(4, 0.65, 0.3, 1)])
def test_regret_is_not_linear_where_continue_has_to_be_explored(
    learner: str, problem: grbp.Problem
) -> None:
    result = grbp.simulate(problem, [learner], 10**5, 400, seed=5, checkpoints=(10**4,))
    early, late = result.curves[learner].mean
    assert late < 2.5 * early


# What nobody can beat.


@given(st.integers(2, 60), chances, chances)
def test_the_floor_and_the_gamma_by_many_digits(goal: int, p_c: float, p_f: float) -> None:
    problem = grbp.Problem(goal, p_c, p_f, {goal - 1: 1.0})
    with mpmath.workdps(60):
        r = (1 - mpmath.mpf(p_c)) / mpmath.mpf(p_c)
        b = 1 / mpmath.fsum(r**k for k in range(goal))
        over, p = mpmath.mpf(p_f) - b, mpmath.mpf(p_f)
        assume(abs(over) > 1e-11 * b)
        if over < 0:
            kl = p * mpmath.log(p / b) + (1 - p) * mpmath.log((1 - p) / (1 - b))
            assert grbp.regret_floor(problem) == pytest.approx(float(-over / kl), rel=1e-9)
            assert grbp.gamma_bounded(problem) == math.inf
        else:
            kl = b * mpmath.log(b / p) + (1 - b) * mpmath.log((1 - b) / (1 - p))
            assert grbp.gamma_bounded(problem) == pytest.approx(float(1 / kl), rel=1e-9)
            if goal > 2:
                assert grbp.regret_floor(problem) == 0.0


@given(chances, chances)
def test_with_two_arms_the_floor_is_that_of_lai_and_robbins(p_c: float, p_f: float) -> None:
    assume(abs(p_c - p_f) > 1e-6)
    low, high = min(p_c, p_f), max(p_c, p_f)
    floor = float((high - low) / divergence(low, high))
    assert grbp.regret_floor(grbp.Problem(2, p_c, p_f)) == pytest.approx(floor, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["uniform", 1])
def test_a_small_gamma_bounds_the_regret_where_any_does(start: str | int) -> None:
    """And none does where each forced FINISH loses, however sure it is that CONTINUE wins."""
    for p_c, p_f in ((0.0, 0.0), (0.0, 0.3), (0.5, 1.0), (1.0, 1.0)):
        problem = grbp.Problem(4, p_c, p_f, start)
        result = grbp.simulate(
            problem, ["getbe-sm:gamma=1"], 10**8, 2000, seed=1, checkpoints=(10**4,)
        )
        early, late = result.curves["getbe-sm:gamma=1"].mean
        assert late - early <= 1e-3, (p_c, p_f)
    forced = grbp.simulate(grbp.Problem(4, 1.0, 0.5), ["getbe-sm"], 10**8, 20, 1, checkpoints=[10])
    early, late = forced.curves["getbe-sm"].mean
    assert late - early > 100.0


def test_the_floor_at_the_edges() -> None:
    tie = grbp.Problem(4, 0.5, 0.25)
    assert (grbp.regret_floor(tie), grbp.gamma_bounded(tie)) == (0.0, math.inf)
    assert grbp.gamma_bounded(grbp.Problem(4, 0.5, 0.25, 1)) == 0.0
    for certain in ((0.0, 0.0), (0.0, 0.3), (0.0, 1.0), (0.5, 1.0), (1.0, 1.0)):
        assert grbp.gamma_bounded(grbp.Problem(4, *certain)) == 0.0
    for losing in ((1.0, 0.0), (1.0, 0.5), (0.5, 0.0)):
        assert grbp.gamma_bounded(grbp.Problem(4, *losing)) == math.inf
    assert grbp.regret_floor(grbp.Problem(4, 1.0, 0.5)) == 0.0
    b = grbp.boundary(4, 0.65)
    assert grbp.regret_floor(grbp.Problem(4, 0.65, 0.0)) == pytest.approx(b / -math.log1p(-b))
    assert grbp.regret_floor(grbp.Problem(4, 0.45, 0.3, 1)) == pytest.approx(3.186, abs=1e-3)
