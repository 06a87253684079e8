"""The evidence against one chance for all: an e-process, which may be looked at at any time.

Moves are put into cells: by state, by group, or before and after a place in time. Under the null
all have the same chance p, which nobody knows. For every p there is an alternative: each cell has
a chance of its own, drawn from Beta(m p, m (1 - p)), where m is the strength of the cell. The
evidence is the least over p of (probability under the alternative) / (probability under p). For
the true p the ratio is a martingale that begins at 1, and the least is not larger. So whoever
looks after every move ever sees 1/alpha or more with a probability of at most alpha (Ville).

The logarithm of the ratio is convex in p, so that the least is found: it is a sum of terms
log(1 + i/(m p)) and log(1 + j/(m (1 - p))), and a mixture of such ratios is convex as well.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias


class Cell(NamedTuple):
    """The successes and failures in a cell, and how strongly its chance is drawn towards p."""

    wins: int
    losses: int
    strength: float


Partition: TypeAlias = tuple[float, Sequence[Cell]]
"""A way to put all moves into cells, with its weight; the weights have a sum of at most one."""

_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0


def log_evidence(partitions: Sequence[Partition]) -> float:
    """Compute the logarithm of the evidence."""
    wins, losses = _total(partitions)
    # Where all went alike, the least is at the end, where that was certain.
    return _least(partitions, wins / (wins + losses))[0] if wins and losses else 0.0


def look(partitions: Sequence[Partition], bar: float) -> int:
    """Return 0 if the logarithm of the evidence reached the bar, or else when to look again.

    That is after so many moves: in one, no ratio grows by more than a factor 1/min(p, 1 - p).
    """
    wins, losses = _total(partitions)
    if not (wins and losses):
        return 1
    p = wins / (wins + losses)
    log = log_ratio(partitions, p)
    if log >= bar:
        log, p = _least(partitions, p)
    return 0 if log >= bar else math.ceil((bar - log) / -math.log(min(p, 1.0 - p)))


def _least(partitions: Sequence[Partition], near: float) -> tuple[float, float]:
    """Find the least logarithm of a ratio, and its p, by golden sections."""
    low, high, left, right = 0.0, 1.0, 1.0 - _GOLDEN, _GOLDEN
    at_left, at_right = (log_ratio(partitions, p) for p in (left, right))
    while high - low > 1e-6 * min(near, 1.0 - near):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = log_ratio(partitions, left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = log_ratio(partitions, right)
    return min((at_left, left), (at_right, right))


def log_ratio(partitions: Sequence[Partition], p: float) -> float:
    """Compute the logarithm of (probability under the alternative) / (probability under p)."""
    terms, lgamma, known = [], math.lgamma, {}
    for weight, cells in partitions:
        total = math.log(weight)
        for wins, losses, m in cells:
            if m not in known:
                a, b = m * p, m * (1.0 - p)
                known[m] = a, b, lgamma(m) - lgamma(a) - lgamma(b)
            a, b, one = known[m]
            total += one + lgamma(wins + a) + lgamma(losses + b) - lgamma(wins + losses + m)
        terms.append(total)
    most, (wins, losses) = max(terms), _total(partitions)
    mixed = math.log(math.fsum([math.exp(term - most) for term in terms]))
    return most + mixed - wins * math.log(p) - losses * math.log1p(-p)


def _total(partitions: Sequence[Partition]) -> tuple[int, int]:
    """Count the successes and failures of all cells."""
    cells = partitions[0][1]
    return sum([cell[0] for cell in cells]), sum([cell[1] for cell in cells])
