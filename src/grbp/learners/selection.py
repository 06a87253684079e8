"""Two-armed bandits over the two threshold policies: they learn values, not probabilities.

Except for posterior sampling, each policy is first played once, threshold 0 before 1.
"""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from grbp._jit import hot, kernel
from grbp.betas import beta_draw
from grbp.history import Counters
from grbp.learners.contract import Doubt, Learner, NoConstants, Thinning
from grbp.learners.estimate import SAFE, mean_over, raised
from grbp.learners.getbe import PAPER
from grbp.learners.pairs import Betas, doubt_of, out_of_reach, unusual
from grbp.saddle import deviance
from grbp.streams import noise

FARTHEST: Final = 700.0
"""Values are told by s = -log(1 - value), which tells apart those near 1; up to this s."""

_STEPS: Final = 100
"""Enough for halving alone, which is hardly ever needed."""


CAREFUL: Final = 10.0
"""How much more care a claim about a box takes than a decision."""


class Arm(NamedTuple):
    """What is known of a policy, and what is needed to find its index.

    wins, lost   rounds
    budget       the evidence that there may be against its index
    near         about where the index is, as an s
    own          wins log(mean) + lost log(1 - mean), where it is needed
    """

    wins: float
    lost: float
    budget: float
    near: float
    own: float


class Place(NamedTuple):
    """A value by s = -log(1 - value), the value, what is left to 1, and the value's logarithm."""

    s: float
    value: float
    rest: float
    log_value: float


class Evidence(NamedTuple):
    """The evidence against a value as large as that of a place, or larger.

    amount, slope   the evidence, and its derivative by s
    care            how far off the amount may be, near the budget
    """

    amount: float
    slope: float
    care: float


@kernel
def _better(index_0: float, index_1: float) -> int:
    """The threshold with the larger index; ties go to 1."""
    return 1 if index_1 >= index_0 else 0


@kernel
def ps_polselection(_goal: int, _: NoConstants, n: Counters, key: int) -> int:
    """The threshold with the larger draw from the posterior of its value."""
    v_0 = beta_draw(noise(key, 1), 1.0 + n.wins_0, 1.0 + n.plays_0 - n.wins_0)
    v_1 = beta_draw(noise(key, 2), 1.0 + n.wins_1, 1.0 + n.plays_1 - n.wins_1)
    return _better(v_0, v_1)


@kernel
def values(wins_1: Counters, lost_1: Counters, wins_0: Counters, lost_0: Counters) -> Betas:
    """The posteriors of the values of 1 and of 0, each count from its own corner of a box."""
    return Betas(
        1.0 + wins_1.wins_1,
        1.0 + lost_1.plays_1 - lost_1.wins_1,
        1.0 + wins_0.wins_0,
        1.0 + lost_0.plays_0 - lost_0.wins_0,
    )


@kernel
def ps_usual(_goal: int, _: NoConstants, n: Counters) -> int:
    """The threshold whose value has the larger posterior mean."""
    return _better((1.0 + n.wins_0) / (2.0 + n.plays_0), (1.0 + n.wins_1) / (2.0 + n.plays_1))


@kernel
def ps_doubt(goal: int, constants: NoConstants, low: Counters, high: Counters) -> Doubt:
    """How likely, at most, the other threshold has the larger draw.

    Not unless the draw of the usual one is below a cut, or that of the other above it.
    """
    usual = ps_usual(goal, constants, low)
    if usual == 1:
        worst = values(low, high, high, low)
        cut = out_of_reach(worst.a_x, worst.b_x, low.rho, -1.0)
    else:
        worst = values(high, low, low, high)
        cut = out_of_reach(worst.a_y, worst.b_y, low.rho, -1.0)
    return doubt_of(worst, usual, cut, cut) if 0.0 < cut < 1.0 else Doubt(usual, 1.0, 0.0, 0.0)


@kernel
def ps_resolve(_goal: int, _: NoConstants, n: Counters, doubt: Doubt, key: int) -> int:
    """The threshold with the larger draw, in a round in doubt."""
    drawn = unusual(key, values(n, n, n, n), doubt)
    return doubt.usual if drawn.first < 0.0 else _better(drawn.second, drawn.first)


