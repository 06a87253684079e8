"""Draw from Gamma and Beta distributions; compute Beta tails and quantiles, at any size of counts.

Every draw is a pure function of a key and has its law exactly, but for the rounding of floats.
"""

import math
from typing import Final

import numpy as np

from grbp.numerics.arrays import Floats
from grbp.numerics.jit import inlined, kernel, u64
from grbp.numerics.rng import fold_in, uniform
from grbp.numerics.special import deviance, log_weight

# Gamma draws are made for speed. They begin with a normal variable, by the ziggurat of Marsaglia
# and Tsang (2000): 256 layers of equal area, in which 99 of 100 points need one comparison. The
# layer and the place in it come from disjoint bits (Doornik 2005).

_TAIL: Final = 3.6541528853610088
"""Where the lowest of the 256 layers of the normal density ends in its tail."""

_EXACT: Final = 1e-15
"""The relative change at which a continued fraction has converged."""


def _ziggurat_widths() -> Floats:
    """Compute the widths of the layers of the density e^(-x^2/2), from the lowest to the peak."""
    floor = math.exp(-0.5 * _TAIL * _TAIL)
    area = _TAIL * floor + math.sqrt(0.5 * math.pi) * math.erfc(_TAIL / math.sqrt(2.0))
    widths = [area / floor, _TAIL]
    for _ in range(254):
        height = area / widths[-1] + math.exp(-0.5 * widths[-1] * widths[-1])
        widths.append(math.sqrt(-2.0 * math.log(height)))
    return np.array([*widths, 0.0])


_WIDTH: Final = _ziggurat_widths()


@inlined
def _point_in_layer(bits: int) -> float:
    """Return a point of the layer that the last 8 bits choose; the first 53 bits place it there."""
    return (float(bits >> u64(11)) * 2.0**-52 - 1.0) * float(_WIDTH[bits & u64(255)])


@inlined
def _is_inside_layer(bits: int, x: float) -> bool:
    """Return whether all that lies below a point of a layer lies below the density."""
    return abs(x) < float(_WIDTH[(bits & u64(255)) + u64(1)])


@inlined
def _accepts_without_logarithms(u: float, z: float, x: float) -> bool:
    """Return whether Marsaglia and Tsang surely accept, without logarithms.

    They reject with probability 1 - e^(-d h), where d = (x/3z)^2 and h is 3 z^4 times the integral
    of s^3/(1 + z s) over 0 < s < 1. As 1/(1 + z s) is convex in s, it is below its chord, so
    d h <= (z x)^2 (v + 4)/(60 v) with v = 1 + z, and u above that accepts.
    """
    return 60.0 * u * (1.0 + z) > (z * x) * (z * x) * (5.0 + z)


@inlined
def _gamma_without_logarithms(key: int, k: int, d: float, scale: float) -> float:
    """Return the draw of the trial whose bits begin at k, or 0 if it needs logarithms (few do)."""
    bits = fold_in(key, k)
    x = _point_in_layer(bits)
    z = scale * x
    if _is_inside_layer(bits, x) and _accepts_without_logarithms(uniform(key, k), z, x):
        return d * (1.0 + z) * (1.0 + z) * (1.0 + z)
    return 0.0


@kernel
def _gamma_by_trials(key: int, k: int, d: float, scale: float) -> float:
    """Draw from the k-th trial on (Marsaglia and Tsang 2000, A Simple Method)."""
    while True:
        bits, u = fold_in(key, k), uniform(key, k)
        key, k = fold_in(key, k + 2), 1
        x = _point_in_layer(bits)
        if not _is_inside_layer(bits, x):
            x = _draw_beyond_layer(key, bits, x)
        z = scale * x
        v = 1.0 + z
        if v > 0.0 and (
            _accepts_without_logarithms(u, z, x)
            or math.log(1.0 - u) < 0.5 * x * x + d * (1.0 - v * v * v + 3.0 * math.log(v))
        ):
            return d * v * v * v


@kernel
def _draw_beyond_layer(key: int, bits: int, x: float) -> float:
    """Draw the normal variable where a point is not inside its layer; -inf if it is rejected."""
    layer, k = bits & u64(255), 3
    if layer == u64(0):
        while True:
            beyond = -math.log(1.0 - uniform(key, k)) / _TAIL
            if -2.0 * math.log(1.0 - uniform(key, k + 1)) >= beyond * beyond:
                return _TAIL + beyond if x > 0.0 else -_TAIL - beyond
            k += 2
    outer, inner = float(_WIDTH[layer]), float(_WIDTH[layer + u64(1)])
    low, high = math.exp(0.5 * (x * x - outer * outer)), math.exp(0.5 * (x * x - inner * inner))
    return x if low + uniform(key, k) * (high - low) < 1.0 else -math.inf


