"""Drive a sweep: find what its file lacks, have it played, and keep what comes."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from grbp._io import table_text, write_together
from grbp._progress import ProgressLike, as_progress
from grbp.engine.decisions import check_choice
from grbp.errors import InvalidInput
from grbp.experiments.moments import Sums
from grbp.experiments.provenance import Meta, make_meta
from grbp.experiments.sweeps.cells import Cell, Chunk, Device, check_device, make_cells
from grbp.experiments.sweeps.chunks import Queue, choose_chunks, find_missing
from grbp.experiments.sweeps.file import StoredChunk, SweepFile
from grbp.experiments.sweeps.result import SweepResult, SweptCell
from grbp.experiments.sweeps.spec import SweepSpec
from grbp.experiments.sweeps.workers import Workers, local_workers
from grbp.model.validation import check_positive, check_whole

FOLDER: Final[Path] = Path("results")
"""The folder in which sweeps are kept unless another is named."""

CHUNK_SECONDS: Final = 1.0
"""Seconds that a task takes, about, unless another number is given."""

Report: TypeAlias = Callable[[int, int, float | None], None]
"""A function that is called with replicas done, replicas in all, and the seconds left if known."""


@dataclass(frozen=True)
class Target:
    """How many replicas a cell needs: a number, or as many as its precision takes."""

    replicas: int
    se: float | None = None
    cap: int = 0

    def choose(self, cell: Cell, stored: Sequence[StoredChunk]) -> tuple[int, list[StoredChunk]]:
        """Return the replicas that a cell needs, as far as is known, and chunks it has of them.

        Replicas are doubled where all of them are there and the standard error is too large. So
        what is played next follows from whole stages alone, in whatever order they came.
        """
        replicas = self.replicas
        while True:
            have = choose_chunks(stored, replicas)
            if self.se is None or replicas >= self.cap or sum(c.size for c in have) < replicas:
                return replicas, have
            *_, (_, se) = cell.price(add_sums(have))
            if se <= self.se:
                return replicas, have
            replicas = min(2 * replicas, self.cap)


@dataclass(frozen=True)
class Shard:
    """The part of a sweep that one of several drivers plays: number `index` of `count`, from 1."""

    index: int = 1
    count: int = 1

    def select(self, cells: Sequence[Cell], target: Target) -> Iterator[tuple[Cell, range | None]]:
        """Yield the cells of this part, each with the replicas to play; None for all it needs.

        Cells are put in the order of their keys, which is as good as random, so that parts take
        about equally long. A cell that decides how many replicas it needs stays in one part.
        """
        if self.count == 1:
            yield from ((cell, None) for cell in cells)
            return
        cells = sorted(cells, key=lambda cell: cell.key)
        size = 1 if target.se is not None else target.replicas
        total = size * len(cells)
        begin, end = (total * k // self.count for k in (self.index - 1, self.index))
        for k in range(begin // size, -(-end // size)):
            mine = range(max(0, begin - k * size), min(size, end - k * size))
            if mine:
                yield cells[k], None if target.se is not None else mine


_WHOLE: Final = Shard()


def add_sums(chunks: Sequence[StoredChunk]) -> tuple[Sums, ...]:
    """Add the sums of chunks, at each of the rounds."""
    first, *rest = (one.sums for one in chunks)
    for other in rest:
        first = tuple(a + b for a, b in zip(first, other, strict=True))
    return first


class Gaps(NamedTuple):
    """A cell, the replicas of it that are wanted here, and what is missing of them."""

    cell: Cell
    share: range | None
    wanted: int
    missing: list[Chunk]


def find_gaps(file: SweepFile, cell: Cell, share: range | None, target: Target) -> Gaps:
    """Find what is missing in a file of a cell, or of some of its replicas."""
    replicas, have = target.choose(cell, file.chunks(cell))
    wanted = range(replicas) if share is None else share
    missing = [Chunk(cell, gap.start, len(gap)) for gap in find_missing(have, wanted) if len(gap)]
    return Gaps(cell, share, len(wanted), missing)


def fill(
    file: SweepFile,
    cells: Sequence[tuple[Cell, range | None]],
    target: Target,
    workers: Workers,
    queue: Queue,
    report: Report,
) -> bool:
    """Play what is missing of some cells, stage by stage; return whether anything was."""
    begun = False
    while True:
        found = [find_gaps(file, *one, target) for one in cells]
        total = sum(one.wanted for one in found)
        found = [one for one in found if one.missing]
        if not found:
            return begun
        begun = True
        for one in found:
            queue.put(one.missing)
        workers.prepare({(one.cell.group, one.cell.engine): one.cell for one in found}.values())
        report(total - queue.left, total, None)
        began, busy = time.monotonic(), 0.0
        with closing(workers.play(queue.tasks())) as results:
            for played in results:
                file.add(played)
                queue.learn_from(played)
                busy += sum(one.seconds for one in played)
                left, elapsed = queue.work_left, time.monotonic() - began
                report(total - queue.left, total, None if left is None else left * elapsed / busy)
        # What was complete stays so; the others may need more now.
        cells = [(one.cell, one.share) for one in found]


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
    with Driver(spec, sweep_path(folder, spec), device, chunk, progress) as driver:
        driver.play(processes=processes, threads=threads, dask=dask)
        result = driver.result()
    write_result(folder, result)
    return result


def load_sweep(spec: SweepSpec, path: Path) -> SweepResult:
    """Read the result of a sweep from its file; refuse if something is missing."""
    if not path.is_file():
        raise InvalidInput(f"{path} does not exist; play the sweep first")
    with Driver(spec, path) as driver:
        if any(driver.find_gaps()):
            raise InvalidInput(f"{path} does not hold all of {spec.name!r}; play the rest first")
        return driver.result()


class Driver:
    """An open file of a sweep, and what is to be in it."""

    def __init__(
        self,
        spec: SweepSpec,
        path: Path,
        device: Device = "cpu",
        chunk: float = CHUNK_SECONDS,
        progress: ProgressLike = None,
    ) -> None:
        check_choice("device", device, Device)
        self._queue = Queue(check_positive("chunk", chunk), whole=device == "cuda")
        self.spec, self._device, self._progress = spec, device, as_progress(progress)
        self.cells = list(make_cells(spec))
        self.target = Target(spec.replicas, spec.se, spec.cap)
        check_device(self.cells, device)
        self.file = SweepFile(path)
        try:
            self.file.put("asked", json.dumps(spec.as_json(), sort_keys=True))
            self.file.commit()
        except BaseException:
            self.file.close()
            raise

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
    ) -> None:
        """Play what is missing of the sweep, or of a shard of it."""
        with hire_workers(processes, threads, dask, self._device) as workers:
            cells = list(shard.select(self.cells, self.target))
            if fill(self.file, cells, self.target, workers, self._queue, self._report):
                self._write_meta()

    def _report(self, done: int, total: int, left: float | None) -> None:
        if self._progress is not None:
            ends = "" if left is None or done == total else f": about {duration(left)} left"
            self._progress(f"{self.spec.name}{ends}", done, total)

    def find_gaps(self) -> Iterator[Gaps]:
        """Yield the cells of which something is missing."""
        found = (find_gaps(self.file, cell, None, self.target) for cell in self.cells)
        return (one for one in found if one.missing)

    def result(self) -> SweepResult:
        """Return the result of a file in which nothing is missing."""
        meta = self._read_meta() or self._write_meta()
        return SweepResult(self.spec, tuple(map(self._collect, self.cells)), meta)

    def _collect(self, cell: Cell) -> SweptCell:
        """Return a cell with its regret."""
        _, chunks = self.target.choose(cell, self.file.chunks(cell))
        sums = add_sums(chunks)
        mean, se = zip(*cell.price(sums), strict=True)
        return SweptCell(cell, sums, mean, se)

    def _read_meta(self) -> Meta | None:
        """Read how the cells were made; None if the file does not say."""
        with suppress(TypeError, ValueError):
            return Meta(**json.loads(self.file.get("meta") or ""))
        return None

    def _write_meta(self) -> Meta:
        """Write into the file how its cells were made, and return it."""
        first = {str(cell.learner): cell for cell in reversed(self.cells)}
        learners = {name: cell.find_learner() for name, cell in first.items()}
        meta = make_meta(learners, {name: cell.engine for name, cell in first.items()})
        self.file.put("meta", json.dumps(asdict(meta)))
        self.file.commit()
        return meta


@contextmanager
def hire_workers(
    processes: int | None = None,
    threads: int | None = None,
    dask: str | None = None,
    device: Device = "cpu",
) -> Iterator[Workers]:
    """Hire workers for a block: of a cluster, or of this machine."""
    for name, count in (("processes", processes), ("threads", threads)):
        if count is not None:
            check_whole(name, count, 1, 1024)
    if dask is not None and (processes is not None or device != "cpu"):
        other = "device" if processes is None else "processes"
        raise InvalidInput(f"dask and {other} were given; a cluster plays alone, on its processors")
    workers: Workers
    if dask is None:
        workers = local_workers(processes, threads, device)
    else:
        from grbp.experiments.sweeps.cluster import Cluster  # noqa: PLC0415 (only a few need it)

        workers = Cluster(dask)
    try:
        yield workers
    finally:
        workers.close()


def read_spec(given: SweepSpec | Path | str) -> SweepSpec:
    """Return a specification, read from its file if it is given as a path."""
    return given if isinstance(given, SweepSpec) else SweepSpec.read(Path(given))


def sweep_path(folder: Path, spec: SweepSpec) -> Path:
    """Return the file in which a sweep is kept."""
    return Path(folder) / f"{spec.name}.sweep"


def write_result(folder: Path, result: SweepResult) -> list[Path]:
    """Write a result as NAME.csv and NAME.json, both or neither."""
    name = Path(folder) / result.spec.name
    table = table_text(result.columns, result.rows())
    data = json.dumps(result.as_json(), allow_nan=False, indent=1)
    return write_together(
        {name.with_suffix(".csv"): table.encode(), name.with_suffix(".json"): data.encode()}
    )


def duration(seconds: float) -> str:
    """Write a time as a person says it: 40 s, 12 min, 3.5 h."""
    if seconds < 99.5:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7000 else f"{seconds / 3600:.2g} h"
