"""The averaged learner: each state's chance is its own, or that of all others.

It believes neither that all chances are alike nor that all differ, but weighs the two in every
state by what was seen. It plays what is best for the mean chances, and tries another action only as
long as optimal stopping says that this may pay. docs/chains-learners.md has the rule, its evidence
and its limits.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from grbp.learners.best_policy import best_by_law, law_of_means, values_by_law
from grbp.learners.doorstep_optimal import rounds_to_come
from grbp.learners.optimal_stopping import stopping_evidence
from grbp.learners.state_counters import StateCounters
from grbp.learners.state_learner import StateLearner
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import inlined, kernel
from grbp.numerics.special import bernoulli_divergence

_PASSES: Final = 2
"""How often the share of states with a chance of their own is estimated anew."""

_FARTHEST: Final = 700.0
"""The largest logarithm of odds; more would be infinite."""


class Pooling(NamedTuple):
    """The constants of averaged-states: what is thought beforehand, and its caution.

    Parameters
    ----------
    horizon : float, default 0
        How many rounds there will be; 0 if that is not known.
    apart : float, default 0.5
        The number of states that are thought to have a chance of their own before any is seen.
    alike : float, default 0.5
        The number of states that are thought to share theirs. Large against `apart`, all share.
    caution : float, default 0.5
        By how many standard deviations the value of CONTINUE is raised before FINISH is tried.
    """

    horizon: float = 0.0
    apart: float = 0.5
    alike: float = 0.5
    caution: float = 0.5


class Beliefs(NamedTuple):
    """What is believed of one action's chances, as a mixture in every state.

    Attributes
    ----------
    own : ndarray, shape (goal - 1,)
        The probability that a state has a chance of its own.
    apart, weight : ndarray, shape (goal - 1,)
        The mean of that chance, and the samples behind it with the prior's.
    common, total : float
        The same for the chance that the others share.
    mean : ndarray, shape (goal - 1,)
        The mean over both.
    """

    own: Floats
    apart: Floats
    weight: Floats
    common: float
    total: float
    mean: Floats


@inlined
def log_beta(a: float, b: float) -> float:
    """Compute the logarithm of the Beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@kernel
def weigh_own(won: Floats, lost: Floats, apart: float, alike: float) -> Floats:
    """Compute for every state the probability that its chance is its own.

    A state's outcomes are as likely as a flat prior makes them, or as the outcomes of all others
    together do. (So where one state differs much, no state is like all others together.) The share
    of states with a chance of their own is unknown as well, with the prior Beta(apart, alike); it
    is estimated from the states that have outcomes.
    """
    count, all_won, all_lost = len(won), won.sum(), lost.sum()
    whole, favour, odds = log_beta(1.0 + all_won, 1.0 + all_lost), np.ones(count), apart / alike
    for k in range(count):
        if won[k] + lost[k] > 0.0:
            others = log_beta(1.0 + all_won - won[k], 1.0 + all_lost - lost[k])
            gain = log_beta(1.0 + won[k], 1.0 + lost[k]) + others - whole
            favour[k] = math.exp(min(max(gain, -_FARTHEST), _FARTHEST))
    for _ in range(_PASSES):
        some_apart, some_alike = apart, alike
        for k in range(count):
            if won[k] + lost[k] > 0.0:
                some_apart += odds * favour[k] / (1.0 + odds * favour[k])
                some_alike += 1.0 / (1.0 + odds * favour[k])
        odds = some_apart / some_alike
    return 1.0 / (1.0 + 1.0 / (odds * favour))


@kernel
def believe(won: Floats, lost: Floats, apart: float, alike: float) -> Beliefs:
    """Compute what is believed of an action's chances."""
    own = weigh_own(won, lost, apart, alike)
    weight = won + lost + 2.0
    total = won.sum() + lost.sum() + 2.0
    mean, common = (won + 1.0) / weight, (won.sum() + 1.0) / total
    return Beliefs(own, mean, weight, common, total, own * mean + (1.0 - own) * common)


@inlined
def beta_variance(mean: float, weight: float) -> float:
    """Compute the variance of a Beta variable."""
    return mean * (1.0 - mean) / (weight + 1.0)


@kernel
def own_deviation(of: Beliefs, k: int) -> float:
    """Compute the standard deviation of a chance that others do not share."""
    spread = beta_variance(of.apart[k], of.weight[k]) + (of.apart[k] - of.mean[k]) ** 2
    return math.sqrt(of.own[k] * spread)


@kernel
def chance_above(mean: float, weight: float, x: float) -> float:
    """Compute the probability that a chance exceeds x, about: that of a normal with its evidence.

    The evidence of the samples against x is weight kl(mean, x), half the square of the deviate.
    """
    if x <= 0.0 or x >= 1.0:
        return 1.0 if x <= 0.0 else 0.0
    deviate = math.sqrt(max(0.0, weight * bernoulli_divergence(mean, x)))
    return 0.5 * math.erfc(deviate if x > mean else -deviate)


