"""The learners: against enumeration of all histories, quadrature, and what the paper says."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from draws import problems
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, optimize, stats

from grbp import Problem, boundary, optimal_threshold
from grbp._jit import compiled
from grbp.engine import World, decisions
from grbp.errors import GrbpError, InvalidInput, TooLarge
from grbp.history import Counters, Outcome, opening, play, settle
from grbp.learners import LEARNERS, Learner, PolicyLearner, find_learner
from grbp.learners.baselines import EPSILON_GREEDY, Decay, Exploration, explore_then_commit
from grbp.learners.estimate import beta_draw, finish_is_right, gamma_draw, odds_sum
from grbp.learners.getbe import (
    NO_EXPLORE,
    POSTERIOR_SAMPLING,
    SAMPLE_MEAN,
    UPPER_CONFIDENCE,
    Control,
    getbe_sm,
)
from grbp.learners.posterior import beta_quantile, beta_tail
from grbp.learners.selection import PS_POLSELECTION, UCB_POLSELECTION, kl_upper
from grbp.model import first_state
from grbp.regret import prices
from grbp.streams import noise, uniform

FIGURE_3, FIGURE_4 = Problem(4, 0.45, 0.3), Problem(4, 0.65, 0.3)
FOUND = [find_learner(name, FIGURE_4) for name in [*LEARNERS, "threshold-0", "threshold-3"]]
BUILT_IN = [learner for learner in FOUND if isinstance(learner, Learner)]
ROUNDS = 5


# Exact enumeration. The counters only ever have something added to them, so a history is the
# sum of what its rounds added: equal sums are merged, and their probabilities are added.

Law = dict[Outcome, float]


@cache
def round_law(problem: Problem, threshold: int) -> Law:
    """The probability of every outcome of a round; what is left out sums to below 1e-13."""
    law: Law = {}
    q = problem.start_probabilities
    walking = {(s, 0, 0): float(q[s - 1]) for s in range(1, problem.goal)}
    while math.fsum(walking.values()) > 1e-13:
        further: dict[tuple[int, int, int], float] = {}
        for (state, c, up), mass in walking.items():
            if 0 < state <= threshold:
                add(law, Outcome(1, 1, c, up), mass * problem.p_f)
                add(law, Outcome(0, 1, c, up), mass * (1.0 - problem.p_f))
            elif state == problem.goal:
                add(law, Outcome(1, 0, c, up), mass)
            elif state == 0:
                add(law, Outcome(0, 0, c, up), mass)
            else:
                add(further, (state + 1, c + 1, up + 1), mass * problem.p_c)
                add(further, (state - 1, c + 1, up), mass * (1.0 - problem.p_c))
        walking = further
    return law


def add(table: dict[Any, float], key: Any, mass: float) -> None:
    table[key] = table.get(key, 0.0) + mass


def gaps(problem: Problem) -> dict[int, float]:
    """What a round costs under thresholds 0, 1 and goal - 1, by a linear solve."""
    goal, values = problem.goal, {}
    for threshold in {0, 1, goal - 1}:
        a, b = np.eye(goal + 1), np.zeros(goal + 1)
        b[goal] = 1.0
        for s in range(1, goal):
            if s <= threshold:
                b[s] = problem.p_f
            else:
                a[s, s + 1] -= problem.p_c
                a[s, s - 1] -= 1.0 - problem.p_c
        values[threshold] = float(np.linalg.solve(a, b)[1:goal] @ problem.start_probabilities)
    best = max(values[0], values[1])
    return {threshold: best - v for threshold, v in values.items()}


_WIDTHS = np.array([16, 16, 2048, 2048, 16, 16, 16, 16])  # f, f_goal, c, c_up, plays and wins


def enumerated(
    problem: Problem,
    begin: Counters,
    decide: Callable[[Counters], int],
    cost: dict[int, float],
    after: Callable[[Counters, int, Outcome], Counters],
) -> NDArray[np.float64]:
    """The expected regret of each of the first rounds, over all histories."""
    weights = np.concatenate(([1], np.cumprod(_WIDTHS[:-1])))

    def coded(n: Counters) -> int:
        return int(np.array(n[1:], dtype=np.int64) @ weights)

    def counters(rho: int, code: int) -> Counters:
        return Counters(
            rho, *(float((code // w) % k) for w, k in zip(weights, _WIDTHS, strict=True))
        )

    codes: NDArray[np.int64] = np.array([coded(begin)])
    masses: NDArray[np.float64] = np.ones(1)
    lost, expected = 0.0, []
    for rho in range(1, ROUNDS + 1):
        chosen = np.array([decide(counters(rho, int(code))) for code in codes])
        expected.append(math.fsum(cost[int(t)] * m for t, m in zip(chosen, masses, strict=True)))
        if rho == ROUNDS:
            break
        parts = []
        for threshold in np.unique(chosen):
            law = round_law(problem, int(threshold))
            nothing = Counters(0, *[0.0] * 8)
            steps = np.array([coded(after(nothing, int(threshold), outcome)) for outcome in law])
            here = chosen == threshold
            parts.append(
                (
                    np.add.outer(codes[here], steps).ravel(),
                    np.multiply.outer(masses[here], np.array(list(law.values()))).ravel(),
                )
            )
        every, mass = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
        codes, where = np.unique(every, return_inverse=True)
        masses = np.bincount(where, weights=mass).astype(np.float64)
        kept = masses > 1e-16
        lost += float(masses[~kept].sum())
        codes, masses = codes[kept], masses[kept]
    assert lost < 1e-10
    assert abs(math.fsum(masses) - 1.0) < 1e-10
    return np.array(expected)


# The rules as the paper prints them, in exact fractions where the paper has no root or log.


def boundary_of(goal: int, p: Fraction | float) -> Fraction | float:
    """B: 0 at 0, 1 at 1, 1/G at 1/2."""
    if p in (0, 1):
        return p
    r = (1 - p) / p
    if r == 1:
        return Fraction(1, goal)
    return (1 - r) / (1 - r**goal)


def greedy(problem: Problem, n: Counters) -> int:
    p_f, p_c = Fraction(int(n.f_goal), int(n.f)), Fraction(int(n.c_up), int(n.c))
    return 1 if p_f >= boundary_of(problem.goal, p_c) else 0


def printed_getbe_sm(problem: Problem, n: Counters, gamma: float) -> int:
    if greedy(problem, n) == 1:
        return 1
    return problem.goal - 1 if n.f < gamma * math.log(n.rho) else 0


def printed_getbe_ucb(problem: Problem, n: Counters, _: float) -> int:
    total = n.f + n.c
    u_f = min(1.0, n.f_goal / n.f + math.sqrt(2 * math.log(total) / n.f))
    u_c = min(1.0, n.c_up / n.c + math.sqrt(2 * math.log(total) / n.c))
    return 1 if u_f >= boundary_of(problem.goal, u_c) else 0


def printed_no_explore(problem: Problem, n: Counters, _: float) -> int:
    return greedy(problem, n)


def printed_ucb(_problem: Problem, n: Counters, _: float) -> int:
    if n.rho <= 2:
        return n.rho - 1
    index = [
        wins / plays + math.sqrt(2 * math.log(n.rho - 1) / plays)
        for wins, plays in ((n.wins_0, n.plays_0), (n.wins_1, n.plays_1))
    ]
    return 1 if index[1] >= index[0] else 0


def added(n: Counters, threshold: int, outcome: Outcome) -> Counters:
    """eqn:updcounts, and the plays of the two policies."""
    return Counters(
        n.rho + 1,
        n.f + outcome.f,
        n.f_goal + (outcome.f and outcome.won),
        n.c + outcome.c,
        n.c_up + outcome.c_up,
        n.plays_0 + (threshold == 0),
        n.wins_0 + (threshold == 0 and outcome.won),
        n.plays_1 + (threshold == 1),
        n.wins_1 + (threshold == 1 and outcome.won),
    )


Printed = Callable[[Problem, Counters, float], int]
DETERMINISTIC: list[tuple[Learner, Printed, float]] = [
    (SAMPLE_MEAN, printed_getbe_sm, 15.0),
    (Learner("getbe-sm of gamma 2", getbe_sm, Control(2.0)), printed_getbe_sm, 2.0),
    (UPPER_CONFIDENCE, printed_getbe_ucb, 0.0),
    (NO_EXPLORE, printed_no_explore, 0.0),
    (UCB_POLSELECTION, printed_ucb, 0.0),
]
OPENINGS = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
ENUMERATED = [Problem(3, 0.6, 0.45, {1: 0.25, 2: 0.75}), Problem(4, 0.3, 0.2), Problem(2, 0.4, 0.5)]
each_deterministic = pytest.mark.parametrize(
    ("learner", "printed", "gamma"), DETERMINISTIC, ids=[row[0].name for row in DETERMINISTIC]
)


@pytest.mark.slow
@pytest.mark.parametrize("problem", ENUMERATED, ids=["goal 3", "goal 4", "goal 2"])
@each_deterministic
def test_first_five_rounds_against_all_histories(
    learner: Learner, printed: Printed, gamma: float, problem: Problem
) -> None:
    """The kernels, driven by the enumeration, against the printed rules in fractions."""
    arms = learner.arms(problem.goal)
    cost = dict(zip(arms, prices(problem, learner).tolist(), strict=True))
    for begin in OPENINGS:
        n = opening(*begin)
        by_kernels = enumerated(
            problem, n, lambda n: learner.choose(problem.goal, n, 0), cost, settle
        )
        by_print = enumerated(
            problem, n, lambda n: printed(problem, n, gamma), gaps(problem), added
        )
        np.testing.assert_allclose(by_kernels, by_print, atol=1e-9, err_msg=str(begin))


@each_deterministic
@given(data=st.data())
def test_decisions_are_those_of_the_printed_rules(
    learner: Learner, printed: Printed, gamma: float, data: st.DataObject
) -> None:
    """With counters of any size, so that also those who begin with optimism get over it."""
    f, c = data.draw(st.integers(1, 400)), data.draw(st.integers(1, 400))
    plays_0, plays_1 = data.draw(st.integers(1, 300)), data.draw(st.integers(1, 300))
    n = Counters(
        plays_0 + plays_1 + 1,
        f, data.draw(st.integers(0, f)),
        c, data.draw(st.integers(0, c)),
        plays_0, data.draw(st.integers(0, plays_0)),
        plays_1, data.draw(st.integers(0, plays_1)),
    )  # fmt: skip
    problem = Problem(data.draw(st.integers(2, 12)), 0.5, 0.5)
    answer = learner.choose(problem.goal, Counters(n.rho, *map(float, n[1:])), 0)
    assert answer == printed(problem, n, gamma)


class Opened(NamedTuple):
    """A learner's constants, and the whole numbers that it shall have begun with."""

    inner: Any
    f_goal: float
    c_up: float


