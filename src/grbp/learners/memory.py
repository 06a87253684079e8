"""Forget: count old rounds in part, with one memory or averaged over several.

A memory of m rounds keeps the part 1 - 1/m of every count from one round to the next. Averaged
over memories, counters are kept for each of them, and two sets of weights: one for what CONTINUE
showed, one for what FINISH showed, since one chance may drift while the other does not. Everybody
who keeps counters does the same in every round, with the functions below:

1. `draw_memories` draws the memory of either action by its weights, `recall` puts together what
   the two hold, and the learner decides from that;
2. when the round is over, `reweigh` weighs the memories by how well each foretold it, from the
   counters of before;
3. `forget` takes from the counters of every memory their part, and the round is counted in full.

So the k-th of n rounds counts `keep ** (n - k)` after the n-th, and a first estimate `keep ** n`.
"""

import math
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from grbp.errors import InvalidInput
from grbp.learners.counters import NO_COUNTS, NOBODY, Counters, Round, add_to, as_totals
from grbp.learners.state_counters import StateCounters
from grbp.numerics.arrays import Floats
from grbp.numerics.jit import kernel
from grbp.numerics.rng import uniform

N = TypeVar("N", Counters, StateCounters)

MemoryLike: TypeAlias = float | Literal["averaged"]
"""How many rounds a learner remembers: 0 for all of them, or "averaged" over several memories."""

ROUNDS: Final = (math.inf, 4000.0, 1000.0, 250.0, 60.0)
"""The memories that are averaged over, in rounds; benchmarks/drift.md judges all these numbers."""

PRIOR: Final = ((0.5, 0.125, 0.125, 0.125, 0.125), (0.5, 0.25, 0.24, 0.01, 0.0))
"""Their weights before the first round, for CONTINUE and for FINISH.

FINISH shows nothing where it is not tried, so that to forget it means to explore it again and
again: short memories of it have little weight, which grows where they foretell better.
"""

SHARE: Final = 0.0005
"""The part of the weights that returns to the first ones with every round that shows something."""

SLOT: Final = 2**40
"""The first of two draws that choose a memory: no decision and no round has so many."""


class Memory(NamedTuple):
    """One memory, or several to average over.

    Attributes
    ----------
    keep : ndarray, shape (memories,)
        What is left of every count after a round: 1 for a memory that never forgets.
    prior : ndarray, shape (2, memories)
        The weights before the first round: a row for CONTINUE and one for FINISH, of sum 1.
    share : float
        The part of the weights that returns to those with every round that shows something.
    """

    keep: Floats
    prior: Floats
    share: float

    def start(self) -> Floats:
        """Return the weights before the first round."""
        return self.prior.copy()


def as_memory(given: MemoryLike) -> Memory:
    """Return the memory that a learner's field `memory` stands for."""
    if given != "averaged":
        return Memory(np.array([1.0 - 1.0 / given if given else 1.0]), np.ones((2, 1)), 0.0)
    return Memory(1.0 - 1.0 / np.array(ROUNDS), np.array(PRIOR), SHARE)


def check_memory(given: object) -> MemoryLike:
    """Return a memory if it is one, or refuse it."""
    if isinstance(given, str) and given == "averaged":
        return "averaged"
    if isinstance(given, int | float) and (given == 0.0 or 1.0 <= given < math.inf):
        return float(given)
    raise InvalidInput(
        f"memory = {given!r} was given; it must be a number of rounds from 1 on, 0 to forget"
        " nothing, or 'averaged'"
    )


def outcomes_of(n: Counters | Round | StateCounters) -> Floats:
    """Return the counts that foretell: up, down, won and lost, a row each; a column for each state.

    A learner of thresholds has one column, for all states.
    """
    if isinstance(n, StateCounters):
        return np.stack([n.up, n.down, n.won, n.lost])
    if isinstance(n, Round):
        return outcomes_of(add_to(NO_COUNTS, NOBODY, as_totals(n)))
    return np.array([[n.c_up], [n.c - n.c_up], [n.f_goal], [n.f - n.f_goal]])


