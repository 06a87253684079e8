"""Keep results in files: one each, named after what was asked.

A sweep has its own kind of file, `sweeps/file.py`. That of curves is written whole or not at all:
a NumPy archive without pickles. Its entry `header` is JSON: the specification, the
constants of the learners, and how, when and with what it was made.
"""

import io
import json
import math
import struct
import warnings
import zipfile
import zlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

import numpy as np

from grbp._io import make_folder, reason, write_table, write_whole
from grbp.errors import CannotWrite, InvalidInput
from grbp.experiments.curve_result import CurveResult
from grbp.experiments.provenance import Meta, constants_of, digest_of, source_digest
from grbp.experiments.spec import Spec
from grbp.experiments.sweep_result import SweepResult
from grbp.experiments.sweep_spec import AnySpec, SweepSpec
from grbp.learners.registry import find_problem_learner

FOLDER: Final[Path] = Path("results") / "data"
"""The folder in which results are kept unless another is named."""

_FORMAT: Final = "grbp result"
_FORMAT_VERSION: Final = 3

_UNREADABLE: Final = (
    zipfile.BadZipFile, zlib.error, ValueError, LookupError, TypeError, AttributeError, EOFError,
    OSError, RuntimeError, SyntaxError, struct.error, OverflowError, MemoryError,
)  # fmt: skip
"""The errors that reading arbitrary bytes as an archive may raise."""


def address(spec: AnySpec) -> str:
    """Name the file of a result.

    It has the name of the specification and a digest of the source of everything that the numbers
    come from. For curves the digest is also of the specification, of the learners' constants and
    of the format of the file; the file of a sweep knows its cells one by one.

    Parameters
    ----------
    spec : Spec or SweepSpec
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
    if isinstance(spec, SweepSpec):
        return f"{spec.name}-{source_digest()[:16]}.sweep"
    found = {str(one): find_problem_learner(one, spec.problem) for one in spec.learners}
    asked = {
        "format": _FORMAT_VERSION,
        "code": source_digest(),
        "spec": spec.as_json(),
        "constants": constants_of(found),
    }
    return f"{spec.name}-{digest_of(asked)[:16]}.npz"


def save(folder: Path, result: CurveResult) -> Path:
    """Write a result to its file in a folder, and return the path.

    Parameters
    ----------
    folder : Path
        The folder, which is made if it is not there.
    result : CurveResult
        The result.

    Returns
    -------
    Path
        The file; its name is the `address` of the specification.

    See Also
    --------
    load : Reads the file.
    run : Runs a specification and saves its result.
    """
    header, arrays = result.arrays()
    header |= {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "spec": result.spec.as_json(),
        "meta": asdict(result.meta),
    }
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)
    make_folder(Path(folder))
    return write_whole(Path(folder) / address(result.spec), file.getvalue())


def load(path: Path) -> CurveResult:
    """Read the curves kept in a file, the same to the last bit.

    Parameters
    ----------
    path : Path
        A file that `save` or `run` wrote.

    Returns
    -------
    CurveResult

    Raises
    ------
    InvalidInput
        If the file cannot be read, is damaged or is something else.

    Examples
    --------
    >>> import grbp, tempfile
    >>> from pathlib import Path
    >>> from grbp.experiments import Spec, address, load, run
    >>> spec = Spec("mine", grbp.Problem(4, 0.45, 0.3), ("getbe-sm",), 100, 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(spec, Path(folder))
    ...     again = load(Path(folder) / address(spec))
    >>> again.spec == spec and again.meta == result.meta
    True
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({reason(error)}); name a file of results"
        ) from error
    return _parse(data, path)


def find(folder: Path, spec: Spec) -> CurveResult | None:
    """Find the curves of a specification, if the folder holds them.

    A file in its place that is damaged, or is something else, is set aside under another name,
    with a warning.

    Parameters
    ----------
    folder : Path
        The folder of the results.
    spec : Spec
        The specification.

    Returns
    -------
    CurveResult or None

    Examples
    --------
    >>> import grbp, tempfile
    >>> from pathlib import Path
    >>> from grbp.experiments import Spec, find
    >>> spec = Spec("mine", grbp.Problem(4, 0.45, 0.3), ("getbe-sm",), 100, 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(find(Path(folder), spec))
    None
    """
    path = Path(folder) / address(spec)
    try:
        result = load(path)
        if result.spec != spec:
            raise InvalidInput(f"{path} holds the result of another specification")  # noqa: TRY301
    except InvalidInput as error:
        if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            return None
        if isinstance(error.__cause__, OSError):
            raise
        set_aside(path, error)
        return None
    # A file keeps a user's learner by its name alone; who asks has the learner itself.
    return replace(result, spec=spec)


def to_csv(result: CurveResult | SweepResult, path: Path) -> Path:
    """Write the table of a result as CSV, and return the path.

    A row has what was run (goal, p_c, p_f, start, learner, rounds, replicas, seed, engine,
    whether by splitting, and the kind of regret) and the mean regret after a round, with its
    standard error and the ends of a 95 % interval; for a curve these are the band that
    `Curve.band` computes, which holds all of it at once. A cell of a sweep has a row for each
    of its rounds, with a seed of its own.

    Parameters
    ----------
    result : CurveResult or SweepResult
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
    >>> from grbp.experiments import Spec, run, to_csv
    >>> spec = Spec("mine", grbp.Problem(4, 0.45, 0.3), ("getbe-sm",), 100, 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = to_csv(run(spec, Path(folder)), Path(folder) / "mine.csv")
    ...     print(table.read_text().splitlines()[0])
    goal,p_c,p_f,start,learner,rounds,replicas,seed,engine,splitting,regret,round,mean,se,low,high
    """
    return write_table(Path(path), result.columns, result.rows())


def _parse(data: bytes, path: Path) -> CurveResult:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_sizes(archive)
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        header = json.loads(str(arrays.pop("header")))
        if header["format"] != _FORMAT or not isinstance(header["spec"], dict):
            raise ValueError("another program's archive")
    except _UNREADABLE:
        # `find` would take an error of the system behind this one for that of a disk.
        raise InvalidInput(f"{path} is damaged, or is not a result of this package") from None
    version = header.get("format_version")
    if version != _FORMAT_VERSION:
        raise InvalidInput(
            f"{path} is written in format {version}; this version reads format {_FORMAT_VERSION}"
        )
    if header["spec"].get("kind") != "curves":
        raise InvalidInput(f"{path} does not hold curves; run its experiment again, as a sweep")
    try:
        spec, meta = Spec.from_json(header["spec"]), Meta(**header["meta"])
        return CurveResult.from_arrays(spec, meta, header, arrays)
    except (InvalidInput, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{path} is damaged: what it holds does not fit together") from error


def _check_sizes(archive: zipfile.ZipFile) -> None:
    """Refuse arrays that say they are larger than the file, before there is memory for them."""
    for entry in archive.infolist():
        with archive.open(entry) as file:
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            size = file.tell() + math.prod(shape) * dtype.itemsize
        if entry.compress_type != zipfile.ZIP_STORED or size != entry.file_size:
            raise ValueError(f"{entry.filename} is not as long as it says")


def set_aside(path: Path, why: InvalidInput) -> None:
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