def opened(learner: Learner, f_goal: float, c_up: float) -> Learner:
    """The learner as if it had begun with whole counters.

    The engine begins with fractions between 0 and 1 and adds whole numbers to them, so what
    the fractions were is forgotten by rounding down, and the wanted beginning is added.
    """
    decide = _opened(learner.decide)
    return Learner("opened", decide, Opened(learner.constants, f_goal, c_up), learner.thresholds)


@cache
def _opened(inner: Any) -> Any:
    def decide(goal: int, k: Opened, n: Counters, key: int) -> int:
        f_goal, c_up = math.floor(n.f_goal) + k.f_goal, math.floor(n.c_up) + k.c_up
        whole = Counters(
            n.rho, n.f, f_goal, n.c, c_up, n.plays_0, n.wins_0, n.plays_1, n.wins_1
        )  # fmt: skip
        result: int = inner(goal, k.inner, whole, key)
        return result

    return decide


@pytest.mark.slow
@each_deterministic
def test_first_five_rounds_of_the_engine_against_all_histories(
    learner: Learner, printed: Printed, gamma: float
) -> None:
    """The mean pseudo-regret of each of the first five rounds, within 4 standard errors."""
    problem, replicas = ENUMERATED[0], 12_000
    cost = prices(problem, learner)
    for seed, begin in enumerate(OPENINGS):
        exact = enumerated(
            problem,
            opening(*begin),
            lambda n: printed(problem, n, gamma),
            gaps(problem),
            added,
        )
        played = np.concatenate(
            [
                block.played
                for block in decisions(
                    problem, opened(learner, *begin), range(1, ROUNDS + 1), replicas, seed
                )
            ]
        )
        regret = np.diff(played, axis=1, prepend=0) @ cost
        se = regret.std(axis=0, ddof=1) / math.sqrt(replicas)
        assert (np.abs(regret.mean(axis=0) - exact) <= 4 * se + 1e-9).all(), begin
        total = regret.sum(axis=1)
        assert abs(total.mean() - exact.sum()) <= 4 * total.std(ddof=1) / math.sqrt(replicas) + 1e-9


