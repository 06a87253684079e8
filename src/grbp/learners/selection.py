"""Two-armed bandits over the two threshold policies: they learn values, not probabilities.

Except for posterior sampling, each policy is first played once, threshold 0 before 1.
"""

import math

from grbp._jit import kernel
from grbp.history import Counters
from grbp.learners.contract import Learner, NoConstants
from grbp.learners.estimate import beta_draw
from grbp.learners.getbe import PAPER
from grbp.streams import noise

_HALVINGS = 40
"""Halvings of an interval of length at most 1: far below what could change a decision."""


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
def ucb_polselection(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """The threshold with the larger mean + sqrt(2 log(plays)/own plays)."""
    if n.plays_0 == 0.0:
        return 0
    if n.plays_1 == 0.0:
        return 1
    twice_log = 2.0 * math.log(n.plays_0 + n.plays_1)
    return _better(
        n.wins_0 / n.plays_0 + math.sqrt(twice_log / n.plays_0),
        n.wins_1 / n.plays_1 + math.sqrt(twice_log / n.plays_1),
    )


@kernel
def bernoulli_divergence(p: float, q: float) -> float:
    """kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), for q strictly between 0 and 1."""
    first = p * math.log(p / q) if p > 0.0 else 0.0
    second = (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return first + second


@kernel
def kl_upper(mean: float, budget: float) -> float:
    """The largest q with kl(mean, q) <= budget, by halving."""
    low, high = mean, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if 0.0 < middle < 1.0 and bernoulli_divergence(mean, middle) <= budget:
            low = middle
        else:
            high = middle
    return low


@kernel
def kl_ucb(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """The threshold whose value may still be larger, given kl(mean, value) <= log(plays)/n."""
    if n.plays_0 == 0.0:
        return 0
    if n.plays_1 == 0.0:
        return 1
    log = math.log(n.plays_0 + n.plays_1)
    return _better(
        kl_upper(n.wins_0 / n.plays_0, log / n.plays_0),
        kl_upper(n.wins_1 / n.plays_1, log / n.plays_1),
    )


PS_POLSELECTION = Learner(
    "ps-polselection",
    ps_polselection,
    NoConstants(),
    line="posterior sampling of two policies",
    reference=PAPER,
)
UCB_POLSELECTION = Learner(
    "ucb-polselection",
    ucb_polselection,
    NoConstants(),
    line="UCB1 over two policies",
    reference=PAPER,
)
KL_UCB = Learner(
    "kl-ucb",
    kl_ucb,
    NoConstants(),
    line="KL-UCB over two policies",
    reference="Garivier and Cappe 2011",
)
