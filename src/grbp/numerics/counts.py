"""Draw counts of any size, for rounds that are skipped by the billion.

Every draw is a pure function of a key and has its law exactly, but for the rounding of floats.
"""

import math
from typing import Final

from grbp.numerics.beta import gamma_draw, gamma_pair
from grbp.numerics.jit import kernel
from grbp.numerics.rng import fold_in, uniform
from grbp.numerics.special import deviance, log_binomial, stirling_error

_SMALL: Final = 10.0
"""The mean below which counts are drawn by inversion; from it on, the hats of Hormann hold."""

_NEVER: Final = 1e-20
"""A probability beyond the mode that may be left out: a step of `uniform` is far larger."""

_MOST: Final = 4e18
"""More than any count, and so few that twice as many fit into an integer of 64 bits."""


@kernel
def _draw_by_inversion(u: float, first: float, constant: float, slope: float) -> int:
    """Find the k where P(0) + ... + P(k) passes u, P(k+1)/P(k) = (constant + slope k)/(k+1).

    These are the binomial, the Poisson and the negative binomial laws (Panjer 1981).
    """
    k, mass = 0, first
    while u >= mass > _NEVER:
        u -= mass
        mass *= (constant + slope * k) / (k + 1.0)
        k += 1
    return k


@kernel
def binomial_draw(key: int, n: int, p: float) -> int:
    """Draw the number of successes in n tries, n up to 1e15."""
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    return _rarer_binomial(key, n, p) if p <= 0.5 else n - _rarer_binomial(key, n, 1.0 - p)