@pytest.mark.slow
def test_first_five_rounds_after_taking_each_action_once() -> None:
    """Algorithm 1's own beginning: the four openings, weighted by their chances."""
    problem, replicas = ENUMERATED[0], 12_000
    exact = np.zeros(ROUNDS)
    for f_goal, c_up in OPENINGS:
        chance = (problem.p_f if f_goal else 1 - problem.p_f) * (
            problem.p_c if c_up else 1 - problem.p_c
        )
        exact += chance * enumerated(
            problem,
            opening(f_goal, c_up),
            lambda n: printed_getbe_sm(problem, n, 15.0),
            gaps(problem),
            added,
        )
    blocks = decisions(problem, SAMPLE_MEAN, range(1, ROUNDS + 1), replicas, 9, once=True)
    played = np.concatenate([block.played for block in blocks])
    regret = np.diff(played, axis=1, prepend=0) @ prices(problem, SAMPLE_MEAN)
    se = regret.std(axis=0, ddof=1) / math.sqrt(replicas)
    assert (np.abs(regret.mean(axis=0) - exact) <= 4 * se + 1e-9).all()


def test_ucb1_over_all_policies_against_all_histories() -> None:
    """Four policies are played once each; the fifth round goes to the largest index."""
    problem = ENUMERATED[0]
    learner = PolicyLearner(problem.goal)
    price = prices(problem, learner)
    # FINISH everywhere has the gap V* - p_f, which says what V* is.
    value = gaps(problem)[2] + problem.p_f - price
    expected, printed = 0.0, 0.0
    for wins in np.ndindex(2, 2, 2, 2):
        mass = float(np.prod([v if w else 1 - v for v, w in zip(value, wins, strict=True)]))
        memory = learner.remember(problem.goal, 0.0, 0.0)
        for arm, w in enumerate(wins):
            assert learner.choose(problem.goal, memory, 0) == arm
            memory = learner.settle(memory, arm, Outcome(w, 0, 0, 0))
        expected += mass * float(price[learner.choose(problem.goal, memory, 0)])
        printed += mass * float(price[wins.index(max(wins))])
    assert expected == pytest.approx(printed, abs=1e-12)
    blocks = list(decisions(problem, learner, range(1, 6), 12_000, 1))
    regret = np.diff(np.concatenate([b.played for b in blocks]), axis=1, prepend=0) @ price
    np.testing.assert_allclose(regret[:, :4], np.tile(price, (12_000, 1)))
    assert abs(regret[:, 4].mean() - expected) <= 4 * regret[:, 4].std() / math.sqrt(12_000)


