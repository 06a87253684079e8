"""Learners by state: each decides as a twin in plain Python does, and as its rule promises."""

import math

import numpy as np
import pytest

import grbp
from grbp.learners.averaged_states import believe, chance_above, weigh_own
from grbp.learners.best_policy import law_of_means
from grbp.learners.doorstep_optimal import rounds_to_come
from grbp.learners.kl_ucb_states import largest_chance
from grbp.learners.optimal_stopping import stopping_evidence
from grbp.learners.psrl import draw_law
from grbp.learners.state_counters import StateCounters
from grbp.numerics.arrays import Floats
from grbp.numerics.rng import fold_in
from grbp.numerics.special import bernoulli_divergence

NAMES = sorted(grbp.STATE_LEARNERS)


def draw_counters(goal: int, seed: int, most: float = 40.0) -> StateCounters:
    """Draw counters, some of them zero, and some states much like others."""
    random = np.random.default_rng((goal, seed))
    counts = np.floor(random.random((4, goal - 1)) ** 2 * most)
    if seed % 2:
        taken = np.floor(random.random((2, goal - 1)) * 3 * most)
        counts[[0, 2]] = random.binomial(taken.astype(int), [[0.6], [0.2]])
        counts[[1, 3]] = taken - counts[[0, 2]]
    rho = 1 + int(counts.sum() * random.random())
    up, down, won, lost = counts
    return StateCounters(rho, up, down, won, lost, np.zeros((0, 0)))


def known_counters(up: Floats, p_f: Floats, each: float = 1e9) -> StateCounters:
    """Return the counters of somebody who knows all chances."""
    down, lost = 1.0 - up, 1.0 - p_f
    return StateCounters(10**6, each * up, each * down, each * p_f, each * lost, np.zeros((0, 0)))


def chain_of(up: Floats, p_f: Floats) -> grbp.dynprog.Chain:
    """Return the chain of some chances."""
    return grbp.dynprog.Chain(len(up) + 1, grbp.dynprog.Move(up, 1.0 - up), p_f)


def as_number(actions: list[int]) -> int:
    """Return a policy as learners do."""
    return sum(int(action) << k for k, action in enumerate(actions))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("goal", [2, 3, 6, 20])
def test_who_knows_everything_plays_the_best_policy(name: str, goal: int) -> None:
    random = np.random.default_rng(goal)
    for _ in range(5):
        up, p_f = random.uniform(0.2, 0.8, (2, goal - 1))
        best = grbp.dynprog.solve(chain_of(up, p_f)).action.tolist()
        policy = grbp.STATE_LEARNERS[name].choose(goal, known_counters(up, p_f), 1)
        assert policy == as_number(best)


@pytest.mark.parametrize("name", ["averaged-states", "kl-ucb-states"])
@pytest.mark.parametrize("goal", [2, 3, 6])
def test_jumps_that_never_came_change_nothing(name: str, goal: int) -> None:
    learner = grbp.STATE_LEARNERS[name]
    for seed in range(20):
        n = draw_counters(goal, seed)
        jumps = np.zeros((goal - 1, goal + 1))
        assert learner.choose(goal, n, 1) == learner.choose(goal, n._replace(jumps=jumps), 1)


def test_psrl_draws_jumps_as_often_as_they_were_seen() -> None:
    """From their Dirichlet posterior: its means are the counts, with a prior for steps alone."""
    n = grbp.empty_state_counters(4, jumps=True)
    n.up[:], n.down[:], n.jumps[0, 3], n.jumps[0, 4] = 4.0, 2.0, 3.0, 1.0
    up, drawn = np.array([0.75, 0.5, 0.5]), np.zeros((3, 5))
    for key in range(2000):
        drawn += draw_law(n, up, 1.0, fold_in(7, key)) / 2000
    shares = np.array([8.0 * 0.25, 0.0, 8.0 * 0.75, 3.0, 1.0]) / 12.0
    np.testing.assert_allclose(drawn[0], shares, atol=0.012)


