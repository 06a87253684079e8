"""The two doorstep learners that `doorstep-optimal` replaced, to compare it with.

Lai's was the default; its constants were tuned to 5,000 rounds of goal 4. They are learners of
one's own now: `FORMER_LAI` and `FORMER_BAYES` are given where a name would be.
"""

import math
from dataclasses import replace
from typing import Final, NamedTuple

from grbp import Counters, Learner, corners, inlined, kernel
from grbp.learners.doorstep import (
    FREE,
    NEARLY,
    boundary_inverse,
    continue_value,
    evidence_against,
    is_free,
    rounding_slack,
)
from grbp.learners.doorstep_optimal import EIGHTHS, positive_part_mean
from grbp.learners.optimal_stopping import stopping_evidence

LEAST_TO_COME: Final = 5_000.0
"""The rounds that are thought to come, at least, if no horizon is given."""

FLAT_PRIOR: Final = 2.0
"""The samples that a flat prior is worth."""

HEAD_START: Final = 10.0
"""Rounds before the first that former-lai reckons with: it is less patient in the first ones."""

FULL_AFTER: Final = 100.0
"""The samples of FINISH after which former-lai insists on its least evidence in full."""


class Horizon(NamedTuple):
    """The constants of former-bayes, which are known beforehand.

    Parameters
    ----------
    horizon : float, default 0
        How many rounds there will be; 0 if that is not known.
    prior : float, default 1
        p_f has the prior Beta(prior, prior).
    """

    horizon: float = 0.0
    prior: float = 1.0


class Leaning(NamedTuple):
    """The constants of former-lai: those of a `Horizon`, and two more.

    Parameters
    ----------
    horizon : float, default 0
        How many rounds there will be; 0 if that is not known.
    prior : float, default 1.25
        p_f has the prior Beta(prior, prior).
    lean : float, default 1
        By how many standard deviations the estimate of p_c is raised at most.
    least : float, default 2
        The least evidence to give up on, in units of the value of CONTINUE in state 1.
    """

    horizon: float = 0.0
    prior: float = 1.25
    lean: float = 1.0
    least: float = 2.0


class Spans(NamedTuple):
    """The ranges within a box of counters.

    They are those of both means, of the standard deviation of p_c, and of the evidence that it
    takes to give up, with least > most if there are no bounds.
    """

    f_low: float
    f_high: float
    c_low: float
    c_high: float
    sd_low: float
    sd_high: float
    least: float
    most: float


@inlined
def rounds_to_come(horizon: float, rho: int) -> float:
    """Return how many rounds are thought to come, this one included.

    Without a horizon, or beyond it, they are as many as there have been, and at least some.
    """
    if rho <= horizon:
        return horizon - rho + 1.0
    return max(LEAST_TO_COME, float(rho))


@inlined
def finish_mean(f_goal: float, f: float, prior: float) -> float:
    """Compute the posterior mean of p_f."""
    return (f_goal + prior) / (f + 2.0 * prior)


@inlined
def continue_mean(c_up: float, c: float) -> float:
    """Compute the posterior mean of p_c, given Jeffreys' prior."""
    return (c_up + 0.5) / (c + 1.0)


@inlined
def continue_sd(p_c: float, c: float) -> float:
    """Compute the posterior standard deviation of p_c, given its mean."""
    return math.sqrt(p_c * (1.0 - p_c) / (c + 2.0))


@inlined
def variances(low: float, high: float) -> tuple[float, float]:
    """Return the least and the largest p (1 - p) for p between two probabilities."""
    ends = low * (1.0 - low), high * (1.0 - high)
    return min(ends), 0.25 if low <= 0.5 <= high else max(ends)