# The walk of a round.


def walked(problem: Problem, threshold: int, count: int) -> NDArray[np.int64]:
    """The outcomes of many rounds, compiled: [round, field]."""
    out = np.zeros((count, 4), dtype=np.int64)
    world = World(problem.goal, problem.p_c, problem.p_f, *problem.start_table)
    compiled(_walk)(world, threshold, np.uint64(77), out)
    return out


def _walk(world: World, threshold: int, begin: int, out: Any) -> None:
    for k in range(len(out)):
        key = noise(noise(begin, threshold), k)
        first = first_state(world.states, world.cumulative, uniform(key, 0))
        outcome = play(world.goal, world.p_c, world.p_f, threshold, first, key)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = outcome


@pytest.mark.parametrize("threshold", [0, 1, 2])
def test_the_joint_law_of_a_round(threshold: int) -> None:
    problem, count = ENUMERATED[0], 60_000
    law = round_law(problem, threshold)
    assert math.fsum(law.values()) == pytest.approx(1.0, abs=1e-12)
    seen: dict[Outcome, float] = {}
    for row in walked(problem, threshold, count).tolist():
        add(seen, Outcome(*row), 1.0)
    assert set(seen) <= set(law)
    common = [outcome for outcome, mass in law.items() if mass * count > 10]
    found = [seen.get(outcome, 0.0) for outcome in common]
    wanted = [law[outcome] * count for outcome in common]
    rest = count - sum(found), count - sum(wanted)
    if rest[1] > 1:
        found, wanted = [*found, rest[0]], [*wanted, rest[1]]
    else:
        wanted = [w * sum(found) / sum(wanted) for w in wanted]
    assert stats.chisquare(found, wanted).pvalue > 1e-3


# Decision probabilities of those who draw.


