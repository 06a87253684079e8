"""The general chain: every state has its own probabilities, shrunk towards those of the others.

How much the states differ is itself learned (empirical Bayes): the share of moves up in a state is
taken as a draw from a Beta distribution around the common mean, whose concentration has the
likelihood of the counts. States with few records borrow from the others, states with many stand on
their own. The chain is solved for thousands of draws from the posterior, which says how sure each
answer is. An action that was never tried in a state is unknown there: it is not judged by what
other states suggest.
"""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from grbp.fitting.transitions import Transitions
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.dynprog import solve_many

_DRAWS: Final = 4000
"""Draws from the posterior, where the goal is not large."""

_MOST_OPERATIONS: Final = 800_000_000
"""Operations of all draws, goal^3 for each: with a larger goal there are fewer draws."""

LARGEST_GOAL: Final = 200
"""The largest goal for which the chain is solved state by state."""

_CONCENTRATIONS: Final = 1.0 / np.linspace(0.02, 1.0, 50) ** 2
"""The concentrations among which the counts choose, even in the spread of states that they mean."""


@dataclass(frozen=True, eq=False)
class StatewiseChain:
    """The answers of the general chain.

    Attributes
    ----------
    continue_value : ndarray, shape (draws, goal - 1)
        The probability of reaching the goal by always continuing, in each draw.
    finish : ndarray of float, shape (goal - 1,)
        The probability that FINISH is right, by state; NaN where an action was never tried.
    threshold : tuple of float
        The probability that never finishing, or finishing in state 1 alone, is right in the states
        where both actions were tried.
    action : ndarray of int, shape (goal - 1,)
        The action that is right in the mean of the posterior; CONTINUE (0) where an action was
        never tried.
    p_c, p_f : ndarray of float, shape (goal - 1,)
        The shrunk estimates by state; p_f is NaN where FINISH was never tried.
    laws : ndarray, shape (draws, goal - 1, goal + 1)
        The law of CONTINUE in each draw.
    wins : ndarray, shape (draws, goal - 1)
        The p_f of each draw.
    mean : MeanChain
        The chain in the mean of the posterior.
    """

    continue_value: Floats
    finish: Floats
    threshold: tuple[float, float]
    action: Ints
    p_c: Floats
    p_f: Floats
    laws: Floats
    wins: Floats
    mean: "MeanChain"

    def value_thresholds(self) -> tuple[Floats, Floats]:
        """Compute what the thresholds 0 and 1 reach from every state, in each draw.

        The second is NaN where FINISH was never tried in state 1.
        """
        law, p_f = self.laws.copy(), self.wins[:, 0]
        law[:, 0] = 0.0
        law[:, 0, -1], law[:, 0, 0] = np.nan_to_num(p_f), 1.0 - np.nan_to_num(p_f)
        value_1 = solve_many(law, np.full(self.wins.shape, np.nan)).continuing
        return self.continue_value, np.where(np.isnan(p_f)[:, None], np.nan, value_1)


class MeanChain(NamedTuple):
    """The chain in the mean of the posterior.

    Attributes
    ----------
    law : tuple of tuple of float
        The law of CONTINUE, with a row for each inner state; staying has no part in it.
    p_f : tuple of float or None
        The chance of FINISH in each state; None where it was never tried.
    """

    law: tuple[tuple[float, ...], ...]
    p_f: tuple[float | None, ...]