@kernel
def spans(low: Counters, high: Counters, constants: Horizon | Leaning, had: float) -> Spans:
    """Find the ranges within a box, with `had` samples of FINISH before the first."""
    horizon, prior = constants.horizon, constants.prior
    worst, best = corners(low, high)
    c_low = continue_mean(best.up, best.up + best.down)
    c_high = continue_mean(worst.up, worst.up + worst.down)
    least, most = 1.0, 0.0
    if high.rho <= horizon or low.rho > horizon:
        ends = rounds_to_come(horizon, low.rho), rounds_to_come(horizon, high.rho)
        least = stopping_evidence(high.plays_1 + had, min(ends))
        most = stopping_evidence(low.plays_1 + had, max(ends))
    narrowest, widest = variances(c_low, c_high)
    return Spans(
        f_low=finish_mean(worst.f_goal, worst.f_goal + worst.f_lost, prior),
        f_high=finish_mean(best.f_goal, best.f_goal + best.f_lost, prior),
        c_low=c_low,
        c_high=c_high,
        sd_low=math.sqrt(narrowest / (high.c + 2.0)),
        sd_high=math.sqrt(widest / (low.c + 2.0)),
        least=least,
        most=most,
    )


@inlined
def continue_is_due(goal: int, n: Counters, p_f: float, p_c: float, coming: float) -> bool:
    """Return whether CONTINUE must be tried, though it looks worse.

    That is so only if it is not learned on the way, as where all rounds start in state 1.
    """
    if is_free(n, n):
        return False
    needed = stopping_evidence(n.c, coming * (1.0 - n.c / (FREE * n.rho)))
    return evidence_against(n.c, p_c, boundary_inverse(p_f, goal)) <= needed


@kernel
def never_due(goal: int, horizon: float, low: Counters, high: Counters, p: Spans) -> bool:
    """Return whether CONTINUE is due nowhere in a box."""
    if is_free(low, high):
        return True
    coming = max(rounds_to_come(horizon, low.rho), rounds_to_come(horizon, high.rho))
    needed = stopping_evidence(low.c, coming * (1.0 - low.c / (FREE * high.rho)))
    enough = needed + rounding_slack(high.c)
    return evidence_against(low.c, p.c_high, boundary_inverse(p.f_low, goal)) > enough


@inlined
def raised_value(goal: int, lean: float, p_c: float, sd: float, b: float) -> float:
    """Compute the value that CONTINUE may have, as long as p_c is uncertain.

    p_c is raised by `lean` standard deviations, by fewer where its estimated value b is more than
    1/2, and hardly where b is near 1: there a few samples of FINISH tell the two apart.
    """
    room = min(1.0, 2.0 * (1.0 - b))
    return continue_value(p_c + lean * room * room * sd, goal)


@inlined
def least_evidence(least: float, taken: float, raised: float) -> float:
    """Compute the evidence below which former-lai does not give up, however few rounds come.

    A learner that gives up learns nothing more about FINISH, so bad luck at the start must not
    decide a close race. A race is close if it is open after many samples.
    """
    return least * raised * min(1.0, taken / FULL_AFTER)


@inlined
def doorstep_lai(goal: int, constants: Leaning, n: Counters, _key: int) -> int:
    """Try FINISH in state 1 until optimal stopping gives it up.

    The evidence is f kl(p_f, B), where B is raised as long as p_c is uncertain: CONTINUE is learned
    in any case, so FINISH can wait until it is known what it has to beat. Enough is what optimal
    stopping asks for, and never less than `least_evidence`.
    """
    p_f = finish_mean(n.f_goal, n.f, constants.prior)
    p_c = continue_mean(n.c_up, n.c)
    coming = rounds_to_come(constants.horizon, n.rho)
    b = continue_value(p_c, goal)
    if p_f >= b:
        return 0 if continue_is_due(goal, n, p_f, p_c, coming) else 1
    if not is_free(n, n):
        return 0
    raised = raised_value(goal, constants.lean, p_c, continue_sd(p_c, n.c), b)
    needed = max(
        stopping_evidence(n.plays_1 + HEAD_START, coming),
        least_evidence(constants.least, n.f, raised),
    )
    return 1 if evidence_against(n.f + 2.0 * constants.prior, p_f, raised) <= needed else 0


