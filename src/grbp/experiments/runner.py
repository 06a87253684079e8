"""Run a specification, unless it was run before; resume it if it was interrupted."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, overload

from grbp._io import make_folder
from grbp._progress import Progress, ProgressLike, as_progress
from grbp.experiments.results import CurveResult, GridResult, Result, result_type
from grbp.experiments.spec import AnySpec, GridSpec, Spec
from grbp.experiments.store import FOLDER, address, find, save

PARTS: Final = "parts"
"""The folder, inside that of the results, where finished parts wait for the rest."""


@overload
def run(
    spec: Spec, folder: Path = ..., progress: ProgressLike = ..., threads: int | None = ...
) -> CurveResult: ...
@overload
def run(
    spec: GridSpec, folder: Path = ..., progress: ProgressLike = ..., threads: int | None = ...
) -> GridResult: ...
def run(
    spec: AnySpec,
    folder: Path = FOLDER,
    progress: ProgressLike = None,
    threads: int | None = None,
) -> Result:
    """Run a specification, or find its result in a folder if it was run before.

    Every part (a learner, or a row of the map) is kept as soon as it is made, so that after an
    interruption the same call goes on with the next one. Neither interruptions nor threads
    change a bit.

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
    folder = Path(folder)
    found = find(folder, spec)
    if found is not None:
        return found
    waiting = folder / PARTS
    make_folder(waiting)
    kind, done, told = result_type(spec), [], as_progress(progress)
    parts: Sequence[AnySpec] = spec.parts
    for k, part in enumerate(parts):
        kept = find(waiting, part)
        if kept is None:
            kept = kind.play(part, _report(told, spec, part.label, k), threads)
            save(waiting, kept)
        done.append(kept)
    whole: Any = kind.join(spec, done)
    save(folder, whole)
    for part in parts:
        with suppress(OSError):
            (waiting / address(part)).unlink(missing_ok=True)
    with suppress(OSError):
        waiting.rmdir()
    return whole  # type: ignore[no-any-return]


def _report(
    progress: Progress | None, spec: AnySpec, part: str, before: int
) -> Callable[[int], None]:
    """Make the function that reports, for one part, how far the whole has come."""
    if progress is None:
        return lambda _: None

    def report(done: int) -> None:
        progress(f"{spec.name}: {part}", before * spec.work + done, len(spec.parts) * spec.work)

    report(0)
    return report
