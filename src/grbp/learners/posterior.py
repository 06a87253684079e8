"""Bayes-UCB over the two policies, with the quantile of a Beta distribution it needs."""

from grbp._jit import kernel
from grbp.betas import beta_tail
from grbp.history import Counters
from grbp.learners.contract import Learner, NoConstants

_HALVINGS = 40


@kernel
def beta_quantile(a: float, b: float, tail: float) -> float:
    """What a Beta(a, b) variable exceeds with a given probability, by halving."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if beta_tail(a, b, middle) > tail:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@kernel
def bayes_ucb(_goal: int, _: NoConstants, n: Counters, _key: int) -> int:
    """The threshold with the larger quantile of its posterior at 1 - 1/rho."""
    if n.plays_0 == 0.0:
        return 0
    if n.plays_1 == 0.0:
        return 1
    tail = 1.0 / n.rho
    q_1 = beta_quantile(1.0 + n.wins_1, 1.0 + n.plays_1 - n.wins_1, tail)
    # The other quantile is no larger exactly if no more than the tail lies beyond this one;
    # the halving left an error in it that must not decide a tie.
    beyond = beta_tail(1.0 + n.wins_0, 1.0 + n.plays_0 - n.wins_0, q_1)
    return 1 if beyond <= tail * (1.0 + 1e-9) else 0


BAYES_UCB = Learner(
    "bayes-ucb",
    bayes_ucb,
    NoConstants(),
    line="Bayes-UCB over two policies",
    reference="Kaufmann, Cappe and Garivier 2012",
)
