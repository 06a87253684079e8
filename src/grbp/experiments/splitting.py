"""Measure a mean that rare replicas carry, by multilevel splitting.

Where finishing in state 1 is right, a replica that was unlucky with FINISH at first may hardly try
it again: it is stuck with the wrong threshold, forever or for a time that grows with the rounds.
One replica in a million may then carry most of the mean regret, and a few thousand independent
replicas neither contain it nor show, by their spread, that it is missing.

So the rounds are played in stages. After each, half of the population is chosen anew by weight and
half by the weight that it would have if FINISH were worth just B, where replicas are stuck easily;
a replica that is chosen more often than its weight warrants weighs less. Every weighted sum keeps
its expectation, however replicas are chosen; a good choice makes it precise. The population
consists of independent batches, from which the errors of the means are estimated.

The method is splitting with a fixed effort (Garvels and Kroese, A comparison of RESTART
implementations, Winter Simulation Conference, 1998); choosing by likelihood is sequential
importance resampling.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from grbp.engine.decisions import Engine, decisions
from grbp.errors import InvalidInput
from grbp.experiments.moments import weighted_sum
from grbp.experiments.regret import Curve, gap_per_threshold
from grbp.learners.base import AnyLearner
from grbp.learners.counters import Counters
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.rng import replica_key, uniform
from grbp.theory.values import boundary
from grbp.worlds.problem import Problem

BATCHES: Final = 100
"""The independent batches of a population: enough for the normal law to hold for their mean."""

LEAST: Final = 10 * BATCHES
"""The smallest population."""

_SPLIT: Final = 5
"""The purpose, in a seed, of the seeds of the stages and of the draws between them."""

_STAGES_A_DECADE: Final = 4

_EARLY: Final = 10
_LATE: Final = 10**4
"""How much larger the population is in the stages up to a round: they are cheap, and decide who is
stuck later."""

_F, _F_GOAL = Counters._fields.index("f"), Counters._fields.index("f_goal")


class Population(NamedTuple):
    """What a population played.

    Attributes
    ----------
    means : ndarray, shape (checkpoints, BATCHES)
        The mean regret of every batch. Batches are independent of each other.
    final, weights : ndarray, shape (replicas,)
        The regret of every replica at the last checkpoint, and what it weighs in its batch.
    shares : ndarray, shape (choices,)
        The share of rounds in which each threshold was played.
    """

    means: Floats
    final: Floats
    weights: Floats
    shares: Floats

    @property
    def replicas(self) -> int:
        """The number of replicas at the end."""
        return len(self.final)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data, with every digit."""
        return {name: one.tolist() for name, one in self._asdict().items()}


def split_curve(choices: Sequence[int], played: Population) -> Curve:
    """Return the mean regret of a population at each checkpoint, for a learner of some choices."""
    mean = weighted_sum(played.means, np.ones(BATCHES)) / BATCHES
    covariance = np.zeros((len(mean), len(mean)))
    for off in (played.means - mean[:, None]).T:
        covariance += np.outer(off, off)
    return Curve(
        mean=mean,
        covariance=covariance / (BATCHES - 1) / BATCHES,
        final=played.final,
        threshold_share=dict(zip(choices, played.shares.tolist(), strict=True)),
        weights=played.weights / BATCHES,
    )