@kernel
def ucb_polselection(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """The threshold with the larger mean + sqrt(2 log(plays)/own plays)."""
    if n.plays_0 == 0.0:
        return 0
    if n.plays_1 == 0.0:
        return 1
    plays = n.plays_0 + n.plays_1
    return _better(raised(n.wins_0, n.plays_0, plays), raised(n.wins_1, n.plays_1, plays))


@kernel
def ucb_stable(_goal: int, _: NoConstants, low: Counters, high: Counters) -> bool:
    """Whether the same threshold has the larger index over a box of counters."""
    if low.plays_0 == 0.0 or low.plays_1 == 0.0:
        return False
    least = 2.0 * math.log(low.plays_0 + low.plays_1)
    most = 2.0 * math.log(high.plays_0 + high.plays_1)
    lost_0, lost_1 = low.plays_0 - low.wins_0, low.plays_1 - low.wins_1
    most_lost_0, most_lost_1 = high.plays_0 - high.wins_0, high.plays_1 - high.wins_1
    low_0 = mean_over(low.wins_0, most_lost_0) + math.sqrt(least / high.plays_0)
    high_0 = mean_over(high.wins_0, lost_0) + math.sqrt(most / low.plays_0)
    low_1 = mean_over(low.wins_1, most_lost_1) + math.sqrt(least / high.plays_1)
    high_1 = mean_over(high.wins_1, lost_1) + math.sqrt(most / low.plays_1)
    return low_1 > high_0 * (1.0 + SAFE) or low_0 > high_1 * (1.0 + SAFE)


@hot
def place_of(s: float) -> Place:
    """The place of an s above 0."""
    value = -math.expm1(-s)
    return Place(s, value, math.exp(-s), math.log(value))


@hot
def about(arm: Arm, s: float, seen: Evidence) -> float:
    """About where the evidence is the budget: its root is nearly straight (Newton)."""
    if seen.slope <= 0.0 or seen.amount <= 0.0:
        return arm.near
    return s + 2.0 * (math.sqrt(arm.budget * seen.amount) - seen.amount) / seen.slope


@hot
def share_of(one: Arm, other: Arm) -> float:
    """How near to the index of one to look: the more is known, the steeper is evidence."""
    steep, steep_other = math.sqrt(one.wins + one.lost), math.sqrt(other.wins + other.lost)
    return steep / (steep + steep_other)


def comparing(
    evidence: Callable[[Arm, Place], Evidence], even: bool
) -> Callable[[Arm, Arm, float], int]:
    """The kernel that compares two indices, each the s at which evidence is the budget.

    Neither is computed: any s at which the evidence is below the budget for one and above it
    for the other lies between them. Evidence grows with s. even: to look half way between, as
    care asks for that grows as steepness does.
    """
    kernel(evidence)

    def larger(one: Arm, other: Arm, safety: float) -> int:
        """1 if one has the larger index, -1 if the other has, 0 if rounding might decide.

        safety: by what the care that evidence needs is multiplied.
        """
        share = 0.5 if even else share_of(one, other)
        low, high, s = 0.0, FARTHEST, share * one.near + (1.0 - share) * other.near
        for _ in range(_STEPS):
            if not low < s < high:
                break
            here = place_of(s)
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
            s = share * about(one, s, seen) + (1.0 - share) * about(other, s, seen_other)
            if not low < s < high:
                s = 0.5 * (low + high)
        return 0

    return kernel(larger)


@kernel
def care_for(arm: Arm) -> float:
    """How far off evidence is at most, near its budget, if it grows as the root of plays."""
    return 1e-14 * (1.0 + arm.budget) * (10.0 + math.sqrt(arm.wins + arm.lost))


@kernel
def beta_guess(a: float, b: float, z: float) -> float:
    """About the s that a Beta(a, b) variable exceeds as seldom as a normal one exceeds z.

    Abramowitz and Stegun 26.5.22; a and b above 1/2.
    """
    of_a, of_b = 1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0)
    h, part = 2.0 / (of_a + of_b), (z * z - 3.0) / 6.0
    w = z * math.sqrt(h + part) / h + (of_b - of_a) * (part + 5.0 / 6.0 - 2.0 / (3.0 * h))
    return min(0.5 * FARTHEST, math.log1p(a / b * math.exp(2.0 * w)))


