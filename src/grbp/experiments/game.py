"""Play a learner on a truth: count what its replicas decide or lose, and price that at the end.

Learners of thresholds on a `Problem` are known by how often they decided what; all others, and
whoever plays a chain, a drift or groups, by what they lost. Both are whole numbers, whose sums
depend neither on the parts in which replicas are played nor on who plays them.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from grbp.engine.decisions import (
    Decisions,
    Engine,
    EngineLike,
    InitialEstimates,
    Kind,
    Report,
    choose_engine,
    decisions,
)
from grbp.engine.losses import best_totals, losses
from grbp.errors import InvalidInput
from grbp.experiments.moments import (
    Sums,
    Wholes,
    add_wholes,
    as_wholes,
    price,
    price_checkpoints,
    sum_wholes,
    weighted_sum,
)
from grbp.experiments.regret import FEW, Curve, gap_per_threshold, small_unit
from grbp.experiments.splitting import Population, play_batches, split_curve
from grbp.experiments.world_regret import as_paper, check_player, check_walked
from grbp.learners.base import AnyLearner
from grbp.numerics.arrays import Floats, Ints
from grbp.theory.gaps import gap
from grbp.theory.values import optimal_threshold, value
from grbp.worlds.problem import Problem
from grbp.worlds.world import World

_BLOCK: Final = 4096
"""Replicas whose losses are kept at a time, so that memory does not grow with their number."""

_NO_FINAL: Final[Floats] = np.zeros(0)
_NO_PLAYED: Final[Wholes] = np.zeros(0, dtype=np.int64)


class Tally(NamedTuple):
    """What some replicas add up to.

    Attributes
    ----------
    sums : tuple of Sums
        Those of a curve are over all checkpoints together; else each checkpoint has its own.
    final : ndarray, shape (replicas,)
        The regret of every replica of a curve at the last checkpoint.
    played : ndarray, shape (..., choices)
        The rounds of a curve that were played with each choice; for regret by first state, up to
        each checkpoint and from each first state.
    """

    sums: tuple[Sums, ...]
    final: Floats = _NO_FINAL
    played: Wholes = _NO_PLAYED

    @property
    def replicas(self) -> int:
        """The number of replicas."""
        return self.sums[0].replicas

    @classmethod
    def join(cls, parts: Iterable["Tally"]) -> "Tally":
        """Add up one part or more, whose replicas follow each other."""
        each = iter(parts)
        whole = next(each)
        finals = [whole.final]
        for one in each:
            sums = tuple(map(Sums.__add__, whole.sums, one.sums))
            whole = cls(sums, one.final, add_wholes(whole.played, one.played))
            finals.append(one.final)
        return whole._replace(final=np.concatenate(finals))

    def as_json(self) -> Any:
        """Return it as plain data, of which `read_tally` makes it again."""
        if not self.final.size:
            return [one.as_json() for one in self.sums]
        ((replicas, totals, products),) = self.sums
        # Products are the same on both sides of the diagonal.
        upper = products[np.triu_indices(len(totals))]
        arrays = {"totals": totals, "products": upper, "final": self.final, "played": self.played}
        return {"replicas": replicas} | {name: one.tolist() for name, one in arrays.items()}


AnyTally: TypeAlias = Tally | Population
"""What replicas add up to, independent ones or those of a population that is split."""


def read_tally(data: Any) -> AnyTally:
    """Return what plain data stand for."""
    if isinstance(data, list):
        return Tally(tuple(map(Sums.from_json, data)))
    if "means" in data:
        return Population(**{name: np.array(one) for name, one in data.items()})
    size = len(data["totals"])
    products = np.zeros((size, size), dtype=object)
    products[np.triu_indices(size)] = data["products"]
    products += np.triu(products, 1).T
    sums = Sums.from_json([data["replicas"], data["totals"], products])
    return Tally((sums,), np.array(data["final"]), as_wholes(data["played"]))


class Prices(NamedTuple):
    """What is summed of some replicas, and what that costs.

    Attributes
    ----------
    units : ndarray, shape (columns,)
        What a unit of each column of whole numbers costs.
    costs : ndarray, shape (choices,)
        What a round costs under each choice; for regret by first state, from each state.
    columns : ndarray of int, or None
        The choices whose rounds are summed; None where replicas are priced one by one, and their
        regret rounded to small units.
    """

    units: Floats
    costs: Floats = _NO_FINAL
    columns: Ints | None = None


@dataclass(frozen=True, eq=False)
class Game(ABC):
    """A learner on a truth, as it is played and priced.

    Attributes
    ----------
    world : Problem, Chain, Drift or Groups
    learner : Learner, StateLearner or PolicyLearner
    checkpoints : ndarray of int
    seed : int
    engine : {"walk", "leap", "draw"}
    kind, initial_estimates : str
        See `simulate`.
    joint : bool
        Whether checkpoints are summed together, for a curve, or each by itself.
    """

    world: World
    learner: AnyLearner
    checkpoints: Ints
    seed: int
    engine: Engine
    kind: Kind = "pseudo"
    initial_estimates: InitialEstimates = "drawn"
    joint: bool = True

    @property
    @abstractmethod
    def prices(self) -> Prices:
        """What is summed, unless wins are counted, and what that costs."""

    @property
    @abstractmethod
    def best(self) -> Floats:
        """What the best policy wins up to each checkpoint, on average."""

    @abstractmethod
    def blocks(
        self, first: int, size: int, threads: int | None, report: Report | None = None
    ) -> Iterator[Tally]:
        """Play some replicas, from the first on, and add up a block of them at a time."""

    def play(
        self, first: int, size: int, threads: int | None = None, report: Report | None = None
    ) -> AnyTally:
        """Play some replicas, from the first on; each plays the same in any chunk."""
        return Tally.join(self.blocks(first, size, threads, report))

    def add_up(self, numbers: Ints, final: Floats, won: Ints, played: Wholes = _NO_PLAYED) -> Tally:
        """Add up whole numbers by [replica, checkpoint, column], or else the rounds won."""
        if self.kind == "realised":
            numbers, final = won[:, :, None], self.best[-1] - won[:, -1]
        if self.joint:
            together = numbers.reshape(len(numbers), math.prod(numbers.shape[1:]))
            return Tally((Sums.of(together),), final, played)
        return Tally(tuple(Sums.of(numbers[:, k]) for k in range(numbers.shape[1])))

    def price(self, tally: Tally) -> list[tuple[float, float]]:
        """Return the mean regret and its standard error at each checkpoint, on its own."""
        return [price(one, self.prices.units) for one in tally.sums]

    def curve(self, tally: Any) -> Curve:
        """Return the curve of all replicas."""
        if self.kind == "realised":
            mean, covariance = price_checkpoints(tally.sums[0], np.array([-1.0]))
            mean = self.best + mean
        else:
            mean, covariance = price_checkpoints(tally.sums[0], self.prices.units)
        return Curve(mean, covariance, tally.final, **self.tell_choices(tally))

    def tell_choices(self, _: Tally) -> dict[str, Any]:
        """Tell what a curve says of choices, where there are some."""
        return {"threshold_share": {}}

    def unseen(self, _: Ints, __: int) -> Floats | None:
        """Bound what replicas too rare to be seen could add; None where nobody knows."""
        return None


@dataclass(frozen=True, eq=False)
class LossGame(Game):
    """A learner that is priced by what it loses, on any truth.

    Attributes
    ----------
    pooled : bool
        Whether all groups are counted as one.
    """

    learner: AnyLearner
    pooled: bool = False

    @cached_property
    def prices(self) -> Prices:
        """A small unit."""
        return Prices(np.array([small_unit(int(self.checkpoints[-1]))]))

    @cached_property
    def best(self) -> Floats:
        """What the best policies win up to each checkpoint."""
        return best_totals(self.world, self.checkpoints)

    def blocks(
        self, first: int, size: int, threads: int | None, report: Report | None = None
    ) -> Iterator[Tally]:
        """Play some replicas, from the first on, and add up a block of them at a time."""
        for begin in range(0, max(size, 1), _BLOCK):

            def tell(done: int, _: int, before: int = begin) -> None:
                if report is not None:
                    report(before + done, size)

            lost, won = losses(
                self.world,
                self.learner,
                self.checkpoints,
                min(_BLOCK, size - begin),
                self.seed,
                threads=threads,
                pooled=self.pooled,
                once=self.initial_estimates == "once",
                first=first + begin,
                report=tell,
            )
            wholes = np.rint(lost / self.prices.units).astype(np.int64)
            yield self.add_up(wholes[:, :, None], lost[:, -1], won)


@dataclass(frozen=True, eq=False)
class ChoiceGame(Game):
    """A learner that is priced by what it chooses, on the paper's problems.

    Attributes
    ----------
    gaps : ndarray, optional
        What a round costs under each choice, where that is known already.
    """

    world: Problem
    learner: AnyLearner
    gaps: Floats | None = None

    @cached_property
    def prices(self) -> Prices:
        """The rounds of choices that cost something or, where these are too many, a small unit."""
        costs = self.gaps
        if costs is None:
            costs = gap_per_threshold(self.world, self.learner, self.kind == "by-start")
        flat = costs.ravel()
        columns = np.flatnonzero(flat) if flat.any() else np.array([0])
        if self.gaps is not None and not self.joint:
            columns = np.arange(len(flat))
        if len(columns) <= FEW:
            return Prices(flat[columns], costs, columns)
        # The products of so many columns would be too many.
        most = int(self.checkpoints[-1]) * float(flat.max())
        return Prices(np.array([small_unit(most)]), costs)

    @cached_property
    def best(self) -> Floats:
        """What the best policy wins up to each checkpoint, on average."""
        return value(self.world, optimal_threshold(self.world)) * self.checkpoints.astype(float)

    def blocks(
        self, first: int, size: int, threads: int | None, report: Report | None = None
    ) -> Iterator[Tally]:
        """Play some replicas, from the first on, and add up a block of them at a time."""
        for block in decisions(
            self.world,
            self.learner,
            self.checkpoints,
            size,
            self.seed,
            first=first,
            engine=self.engine,
            threads=threads,
            regret=self.kind,
            initial_estimates=self.initial_estimates,
            report=report,
        ):
            yield self.count(block)

    def count(self, block: Decisions) -> Tally:
        """Add up the replicas of a block."""
        units, costs, columns = self.prices
        played, costs = block.played.reshape(*block.played.shape[:2], -1), costs.ravel()
        if columns is None:
            numbers = np.rint(weighted_sum(played, costs)[:, :, None] / units).astype(np.int64)
        else:
            numbers = played.take(columns, axis=2)
        final = weighted_sum(played[:, -1], costs)
        # Before the last checkpoint, only the parts by first state are asked for.
        shown = block.played if self.kind == "by-start" else block.played[:, -1]
        return self.add_up(numbers, final, block.won, sum_wholes(shown))

    def tell_choices(self, tally: Tally) -> dict[str, Any]:
        """Tell what a curve says of choices: how often they were played, and what may be unseen."""
        played, by_start = tally.played, None
        if self.kind == "by-start":
            by_start = weighted_sum(played.astype(np.float64), self.prices.costs) / tally.replicas
            played = sum_wholes(played[-1])
        shares = played.astype(object) / (int(self.checkpoints[-1]) * tally.replicas)
        choices = self.learner.choices(self.world.goal)
        return {
            "threshold_share": dict(zip(choices, shares.tolist(), strict=True)),
            "by_start": by_start,
            "unseen": self.unseen(self.checkpoints, tally.replicas),
        }

    def unseen(self, checkpoints: Ints, replicas: int) -> Floats | None:
        """Bound what stuck replicas could add to a mean although none is among those played.

        Where finishing in state 1 is right, a learner that does not finish learns nothing about
        FINISH, so that a replica may do so forever. If none of n does, the chance of it is below
        1 - .025^(1/n), with a confidence of 97.5 %.
        """
        choices = self.learner.choices(self.world.goal)
        if optimal_threshold(self.world) == 0 or 0 not in choices or len(choices) == 1:
            return None
        chance = -math.expm1(math.log(0.025) / replicas)
        if self.gaps is None:
            return chance * gap(self.world, 0) * checkpoints.astype(np.float64)
        return chance * float(self.gaps[choices.index(0)]) * checkpoints.astype(np.float64)


class SplitGame(ChoiceGame):
    """A learner whose replicas are one population, which is resampled as it plays."""

    def play(
        self, first: int, size: int, threads: int | None = None, report: Report | None = None
    ) -> AnyTally:
        """Play all replicas; the first of them is 0."""
        return play_batches(
            self.world,
            self.learner,
            self.checkpoints,
            first + size,
            self.seed,
            engine=self.engine,
            threads=threads,
            report=report,
        )

    def curve(self, tally: Any) -> Curve:
        """Return the curve of the population."""
        return split_curve(self.learner.choices(self.world.goal), tally)


def make_game(  # noqa: PLR0913 (each is a separate choice of the caller)
    world: World,
    learner: AnyLearner,
    checkpoints: Sequence[int] | Ints,
    seed: int,
    engine: EngineLike = "auto",
    *,
    kind: Kind = "pseudo",
    initial_estimates: InitialEstimates = "drawn",
    pooled: bool = False,
    splitting: bool = False,
    joint: bool = True,
    gaps: Floats | None = None,
) -> Game:
    """Choose how a learner is played on a truth, or refuse what cannot be played so."""
    ends, paper = np.asarray(checkpoints, dtype=np.int64), as_paper(world, learner)
    if paper is None:
        player = check_player(world, learner)
        walk = check_walked(world, player, engine, splitting, kind)
        return LossGame(world, player, ends, seed, walk, kind, initial_estimates, joint, pooled)
    problem, found = paper
    way = choose_engine(problem, found, int(ends[-1]), engine)
    if splitting and not found.by_threshold:
        raise InvalidInput(
            f"splitting was asked for; {found.name} keeps no counters for replicas to go on from"
        )
    made = SplitGame if splitting else ChoiceGame
    return made(problem, found, ends, seed, way, kind, initial_estimates, joint, gaps)
