"""Draw how long a walk takes to leave an interval from its middle, and by which side, exactly.

A walk goes up with probability p, else down, with q = 1 - p; T is the number of its steps until
it is first at distance d from where it began, and a(n) is P(T = n) for p = 1/2.

The side tells nothing about the time. A path of n steps that ends at +d has probability
p^((n+d)/2) q^((n-d)/2); its mirror image ends at -d and has (q/p)^d times that, whatever n is.
So the side is up with probability p^d/(p^d + q^d), and, counting paths,

    P(T = n) = a(n) s^(n/2) cosh(dy/2)    with s = 4pq and y = log(p/q).

The law is log-concave. Let p = 1/2 and cosh f = 1/z. Then z^n cosh(f X_n) is a martingale of the
walk X, bounded before T, so that 1 = E z^T cosh(df): the generating function of a is 1/C(1/z) with
the Chebyshev polynomial C of degree d. Its zeros are pairs +-cos x_k, x_k = (2k-1) pi/(2d) for
k <= d/2, and 0 if d is odd. So for every p the generating function of M = (T - d)/2 is the product
of (1 - r_k)/(1 - r_k z) over these k, with r_k = s cos^2 x_k: M is a sum of independent geometric
variables. The law of each is log-concave, and convolution keeps that.

The draws rest on nothing else. A row of the tables cuts the values of M into bins of one width
and two tails. A concave log P lies above the chord over a bin and below the chords of the two
bins beside it, extended; so the values at the ends of bins give an envelope of P, constant on
each bin and exponential on each tail, and bounds that nearly always settle, without P, whether
a proposal is accepted. In bins of width 1 every proposal is.

Only some distances are admitted: all below 512, and beyond it those of 9 leading bits. A row
takes 3104 bytes and there are 256 more for each doubling beyond 512: 1.6 MB for distances up to
500, 3.2 MB up to 2000, 10 MB up to a million.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from grbp.engine.alias import pair_cells
from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.jit import compile_if_long, inlined, kernel, u64
from grbp.numerics.rng import fold_in, uniform
from grbp.numerics.special import log_binomial

CELLS: Final = 128
"""The cells of a row: the tail below, the bins, the tail above."""

LOW, WIDTH, UP = 0, 1, 2
"""The columns of `bins` with the first value of the first bin, the number of values in each bin,
and the probability of leaving above."""

SURE: Final = 3
"""The first of the columns of `bins` with the chance, for each cell, that a proposal is accepted
whatever it is: the least that P can be there over the greatest."""

LEVEL: Final = SURE + CELLS
"""The first of the columns of `bins` with log P where each bin begins: that of cell i is column
LEVEL + i. Column LEVEL belongs to one width below the first bin, the last to one above the last."""

_CELL_BITS: Final = 7
_SHARE_BITS: Final = 64 - _CELL_BITS
_BELOW: Final = 4.5
_ABOVE: Final = 5.0
"""How many standard deviations the bins reach below the mean, and above it."""

_NEVER: Final = -1e300
"""The log P of what cannot happen: finite, so that chords through it are."""

_SECONDS: Final = 6e-4
"""What the interpreter takes for a row, about."""

_HARDLY: Final = 1e-300
"""In place of a probability of 0: such a step never happens, and its logarithm is finite."""


class Exits(NamedTuple):
    """The tables of one walk; the row of a distance is `hop_row`.

    Attributes
    ----------
    p_c : float
    cells : ndarray, shape (rows, CELLS)
        An alias table a row (Walker 1974). For each cell: the share of draws that it keeps in
        the high bits, and the cell that has the others in the low ones.
    bins : ndarray, shape (rows, columns)
        The rest of a row, by the columns named above.
    """

    p_c: float
    cells: Words
    bins: Floats


@inlined
def hop_row(m: int) -> int:
    """Return the row of the longest admitted distance that is at most m."""
    shift = 0
    while (m >> shift) >= 512:
        shift += 1
    return 256 * shift + (m >> shift)


@inlined
def hop_length(m: int) -> int:
    """Return the longest admitted distance that is at most m."""
    shift = 0
    while (m >> shift) >= 512:
        shift += 1
    return (m >> shift) << shift


@kernel
def row_distance(row: int) -> int:
    """Return the admitted distance of a row: the inverse of `hop_row`."""
    shift = max(0, row // 256 - 1)
    return (row - 256 * shift) << shift


@kernel
def exit_up(p_c: float, d: int) -> float:
    """Compute the probability of leaving above."""
    if p_c <= 0.0 or p_c >= 1.0:
        return p_c
    other = math.exp(-d * _steepness(p_c))
    return 1.0 / (1.0 + other) if p_c >= 0.5 else other / (1.0 + other)


@kernel
def exit_mean_variance(p_c: float, d: int) -> tuple[float, float]:
    """Compute the mean and the variance of the number of steps.

    They are derivatives of the logarithm of the generating function: with t = |p - q| and
    y = |log(p/q)|

        d tanh(dy/2)/t    and    d s/t^3 (sinh(dy) - d sinh(y))/(2 cosh^2(dy/2))

    where sinh y = 2t/s; for p = 1/2 they are d^2 and 2/3 d^2 (d^2 - 1).
    """
    tilt, length = abs(p_c + p_c - 1.0), float(d)
    if tilt == 0.0:
        return length * length, 2.0 / 3.0 * length * length * (length * length - 1.0)
    y, spread = _steepness(p_c), 4.0 * p_c * (1.0 - p_c)
    other = math.exp(-length * y)
    tanh = -math.expm1(-length * y) / (1.0 + other)
    flat = 4.0 * other / (1.0 + other) / (1.0 + other)  # 1/cosh^2
    excess = tanh - flat * length * tilt / spread
    if length * y < 1.0:
        # The difference would cancel, so it is summed by powers of y, which are all positive.
        long = short = 0.5 * flat * length * y
        excess = 0.0
        for k in range(2, 20, 2):
            long *= length * y * length * y / (k * (k + 1.0))
            short *= y * y / (k * (k + 1.0))
            excess += long - short
    return length * tanh / tilt, length * spread / (tilt * tilt * tilt) * excess


@kernel
def log_exit(p_c: float, d: int, m: int) -> float:
    """Compute log P(T = d + 2m), to within 1e-11 as far as d = 2000.

    The generating function for p = 1/2 is 1/cosh(df), and two expansions of it are used. In
    powers of exp(-f), which is that of the first visit to 1, it is an alternating sum over first
    visits to b = d, 3d, ... (the images), each at step n with probability
    b/n 2^-n binomial(n, (n-b)/2). In partial fractions (the modes) it is
    a(n) = 2/d sum over k <= d/2 of -(-1)^k sin x_k cos^(n-1) x_k. Their terms fall as
    exp(-2k(k+1) d^2/n) and exp(-pi^2 k(k+1) n/(2d^2)), so four terms of the better one suffice.
    """
    if d < 2 or m < 0:
        return 0.0 if m == 0 else -math.inf
    length = float(d)
    n = length + 2.0 * m
    rare = min(p_c, 1.0 - p_c)
    steep = length * _steepness(p_c)
    sides = math.log1p(math.exp(-steep))
    if 2.0 * n < length * length:
        # The nearest image is taken with the walk's own p, so that no large powers cancel.
        nearest = log_binomial(float(m), n, rare) + math.log(length / n)
        return nearest + sides + math.log(_sum_images(length, n))
    tilt = 1.0 - rare - rare
    log_s = math.log1p(-tilt * tilt) if tilt < 0.5 else math.log(4.0 * rare * (1.0 - rare))
    return _log_sum_modes(length, n) + 0.5 * (n * log_s + steep) + sides - math.log(2.0)


@kernel
def _steepness(p: float) -> float:
    """Compute |log(p/q)|, accurately also next to 1/2 and to 0 and 1."""
    tilt = abs(p + p - 1.0)
    if tilt < 0.5:
        return math.log1p(2.0 * tilt / (1.0 - tilt))
    return abs(math.log(p) - math.log1p(-p))


@kernel
def _sum_images(length: float, n: float) -> float:
    """Sum all images, relative to the nearest."""
    total, sign, b = 1.0, -1.0, 3.0 * length
    # An image is smaller than the nearest by exp((d^2 - b^2)/(2n)) at least.
    if b <= n and b * b - length * length < 80.0 * n:
        nearest = log_binomial(0.5 * (n - length), n, 0.5)
        while b <= n and b * b - length * length < 80.0 * n:
            image = math.exp(log_binomial(0.5 * (n - b), n, 0.5) - nearest)
            total += sign * b / length * image
            sign, b = -sign, b + 2.0 * length
    return total


@kernel
def _log_sum_modes(length: float, n: float) -> float:
    """Compute log a(n) by the modes; log cos x = log(1 - 2 sin^2(x/2)) keeps its digits."""
    angle = 0.5 * math.pi / length
    half, sine = math.sin(0.5 * angle), math.sin(angle)
    slow = (n - 1.0) * math.log1p(-2.0 * half * half)
    total, sign, k = 1.0, -1.0, 3.0
    while k < length:
        half = math.sin(0.5 * k * angle)
        fall = (n - 1.0) * math.log1p(-2.0 * half * half) - slow
        if fall < -40.0:
            break
        total += sign * math.sin(k * angle) / sine * math.exp(fall)
        sign, k = -sign, k + 2.0
    return math.log(2.0 / length * sine * total) + slow


@kernel
def exit_steps(exits: Exits, d: int, key: int) -> int:
    """Draw T for an admitted distance."""
    if d < 2:
        return d
    row = hop_row(d)
    turn = 0
    while True:
        word = fold_in(key, turn)
        cell = word >> u64(_SHARE_BITS)
        packed = u64(exits.cells[row, cell])
        if (word & u64(2**_SHARE_BITS - 1)) >= (packed >> u64(_CELL_BITS)):
            cell = packed & u64(CELLS - 1)
        within, luck = uniform(key, turn), 1.0 - uniform(key, turn + 1)
        if luck <= exits.bins[row, u64(SURE) + cell]:
            width = exits.bins[row, WIDTH]
            place = (float(cell) - 1.0) * width + math.floor(within * width)
            return d + 2 * int(exits.bins[row, LOW] + place)
        m = _accept_value(exits, d, cell, within, luck)
        if m >= 0:
            return d + 2 * m
        turn += 3


@kernel
def _accept_value(exits: Exits, d: int, cell: int, within: float, luck: float) -> int:
    """Return the value of M proposed in a cell, or -1 if it is rejected."""
    row = hop_row(d)
    low, width = exits.bins[row, LOW], exits.bins[row, WIDTH]
    if cell == 0:
        first = exits.bins[row, LEVEL + 1]
        rise = (exits.bins[row, LEVEL + 2] - first) / width
        place = math.floor(-math.log(1.0 - within) / rise) + 1
        m, envelope = low - place, first - place * rise
        least, most = _NEVER, envelope
    elif cell == CELLS - 1:
        last = exits.bins[row, LEVEL + CELLS - 1]
        fall = (exits.bins[row, LEVEL + CELLS - 2] - last) / width
        place = math.floor(-math.log(1.0 - within) / fall)
        m, envelope = low + (CELLS - 2) * width + place, last - place * fall
        least, most = _NEVER, envelope
    else:
        at = u64(LEVEL) + cell
        left, right = exits.bins[row, at], exits.bins[row, at + u64(1)]
        before, after = exits.bins[row, at - u64(1)], exits.bins[row, at + u64(2)]
        place = math.floor(within * width)
        m, envelope = (
            low + (float(cell) - 1.0) * width + place,
            concave_bound(before, left, right, after),
        )
        share = place / width
        least = left + share * (right - left)
        most = min(left + share * (left - before), right + (1.0 - share) * (right - after))
    level = envelope + math.log(luck)
    if level <= least:
        return int(m)
    if level > most:
        return -1
    return int(m) if level <= log_exit(exits.p_c, d, int(m)) else -1


@kernel
def concave_bound(before: float, left: float, right: float, after: float) -> float:
    """Bound a concave sequence between the inner two of four equidistant values."""
    rise, fall = left - before, right - after
    if rise <= 0.0:
        return left
    if fall <= 0.0:
        return right
    # The outer chords, extended, meet here.
    return left + rise * max(0.0, min(1.0, (right + fall - left) / (rise + fall)))


def exit_tables(p_c: float, farthest: int) -> Exits:
    """Make the tables for all admitted distances up to the farthest."""
    rows = hop_row(farthest) + 1
    cells = np.zeros((rows, CELLS), dtype=np.uint64)
    bins = np.zeros((rows, LEVEL + CELLS + 1))
    fill = compile_if_long(_fill_rows, _SECONDS * rows, "tables of hops")
    # Where a walk cannot turn, the time has the law of one that never does, whichever way it goes.
    p = p_c if 0.0 < p_c < 1.0 else _HARDLY
    fill(p, cells, bins)
    bins[1:, UP] = [exit_up(p_c, row_distance(row)) for row in range(1, rows)]
    return Exits(p, cells, bins)


def _fill_rows(p_c: float, cells: Words, bins: Floats) -> None:
    """Write the rows of the distances from 2 on; 0 and 1 need none."""
    mass = np.zeros(CELLS)
    other, waiting = np.zeros(CELLS, dtype=np.int64), np.zeros(CELLS, dtype=np.int64)
    for row in range(2, len(cells)):
        _fill_bins(p_c, row_distance(row), bins[row], mass)
        _fill_cells(mass, other, waiting, cells[row])


@kernel
def _fill_bins(p_c: float, d: int, bins: Floats, mass: Floats) -> None:
    """Write a row's bins, and the sum of the envelope over each cell."""
    steps, variance = exit_mean_variance(p_c, d)
    mean, deviation = 0.5 * (steps - d), 0.5 * math.sqrt(variance)
    low = float(math.floor(max(0.0, mean - _BELOW * deviation)))
    width = float(math.ceil(max(1.0, (mean + _ABOVE * deviation - low) / (CELLS - 2))))
    bins[LOW], bins[WIDTH] = low, width
    for i in range(CELLS + 1):
        m = low + (i - 1) * width
        bins[LEVEL + i] = log_exit(p_c, d, int(m)) if m >= 0.0 else _NEVER
    for i in range(1, CELLS - 1):
        left, right = bins[LEVEL + i], bins[LEVEL + i + 1]
        envelope, least = left, left
        if width > 1.0:
            envelope = concave_bound(bins[LEVEL + i - 1], left, right, bins[LEVEL + i + 2])
            least = min(left, right)
        bins[SURE + i] = math.exp(least - envelope)
        mass[i] = math.exp(envelope) * width
    first, last = bins[LEVEL + 1], bins[LEVEL + CELLS - 1]
    rise, fall = (bins[LEVEL + 2] - first) / width, (bins[LEVEL + CELLS - 2] - last) / width
    mass[0] = math.exp(first - rise) / -math.expm1(-rise) if low > 0.0 else 0.0
    mass[CELLS - 1] = math.exp(last) / -math.expm1(-fall)


@kernel
def _fill_cells(mass: Floats, other: Ints, waiting: Ints, cells: Words) -> None:
    """Write a row's cells, so that a cell is drawn in proportion to its mass."""
    total = 0.0
    for i in range(CELLS):
        total += mass[i]
    for i in range(CELLS):
        mass[i] *= CELLS / total
    pair_cells(mass, 1.0, other, waiting)
    for i in range(CELLS):
        own = int(mass[i] * 2.0**_SHARE_BITS) if other[i] != i else 0
        cells[i] = (u64(own) << u64(_CELL_BITS)) | u64(other[i])
