"""Draw random numbers that depend on where they are used, never on when.

A key is a number of 64 bits; `fold_in(key, i)` is the key of its i-th part and `uniform(key, i)`
its i-th draw. So the draws of round rho of replica r are the same whatever ran before, in
whatever order, and on however many threads. The function is the finaliser of SplitMix64 (Steele,
Lea and Flood 2014), whose counter is the index.
"""

from typing import Final

import numpy as np

from grbp.numerics.arrays import Words
from grbp.numerics.jit import inlined, u64

WORLD: Final = 1
"""The part of a seed that makes the cases: starts and outcomes."""

LEARNER: Final = 2
"""The part of a seed that makes a learner's own draws."""

OPENING: Final = 3
"""The part of a seed that makes the initial estimates."""

OVERRULE: Final = 4
"""The part of a seed that says which cases are not played as a learner decides."""

_MASK: Final = 0xFFFFFFFFFFFFFFFF
STEP: Final = 0x9E3779B97F4A7C15
"""What `fold_in` adds to a key for each index."""


@inlined
def splitmix64(x: int) -> int:
    """Return a number of 64 bits that looks unrelated to the one given."""
    x = ((x ^ (x >> u64(30))) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> u64(27))) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> u64(31))


@inlined
def fold_in(key: int, index: int) -> int:
    """Return the key of the index-th part of a key."""
    return splitmix64((u64(key) + u64(index) * STEP) & _MASK)


@inlined
def uniform(key: int, index: int) -> float:
    """Draw a number uniformly from [0, 1), given a key and an index.

    Parameters
    ----------
    key : int
        A number of 64 bits, such as the last argument of a learner's ``decide``.
    index : int
        The number of the draw, from 0 on.

    Returns
    -------
    float
        The draw: a pure function of the key and the index, the same compiled and interpreted.

    Notes
    -----
    The draw is a multiple of 2^-53. Different indices of a key, and different keys, give draws
    that look independent.

    Examples
    --------
    >>> [round(uniform(7, index), 4) for index in range(3)]
    [0.3898, 0.0168, 0.9008]
    """
    return float(fold_in(key, index + 1) >> u64(11)) * 2.0**-53


def replica_key(seed: int, purpose: int, replica: int) -> int:
    """Return the key of one purpose in one replica of an experiment with a seed."""
    return fold_in(purpose_key(seed, purpose), replica)


def replica_keys(seed: int, purpose: int, replicas: range) -> Words:
    """Return the keys of one purpose in some replicas."""
    index = np.array(replicas, dtype=np.uint64)
    # The sum wraps around, as it does in `fold_in`.
    counters = np.uint64(purpose_key(seed, purpose)) + index * np.uint64(STEP)
    keys: Words = splitmix64(counters)  # type: ignore[arg-type,assignment]
    return keys


def purpose_key(seed: int, purpose: int) -> int:
    """Return the key of one purpose; a seed may have more than 64 bits."""
    return fold_in(fold_in(splitmix64(seed & _MASK), seed >> 64), purpose)
