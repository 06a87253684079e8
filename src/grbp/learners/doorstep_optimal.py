"""The doorstep learner that gives up on FINISH by optimal stopping, whatever the horizon.

It knows, or guesses, how many rounds are to come, and so needs less evidence than `doorstep-kl`.
docs/doorstep-learners.md has the rule and the evidence, docs/how-near-the-best.md how near it is to
the best possible.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from grbp.learners.base import Learner
from grbp.learners.counters import Counters, corners
from grbp.learners.doorstep import (
    FREE,
    HERE,
    NEARLY,
    continue_value,
    evidence_against,
    rounding_slack,
)
from grbp.learners.optimal_stopping import stopping_evidence
from grbp.numerics.jit import inlined, kernel

SHORTEST: Final = 100.0
"""The least horizon that is reckoned with where none is given."""

TO_COME: Final = 3.0
"""How many rounds are thought to come then for each that was played, at the shortest horizon."""

EASING: Final = 1.0 / 16.0
"""How much slower than the rounds played those to come grow: by 1 + EASING log(played/shortest).

Both numbers are about those of the minimax rule, which benchmarks/unknown_horizon.py computes.
"""

EIGHTHS: Final = np.array([
    -1.5341205443525463, -0.8871465590188760, -0.4887764111146695, -0.1573106846101707,
    0.1573106846101707, 0.4887764111146695, 0.8871465590188760, 1.5341205443525463,
])  # fmt: skip
"""The middles of eight equally likely parts of the normal distribution."""

_WIDEST: Final = float(EIGHTHS[-1])
_HALVINGS: Final = 50


class Known(NamedTuple):
    """The constants of doorstep-optimal: what is known beforehand.

    Parameters
    ----------
    horizon : float, default 0
        How many rounds there will be; 0 if that is not known.
    good : float, default 1
        The successes of FINISH that are known beforehand, and 1: p_f has the prior Beta(good, bad).
    bad : float, default 1
        The same for failures of FINISH.
    up : float, default 1
        The moves up of CONTINUE that are known, and 1: p_c has the prior Beta(up, down).
    down : float, default 1
        The same for moves down of CONTINUE.
    """

    horizon: float = 0.0
    good: float = 1.0
    bad: float = 1.0
    up: float = 1.0
    down: float = 1.0


class Belief(NamedTuple):
    """What is believed of a probability: the mean, and the samples behind it with the prior's."""

    mean: float
    weight: float


class Span(NamedTuple):
    """The range of a belief."""

    low: float
    high: float
    lightest: float
    heaviest: float


@inlined
def belief(good: float, bad: float, won: float, lost: float) -> Belief:
    """Compute the posterior of a probability from whole outcomes, given Beta(good, bad).

    Where a count has a fraction, it holds a first estimate that was drawn, which tells nothing.
    """
    a, b = good + math.floor(won), bad + math.floor(lost)
    return Belief(a / (a + b), a + b)


@inlined
def deviation(of: Belief) -> float:
    """Compute the posterior standard deviation."""
    return math.sqrt(of.mean * (1.0 - of.mean) / (of.weight + 1.0))


@inlined
def rounds_to_come(horizon: float, rho: int) -> float:
    """Return how many rounds are thought to come, this one included.

    Without a horizon, they grow a little more slowly than those that were played; beyond it, than
    those played since, so that nothing is explored anew at once.
    """
    if rho <= horizon:
        return horizon - rho + 1.0
    played = rho - horizon if horizon > 0.0 else max(SHORTEST, float(rho))
    return TO_COME * played / (1.0 + EASING * math.log(played / SHORTEST))


@inlined
def rounds_had(weight: float, taken: float, plays: float) -> float:
    """Return in how many rounds as much would be learned as is known of an action.

    A flat prior has the variance of three samples, and the weight of two. Samples become rounds
    by how often the action was taken in the rounds that were played for it.
    """
    return (weight + 1.0) * (plays + 2.0) / (taken + 1.0)


