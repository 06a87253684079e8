"""Drive a sweep: find what its file lacks, have it played, and keep what comes."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from grbp._arguments import check_choice
from grbp._io import JSON, Output, table_kind, table_text, write_together
from grbp._progress import Progress, ProgressLike, as_progress
from grbp.experiments.cells import Cell, Chunk, Device, check_device, make_cells
from grbp.experiments.chunks import Queue, choose_chunks, find_missing
from grbp.experiments.game import Tally
from grbp.experiments.provenance import Meta, make_meta
from grbp.experiments.sweep_file import StoredChunk, SweepFile
from grbp.experiments.sweep_result import SweepResult, SweptCell
from grbp.experiments.sweep_spec import SweepSpec
from grbp.experiments.tables import COLUMNS, NAMED_COLUMNS
from grbp.experiments.workers import Workers, hire_workers
from grbp.worlds.validation import check_positive

FOLDER: Final[Path] = Path("results")
"""The folder in which sweeps are kept unless another is named."""

CHUNK_SECONDS: Final = 1.0
"""Seconds that a task takes, about, unless another number is given."""

_KEPT: Final = ("versions", "revision", "made")
"""What a file says of how it was made; the rest is known without it."""

_MOST_ROWS: Final = 32
"""Chunks of a curve, each large, before they are put together."""


@dataclass(frozen=True)
class Shard:
    """The part of a sweep that one of several drivers plays: number `index` of `count`, from 1."""

    index: int = 1
    count: int = 1

    def select(self, cells: Sequence[Cell], spec: SweepSpec) -> Iterator[tuple[Cell, range | None]]:
        """Yield the cells of this part, each with the replicas to play; None for all it needs.

        Cells are put in the order of their keys, which is as good as random, so that parts take
        about equally long. A cell that decides how many replicas it needs stays in one part, as
        does one whose replicas are split.
        """
        if self.count == 1:
            yield from ((cell, None) for cell in cells)
            return
        cells = sorted(cells, key=lambda cell: cell.key)
        together = spec.se is not None or spec.splitting
        size = 1 if together else spec.replicas
        total = size * len(cells)
        begin, end = (total * k // self.count for k in (self.index - 1, self.index))
        for k in range(begin // size, -(-end // size)):
            mine = range(max(0, begin - k * size), min(size, end - k * size))
            if mine:
                yield cells[k], None if together else mine


_WHOLE: Final = Shard()


class Gaps(NamedTuple):
    """A cell, the replicas of it that are wanted here, and what is missing of them."""

    cell: Cell
    share: range | None
    wanted: int
    missing: list[Chunk]


def sweep(  # noqa: PLR0913 (each is a separate choice of the user)
    spec: SweepSpec | Path | str,
    folder: Path | str = FOLDER,
    *,
    processes: int | None = None,
    threads: int | None = None,
    dask: str | None = None,
    device: Device = "cpu",
    chunk: float = CHUNK_SECONDS,
    progress: ProgressLike = None,
) -> SweepResult:
    """Play learners over many problems, or as much of that as a file does not hold already.

    Everything that was played is kept in ``FOLDER/NAME.sweep``, chunk by chunk. After an
    interruption, or with more replicas, the same call goes on from there. The result is the same
    to the last bit on any number of processes and machines, whatever was interrupted. At the end
    it is written to ``NAME.csv`` and ``NAME.json``.

    Parameters
    ----------
    spec : SweepSpec or path
        What to play, or the TOML file that says so.
    folder : path, optional
        Where the files are.
    processes : int, optional
        The number of processes of this machine. By default this process plays, on threads.
    threads : int, optional
        The number of its threads, by default one for each processor.
    dask : str, optional
        The address of the scheduler of a Dask cluster, which plays instead.
    device : {"cpu", "cuda"}
        Where rounds are played; a GPU plays the engines "walk" and "draw".
    chunk : float, optional
        The seconds that a task takes, about: 1 by default. For a large cluster use 10 to 30.
    progress : bool or callable, optional
        True for a bar, or a function that is called with (what runs and how long it will take,
        replicas done, replicas in all).

    Returns
    -------
    SweepResult

    Raises
    ------
    InvalidInput
        If something is not allowed, or the file is damaged or was made by other source.

    See Also
    --------
    simulate : Measures a whole curve on one problem.
    league_spec : Specifies the usual comparison of learners.
    grbp.experiments.run : Does the same in a file that it finds again by itself.

    Examples
    --------
    >>> import grbp, tempfile
    >>> grid = {"goal": 4, "p_c": {"from": 0.3, "to": 0.7, "step": 0.1}, "p_f": 0.3}
    >>> spec = grbp.SweepSpec("tour", grid, ["getbe-sm"], rounds=[100, 1000], replicas=50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = grbp.sweep(spec, folder)
    ...     again = grbp.sweep(spec, folder)
    >>> [f"{one.mean[-1]:.1f}" for one in result.cells]
    ['1.1', '4.4', '13.8', '34.3', '50.6']
    >>> again.digest == result.digest
    True
    """
    spec, folder = read_spec(spec), Path(folder)
    with Driver(spec, sweep_path(folder, spec), device) as driver:
        driver.play(processes=processes, threads=threads, dask=dask, chunk=chunk, progress=progress)
        result = driver.result()
    write_result(folder, result)
    return result


class Driver:
    """An open file of a sweep, and what is to be in it."""

    def __init__(self, spec: SweepSpec, path: Path, device: Device = "cpu") -> None:
        check_choice("device", device, Device)
        self.spec, self._device = spec, device
        self.cells = list(make_cells(spec))
        check_device(self.cells, device)
        self.file = SweepFile(path)

    def __enter__(self) -> "Driver":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def play(
        self,
        shard: Shard = _WHOLE,
        *,
        processes: int | None = None,
        threads: int | None = None,
        dask: str | None = None,
        chunk: float = CHUNK_SECONDS,
        progress: ProgressLike = None,
    ) -> None:
        """Play what is missing of the sweep, or of a shard of it, stage by stage."""
        queue = Queue(check_positive("chunk", chunk), whole=self._device == "cuda")
        report, cells = as_progress(progress), list(shard.select(self.cells, self.spec))
        self.file.put("asked", json.dumps(self.spec.as_json(), sort_keys=True))
        whole = self.spec.splitting
        with closing(hire_workers(processes, threads, dask, self._device, whole)) as workers:
            while cells:
                gaps = self.find_gaps(cells)
                # What is complete stays so; the others may need more after this stage.
                cells = [(one.cell, one.share) for one in gaps if one.missing]
                if cells:
                    self._play_stage(gaps, workers, queue, report)

    def _play_stage(
        self, gaps: Sequence[Gaps], workers: Workers, queue: Queue, report: Progress | None
    ) -> None:
        """Play what is missing, keep what comes, and report how much is done."""
        total = sum(one.wanted for one in gaps)
        for one in gaps:
            queue.put(one.missing)
        cells = (one.cell for one in gaps if one.missing)
        workers.prepare({(cell.group, cell.engine): cell for cell in cells}.values())

        left: float | None = None

        def tell(more: int = 0) -> None:
            if report is not None:
                ends = "" if left is None or not queue.left else f": about {duration(left)} left"
                report(f"{self.spec.name}{ends}", total - queue.left + more, total)

        tell()
        workers.told = tell
        began, busy = time.monotonic(), 0.0
        with closing(workers.play(queue.tasks())) as results:
            for played in results:
                self.file.add(played)
                queue.learn_from(played)
                for cell in {one.chunk.cell.key: one.chunk.cell for one in played}.values():
                    self._join(cell)
                busy += sum(one.seconds for one in played)
                if (left := queue.work_left) is not None:
                    left *= (time.monotonic() - began) / busy
                tell()
        self._describe(played=True)

    def find_gaps(self, cells: Iterable[tuple[Cell, range | None]] | None = None) -> list[Gaps]:
        """Find what is missing of each cell in the file."""
        found = []
        for cell, share in _WHOLE.select(self.cells, self.spec) if cells is None else cells:
            replicas, chunks = self._choose_chunks(cell)
            wanted = range(replicas) if share is None else share
            gaps = (gap for gap in find_missing(chunks, wanted) if gap)
            missing = [Chunk(cell, gap.start, len(gap)) for gap in gaps]
            found.append(Gaps(cell, share, len(wanted), missing))
        return found

    def _choose_chunks(self, cell: Cell) -> tuple[int, list[StoredChunk]]:
        """Return the replicas that a cell needs, as far as is known, and chunks it has of them.

        Replicas are doubled where all of them are there and the standard error is too large. So
        what is played next follows from whole stages alone, in whatever order they came.
        """
        spec, stored, replicas = self.spec, self.file.chunks(cell), self.spec.replicas
        while True:
            have = choose_chunks(stored, replicas)
            if spec.se is None or replicas >= spec.cap or sum(c.size for c in have) < replicas:
                return replicas, have
            *_, (_, se) = cell.game.price(Tally.join(one.tally for one in have))
            if se <= spec.se:
                return replicas, have
            replicas = min(2 * replicas, spec.cap)

    def _join(self, cell: Cell) -> list[StoredChunk]:
        """Return the chunks of a cell; put those of a curve together that follow each other.

        Each has the products of all checkpoints, and too many of them would fill the file.
        """
        replicas, chunks = self._choose_chunks(cell)
        if cell.curve and len(chunks) > 1:
            holes = (k for k, (a, b) in enumerate(pairwise(chunks), 1) if a.end != b.first)
            row = chunks[: next(holes, len(chunks))]
            if len(row) >= _MOST_ROWS or row[-1].end - row[0].first == replicas:
                self.file.join(cell, row)
                return self._choose_chunks(cell)[1]
        return chunks

    def result(self) -> SweepResult:
        """Return the result of a file in which nothing is missing."""
        cells = [SweptCell.of(cell, [one.tally for one in self._join(cell)]) for cell in self.cells]
        return SweepResult(self.spec, tuple(cells), self._describe())

    def _describe(self, played: bool = False) -> Meta:
        """Describe how the cells were made: now, if some were played, or as the file says."""
        first = {str(cell.learner): cell for cell in reversed(self.cells)}
        learners = {name: cell.game.learner for name, cell in first.items()}
        now = make_meta(learners, {name: cell.engine for name, cell in first.items()})
        with suppress(TypeError, ValueError, KeyError):
            then = json.loads(self.file.get("meta") or "")
            if not played:
                return replace(now, **{name: then[name] for name in _KEPT})
        self.file.put("meta", json.dumps(asdict(now)))
        return now


def read_spec(given: SweepSpec | Path | str) -> SweepSpec:
    """Return a specification, read from its file if it is given as a path."""
    return given if isinstance(given, SweepSpec) else SweepSpec.read(Path(given))


def sweep_path(folder: Path, spec: SweepSpec) -> Path:
    """Return the file in which a sweep is kept."""
    return Path(folder) / f"{spec.name}.sweep"


def write_result(folder: Path, result: SweepResult) -> list[Path]:
    """Write a result as NAME.csv and NAME.json, both or neither."""
    table, data = (one.path for one in list_results(folder, result.spec))
    rows = table_text(result.columns, result.rows())
    text = json.dumps(result.as_json(), allow_nan=False, indent=1)
    return write_together({table: rows.encode(), data: text.encode()})


def list_results(folder: Path, spec: SweepSpec) -> list[Output]:
    """Return the files that a result is written to."""
    name = Path(folder) / spec.name
    return [
        Output(name.with_suffix(".csv"), table_kind(COLUMNS, NAMED_COLUMNS)),
        Output(name.with_suffix(".json"), JSON),
    ]


def duration(seconds: float) -> str:
    """Write a time as a person says it: 40 s, 12 min, 3.5 h."""
    if seconds < 99.5:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7000 else f"{seconds / 3600:.2g} h"