@kernel
def worth_trying(of: Beliefs, k: int, x: float, to_come: float) -> bool:
    """Return whether an action may have a chance above x, by optimal stopping.

    A few samples tell a chance of its own, and whether a state shares that of the others; only
    if the common one must be better than it seems does it take as many as those behind it.
    """
    mine = of.own[k] * chance_above(of.apart[k], of.weight[k], x)
    shared = (1.0 - of.own[k]) * chance_above(of.common, of.total, x)
    likely, had = mine + shared, of.weight[k] + 1.0
    if likely <= 0.0:
        return False
    if of.common <= x:
        had = (mine * had + shared * (of.total + 1.0)) / likely
    needed = 0.5 * math.erfc(math.sqrt(stopping_evidence(had, to_come)))
    return bool(likely >= needed)


@kernel
def turned(of: Beliefs) -> Beliefs:
    """Return what is believed of the chances of the opposite."""
    return Beliefs(of.own, 1.0 - of.apart, of.weight, 1.0 - of.common, of.total, 1.0 - of.mean)


@kernel
def may_continue(  # noqa: PLR0913, PLR0917
    n: StateCounters, c: Beliefs, law: Floats, f: float, values: Floats, k: int, to_come: float
) -> bool:
    """Return whether CONTINUE is worth trying where FINISH is better.

    It would be as good from a chance of going up on that makes up for its worth in the two
    neighbours; or, where the lower one is worth more, from such a chance of going down on.
    """
    step, near, rest = values[k + 2] - values[k], 1.0, 0.0
    if n.jumps.shape[0] > 0:
        near = law[k, k] + law[k, k + 2]
        for t in range(len(values)):
            if t not in {k, k + 2}:
                rest += law[k, t] * values[t]
    need = (f - rest) / near
    if step > 0.0:
        return worth_trying(c, k, (need - values[k]) / step, to_come)
    if step < 0.0:
        return worth_trying(turned(c), k, (values[k + 2] - need) / step, to_come)
    return False


@kernel
def find_values(n: StateCounters, up: Floats, p_f: Floats, policy: int) -> Floats:
    """Compute the values of all states, the dead end and the goal included, for some chances."""
    values = np.zeros(len(up) + 2)
    values[-1] = 1.0
    law = law_of_means(n, up) if n.jumps.shape[0] > 0 else n.jumps
    values[1:-1] = values_by_law(up, law, p_f, policy)
    return values


@kernel
def value_deviations(
    n: StateCounters, c: Beliefs, f: Beliefs, policy: int, values: Floats
) -> Floats:
    """Compute the standard deviations of the values of a policy, to first order.

    Each chance that the policy uses is moved by its deviation, and the one that CONTINUE has in
    common by its own; the squares of what this changes add up.
    """
    count, squares = len(c.mean), np.zeros(len(values))
    for k in range(count):
        up, p_f = c.mean.copy(), f.mean.copy()
        if (policy >> k) & 1:
            alike = (1.0 - f.own[k]) * (
                beta_variance(f.common, f.total) + (f.common - f.mean[k]) ** 2
            )
            p_f[k] = min(1.0, p_f[k] + math.sqrt(own_deviation(f, k) ** 2 + alike))
        else:
            up[k] = min(1.0, up[k] + own_deviation(c, k))
        squares += (find_values(n, up, p_f, policy) - values) ** 2
    common = math.sqrt(beta_variance(c.common, c.total))
    up = np.minimum(1.0, c.mean + (1.0 - c.own) * common)
    squares += (find_values(n, up, f.mean, policy) - values) ** 2
    return np.sqrt(squares)


@kernel
def average_policy(goal: int, constants: Pooling, n: StateCounters, _key: int) -> int:
    """Play what is best on average, and try what may be better while that pays."""
    c = believe(n.up, n.down, constants.apart, constants.alike)
    f = believe(n.won, n.lost, constants.apart, constants.alike)
    law = law_of_means(n, c.mean)
    policy = best_by_law(c.mean, law, f.mean)
    values = find_values(n, c.mean, f.mean, policy)
    coming, played, deviations = rounds_to_come(0.0, n.rho), policy, np.empty(0)
    if constants.horizon > 0.0:  # The end is known: towards it, less is tried.
        coming = min(coming, rounds_to_come(constants.horizon, n.rho))
    for k in range(goal - 1):
        visits = n.up[k] + n.down[k] + n.won[k] + n.lost[k]
        to_come = coming * min(1.0, (visits + 1.0) / (n.rho + 1.0))
        if (policy >> k) & 1:
            if may_continue(n, c, law, f.mean[k], values, k, to_come):
                played ^= 1 << k
        elif worth_trying(f, k, values[k + 1], to_come):
            if len(deviations) == 0:  # They are seldom needed.
                deviations = value_deviations(n, c, f, policy, values)
            if worth_trying(f, k, values[k + 1] + constants.caution * deviations[k + 1], to_come):
                played ^= 1 << k
    return played


AVERAGED = StateLearner(
    "averaged-states",
    average_policy,
    Pooling(),
    "Weigh one chance for all states against one each; try what may be better while that pays",
    "docs/chains-learners.md",
)