@kernel
def gamma_draw(key: int, shape: float) -> float:
    """Draw from the Gamma distribution, of a shape of at least 1."""
    d = shape - 1.0 / 3.0
    scale = 1.0 / math.sqrt(9.0 * d)
    x = _gamma_without_logarithms(key, 1, d, scale)
    return x if x > 0.0 else _gamma_by_trials(key, 1, d, scale)


@kernel
def log_gamma_draw(key: int, shape: float) -> float:
    """Draw the logarithm of a Gamma variable of any shape above 0 (small ones would underflow)."""
    if shape >= 1.0:
        return math.log(gamma_draw(key, shape))
    # A variable of shape a + 1, times U^(1/a), has shape a.
    u = 1.0 - uniform(fold_in(key, 1), 0)
    return math.log(gamma_draw(fold_in(key, 2), 1.0 + shape)) + math.log(u) / shape


@kernel
def share_draw(key: int, a: float, b: float) -> float:
    """Draw from Beta(a, b), both of them above 0."""
    if a >= 1.0 and b >= 1.0:
        x, y = gamma_pair(key, a, b)
        return x / (x + y)
    x, y = log_gamma_draw(fold_in(key, 1), a), log_gamma_draw(fold_in(key, 2), b)
    return 1.0 / (1.0 + math.exp(min(y - x, 700.0)))


@inlined
def gamma_pair(key: int, a: float, b: float) -> tuple[float, float]:
    """Draw two Gamma variables x, y of shapes a and b: x/(x + y) is a draw from Beta(a, b)."""
    d, e = a - 1.0 / 3.0, b - 1.0 / 3.0
    shared = 1.0 / (9.0 * d * e)  # One division, for it takes as long as the rest.
    of_x, of_y = math.sqrt(shared * e), math.sqrt(shared * d)
    x, y = _gamma_without_logarithms(key, 1, d, of_x), _gamma_without_logarithms(key, 4, e, of_y)
    if x <= 0.0:
        x = _gamma_by_trials(key, 1, d, of_x)
    if y <= 0.0:
        y = _gamma_by_trials(key, 4, e, of_y)
    return x, y


@kernel
def beta_draw(key: int, a: float, b: float) -> float:
    """Draw from Beta(a, b), both of them at least 1."""
    x, y = gamma_pair(key, a, b)
    return x / (x + y)


@kernel
def beta_tail(a: float, b: float, x: float) -> float:
    """Compute the probability that Beta(a, b) exceeds x, to ten digits up to 1e10 counts."""
    return _beta_beyond(a, b, x, 1.0 - x)


@kernel
def beta_below(a: float, b: float, x: float) -> float:
    """Compute the probability that Beta(a, b) stays below x, to as many digits."""
    return _beta_beyond(b, a, 1.0 - x, x)


@kernel
def _beta_beyond(a: float, b: float, x: float, y: float) -> float:
    """Compute the probability that Beta(a, b) exceeds x = 1 - y."""
    if x <= 0.0:
        return 1.0
    if y <= 0.0:
        return 0.0
    # This is x^a y^b/B(a, b).
    front = math.exp(log_weight(a, b, x, y)) * a * b / (a + b)
    if b * x >= a * y:
        return front * _continued_fraction(b, a, y, x, _EXACT)
    return 1.0 - front * _continued_fraction(a, b, x, y, _EXACT)


def beta_quantile(p: float, a: float, b: float) -> float:
    """Compute the x that Beta(a, b) stays below with probability p; a and b are at least 1/2."""
    if p <= 0.5:
        return _logistic(_logit_quantile(p, a, b)) if p > 0.0 else 0.0
    return _logistic(-_logit_quantile(1.0 - p, b, a)) if p < 1.0 else 1.0


def _logit_quantile(p: float, a: float, b: float) -> float:
    """Compute u = log(x/(1 - x)) of the quantile x, for p up to 1/2.

    The density of u is log-concave, so that log F(u) is concave and Newton's method converges
    from the mean: its tangents lie above, hence it comes from below after the first step.
    """
    u = math.log(a / b)
    for _ in range(100):
        x, y = _logistic(u), _logistic(-u)
        front = log_weight(a, b, x, y) + math.log(a / (a + b) * b)
        if b * x <= a * y:
            part = _continued_fraction(a, b, x, y, _EXACT)  # F = e^front part, and F' = e^front
            log_below = front + math.log(part)
        else:
            below = _beta_beyond(b, a, y, x)
            part, log_below = below * math.exp(-front), math.log(below)
        step = (math.log(p) - log_below) * part
        u = max(u + step, -700.0)  # below, x is 0 to every digit that matters
        if abs(step) <= 1e-15 * max(1.0, abs(u)):
            break
    return u


