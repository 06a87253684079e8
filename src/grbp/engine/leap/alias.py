"""Alias tables: one 64-bit word draws from a discrete law."""

import math

import numpy as np

from grbp.numerics.arrays import Floats, Ints, Words


def bits_for(cells: int) -> int:
    """Count the bits that choose one of so many cells."""
    return max(1, math.ceil(math.log2(cells)))


def alias_table(weights: Floats, bits: int) -> tuple[Words, Ints]:
    """A table from which one number of 64 bits draws an index: its first bits choose a cell.

    Each cell is shared by two indices, its own up to `cut`. Whole numbers throughout: the
    probabilities are those of the weights to the last of 64 bits.
    """
    cells, cap = 1 << bits, 1 << (64 - bits)
    scale = math.fsum(weights)
    left = [int(weight / scale * 2.0**64) for weight in weights.tolist()]
    left[left.index(max(left))] += 2**64 - sum(left)
    left += [0] * (cells - len(left))
    cut, other = [cap] * cells, list(range(cells))
    low = [k for k in range(cells) if left[k] < cap]
    high = [k for k in range(cells) if left[k] > cap]
    while low and high:
        k, donor = low.pop(), high[-1]
        cut[k], other[k] = left[k], donor
        left[donor] -= cap - left[k]
        if left[donor] <= cap:
            high.pop()
            if left[donor] < cap:
                low.append(donor)
    # What is compared with a cut is the number without its first bits, moved to the front.
    moved = [min(part << bits, 2**64 - 1) for part in cut]
    return np.array(moved, dtype=np.uint64), np.array(other, dtype=np.int64)