@kernel
def _rarer_binomial(key: int, n: int, p: float) -> int:
    """Draw as `binomial_draw` does, for p up to 1/2: by inversion, or BTRS of Hormann (1993)."""
    mean = n * p
    if mean < _SMALL:
        u = uniform(key, 0)
        if u < 1.0 - mean:  # No more than the probability of 0.
            return 0
        odds = p / (1.0 - p)
        return min(n, _draw_by_inversion(u, math.exp(n * math.log1p(-p)), n * odds, -odds))
    spread = math.sqrt(mean * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = 0.0248 * b + 0.01 * p - 0.0873
    alpha = (2.83 + 5.1 / b) * spread
    mode = math.floor((n + 1) * p)
    index = 0
    while True:
        u, v = uniform(key, index) - 0.5, 1.0 - uniform(key, index + 1)
        index += 2
        left = 0.5 - abs(u)
        y = (2.0 * a / left + b) * u + mean + 0.5 if left > 0.0 else -1.0
        if 0.0 <= y < n + 1.0:
            k = math.floor(y)
            if left >= 0.07 and v <= 0.92 - 4.2 / b:
                return k
            bar = math.log(v * alpha / (a / (left * left) + b))
            if bar <= log_binomial(float(k), float(n), p) - log_binomial(float(mode), float(n), p):
                return k


@kernel
def poisson_draw(key: int, mean: float) -> int:
    """Draw a Poisson count, of a mean up to 4e18: by inversion, or PTRS of Hormann (1993).

    He has 1.1328 and 3.6224 in place of 1.2 and 3.8; but with these the hat is too low at some
    means, by up to 0.6 in 100, and the shortcut too generous.
    """
    if mean < _SMALL:
        u = uniform(key, 0)
        return 0 if u < 1.0 - mean else _draw_by_inversion(u, math.exp(-mean), mean, 0.0)
    mean = min(mean, _MOST)
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = 0.02483 * b - 0.059
    alpha = 1.1239 + 1.2 / (b - 3.4)
    index = 0
    while True:
        u, v = uniform(key, index) - 0.5, 1.0 - uniform(key, index + 1)
        index += 2
        left = 0.5 - abs(u)
        y = (2.0 * a / left + b) * u + mean + 0.43 if left > 0.0 else -1.0
        if 0.0 <= y < 2.0 * _MOST:
            k = math.floor(y)
            if left >= 0.07 and v <= 0.9277 - 3.8 / (b - 2.0):
                return k
            if math.log(v * alpha / (a / (left * left) + b)) <= _log_poisson(float(k), mean):
                return k


@kernel
def _log_poisson(x: float, mean: float) -> float:
    """Compute the logarithm of mean^x e^(-mean)/Gamma(x+1)."""
    if x <= 0.0:
        return -mean
    return -stirling_error(x) - deviance(x, mean) - 0.5 * math.log(2.0 * math.pi * x)


@kernel
def negative_binomial_draw(key: int, successes: int, p: float) -> int:
    """Draw the number of failures before a number of successes, of probability p > 0 each."""
    if successes <= 0 or p >= 1.0:
        return 0
    q = 1.0 - p
    if successes == 1:
        return math.floor(min(_MOST, math.log(1.0 - uniform(key, 0)) / math.log1p(-p)))
    if successes * q < _SMALL * p:
        u = uniform(key, 0)
        if u < 1.0 - successes * q:  # No more than the probability of 0.
            return 0
        return _draw_by_inversion(u, math.exp(successes * math.log(p)), successes * q, q)
    return poisson_draw(fold_in(key, 2), gamma_draw(fold_in(key, 1), float(successes)) * (q / p))


@kernel
def hypergeometric_draw(key: int, total: int, marked: int, taken: int) -> int:
    """Draw how many are marked among those taken out of a total of up to 1e13."""
    few, part = min(marked, total - marked), min(taken, total - taken)
    k = _hypergeometric_up_to_half(key, float(total), float(few), float(part))
    in_taken = k if part == taken else few - k
    return in_taken if few == marked else taken - in_taken


@kernel
def _hypergeometric_up_to_half(key: int, total: float, few: float, part: float) -> int:
    """Draw as `hypergeometric_draw` does, where neither exceeds half of the total.

    This is inversion, or the rejection of Devroye (1987, A simple generator for discrete
    log-concave distributions): with P the largest probability, at the mode m,
    p(m + k) <= P e^(1 - P |k|).
    For let R = p(m + k)/P = e^-t. By log-concavity p(m + i) >= P R^(i/k), and these sum to at
    most 1, so P (1 - R)/(1 - R^(1/k)) <= 1, hence P k <= t/(1 - e^-t) <= 1 + t. A step around
    each k widens the hat to P min(1, e^(w - P |y|)), w = 1 + P/2, of area 4 + P.
    """
    k = 0
    if few * part <= _SMALL * total:
        u, mass = uniform(key, 0), math.exp(_log_hypergeometric(0.0, total, few, part))
        while u >= mass > _NEVER:
            u -= mass
            mass *= (few - k) * (part - k) / ((k + 1.0) * (total - few - part + k + 1.0))
            k += 1
        return min(k, math.floor(min(few, part)))
    mode = float(math.floor((few + 1.0) * (part + 1.0) / (total + 2.0)))
    log_peak = _log_hypergeometric(mode, total, few, part)
    peak = math.exp(log_peak)
    w = 1.0 + 0.5 * peak
    while True:
        u = uniform(key, k) * (1.0 + w)
        y = (u if u < w else w - math.log(1.0 + w - u)) / peak
        step = float(math.floor(y + 0.5))
        x = mode + step if uniform(key, k + 1) < 0.5 else mode - step
        if 0.0 <= x <= min(few, part):
            bar = math.log(1.0 - uniform(key, k + 2)) + min(0.0, w - peak * y)
            if bar <= _log_hypergeometric(x, total, few, part) - log_peak:
                return math.floor(x)
        k += 3


@kernel
def _log_hypergeometric(x: float, total: float, marked: float, taken: float) -> float:
    """Compute the logarithm of the probability of x marked ones among those taken."""
    # Any q would give the same; from this one, no term is far from its peak.
    q = taken / total if total > 0.0 else 0.0
    both = log_binomial(x, marked, q) + log_binomial(taken - x, total - marked, q)
    return both - log_binomial(taken, total, q)


@kernel
def beta_binomial_draw(key: int, n: int, a: float, b: float) -> int:
    """Draw the successes in n tries of a probability drawn from Beta(a, b), both >= 1."""
    x, y = gamma_pair(fold_in(key, 1), a, b)
    # The smaller probability is the one that a float holds well.
    if x <= y:
        return binomial_draw(fold_in(key, 2), n, x / (x + y))
    return n - binomial_draw(fold_in(key, 2), n, y / (x + y))
