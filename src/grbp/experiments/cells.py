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

from grbp.engine.decisions import Engine
from grbp.errors import InvalidInput
from grbp.experiments.game import AnyTally, ChoiceGame, Game, Tally, make_game
from grbp.experiments.moments import Sums
from grbp.experiments.provenance import digest_of
from grbp.experiments.regret import FEW
from grbp.experiments.sweep_spec import SweepSpec, learner_as_json
from grbp.learners.registry import LearnerLike, find_learner
from grbp.numerics.arrays import Floats
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
        A digest of all of this. It depends on neither the number of replicas nor the chunks,
        except that a population that is split is one by itself.
    curve, splitting : bool
        Whether it is played to a curve, and whether its replicas are split: see `SweepSpec`.
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
    curve: bool = False
    splitting: bool = False
    gaps: Floats | None = field(default=None, compare=False, repr=False)

    @property
    def group(self) -> tuple[str, int]:
        """The learner and the goal: cells of a group take about equally long."""
        return str(self.learner), self.problem.goal

    @property
    def game(self) -> Game:
        """What plays and prices it."""
        return make_game(
            self.problem,
            find_learner(self.learner, self.problem.known),
            self.rounds,
            self.seed,
            self.engine,
            splitting=self.splitting,
            joint=self.curve,
            gaps=self.gaps,
        )


class Chunk(NamedTuple):
    """Some replicas of a cell, from the first on."""

    cell: Cell
    first: int
    size: int


class Played(NamedTuple):
    """A chunk that was played: what it adds up to, and how long that took."""

    chunk: Chunk
    tally: AnyTally
    seconds: float


def make_cells(spec: SweepSpec) -> Iterator[Cell]:
    """Yield the cells of a sweep: every learner on every problem that it can play."""
    rounds = spec.checkpoints
    for goal, problems in _batch_by_goal(spec.each_problem()):
        gaps: dict[tuple[int, ...], Floats] = {}
        players = [(learner, learner_as_json(learner)) for learner in spec.players(goal)]
        alike = [problem.paper for problem in problems if problem.paper]
        for k, problem in enumerate(problems):
            own_seed = spec.seed if spec.curves else world_seed(spec.seed, problem)
            for learner, data in players:
                found = find_learner(learner, problem.known)
                game = make_game(
                    problem, found, rounds, own_seed, spec.engine, splitting=spec.splitting
                )
                key = {
                    "format": _FORMAT,
                    "problem": problem.to_plain(),
                    "learner": data,
                    "rounds": rounds,
                    "seed": own_seed,
                    "engine": game.engine,
                }
                if spec.curves:
                    key["curve"] = spec.replicas if spec.splitting else True
                costs = None
                if isinstance(game, ChoiceGame) and found.by_threshold:
                    choices = tuple(found.choices(goal))
                    if len(choices) <= FEW:
                        if choices not in gaps:
                            gaps[choices] = threshold_gaps(alike, choices)
                        costs = gaps[choices][k]
                yield Cell(
                    problem, learner, rounds, own_seed, game.engine, digest_of(key),
                    spec.curves, spec.splitting, costs,
                )  # fmt: skip


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


def prepare(cell: Cell) -> Game:
    """Return what plays a cell, compiled or loaded as it was compiled before."""
    game = cell.game
    kind = (cell.group, cell.engine, type(game))
    if kind not in _prepared:
        _prepared.add(kind)
        for _ in game.blocks(0, 0, 1):
            pass
    return game


def play(
    chunks: Sequence[Chunk],
    device: Device = "cpu",
    threads: int = 1,
    told: Callable[[int], None] = lambda _: None,
) -> list[Played]:
    """Play some chunks, on threads or on a GPU; tell how much of one is done that is never cut."""
    if device == "cuda":
        return list(_play_on_gpu(chunks))
    return [_play_on_cpu(chunk, threads, told) for chunk in chunks]


def _play_on_cpu(chunk: Chunk, threads: int, told: Callable[[int], None]) -> Played:
    game = prepare(chunk.cell)  # Compiling is not playing, and is not measured.
    began, (cell, first, size) = time.perf_counter(), chunk

    def report(done: int, total: int) -> None:
        if done < total:
            told(size * done // total)  # Splitting plays more replicas than it ends with.

    tally = game.play(first, size, threads, report if cell.splitting else None)
    return Played(chunk, tally, time.perf_counter() - began)


def _play_on_gpu(chunks: Sequence[Chunk]) -> Iterator[Played]:
    """Play chunks on a GPU: all of one learner, goal and range of replicas in one call."""
    from grbp.engine.cuda import CudaEngine, cuda_sums  # noqa: PLC0415 (it needs a GPU)

    def alike(chunk: Chunk) -> tuple[Any, ...]:
        cell = chunk.cell
        return (*cell.group, _on_gpu(cell).learner.choices(cell.problem.goal), *chunk[1:])

    for _, group in groupby(sorted(chunks, key=alike), key=alike):
        together = list(group)
        cell, first, size = together[0]
        began = time.perf_counter()
        totals, products = cuda_sums(
            [_on_gpu(chunk.cell).world for chunk in together],
            _on_gpu(cell).learner,
            cell.rounds,
            range(first, first + size),
            [chunk.cell.seed for chunk in together],
            cast("CudaEngine", cell.engine),
        )
        seconds = (time.perf_counter() - began) / len(together)
        for chunk, total, product in zip(together, totals, products, strict=True):
            sums = (Sums(size, *both) for both in zip(total, product, strict=True))
            yield Played(chunk, Tally(tuple(sums)), seconds)


def _on_gpu(cell: Cell) -> ChoiceGame:
    """Return what a GPU plays, or refuse it."""
    game = cell.game
    why = "is played by what it loses here"
    if cell.curve:
        why = "is played to a curve"
    elif isinstance(game, ChoiceGame):
        return game
    raise InvalidInput(
        f"device = 'cuda' was given; {cell.learner} {why}, which no GPU does, so give device ="
        " 'cpu'"
    )


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
        check_cuda(_on_gpu(cell).learner, goal, cell.engine)
        if cell.gaps is None:
            raise InvalidInput(
                f"device = 'cuda' was given; {learner} has more than {FEW} thresholds, whose sums"
                " only processors round, so give device = 'cpu'"
            )


def play_canary(cell: Cell) -> str:
    """Play a small chunk as this cell is played, and digest it: equal where numbers are equal.

    It is the same chunk for all cells of a learner, goal and engine, played once in a process.
    """
    plain = Problem(cell.problem.goal, 0.45, 0.3)
    world = plain if cell.problem.paper else plain.chain
    small = replace(cell, problem=world, rounds=(20, 200), seed=7, curve=False, splitting=False)
    kind = (small.group, small.engine, type(small.game))
    if kind not in _canaries:
        _canaries[kind] = digest_of(play([Chunk(small, 3, 8)])[0].tally.as_json())
    return _canaries[kind]