def _frequency(decide: Any, goal: int, constants: Any, n: Any, begin: int, count: int) -> int:
    ones = 0
    for k in range(count):
        ones += decide(goal, constants, n, noise(begin, k))
    return ones


def frequency(learner: Learner, goal: int, n: Counters, count: int) -> float:
    """How often threshold 1 is chosen, over many keys."""
    run, decide = compiled_frequency(), compiled_decide(learner.decide)
    return float(run(decide, goal, learner.constants, n, np.uint64(5), count)) / count


@cache
def compiled_frequency() -> Any:
    return compiled(_frequency)


@cache
def compiled_decide(decide: Any) -> Any:
    return compiled(decide)


def counters(**known: float) -> Counters:
    rho = int(known.pop("rho", 10))
    return opening(0.5, 0.5)._replace(rho=rho, **known)


@pytest.mark.parametrize(
    ("goal", "f", "f_goal", "c", "c_up"),
    [
        (4, 1.0, 0.3, 1.0, 0.8),
        (4, 1.0, 0.0, 1.0, 1.0),
        (2, 7.0, 3.25, 9.0, 4.5),
        (4, 40.0, 12.3, 90.0, 60.1),
        (10, 40.0, 0.0, 30.0, 17.0),
        (50, 25.0, 2.0, 3000.0, 1500.0),
    ],
)
def test_getbe_ps_chooses_as_often_as_quadrature_says(
    goal: int, f: float, f_goal: float, c: float, c_up: float
) -> None:
    finish = stats.beta(1 + f_goal, 1 + f - f_goal)
    move = stats.beta(1 + c_up, 1 + c - c_up)
    low, high = move.ppf(1e-13), move.isf(1e-13)
    chance, error = integrate.quad(
        lambda x: finish.sf(boundary(goal, x)) * move.pdf(x), low, high, limit=400, epsabs=1e-9
    )
    n, count = counters(f=f, f_goal=f_goal, c=c, c_up=c_up), 20_000
    se = math.sqrt(chance * (1 - chance) / count)
    assert error < 1e-6
    assert abs(frequency(POSTERIOR_SAMPLING, goal, n, count) - chance) <= 4 * se


@pytest.mark.parametrize(
    ("plays_0", "wins_0", "plays_1", "wins_1"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, 1.0, 1.0),
        (30.0, 20.0, 3.0, 1.0),
        (300.0, 200.0, 80.0, 49.0),
    ],
)
def test_ps_polselection_chooses_as_often_as_quadrature_says(
    plays_0: float, wins_0: float, plays_1: float, wins_1: float
) -> None:
    zero, one = (
        stats.beta(1 + wins_0, 1 + plays_0 - wins_0),
        stats.beta(1 + wins_1, 1 + plays_1 - wins_1),
    )
    chance = integrate.quad(lambda x: one.sf(x) * zero.pdf(x), 0, 1, limit=400)[0]
    n = counters(plays_0=plays_0, wins_0=wins_0, plays_1=plays_1, wins_1=wins_1)
    se = math.sqrt(chance * (1 - chance) / 20_000)
    assert abs(frequency(PS_POLSELECTION, 4, n, 20_000) - chance) <= 4 * se


@pytest.mark.parametrize("rho", [1, 29, 30, 31, 100, 3000])
@pytest.mark.parametrize("wins_1", [5.0, 1.0, 2.0])
def test_epsilon_greedy_chooses_as_often_as_it_says(rho: int, wins_1: float) -> None:
    n = counters(rho=rho, plays_0=10.0, wins_0=4.0, plays_1=5.0, wins_1=wins_1)
    random = min(1.0, EPSILON_GREEDY.constants.scale / rho)
    chance = 0.5 * random + (1.0 - random) * (wins_1 >= 2.0)
    se = math.sqrt(chance * (1 - chance) / 20_000)
    assert abs(frequency(EPSILON_GREEDY, 4, n, 20_000) - chance) <= 4 * se


def test_epsilon_greedy_plays_first_what_it_never_played() -> None:
    sure = Decay(0.0)
    for plays_0, plays_1, answer in ((0.0, 3.0, 0), (3.0, 0.0, 1), (0.0, 0.0, 1)):
        n = counters(plays_0=plays_0, plays_1=plays_1)
        assert EPSILON_GREEDY.decide(4, sure, n, 0) == answer


# Kernels.