@kernel
def lai_stable(goal: int, constants: Leaning, low: Counters, high: Counters) -> bool:
    """Return whether the evidence is enough throughout a box, or nowhere in it."""
    p = spans(low, high, constants, HEAD_START)
    if p.least > p.most:
        return False
    b_low, b_high = continue_value(p.c_low, goal), continue_value(p.c_high, goal)
    if p.f_low >= b_high + NEARLY:
        return never_due(goal, constants.horizon, low, high, p)
    raised_low = raised_value(goal, constants.lean, p.c_low, p.sd_low, b_high)
    raised_high = raised_value(goal, constants.lean, p.c_high, p.sd_high, b_low)
    near = rounding_slack(high.f)
    least = max(p.least, least_evidence(constants.least, low.f, raised_low)) - near
    if evidence_against(high.f + 2.0 * constants.prior, p.f_low, raised_high) < least:
        return is_free(low, high)
    if p.f_high >= b_low - NEARLY:
        return False
    most = max(p.most, least_evidence(constants.least, high.f, raised_high)) + near
    return evidence_against(low.f + 2.0 * constants.prior, p.f_high, raised_low) > most


@inlined
def doorstep_bayes(goal: int, constants: Horizon, n: Counters, _key: int) -> int:
    """Try FINISH in state 1 while that pays on average over p_c.

    If p_c became known after this round, FINISH would be worth trying or not; the average of what
    it would gain, in this round, decides.
    """
    p_f = finish_mean(n.f_goal, n.f, constants.prior)
    p_c = continue_mean(n.c_up, n.c)
    coming = rounds_to_come(constants.horizon, n.rho)
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
    """Compute what FINISH gains over CONTINUE in state 1, averaged over p_c.

    Where FINISH would be tried, it gains the mean of p_f - B where that is positive; elsewhere
    p_f - B, which is a loss. `below` and `above` are the deviations of p_c on either side.
    """
    total = 0.0
    for k in range(len(EIGHTHS)):
        b = continue_value(p_c + EIGHTHS[k] * (above if EIGHTHS[k] > 0.0 else below), goal)
        tried = evidence_against(weight, p_f, b) <= needed
        total += positive_part_mean(p_f - b, spread) if tried else p_f - b
    return total


@kernel
def bayes_stable(goal: int, constants: Horizon, low: Counters, high: Counters) -> bool:
    """Return whether FINISH gains throughout a box, or loses throughout it."""
    p = spans(low, high, constants, FLAT_PRIOR)
    if p.least > p.most:
        return False
    if p.f_low >= continue_value(p.c_high, goal) + NEARLY:
        return never_due(goal, constants.horizon, low, high, p)
    weight_low, weight_high = low.f + 2.0 * constants.prior, high.f + 2.0 * constants.prior
    narrowest, widest = variances(p.f_low, p.f_high)
    near = rounding_slack(high.f)
    spread, needed = math.sqrt(narrowest / (weight_high + 1.0)), p.least - near
    if gain(goal, weight_high, p.f_low, spread, p.c_high, p.sd_low, p.sd_high, needed) > NEARLY:
        return is_free(low, high)
    if p.f_high >= continue_value(p.c_low, goal) - NEARLY:
        return False
    spread, needed = math.sqrt(widest / (weight_low + 1.0)), p.most + near
    return gain(goal, weight_low, p.f_high, spread, p.c_low, p.sd_high, p.sd_low, needed) < -NEARLY


FORMER_LAI: Final = Learner("former-lai", doorstep_lai, Leaning(), (0, 1), stable=lai_stable)
FORMER_BAYES: Final = Learner(
    "former-bayes", doorstep_bayes, Horizon(), (0, 1), stable=bayes_stable
)


def told(learner: Learner, rounds: float) -> Learner:
    """Return one of them that knows how many rounds there will be."""
    return replace(
        learner,
        name=f"{learner.name}-told",
        constants=learner.constants._replace(horizon=float(rounds)),
    )
