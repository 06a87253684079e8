"""Play chunks of a sweep: what a worker does, whichever process or machine it is.

A cell is a learner on a problem. A chunk is some of its replicas, played to whole-number sums,
which are added in any order; so neither chunks nor workers change a bit of what comes out.
"""

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from grbp.engine.decisions import Decisions, Engine, decisions
from grbp.engine.losses import losses
from grbp.errors import InvalidInput
from grbp.experiments.moments import Sums, price
from grbp.experiments.provenance import digest_of
from grbp.experiments.regret import FEW, choose_whole_numbers, gap_per_threshold
from grbp.experiments.simulation import choose_way
from grbp.experiments.spec import learner_as_json
from grbp.experiments.sweep_spec import SweepSpec
from grbp.experiments.world_regret import as_paper, as_wholes, check_player, quantum_of
from grbp.learners.base import AnyLearner
from grbp.learners.registry import LearnerLike, find_learner
from grbp.numerics.arrays import Floats, Ints
from grbp.numerics.rng import replica_key
from grbp.theory.gaps import threshold_gaps
from grbp.worlds.problem import Problem
from grbp.worlds.world import World

Device: TypeAlias = Literal["cpu", "cuda"]
"""Where rounds are played."""

_FORMAT: Final = 1

_CELL: Final = 4
"""The purpose, in a seed, of the seeds of cells."""

_STATES: Final = 2**20
"""States of problems whose gaps are computed at once."""


@dataclass(frozen=True)
class Cell:
    """A learner on a problem, and all else that its numbers depend on.

    Attributes
    ----------
    problem : Problem, Chain, Drift or Groups
    learner : str or OwnLearner
    rounds : tuple of int
        The rounds at which regret is kept.
    seed : int
        The seed of this cell.
    engine : {"walk", "leap", "draw"}
    key : str
        A digest of all of this. It depends on neither the number of replicas nor the chunks.
    gaps : ndarray, shape (choices,), or None
        What a round costs under each choice; None where there are too many choices, or where
        losses are summed.
    """

    problem: Any
    learner: LearnerLike
    rounds: tuple[int, ...]
    seed: int
    engine: Engine
    key: str
    gaps: Floats | None = field(default=None, compare=False, repr=False)

    @property
    def group(self) -> tuple[str, int]:
        """The learner and the goal: cells of a group take about equally long."""
        return str(self.learner), self.problem.goal

    def find_learner(self) -> AnyLearner:
        """Return the learner itself."""
        return find_learner(self.learner, self.problem.known)

    @property
    def paper(self) -> tuple[Problem, AnyLearner] | None:
        """The problem and the learner of thresholds, if they are that; else losses are summed."""
        return as_paper(self.problem, self.find_learner())

    def price(self, sums: Sequence[Sums]) -> list[tuple[float, float]]:
        """Return the mean regret and its standard error at each of the rounds."""
        paper = self.paper
        if paper is None:
            costs = np.array([quantum_of("pseudo", self.rounds[-1])])
        else:
            costs = _choose_numbers(self, *paper)[1] if self.gaps is None else self.gaps
        return [price(one, costs) for one in sums]


class Chunk(NamedTuple):
    """Some replicas of a cell, from the first on."""

    cell: Cell
    first: int
    size: int


class Played(NamedTuple):
    """A chunk that was played: its sums at each of the cell's rounds, and how long that took."""

    chunk: Chunk
    sums: tuple[Sums, ...]
    seconds: float


