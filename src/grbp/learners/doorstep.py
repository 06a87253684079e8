"""Learners that explore where it is cheapest: in state 1, the doorstep of the dead end.

All play threshold 0 or 1. In state 1, FINISH is worth p_f and CONTINUE B(p_c), which is learned
on the way, so what is left is a bandit with one arm: how often to try FINISH while it looks worse.
Proofs and evidence: docs/doorstep.md.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from grbp._numba.jit import inlined, kernel
from grbp.learners.base import Learner, NoConstants
from grbp.learners.comparison import finish_is_right, odds_sum, surely_right
from grbp.learners.counters import Counters, corners
from grbp.learners.getbe import Control
from grbp.learners.optimal_stopping import stopping_evidence
from grbp.numerics.special import bernoulli_divergence

LEAST_TO_COME: Final = 5_000.0
"""Rounds that are thought to come, at least, if nobody says how many."""

FLAT_PRIOR: Final = 2.0
"""The samples that a flat prior is worth."""

HEAD_START: Final = 10.0
"""Rounds before the first that doorstep-lai reckons with: it is less patient in the first ones."""

FULL_AFTER: Final = 100.0
"""Samples of FINISH after which doorstep-lai insists on its least evidence, before on a share."""

FREE: Final = 0.25
"""CONTINUE taken so often per round is learned on the way, and need not be explored."""

_NEARLY: Final = 1e-9
"""How much evidence must be above or below what is needed for rounding not to matter."""

_HALVINGS: Final = 50

_EIGHTHS: Final = np.array([
    -1.5341205443525463, -0.8871465590188760, -0.4887764111146695, -0.1573106846101707,
    0.1573106846101707, 0.4887764111146695, 0.8871465590188760, 1.5341205443525463,
])  # fmt: skip
"""The middles of eight equally likely parts of the normal distribution."""


class Horizon(NamedTuple):
    """What is known beforehand.

    horizon   how many rounds there will be; 0 if nobody knows
    prior     p_f has the prior Beta(prior, prior)
    """

    horizon: float = 0.0
    prior: float = 1.0


class Leaning(NamedTuple):
    """A Horizon, and what doorstep-lai has found to be wise.

    lean      by how many standard deviations p_c is raised at most (`raised_to`)
    least     the least evidence to give up on, in units of what CONTINUE is worth
    """

    horizon: float = 0.0
    prior: float = 1.25
    lean: float = 1.0
    least: float = 2.0


class Spans(NamedTuple):
    """What a box of counters leaves possible: estimates, evidence, what it takes to give up."""

    f_low: float
    f_high: float
    c_low: float
    c_high: float
    sd_low: float
    sd_high: float
    least: float
    most: float


@inlined
def continue_value(p_c: float, goal: int) -> float:
    """B(p_c), what CONTINUE is worth in state 1; p_c beyond [0, 1] stands for its end."""
    if p_c <= 0.0:
        return 0.0
    return 1.0 / odds_sum((1.0 - p_c) / p_c, goal) if p_c < 1.0 else 1.0


@kernel
def boundary_inverse(p_f: float, goal: int) -> float:
    """The p_c for which CONTINUE is worth p_f, by halving."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if continue_value(middle, goal) <= p_f:
            low = middle
        else:
            high = middle
    return high


@inlined
def evidence_against(taken: float, p: float, q: float) -> float:
    """The evidence, in so many samples of mean p, against a chance of q or more."""
    if q <= p:
        return 0.0
    return taken * bernoulli_divergence(p, q) if q < 1.0 else math.inf


@inlined
def to_come(horizon: float, rho: int) -> float:
    """How many rounds are thought to come, this one included.

    Without a horizon, or beyond it: as many as there have been, and at least some.
    """
    if rho <= horizon:
        return horizon - rho + 1.0
    return max(LEAST_TO_COME, float(rho))


@inlined
def finish_mean(f_goal: float, f: float, prior: float) -> float:
    """The mean of p_f, given its prior."""
    return (f_goal + prior) / (f + 2.0 * prior)


@inlined
def continue_mean(c_up: float, c: float) -> float:
    """The mean of p_c, given Jeffreys' prior."""
    return (c_up + 0.5) / (c + 1.0)


@inlined
def continue_sd(p_c: float, c: float) -> float:
    """The standard deviation of p_c, given its mean."""
    return math.sqrt(p_c * (1.0 - p_c) / (c + 2.0))