def solve_statewise(moves: Transitions, seed: int = 0) -> StatewiseChain | None:
    """Fit the chain state by state, and solve it for draws from the posterior.

    There is none where the goal is too large, or CONTINUE never moved.
    """
    goal = moves.records.goal
    if goal > LARGEST_GOAL or not (moves.ups + moves.downs).sum():
        return None
    draws = max(200, min(_DRAWS, _MOST_OPERATIONS // goal**3))
    random = np.random.default_rng(seed)
    up = draw_shares(moves.ups, moves.downs, draws, random)
    won = draw_shares(moves.wins, moves.losses, draws, random)
    tried = (moves.wins + moves.losses) > 0
    won[:, ~tried] = np.nan
    laws = _laws(moves, up, random)
    # The last one is the mean of the posterior, which names the action.
    laws = np.concatenate((laws, laws.mean(axis=0, keepdims=True)))
    won = np.concatenate((won, won.mean(axis=0, keepdims=True)))
    solved = solve_many(laws, won)
    # Where one action was never tried, only a prior would choose between them.
    judged = tried & ((moves.ups + moves.downs + moves.jumps) > 0)
    finish = (solved.action[:-1] == 1) & judged
    share = np.where(judged, finish.mean(axis=0), np.nan)
    only_first = finish[:, 0] & ~finish[:, 1:].any(axis=1)
    p_f = (p if tries else None for p, tries in zip(won[-1].tolist(), tried, strict=True))
    return StatewiseChain(
        solved.continuing[:-1],
        share,
        (float((~finish.any(axis=1)).mean()), float(only_first.mean())),
        np.where(judged, solved.action[-1], 0),
        up.mean(axis=0),
        won[-1],
        laws[:-1],
        won[:-1],
        MeanChain(tuple(map(tuple, laws[-1].tolist())), tuple(p_f)),
    )


def draw_shares(won: Ints, lost: Ints, draws: int, random: np.random.Generator) -> Floats:
    """Draw shares by state from their posterior, each shrunk towards the mean of all."""
    tried = (won + lost) > 0
    if not tried.any():
        return random.beta(0.5, 0.5, (draws, len(won)))
    good, bad = won[tried].astype(float), lost[tried].astype(float)
    mean = (good.sum() + 0.5) / ((good + bad).sum() + 1.0)
    fits = np.array([_log_likelihood(good, bad, mean, k) for k in _CONCENTRATIONS])
    chances = np.exp(fits - fits.max())
    chosen = random.choice(len(fits), draws, p=chances / chances.sum())
    k = _CONCENTRATIONS[chosen][:, None]
    # Records of a state count for the mean as far as states are alike.
    part = 1.0 / (1.0 + (good + bad) / k)
    centre = random.beta(0.5 + (part * good).sum(axis=1), 0.5 + (part * bad).sum(axis=1))[:, None]
    centre = np.clip(centre, 1e-12, 1.0 - 1e-12)
    shares: Floats = random.beta(centre * k + won, (1.0 - centre) * k + lost)
    return shares


def _log_likelihood(won: Floats, lost: Floats, mean: float, k: float) -> float:
    """Compute the log-likelihood of counts whose shares come from Beta(k mean, k (1 - mean))."""
    up, down, lgamma = k * mean, k * (1.0 - mean), math.lgamma
    return sum(
        (lgamma(up + a) - lgamma(up))
        + (lgamma(down + b) - lgamma(down))
        - (lgamma(k + (a + b)) - lgamma(k))
        for a, b in zip(won.tolist(), lost.tolist(), strict=True)
    )


def _laws(moves: Transitions, up: Floats, random: np.random.Generator) -> Floats:
    """Return the law of CONTINUE in every draw: from each inner state to every state.

    Staying changes when a case ends, not how, so it has no part in them.
    """
    draws, states = up.shape
    laws = np.zeros((draws, states, states + 2))
    inner = np.arange(states)
    laws[:, inner, inner + 2] = up
    laws[:, inner, inner] = 1.0 - up
    rows = moves.jumped
    pairs, counts = np.unique(
        np.column_stack((moves.records.state[rows] - 1, moves.records.next_state[rows])),
        axis=0, return_inverse=True,
    )  # fmt: skip
    weights = np.bincount(counts.ravel(), weights=moves.records.count[rows])
    steps = moves.ups + moves.downs
    for state in np.unique(pairs[:, 0]).tolist():
        own = pairs[:, 0] == state
        # Shares of the targets that were seen; without steps, of the jumps alone.
        shape = np.append(weights[own], steps[state])
        parts = random.standard_gamma(shape, (draws, len(shape)))
        parts /= parts.sum(axis=1, keepdims=True)
        laws[:, state] *= parts[:, -1:]
        laws[:, state, pairs[own, 1]] += parts[:, :-1]
    return laws
