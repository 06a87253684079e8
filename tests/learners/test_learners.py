"""The learners: against enumeration of all histories; compiled and interpreted."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from runs import BUILT_IN
from scipy import stats

from grbp import Problem
from grbp.engine.decisions import decisions
from grbp.engine.recorder import StepLaw
from grbp.engine.walk import Starts
from grbp.experiments.regret import gap_per_threshold
from grbp.learners.base import Learner
from grbp.learners.counters import Counters, Round, Totals, add_to, initial_counters, play, settle
from grbp.learners.getbe import NO_EXPLORE, SAMPLE_MEAN, UPPER_CONFIDENCE, Control, getbe_sm
from grbp.learners.policy_bandits import UCB_POLSELECTION
from grbp.learners.ucb1_policies import PolicyLearner
from grbp.numerics.jit import compile_function
from grbp.numerics.rng import fold_in, uniform
from grbp.worlds.transition import first_state

ROUNDS = 5


# Exact enumeration. The counters only ever have something added to them, so a history is the
# sum of what its rounds added: equal sums are merged, and their probabilities are added.

Law = dict[Round, float]


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
                add(law, Round(0, 1, 1, c, up), mass * problem.p_f)
                add(law, Round(0, 0, 1, c, up), mass * (1.0 - problem.p_f))
            elif state == problem.goal:
                add(law, Round(0, 1, 0, c, up), mass)
            elif state == 0:
                add(law, Round(0, 0, 0, c, up), mass)
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
    after: Callable[[Counters, int, Round], Counters],
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


def added(n: Counters, threshold: int, outcome: Round) -> Counters:
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


@pytest.mark.sample("*-goal 3")
@pytest.mark.slow
@pytest.mark.parametrize("problem", ENUMERATED, ids=["goal 3", "goal 4", "goal 2"])
@each_deterministic
def test_first_five_rounds_against_all_histories(
    learner: Learner, printed: Printed, gamma: float, problem: Problem
) -> None:
    """The kernels, driven by the enumeration, against the printed rules in fractions."""
    choices = learner.choices(problem.goal)
    cost = dict(zip(choices, gap_per_threshold(problem, learner).tolist(), strict=True))
    for begin in OPENINGS:
        n = initial_counters(*begin)
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
    cost = gap_per_threshold(problem, learner)
    for seed, begin in enumerate(OPENINGS):
        exact = enumerated(
            problem,
            initial_counters(*begin),
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
            initial_counters(f_goal, c_up),
            lambda n: printed_getbe_sm(problem, n, 15.0),
            gaps(problem),
            added,
        )
    blocks = decisions(
        problem, SAMPLE_MEAN, range(1, ROUNDS + 1), replicas, 9, initial_estimates="once"
    )
    played = np.concatenate([block.played for block in blocks])
    regret = np.diff(played, axis=1, prepend=0) @ gap_per_threshold(problem, SAMPLE_MEAN)
    se = regret.std(axis=0, ddof=1) / math.sqrt(replicas)
    assert (np.abs(regret.mean(axis=0) - exact) <= 4 * se + 1e-9).all()


def test_ucb1_over_all_policies_against_all_histories() -> None:
    """Four policies are played once each; the fifth round goes to the largest index."""
    problem = ENUMERATED[0]
    learner = PolicyLearner(problem.goal)
    gap = gap_per_threshold(problem, learner)
    # FINISH everywhere has the gap V* - p_f, which says what V* is.
    value = gaps(problem)[2] + problem.p_f - gap
    expected, printed = 0.0, 0.0
    for wins in np.ndindex(2, 2, 2, 2):
        mass = float(np.prod([v if w else 1 - v for v, w in zip(value, wins, strict=True)]))
        memory = learner.initial_counters(problem.goal, 0.0, 0.0)
        for policy, w in enumerate(wins):
            assert learner.choose(problem.goal, memory, 0) == policy
            memory = learner.settle(memory, policy, Round(0, w, 0, 0, 0))
        expected += mass * float(gap[learner.choose(problem.goal, memory, 0)])
        printed += mass * float(gap[wins.index(max(wins))])
    assert expected == pytest.approx(printed, abs=1e-12)
    blocks = list(decisions(problem, learner, range(1, 6), 12_000, 1))
    regret = np.diff(np.concatenate([b.played for b in blocks]), axis=1, prepend=0) @ gap
    np.testing.assert_allclose(regret[:, :4], np.tile(gap, (12_000, 1)))
    assert abs(regret[:, 4].mean() - expected) <= 4 * regret[:, 4].std() / math.sqrt(12_000)


# The walk of a round.


def walked(problem: Problem, threshold: int, count: int) -> NDArray[np.int64]:
    """The outcomes of many rounds, compiled: [round, field]."""
    out = np.zeros((count, 4), dtype=np.int64)
    world = StepLaw(problem.goal, problem.p_c, problem.p_f)
    compile_function(_walk)(world, problem.start_table, threshold, np.uint64(77), out)
    return out


def _walk(world: StepLaw, starts: Starts, threshold: int, begin: int, out: Any) -> None:
    for k in range(len(out)):
        key = fold_in(fold_in(begin, threshold), k)
        first = first_state(starts[0], starts[1], uniform(key, 0))
        outcome = play(world.goal, world.p_c, world.p_f, threshold, first, key)
        _, out[k, 0], out[k, 1], out[k, 2], out[k, 3] = outcome


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0, 1, 2])
def test_the_joint_law_of_a_round(threshold: int) -> None:
    problem, count = ENUMERATED[0], 60_000
    law = round_law(problem, threshold)
    assert math.fsum(law.values()) == pytest.approx(1.0, abs=1e-12)
    seen: dict[Round, float] = {}
    for row in walked(problem, threshold, count).tolist():
        add(seen, Round(0, *row), 1.0)
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


@given(st.integers(0, 3), st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=20))
def test_rounds_added_up_count_as_rounds_settled(
    threshold: int, rounds: list[tuple[bool, int]]
) -> None:
    begin = initial_counters(0.25, 0.75)
    outcomes = [Round(0, int(won), c % 2, c, c // 2) for won, c in rounds]
    settled = reduce(lambda n, outcome: settle(n, threshold, outcome), outcomes, begin)
    total = Totals(
        len(outcomes),
        sum(one.won for one in outcomes),
        sum(one.f for one in outcomes),
        sum(one.f * one.won for one in outcomes),
        sum(one.c for one in outcomes),
        sum(one.c_up for one in outcomes),
    )
    assert add_to(begin, threshold, total) == settled


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


@pytest.mark.slow
@pytest.mark.parametrize("learner", BUILT_IN, ids=lambda learner: learner.name)
def test_compiled_and_interpreted_decide_the_same(learner: Learner) -> None:
    rng = np.random.default_rng(1)
    decide = compile_function(learner.decide)
    count = 300 if learner.name == "bayes-ucb" else 3000
    seen = set()
    for _ in range(count):
        n, goal = drawn_counters(rng), int(rng.choice([4, 5, 7, 50]))
        key = int(rng.integers(0, 2**64, dtype=np.uint64))
        answer = learner.decide(goal, learner.constants, n, key)
        assert decide(goal, learner.constants, n, np.uint64(key)) == answer, (goal, n, key)
        assert answer in learner.choices(goal)
        seen.add(answer)
    assert len(seen) > 1 or len(learner.thresholds) == 1
