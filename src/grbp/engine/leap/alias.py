"""Alias tables (Walker 1977; Vose 1991): one 64-bit word draws from a discrete law."""

import math
from typing import Any

import numpy as np

from grbp._numba.jit import kernel
from grbp.numerics.arrays import Floats, Ints, Words


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
    cells = 1 << bits
    scale = math.fsum(weights)
    left = [int(weight / scale * 2.0**64) for weight in weights.tolist()]
    left[left.index(max(left))] += 2**64 - sum(left)
    share = np.array(left + [0] * (cells - len(left)), dtype=object)
    other, waiting = np.empty(cells, dtype=np.int64), np.empty(cells, dtype=np.int64)
    pair_cells(share, 1 << (64 - bits), other, waiting)
    moved = [min(part << bits, 2**64 - 1) for part in share.tolist()]
    return np.array(moved, dtype=np.uint64), other
