"""What the thresholds 0 and 1 would have reached from the first states of past cases."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from grbp.fitting.estimates import Proportion, average, include_estimate, summarize_draws
from grbp.fitting.statewise import StatewiseChain
from grbp.fitting.transitions import Transitions
from grbp.numerics.arrays import Floats
from grbp.theory.posterior import Estimate, Posterior, Prior
from grbp.theory.ruin import hit, log_failure_ratio

_DRAWS: Final = 4000
"""Draws from the posterior."""

_MOST_CELLS: Final = 4_000_000
"""Values of draws by first states: where cases started in many states there are fewer draws."""


class PolicyValues(NamedTuple):
    """The share of goals that the thresholds 0 and 1 would have reached, and of 1 more than 0."""

    value_0: Estimate | None = None
    value_1: Estimate | None = None
    gain: Estimate | None = None


def value_by_model(
    moves: Transitions, p_c: Proportion, p_f: Proportion, posterior: Posterior
) -> PolicyValues:
    """Value the thresholds from the first states, with one p_C and one p_F."""
    if not p_c.tries:
        return PolicyValues()
    goal, starts, level = moves.records.goal, moves.first_states, p_c.level
    states = np.flatnonzero(starts) + 1
    weights = starts[states - 1] / starts.sum()
    random = np.random.default_rng(0)
    draws = min(_DRAWS, _MOST_CELLS // len(states))
    log_r = log_failure_ratio(_with_draws(p_c, posterior.prior_c, draws, random))[:, None]
    value_0 = _estimate_and_draws(hit(states, goal, log_r) @ weights, level)
    if not p_f.tries:
        return PolicyValues(value_0)
    up = hit(states - 1, goal - 1, log_r) @ weights
    value_1 = up + (1.0 - up) * _with_draws(p_f, posterior.prior_f, draws, random)
    gain = include_estimate(*posterior.gain(starts / starts.sum(), level))
    return PolicyValues(value_0, _estimate_and_draws(value_1, level), gain)


def value_by_chain(moves: Transitions, chain: StatewiseChain, level: float) -> PolicyValues:
    """Value the thresholds from the first states, with the chances of each state."""
    weights = moves.first_states / moves.first_states.sum()
    zero, one = (value @ weights for value in chain.value_thresholds())
    value_0 = summarize_draws(zero, level)
    if np.isnan(one).any():
        return PolicyValues(value_0)
    return PolicyValues(value_0, summarize_draws(one, level), summarize_draws(one - zero, level))


def average_over_groups(
    groups: Sequence[Sequence[Estimate | None]], cases: Sequence[int]
) -> PolicyValues:
    """Average the values in each group, weighed by its cases."""
    weights = np.array(cases, dtype=np.float64)
    weights /= weights.sum()
    return PolicyValues(
        *(average(column, weights.tolist()) for column in zip(*groups, strict=True))
    )


def _with_draws(share: Proportion, prior: Prior, draws: int, random: np.random.Generator) -> Floats:
    """Return the estimate, and draws from its posterior."""
    won, lost = share.counts
    drawn = random.beta(won + prior[0], lost + prior[1], draws)
    return np.append(share.successes / share.tries, drawn)


def _estimate_and_draws(values: Floats, level: float) -> Estimate:
    """Return the first of some values with an interval from the others."""
    return include_estimate(float(values[0]), *summarize_draws(values[1:], level)[1:])
