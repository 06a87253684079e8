"""From decisions to regret: what they cost, on the average, and how sure that is.

Arrays in, arrays out. The pseudo-regret prices a round by the gap of the threshold played; a
forced exploration, which finishes at once, is the threshold goal - 1 and costs V* - p_f.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal, TypeAlias

import numpy as np

from grbp._numba.jit import compiled, numba
from grbp.engine.decisions import Decisions
from grbp.learners.registry import AnyLearner
from grbp.model.problem import Problem
from grbp.numerics.arrays import Floats, Ints
from grbp.theory.gaps import gap, gap_at
from grbp.theory.values import optimal_threshold, value

Kind: TypeAlias = Literal["pseudo", "realised", "by-start"]
"""How a round is priced: by the gap of its threshold, averaged over starts; by what was lost
in fact; or by the gap of its threshold from the state in which it started."""

_BAND_DRAWS = 20_000

Z_95: Final = 1.959963984540054
"""The half-width of a 95 % interval in standard errors: the normal quantile at .975."""


@dataclass(frozen=True)
class Curve:
    """The regret of one learner, at each of the rounds looked at.

    mean              the mean over the replicas: [look]
    covariance        of the mean, between looks: [look, look]
    final             the regret of every replica at the last round: [replica]
    threshold_share   the share of rounds that each threshold was played: {threshold: share}
                      (of ucb1-policies: each policy)
    by_start          the mean by first state, where that was asked for: [look, state], else None
    """

    mean: Floats
    covariance: Floats
    final: Floats
    threshold_share: dict[int, float]
    by_start: Floats | None = None

    @property
    def se(self) -> Floats:
        """The standard error of the mean, at each look."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    @property
    def sd(self) -> float:
        """The standard deviation of the regret of one replica, at the last round."""
        return float(self.final.std(ddof=1)) if len(self.final) > 1 else 0.0

    def band(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """The lower and upper end of a band that holds the whole mean curve at a level.

        The largest of the standardised errors over all looks is simulated from their
        estimated correlation; the draws are the same each time.
        """
        width = band_width(self.covariance, level) * self.se
        return self.mean - width, self.mean + width


def band_width(covariance: Floats, level: float) -> float:
    """How many standard errors hold all components of a normal vector at once, at a level."""
    sd = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    moving = sd > 0.0
    if not moving.any():
        return 0.0
    correlation = covariance[np.ix_(moving, moving)] / np.outer(sd[moving], sd[moving])
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(0).standard_normal((_BAND_DRAWS, len(values)))
    largest = np.abs(draws @ root.T).max(axis=1)
    return float(np.quantile(largest, level))


def gap_per_threshold(problem: Problem, learner: AnyLearner, by_start: bool = False) -> Floats:
    """What a round costs under each of a learner's arms: [arm].

    With by_start, for each first state: [state, arm].

    Paper: eqn:RegretDefinf
    Differs: the paper's two-policy form (eqn:regretreduced) overlooks that a forced
    exploration has the value p_f, neither that of threshold 0 nor of 1.
    """
    policies = [learner.policy(problem.goal, choice) for choice in learner.choices(problem.goal)]
    if by_start:
        return np.column_stack([gap_at(problem, policy) for policy in policies])
    return np.array(
        [_price(problem, p) if isinstance(p, int) else gap(problem, p) for p in policies]
    )


@lru_cache(maxsize=256)
def _price(problem: Problem, threshold: int) -> float:
    """What a round costs under a threshold; the learners of a problem share it."""
    return gap(problem, threshold)


@lru_cache(maxsize=64)
def _best(problem: Problem) -> float:
    return value(problem, optimal_threshold(problem))


def curve(
    problem: Problem,
    learner: AnyLearner,
    checkpoints: Floats,
    blocks: Iterable[Decisions],
    kind: Kind = "pseudo",
) -> Curve:
    """The regret of all replicas, block by block, so that only one block is held at a time."""
    price = gap_per_threshold(problem, learner, kind == "by-start")
    pieces: list[Floats] = []
    total, products = np.zeros(len(checkpoints)), np.zeros((len(checkpoints), len(checkpoints)))
    # Sums of squares are taken about the first block's mean, lest they cancel.
    centre = None
    choices = learner.choices(problem.goal)
    shares, starts, count = np.zeros(len(choices)), None, 0
    for block in blocks:
        if kind == "realised":
            regret = _best(problem) * checkpoints - block.won
        else:
            regret = _priced(block.played, price)
            if kind == "by-start":
                starts = regret.sum(axis=0) + (0.0 if starts is None else starts)
                regret = _priced(regret, np.ones(regret.shape[2]))
        centre = regret.sum(axis=0) / len(regret) if centre is None else centre
        off = regret - centre
        total += off.sum(axis=0)
        products += _products()(off)
        pieces.append(regret[:, -1].copy())
        last = block.played[:, -1]
        shares += last.reshape(-1, len(shares)).sum(axis=0)
        count += len(regret)
    mean = total / count
    covariance = (products - count * np.outer(mean, mean)) / max(count - 1, 1) / count
    return Curve(
        mean=mean + (0.0 if centre is None else centre),
        covariance=covariance,
        final=np.concatenate(pieces),
        threshold_share={
            choice: float(share / count / checkpoints[-1])
            for choice, share in zip(choices, shares, strict=True)
        },
        by_start=None if starts is None else starts / count,
    )


def products_of(numbers: Floats) -> Floats:
    """The sums over rows of the products of every two columns: [column, column].

    Added up row by row, for the reason given at `_priced`.
    """
    rows, columns = numbers.shape
    products = np.zeros((columns, columns))
    for r in range(rows):
        for k in range(columns):
            x = numbers[r, k]
            for j in range(columns):
                products[k, j] += x * numbers[r, j]
    return products


@cache
def _products() -> Callable[[Floats], Floats]:
    """The same, compiled; where that cannot be, by NumPy, in the same order."""
    if numba() is not None:
        return compiled(products_of, "the curves")
    return lambda numbers: np.stack(
        [(numbers * numbers[:, k : k + 1]).sum(axis=0) for k in range(numbers.shape[1])]
    )


def _priced(played: Floats | Ints, price: Floats) -> Floats:
    """The sum over the last axis of counts times prices, added in order.

    Not a matrix product: the library behind those adds in an order, and rounds in a way, that
    depends on the machine and its threads.
    """
    total: Floats = np.zeros(played.shape[:-1])
    for k in range(played.shape[-1]):
        total = total + played[..., k] * price[..., k]
    return total
