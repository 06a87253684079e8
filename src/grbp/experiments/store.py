"""Keep results in files: one each, named after what was asked, written whole or not at all.

A file is a NumPy archive without pickles. Its entry `header` is JSON: the specification, the
constants of the learners, and how, when and with what it was made.
"""

import hashlib
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

from grbp._io import reason, write_table, write_whole
from grbp.errors import CannotWrite, InvalidInput
from grbp.experiments.provenance import Meta, constants, source_digest
from grbp.experiments.results import Result, result_type
from grbp.experiments.spec import AnySpec, from_json

FOLDER: Final = Path("results") / "data"
"""The folder in which results are kept unless another is named."""

_FORMAT: Final = "grbp result"
_FORMAT_VERSION: Final = 3

_UNREADABLE: Final = (
    zipfile.BadZipFile, zlib.error, ValueError, LookupError, TypeError, AttributeError, EOFError,
    OSError, RuntimeError, SyntaxError, struct.error, OverflowError, MemoryError,
)  # fmt: skip
"""The errors that reading arbitrary bytes as an archive may raise."""


def address(spec: AnySpec) -> str:
    """Name the file of a result; the name changes with anything that was asked.

    It has the name of the specification, and a digest of the specification, the learners'
    constants, the format of the file and the source of everything that the numbers come from.

    Parameters
    ----------
    spec : Spec or GridSpec
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
    asked = {
        "format": _FORMAT_VERSION,
        "code": source_digest(),
        "spec": spec.as_json(),
        "constants": constants(spec),
    }
    canonical = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return f"{spec.name}-{hashlib.sha256(canonical.encode()).hexdigest()[:16]}.npz"


def save(folder: Path, result: Result) -> Path:
    """Write a result to its file in a folder, and return the path.

    Parameters
    ----------
    folder : Path
        The folder, which is made if it is not there.
    result : CurveResult or GridResult
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
    return write_whole(Path(folder) / address(result.spec), file.getvalue())


def load(path: Path) -> Result:
    """Read the result kept in a file, the same to the last bit.

    Parameters
    ----------
    path : Path
        A file that `save` or `run` wrote.

    Returns
    -------
    CurveResult or GridResult

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
    return _parsed(data, path)


def find(folder: Path, spec: AnySpec) -> Result | None:
    """Find the result of a specification, if the folder holds it.

    A file in its place that is damaged, or is something else, is set aside under another name,
    with a warning.

    Parameters
    ----------
    folder : Path
        The folder of the results.
    spec : Spec or GridSpec
        The specification.

    Returns
    -------
    CurveResult or GridResult or None

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
        aside = set_aside(path)
        warnings.warn(
            f"{error}; it was set aside as {aside.name} and will be made anew",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    # A file keeps a user's learner by its name alone; who asks has the learner itself.
    return replace(result, spec=spec)  # type: ignore[arg-type]


def to_csv(result: Result, path: Path) -> Path:
    """Write the table of a result as CSV, and return the path.

    A row says what was run (goal, p_c, p_f, start, learner, rounds, replicas, seed, engine,
    whether by splitting, and the kind of regret) and the mean regret after a round, with its
    standard error and the ends of a 95 % interval; for a curve these are the band that
    `Curve.band` computes, which holds all of it at once. A cell of a map has one row, with a seed
    of its own.

    Parameters
    ----------
    result : CurveResult or GridResult
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


def _parsed(data: bytes, path: Path) -> Result:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_sizes(archive)
            broken = archive.testzip()
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        header = json.loads(str(arrays.pop("header")))
        foreign = header["format"] != _FORMAT
    except _UNREADABLE:
        broken, foreign, header, arrays = "", True, {}, {}
    if foreign:
        raise InvalidInput(f"{path} is damaged, or is not a result of this package")
    version = header.get("format_version")
    if version != _FORMAT_VERSION:
        raise InvalidInput(
            f"{path} is written in format {version}; this version reads format {_FORMAT_VERSION}"
        )
    try:
        if broken is None:
            spec = from_json(header["spec"])
            meta = Meta(**header["meta"])
            return result_type(spec).from_arrays(spec, meta, header, arrays)  # type: ignore[no-any-return]
    except (InvalidInput, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InvalidInput(f"{path} is damaged: what it holds does not fit together")


def _check_sizes(archive: zipfile.ZipFile) -> None:
    """Refuse arrays that say they are larger than the file, before there is memory for them."""
    for entry in archive.infolist():
        with archive.open(entry) as file:
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            size = file.tell() + math.prod(shape) * dtype.itemsize
        if entry.compress_type != zipfile.ZIP_STORED or size != entry.file_size:
            raise ValueError(f"{entry.filename} is not as long as it says")


def set_aside(path: Path) -> Path:
    """Rename a file that is in the way, overwriting nothing, and return its new name."""
    aside, count = path.with_name(f"{path.name}.bad"), 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{path.name}.bad{count}")
    try:
        return path.rename(aside)
    except OSError as error:
        raise CannotWrite(
            f"{path} is damaged and cannot be renamed ({reason(error)}); move it away"
        ) from error
