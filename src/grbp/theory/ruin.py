"""Compute the gambler's ruin on 0 .. n in arithmetic that neither overflows nor cancels.

Every function takes the *logarithm* of the failure ratio r = (1-p)/p, because both 1 - r and
r**n lose everything in floating point: r next to 1 cancels, r**n overflows. Positions and
lengths may be arrays; results broadcast. Only sums, products and quotients of terms of one
sign appear below, so each result is good to about 745 units in the last place at worst
(the largest exponent that does not underflow), and to a few ordinarily.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from grbp.numerics.arrays import Floats

_CERTAIN = 1e4
"""A finite stand-in for |log r| = infinity: exp(-_CERTAIN) is already zero, exactly."""

_quietly = np.errstate(divide="ignore", invalid="ignore", under="ignore")
"""Zero and 0/0 arise on purpose below, where `np.where` then takes the other branch."""

_PIECE = 1 << 15
"""Positions that are computed at a time: a dozen arrays of them stay near the processor."""

_SERIES_TERMS = range(1, 20)
_RISING = [1 / math.factorial(k + 1) for k in _SERIES_TERMS]
_FALLING = [k / math.factorial(k + 1) for k in _SERIES_TERMS]


def _compute_in_pieces(formula: Callable[..., Floats]) -> Callable[..., Floats]:
    """Compute a formula of arrays of positions, lengths and log r by pieces, to save memory."""

    @functools.wraps(formula)
    def run_in_pieces(i: ArrayLike, n: ArrayLike, log_r: ArrayLike) -> Floats:
        given = [np.asarray(x, dtype=np.float64) for x in (i, n, log_r)]
        # Broadcasting takes longer than the formula does of a few positions.
        if max(x.size for x in given) <= _PIECE:
            return formula(*given)
        places = np.broadcast_arrays(*given)
        if places[0].ndim != 1:
            return formula(*given)
        cuts = range(0, len(places[0]), _PIECE)
        return np.concatenate([formula(*(x[k : k + _PIECE] for x in places)) for k in cuts])

    return run_in_pieces


@_quietly
def log_failure_ratio(p_c: ArrayLike) -> Floats:
    """Compute log r with r = (1 - p_c)/p_c; +inf for p_c = 0 and -inf for p_c = 1.

    Around 1/2 it is 2 artanh(1 - 2 p_c), where 1 - 2 p_c is exact; elsewhere it is a difference
    of logarithms that do not cancel.
    """
    p = np.asarray(p_c, dtype=np.float64)
    far = np.log1p(-p) - np.log(p)
    near = 2.0 * np.arctanh(1.0 - 2.0 * p)
    return np.where((p >= 0.25) & (p <= 0.75), near, far)


@_compute_in_pieces
@_quietly
def hit(i: Floats, n: Floats, log_r: Floats) -> Floats:
    """Compute the probability of reaching n before 0 from i: (1 - r^i)/(1 - r^n), i/n if r = 1.

    The probability of reaching 0 first is hit(n - i, n, -log_r), which keeps all its digits
    where 1 - hit(i, n, log_r) would have none.

    Paper: lemma:ExpRew
    """
    a = np.minimum(np.abs(log_r), _CERTAIN)
    return _climb_probability(i, n, a) * np.where(log_r > 0.0, np.exp(-(n - i) * a), 1.0)


@_compute_in_pieces
@_quietly
def log_hit(i: Floats, n: Floats, log_r: Floats) -> Floats:
    """Compute the natural logarithm of `hit`, also where the probability itself underflows."""
    a = np.minimum(np.abs(log_r), _CERTAIN)
    steep = np.where((log_r > 0.0) & (n > i), -(n - i) * np.abs(log_r), 0.0)
    small = steep + np.log(_climb_probability(i, n, a))
    large = np.log1p(-hit(n - i, n, -log_r))
    return np.where(hit(i, n, log_r) > 0.5, large, small)


@_compute_in_pieces
@_quietly
def duration(i: Floats, n: Floats, log_r: Floats) -> Floats:
    """Compute the expected number of steps from i until 0 or n is reached.

    The textbook (i - n hit(i, n))/(1 - 2p) cancels twice next to p = 1/2. With a = |log r|,
    seen from the side towards which the walk drifts, it is the same as

        i (n-i) * a/tanh(a/2) * [rising((n-i)a) + exp(-(n-i)a) falling(ia)] / (1 - exp(-na))

    where falling(w) = 1 - (1-exp(-w))/w and rising(w) = (1-exp(-w))/w - exp(-w), both
    positive; for r = 1 it is i (n-i).

    Differs: the paper has no round length; the closed form is ours.
    """
    a = np.minimum(np.abs(log_r), _CERTAIN)
    below = np.where(log_r > 0.0, i, n - i)
    above = n - below
    pull = a / np.tanh(a / 2.0)
    share = _rising(above * a) + np.exp(-above * a) * _falling(below * a)
    drifting = pull * share / -np.expm1(-n * a)
    return i * (n - i) * np.where(a == 0.0, 1.0, drifting)


def _climb_probability(i: Floats, n: Floats, a: Floats) -> Floats:
    """Compute (1 - exp(-ia))/(1 - exp(-na)), or i/n where a = 0."""
    return np.where(a == 0.0, i / n, np.expm1(-i * a) / np.expm1(-n * a))


def _rising(w: Floats) -> Floats:
    """Compute (1 - exp(-w))/w - exp(-w); by exp(-w) sum w^k/(k+1)! where that would cancel."""
    return np.where(w < 1.0, _series(w, _RISING), -np.expm1(-w) / w - np.exp(-w))


def _falling(w: Floats) -> Floats:
    """Compute 1 - (1 - exp(-w))/w; by exp(-w) sum k w^k/(k+1)! where that would cancel."""
    return np.where(w < 1.0, _series(w, _FALLING), 1.0 + np.expm1(-w) / w)


def _series(w: Floats, coefficients: list[float]) -> Floats:
    """Compute exp(-w) (c1 w + c2 w^2 + ...) for w in [0, 1]."""
    w = np.minimum(w, 1.0)
    total: Floats = np.zeros_like(w)
    for c in reversed(coefficients):
        total = (total + c) * w
    return np.exp(-w) * total
