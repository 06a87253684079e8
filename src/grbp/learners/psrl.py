"""Posterior sampling by state: draw every chance from its posterior, and play what is best then."""

import math
from typing import NamedTuple

import numpy as np

from grbp.learners.best_policy import best_by_law
from grbp.learners.state_counters import StateCounters
from grbp.learners.state_learner import StateLearner
from grbp.numerics.arrays import Floats
from grbp.numerics.beta import gamma_draw, log_gamma_draw, share_draw
from grbp.numerics.jit import kernel
from grbp.numerics.rng import fold_in


class Prior(NamedTuple):
    """The prior of every chance.

    Parameters
    ----------
    prior : float
        How often each action is taken to have succeeded, and to have failed, in each state before
        the first round.
    """

    prior: float = 1.0


@kernel
def draw_shares(won: Floats, lost: Floats, prior: float, key: int) -> Floats:
    """Draw a chance for every state from its Beta posterior."""
    shares = np.empty(len(won))
    for k in range(len(won)):
        shares[k] = share_draw(fold_in(key, k), won[k] + prior, lost[k] + prior)
    return shares


@kernel
def draw_law(n: StateCounters, up: Floats, prior: float, key: int) -> Floats:
    """Draw the law of CONTINUE: what was seen to jump, from its Dirichlet posterior."""
    count = n.jumps.shape[0]
    law = np.zeros((count, count + 2))
    for k in range(count):
        counted = n.up[k] + n.down[k] + 2.0 * prior
        if counted >= 1.0:
            near = gamma_draw(fold_in(key, k), counted)
        else:
            near = max(math.exp(log_gamma_draw(fold_in(key, k), counted)), 1e-300)
        total, own = near, fold_in(key, count + k)
        for t in range(count + 2):
            if n.jumps[k, t] > 0.0:
                # A Gamma draw needs a shape of 1: what was seen at least once has that.
                law[k, t] = gamma_draw(fold_in(own, t), max(1.0, n.jumps[k, t]))
                total += law[k, t]
        law[k, k + 2] += near * up[k]
        law[k, k] += near * (1.0 - up[k])
        for t in range(count + 2):
            law[k, t] /= total
    return law


@kernel
def sample_policy(goal: int, constants: Prior, n: StateCounters, key: int) -> int:
    """Play what is best for chances drawn from their posteriors, state by state."""
    up = draw_shares(n.up, n.down, constants.prior, fold_in(key, 0))
    p_f = draw_shares(n.won, n.lost, constants.prior, fold_in(key, 1))
    far = n.jumps.shape[0] > 0  # See law_of_means.
    law = draw_law(n, up, constants.prior, fold_in(key, 2)) if far else n.jumps
    return best_by_law(up, law, p_f)


PSRL = StateLearner(
    "psrl",
    sample_policy,
    Prior(),
    "Draw every chance of every state from its posterior, and play the best policy for them",
    "Osband, Russo and Van Roy (2013), More Efficient Reinforcement Learning via Posterior"
    " Sampling",
)
