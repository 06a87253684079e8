"""Indices of KL-UCB and Bayes-UCB: compared as if both were computed, by halving or exactly."""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import optimize, stats

from grbp.learners.base import Learner, NoConstants, Stable
from grbp.learners.bayes_ucb import (
    BAYES_UCB,
    beta_arm,
    beyond_exactly,
    beyond_roughly,
)
from grbp.learners.checks import check_learner
from grbp.learners.counters import Counters
from grbp.learners.index_comparison import Arm, beta_guess, candidate_at
from grbp.learners.policy_bandits import KL_UCB, kl_arm, kl_exactly, kl_roughly
from grbp.numerics.beta import beta_evidence, beta_tail
from grbp.numerics.jit import compile_function, kernel
from grbp.numerics.special import bernoulli_divergence

NONE = NoConstants()
HALVINGS = 60
ACCURACY = 1e-12
"""Of an index by halving, which knows values but not how much they are short of 1."""

INDICES = pytest.mark.parametrize("learner", [KL_UCB, BAYES_UCB], ids=lambda one: one.name)


@kernel
def kl_upper(n: Counters, threshold: int) -> float:
    """The largest q with kl(mean, q) <= log(plays)/n, by halving."""
    wins, own = (n.wins_1, n.plays_1) if threshold == 1 else (n.wins_0, n.plays_0)
    mean, budget = wins / own, math.log(n.plays_0 + n.plays_1) / own
    low, high = mean, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if 0.0 < middle < 1.0 and bernoulli_divergence(mean, middle) <= budget:
            low = middle
        else:
            high = middle
    return low


@kernel
def beta_quantile(n: Counters, threshold: int) -> float:
    """What the posterior of a value exceeds with probability 1/rho, by halving."""
    wins, own = (n.wins_1, n.plays_1) if threshold == 1 else (n.wins_0, n.plays_0)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if beta_tail(1.0 + wins, 1.0 + own - wins, middle) > 1.0 / n.rho:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


INDEX: dict[str, Callable[[Counters, int], float]] = {
    "kl-ucb": kl_upper, "bayes-ucb": beta_quantile
}  # fmt: skip


def claim_of(learner: Learner) -> Stable:
    assert learner.stable is not None
    return learner.stable


def asking(learner: Learner) -> Callable[..., None]:
    """What writes down both indices by halving, and the decision, for rows of counters."""
    decide, index = learner.decide, INDEX[learner.name]

    def ask(rows: Any, out: Any) -> None:
        for k in range(len(rows)):
            r = rows[k]
            plays = r[0] + r[2]
            n = Counters(int(plays) + 1, 1.0, 0.5, 1.0, 0.5, r[0], r[1], r[2], r[3])
            out[k, 0], out[k, 1] = index(n, 0), index(n, 1)
            out[k, 2] = decide(4, NONE, n, 0)

    return compile_function(ask)


def rows_of(count: int, most: float, seed: int) -> Any:
    """Rounds played and won with 0 and with 1: of all sizes, often alike, often all or none."""
    rng = np.random.default_rng(seed)
    plays = np.floor(most ** rng.random((count, 2)))
    alike = rng.random(count) < 0.3
    plays[alike, 1] = np.maximum(1.0, plays[alike, 0] + rng.integers(-2, 3, alike.sum()))
    share = rng.random((count, 2))
    share[:, 1] = np.where(rng.random(count) < 0.5, share[:, 0], share[:, 1])
    edge = rng.random((count, 2))
    wins = np.floor(plays * share + rng.random((count, 2)))
    few = np.minimum(plays, rng.integers(0, 4, (count, 2)))
    wins = np.where(edge < 0.15, few, np.where(edge > 0.85, plays - few, np.minimum(wins, plays)))
    return np.column_stack([plays[:, 0], wins[:, 0], plays[:, 1], wins[:, 1]])


