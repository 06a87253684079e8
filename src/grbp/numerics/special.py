"""Compute probabilities of counts of any size and their logarithms, without cancellation.

Counts reach 1e15, so the logarithm of a probability is never a difference of logarithms of
factorials: it has the saddle-point form of Loader (2000, Fast and Accurate Computation of Binomial
Probabilities), good to about 1e-15 times the root of the count.
"""

import math

from grbp.numerics.jit import kernel


@kernel
def stirling_error(x: float) -> float:
    """Compute log Gamma(x + 1) less Stirling's (x + 1/2) log x - x + log(2 pi)/2; inf at 0.

    From 8 on it is the asymptotic series. Below, one step down adds (x + 1/2) log(1 + 1/x) - 1,
    which is t/3 + t^2/5 + ... with t = 1/(2x + 1)^2: its terms are positive and do not cancel.
    """
    if x <= 0.0:
        return math.inf
    total = 0.0
    while x < 8.0:
        if x < 2.0:
            total += (x + 0.5) * math.log1p(1.0 / x) - 1.0
        else:
            t = 1.0 / ((2.0 * x + 1.0) * (2.0 * x + 1.0))
            high = 1 / 15 + t * (1 / 17 + t * (1 / 19 + t * (1 / 21 + t * (1 / 23))))
            low = 1 / 5 + t * (1 / 7 + t * (1 / 9 + t * (1 / 11 + t * (1 / 13 + t * high))))
            total += t * (1 / 3 + t * low)
        x += 1.0
    r = 1.0 / (x * x)
    high = 691 / 360360 - r * (1 / 156 - r * (3617 / 122400 - r * (43867 / 244188)))
    low = 1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - r * high))
    return total + (1 / 12 - r * (1 / 360 - r * low)) / x


@kernel
def deviance(x: float, m: float) -> float:
    """Compute x log(x/m) + m - x >= 0, without cancellation where x is near m (Loader 2000)."""
    if x <= 0.0:
        return m
    if m <= 0.0:
        return math.inf
    if abs(x - m) >= 0.1 * (x + m):
        return x * math.log(x / m) + m - x
    v = (x - m) / (x + m)
    total, term, divisor = (x - m) * v, 2.0 * x * v, 1.0
    while abs(term) > 1e-17 * total:
        term *= v * v
        divisor += 2.0
        total += term / divisor
    return total


@kernel
def log_binomial(x: float, n: float, p: float) -> float:
    """Compute the log of Gamma(n+1)/(Gamma(x+1) Gamma(n-x+1)) p^x (1-p)^(n-x), 0 <= x <= n."""
    if p <= 0.0:
        return 0.0 if x <= 0.0 else -math.inf
    if p >= 1.0:
        return 0.0 if x >= n else -math.inf
    return log_weight(x, n - x, p, 1.0 - p)


@kernel
def log_weight(x: float, y: float, p: float, q: float) -> float:
    """Compute `log_binomial` of x out of x + y, where the smaller of p and q = 1 - p is exact."""
    if x <= 0.0:
        return y * (math.log1p(-p) if p < q else math.log(q))
    if y <= 0.0:
        return x * (math.log(p) if p < q else math.log1p(-q))
    n = x + y
    errors = stirling_error(n) - stirling_error(x) - stirling_error(y)
    peak = 0.5 * math.log(n / x / y / (2.0 * math.pi))
    return peak + errors - deviance(x, n * p) - deviance(y, n * q)


@kernel
def bernoulli_divergence(p: float, q: float) -> float:
    """Compute kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), for q strictly between 0 and 1."""
    first = p * math.log(p / q) if p > 0.0 else 0.0
    second = (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return first + second


def divergence_apart(p: float, difference: float) -> float:
    """Compute kl(p, p + difference), also where the two are near."""
    if p == 0.0:
        return -math.log1p(-difference)
    return p * _minus_log1p(difference / p) + (1.0 - p) * _minus_log1p(-difference / (1.0 - p))


def _minus_log1p(x: float) -> float:
    """Compute x - log(1 + x), by its series where the two are near."""
    if abs(x) > 0.1:  # Nearer to 0, twenty terms of the series are exact.
        return x - math.log1p(x)
    return math.fsum((-x) ** k / k for k in range(2, 20))


def chi2_tail(x: float, df: int) -> float:
    """Compute the probability that a chi-squared variable exceeds x, df a whole number from 1 on.

    With h = x/2 it is the sum of e^-h h^k/Gamma(k + 1) over k = df/2 - 1, df/2 - 2, ... >= 0, and
    erfc(sqrt(h)) besides where df is odd. All terms are positive; the sum starts from the largest,
    which does not underflow.
    """
    if x <= 0.0:
        return 1.0
    h, odd = 0.5 * x, df % 2
    if h == math.inf:
        return 0.0
    rest = math.erfc(math.sqrt(h)) if odd else 0.0
    lowest, highest = 0.5 * odd, 0.5 * df - 1.0
    if highest < lowest:
        return rest
    peak = min(lowest + math.floor(max(h - lowest, 0.0)), highest)
    first = math.exp(-h)
    if peak > 0.0:
        height = stirling_error(peak) + deviance(peak, h)
        first = math.exp(-height) / math.sqrt(2.0 * math.pi * peak)
    terms, term, k = [rest, first], first, peak
    while k > lowest and term > 0.0:
        term, k = term * k / h, k - 1.0
        terms.append(term)
    term, k = first, peak
    while k < highest and term > 0.0:
        k += 1.0
        term *= h / k
        terms.append(term)
    return min(1.0, math.fsum(terms))


def kolmogorov_tail(x: float) -> float:
    """Compute the probability that a Brownian bridge is somewhere further than x from 0.

    It is an alternating series that needs few terms from 1/2 on; below, the one that Jacobi's
    identity makes of it does.
    """
    if x <= 0.0:
        return 1.0
    if x < 0.5:
        h = math.pi * math.pi / (8.0 * x * x)
        below = math.sqrt(2.0 * math.pi) / x
        return 1.0 - below * (math.exp(-h) + math.exp(-9.0 * h))
    return 2.0 * sum((1 - 2 * (k % 2 == 0)) * math.exp(-2.0 * (k * x) ** 2) for k in range(1, 9))