@given(st.floats(1e-3, 1e3), st.integers(1, 300))
def test_odds_sum_against_fractions(r: float, n: int) -> None:
    ratio = Fraction(r)
    exact = (ratio**n - 1) / (ratio - 1) if ratio != 1 else Fraction(n)
    assume(exact < Fraction(10) ** 300)
    assert abs(Fraction(odds_sum(r, n)) / exact - 1) < n * 4e-16


@pytest.mark.parametrize(
    ("r", "n", "exact"), [(1.0, 50, 50.0), (0.0, 9, 1.0), (2.0, 1, 1.0), (1e9, 900, math.inf)]
)
def test_odds_sum_at_the_edges(r: float, n: int, exact: float) -> None:
    assert odds_sum(r, n) == exact


@given(problems())
def test_finish_is_right_where_the_exact_answer_says_so(problem: Problem) -> None:
    b = boundary(problem.goal, problem.p_c)
    assume(abs(problem.p_f - b) > 1e-11 * b)
    answer = finish_is_right(problem.goal, problem.p_f, 1.0, problem.p_c, 1.0 - problem.p_c)
    assert answer == (optimal_threshold(problem) == 1)


def ties() -> Iterator[tuple[int, int, int, int, int]]:
    """Whole counters whose estimates lie exactly on the boundary."""
    for goal in (2, 3, 4, 6):
        for c in range(1, 30):
            for up in range(1, c + 1):
                total = sum(Fraction(c - up, up) ** i for i in range(goal))
                for k in (1, 2, 3, 7):
                    if k * total.numerator < 10_000:
                        yield goal, k * total.denominator, k * total.numerator, up, c - up


def test_ties_go_to_finish() -> None:
    """E11. One tie less in the numerator is no tie any more."""
    wrong = []
    for goal, won, tried, up, down in ties():
        if not finish_is_right(goal, won, tried, up, down):
            wrong.append((goal, won, tried, up, down))
        assert not finish_is_right(goal, won - 1, tried, up, down)
    assert wrong == []


@pytest.mark.parametrize("goal", [2, 4, 50])
def test_estimates_at_the_ends(goal: int) -> None:
    """A3: B = 0 where nothing moved up, B = 1 where everything did, 1/G at one half."""
    assert finish_is_right(goal, 0.0, 1.0, 0.0, 7.0)
    assert not finish_is_right(goal, 0.999, 1.0, 7.0, 0.0)
    assert finish_is_right(goal, 3.0, 3.0, 7.0, 0.0)
    assert finish_is_right(goal, 1.0, float(goal), 3.5, 3.5)
    assert not finish_is_right(goal, 0.999, float(goal), 3.5, 3.5)
    assert not finish_is_right(goal, 0.0, 1.0, 1e-3, 1.0)
    # The textbook form overflows here.
    assert finish_is_right(2000, 1e-9, 1.0, 0.001, 0.999)
    assert not finish_is_right(2000, 0.0, 1.0, 0.001, 0.999)


def _gammas(shape: float, begin: int, out: Any) -> None:
    for k in range(len(out)):
        out[k] = gamma_draw(noise(begin, k), shape)


def _betas(a: float, b: float, begin: int, out: Any) -> None:
    for k in range(len(out)):
        out[k] = beta_draw(noise(begin, k), a, b)


def test_gamma_draws_have_their_law() -> None:
    run = compiled(_gammas)
    for shape in (1.0, 1.3, 5.0, 300.0, 1e5):
        out = np.zeros(20_000)
        run(shape, np.uint64(3), out)
        assert stats.kstest(out, stats.gamma(shape).cdf).pvalue > 1e-3, shape


def test_beta_draws_have_their_law() -> None:
    run = compiled(_betas)
    for a, b in ((1.0, 1.0), (1.5, 2.25), (1.0, 400.0), (900.0, 350.5), (1e5, 3e5)):
        out = np.zeros(20_000)
        run(a, b, np.uint64(4), out)
        assert stats.kstest(out, stats.beta(a, b).cdf).pvalue > 1e-3, (a, b)
        assert out.min() > 0.0
        assert out.max() < 1.0


@given(st.floats(1, 5000), st.floats(1, 5000), st.floats(-6, 6))
def test_beta_tail_against_scipy(a: float, b: float, z: float) -> None:
    law = stats.beta(a, b)
    x = float(np.clip(law.mean() + z * law.std(), 0.0, 1.0))
    assert beta_tail(a, b, x) == pytest.approx(law.sf(x), rel=1e-9, abs=1e-12)