@inlined
def learned_on_the_way(goal: int, n: Counters) -> bool:
    """Return whether CONTINUE is learned whatever is played in state 1."""
    return goal > 2 and n.c >= FREE * n.rho


@inlined
def needed_evidence(weight: float, prior: float, plays: float, coming: float) -> float:
    """Return the evidence that it takes to give an action up; `prior` is the prior's weight."""
    return stopping_evidence(rounds_had(weight, weight - prior, plays), coming)


@inlined
def doorstep_optimal(goal: int, known: Known, n: Counters, _key: int) -> int:
    """Try FINISH in state 1 while that pays on average over p_c, by optimal stopping.

    If p_c became known after this round, FINISH would be worth trying or not; the average of what
    it would gain, in this round, decides.
    """
    f = belief(known.good, known.bad, n.f_goal, n.f - n.f_goal)
    c = belief(known.up, known.down, n.c_up, n.c - n.c_up)
    free, sd = learned_on_the_way(goal, n), deviation(c)
    if free and f.mean >= continue_value(c.mean + _WIDEST * sd, goal):
        return 1  # There is no doubt, and nothing more to compute.
    coming = rounds_to_come(known.horizon, n.rho)
    needed = needed_evidence(f.weight, known.good + known.bad, n.plays_1, coming)
    if free:
        return 1 if pays(goal, f, deviation(f), c.mean, (sd, sd), needed, 0.0) else 0
    needed_c = needed_evidence(c.weight, known.up + known.down, n.plays_0, coming)
    return 1 if withstands(goal, f, needed, c, needed_c, 0.0) else 0


@kernel
def withstands(goal: int, f: Belief, needed: float, c: Belief, needed_c: float, off: float) -> bool:
    """Return whether FINISH is not ruled out against the index of CONTINUE, give or take `off`.

    The index is the value of the largest p_c that the evidence does not rule out. It is enclosed
    by halving, until both bounds have one answer.
    """
    low, high = c.mean, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        below = evidence_against(c.weight, c.mean, middle) <= needed_c
        b = continue_value(middle + off, goal) + off
        if (evidence_against(f.weight, f.mean, b) <= needed) != below:
            return not below
        if below:
            low = middle
        else:
            high = middle
    b = continue_value(low + off, goal) + off
    return evidence_against(f.weight, f.mean, b) <= needed


@inlined
def part_value(goal: int, p_c: float, sds: tuple[float, float], k: int) -> float:
    """Compute the value of CONTINUE in the k-th of eight equally likely parts of p_c."""
    part = float(EIGHTHS[k])
    return continue_value(p_c + part * (sds[1] if part > 0.0 else sds[0]), goal)


@kernel
def pays(  # noqa: PLR0913, PLR0917
    goal: int, f: Belief, spread: float, p_c: float, sds: tuple[float, float], needed: float,
    least: float,
) -> bool:  # fmt: skip
    """Return whether FINISH gains at least so much over CONTINUE in state 1, averaged over p_c.

    Where FINISH would be tried, it gains the mean of p_f - B where that is positive; elsewhere
    p_f - B, which is a loss. If it would be tried everywhere, it pays; if nowhere, it does not.
    `sds` are the deviations of p_c on either side.
    """
    first, last = 0, len(EIGHTHS) - 1
    if evidence_against(f.weight, f.mean, part_value(goal, p_c, sds, first)) > needed:
        return False
    if evidence_against(f.weight, f.mean, part_value(goal, p_c, sds, last)) <= needed:
        return True
    # Mostly it would not pay even if it were tried in all parts but the last.
    if not makes_up(goal, f, spread, p_c, sds, last, least):
        return False
    while last - first > 1:  # It would be tried in the part `first`, and not in `last`.
        middle = (first + last) // 2
        if evidence_against(f.weight, f.mean, part_value(goal, p_c, sds, middle)) <= needed:
            first = middle
        else:
            last = middle
    return makes_up(goal, f, spread, p_c, sds, last, least)


