"""GETBE, the paper's learner, in its three variants, and NoExplore."""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from grbp.learners.base import Doubt, Learner, NoConstants, Thinning
from grbp.learners.comparison import (
    finish_is_right,
    log_of,
    mean_over,
    odds_sum,
    safe_for,
    surely_right,
    ucb_index,
)
from grbp.learners.counters import Corner, Counters, as_corner, corners
from grbp.learners.posterior_thinning import Betas, doubt_of, draw_unusual, out_of_reach
from grbp.numerics.beta import gamma_pair
from grbp.numerics.jit import inlined, kernel
from grbp.numerics.rng import fold_in

PAPER: Final = "Akbarzadeh and Tekin 2016"


class Control(NamedTuple):
    """The constant of the control function D(rho) = gamma log(rho).

    FINISH must have been taken so often by round rho that its estimate can be trusted.

    Parameters
    ----------
    gamma : float, default 15
        FINISH must have been tried gamma log(rho) times by round rho; the paper has 15.

    See Also
    --------
    getbe_with : Make GETBE-SM with any other control function.

    Examples
    --------
    >>> import grbp
    >>> grbp.find_learner("getbe-sm:gamma=30", 4).constants
    Control(gamma=30.0)
    """

    gamma: float = 15.0


@inlined
def no_explore(goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """Trust the sample means and never explore."""
    return 1 if finish_is_right(goal, n.f_goal, n.f, n.c_up, n.c - n.c_up) else 0


@inlined
def no_explore_stable(goal: int, _: NoConstants, low: Counters, high: Counters) -> bool:
    """Return whether the estimates call the same threshold right throughout a box."""
    return surely_right(goal, low, high) >= 0


@inlined
def getbe_sm(goal: int, constants: Control, n: Counters, _key: int) -> int:
    """Trust the sample means; force FINISH gamma log(rho) times.

    Where the sample means say never to finish, FINISH is taken at once as long as it was tried
    fewer than gamma log(rho) times.

    Paper: alg:GRBP
    Differs: log is natural and the test strict, so round 1 is never forced.
    """
    if finish_is_right(goal, n.f_goal, n.f, n.c_up, n.c - n.c_up):
        return 1
    return goal - 1 if n.f < constants.gamma * log_of(n.rho) else 0  # N_F < D(rho)


@inlined
def getbe_sm_stable(goal: int, constants: Control, low: Counters, high: Counters) -> bool:
    """Return whether estimates agree throughout a box, and FINISH is due everywhere or nowhere."""
    right = surely_right(goal, low, high)
    if right != 0:
        return right == 1
    due, ever_due = constants.gamma * log_of(low.rho), constants.gamma * log_of(high.rho)
    return high.f < due or low.f >= ever_due


def getbe_with(control: Callable[[int], float], name: str = "getbe-sm (own D)") -> Learner:
    """Make GETBE-SM with your own control function.

    Parameters
    ----------
    control : callable
        ``control(rho)`` is D(rho), how often FINISH must have been tried before round rho. It must
        not decrease with the round, and Numba must be able to compile it.
    name : str, optional
        The name that tables and figures show.

    Returns
    -------
    Learner

    Notes
    -----
    Paper: alg:GRBP

    Examples
    --------
    >>> import math
    >>> import grbp
    >>> learner = grbp.getbe_with(lambda rho: math.sqrt(rho), "getbe-sm (root)")
    >>> doubtful = grbp.Counters(101, 9.0, 0.0, 50.0, 40.0, 100.0, 80.0, 0.0, 0.0)
    >>> learner.choose(4, doubtful, 0)  # FINISH was tried 9 times, and D(101) is above 10
    3
    """
    kernel(control)

    def decide(goal: int, _: NoConstants, n: Counters, _key: int) -> int:
        """Trust the sample means; force FINISH D(rho) times."""
        if finish_is_right(goal, n.f_goal, n.f, n.c_up, n.c - n.c_up):
            return 1
        return goal - 1 if n.f < control(n.rho) else 0  # N_F < D(rho)

    def stable(goal: int, _: NoConstants, low: Counters, high: Counters) -> bool:
        right = surely_right(goal, low, high)
        if right != 0:
            return right == 1
        return high.f < control(low.rho) or low.f >= control(high.rho)

    return Learner(name, decide, reference=PAPER, stable=stable)


@inlined
def getbe_ps(goal: int, _: NoConstants, n: Counters, key: int) -> int:
    """Trust one draw of each probability from its posterior."""
    # A Beta draw is the share of one Gamma draw in two; the comparison needs no shares.
    won, lost = gamma_pair(fold_in(key, 1), 1.0 + n.f_goal, 1.0 + n.f - n.f_goal)
    up, down = gamma_pair(fold_in(key, 2), 1.0 + n.c_up, 1.0 + n.c - n.c_up)
    return 1 if finish_is_right(goal, won, won + lost, up, down) else 0


@kernel
def ps_usual_threshold(goal: int, _: NoConstants, n: Counters) -> int:
    """Return the threshold that is right for the means of the posteriors."""
    up, down = 1.0 + n.c_up, 1.0 + n.c - n.c_up
    return 1 if finish_is_right(goal, 1.0 + n.f_goal, 2.0 + n.f, up, down) else 0


@kernel
def posteriors(n: Corner) -> Betas:
    """Return the posteriors of p_f and p_c at a corner of a box."""
    return Betas(1.0 + n.f_goal, 1.0 + n.f_lost, 1.0 + n.up, 1.0 + n.down)


@kernel
def ps_doubt(goal: int, constants: NoConstants, low: Counters, high: Counters) -> Doubt:
    """Bound the probability that the draws call another threshold right than the means do.

    For any x, they do so only if p_f is drawn on the other side of B(x), or p_c on that of x.
    """
    usual = ps_usual_threshold(goal, constants, low)
    worst, best = corners(low, high)
    pair = posteriors(worst if usual == 1 else best)
    x = out_of_reach(pair.a_y, pair.b_y, low.rho, 1.0 if usual == 1 else -1.0)
    if not 0.0 < x < 1.0:
        return Doubt(usual, 1.0, 0.0, 0.0)
    return doubt_of(pair, usual, 1.0 / odds_sum((1.0 - x) / x, goal), x)


@kernel
def ps_resolve(goal: int, _: NoConstants, n: Counters, doubt: Doubt, key: int) -> int:
    """Choose the threshold of a round in doubt, by a draw of each probability."""
    p_f, p_c = draw_unusual(key, posteriors(as_corner(n)), doubt)
    if p_f < 0.0:
        return doubt.usual
    return 1 if finish_is_right(goal, p_f, 1.0, p_c, 1.0 - p_c) else 0


@inlined
def getbe_ucb(goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """Trust both sample means raised by sqrt(2 log N/n)."""
    p_f = ucb_index(n.f_goal, n.f, n.f + n.c)
    p_c = ucb_index(n.c_up, n.c, n.f + n.c)
    if p_f >= 1.0:
        return 1
    return 1 if p_c < 1.0 and finish_is_right(goal, p_f, 1.0, p_c, 1.0 - p_c) else 0


@inlined
def getbe_ucb_stable(goal: int, _: NoConstants, low: Counters, high: Counters) -> bool:
    """Return whether the raised estimates call the same threshold right throughout a box."""
    least, most = 2.0 * math.log(low.f + low.c), 2.0 * math.log(high.f + high.c)
    worst, best = corners(low, high)
    p_f = mean_over(worst.f_goal, worst.f_lost) + math.sqrt(least / high.f)
    p_c = mean_over(worst.up, worst.down) + math.sqrt(most / low.c)
    safe = safe_for(goal)
    if p_f >= 1.0 + safe:
        return True
    if p_c < 1.0 and p_f * odds_sum((1.0 - p_c) / p_c, goal) >= 1.0 + safe:
        return True
    p_f = mean_over(best.f_goal, best.f_lost) + math.sqrt(most / low.f)
    p_c = min(1.0, mean_over(best.up, best.down) + math.sqrt(least / high.c))
    return p_f < 1.0 and p_f * odds_sum((1.0 - p_c) / p_c, goal) < 1.0 - safe


SAMPLE_MEAN = Learner("getbe-sm", getbe_sm, Control(), reference=PAPER, stable=getbe_sm_stable)
POSTERIOR_SAMPLING = Learner(
    "getbe-ps",
    getbe_ps,
    reference=PAPER,
    thinning=Thinning(ps_usual_threshold, ps_doubt, ps_resolve),
)
UPPER_CONFIDENCE = Learner("getbe-ucb", getbe_ucb, reference=PAPER, stable=getbe_ucb_stable)
NO_EXPLORE = Learner("no-explore", no_explore, reference=PAPER, stable=no_explore_stable)