@given(st.floats(1, 5000), st.floats(1, 5000), st.floats(1e-7, 1.0))
def test_beta_quantile_against_scipy(a: float, b: float, tail: float) -> None:
    assert beta_quantile(a, b, tail) == pytest.approx(stats.beta.isf(tail, a, b), abs=1e-10)


@given(st.floats(0, 1), st.floats(1e-6, 20))
def test_kl_upper_against_a_root_finder(mean: float, budget: float) -> None:
    def excess(q: float) -> float:
        p = np.array([mean, 1 - mean])
        return float(stats.entropy(p, [q, 1 - q])) - budget

    top = 1 - 1e-15
    assume(mean < top)
    found = kl_upper(mean, budget)
    if excess(top) <= 0:
        assert found > 1 - 1e-11
    else:
        assert found == pytest.approx(optimize.brentq(excess, max(mean, 1e-300), top), abs=1e-10)
    assert kl_upper(1.0, budget) == 1.0


# What the paper and the textbooks say of each.


@given(st.lists(st.booleans(), min_size=30, max_size=60))
def test_explore_then_commit_never_changes_its_mind(wins: list[bool]) -> None:
    n, chosen = opening(0.5, 0.5), []
    for won in wins:
        chosen.append(explore_then_commit(4, Exploration(5.0), n, 0))
        n = settle(n, chosen[-1], Outcome(int(won), 0, 1, int(won)))
    assert chosen[:10] == [0] * 5 + [1] * 5
    assert chosen[10] == (sum(wins[5:10]) >= sum(wins[:5]))
    assert len(set(chosen[10:])) == 1


def test_explore_then_commit_tries_both_whatever_its_number() -> None:
    n, chosen = opening(0.5, 0.5), []
    for _ in range(12):
        chosen.append(explore_then_commit(4, Exploration(2.5), n, 0))
        n = settle(n, chosen[-1], Outcome(0, 0, 1, 0))
    assert set(chosen) == {0, 1}


@pytest.mark.parametrize("name", ["ucb-polselection", "kl-ucb", "bayes-ucb"])
@given(won=st.booleans(), key=st.integers(0, 2**64 - 1))
def test_each_policy_is_first_played_once(name: str, won: bool, key: int) -> None:
    """A1: threshold 0, then 1, whatever happens."""
    learner = find_learner(name, FIGURE_4)
    n = opening(0.9, 0.1)
    for expected in (0, 1):
        assert learner.choose(4, n, key) == expected  # type: ignore[arg-type]
        n = settle(n, expected, Outcome(int(won), 0, 1, int(won)))


@given(st.floats(0, 1), st.floats(0, 1), st.integers(2, 50), st.floats(0, 1e9))
def test_round_1_is_never_forced(f_goal: float, c_up: float, goal: int, gamma: float) -> None:
    """A2: log 1 = 0."""
    answer = getbe_sm(goal, Control(gamma), opening(f_goal, c_up), 0)
    assert answer in (0, 1)
    assert answer == NO_EXPLORE.decide(goal, NO_EXPLORE.constants, opening(f_goal, c_up), 0)


def test_the_test_of_the_control_function_is_strict() -> None:
    """A2: N_F < D(rho), so equality is enough."""
    n = counters(rho=8, f=6.0, f_goal=0.0, c=9.0, c_up=6.0)
    exact = 6.0 / math.log(8)
    assert exact * math.log(8) == 6.0
    assert getbe_sm(4, Control(exact), n, 0) == 0
    assert getbe_sm(4, Control(exact * (1 + 1e-12)), n, 0) == 3
    assert getbe_sm(4, Control(exact * (1 - 1e-12)), n, 0) == 0


@pytest.mark.parametrize("gamma", [0.5, 2.0, 15.0])
@pytest.mark.parametrize("problem", [FIGURE_3, FIGURE_4], ids=["figure 3", "figure 4"])
def test_forced_explorations_never_exceed_the_control_function(
    gamma: float, problem: Problem
) -> None:
    learner = Learner("sm", getbe_sm, Control(gamma))
    looks = [1, 2, 3, 5, 10, 30, 100, 300, 1000, 2000]
    (block,) = decisions(problem, learner, looks, 200, 2)
    forced = block.played[:, :, learner.arms(4).index(3)]
    most = np.array([math.ceil(gamma * math.log(look)) for look in looks])
    assert (forced <= most).all()
    assert (forced[:, 0] == 0).all()
    assert forced.max() > 0


