"""The doorstep learner that gives up on FINISH by optimal stopping, whatever the horizon.

It knows, or guesses, how many rounds are to come, and so needs less evidence than `doorstep-kl`.
docs/doorstep-learners.md has the rule and the evidence, docs/how-near-the-best.md how near it is to
the best possible.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from grbp._numba.jit import inlined, kernel
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

SHORTEST: Final = 100.0
"""The least horizon that is reckoned with where none is given."""

TO_COME: Final = 3.0
"""How many times as many rounds as the shortest horizon has are thought to come then."""

SLOWER: Final = 0.95
"""The power of the rounds played with which those to come grow: the minimax rule's, about."""

_EIGHTHS: Final = np.array([
    -1.5341205443525463, -0.8871465590188760, -0.4887764111146695, -0.1573106846101707,
    0.1573106846101707, 0.4887764111146695, 0.8871465590188760, 1.5341205443525463,
])  # fmt: skip
"""The middles of eight equally likely parts of the normal distribution."""

_WIDEST: Final = float(_EIGHTHS[-1])
_HALVINGS: Final = 50


class Known(NamedTuple):
    """The constants of doorstep-optimal: what is known beforehand.

    Parameters
    ----------
    horizon : float, default 0
        How many rounds there will be; 0 if that is not known.
    good, bad : float, default 1
        p_f has the prior Beta(good, bad).
    up, down : float, default 1
        p_c has the prior Beta(up, down).
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
    """The range of a belief, and of the evidence that it takes to give an action up."""

    low: float
    high: float
    lightest: float
    heaviest: float
    least: float
    most: float


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
    return TO_COME * SHORTEST * math.pow(played / SHORTEST, SLOWER)


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
def doorstep_optimal(goal: int, known: Known, n: Counters, _key: int) -> int:
    """Try FINISH in state 1 while that pays on average over p_c; else by optimal stopping.

    If p_c became known after this round, FINISH would be worth trying or not; the average of what
    it would gain, in this round, decides.
    """
    f = belief(known.good, known.bad, n.f_goal, n.f - n.f_goal)
    c = belief(known.up, known.down, n.c_up, n.c - n.c_up)
    coming = rounds_to_come(known.horizon, n.rho)
    needed = stopping_evidence(
        rounds_had(f.weight, f.weight - known.good - known.bad, n.plays_1), coming
    )
    if not learned_on_the_way(goal, n):
        needed_c = stopping_evidence(
            rounds_had(c.weight, c.weight - known.up - known.down, n.plays_0), coming
        )
        b = continue_value(index(c.mean, c.weight, needed_c), goal)
        return 1 if evidence_against(f.weight, f.mean, b) <= needed else 0
    sd = deviation(c)
    # Mostly there is no doubt, and no average to take.
    if evidence_against(f.weight, f.mean, continue_value(c.mean + _WIDEST * sd, goal)) <= needed:
        return 1
    if evidence_against(f.weight, f.mean, continue_value(c.mean - _WIDEST * sd, goal)) > needed:
        return 0
    return 1 if gain(goal, f.weight, f.mean, deviation(f), c.mean, sd, sd, needed) >= 0.0 else 0


@kernel
def index(p: float, weight: float, needed: float) -> float:
    """Find the largest probability that the evidence does not rule out, by halving."""
    low, high = p, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if evidence_against(weight, p, middle) <= needed:
            low = middle
        else:
            high = middle
    return low


@kernel
def gain(  # noqa: PLR0913, PLR0917
    goal: int, weight: float, p_f: float, spread: float, p_c: float, below: float, above: float,
    needed: float,
) -> float:  # fmt: skip
    """Compute what FINISH gains over CONTINUE in state 1, averaged over p_c.

    Where FINISH would be tried, it gains the mean of p_f - B where that is positive; elsewhere
    p_f - B, which is a loss. `below` and `above` are the deviations of p_c on either side.
    """
    total = 0.0
    for k in range(len(_EIGHTHS)):
        part = float(_EIGHTHS[k])
        b = continue_value(p_c + part * (above if part > 0.0 else below), goal)
        tried = evidence_against(weight, p_f, b) <= needed
        total += positive_part_mean(p_f - b, spread) if tried else p_f - b
    return total


@kernel
def positive_part_mean(mean: float, sd: float) -> float:
    """Compute the mean of the positive part of a normal variable."""
    if sd <= 0.0:
        return max(0.0, mean)
    z = mean / sd
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return sd * (density + 0.5 * z * math.erfc(-z / math.sqrt(2.0)))


@inlined
def span(
    prior: tuple[float, float], won: tuple[float, float], lost: tuple[float, float],
    plays: tuple[float, float], coming: tuple[float, float],
) -> Span:  # fmt: skip
    """Find the range of a belief between the least and the most of every count."""
    had = prior[0] + prior[1]
    low, high = (
        belief(prior[0], prior[1], won[0], lost[1]),
        belief(prior[0], prior[1], won[1], lost[0]),
    )
    lightest = belief(prior[0], prior[1], won[0], lost[0]).weight
    heaviest = belief(prior[0], prior[1], won[1], lost[1]).weight
    return Span(
        low.mean, high.mean, lightest, heaviest,
        stopping_evidence(rounds_had(lightest, lightest - had, plays[1]), coming[0]),
        stopping_evidence(rounds_had(heaviest, heaviest - had, plays[0]), coming[1]),
    )  # fmt: skip


@kernel
def optimal_stable(goal: int, known: Known, low: Counters, high: Counters) -> bool:
    """Return whether FINISH gains throughout a box, or loses throughout it."""
    if low.rho <= known.horizon < high.rho:
        return False
    ends = rounds_to_come(known.horizon, low.rho), rounds_to_come(known.horizon, high.rho)
    coming = min(ends), max(ends)
    worst, best = corners(low, high)
    f = span(
        (known.good, known.bad), (worst.f_goal, best.f_goal), (best.f_lost, worst.f_lost),
        (low.plays_1, high.plays_1), coming,
    )  # fmt: skip
    c = span(
        (known.up, known.down), (best.up, worst.up), (worst.down, best.down),
        (low.plays_0, high.plays_0), coming,
    )  # fmt: skip
    least, most = f.least - rounding_slack(f.heaviest), f.most + rounding_slack(f.heaviest)
    if goal == 2 or high.c < FREE * low.rho:
        slack = rounding_slack(c.heaviest)
        b_high = continue_value(index(c.high, c.lightest, c.most + slack) + NEARLY, goal)
        b_low = continue_value(index(c.low, c.heaviest, max(0.0, c.least - slack)) - NEARLY, goal)
        if evidence_against(f.heaviest, f.low, b_high + NEARLY) < least:
            return True
        return evidence_against(f.lightest, f.high, b_low - NEARLY) > most
    if low.c < FREE * high.rho:
        return False
    narrow_c, wide_c = variances(c.low, c.high)
    sd_low = math.sqrt(narrow_c / (c.heaviest + 1.0))
    sd_high = math.sqrt(wide_c / (c.lightest + 1.0))
    narrow_f, wide_f = variances(f.low, f.high)
    spread = math.sqrt(narrow_f / (f.heaviest + 1.0))
    if gain(goal, f.heaviest, f.low, spread, c.high, sd_low, sd_high, least) > NEARLY:
        return True
    spread = math.sqrt(wide_f / (f.lightest + 1.0))
    return gain(goal, f.lightest, f.high, spread, c.low, sd_high, sd_low, most) < -NEARLY


@inlined
def variances(low: float, high: float) -> tuple[float, float]:
    """Return the least and the largest p (1 - p) for p between two probabilities."""
    ends = low * (1.0 - low), high * (1.0 - high)
    return min(ends), 0.25 if low <= 0.5 <= high else max(ends)


DOORSTEP_OPTIMAL = Learner(
    "doorstep-optimal", doorstep_optimal, Known(), (0, 1), reference=HERE, stable=optimal_stable
)
