"""Run a specification, unless it was run before; resume it if it was interrupted."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias, overload

from grbp._io import make_folder
from grbp._progress import Progress, ProgressLike, as_progress
from grbp.errors import Conflict, InvalidInput
from grbp.experiments.curve_result import CurveResult
from grbp.experiments.provenance import make_meta
from grbp.experiments.simulation import simulate
from grbp.experiments.spec import Spec
from grbp.experiments.store import FOLDER, address, find, load, save, set_aside
from grbp.experiments.sweep import Driver, load_sweep
from grbp.experiments.sweep_result import SweepResult
from grbp.experiments.sweep_spec import AnySpec, SweepSpec
from grbp.learners.registry import find_problem_learner

Result: TypeAlias = CurveResult | SweepResult
"""The result of an experiment."""

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
    spec: SweepSpec,
    folder: Path = ...,
    progress: ProgressLike = ...,
    threads: int | None = ...,
    *,
    processes: int | None = ...,
    dask: str | None = ...,
) -> SweepResult: ...
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

    Every part (a learner, or a chunk of a sweep) is kept as soon as it is made, so that after an
    interruption the same call goes on with the next one. Neither interruptions nor threads,
    processes or machines change a bit. After a change of the source that makes the numbers, an old
    result is not found any more.

    Parameters
    ----------
    spec : Spec or SweepSpec
        The experiment.
    folder : Path
        The folder in which results are kept.
    progress : bool or callable, optional
        True for a bar, or a function that is called with (what runs, replicas done, replicas in
        all).
    threads : int, optional
        The number of threads, by default one for each processor.
    processes : int, optional
        For a sweep, the number of processes that play it, in place of threads.
    dask : str, optional
        For a sweep, the address of a Dask cluster that plays it; see `grbp.sweep`.

    Returns
    -------
    CurveResult or SweepResult

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
    folder = Path(folder)
    if isinstance(spec, Spec):
        if processes is not None or dask is not None:
            raise InvalidInput("processes or dask was given; curves are played on threads alone")
        return find(folder, spec) or _run_curves(spec, folder, as_progress(progress), threads)
    with _open_driver(spec, folder / address(spec)) as driver:
        driver.play(processes=processes, threads=threads, dask=dask, progress=progress)
        return driver.result()


def load_result(folder: Path, spec: AnySpec) -> Result:
    """Read the result of a specification from its file in a folder, and play nothing.

    Parameters
    ----------
    folder : Path
        The folder of the results.
    spec : Spec or SweepSpec
        The specification.

    Returns
    -------
    CurveResult or SweepResult

    Raises
    ------
    InvalidInput
        If the file is not there, is damaged or lacks something.

    Examples
    --------
    >>> import grbp, tempfile
    >>> from grbp.experiments import load_result, run
    >>> spec = grbp.SweepSpec("mine", grbp.Problem(4, 0.45, 0.3), "getbe-sm", 100, 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_result(folder, run(spec, folder).spec)
    <SweepResult 'mine': 1 learner on 1 problems, 20 replicas of 100 rounds, seed 0>
    """
    path = Path(folder) / address(spec)
    return load(path) if isinstance(spec, Spec) else load_sweep(spec, path)


def _run_curves(
    spec: Spec, folder: Path, progress: Progress | None, threads: int | None
) -> CurveResult:
    """Simulate learner by learner; curves that are done wait in a folder for the others."""
    waiting = folder / PARTS
    make_folder(waiting)
    parts = [replace(spec, learners=(learner,)) for learner in spec.learners]
    done: list[CurveResult] = []
    for part in parts:
        found = find(waiting, part)
        if found is None:
            found = _simulate(part, spec, len(done), progress, threads)
            save(waiting, found)
        done.append(found)
    curves = {name: curve for one in done for name, curve in one.simulation.curves.items()}
    learners = {str(one): find_problem_learner(one, spec.problem) for one in spec.learners}
    engines = {name: engine for one in done for name, engine in one.meta.engines.items()}
    whole = CurveResult.from_curves(spec, curves, make_meta(learners, engines))
    save(folder, whole)
    for part in parts:
        with suppress(OSError):
            (waiting / address(part)).unlink(missing_ok=True)
    with suppress(OSError):
        waiting.rmdir()
    return whole


def _simulate(
    part: Spec, whole: Spec, before: int, progress: Progress | None, threads: int | None
) -> CurveResult:
    """Simulate one learner, and report how far the whole has come."""
    (learner,), replicas = part.learners, part.replicas

    def report(name: str, done: int, total: int) -> None:
        if progress is not None:
            # Splitting plays more replicas than it ends with.
            so_far = before * replicas + done * replicas // total
            progress(f"{whole.name}: {name}", so_far, len(whole.learners) * replicas)

    report(str(learner), 0, 1)
    simulation = simulate(
        part.problem,
        learner,
        part.rounds,
        replicas,
        part.seed,
        checkpoints=part.checkpoints,
        engine=part.engine,
        splitting=part.splitting,
        threads=threads,
        progress=report,
    )
    meta = make_meta(
        {str(learner): find_problem_learner(learner, part.problem)}, simulation.engines
    )
    return CurveResult(part, simulation, meta)


def _open_driver(spec: SweepSpec, path: Path) -> Driver:
    """Open the file of a sweep; a damaged one is set aside, with a warning."""
    try:
        return Driver(spec, path)
    except Conflict:
        raise
    except InvalidInput as error:
        set_aside(path, error)
        return Driver(spec, path)
