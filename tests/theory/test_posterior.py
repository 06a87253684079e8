"""The posterior against nested quadrature in 30 digits, against draws, and its laws."""

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath.calculus.quadrature import GaussLegendre
from runs import slow_but

import grbp
from grbp import InvalidInput, Posterior, Problem

Setting = tuple[int, int, int, int, int]
DIGITS = 30
TOLERANCE = 1e-12
with mpmath.workdps(DIGITS):
    NODES = GaussLegendre(mpmath.mp).calc_nodes(4, mpmath.mp.prec)
STEPS = [0, 1, 2, 3, 4, 6, 10, 18, 34, 80]


class WideBeta:
    """The log-odds of a Beta variable: density, and the tail as an integral of it."""

    def __init__(self, won: int, lost: int) -> None:
        self.a, self.b = won + mpmath.mpf(0.5), lost + mpmath.mpf(0.5)
        self.log_b = mpmath.loggamma(self.a) + mpmath.loggamma(self.b)
        self.log_b -= mpmath.loggamma(self.a + self.b)
        centre, sd = mpmath.log(self.a / self.b), mpmath.sqrt(1 / self.a + 1 / self.b)
        self.ends = [centre + k * sd for k in [*(-k for k in STEPS[:0:-1]), *STEPS]]
        tails = [mpmath.mpf(0)]
        for low, high in list(itertools.pairwise(self.ends))[::-1]:
            tails.append(tails[-1] + panel(self.density, low, high))
        self.tails = tails[::-1]

    def density(self, u: Any) -> Any:
        return mpmath.exp(self.a * u - (self.a + self.b) * mpmath.log1p(mpmath.exp(u)) - self.log_b)

    def tail(self, u: Any) -> Any:
        if u >= self.ends[-1]:
            return mpmath.mpf(0)
        if u <= self.ends[0]:
            return mpmath.mpf(1)
        k = next(k for k, end in enumerate(self.ends) if end > u)
        return self.tails[k] + panel(self.density, u, self.ends[k])


def panel(f: Callable[[Any], Any], low: Any, high: Any) -> Any:
    half, middle = (high - low) / 2, (high + low) / 2
    return half * sum(w * f(middle + half * x) for x, w in NODES)


def wide_gain(goal: int, weights: list[float], u: Any) -> tuple[Any, Any]:
    """B and h from the textbook formulas, at p_C with log-odds u."""
    r = mpmath.exp(-u)
    if r == 1:
        b, falls = mpmath.mpf(1) / goal, [mpmath.mpf(goal - s) / (goal - 1) for s in range(1, goal)]
    else:
        b = (1 - r) / (1 - r**goal)
        n = goal - 1
        falls = [(r ** (s - 1) - r**n) / (1 - r**n) for s in range(1, goal)] if weights else []
    return b, sum(mpmath.mpf(w) * f for w, f in zip(weights, falls, strict=True)) if weights else 1


def wide_chance(setting: Setting, gain: float = 0.0, weights: list[float] | None = None) -> float:
    """Pr(h (p_F - B) >= gain) by quadrature over p_C of the tail of p_F, in many digits."""
    goal, c_up, c_down, f_goal, f_lost = setting
    with mpmath.workdps(DIGITS):
        c, f = WideBeta(c_up, c_down), WideBeta(f_goal, f_lost)

        def odds(u: Any) -> Any:
            with mpmath.extradps(60):  # 1 - r^G cancels
                b, h = wide_gain(goal, weights or [], u)
                x = b + mpmath.mpf(gain) / h
                return mpmath.log(x / (1 - x)) if 0 < x < 1 else mpmath.inf * (1 if x > 0 else -1)

        cuts = []
        for level in f.ends:
            low, high = c.ends[0], c.ends[-1]
            if odds(low) < level < odds(high):
                for _ in range(60):
                    middle = (low + high) / 2
                    low, high = (middle, high) if odds(middle) < level else (low, middle)
                cuts.append(low)
        bends = [b for k in range(-8, 9) if c.ends[0] < (b := mpmath.mpf(k) / goal) < c.ends[-1]]
        ends = sorted({*c.ends, *cuts, *bends})
        total = mpmath.mpf(0)
        for low, high in itertools.pairwise(ends):
            total += panel(lambda u: c.density(u) * f.tail(odds(u)), low, high)
        return float(total)


HAND_PICKED: list[Setting] = [
    (4, 45, 55, 15, 35),
    (2, 3, 7, 7, 3),
    (4, 0, 0, 0, 0),
    (4, 0, 10, 0, 10),
    (1000, 500_000, 500_000, 0, 20),
]
EXTREME: list[Setting] = [
    (1000, 10**6, 10**6, 1000, 10**6),
    (1000, 10, 10, 500_000, 500_000),
    (4, 8, 12, 180_000, 820_000),
    (4, 450_000, 550_000, 5, 20),
    (50, 10**6, 0, 10**6, 0),
    (50, 0, 10**6, 0, 10**6),
    (3, 10**6, 0, 0, 0),
    (2, 0, 20, 1, 10**6),
    (1000, 0, 0, 0, 0),
    (1000, 20, 0, 10**6, 0),
]