@pytest.mark.parametrize("name", NAMES)
def test_jumps_are_reckoned_with(name: str) -> None:
    up, p_f = np.array([0.5, 0.5, 0.5]), np.array([0.5, 0.6, 0.7])
    n, jumps = known_counters(up, p_f), np.zeros((3, 5))
    learner = grbp.STATE_LEARNERS[name]
    assert learner.choose(4, n._replace(jumps=jumps), 1) == 0b001
    jumps[0, 4] = 8e9  # Most moves from state 1 go straight to the goal.
    assert learner.choose(4, n._replace(jumps=jumps), 1) == 0b000
    jumps[:] = 0.0
    jumps[:, 0] = 8e9  # Most moves go straight to the dead end.
    jumps[0, 0] = 0.0  # (From state 1, that is a move down.)
    assert learner.choose(4, n._replace(jumps=jumps), 1) == 0b111


@pytest.mark.parametrize("prior", [1e-3, 0.1, 0.4])
def test_psrl_takes_any_prior_above_zero(prior: float) -> None:
    psrl = grbp.find_learner(f"psrl:prior={prior}", 4)
    assert isinstance(psrl, grbp.StateLearner)
    nothing, jumping = (grbp.empty_state_counters(4, jumps=jumps) for jumps in (False, True))
    for n in (nothing, jumping):
        assert len({psrl.choose(4, n, key) for key in range(300)}) > 3
    law = draw_law(jumping, np.array([0.2, 0.5, 0.9]), prior, 5)
    np.testing.assert_allclose(law.sum(axis=1), 1.0)


def test_a_law_of_means_is_a_law() -> None:
    n = draw_counters(5, 1)
    jumps = np.floor(np.random.default_rng(1).random((4, 6)) * 9)
    law = law_of_means(n._replace(jumps=jumps), np.full(4, 0.3))
    np.testing.assert_allclose(law.sum(axis=1), 1.0, rtol=1e-14)
    assert law_of_means(n, np.full(4, 0.3)).shape == (0, 0)


# Optimism.


def test_the_largest_chance_is_where_the_evidence_ends() -> None:
    for won, lost in [(0, 1), (0, 50), (1, 1), (3, 400), (400, 3), (1e8, 1e8)]:
        n, last = won + lost, won / (won + lost)
        for budget in (1e-3, 0.5, 3.0, 10.0, 50.0):
            q = largest_chance(float(won), float(lost), budget)
            assert last < q <= 1.0 or q == 1.0
            if q < 1.0 - 1e-12:
                assert n * bernoulli_divergence(won / n, q) == pytest.approx(budget, rel=1e-5)
            last = q
    assert largest_chance(0.0, 0.0, 1.0) == largest_chance(7.0, 0.0, 1.0) == 1.0
    assert largest_chance(3.0, 5.0, 0.0) == pytest.approx(3 / 8)


def test_optimism_tries_finish_first() -> None:
    assert grbp.STATE_LEARNERS["kl-ucb-states"].choose(5, grbp.empty_state_counters(5), 0) == 0b1111


# The averaged one.


def test_what_is_its_own_does_not_depend_on_the_order_of_states() -> None:
    n, order = draw_counters(7, 3), np.array([3, 0, 5, 1, 4, 2])
    own = weigh_own(n.up, n.down, 1.0, 2.0)
    np.testing.assert_allclose(weigh_own(n.up[order], n.down[order], 1.0, 2.0), own[order])
    np.testing.assert_allclose(weigh_own(n.down, n.up, 1.0, 2.0), own)


def test_a_state_unlike_the_others_is_its_own() -> None:
    own = weigh_own(np.array([30.0, 30, 90, 30]), np.array([70.0, 70, 10, 70]), 1.0, 1.0)
    assert own[2] == max(own) > 0.999
    assert max(weigh_own(np.full(4, 300.0), np.full(4, 700.0), 1.0, 1.0)) < 0.05


def test_with_no_outcomes_it_is_as_the_prior_says() -> None:
    np.testing.assert_allclose(weigh_own(np.zeros(3), np.zeros(3), 1.0, 3.0), 0.25)