@inlined
def is_free(low: Counters, high: Counters) -> bool:
    """Whether CONTINUE is learned on the way all over a box: it was taken often enough.

    Where it is not, FINISH is not tried at its cost.
    """
    return low.c >= FREE * high.rho


@inlined
def continue_is_due(goal: int, n: Counters, p_f: float, p_c: float, coming: float) -> bool:
    """Whether CONTINUE must be tried, though it looks worse.

    Hardly ever: only if it is not taken on the way, as where all rounds start in state 1.
    """
    if is_free(n, n):
        return False
    needed = stopping_evidence(n.c, coming * (1.0 - n.c / (FREE * n.rho)))
    return evidence_against(n.c, p_c, boundary_inverse(p_f, goal)) <= needed


@kernel
def never_due(goal: int, horizon: float, low: Counters, high: Counters, p: Spans) -> bool:
    """Whether CONTINUE is due nowhere in a box."""
    if is_free(low, high):
        return True
    coming = max(to_come(horizon, low.rho), to_come(horizon, high.rho))
    needed = stopping_evidence(low.c, coming * (1.0 - low.c / (FREE * high.rho)))
    return evidence_against(low.c, p.c_high, boundary_inverse(p.f_low, goal)) > needed + _NEARLY


@inlined
def raised_to(goal: int, lean: float, p_c: float, sd: float, b: float) -> float:
    """What CONTINUE may be worth, as long as p_c is uncertain.

    p_c is raised by lean standard deviations, by fewer where b, what it seems to be worth, is
    more than 1/2, and hardly where b is near 1: there a few samples of FINISH tell the two apart.
    """
    room = min(1.0, 2.0 * (1.0 - b))
    return continue_value(p_c + lean * room * room * sd, goal)


@inlined
def least_evidence(least: float, taken: float, raised: float) -> float:
    """The evidence below which doorstep-lai does not give up, though few rounds be to come.

    Whoever gives up learns nothing more about FINISH, so a close race must not be lost by a
    stumble. A race is close if it is open after many samples.
    """
    return least * raised * min(1.0, taken / FULL_AFTER)


@inlined
def doorstep_lai(goal: int, constants: Leaning, n: Counters, _key: int) -> int:
    """1 if FINISH looks better, and as long as the evidence against it is not enough.

    Evidence is f kl(p_f, B), where B is raised as long as p_c is uncertain: CONTINUE is learned
    in any case, so to try FINISH can wait until it is known what it has to beat.

    Enough is what optimal stopping asks for, and never less than least_evidence.
    """
    p_f = finish_mean(n.f_goal, n.f, constants.prior)
    p_c = continue_mean(n.c_up, n.c)
    coming = to_come(constants.horizon, n.rho)
    b = continue_value(p_c, goal)
    if p_f >= b:
        return 0 if continue_is_due(goal, n, p_f, p_c, coming) else 1
    if not is_free(n, n):
        return 0
    raised = raised_to(goal, constants.lean, p_c, continue_sd(p_c, n.c), b)
    needed = max(
        stopping_evidence(n.plays_1 + HEAD_START, coming),
        least_evidence(constants.least, n.f, raised),
    )
    return 1 if evidence_against(n.f + 2.0 * constants.prior, p_f, raised) <= needed else 0


@inlined
def doorstep_bayes(goal: int, constants: Horizon, n: Counters, _key: int) -> int:
    """1 if that is worth more on the average over what p_c may be.

    Were p_c told after this round, FINISH would be worth trying or not; the average of what it
    is worth then, in this round, decides.
    """
    p_f = finish_mean(n.f_goal, n.f, constants.prior)
    p_c = continue_mean(n.c_up, n.c)
    coming = to_come(constants.horizon, n.rho)
    if p_f >= continue_value(p_c, goal):
        return 0 if continue_is_due(goal, n, p_f, p_c, coming) else 1
    if not is_free(n, n):
        return 0
    sd, needed = continue_sd(p_c, n.c), stopping_evidence(n.plays_1 + FLAT_PRIOR, coming)
    weight = n.f + 2.0 * constants.prior
    # Mostly there is no doubt, and no average to take.
    if evidence_against(weight, p_f, continue_value(p_c + 2.0 * sd, goal)) <= needed:
        return 1
    if evidence_against(weight, p_f, continue_value(p_c - 2.0 * sd, goal)) > needed:
        return 0
    spread = math.sqrt(p_f * (1.0 - p_f) / (weight + 1.0))
    return 1 if gain(goal, weight, p_f, spread, p_c, sd, sd, needed) >= 0.0 else 0