def drawn(count: int) -> list[Setting]:
    """Settings near the boundary, with counts of every size; the same ones each time."""
    rng = np.random.default_rng(13)
    settings = []
    for _ in range(count):
        goal = int(rng.choice([2, 3, 4, 7, 20, 100, 1000]))
        c, f = (int(10 ** rng.uniform(0, 6)) for _ in range(2))
        p_c = 1 / (1 + np.exp(-rng.normal() / min(goal, 10)))
        c_up = int(rng.binomial(c, p_c))
        p_f = np.clip(grbp.boundary(goal, p_c) + rng.normal() / np.sqrt(f) / 2, 0, 1)
        f_goal = int(rng.binomial(f, p_f))
        settings.append((goal, c_up, c - c_up, f_goal, f - f_goal))
    return settings


@pytest.mark.sample("setting0", "setting9", "setting19", "setting32")
@pytest.mark.slow
@pytest.mark.parametrize("setting", [*HAND_PICKED, *EXTREME, *drawn(18)])
def test_probability_equals_quadrature_in_30_digits(setting: Setting) -> None:
    true = wide_chance(setting)
    assert Posterior(*setting).probability == pytest.approx(true, rel=0, abs=TOLERANCE)


def test_the_reference_agrees_with_mpmaths_own_beta_function() -> None:
    with mpmath.workdps(DIGITS):
        for won, lost, x in [(0, 0, 0.3), (3, 7, 0.5), (0, 40, 0.001), (200, 100, 0.7)]:
            law = WideBeta(won, lost)
            true = mpmath.betainc(law.a, law.b, mpmath.mpf(x), 1, regularized=True)
            u = mpmath.log(mpmath.mpf(x) / (1 - mpmath.mpf(x)))
            assert abs(law.tail(u) - true) < 1e-15


@pytest.mark.sample("0.99-setting1")
@pytest.mark.slow
@pytest.mark.parametrize("setting", [HAND_PICKED[0], (5, 3, 9, 2, 11)])
@pytest.mark.parametrize("level", [0.8, 0.99])
def test_ends_of_intervals_are_quantiles_in_30_digits(setting: Setting, level: float) -> None:
    posterior, tail = Posterior(*setting), 0.5 * (1 - level)
    weights = [0.5, *[0.5 / (setting[0] - 2)] * (setting[0] - 2)]
    for of, h in [(posterior.difference(level), None), (posterior.gain(weights, level), weights)]:
        assert wide_chance(setting, of.low, h) == pytest.approx(1 - tail, rel=0, abs=1e-8)
        assert wide_chance(setting, of.high, h) == pytest.approx(tail, rel=0, abs=1e-8)


@pytest.mark.sample("setting3")
@pytest.mark.slow
@pytest.mark.parametrize("setting", EXTREME[:5])
def test_ends_of_the_difference_are_quantiles_also_at_extremes(setting: Setting) -> None:
    low, high = Posterior(*setting).difference()[1:]
    assert wide_chance(setting, low) == pytest.approx(0.975, rel=0, abs=1e-8)
    assert wide_chance(setting, high) == pytest.approx(0.025, rel=0, abs=1e-8)


def weightings(goal: int) -> list[np.ndarray]:
    """Uniform, the first state, the last, and a crooked one."""
    one = np.eye(goal - 1)
    crooked = np.arange(goal - 1, 0, -1.0) ** 2
    return [np.full(goal - 1, 1 / (goal - 1)), one[0], one[-1], crooked / crooked.sum()]


@pytest.mark.parametrize(
    "setting",
    [
        HAND_PICKED[0],
        *slow_but(set(), [HAND_PICKED[2], (4, 8, 12, 180_000, 820_000), (30, 60, 40, 7, 13)]),
    ],
)
def test_gain_agrees_with_draws(setting: Setting) -> None:
    goal, c_up, c_down, f_goal, f_lost = setting
    rng, draws = np.random.default_rng(2026), 40_000
    p_c = rng.beta(c_up + 0.5, c_down + 0.5, draws)
    p_f = rng.beta(f_goal + 0.5, f_lost + 0.5, draws)
    r = np.clip((1 - p_c) / np.maximum(p_c, 1e-300), 1e-12, 1e12)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        powers = np.where(r < 1, r, 1 / r) ** np.arange(goal)
        parts = np.where(r < 1, powers[:, : goal - 1], powers[:, goal - 2 :: -1])
    falls = parts[:, ::-1].cumsum(axis=1)[:, ::-1] / parts.sum(axis=1, keepdims=True)
    b = (
        powers[:, 0]
        * np.where(r[:, 0] < 1, 1, powers[:, goal - 1])
        / np.where(r < 1, powers, powers[:, ::-1]).sum(axis=1)
    )
    posterior = Posterior(*setting)
    chance = posterior.probability
    assert abs((p_f >= b).mean() - chance) < 5 * np.sqrt(chance * (1 - chance) / draws)
    for weights in weightings(goal):
        gains = falls @ weights * (p_f - b)
        for level in (0.5, 0.95):
            low, high = posterior.gain(weights, level)[1:]
            tail = 0.5 * (1 - level)
            for end, share in ((low, tail), (high, 1 - tail)):
                error = 5 * np.sqrt(share * (1 - share) / draws)
                assert abs((gains <= end).mean() - share) < error