def _logistic(u: float) -> float:
    """Compute 1/(1 + e^-u), which keeps its digits where it is small."""
    return 1.0 / (1.0 + math.exp(-u)) if u > -700.0 else 0.0


@kernel
def beta_tail_roughly(a: float, b: float, x: float, log_beta: float, error: float) -> float:
    """Compute the probability that Beta(a, b) exceeds x, to about `error`, given log B(a, b).

    It is quick where many x are asked for; differences of logarithms cost digits beyond 1e6 counts.
    """
    y = 1.0 - x
    if x <= 0.0 or y <= 0.0:
        return 1.0 if x <= 0.0 else 0.0
    front = math.exp(a * math.log(x) + b * math.log(y) - log_beta)
    if front < error * abs(b * x - a * y):  # The fraction is below 1/abs(b x - a y).
        return 0.0 if b * x >= a * y else 1.0
    if b * x >= a * y:
        return front * _continued_fraction(b, a, y, x, error)
    return 1.0 - front * _continued_fraction(a, b, x, y, error)


@kernel
def beta_evidence(a: float, b: float, x: float, y: float, error: float) -> tuple[float, float]:
    """Compute -log of the probability that Beta(a, b) exceeds x = 1 - y, above its mean.

    The second result is the derivative by -log(y), in which the first is convex. Both are 0 up to
    the mean, where the truth is at most 1: a log-concave law has at least 1/e beyond its mean (a
    and b at least 1). The relative error of the probability is about `error`; a larger one takes
    less time.
    """
    if b * x <= a * y:
        return 0.0, 0.0
    part = _continued_fraction(b, a, y, x, error)
    amount = -log_weight(a, b, x, y) - math.log(a / (a + b) * b * part)
    return amount, 1.0 / (x * part)


@kernel
def _continued_fraction(a: float, b: float, x: float, y: float, error: float) -> float:
    """Compute the probability of staying below x <= a/(a + b), over x^a y^b/B(a, b), y = 1 - x.

    This is the continued fraction of Didonato and Morris (1992, Algorithm 708), whose terms are
    positive up to the b-th. It takes fifty of them beyond three deviations, and thousands near
    the mean of 1e10 counts.
    """
    above, n = 1.0 + a * y - b * x, 0.0
    inverse = 1.0 / (a + 1.0)
    value = 1.0 / (a * inverse * above)
    older, scale, change = 0.0, value, 1.0
    while change > error * value and n < 1e6:
        n += 1.0
        weight = n * (b - n) * x * inverse
        alpha = (a + n - 1.0) * (a + b + n - 1.0) * x * inverse * weight
        inverse = 1.0 / (a + 2.0 * n + 1.0)
        beta = n + weight + (a + n) * inverse * (above + n * (1.0 + y))
        scale = 1.0 / (alpha * scale + beta)
        newer = (alpha * older + beta * value) * scale
        older, change, value = value * scale, abs(newer - value), newer
    return value


@kernel
def beta_tail_bound(a: float, b: float, x: float) -> float:
    """Bound from above the probability that Beta(a, b) exceeds x, a and b at least 1.

    The density of -log(1 - theta) is log-concave and hence below its exponential tangent at x,
    whose mass is x^a y^b/B(a, b)/(b x - (a - 1) y), y = 1 - x: exact for a = 1. Leaving out the
    errors of Stirling, negative together, only raises it, and by more than rounding lowers it.
    """
    y = 1.0 - x
    if y <= 0.0:
        return 0.0
    slope = b * x - (a - 1.0) * y
    if x <= 0.0 or slope <= 0.0:
        return 1.0
    fall = deviance(a, (a + b) * x) + deviance(b, (a + b) * y)
    return min(1.0, math.exp(-fall) * math.sqrt(a / (2.0 * math.pi) * b / (a + b)) / slope)


@kernel
def beta_beyond_draw(key: int, a: float, b: float, x: float) -> float:
    """Draw from Beta(a, b), both at least 1, given that it exceeds x, however unlikely that is.

    This is rejection from the tangent of `beta_tail_bound`, or from Beta(a, b) where that is
    better.
    """
    k = 0
    if beta_tail_bound(a, b, x) >= 1.0:
        while True:
            theta = beta_draw(fold_in(key, k), a, b)
            if theta > x:
                return theta
            k += 1
    y = 1.0 - x
    ratio = y / x
    rate = b - (a - 1.0) * ratio
    while True:
        step = -math.log(1.0 - uniform(key, k)) / rate
        part = -math.expm1(-step)
        bar = (a - 1.0) * (math.log1p(ratio * part) - ratio * step)
        if math.log(1.0 - uniform(key, k + 1)) <= bar:
            return x + y * part
        k += 2
