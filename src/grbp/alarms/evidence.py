"""The evidence against one chance for all: an e-process, which may be looked at at any time.

Moves are put into cells: by state, by group, or before and after a place in time. Under the null
all have the same chance p, which nobody knows. For every p there is an alternative: each cell has
a chance of its own, drawn from Beta(m p, m (1 - p)), with the strength m one of a few. The
evidence is the least over p of (probability under the alternative) / (probability under p). For
the true p the ratio is a martingale that begins at 1, and the least is not larger. So whoever
looks after every move ever sees 1/alpha or more with a probability of at most alpha (Ville).

The logarithm of the ratio is convex in p: it is a sum of log(1 + i/(m p)) and
log(1 + j/(m (1 - p))), and a mixture of such ratios is convex as well.
"""

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

Cells: TypeAlias = Sequence[tuple[int, int]]
"""Successes and failures of every cell."""

Partitions: TypeAlias = Sequence[tuple[float, Cells]]
"""Ways to put the moves into cells, each with its weight; the weights have the sum one."""

STRENGTHS: Final = (4.0, 16.0, 64.0, 256.0)
"""How many moves it takes to find a cell's chance as telling as that of all."""

_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0


def log_evidence(partitions: Partitions) -> float:
    """Compute the logarithm of the evidence: the least over p."""
    wins, losses = _total(partitions)
    if not (wins and losses):
        return 0.0
    low, high = 0.0, 1.0
    left, right = 1.0 - _GOLDEN, _GOLDEN
    at_left, at_right = (log_ratio(partitions, p) for p in (left, right))
    while high - low > 1e-9:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = log_ratio(partitions, left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = log_ratio(partitions, right)
    return min(at_left, at_right)


def look(partitions: Partitions, bar: float) -> int:
    """Return 0 if the logarithm of the evidence reached the bar, or else when to look again.

    That is after so many moves: in one, no ratio grows by more than a factor 1/min(p, 1 - p).
    """
    wins, losses = _total(partitions)
    if not (wins and losses):
        return 1
    p = wins / (wins + losses)
    above = log_ratio(partitions, p)
    if above < bar:
        return math.ceil((bar - above) / -math.log(min(p, 1.0 - p)))
    return 0 if log_evidence(partitions) >= bar else 1


def log_ratio(partitions: Partitions, p: float) -> float:
    """Compute the logarithm of (probability under the alternative) / (probability under p)."""
    terms = []
    for m in STRENGTHS:
        a, b = m * p, m * (1.0 - p)
        one = math.lgamma(m) - math.lgamma(a) - math.lgamma(b)
        terms += [
            math.log(weight)
            + sum(
                one + math.lgamma(x + a) + math.lgamma(y + b) - math.lgamma(x + y + m)
                for x, y in cells
                if x or y
            )
            for weight, cells in partitions
        ]
    most = max(terms)
    mean = math.fsum(math.exp(term - most) for term in terms) / len(STRENGTHS)
    wins, losses = _total(partitions)
    return most + math.log(mean) - wins * math.log(p) - losses * math.log1p(-p)


def _total(partitions: Partitions) -> tuple[int, int]:
    """Count the successes and failures of all cells."""
    cells = partitions[0][1]
    return sum(x for x, _ in cells), sum(y for _, y in cells)
