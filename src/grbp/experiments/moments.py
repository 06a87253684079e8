"""Sum whole numbers over replicas, exactly, and price them at the end.

Whole numbers add up to the same in any order and in any parts. So what is computed from such sums
depends neither on blocks of replicas nor on processes, machines or devices, to the last bit.
"""

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grbp.numerics.arrays import Floats, Ints

Wholes: TypeAlias = NDArray[Any]
"""An array of 64-bit integers, or of Python's integers."""

_LIMB: Final = 21
"""Bits of a limb: two limbs hold a number of rounds, and a piece of products adds up to 2^50."""

_PIECE: Final = 256
_TILE: Final = 31
"""Rows and columns that are multiplied at once. The library behind matrix products starts no
threads for so little; on a busy machine, these would wait for each other longer than they work."""

_ROWS: Final = 2**18
"""Rows whose products fit into 64 bits, limb by limb."""

_LIMIT: Final = 2**63
"""The first whole number that does not fit into 64 bits."""


class Sums(NamedTuple):
    """The number of replicas, and what whole numbers and their products sum to over them.

    The arrays are of 64-bit integers where these suffice, and of Python's integers elsewhere.

    Attributes
    ----------
    replicas : int
    totals : ndarray, shape (columns,)
        The sum of every column over the replicas.
    products : ndarray, shape (columns, columns)
        The sum of the product of every two columns.
    """

    replicas: int
    totals: Wholes
    products: Wholes

    @classmethod
    def of(cls, numbers: Ints) -> "Sums":
        """Sum a matrix of whole numbers, with a row for each replica."""
        parts = (numbers[k : k + _ROWS] for k in range(0, max(len(numbers), 1), _ROWS))
        return reduce(
            Sums.__add__, (cls(len(rows), sum_wholes(rows), _sum_products(rows)) for rows in parts)
        )

    def __add__(self, other: "Sums") -> "Sums":  # type: ignore[override]
        """Return the sums over the replicas of both."""
        return Sums(
            self.replicas + other.replicas,
            add_wholes(self.totals, other.totals),
            add_wholes(self.products, other.products),
        )

    def as_json(self) -> list[Any]:
        """Return the sums as plain lists of whole numbers; `from_json` is the way back."""
        return [self.replicas, self.totals.tolist(), self.products.tolist()]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> "Sums":
        """Read the sums that were written as plain lists."""
        replicas, totals, products = data
        shape = (len(totals), len(totals))
        return cls(replicas, as_wholes(totals), as_wholes(products).reshape(shape))


def price(sums: Sums, gaps: Floats) -> tuple[float, float]:
    """Compute the mean regret of replicas, and its standard error, from the rounds they played.

    Parameters
    ----------
    sums : Sums
        The sums of the rounds that were played with each choice.
    gaps : ndarray, shape (choices,)
        What a round costs under each choice.

    Returns
    -------
    mean, se : float
        The standard error is NaN where there is one replica.
    """
    mean, covariance = price_checkpoints(sums, gaps)
    return float(mean[0]), math.sqrt(max(covariance[0, 0], 0.0))


def price_checkpoints(sums: Sums, gaps: Floats) -> tuple[Floats, Floats]:
    """Compute the mean at several checkpoints, and the covariance of these means.

    The columns of the sums are the choices of the first checkpoint, then those of the next, and so
    on. Each mean and covariance depends on its own columns alone, so that a checkpoint has the same
    price by itself. A choice that costs nothing may be left out, which changes no bit.
    """
    totals = sums.totals.astype(np.float64).reshape(-1, len(gaps))
    apart = _centred_products(sums).reshape(totals.shape * 2)
    covariance = weighted_sum(weighted_sum(apart, gaps).transpose(0, 2, 1), gaps)
    # One replica does not say how far replicas lie apart.
    scale = float(sums.replicas**2 * (sums.replicas - 1)) or math.nan
    return weighted_sum(totals, gaps) / sums.replicas, (covariance + covariance.T) / 2.0 / scale