@kernel
def gain(  # noqa: PLR0913, PLR0917
    goal: int, weight: float, p_f: float, spread: float, p_c: float, below: float, above: float,
    needed: float,
) -> float:  # fmt: skip
    """What FINISH is worth in state 1 more than CONTINUE, averaged over what p_c may be.

    Where it would be tried, what is hoped for: the mean of p_f - B where that is positive.
    Where not, p_f - B, which is lost. below, above: the deviations of p_c on either side.
    """
    total = 0.0
    for k in range(len(_EIGHTHS)):
        b = continue_value(p_c + _EIGHTHS[k] * (above if _EIGHTHS[k] > 0.0 else below), goal)
        tried = evidence_against(weight, p_f, b) <= needed
        total += hoped(p_f - b, spread) if tried else p_f - b
    return total


@kernel
def hoped(mean: float, sd: float) -> float:
    """The mean of the positive part of a normal variable."""
    if sd <= 0.0:
        return max(0.0, mean)
    z = mean / sd
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return sd * (density + 0.5 * z * math.erfc(-z / math.sqrt(2.0)))


@kernel
def spans(low: Counters, high: Counters, constants: Horizon, had: float) -> Spans:
    """What a box leaves possible; least > most where it cannot be said.

    had: the samples of FINISH before the first that patience reckons with.
    """
    prior = constants.prior
    worst, best = corners(low, high)
    c_low = continue_mean(best.up, best.up + best.down)
    c_high = continue_mean(worst.up, worst.up + worst.down)
    least, most = 1.0, 0.0
    if high.rho <= constants.horizon or low.rho > constants.horizon:
        ends = to_come(constants.horizon, low.rho), to_come(constants.horizon, high.rho)
        least = stopping_evidence(high.plays_1 + had, min(ends))
        most = stopping_evidence(low.plays_1 + had, max(ends))
    sides = c_low * (1.0 - c_low), c_high * (1.0 - c_high)
    widest = 0.25 if c_low <= 0.5 <= c_high else max(sides)
    return Spans(
        finish_mean(worst.f_goal, worst.f_goal + worst.f_lost, prior),
        finish_mean(best.f_goal, best.f_goal + best.f_lost, prior),
        c_low,
        c_high,
        math.sqrt(min(sides) / (high.c + 2.0)),
        math.sqrt(widest / (low.c + 2.0)),
        least,
        most,
    )


@kernel
def lai_stable(goal: int, constants: Leaning, low: Counters, high: Counters) -> bool:
    """Whether the evidence is not enough, or is enough, all over a box of counters."""
    p = spans(low, high, Horizon(constants.horizon, constants.prior), HEAD_START)
    if p.least > p.most:
        return False
    b_low, b_high = continue_value(p.c_low, goal), continue_value(p.c_high, goal)
    if p.f_low >= b_high + _NEARLY:
        return never_due(goal, constants.horizon, low, high, p)
    raised_low = raised_to(goal, constants.lean, p.c_low, p.sd_low, b_high)
    raised_high = raised_to(goal, constants.lean, p.c_high, p.sd_high, b_low)
    least = max(p.least, least_evidence(constants.least, low.f, raised_low)) - _NEARLY
    if evidence_against(high.f + 2.0 * constants.prior, p.f_low, raised_high) < least:
        return is_free(low, high)
    if p.f_high >= b_low - _NEARLY:
        return False
    most = max(p.most, least_evidence(constants.least, high.f, raised_high)) + _NEARLY
    return evidence_against(low.f + 2.0 * constants.prior, p.f_high, raised_low) > most


