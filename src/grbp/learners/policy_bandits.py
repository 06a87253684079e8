"""Two-armed bandits over the two threshold policies, which learn values, not probabilities.

Except for posterior sampling, they first play each policy once, threshold 0 before 1.
"""

import math

from grbp.learners.base import Doubt, Learner, NoConstants, Thinning
from grbp.learners.comparison import SAFE, mean_over, ucb_index
from grbp.learners.counters import Corner, Counters, as_corner, corners
from grbp.learners.getbe import PAPER
from grbp.learners.index_comparison import (
    FARTHEST,
    Arm,
    Candidate,
    Evidence,
    beta_guess,
    care_for,
    index_learner,
)
from grbp.learners.posterior_thinning import Betas, doubt_of, draw_unusual, out_of_reach
from grbp.numerics.beta import beta_draw
from grbp.numerics.jit import inlined, kernel
from grbp.numerics.rng import fold_in
from grbp.numerics.special import deviance


@kernel
def _larger_index(index_0: float, index_1: float) -> int:
    """Return the threshold with the larger index, or 1 for a tie."""
    return 1 if index_1 >= index_0 else 0


@kernel
def ps_polselection(_goal: int, _: NoConstants, n: Counters, key: int) -> int:
    """Play the policy whose value has the larger posterior draw."""
    v_0 = beta_draw(fold_in(key, 1), 1.0 + n.wins_0, 1.0 + n.plays_0 - n.wins_0)
    v_1 = beta_draw(fold_in(key, 2), 1.0 + n.wins_1, 1.0 + n.plays_1 - n.wins_1)
    return _larger_index(v_0, v_1)


@kernel
def values(n: Corner) -> Betas:
    """Return the posteriors of the values of thresholds 1 and 0 at a corner of a box."""
    return Betas(1.0 + n.won_1, 1.0 + n.lost_1, 1.0 + n.won_0, 1.0 + n.lost_0)


@kernel
def ps_usual_threshold(_goal: int, _: NoConstants, n: Counters) -> int:
    """Return the threshold whose value has the larger posterior mean."""
    return _larger_index((1.0 + n.wins_0) / (2.0 + n.plays_0), (1.0 + n.wins_1) / (2.0 + n.plays_1))


@kernel
def ps_doubt(goal: int, constants: NoConstants, low: Counters, high: Counters) -> Doubt:
    """Bound the probability that the other threshold has the larger draw.

    That takes a draw of the usual one below a cut, or one of the other above it.
    """
    usual = ps_usual_threshold(goal, constants, low)
    worst, best = corners(low, high)
    pair = values(worst if usual == 1 else best)
    a, b = (pair.a_x, pair.b_x) if usual == 1 else (pair.a_y, pair.b_y)
    cut = out_of_reach(a, b, low.rho, -1.0)
    return doubt_of(pair, usual, cut, cut) if 0.0 < cut < 1.0 else Doubt(usual, 1.0, 0.0, 0.0)


@kernel
def ps_resolve(_goal: int, _: NoConstants, n: Counters, doubt: Doubt, key: int) -> int:
    """Choose the threshold of a round in doubt, by a draw of each value."""
    v_1, v_0 = draw_unusual(key, values(as_corner(n)), doubt)
    return doubt.usual if v_1 < 0.0 else _larger_index(v_0, v_1)


@kernel
def ucb_polselection(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """Play UCB1 over the two policies."""
    if n.plays_0 == 0.0 or n.plays_1 == 0.0:
        return 0 if n.plays_0 == 0.0 else 1
    plays = n.plays_0 + n.plays_1
    return _larger_index(
        ucb_index(n.wins_0, n.plays_0, plays), ucb_index(n.wins_1, n.plays_1, plays)
    )


@kernel
def ucb_stable(_goal: int, _: NoConstants, low: Counters, high: Counters) -> bool:
    """Return whether the same threshold has the larger index throughout a box."""
    if low.plays_0 == 0.0 or low.plays_1 == 0.0:
        return False
    least = 2.0 * math.log(low.plays_0 + low.plays_1)
    most = 2.0 * math.log(high.plays_0 + high.plays_1)
    worst, best = corners(low, high)
    low_0 = mean_over(best.won_0, best.lost_0) + math.sqrt(least / high.plays_0)
    high_0 = mean_over(worst.won_0, worst.lost_0) + math.sqrt(most / low.plays_0)
    low_1 = mean_over(worst.won_1, worst.lost_1) + math.sqrt(least / high.plays_1)
    high_1 = mean_over(best.won_1, best.lost_1) + math.sqrt(most / low.plays_1)
    return low_1 > high_0 * (1.0 + SAFE) or low_0 > high_1 * (1.0 + SAFE)


@kernel
def kl_arm(wins: float, lost: float, budget: float) -> Arm:
    """Return a policy as an arm, to be compared by kl, whose index is near a Beta quantile."""
    if lost <= 0.0:
        return Arm(wins, lost, budget, FARTHEST, 0.0)
    if wins <= 0.0:
        return Arm(wins, lost, budget, budget / lost, 0.0)
    near = beta_guess(wins + 0.55, lost + 0.55, math.sqrt(2.0 * budget))
    plays = wins + lost
    own = wins * math.log(wins / plays) + lost * math.log(lost / plays)
    return Arm(wins, lost, budget, near, own)


@inlined
def kl_slope(arm: Arm, here: Candidate) -> float:
    """Compute the derivative of plays kl(mean, value) by s, which is negative below the mean."""
    return arm.lost - arm.wins * here.rest / here.value


@inlined
def kl_roughly(arm: Arm, here: Candidate) -> Evidence:
    """Compute plays kl(mean, value), and 0 up to the mean, as a difference of large numbers."""
    slope = kl_slope(arm, here)
    if slope <= 0.0:
        return Evidence(0.0, 0.0, 0.0)
    amount = arm.own - arm.wins * here.log_value + arm.lost * here.s
    return Evidence(amount, slope, 1e-14 * (1.0 + arm.budget) * (10.0 + arm.wins + arm.lost))


@kernel
def kl_exactly(arm: Arm, here: Candidate) -> Evidence:
    """Compute the same without cancellation."""
    slope, plays = kl_slope(arm, here), arm.wins + arm.lost
    if slope <= 0.0:
        return Evidence(0.0, 0.0, 0.0)
    amount = deviance(arm.wins, plays * here.value) + deviance(arm.lost, plays * here.rest)
    return Evidence(amount, slope, care_for(arm))


@kernel
def log_plays(n: Counters) -> float:
    """Compute the budget of KL-UCB: plays kl(mean, index) = log(all plays)."""
    return math.log(n.plays_0 + n.plays_1)


PS_POLSELECTION = Learner(
    "ps-polselection",
    ps_polselection,
    reference=PAPER,
    thinning=Thinning(ps_usual_threshold, ps_doubt, ps_resolve),
)
UCB_POLSELECTION = Learner("ucb-polselection", ucb_polselection, reference=PAPER, stable=ucb_stable)
KL_UCB = index_learner(
    "KL-UCB", "Garivier and Cappe 2011", kl_arm, kl_roughly, kl_exactly, log_plays
)