def make_cells(spec: SweepSpec) -> Iterator[Cell]:
    """Yield the cells of a sweep: every learner on every problem that it can play."""
    rounds = spec.checkpoints
    for goal, problems in _batch_by_goal(spec.each_problem()):
        gaps: dict[tuple[int, ...], Floats] = {}
        players = [(learner, learner_as_json(learner)) for learner in spec.players(goal)]
        alike = [problem.paper for problem in problems if problem.paper]
        for k, problem in enumerate(problems):
            own_seed = world_seed(spec.seed, problem)
            for learner, data in players:
                found = find_learner(learner, problem.known)
                engine = choose_way(problem, found, rounds[-1], spec.engine)
                key = {
                    "format": _FORMAT,
                    "problem": problem.to_plain(),
                    "learner": data,
                    "rounds": rounds,
                    "seed": own_seed,
                    "engine": engine,
                }
                costs, paper = None, as_paper(problem, found)
                if paper is not None and paper[1].by_threshold:
                    choices = tuple(paper[1].choices(goal))
                    if len(choices) <= FEW:
                        if choices not in gaps:
                            gaps[choices] = threshold_gaps(alike, choices)
                        costs = gaps[choices][k]
                yield Cell(problem, learner, rounds, own_seed, engine, digest_of(key), costs)