@kernel
def bayes_stable(goal: int, constants: Horizon, low: Counters, high: Counters) -> bool:
    """Whether FINISH is worth more, or less, all over a box of counters."""
    p = spans(low, high, constants, FLAT_PRIOR)
    if p.least > p.most:
        return False
    weight_low, weight_high = low.f + 2.0 * constants.prior, high.f + 2.0 * constants.prior
    sides = p.f_low * (1.0 - p.f_low), p.f_high * (1.0 - p.f_high)
    if p.f_low >= continue_value(p.c_high, goal) + _NEARLY:
        return never_due(goal, constants.horizon, low, high, p)
    spread = math.sqrt(min(sides) / (weight_high + 1.0))
    least = gain(
        goal, weight_high, p.f_low, spread, p.c_high, p.sd_low, p.sd_high, p.least - _NEARLY
    )
    if least > _NEARLY:
        return is_free(low, high)
    if p.f_high >= continue_value(p.c_low, goal) - _NEARLY:
        return False
    widest = 0.25 if p.f_low <= 0.5 <= p.f_high else max(sides)
    spread = math.sqrt(widest / (weight_low + 1.0))
    most = gain(goal, weight_low, p.f_high, spread, p.c_low, p.sd_high, p.sd_low, p.most + _NEARLY)
    return most < -_NEARLY


@inlined
def doorstep_kl(goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """1 if FINISH looks better, and as long as f kl(p_f, B) <= log(rho)."""
    p_f, p_c, log, free = n.f_goal / n.f, n.c_up / n.c, math.log(n.rho), is_free(n, n)
    if p_f >= continue_value(p_c, goal):
        return 1 if free or evidence_against(n.c, p_c, boundary_inverse(p_f, goal)) > log else 0
    return 1 if free and evidence_against(n.f, p_f, continue_value(p_c, goal)) <= log else 0


@kernel
def kl_stable(goal: int, _: NoConstants, low: Counters, high: Counters) -> bool:
    """Whether the evidence is below log(rho), or above it, all over a box of counters."""
    worst, best = corners(low, high)
    f_low = worst.f_goal / (worst.f_goal + worst.f_lost)
    f_high = best.f_goal / (best.f_goal + best.f_lost)
    c_low, c_high = best.up / (best.up + best.down), worst.up / (worst.up + worst.down)
    least, most = math.log(low.rho) - _NEARLY, math.log(high.rho) + _NEARLY
    if f_low >= continue_value(c_high, goal) + _NEARLY:
        return (
            is_free(low, high)
            or evidence_against(low.c, c_high, boundary_inverse(f_low, goal)) > most
        )
    if evidence_against(high.f, f_low, continue_value(c_high, goal)) < least:
        return is_free(low, high)
    if f_high >= continue_value(c_low, goal) - _NEARLY:
        return False
    return evidence_against(low.f, f_high, continue_value(c_low, goal)) > most


@inlined
def doorstep_sm(goal: int, constants: Control, n: Counters, _key: int) -> int:
    """GETBE-SM that tries FINISH in state 1, by threshold 1, and nowhere else."""
    if finish_is_right(goal, n.f_goal, n.f, n.c_up, n.c - n.c_up):
        return 1
    return 1 if n.f < constants.gamma * math.log(n.rho) else 0


@inlined
def sm_stable(goal: int, constants: Control, low: Counters, high: Counters) -> bool:
    """Whether FINISH is due, or right, or neither, all over a box of counters."""
    right = surely_right(goal, low, high)
    if right == 1 or high.f < constants.gamma * math.log(low.rho):
        return True
    return right == 0 and low.f >= constants.gamma * math.log(high.rho)


HERE: Final = "docs/doorstep.md"

DOORSTEP_LAI = Learner(
    "doorstep-lai",
    doorstep_lai,
    Leaning(),
    (0, 1),
    summary="FINISH in state 1 until optimal stopping gives it up",
    reference=f"Lai 1987; {HERE}",
    stable=lai_stable,
)
DOORSTEP_BAYES = Learner(
    "doorstep-bayes",
    doorstep_bayes,
    Horizon(),
    (0, 1),
    summary="the same, averaged over what p_c may be",
    reference=HERE,
    stable=bayes_stable,
)
DOORSTEP_KL = Learner(
    "doorstep-kl",
    doorstep_kl,
    NoConstants(),
    (0, 1),
    summary="FINISH in state 1 while f kl(p_f, B) <= log(rho)",
    reference=f"Lai and Robbins 1985; {HERE}",
    stable=kl_stable,
)
DOORSTEP_SM = Learner(
    "doorstep-sm",
    doorstep_sm,
    Control(),
    (0, 1),
    summary="GETBE-SM, FINISH forced in state 1 only",
    reference=HERE,
    stable=sm_stable,
)