def weighted_sum(counts: Floats | Ints, weights: Floats) -> Floats:
    """Sum counts times weights over the last axis, in order.

    This is not a matrix product: the library behind those adds in an order, and rounds in a way,
    that depends on the machine and its threads.
    """
    total: Floats = np.zeros(counts.shape[:-1])
    for k in range(counts.shape[-1]):
        total = total + counts[..., k] * weights[..., k]
    return total


def add_wholes(a: Wholes, b: Wholes) -> Wholes:
    """Add whole numbers; those that might not fit into 64 bits become Python's integers."""
    if _largest(a) + _largest(b) < _LIMIT:
        return a + b
    return a.astype(object) + b.astype(object)  # type: ignore[no-any-return]


def sum_wholes(numbers: Ints) -> Wholes:
    """Sum whole numbers over the first axis."""
    fits = len(numbers) * _largest(numbers) < _LIMIT
    return (numbers if fits else numbers.astype(object)).sum(axis=0)  # type: ignore[no-any-return]


def _largest(numbers: Wholes) -> int:
    """Return the largest absolute value."""
    return max(int(numbers.max()), -int(numbers.min())) if numbers.size else 0


def as_wholes(numbers: Sequence[Any]) -> Wholes:
    """Return whole numbers as an array of 64-bit integers, or of Python's if one is larger."""
    whole = np.array(numbers, dtype=object)
    return whole.astype(np.int64) if _largest(whole) < _LIMIT else whole


def _sum_products(rows: Ints) -> Wholes:
    """Sum over rows the products of every two columns.

    Numbers are taken apart into limbs, so short that no partial sum of a matrix product of floats
    exceeds 2^53: it is exact, in whatever order it is added up.
    """
    largest, columns = _largest(rows), rows.shape[1]
    shifts = range(0, max(largest.bit_length(), 1), _LIMB)
    parts = np.zeros((2 * len(shifts) - 1, columns, columns), dtype=np.int64)
    for first in range(0, len(rows), _PIECE):
        limbs = [_take_bits(rows[first : first + _PIECE], k, k == shifts[-1]) for k in shifts]
        for i, j in np.ndindex(len(limbs), len(limbs)):
            _add_products(parts[i + j], limbs[i], limbs[j])
    fits = len(rows) * largest**2 < _LIMIT
    total: Wholes = parts[-1] if fits else parts[-1].astype(object)
    for part in parts[-2::-1]:
        total = (total << _LIMB) + part
    return np.triu(total) + np.triu(total, 1).T


def _add_products(total: Ints, one: Floats, other: Floats) -> None:
    """Add the products of two pieces on and above the diagonal, which will be mirrored."""
    columns = range(0, len(total), _TILE)
    for k in columns:
        for j in columns[k // _TILE :]:
            product = one[:, k : k + _TILE].T @ other[:, j : j + _TILE]
            total[k : k + _TILE, j : j + _TILE] += product.astype(np.int64)


def _take_bits(rows: Ints, shift: int, last: bool) -> Floats:
    """Return some bits of whole numbers, or all from there on, with the sign, if it is the last."""
    limb = rows >> shift
    return (limb if last else limb & (1 << _LIMB) - 1).astype(np.float64)


def _centred_products(sums: Sums) -> Floats:
    """Compute R Q - S S, which says how far R replicas lie apart, exactly and then as floats."""
    replicas, totals, products = sums
    apart: Floats = np.empty(products.shape)
    if replicas * _largest(products) + _largest(totals) ** 2 < _LIMIT:
        apart[:] = replicas * products - np.outer(totals, totals)
        return apart
    totals = totals.astype(object)
    # Python's integers are slow, and half of them will do.
    i, j = np.triu_indices(len(totals))
    apart[i, j] = apart[j, i] = replicas * products[i, j].astype(object) - totals[i] * totals[j]
    return apart