@kernel
def kl_arm(wins: float, lost: float, budget: float) -> Arm:
    """A policy to be compared by kl, which has about the quantiles of a Beta distribution."""
    if lost <= 0.0:
        return Arm(wins, lost, budget, FARTHEST, 0.0)
    if wins <= 0.0:
        return Arm(wins, lost, budget, budget / lost, 0.0)
    near = beta_guess(wins + 0.55, lost + 0.55, math.sqrt(2.0 * budget))
    plays = wins + lost
    own = wins * math.log(wins / plays) + lost * math.log(lost / plays)
    return Arm(wins, lost, budget, near, own)


@hot
def kl_slope(arm: Arm, here: Place) -> float:
    """The derivative of plays kl(mean, value) by s; negative below the mean."""
    return arm.lost - arm.wins * here.rest / here.value


@hot
def kl_roughly(arm: Arm, here: Place) -> Evidence:
    """plays kl(mean, value), and 0 up to the mean: a difference of large numbers."""
    slope = kl_slope(arm, here)
    if slope <= 0.0:
        return Evidence(0.0, 0.0, 0.0)
    amount = arm.own - arm.wins * here.log_value + arm.lost * here.s
    return Evidence(amount, slope, 1e-14 * (1.0 + arm.budget) * (10.0 + arm.wins + arm.lost))


@kernel
def kl_exactly(arm: Arm, here: Place) -> Evidence:
    """The same without cancellation."""
    slope, plays = kl_slope(arm, here), arm.wins + arm.lost
    if slope <= 0.0:
        return Evidence(0.0, 0.0, 0.0)
    amount = deviance(arm.wins, plays * here.value) + deviance(arm.lost, plays * here.rest)
    return Evidence(amount, slope, care_for(arm))


_larger_roughly, _larger_exactly = comparing(kl_roughly, False), comparing(kl_exactly, True)


@kernel
def kl_larger(one: Arm, other: Arm, safety: float) -> int:
    """1 if one may have the larger value, -1 if the other may, 0 if rounding might decide."""
    order = _larger_roughly(one, other, safety)
    return order if order != 0 else _larger_exactly(one, other, safety)


@kernel
def kl_ucb(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """The threshold whose value may still be larger, given kl(mean, value) <= log(plays)/n."""
    if n.plays_0 == 0.0:
        return 0
    if n.plays_1 == 0.0:
        return 1
    log = math.log(n.plays_0 + n.plays_1)
    of_0 = kl_arm(n.wins_0, n.plays_0 - n.wins_0, log)
    of_1 = kl_arm(n.wins_1, n.plays_1 - n.wins_1, log)
    return 0 if kl_larger(of_0, of_1, 1.0) > 0 else 1


@kernel
def kl_stable(_goal: int, _: NoConstants, low: Counters, high: Counters) -> bool:
    """Whether the same threshold has the larger index over a box of counters.

    An index grows with wins and with the budget, and falls with losses.
    """
    if low.plays_0 == 0.0 or low.plays_1 == 0.0:
        return False
    least, most = math.log(low.plays_0 + low.plays_1), math.log(high.plays_0 + high.plays_1)
    lost_0, lost_1 = low.plays_0 - low.wins_0, low.plays_1 - low.wins_1
    most_lost_0, most_lost_1 = high.plays_0 - high.wins_0, high.plays_1 - high.wins_1
    worst_1, best_0 = kl_arm(low.wins_1, most_lost_1, least), kl_arm(high.wins_0, lost_0, most)
    if kl_larger(worst_1, best_0, CAREFUL) > 0:
        return True
    worst_0, best_1 = kl_arm(low.wins_0, most_lost_0, least), kl_arm(high.wins_1, lost_1, most)
    return kl_larger(worst_0, best_1, CAREFUL) > 0


PS_POLSELECTION = Learner(
    "ps-polselection",
    ps_polselection,
    NoConstants(),
    line="posterior sampling of two policies",
    reference=PAPER,
    thinning=Thinning(ps_usual, ps_doubt, ps_resolve),
)
UCB_POLSELECTION = Learner(
    "ucb-polselection",
    ucb_polselection,
    NoConstants(),
    line="UCB1 over two policies",
    reference=PAPER,
    stable=ucb_stable,
)
KL_UCB = Learner(
    "kl-ucb",
    kl_ucb,
    NoConstants(),
    line="KL-UCB over two policies",
    reference="Garivier and Cappe 2011",
    stable=kl_stable,
)
