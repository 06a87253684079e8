"""Run a specification, unless it was run before; resume it if it was interrupted."""

import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, overload

import numpy as np

from grbp._io import make_folder
from grbp._progress import Progress, ProgressLike, as_progress
from grbp.errors import Conflict, InvalidInput
from grbp.experiments.provenance import meta_now
from grbp.experiments.results import CurveResult, GridResult, Result
from grbp.experiments.spec import AnySpec, GridSpec, Spec
from grbp.experiments.store import FOLDER, address, find, save, set_aside
from grbp.experiments.sweeps.cells import cells_of
from grbp.experiments.sweeps.chunks import Queue
from grbp.experiments.sweeps.driver import CHUNK_SECONDS, Want, fill, swept, workers_for
from grbp.experiments.sweeps.file import SweepFile
from grbp.experiments.sweeps.workers import Workers
from grbp.model.problem import Problem

PARTS: Final = "parts"
"""The folder, inside that of the results, where finished curves wait for the rest."""


@overload
def run(
    spec: Spec,
    folder: Path = ...,
    progress: ProgressLike = ...,
    threads: int | None = ...,
) -> CurveResult: ...
@overload
def run(
    spec: GridSpec,
    folder: Path = ...,
    progress: ProgressLike = ...,
    threads: int | None = ...,
    *,
    processes: int | None = ...,
    dask: str | None = ...,
) -> GridResult: ...
def run(
    spec: AnySpec,
    folder: Path = FOLDER,
    progress: ProgressLike = None,
    threads: int | None = None,
    *,
    processes: int | None = None,
    dask: str | None = None,
) -> Result:
    """Run a specification, or find its result in a folder if it was run before.

    Every part (a learner, or a chunk of a map) is kept as soon as it is made, so that after an
    interruption the same call goes on with the next one. Neither interruptions nor threads,
    processes or machines change a bit.

    Parameters
    ----------
    spec : Spec or GridSpec
        The experiment.
    folder : Path
        The folder in which results are kept.
    progress : bool or callable, optional
        True for a bar, or a function that is called with (what runs, replicas done, replicas in
        all).
    threads : int, optional
        The number of threads, by default one for each processor.
    processes : int, optional
        For a map, the number of processes that play it, in place of threads.
    dask : str, optional
        For a map, the address of a Dask cluster that plays it; see `grbp.sweep`.

    Returns
    -------
    CurveResult or GridResult

    Notes
    -----
    Paper: sec:numeric

    Examples
    --------
    >>> import grbp, tempfile
    >>> from pathlib import Path
    >>> from grbp.experiments import Spec, run
    >>> spec = Spec("mine", grbp.Problem(4, 0.45, 0.3), ("getbe-sm",), 100, 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(spec, Path(folder))
    >>> result.simulation.rounds, result.meta.engines
    (100, {'getbe-sm': 'walk'})
    """
    folder, told = Path(folder), as_progress(progress)
    if isinstance(spec, Spec):
        if processes is not None or dask is not None:
            raise InvalidInput("processes or dask was given; curves are played on threads alone")
        return find(folder, spec) or _run_curves(spec, folder, told, threads)
    found = find(folder, spec)
    if found is not None:
        return found
    with workers_for(processes, threads, dask) as workers:
        return run_map(spec, folder, told, workers)


def _run_curves(
    spec: Spec, folder: Path, told: Progress | None, threads: int | None
) -> CurveResult:
    waiting = folder / PARTS
    make_folder(waiting)
    done: list[Any] = []
    for k, part in enumerate(spec.parts):
        kept = find(waiting, part)
        if kept is None:
            kept = CurveResult.play(part, _report(told, spec, part.label, k), threads)
            save(waiting, kept)
        done.append(kept)
    whole = CurveResult.join(spec, done)
    save(folder, whole)
    for part in spec.parts:
        with suppress(OSError):
            (waiting / address(part)).unlink(missing_ok=True)
    with suppress(OSError):
        waiting.rmdir()
    return whole


def run_map(spec: GridSpec, folder: Path, told: Progress | None, workers: Workers) -> GridResult:
    """Find a map, or have workers play it; its chunks are kept in a file until it is done."""
    found = find(folder, spec)
    if isinstance(found, GridResult):
        return found
    path = (folder / address(spec)).with_suffix(".sweep")
    problems = (Problem(spec.goal, p_c, p_f) for p_f in spec.p_f for p_c in spec.p_c)
    sizes = ((spec.rounds,), spec.seed, spec.engine)
    cells, want = list(cells_of(problems, spec.learners, *sizes)), Want(spec.replicas)

    def tell(done: int, total: int, _: float | None) -> None:
        if told is not None:
            told(spec.name, done, total)

    with _opened(path) as file:
        shares = [(cell, None) for cell in cells]
        fill(file, shares, want, workers, Queue(CHUNK_SECONDS), tell)
        means = [(one.mean[-1], one.se[-1]) for one in (swept(file, cell, want) for cell in cells)]
    mean, se = np.array(means).T.reshape(2, len(spec.p_f), len(spec.p_c))
    whole = GridResult(spec, mean, se, meta_now(spec))
    save(folder, whole)
    with suppress(OSError):
        path.unlink()
    return whole


def _opened(path: Path) -> SweepFile:
    """Open the file of a map; a damaged one is set aside, with a warning."""
    try:
        return SweepFile(path)
    except Conflict:
        raise
    except InvalidInput as error:
        aside = set_aside(path)
        warnings.warn(
            f"{error}; it was set aside as {aside.name} and will be made anew",
            RuntimeWarning,
            stacklevel=2,
        )
        return SweepFile(path)


def _report(progress: Progress | None, spec: Spec, part: str, before: int) -> Callable[[int], None]:
    """Make the function that reports, for one part, how far the whole has come."""
    if progress is None:
        return lambda _: None

    def report(done: int) -> None:
        progress(f"{spec.name}: {part}", before * spec.work + done, len(spec.parts) * spec.work)

    report(0)
    return report
