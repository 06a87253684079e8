"""Run a specification, or find its result in a folder where it was run before."""

import warnings
from pathlib import Path
from typing import Any, Final

from grbp._io import reason, write_table
from grbp._progress import ProgressLike
from grbp.errors import CannotWrite, Conflict, InvalidInput
from grbp.experiments.provenance import source_digest
from grbp.experiments.sweep import Driver
from grbp.experiments.sweep_result import SweepResult
from grbp.experiments.sweep_spec import SweepSpec

FOLDER: Final[Path] = Path("results") / "data"
"""The folder in which results are kept unless another is named."""


def run(
    spec: SweepSpec,
    folder: Path = FOLDER,
    progress: ProgressLike = None,
    threads: int | None = None,
    **who: Any,
) -> SweepResult:
    """Run a specification, or as much of it as its file in a folder does not hold already.

    It is `grbp.sweep` for results that are looked up again: the file is named by this function,
    nothing is written beside it, a damaged one is set aside with a warning, and what other source
    code has made is left alone.

    Parameters
    ----------
    spec : SweepSpec
        The experiment.
    folder : Path
        The folder in which results are kept.
    progress, threads
        As for `grbp.sweep`.
    **who
        Who else plays, as for `grbp.sweep`: processes, dask or device, and chunk.

    Returns
    -------
    SweepResult

    Notes
    -----
    Paper: sec:numeric

    Examples
    --------
    >>> import grbp, tempfile
    >>> from grbp.experiments import run
    >>> spec = grbp.SweepSpec("mine", grbp.Problem(4, 0.45, 0.3), "getbe-sm", 100, 20, curves=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(spec, folder)
    >>> result.simulation().rounds, result.meta.engines
    (100, {'getbe-sm': 'walk'})
    """
    path, device = Path(folder) / address(spec), who.pop("device", "cpu")
    try:
        driver = Driver(spec, path, device)
    except Conflict:
        raise
    except InvalidInput as error:
        if not path.is_file():
            raise
        _set_aside(path, error)
        driver = Driver(spec, path, device)
    with driver:
        driver.play(progress=progress, threads=threads, **who)
        return driver.result()


def load_result(folder: Path, spec: SweepSpec) -> SweepResult:
    """Read the result of a specification from its file in a folder, and play nothing.

    Parameters
    ----------
    folder : Path
        The folder of the results.
    spec : SweepSpec
        The specification.

    Returns
    -------
    SweepResult

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
    if not path.is_file():
        raise InvalidInput(f"{path} does not exist; play the sweep first")
    with Driver(spec, path) as driver:
        if any(one.missing for one in driver.find_gaps()):
            raise InvalidInput(f"{path} does not hold all of {spec.name!r}; play the rest first")
        return driver.result()


def address(spec: SweepSpec) -> str:
    """Name the file of a result: after its specification, and a digest of the source.

    Whatever else its numbers come from, the file knows of every cell.

    Parameters
    ----------
    spec : SweepSpec
        The specification.

    Returns
    -------
    str

    Examples
    --------
    >>> from grbp.experiments import FIGURE_3, address
    >>> address(FIGURE_3).startswith("figure-3-")
    True
    """
    return f"{spec.name}-{source_digest()[:16]}.sweep"


def to_csv(result: SweepResult, path: Path) -> Path:
    """Write the table of a result as CSV, and return the path.

    A row has what was run (goal, p_c, p_f, start, learner, rounds, replicas, seed, engine,
    whether by splitting, and the kind of regret) and the mean regret after a round, with its
    standard error and the ends of a 95 % interval; for a curve these are the band that
    `Curve.band` computes, which holds all of it at once.

    Parameters
    ----------
    result : SweepResult
        The result.
    path : Path
        The file to write.

    Returns
    -------
    Path

    Examples
    --------
    >>> import grbp, tempfile
    >>> from pathlib import Path
    >>> from grbp.experiments import run, to_csv
    >>> spec = grbp.SweepSpec("mine", grbp.Problem(4, 0.45, 0.3), "getbe-sm", 100, 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = to_csv(run(spec, folder), Path(folder) / "mine.csv")
    ...     print(table.read_text().splitlines()[0])
    goal,p_c,p_f,start,learner,rounds,replicas,seed,engine,splitting,regret,round,mean,se,low,high
    """
    return write_table(Path(path), result.columns, result.rows())


def _set_aside(path: Path, why: InvalidInput) -> None:
    """Rename a file that is in the way, overwriting nothing, and warn of it."""
    aside, count = path.with_name(f"{path.name}.bad"), 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{path.name}.bad{count}")
    try:
        path.rename(aside)
    except OSError as error:
        raise CannotWrite(
            f"{path} is damaged and cannot be renamed ({reason(error)}); move it away"
        ) from error
    warnings.warn(
        f"{why}; it was set aside as {aside.name} and will be made anew",
        RuntimeWarning,
        stacklevel=3,
    )
