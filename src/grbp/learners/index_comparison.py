"""Index learners over the two policies, whose indices are compared without being computed.

An index is the largest value against which there is not more evidence than a budget.
"""

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from grbp.learners.base import Learner, NoConstants
from grbp.learners.counters import Counters, corners
from grbp.numerics.jit import inlined, kernel

FARTHEST: Final = 700.0
"""The largest s = -log(1 - value) looked at. Unlike values, such s tell apart those near 1."""

_STEPS: Final = 100
"""Enough for halving alone, which is hardly ever needed."""

CAREFUL: Final = 10.0
"""How much more care a claim about a box takes than a decision."""


class Arm(NamedTuple):
    """A policy as an arm of a bandit, with what is needed to find its index.

    Parameters
    ----------
    wins, lost : float
        The rounds won and lost with it.
    budget : float
        The evidence that there may be against its index.
    near : float
        An s close to that of the index.
    own : float
        wins log(mean) + lost log(1 - mean), where it is needed.
    """

    wins: float
    lost: float
    budget: float
    near: float
    own: float


class Candidate(NamedTuple):
    """A value by its s = -log(1 - value), with 1 - value as `rest` and the value's logarithm."""

    s: float
    value: float
    rest: float
    log_value: float


class Evidence(NamedTuple):
    """The evidence against a value as large as a candidate's, or larger.

    Parameters
    ----------
    amount, slope : float
        The evidence, and its derivative by s.
    care : float
        The largest error of the amount near the budget.
    """

    amount: float
    slope: float
    care: float


@inlined
def candidate_at(s: float) -> Candidate:
    """Return the candidate of an s above 0."""
    value = -math.expm1(-s)
    return Candidate(s, value, math.exp(-s), math.log(value))


@inlined
def guess_index(arm: Arm, s: float, seen: Evidence) -> float:
    """Estimate the s at which the evidence is the budget: its root is nearly straight (Newton)."""
    if seen.slope <= 0.0 or seen.amount <= 0.0:
        return arm.near
    return s + 2.0 * (math.sqrt(arm.budget * seen.amount) - seen.amount) / seen.slope


@inlined
def search_share(one: Arm, other: Arm) -> float:
    """Compute how near to the index of one to look: the more is known, the steeper is evidence."""
    steep, steep_other = math.sqrt(one.wins + one.lost), math.sqrt(other.wins + other.lost)
    return steep / (steep + steep_other)


def make_comparison(
    evidence: Callable[[Arm, Candidate], Evidence], even: bool
) -> Callable[[Arm, Arm, float], int]:
    """Make the kernel that compares two indices, each the s at which evidence is the budget.

    Neither is computed: any s at which the evidence is below the budget for one and above it
    for the other lies between them. Evidence grows with s. If `even`, the search looks half way
    between the two, as is best where the care needed grows as the steepness does.
    """
    kernel(evidence)

    def larger(one: Arm, other: Arm, safety: float) -> int:
        """Return 1 if one has the larger index, -1 if the other has, 0 if rounding might decide.

        The care that evidence needs is multiplied by `safety`.
        """
        share = 0.5 if even else search_share(one, other)
        low, high, s = 0.0, FARTHEST, share * one.near + (1.0 - share) * other.near
        for _ in range(_STEPS):
            if not low < s < high:
                break
            here = candidate_at(s)
            seen, seen_other = evidence(one, here), evidence(other, here)
            over, over_other = seen.amount - one.budget, seen_other.amount - other.budget
            care, care_other = safety * seen.care, safety * seen_other.care
            if over < -care and over_other > care_other:
                return 1
            if over > care and over_other < -care_other:
                return -1
            if abs(over) <= care and abs(over_other) <= care_other:
                break
            if over <= 0.0 and over_other <= 0.0:
                low = s
            elif over > 0.0 and over_other > 0.0:
                high = s
            s = share * guess_index(one, s, seen) + (1.0 - share) * guess_index(
                other, s, seen_other
            )
            if not low < s < high:
                s = 0.5 * (low + high)
        return 0

    return kernel(larger)


@kernel
def care_for(arm: Arm) -> float:
    """Bound the error of evidence near its budget, if it grows as the root of plays does."""
    return 1e-14 * (1.0 + arm.budget) * (10.0 + math.sqrt(arm.wins + arm.lost))


@kernel
def beta_guess(a: float, b: float, z: float) -> float:
    """Estimate the s that a Beta(a, b) variable exceeds as seldom as a normal one exceeds z.

    Abramowitz and Stegun 26.5.22, for a and b above 1/2.
    """
    of_a, of_b = 1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0)
    h, part = 2.0 / (of_a + of_b), (z * z - 3.0) / 6.0
    w = z * math.sqrt(h + part) / h + (of_b - of_a) * (part + 5.0 / 6.0 - 2.0 / (3.0 * h))
    return min(0.5 * FARTHEST, math.log1p(a / b * math.exp(2.0 * w)))


def index_learner(
    title: str,
    reference: str,
    arm_of: Callable[[float, float, float], Arm],
    roughly: Callable[[Arm, Candidate], Evidence],
    exactly: Callable[[Arm, Candidate], Evidence],
    budget: Callable[[Counters], float],
) -> Learner:
    """Make the learner that plays the policy with the larger index.

    Ties, and what rounding may have made of them, go to threshold 1. Evidence is computed exactly
    only where the rough one does not decide. An index grows with wins and with the budget, which
    grows with plays and with the round, and falls with losses.
    """
    rough, exact = make_comparison(roughly, even=False), make_comparison(exactly, even=True)

    def larger(one: Arm, other: Arm, safety: float) -> int:
        """Return 1 if one has the larger index, -1 if the other has, 0 if rounding might decide."""
        order = rough(one, other, safety)
        return order if order != 0 else exact(one, other, safety)

    kernel(larger)

    def decide(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
        if n.plays_0 == 0.0 or n.plays_1 == 0.0:
            return 0 if n.plays_0 == 0.0 else 1
        allowed = budget(n)
        of_0 = arm_of(n.wins_0, n.plays_0 - n.wins_0, allowed)
        of_1 = arm_of(n.wins_1, n.plays_1 - n.wins_1, allowed)
        return 0 if larger(of_0, of_1, 1.0) > 0 else 1

    def stable(_goal: int, _: Any, low: Counters, high: Counters) -> bool:
        if low.plays_0 == 0.0 or low.plays_1 == 0.0:
            return False
        least, most = budget(low), budget(high)
        worst, best = corners(low, high)
        low_1 = arm_of(worst.won_1, worst.lost_1, least)
        high_0 = arm_of(worst.won_0, worst.lost_0, most)
        if larger(low_1, high_0, CAREFUL) > 0:
            return True
        low_0 = arm_of(best.won_0, best.lost_0, least)
        high_1 = arm_of(best.won_1, best.lost_1, most)
        return larger(low_0, high_1, CAREFUL) > 0

    summary = f"Play {title} over the two policies"
    return Learner(
        title.lower(), kernel(decide), summary=summary, reference=reference, stable=kernel(stable)
    )