@pytest.mark.slow
@INDICES
@pytest.mark.parametrize("most", [6.0, 50.0, 1e4, 1e8])
def test_decisions_are_those_of_indices_by_halving(learner: Learner, most: float) -> None:
    rows = rows_of(20_000 if learner is KL_UCB else 4_000, most, seed=int(most))
    out = np.zeros((len(rows), 3))
    asking(learner)(rows, out)
    apart = np.abs(out[:, 1] - out[:, 0]) > ACCURACY
    assert apart.mean() > 0.5
    np.testing.assert_array_equal(out[apart, 2], (out[:, 1] > out[:, 0])[apart])
    same = (rows[:, 0] == rows[:, 2]) & (rows[:, 1] == rows[:, 3])
    assert same.sum() > 10 or most > 1e6
    assert (out[same, 2] == 1).all()


@INDICES
@pytest.mark.parametrize(
    ("row", "answer"),
    [
        ((1, 1, 1, 1), 1),
        ((1, 0, 1, 0), 1),
        ((7, 3, 7, 3), 1),
        ((1e12, 4e11, 1e12, 4e11), 1),
        ((1e12, 4e11 + 1, 1e12, 4e11), 0),
        ((1e12, 4e11, 1e12, 4e11 + 1), 1),
        ((9, 0, 8, 0), 1),
        ((8, 0, 9, 0), 0),
        ((1e6, 0, 1e6 + 1, 0), 0),
        ((10, 10, 10, 9), 0),
        ((10, 9, 10, 10), 1),
        # Values so near to 1 that halving takes them for the same.
        ((1e9, 1e9 - 1, 1e8, 1e8 - 1), 0),
        ((1e8, 1e8 - 1, 1e9, 1e9 - 1), 1),
    ],
)
def test_decisions_at_the_edges(
    learner: Learner, row: tuple[float, float, float, float], answer: int
) -> None:
    assert learner.choose(4, counters(*row), 0) == answer


def counters(plays_0: float, wins_0: float, plays_1: float, wins_1: float) -> Counters:
    """Counters after so many rounds."""
    rho = int(plays_0 + plays_1) + 1
    return Counters(rho, 1.0, 0.5, 1.0, 0.5, plays_0, wins_0, plays_1, wins_1)


@pytest.mark.parametrize(("won_0", "won_1"), [(1.0, 5.0), (5.0, 1.0), (1e12, 3.0)])
def test_kl_ucb_takes_two_that_always_won_for_equal(won_0: float, won_1: float) -> None:
    """Both may be worth 1. Bayes-UCB trusts the one that won more often."""
    n = counters(won_0, won_0, won_1, won_1)
    assert KL_UCB.decide(4, NONE, n, 0) == 1
    assert BAYES_UCB.decide(4, NONE, n, 0) == (won_1 > won_0)