@pytest.mark.slow
@pytest.mark.parametrize("goal", [2, 4, 60])
def test_more_wins_of_finish_raise_the_probability_and_more_ups_lower_it(goal: int) -> None:
    for counts in itertools.product([0, 3, 40], [0, 5], [0, 2, 30], [1, 20]):
        here = Posterior(goal, *counts).probability
        if not 1e-9 < here < 1 - 1e-9:
            continue
        c_up, c_down, f_goal, f_lost = counts
        assert Posterior(goal, c_up, c_down, f_goal + 1, f_lost).probability > here
        assert Posterior(goal, c_up, c_down, f_goal, f_lost + 1).probability < here
        assert Posterior(goal, c_up + 1, c_down, f_goal, f_lost).probability < here
        assert Posterior(goal, c_up, c_down + 1, f_goal, f_lost).probability > here


def test_at_a_goal_of_two_the_actions_change_places() -> None:
    # B(p_c) = p_c, so that the question is which of two shares is larger.
    for c_up, c_down, f_goal, f_lost in [(3, 4, 5, 6), (0, 10**6, 2, 30), (700, 300, 6, 4)]:
        there = Posterior(2, c_up, c_down, f_goal, f_lost)
        back = Posterior(2, f_goal, f_lost, c_up, c_down)
        assert there.probability == pytest.approx(1 - back.probability, rel=0, abs=1e-12)
        _, low, high = there.difference()
        _, back_low, back_high = back.difference()
        assert (low, high) == pytest.approx((-back_high, -back_low), rel=0, abs=1e-9)
    assert Posterior(2, 12, 34, 12, 34).probability == pytest.approx(0.5, rel=0, abs=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("setting", [*HAND_PICKED, *slow_but(set(), EXTREME)])
def test_laws_of_the_intervals(setting: Setting) -> None:
    posterior = Posterior(*setting)
    inner, outer = posterior.difference(0.5), posterior.difference(0.99)
    assert -1 < outer.low < inner.low < inner.high < outer.high < 1
    # Zero is the quantile of one less the probability that threshold 1 is right.
    if 0.01 < posterior.probability < 0.99:
        level = abs(2 * posterior.probability - 1)
        _, low, high = posterior.difference(level) if level > 1e-6 else (0, 0, 0)
        assert (low if posterior.probability > 0.5 else high) == pytest.approx(0, abs=1e-8)
    # Whoever starts in state 1 faces the decision at once.
    first = [1.0, *[0.0] * (setting[0] - 2)]
    np.testing.assert_allclose(posterior.gain(first, 0.5), inner, rtol=0, atol=1e-9)


def test_estimates_are_those_of_the_closed_forms() -> None:
    posterior = Posterior(5, 30, 20, 4, 12)
    problem = Problem(5, 0.6, 0.25, [0.1, 0.2, 0.3, 0.4])
    gain = grbp.value(problem, 1) - grbp.value(problem, 0)
    assert posterior.gain([0.1, 0.2, 0.3, 0.4]).estimate == pytest.approx(gain, rel=1e-12)
    difference = 0.25 - grbp.boundary(5, 0.6)
    assert posterior.difference().estimate == pytest.approx(difference, rel=1e-12)
    # Shares of 0 and 1 are shares, too.
    assert Posterior(5, 0, 9, 3, 1).difference().estimate == 0.75
    assert Posterior(5, 9, 0, 3, 1).difference().estimate == -0.25
    assert Posterior(5, 9, 0, 3, 1).gain([0, 0, 0, 1]).estimate == 0.0
    assert np.isnan(Posterior(5, 0, 0, 3, 1).difference().estimate)
    assert np.isnan(Posterior(5, 3, 1, 0, 0).gain([0, 0, 0, 1]).estimate)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((1, 1, 1, 1, 1), "goal = 1 was given"),
        ((4, -1, 1, 1, 1), "c_up = -1 was given; it must be a number from 0 to 1,000,"),
        ((4, 1, "1.5", 1, 1), "c_down = '1.5' was given"),
        ((4, 1, float("nan"), 1, 1), "c_down = nan was given"),
        ((4, 1, 1, None, 1), "f_goal = None was given"),
        ((4, 1, 1, 1, 10**16), "f_lost = 10000000000000000 was given"),
    ],
)
def test_counts_that_are_none_are_refused(counts: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Posterior(*counts)


@pytest.mark.parametrize(
    "prior", [(1,), (1, 2, 3), (0, 1), (-1, 2), (1, float("nan")), (float("inf"), 1), "ab", 5, None]
)
def test_priors_that_are_none_are_refused(prior: Any) -> None:
    for name in ("prior_c", "prior_f"):
        with pytest.raises(InvalidInput, match=f"{name} = .* it must be two positive numbers"):
            Posterior(4, 1, 1, 1, 1, **{name: prior})


def test_a_prior_counts_as_records_do() -> None:
    counts, more = (4.25, 7, 3, 2.5), (10.0, 0.75, 6.5, 3.0)
    up, down, won, lost = (x + y for x, y in zip(counts, more, strict=True))
    plain = Posterior(5, up, down, won, lost)
    c, f = (more[0] + 0.5, more[1] + 0.5), (more[2] + 0.5, more[3] + 0.5)
    given = Posterior(5, *counts, prior_c=c, prior_f=f)
    assert given.probability == plain.probability
    assert given.difference()[1:] == plain.difference()[1:]
    assert given.gain([0.25] * 4)[1:] == plain.gain([0.25] * 4)[1:]
    # The estimate is that of the shares, which no prior moves.
    assert given.difference().estimate == Posterior(5, *counts).difference().estimate


PRIORS = [(0.01, 0.01), (1e-4, 1e-4), (0.001, 3.0), (1e6, 2e6)]


def wide_chance_by_beta(goal: int, c: tuple[float, float], f: tuple[float, float]) -> float:
    """Pr(p_F >= B(p_C)) with mpmath's own Beta function; the laws may have any tails."""
    with mpmath.workdps(DIGITS):
        a, b = map(mpmath.mpf, c)
        centre, log_b = mpmath.log(a / b), mpmath.loggamma(a) + mpmath.loggamma(b)
        log_b -= mpmath.loggamma(a + b)

        def mass(u: Any) -> Any:
            with mpmath.extradps(40):
                r = mpmath.exp(-u)
                won = mpmath.mpf(1) / goal if r == 1 else (1 - r) / (1 - r**goal)
                lost = 1 - won if r >= 1 else r * (1 - r ** (goal - 1)) / (1 - r**goal)
            if won < 0.5:
                tail = 1 - mpmath.betainc(*f, 0, won, regularized=True)
            else:
                tail = mpmath.betainc(*f[::-1], 0, lost, regularized=True)
            return tail * mpmath.exp(a * u - (a + b) * mpmath.log1p(mpmath.exp(u)) - log_b)

        sd = mpmath.sqrt(1 / a + 1 / b) if min(c) > 1e3 else mpmath.mpf(0)
        ends = {centre + k * sd for k in range(-10, 11)} if sd else {
            mpmath.mpf(x) for x in (-30, -12, -5, -2, 0, 2, 5, 12, 30)
        } | {x / k for x in (-80 / a, 80 / b) for k in 2 ** np.arange(11.0)}  # fmt: skip
        return float(mpmath.quad(mass, sorted(ends)))


@pytest.mark.slow
@pytest.mark.sample("2-prior0")
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("goal", [2, 4])
def test_priors_of_any_size_equal_quadrature_in_30_digits(
    goal: int, prior: tuple[float, float]
) -> None:
    for counts in [(0, 0, 0, 0), (0, 3, 0, 2), (2, 0, 1, 4)]:
        c = (counts[0] + prior[0], counts[1] + prior[1])
        f = (counts[2] + 0.02, counts[3] + 5.0)
        found = Posterior(goal, *counts, prior_c=prior, prior_f=(0.02, 5.0)).probability
        assert found == pytest.approx(wide_chance_by_beta(goal, c, f), rel=0, abs=TOLERANCE)


def test_weights_and_levels_that_are_none_are_refused() -> None:
    posterior = Posterior(4, 1, 1, 1, 1)
    for weights in ([0.5, 0.5], [0.5, 0.5, 0.5], 1.0):
        with pytest.raises(InvalidInput, match="a goal of 4 needs 3 that sum to 1"):
            posterior.gain(weights)
    with pytest.raises(InvalidInput, match="it must be numbers from 0 to 1"):
        posterior.gain([-0.5, 0.5, 1.0])
    for level in (0, 1, 95, "0.95"):
        with pytest.raises(InvalidInput, match=f"level = {level!r} was given"):
            posterior.difference(level)  # type: ignore[arg-type]