def test_with_one_model_certain_it_believes_that_model() -> None:
    n = draw_counters(6, 3)
    one, each = believe(n.up, n.down, 1e-300, 1.0), believe(n.up, n.down, 1e300, 1.0)
    won, lost = n.up.sum(), n.down.sum()
    np.testing.assert_allclose(one.mean, (won + 1.0) / (won + lost + 2.0))
    np.testing.assert_allclose(each.mean, (n.up + 1.0) / (n.up + n.down + 2.0))


def test_where_all_states_are_one_only_the_sums_count() -> None:
    learner = grbp.find_learner("averaged-states:apart=1e-300", 4)
    n = draw_counters(4, 5)._replace(rho=10**6)  # So late, every state was visited as seldom.
    moved = n._replace(up=n.up[::-1].copy(), down=n.down[::-1].copy())
    spread = [np.full(3, counts.mean()) for counts in (n.up, n.down)]
    even = n._replace(up=spread[0], down=spread[1])
    assert believe(moved.up, moved.down, 1e-300, 1.0).common == pytest.approx(
        believe(even.up, even.down, 1e-300, 1.0).common
    )
    assert learner.choose(4, moved, 0) == learner.choose(4, n, 0)


def test_the_chance_above_is_a_tail() -> None:
    xs = np.linspace(0.0, 1.0, 101)
    tail = np.array([chance_above(0.3, 20.0, float(x)) for x in xs])
    assert (np.diff(tail) <= 0.0).all()
    assert (tail[0], tail[-1]) == (1.0, 0.0)
    assert chance_above(0.3, 20.0, 0.3) == 0.5


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


