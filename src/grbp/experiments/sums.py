"""Sum whole numbers over replicas, exactly, and price them at the end.

Whole numbers add up to the same in any order and in any parts. So what is computed from such sums
depends neither on blocks of replicas nor on processes, machines or devices, to the last bit.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grbp.numerics.arrays import Floats, Ints

Wholes: TypeAlias = NDArray[Any]
"""An array of 64-bit integers, or of Python's integers."""

_ROWS: Final = 4096
"""Rows that are multiplied at once; so many leave room for limbs of 20 bits."""

_EXACT: Final = 53
"""Bits of a whole number that a float holds."""

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
    def nothing(cls, columns: int) -> "Sums":
        """Return the sums over no replicas."""
        zeros = np.zeros((columns, columns), dtype=np.int64)
        return cls(0, np.zeros(columns, dtype=np.int64), zeros)

    @classmethod
    def of(cls, numbers: Ints) -> "Sums":
        """Sum a matrix of whole numbers, with a row for each replica."""
        sums = cls.nothing(numbers.shape[1])
        for first in range(0, len(numbers), _ROWS):
            rows = numbers[first : first + _ROWS]
            sums += cls(len(rows), total_of(rows), _products(rows))
        return sums

    def __add__(self, other: "Sums") -> "Sums":  # type: ignore[override]
        """Return the sums over the replicas of both."""
        return Sums(
            self.replicas + other.replicas,
            added(self.totals, other.totals),
            added(self.products, other.products),
        )

    def as_json(self) -> list[Any]:
        """Return the sums as plain lists of whole numbers; `from_json` is the way back."""
        return [self.replicas, self.totals.tolist(), self.products.tolist()]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> "Sums":
        """Read the sums that were written as plain lists."""
        replicas, totals, products = data
        shape = (len(totals), len(totals))
        return cls(replicas, _narrow(totals), _narrow(products).reshape(shape))


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
    mean, covariance = prices(sums, gaps)
    return float(mean[0]), math.sqrt(max(covariance[0, 0], 0.0))


def prices(sums: Sums, gaps: Floats) -> tuple[Floats, Floats]:
    """Compute the mean at several checkpoints, and the covariance of these means.

    The columns of the sums are the choices of the first checkpoint, then those of the next, and so
    on. Each mean and covariance depends on its own columns alone, so that a checkpoint has the same
    price by itself. A choice that costs nothing may be left out, which changes no bit.
    """
    totals = sums.totals.astype(np.float64).reshape(-1, len(gaps))
    apart = _apart(sums).reshape(totals.shape * 2)
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


def added(a: Wholes, b: Wholes) -> Wholes:
    """Add whole numbers; those that might not fit into 64 bits become Python's integers."""
    if _largest(a) + _largest(b) < _LIMIT:
        return a + b
    return a.astype(object) + b.astype(object)  # type: ignore[no-any-return]


def total_of(numbers: Ints) -> Wholes:
    """Sum whole numbers over the first axis."""
    fits = len(numbers) * _largest(numbers) < _LIMIT
    return (numbers if fits else numbers.astype(object)).sum(axis=0)  # type: ignore[no-any-return]


def _largest(numbers: Wholes) -> int:
    """Return the largest absolute value."""
    return max(int(numbers.max()), -int(numbers.min())) if numbers.size else 0


def _narrow(numbers: Sequence[Any]) -> Wholes:
    """Return whole numbers as an array of 64-bit integers, or of Python's if one is larger."""
    whole = np.array(numbers, dtype=object)
    return whole.astype(np.int64) if _largest(whole) < _LIMIT else whole


def _products(rows: Ints) -> Wholes:
    """Sum over rows the products of every two columns.

    Numbers are taken apart into limbs, so short that no partial sum of a matrix product of floats
    exceeds 2^53: it is exact, in whatever order it is added up.
    """
    largest, width = _largest(rows), (_EXACT - len(rows).bit_length()) // 2
    fits = len(rows) * largest**2 < _LIMIT
    limbs, bits = [], largest.bit_length()
    for shift in range(0, max(bits, 1), width):
        limb = rows >> shift
        limbs.append((limb & (1 << width) - 1 if shift + width < bits else limb).astype(np.float64))
    total: Wholes = np.zeros((rows.shape[1],) * 2, dtype=np.int64 if fits else object)
    for i, one in enumerate(limbs):
        for j, other in enumerate(limbs[: i + 1]):
            part = (one.T @ other).astype(np.int64)
            part = part if i == j else part + part.T
            total += part.astype(total.dtype) << width * (i + j)
    return total


def _apart(sums: Sums) -> Floats:
    """Compute R Q - S S, which says how far R replicas lie apart, exactly and then as floats."""
    replicas, totals, products = sums
    fits = replicas * _largest(products) + _largest(totals) ** 2 < _LIMIT
    totals, products = (one.astype(np.int64 if fits else object) for one in (totals, products))
    apart = np.empty(products.shape)
    for k, row in enumerate(products):
        apart[k] = replicas * row - totals[k] * totals
    return apart