def _batch_by_goal(problems: Iterable[World]) -> Iterator[tuple[int, list[World]]]:
    """Yield problems in their order, as many of one goal together as fit into memory easily.

    Other truths are not among them.
    """
    for (goal, _), group in groupby(problems, key=lambda world: (world.goal, bool(world.paper))):
        while batch := list(islice(group, max(1, _STATES // goal))):
            yield goal, batch


def world_seed(seed: int, world: World) -> int:
    """Return the seed of the cells of a truth, whichever sweep they belong to."""
    if world.paper is not None:
        return cell_seed(seed, world.paper.p_c, world.paper.p_f)
    return replica_key(seed, _CELL, int(digest_of(world.to_plain())[:16], 16))


def cell_seed(seed: int, p_c: float, p_f: float) -> int:
    """Return the seed of one cell, whichever sweep it belongs to."""
    for p in (p_c, p_f):
        seed = replica_key(seed, _CELL, int.from_bytes(struct.pack("<d", p), "little"))
    return seed


_prepared: Final[set[object]] = set()
_canaries: Final[dict[object, str]] = {}


def prepare(cell: Cell) -> None:
    """Compile what plays a cell, or load what was compiled before, once in a process."""
    paper = cell.paper
    kind = (cell.group, cell.engine, paper is None)
    if kind in _prepared:
        return
    _prepared.add(kind)
    if paper is None:
        _play_losses(Chunk(cell, 0, 0))
        return
    for _ in decisions(*paper, cell.rounds, 0, cell.seed, engine=cell.engine, threads=1):
        pass


def play(chunks: Sequence[Chunk], device: Device = "cpu") -> list[Played]:
    """Play some chunks, on one thread or on a GPU."""
    return list(_play_on_gpu(chunks) if device == "cuda" else map(_play_on_cpu, chunks))


def _play_on_cpu(chunk: Chunk) -> Played:
    cell = chunk.cell
    prepare(cell)  # Compiling is not playing, and is not measured.
    began, paper = time.perf_counter(), cell.paper
    if paper is None:
        lost = _play_losses(chunk)
        found = tuple(Sums.of(lost[:, [k]]) for k in range(len(cell.rounds)))
        return Played(chunk, found, time.perf_counter() - began)
    numbers, costs = _choose_numbers(cell, *paper)
    sums = [Sums.nothing(len(costs))] * len(cell.rounds)
    for block in decisions(
        *paper,
        cell.rounds,
        chunk.size,
        cell.seed,
        engine=cell.engine,
        threads=1,
        regret="pseudo",
        first=chunk.first,
    ):
        table = numbers(block).reshape(len(block.played), len(sums), len(costs))
        sums = [one + Sums.of(table[:, k]) for k, one in enumerate(sums)]
    return Played(chunk, tuple(sums), time.perf_counter() - began)


def _play_losses(chunk: Chunk) -> Ints:
    """Return what the replicas of a chunk lost up to each of the rounds, as whole numbers."""
    cell, first, size = chunk
    player = check_player(cell.problem, cell.find_learner())
    lost, _ = losses(cell.problem, player, cell.rounds, size, cell.seed, threads=1, first=first)
    return as_wholes(lost, quantum_of("pseudo", cell.rounds[-1]))


def _choose_numbers(
    cell: Cell, problem: Problem, learner: AnyLearner
) -> tuple[Callable[[Decisions], Ints], Floats]:
    """Return the whole numbers that are summed for a cell, and what each of them costs.

    They are the rounds played with each choice, which depend on no rounding at all; where these
    are too many to multiply, they are those of a curve.
    """
    if cell.gaps is not None:
        return lambda block: block.played, cell.gaps
    gaps = gap_per_threshold(problem, learner)
    return choose_whole_numbers("pseudo", gaps, cell.rounds[-1])


def _play_on_gpu(chunks: Sequence[Chunk]) -> Iterator[Played]:
    """Play chunks on a GPU: all of one learner, goal and range of replicas in one call."""
    from grbp.engine.cuda import CudaEngine, cuda_sums  # noqa: PLC0415 (it needs a GPU)

    def alike(chunk: Chunk) -> tuple[Any, ...]:
        cell = chunk.cell
        return (*cell.group, _on_gpu(cell)[1].choices(cell.problem.goal), *chunk[1:])

    for _, group in groupby(sorted(chunks, key=alike), key=alike):
        together = list(group)
        cell, first, size = together[0]
        began = time.perf_counter()
        totals, products = cuda_sums(
            [_on_gpu(chunk.cell)[0] for chunk in together],
            _on_gpu(cell)[1],
            cell.rounds,
            range(first, first + size),
            [chunk.cell.seed for chunk in together],
            cast("CudaEngine", cell.engine),
        )
        seconds = (time.perf_counter() - began) / len(together)
        for chunk, total, product in zip(together, totals, products, strict=True):
            sums = (Sums(size, *both) for both in zip(total, product, strict=True))
            yield Played(chunk, tuple(sums), seconds)


def _on_gpu(cell: Cell) -> tuple[Problem, AnyLearner]:
    """Return the problem and the learner of a cell that a GPU plays, or refuse it."""
    paper = cell.paper
    if paper is None:
        raise InvalidInput(
            f"device = 'cuda' was given; {cell.learner} is played by what it loses here, which no"
            " GPU does, so give device = 'cpu'"
        )
    return paper


def check_device(cells: Iterable[Cell], device: Device) -> None:
    """Refuse cells that a device cannot play."""
    if device != "cuda":
        return
    from grbp.engine.cuda import check_cuda  # noqa: PLC0415 (it needs a GPU)

    for (learner, goal), cell in {cell.group: cell for cell in cells}.items():
        if cell.engine == "leap":
            raise InvalidInput(
                f"device = 'cuda' was given; {learner} is played by the engine 'leap' here, which"
                " no GPU plays, so give engine = 'draw' (or 'walk')"
            )
        check_cuda(_on_gpu(cell)[1], goal, cell.engine)
        if cell.gaps is None:
            raise InvalidInput(
                f"device = 'cuda' was given; {learner} has more than {FEW} thresholds, whose sums"
                " only processors round, so give device = 'cpu'"
            )


def play_canary(cell: Cell) -> str:
    """Play a small chunk as this cell is played, and digest it: equal where numbers are equal.

    It is the same chunk for all cells of a learner, goal and engine, played once in a process.
    """
    kind = (cell.group, cell.engine, cell.paper is None)
    if kind not in _canaries:
        problem = Problem(cell.problem.goal, 0.45, 0.3)
        alike = problem if cell.problem.paper else problem.chain
        small = replace(cell, problem=alike, rounds=(20, 200), seed=7)
        _canaries[kind] = digest_of(
            [sums.as_json() for sums in _play_on_cpu(Chunk(small, 3, 8)).sums]
        )
    return _canaries[kind]