# Compiled and interpreted, one definition.


def drawn_counters(rng: np.random.Generator) -> Counters:
    rho = int(10 ** rng.uniform(0, 6))
    f, c = 1.0 + int(rng.integers(0, rho)), 1.0 + int(rng.integers(0, 3 * rho))
    plays_0 = int(rng.integers(0, rho))
    plays_1 = int(rng.integers(0, rho - plays_0))
    share = rng.choice([0.0, 1.0, -1.0, -1.0, -1.0], size=4)
    share = np.where(share < 0, rng.random(4), share).tolist()
    return Counters(
        rho, f, f * share[0], c, c * share[1],
        float(plays_0), float(int(plays_0 * share[2])),
        float(plays_1), float(int(plays_1 * share[3])),
    )  # fmt: skip


@pytest.mark.parametrize("learner", BUILT_IN, ids=lambda learner: learner.name)
def test_compiled_and_interpreted_decide_the_same(learner: Learner) -> None:
    rng = np.random.default_rng(1)
    decide = compiled_decide(learner.decide)
    count = 300 if learner.name == "bayes-ucb" else 3000
    seen = set()
    for _ in range(count):
        n, goal = drawn_counters(rng), int(rng.choice([4, 5, 7, 50]))
        key = int(rng.integers(0, 2**64, dtype=np.uint64))
        answer = learner.decide(goal, learner.constants, n, key)
        assert decide(goal, learner.constants, n, np.uint64(key)) == answer, (goal, n, key)
        assert answer in learner.arms(goal)
        seen.add(answer)
    assert len(seen) > 1 or len(learner.thresholds) == 1


# The table.


def test_the_table_of_learners() -> None:
    assert list(LEARNERS)[:6] == [
        "getbe-sm", "getbe-ps", "getbe-ucb", "ps-polselection", "ucb-polselection", "no-explore",
    ]  # fmt: skip
    others = {
        "ucb1-policies", "explore-then-commit", "epsilon-greedy", "kl-ucb", "bayes-ucb", "oracle",
    }  # fmt: skip
    assert set(LEARNERS) == {*list(LEARNERS)[:6], *others}
    for name in LEARNERS:
        learner = find_learner(name, FIGURE_4)
        assert learner.name == name
        assert 10 < len(learner.line) < 80
        assert "\n" not in learner.line
        assert learner.reference or name == "oracle"
    lines = [find_learner(name, FIGURE_4).line for name in LEARNERS]
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(("problem", "best"), [(FIGURE_3, 1), (FIGURE_4, 0)])
def test_the_oracle_and_fixed_thresholds_play_what_they_say(problem: Problem, best: int) -> None:
    for name, threshold in (("oracle", best), ("threshold-2", 2), ("threshold-0", 0)):
        learner = find_learner(name, problem)
        assert isinstance(learner, Learner)
        assert learner.thresholds == (threshold,)
        assert learner.choose(4, opening(0.2, 0.9), 1) == threshold


def test_a_learner_finds_itself() -> None:
    assert find_learner(SAMPLE_MEAN, FIGURE_3) is SAMPLE_MEAN


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("getbe", "learner 'getbe' was asked for; there is getbe-sm, getbe-ps"),
        ("GETBE-SM", "learner 'GETBE-SM' was asked for"),
        ("", "learner '' was asked for"),
        ("threshold-", "learner 'threshold-' was asked for"),
        ("threshold--1", "learner 'threshold--1' was asked for"),
        ("threshold-1.5", "learner 'threshold-1.5' was asked for"),
        ("my-threshold-1", "learner 'my-threshold-1' was asked for"),
        ("threshold-4", "threshold = 4 was given; it must be a whole number from 0 to 3"),
        (3, "3"),
        (None, "None"),
    ],
)
def test_unknown_learners_are_refused(given: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refusal:
        find_learner(given, FIGURE_3)
    assert "\n" not in str(refusal.value)


def test_too_many_policies_are_refused() -> None:
    with pytest.raises(
        TooLarge, match=r"goal of 12; it tries all 2\^\(goal-1\) policies"
    ) as refusal:
        find_learner("ucb1-policies", Problem(12, 0.5, 0.5))
    assert isinstance(refusal.value, GrbpError)