def forget(n: N, keep: float) -> N:
    """Return counters of which every count has lost its part; the round's number stays."""
    return n if keep == 1.0 else type(n)(n.rho, *(keep * count for count in n[1:]))


@kernel
def remembered(keep: float, rounds: float) -> float:
    """Return how many rounds count, all together, after some."""
    return rounds if keep == 1.0 else (1.0 - keep**rounds) / (1.0 - keep)


@kernel
def remembered_rho(keep: Floats, drawn: tuple[int, int], rho: int) -> int:
    """Return the round that a learner thinks it is in: that of the shorter memory drawn."""
    least = min(keep[drawn[0]], keep[drawn[1]])
    return rho if least == 1.0 else 1 + int(remembered(least, float(rho - 1)))


def recall(memory: Memory, kept: Sequence[N], weights: Floats, key: int) -> N:
    """Return the counters to decide from: what a drawn memory of either action holds.

    `kept` are the counters of every memory, whose `rho` is the number of the round that comes next,
    and `key` is that of the round's own draws, which `decide` gets as well.
    """
    if len(kept) == memory.keep[0] == 1:  # Nothing is forgotten.
        return kept[0]
    drawn = draw_memories(weights, key)
    c, f, rho = kept[drawn[0]], kept[drawn[1]], remembered_rho(memory.keep, drawn, kept[0].rho)
    if isinstance(c, StateCounters):
        return c._replace(rho=rho, won=f.won, lost=f.lost)
    return c._replace(rho=rho, f=f.f, f_goal=f.f_goal, plays_1=f.plays_1, wins_1=f.wins_1)


@kernel
def draw_memories(weights: Floats, key: int) -> tuple[int, int]:
    """Draw a memory of CONTINUE and one of FINISH by their weights, if there are several."""
    last = weights.shape[1] - 1
    if last == 0:
        return 0, 0
    return draw_one(weights[0], uniform(key, SLOT)), draw_one(weights[1], uniform(key, SLOT + 1))


@kernel
def draw_one(weights: Floats, draw: float) -> int:
    """Return the index at which the sum of the weights passes a uniform draw."""
    total, last = 0.0, len(weights) - 1
    for k in range(last):
        total += weights[k]
        if draw < total:
            return k
    return last


@kernel
def log_predictive(won: float, lost: float, wins: float, losses: float) -> float:
    """Compute how likely a Beta(1/2, 1/2) predictor with some counts found what came, as a log."""
    a, b, total = won + 0.5, lost + 0.5, 0.0
    for k in range(int(wins)):
        total += math.log((a + k) / (a + b + k))
    for k in range(int(losses)):
        total += math.log((b + k) / (a + b + wins + k))
    return total


@kernel
def reweigh(memory: Memory, weights: Floats, counts: Floats, shown: Floats) -> Floats:
    """Return the weights after a round, by how well each memory foretold what either action showed.

    Where an action showed nothing, its weights stay. `counts`, of shape (memories, 4, columns), has
    `outcomes_of` each memory before the round, and `shown`, of shape (4, columns), has those of the
    round.
    """
    new = weights.copy()
    for action in range(2):
        won, lost, count = 2 * action, 2 * action + 1, len(memory.keep)
        if count > 1 and shown[won].sum() + shown[lost].sum() > 0.0:
            found, total = np.zeros(count), 0.0
            for j in range(count):
                for s in range(shown.shape[1]):
                    found[j] += log_predictive(
                        counts[j, won, s], counts[j, lost, s], shown[won, s], shown[lost, s]
                    )
            largest = found.max()
            for j in range(count):
                found[j] = weights[action, j] * math.exp(found[j] - largest)
                total += found[j]
            new[action] = (1.0 - memory.share) * found / total + memory.share * memory.prior[action]
    return new