def play_batches(  # noqa: PLR0913 (each is a separate choice of the caller)
    problem: Problem,
    learner: AnyLearner,
    checkpoints: Ints,
    replicas: int,
    seed: int,
    *,
    engine: Engine,
    threads: int | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Population:
    """Play a population of replicas in stages, with a resampling after each."""
    check_population(replicas)
    gaps = gap_per_threshold(problem, learner)
    ends = _stage_ends(int(checkpoints[-1]))
    sizes = [_EARLY * replicas if end <= _LATE else replicas for end in ends[:-1]] + [replicas]
    batch = _batches(sizes[0])
    weights = BATCHES / sizes[0] * np.ones(sizes[0])
    counters = np.zeros((sizes[0], len(Counters._fields)))
    means = np.zeros((len(checkpoints), BATCHES))
    before, regret, shares = np.zeros(BATCHES), np.zeros(sizes[0]), np.zeros(len(gaps))
    for stage, (begin, end) in enumerate(pairwise([0, *ends])):
        inside = (checkpoints > begin) & (checkpoints <= end)
        looks = np.unique([*checkpoints[inside], end])
        gains, played = [], []
        for block in decisions(
            problem,
            learner,
            looks,
            sizes[stage],
            replica_key(seed, _SPLIT, 2 * stage),
            engine=engine,
            threads=threads,
            regret="pseudo",
            counters=counters,
            report=None if report is None else partial(_report, report, sizes, stage),
        ):
            gains.append(weighted_sum(block.played, gaps))
            played.append(block.played[:, -1])
        gain = np.concatenate(gains)
        sums = np.stack([np.bincount(batch, weights * added) for added in gain.T])
        means[inside] = (before + sums)[: inside.sum()]
        before, regret = before + sums[-1], regret + gain[:, -1]
        shares += (weights[:, None] * np.concatenate(played)).sum(axis=0)
        if end < ends[-1]:
            key = replica_key(seed, _SPLIT, 2 * stage + 1)
            now, batch = batch, _batches(sizes[stage + 1])
            chosen, weights = _resample(now, weights, _evidence(problem, counters), batch, key)
            counters, regret = counters[chosen], regret[chosen]
    return Population(means, regret, weights, shares / shares.sum())


def check_population(replicas: int) -> None:
    """Refuse a population that is too small for its batches."""
    if replicas < LEAST:
        raise InvalidInput(
            f"replicas = {replicas} was given; splitting needs at least {LEAST:,} of them"
        )


def _stage_ends(rounds: int) -> list[int]:
    """Return the last rounds of the stages, evenly spaced in their logarithm from 10 on."""
    ends, k = [], _STAGES_A_DECADE
    while (end := round(10 ** (k / _STAGES_A_DECADE))) < rounds:
        ends.append(end)
        k += 1
    return [*ends, rounds]


def _batches(replicas: int) -> Ints:
    """Return the batch of every replica."""
    return np.arange(replicas) * BATCHES // replicas


def _report(
    report: Callable[[int, int], None], sizes: list[int], stage: int, done: int, _: int
) -> None:
    """Report how many replicas of all stages are done."""
    report(sum(sizes[:stage]) + done, sum(sizes))


def _evidence(problem: Problem, counters: Floats) -> Floats:
    """Compute how much likelier FINISH's outcomes are where it is worth B than in the problem.

    This is the logarithm of a ratio of likelihoods: the larger it is, the longer a replica that
    does not finish will not.
    """
    b, p_f = boundary(problem.goal, problem.p_c), problem.p_f
    won, lost = counters[:, _F_GOAL], counters[:, _F] - counters[:, _F_GOAL]
    if not 0.0 < b < 1.0 or not 0.0 < p_f < 1.0:
        return np.zeros(len(counters))
    return won * math.log(b / p_f) + lost * math.log((1.0 - b) / (1.0 - p_f))


def _resample(
    batch: Ints, weights: Floats, evidence: Floats, after: Ints, key: int
) -> tuple[Ints, Floats]:
    """Resample every batch; return who goes on, and their weights.

    `batch` and `after` have the batch of every replica before and afterwards. Half of the replicas
    are chosen by their weights, half by what these would be where FINISH is worth B. Resampling is
    systematic: a replica is copied its expected number of times, rounded up or down.
    """
    chosen, new = np.empty_like(after), np.empty(len(after))
    bounds = (np.searchsorted(one, np.arange(BATCHES + 1)) for one in (batch, after))
    for b, ((low, high), (begin, end)) in enumerate(zip(*map(pairwise, bounds), strict=True)):
        each, size = weights[low:high], end - begin
        tilted = each * np.exp(evidence[low:high] - evidence[low:high].max())
        share = 0.5 * each / each.sum() + 0.5 * tilted / tilted.sum()
        grid = (np.arange(size) + uniform(key, b)) / size
        taken = np.minimum(np.searchsorted(np.cumsum(share), grid, side="right"), len(each) - 1)
        chosen[begin:end], new[begin:end] = low + taken, each[taken] / (size * share[taken])
    return chosen, new
