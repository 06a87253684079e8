"""Learners that explore where it is cheapest: in state 1, the doorstep of the dead end.

All play threshold 0 or 1. In state 1, FINISH is worth p_f and CONTINUE B(p_c), which is learned
on the way. What is left is a one-armed bandit: how often to try FINISH while it looks worse. Here
are the simple learner and what both share; the one that gives up by optimal stopping is in
`doorstep_optimal`. The proofs are in docs/doorstep.md, the learners in docs/doorstep-learners.md.
"""

import math
from typing import Final

from grbp.learners.base import Learner, NoConstants
from grbp.learners.comparison import odds_sum
from grbp.learners.counters import Counters, corners
from grbp.numerics.jit import inlined, kernel
from grbp.numerics.special import bernoulli_divergence

HERE: Final = "docs/doorstep-learners.md"

FREE: Final = 0.25
"""How often a round CONTINUE must be taken to be learned on the way, without being explored."""

NEARLY: Final = 1e-9
"""How far apart two numbers of order 1 must be for rounding not to decide which is larger."""

PER_SAMPLE: Final = 2e-14
"""More than rounding may add to the evidence of a sample; see `rounding_slack`."""

_HALVINGS: Final = 50


@inlined
def continue_value(p_c: float, goal: int) -> float:
    """Compute B(p_c), the value of CONTINUE in state 1, with p_c moved into [0, 1] if outside."""
    if p_c <= 0.0:
        return 0.0
    return 1.0 / odds_sum((1.0 - p_c) / p_c, goal) if p_c < 1.0 else 1.0


@kernel
def boundary_inverse(p_f: float, goal: int) -> float:
    """Find the p_c for which CONTINUE is worth p_f, by halving."""
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
    """Compute the evidence of samples with mean p against a probability of q or more."""
    if q <= p:
        return 0.0
    return taken * bernoulli_divergence(p, q) if q < 1.0 else math.inf  # n kl(p, q)


@inlined
def rounding_slack(taken: float) -> float:
    """Return how far evidence must be from what is needed for rounding not to matter.

    The two terms of kl cancel, and each is off by a few units in the last place of 1: of a ratio
    near 1, of 1 - q, of p itself. So n kl is off by n times as much, whatever it is.
    """
    return max(NEARLY, PER_SAMPLE * taken)


@inlined
def is_free(low: Counters, high: Counters) -> bool:
    """Return whether CONTINUE was taken often enough throughout a box to be learned on the way.

    Where it was not, FINISH is not tried at its cost.
    """
    return low.c >= FREE * high.rho


@inlined
def doorstep_kl(goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """Try FINISH in state 1 while f kl(p_f, B) <= log(rho)."""
    if min(n.c, n.f) <= 0.0:  # A memory has forgotten all of it, so it is tried again.
        return 1 if n.c > 0.0 else 0
    p_f, p_c, log, free = n.f_goal / n.f, n.c_up / n.c, math.log(n.rho), is_free(n, n)
    if p_f >= continue_value(p_c, goal):
        return 1 if free or evidence_against(n.c, p_c, boundary_inverse(p_f, goal)) > log else 0
    return 1 if free and evidence_against(n.f, p_f, continue_value(p_c, goal)) <= log else 0


@kernel
def kl_stable(goal: int, _: NoConstants, low: Counters, high: Counters) -> bool:
    """Return whether the evidence is below log(rho), or above it, throughout a box."""
    worst, best = corners(low, high)
    f_low = worst.f_goal / (worst.f_goal + worst.f_lost)
    f_high = best.f_goal / (best.f_goal + best.f_lost)
    c_low, c_high = best.up / (best.up + best.down), worst.up / (worst.up + worst.down)
    least, most, near = math.log(low.rho), math.log(high.rho), rounding_slack(high.f)
    b_high, free = continue_value(c_high, goal), is_free(low, high)
    if f_low >= b_high + NEARLY:
        enough = most + rounding_slack(high.c)
        return free or evidence_against(low.c, c_high, boundary_inverse(f_low, goal)) > enough
    if evidence_against(high.f, f_low, b_high) < least - near:
        return free
    b_low = continue_value(c_low, goal)
    return f_high < b_low - NEARLY and evidence_against(low.f, f_high, b_low) > most + near


DOORSTEP_KL = Learner(
    "doorstep-kl",
    doorstep_kl,
    thresholds=(0, 1),
    reference=f"Lai and Robbins 1985; {HERE}",
    stable=kl_stable,
)
