"""Alias tables (Walker 1977; Vose 1991): one 64-bit word draws from a discrete law."""

import math
from typing import Any, Final

import numpy as np

from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.exact_sum import exact_sum
from grbp.numerics.jit import compile_if_long, kernel, u64

_SECONDS: Final = 4e-6
"""What the interpreter takes for a cell, about."""

_ALL: Final = 2.0**64
_MASK: Final = 0xFFFFFFFFFFFFFFFF


def bits_for(cells: int) -> int:
    """Count the bits that choose one of so many cells."""
    return max(1, math.ceil(math.log2(cells)))


@kernel
def pair_cells(share: Any, full: Any, other: Ints, waiting: Ints) -> None:
    """Fill up each cell from one that has too much, so that two indices share a cell at most.

    Cell i draws index i with its own share, which stays, and else ``other[i]``. The numbers may
    be floats or whole. ``waiting`` is a work array: cells with too little wait at its front,
    those with too much at its end.
    """
    poor, rich = 0, len(share)
    for i in range(len(share)):
        other[i] = i
        if share[i] < full:
            waiting[poor] = i
            poor += 1
        elif share[i] > full:
            rich -= 1
            waiting[rich] = i
    while poor > 0 and rich < len(share):
        poor -= 1
        i, donor = waiting[poor], waiting[rich]
        other[i] = donor
        share[donor] -= full - share[i]
        if share[donor] <= full:
            rich += 1
            if share[donor] < full:
                waiting[poor] = donor
                poor += 1


def alias_table(weights: Floats, bits: int) -> tuple[Words, Ints]:
    """Make a table from which a 64-bit word draws an index: its first bits choose a cell.

    The first array says how much of each cell is its own index's, to be compared with the rest
    of the word moved to the front; the second has the index of the rest of the cell. All numbers
    are whole, so that the probabilities are those of the weights to the last of 64 bits.
    """
    cut, other = np.empty(1 << bits, dtype=np.uint64), np.empty(1 << bits, dtype=np.int64)
    fill = compile_if_long(fill_alias, _SECONDS * len(cut), "alias tables")
    fill(weights, bits, cut, other, np.empty_like(other))
    return cut, other


@kernel
def fill_alias(weights: Floats, bits: int, cut: Words, other: Ints, waiting: Ints) -> None:
    """Write the two arrays of an alias table; `waiting` is a work array."""
    largest = _share_words(weights, cut)
    if u64(cut[largest]) == 0:  # It has all 2^64 words, one more than a word can count.
        for i in range(len(other)):
            other[i] = largest
        cut[largest] = _MASK
        return
    full = u64(1) << u64(64 - bits)
    pair_cells(cut, full, other, waiting)
    for i in range(len(cut)):
        share = u64(cut[i])
        cut[i] = _MASK if share == full else share << u64(bits)


@kernel
def _share_words(weights: Floats, share: Words) -> int:
    """Write how many of 2^64 words each index has, modulo 2^64; return which one has most.

    That one also has the words that rounding left.
    """
    scale, most, largest, left = exact_sum(weights), -1.0, 0, u64(0)
    for i in range(len(weights), len(share)):
        share[i] = 0
    for i in range(len(weights)):
        part = weights[i] / scale * _ALL
        part -= part % 1.0
        share[i] = u64(part) if part < _ALL else u64(0)
        left = (left - u64(share[i])) & _MASK
        if part > most:
            most, largest = part, i
    share[largest] = (u64(share[largest]) + left) & _MASK
    return largest