def near_ties(count: int, most: float, seed: int) -> Any:
    """Counters that have nearly the same indices of KL-UCB."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        plays_0, plays_1 = (math.floor(most ** rng.uniform(0.3, 1.0)) for _ in range(2))
        wins_0 = int(rng.integers(0, plays_0))
        n = counters(plays_0, wins_0, plays_1, 0.0)
        q, log = kl_upper(n, 0), math.log(plays_0 + plays_1)
        low = optimize.brentq(
            lambda p, q=q, log=log, own=plays_1: own * float(bernoulli_divergence(p, q)) - log,
            0.0, q,
        ) if -plays_1 * math.log1p(-q) > log else 0.0  # fmt: skip
        for wins_1 in {math.floor(low * plays_1), math.ceil(low * plays_1)}:
            yield plays_0, wins_0, plays_1, wins_1


@pytest.mark.slow
@pytest.mark.parametrize("most", [30.0, 1e4, 1e9, 1e13])
def test_kl_ucb_next_to_ties_against_many_digits(most: float) -> None:
    with mpmath.workdps(50):
        for row in near_ties(60, most, seed=1):
            answer = KL_UCB.decide(4, NONE, counters(*row), 0)
            assert answer == (exact_excess(*row) <= 0), row


def exact_excess(plays_0: int, wins_0: int, plays_1: int, wins_1: int) -> Any:
    """plays kl(mean, .) of 1 at the index of 0, less the budget."""
    log = mpmath.log(plays_0 + plays_1)

    def excess(plays: int, wins: int, q: Any) -> Any:
        p = mpmath.mpf(wins) / plays
        if q <= p:
            return -log
        first = wins * mpmath.log(p / q) if wins else 0
        return first + (plays - wins) * mpmath.log((1 - p) / (1 - q)) - log

    low, high = mpmath.mpf(wins_0) / plays_0, mpmath.mpf(1)
    for _ in range(150):
        middle = (low + high) / 2
        if excess(plays_0, wins_0, middle) <= 0:
            low = middle
        else:
            high = middle
    return excess(plays_1, wins_1, low)


@pytest.mark.slow
@pytest.mark.parametrize("most", [12, 60, 400])
def test_bayes_ucb_next_to_ties_against_many_digits(most: int) -> None:
    rng = np.random.default_rng(most)
    with mpmath.workdps(40):
        for _ in range(12):
            plays_0, plays_1 = (int(k) for k in rng.integers(1, most, 2))
            wins_0, tail = (
                int(rng.integers(0, plays_0 + 1)),
                mpmath.mpf(1) / (plays_0 + plays_1 + 1),
            )
            q = exact_quantile(plays_0, wins_0, tail)
            beyond = [exact_tail(plays_1, wins, q) for wins in range(plays_1 + 1)]
            wins_1 = int(np.argmin([abs(float(mpmath.log(one / tail))) for one in beyond]))
            for wins in {max(0, wins_1 - 1), wins_1, min(plays_1, wins_1 + 1)}:
                n = counters(plays_0, wins_0, plays_1, wins)
                same = (plays_0, wins_0) == (plays_1, wins)
                assert BAYES_UCB.decide(4, NONE, n, 0) == (same or beyond[wins] > tail), n


def exact_tail(plays: int, wins: int, q: Any) -> Any:
    """What Beta(1 + wins, 1 + lost) has beyond q: at most so many wins in one round more."""
    n, odds = plays + 1, q / (1 - q)
    term = total = (1 - q) ** n
    for k in range(wins):
        term = term * odds * (n - k) / (k + 1)
        total += term
    return total


def exact_quantile(plays: int, wins: int, tail: Any) -> Any:
    low, high = mpmath.mpf(0), mpmath.mpf(1)
    for _ in range(110):
        middle = (low + high) / 2
        if exact_tail(plays, wins, middle) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# What they are made of.


COUNTS = st.floats(0, 15).map(lambda e: float(math.floor(10**e)) - 1.0)


@given(COUNTS, COUNTS.map(lambda lost: lost + 1.0), st.floats(0.7, 40))
def test_kl_evidence_roughly_and_exactly_at_the_index(
    wins: float, lost: float, budget: float
) -> None:
    """Within what a comparison allows for, and near the place where it starts."""
    arm = kl_arm(wins, lost, budget)
    here = candidate_at(arm.near)
    rough, exact = kl_roughly(arm, here), kl_exactly(arm, here)
    assert rough.slope == exact.slope
    size = max(1.0, exact.amount / budget)
    assert abs(rough.amount - exact.amount) <= 0.3 * size * rough.care


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.floats(1e-3, 30))
def test_kl_evidence_against_entropy(wins: int, lost: int, s: float) -> None:
    plays, here = wins + lost, candidate_at(s)
    mean = wins / plays
    seen = kl_exactly(Arm(wins, lost, 1.0, 1.0, 0.0), here)
    if here.value <= mean:
        assert seen.amount == 0.0
        return
    divergence = stats.entropy([mean, 1 - mean], [here.value, here.rest])
    assert seen.amount == pytest.approx(plays * divergence, rel=1e-6, abs=1e-9 * plays)


@given(COUNTS, COUNTS, st.floats(1.1, 40))
def test_beta_evidence_roughly_and_exactly(wins: float, lost: float, budget: float) -> None:
    arm = beta_arm(wins, lost, max(budget, math.log(1.0 + wins + lost)))
    here = candidate_at(arm.near)
    rough, exact = beyond_roughly(arm, here), beyond_exactly(arm, here)
    assert rough.amount == pytest.approx(exact.amount, abs=1e-5)
    assert rough.slope == pytest.approx(exact.slope, rel=1e-5)


@given(st.floats(1, 5000), st.floats(1, 5000), st.floats(-3, 8))
def test_beta_evidence_against_scipy(a: float, b: float, z: float) -> None:
    here = candidate_at(max(1e-9, beta_guess(a, b, 0.0) + z * math.sqrt(a / b / (a + b))))
    amount, slope = beta_evidence(a, b, here.value, here.rest, 1e-15)
    law = stats.beta(a, b)
    tail = float(law.sf(here.value))
    if b * here.value <= a * here.rest:
        assert amount == slope == 0.0
        assert tail >= math.exp(-1.0) - 1e-9
    elif tail > 1e-200 and here.rest > 1e-5:
        assert amount == pytest.approx(-math.log(tail), rel=1e-8, abs=1e-9)
        assert slope == pytest.approx(law.pdf(here.value) * here.rest / tail, rel=1e-7, abs=1e-9)


@given(st.floats(2, 5000), st.floats(2, 5000), st.floats(0.0, 5.0))
def test_the_guess_is_near(a: float, b: float, z: float) -> None:
    """Within a third of a standard deviation, as normal variables go."""
    value = -math.expm1(-beta_guess(a, b, z))
    assert stats.norm.isf(stats.beta.sf(value, a, b)) == pytest.approx(z, abs=0.34)


# What they claim.


@pytest.mark.slow
@INDICES
def test_claims_over_boxes_are_right(learner: Learner) -> None:
    assert check_learner(learner, seed=2) == []


@INDICES
def test_claims_are_made_where_an_arm_dominates(learner: Learner) -> None:
    """And not where the box reaches the other side, or a policy was never played."""
    stable = claim_of(learner)
    low = counters(1000.0, 700.0, 300.0, 60.0)
    for more, sure in ((0.0, True), (50.0, True), (1e5, False)):
        high = low._replace(
            rho=low.rho + int(more), plays_0=1000.0 + more, wins_0=700.0 + 0.7 * more
        )
        assert stable(4, NONE, low, high) == sure
        mirrored = [n._replace(plays_0=n.plays_1, wins_0=n.wins_1, plays_1=n.plays_0,
                               wins_1=n.wins_0) for n in (low, high)]  # fmt: skip
        assert stable(4, NONE, *mirrored) == sure
    never = counters(3.0, 1.0, 0.0, 0.0)
    assert not stable(4, NONE, never, never)


@pytest.mark.slow
@INDICES
def test_a_claim_is_right_as_far_as_it_goes(learner: Learner) -> None:
    """At every corner of about the largest box that is claimed, in its first and last round."""
    stable, rng, claimed = claim_of(learner), np.random.default_rng(5), 0
    for row in rows_of(400, 1e5, seed=9):
        low, more = counters(*row), rng.random(4) * (rng.random(4) < 0.7)
        sizes = [0.8**k * 1e6 for k in range(62)]
        found = [size for size in sizes if stable(4, NONE, low, grown(low, size * more))][:1]
        for size in found:
            claimed += 1
            last = grown(low, size * more).rho
            corners = [grown(low, np.floor(size * more) * ends) for ends in np.ndindex(2, 2, 2, 2)]
            answers = {
                learner.choose(4, n._replace(rho=rho), 0)
                for n in corners
                for rho in (low.rho, n.rho, last)
            }
            assert len(answers) == 1, (low, size * more)
    assert claimed > 100


def grown(n: Counters, more: Any) -> Counters:
    """Counters after so many rounds more won and lost with 0 and with 1."""
    won_0, lost_0, won_1, lost_1 = (float(one) for one in more)
    return n._replace(
        rho=n.rho + math.ceil(sum(more)), plays_0=n.plays_0 + won_0 + lost_0,
        wins_0=n.wins_0 + won_0, plays_1=n.plays_1 + won_1 + lost_1, wins_1=n.wins_1 + won_1,
    )  # fmt: skip