class Twin:
    """The averaged learner once more, in plain Python over `grbp.dynprog`."""

    def __init__(self, constants: tuple[float, ...], n: StateCounters) -> None:
        self.horizon, self.apart, self.alike, self.caution = constants
        self.n, self.count = n, len(n.up)
        self.c, self.f = self.mixtures(n.up, n.down), self.mixtures(n.won, n.lost)

    def mixtures(self, won: Floats, lost: Floats) -> list[list[tuple[float, float, float]]]:
        """Return (probability, mean, weight) of both components in every state."""
        favours = [
            math.exp(
                log_beta(1 + a, 1 + b)
                + log_beta(1 + sum(won) - a, 1 + sum(lost) - b)
                - log_beta(1 + sum(won), 1 + sum(lost))
            )
            if a + b
            else 1.0
            for a, b in zip(won, lost, strict=True)
        ]
        share = self.apart / (self.apart + self.alike)
        for _ in range(2):
            owns = [
                share * favour / (share * favour + 1 - share)
                for favour, a, b in zip(favours, won, lost, strict=True)
                if a + b
            ]
            share = (self.apart + sum(owns)) / (self.apart + self.alike + len(owns))
        total = sum(won) + sum(lost) + 2
        return [
            [
                (share * favour / (share * favour + 1 - share), (a + 1) / (a + b + 2), a + b + 2),
                ((1 - share) / (share * favour + 1 - share), (sum(won) + 1) / total, total),
            ]
            for favour, a, b in zip(favours, won, lost, strict=True)
        ]

    @staticmethod
    def means(of: list[list[tuple[float, float, float]]]) -> Floats:
        return np.array([sum(p * m for p, m, _ in parts) for parts in of])

    def worth(self, parts: list[tuple[float, float, float]], x: float, to_come: float) -> bool:
        if not 0.0 < x < 1.0:
            return x <= 0.0
        tails = [p * self.tail(mean, weight, x) for p, mean, weight in parts]
        hads = [parts[0][2] + 1, (parts[0] if parts[1][1] > x else parts[1])[2] + 1]
        if not sum(tails):
            return False
        had = np.average(hads, weights=tails)
        return sum(tails) >= 0.5 * math.erfc(math.sqrt(stopping_evidence(had, to_come)))

    @staticmethod
    def tail(mean: float, weight: float, x: float) -> float:
        kl = mean * math.log(mean / x) + (1 - mean) * math.log((1 - mean) / (1 - x))
        return 0.5 * math.erfc(math.copysign(math.sqrt(max(0.0, weight * kl)), x - mean))

    def values(self, up: Floats, p_f: Floats, action: list[int]) -> Floats:
        return np.array([0.0, *grbp.dynprog.evaluate(chain_of(up, p_f), action).value, 1.0])

    def deviations(self, up: Floats, p_f: Floats, action: list[int]) -> Floats:
        base, changes = self.values(up, p_f, action), []
        for k in range(self.count):
            other_up, other_f = up.copy(), p_f.copy()
            parts, mean = (self.f[k], p_f[k]) if action[k] else (self.c[k], up[k])
            used = parts if action[k] else parts[:1]
            moved = math.sqrt(
                sum(p * (m * (1 - m) / (w + 1) + (m - mean) ** 2) for p, m, w in used)
            )
            (other_f if action[k] else other_up)[k] = min(1.0, mean + moved)
            changes.append(self.values(other_up, other_f, action) - base)
        shared = np.array([p for _, (p, _, _) in self.c])
        _, mean, weight = self.c[0][1]
        other_up = np.minimum(1.0, up + shared * math.sqrt(mean * (1 - mean) / (weight + 1)))
        changes.append(self.values(other_up, p_f, action) - base)
        spread: Floats = np.sqrt(np.square(changes).sum(axis=0))
        return spread

    def decide(self) -> int:
        up, p_f, n = self.means(self.c), self.means(self.f), self.n
        action = grbp.dynprog.solve(chain_of(up, p_f)).action.tolist()
        values, spread = self.values(up, p_f, action), self.deviations(up, p_f, action)
        played = list(action)
        for k in range(self.count):
            visits = n.up[k] + n.down[k] + n.won[k] + n.lost[k]
            to_come = rounds_to_come(0.0, n.rho)
            if self.horizon:
                to_come = min(to_come, rounds_to_come(self.horizon, n.rho))
            to_come *= min(1.0, (visits + 1) / (n.rho + 1))
            if action[k]:
                low, high = values[k], values[k + 2]
                even = (p_f[k] - low) / (high - low) if high != low else 2.0
                if high < low:  # Then it is going down that must be likely.
                    even, parts = 1 - even, [(p, 1 - mean, w) for p, mean, w in self.c[k]]
                else:
                    parts = self.c[k]
                played[k] = 0 if self.worth(parts, even, to_come) else 1
            else:
                bar = values[k + 1] + self.caution * spread[k + 1]
                played[k] = 1 if self.worth(self.f[k], bar, to_come) else 0
        return as_number(played)


@pytest.mark.parametrize("constants", ["", ":horizon=900", ":apart=0.3,alike=0.9,caution=1.5"])
@pytest.mark.parametrize("goal", [2, 3, 4, 7])
def test_the_averaged_learner_decides_as_its_twin(goal: int, constants: str) -> None:
    learner = grbp.find_learner(f"averaged-states{constants}", goal)
    for seed in range(60):
        n = draw_counters(goal, seed, 40.0 if seed % 3 else 6.0)
        assert learner.choose(goal, n, seed) == Twin(learner.constants, n).decide(), seed


@pytest.mark.parametrize("goal", [3, 6])
def test_who_is_told_the_end_tries_no_more_than_who_is_not(goal: int) -> None:
    fewer = 0
    for seed in range(60):
        n = draw_counters(goal, seed)
        best = grbp.best_policy(
            believe(n.up, n.down, 0.5, 0.5).mean, believe(n.won, n.lost, 0.5, 0.5).mean
        )
        untold, told = (
            best ^ grbp.find_learner(name, goal).choose(goal, n, 0)
            for name in ("averaged-states", f"averaged-states:horizon={n.rho + 20}")
        )
        assert told & untold == told
        fewer += told != untold
    assert fewer > 0