@kernel
def makes_up(  # noqa: PLR0913, PLR0917
    goal: int, f: Belief, spread: float, p_c: float, sds: tuple[float, float], tried: int,
    least: float,
) -> bool:  # fmt: skip
    """Return whether FINISH gains at least so much if it would be tried in the first parts only."""
    for k in range(tried, len(EIGHTHS)):
        least += part_value(goal, p_c, sds, k) - f.mean
    for k in range(tried):
        gain = positive_part_mean(f.mean - part_value(goal, p_c, sds, k), spread)
        least -= gain
        if least <= 0.0:
            return True
        if least > gain * (tried - 1 - k):  # The parts that follow gain less each.
            return False
    return False


@kernel
def positive_part_mean(mean: float, sd: float) -> float:
    """Compute the mean of the positive part of a normal variable."""
    if sd <= 0.0:
        return max(0.0, mean)
    z = mean / sd
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return sd * (density + 0.5 * z * math.erfc(-z / math.sqrt(2.0)))


@inlined
def span(prior: tuple[float, float], won: tuple[float, float], lost: tuple[float, float]) -> Span:
    """Find the range of a belief between the least and the most of every count."""
    return Span(
        belief(prior[0], prior[1], won[0], lost[1]).mean,
        belief(prior[0], prior[1], won[1], lost[0]).mean,
        belief(prior[0], prior[1], won[0], lost[0]).weight,
        belief(prior[0], prior[1], won[1], lost[1]).weight,
    )


@kernel
def optimal_stable(goal: int, known: Known, low: Counters, high: Counters) -> bool:
    """Return whether FINISH is tried throughout a box, or nowhere in it."""
    free = goal > 2 and low.c >= FREE * high.rho
    if low.rho <= known.horizon < high.rho or not (free or goal == 2 or high.c < FREE * low.rho):
        return False
    worst, best = corners(low, high)
    f = span((known.good, known.bad), (worst.f_goal, best.f_goal), (best.f_lost, worst.f_lost))
    c = span((known.up, known.down), (best.up, worst.up), (worst.down, best.down))
    ends = rounds_to_come(known.horizon, low.rho), rounds_to_come(known.horizon, high.rho)
    fewest, most = min(ends), max(ends)
    # What FINISH needs at its best; mostly it is not tried, and nothing more is to compute.
    prior, slack = known.good + known.bad, rounding_slack(f.heaviest)
    at_best, at_worst = Belief(f.high, f.lightest), Belief(f.low, f.heaviest)
    much = needed_evidence(f.heaviest, prior, low.plays_1, most) + slack
    if free:
        narrow, wide = deviations(c)
        narrow_f, wide_f = deviations(f)
        if not pays(goal, at_best, wide_f, c.low, (wide, narrow), much, -NEARLY):
            return True
        little = needed_evidence(f.lightest, prior, high.plays_1, fewest) - slack
        return pays(goal, at_worst, narrow_f, c.high, (narrow, wide), little, NEARLY)
    little = needed_evidence(f.lightest, prior, high.plays_1, fewest) - slack
    prior, slack = known.up + known.down, rounding_slack(c.heaviest)
    little_c = needed_evidence(c.lightest, prior, high.plays_0, fewest) - slack
    much_c = needed_evidence(c.heaviest, prior, low.plays_0, most) + slack
    return not withstands(
        goal, at_best, much, Belief(c.low, c.heaviest), little_c, -NEARLY
    ) or withstands(goal, at_worst, little, Belief(c.high, c.lightest), much_c, NEARLY)


@inlined
def deviations(of: Span) -> tuple[float, float]:
    """Return the least and the largest standard deviation in the range of a belief."""
    ends = of.low * (1.0 - of.low), of.high * (1.0 - of.high)
    most = 0.25 if of.low <= 0.5 <= of.high else max(ends)
    return math.sqrt(min(ends) / (of.heaviest + 1.0)), math.sqrt(most / (of.lightest + 1.0))


DOORSTEP_OPTIMAL = Learner(
    "doorstep-optimal", doorstep_optimal, Known(), (0, 1), reference=HERE, stable=optimal_stable
)
