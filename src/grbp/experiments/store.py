"""Results in files: one each, named after what was asked, written whole or not at all.

A file is a NumPy archive without pickles. Its entry `header` is JSON: the specification, the
constants of the learners, and how, when and with what it was made.
"""

import csv
import hashlib
import io
import json
import platform
import shutil
import struct
import subprocess
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from grbp._io import write_whole
from grbp.engine.decisions import Engine, choose_engine
from grbp.errors import CannotWrite, InvalidInput
from grbp.experiments.regret import Curve
from grbp.experiments.simulation import Simulation, checkpoints_up_to
from grbp.experiments.spec import AnySpec, GridSpec, Spec, from_json
from grbp.learners.registry import AnyLearner, Learner, find_learner
from grbp.model.problem import Problem
from grbp.numerics.arrays import Floats

FOLDER: Final = Path("results") / "data"
"""Where results are kept unless told otherwise."""

_FORMAT: Final = "grbp result"
_FORMAT_VERSION: Final = 2
_Arrays: TypeAlias = dict[str, NDArray[Any]]

_UNREADABLE: Final = (
    zipfile.BadZipFile, zlib.error, ValueError, LookupError, TypeError, AttributeError, EOFError,
    OSError, RuntimeError, SyntaxError, struct.error, OverflowError,
)  # fmt: skip
"""What reading arbitrary bytes as an archive may raise."""


@dataclass(frozen=True)
class Meta:
    """How a result was made.

    constants   of every learner: {learner: {constant: value}}
    engines     that played its rounds: {learner: "walk" or "leap"}
    versions    of Python, NumPy, Numba and this package
    revision    of the code, where it is known to Git; "-dirty" if it was edited since
    made        when, in universal time
    """

    constants: dict[str, dict[str, float]]
    engines: dict[str, Engine]
    versions: dict[str, str]
    revision: str
    made: str


@dataclass(frozen=True)
class CurveResult:
    """Regret curves, with what was asked and how they were made."""

    spec: Spec
    simulation: Simulation
    meta: Meta


@dataclass(frozen=True)
class GridResult:
    """A map of regret at the last round, [p_f, p_c], with what was asked and how it was made.

    The cells are independent of each other.

    Paper: fig:3D
    """

    spec: GridSpec
    mean: Floats
    se: Floats
    meta: Meta


Result: TypeAlias = CurveResult | GridResult
"""What an experiment came to."""


def address(spec: AnySpec) -> str:
    """The name of the file of a result: it changes with anything that was asked.

    The name, and a digest of the specification, the learners' constants, the format of the
    file and the source of everything that the numbers come from.
    """
    asked = {
        "format": _FORMAT_VERSION,
        "code": _code(),
        "spec": spec.as_json(),
        "constants": constants(spec),
    }
    canonical = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return f"{spec.name}-{hashlib.sha256(canonical.encode()).hexdigest()[:16]}.npz"


def constants(spec: AnySpec) -> dict[str, dict[str, float]]:
    """The constants of every learner of a specification."""
    # A learner over all policies has none.
    return {
        name: dict(learner.constants._asdict()) if isinstance(learner, Learner) else {}
        for name, learner in _learners(spec).items()
    }


def engines(spec: AnySpec) -> dict[str, Engine]:
    """The engine that plays the rounds of every learner of a specification."""
    problem = _example(spec)
    return {
        name: choose_engine(problem, learner, spec.rounds, spec.engine)
        for name, learner in _learners(spec).items()
    }


def _example(spec: AnySpec) -> Problem:
    """The problem of a specification, or one like those of its map."""
    return spec.problem if isinstance(spec, Spec) else Problem(spec.goal, 0.5, 0.5)


def _learners(spec: AnySpec) -> dict[str, AnyLearner]:
    problem = _example(spec)
    return {name: find_learner(name, problem) for name in spec.learners}


def meta_now(spec: AnySpec) -> Meta:
    """How a result is made that is made now, by this code."""
    versions = {"python": platform.python_version()}
    versions["grbp"] = import_module("grbp").__version__
    for package in ("numpy", "numba"):
        versions[package] = "absent"
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return Meta(constants(spec), engines(spec), versions, _revision(), made)


def save(folder: Path, result: Result) -> Path:
    """The file that a result was written to, whole; one of the same address is replaced."""
    path = Path(folder) / address(result.spec)
    header: dict[str, Any] = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "spec": result.spec.as_json(),
        "meta": asdict(result.meta),
    }
    arrays: _Arrays
    if isinstance(result, GridResult):
        arrays = {"mean": result.mean, "se": result.se}
    else:
        curves = result.simulation.curves
        header["threshold_share"] = {
            name: list(curve.threshold_share.items()) for name, curve in curves.items()
        }
        arrays = {"rounds": result.simulation.checkpoints}
        for field in ("mean", "covariance", "final"):
            arrays[field] = np.stack([getattr(curve, field) for curve in curves.values()])
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)
    write_whole(path, file.getvalue())
    return path


def load(path: Path) -> Result:
    """The result kept in a file, the same to the last bit, or a refusal that says what is wrong."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({_reason(error)}); name a file of results"
        ) from error
    return _parsed(data, path)


@overload
def find(folder: Path, spec: Spec) -> CurveResult | None: ...
@overload
def find(folder: Path, spec: GridSpec) -> GridResult | None: ...
def find(folder: Path, spec: AnySpec) -> Result | None:
    """The result of a specification, if the folder holds it.

    A file in its place that is damaged, or is something else, is set aside under another name,
    with a warning.
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
        aside = _set_aside(path)
        warnings.warn(
            f"{error}; it was set aside as {aside.name} and will be made anew",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return result


def to_csv(result: Result, path: Path) -> Path:
    """The table that a result was written to.

    Of curves: learner, round, mean, se, low, high, the last two the ends of the band that
    holds the whole mean curve at 95 %. Of a map: p_c, p_f, mean, se.
    """
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    if isinstance(result, GridResult):
        table.writerow(("p_c", "p_f", "mean", "se"))
        for i, p_f in enumerate(result.spec.p_f):
            for j, p_c in enumerate(result.spec.p_c):
                table.writerow((p_c, p_f, float(result.mean[i, j]), float(result.se[i, j])))
    else:
        table.writerow(("learner", "round", "mean", "se", "low", "high"))
        rounds = result.simulation.checkpoints.tolist()
        for name, curve in result.simulation.curves.items():
            columns = [column.tolist() for column in (curve.mean, curve.se, *curve.band())]
            for row in zip(rounds, *columns, strict=True):
                table.writerow((name, *row))
    path = Path(path)
    return write_whole(path, file.getvalue().encode())


def make_folder(folder: Path) -> None:
    """Make a folder, so that what cannot be kept is not computed."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"the folder {folder} cannot be made ({_reason(error)});"
            " name one that can be written to"
        ) from error


def _parsed(data: bytes, path: Path) -> Result:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
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
            return _result(header, arrays)
    except (InvalidInput, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InvalidInput(f"{path} is damaged: what it holds does not fit together")


def _result(header: Mapping[str, Any], arrays: _Arrays) -> Result:
    """The result that a header and arrays describe; an error of any kind if they do not."""
    spec, meta = from_json(header["spec"]), Meta(**header["meta"])
    if isinstance(spec, GridSpec):
        shape = (len(spec.p_f), len(spec.p_c))
        mean, se = (_array(arrays, name, shape) for name in ("mean", "se"))
        return GridResult(spec, mean, se, meta)
    rounds = arrays["rounds"].astype(np.int64, casting="safe")
    if not np.array_equal(rounds, checkpoints_up_to(spec.rounds, spec.checkpoints)):
        raise InvalidInput("the rounds looked at are not those of the specification")
    size = (len(spec.learners), len(rounds))
    mean = _array(arrays, "mean", size)
    covariance = _array(arrays, "covariance", (*size, len(rounds)))
    final = _array(arrays, "final", (len(spec.learners), spec.replicas))
    shares = header["threshold_share"]
    curves = {
        name: Curve(mean[k], covariance[k], final[k], {int(t): float(x) for t, x in shares[name]})
        for k, name in enumerate(spec.learners)
    }
    simulation = Simulation(
        spec.problem, rounds, spec.replicas, spec.seed, "pseudo", curves, meta.engines
    )
    return CurveResult(spec, simulation, meta)


def _array(arrays: _Arrays, name: str, shape: tuple[int, ...]) -> Floats:
    array = arrays[name]
    if array.shape != shape or array.dtype != np.float64:
        raise InvalidInput(f"{name} has not the shape of the specification")
    return array


def _set_aside(path: Path) -> Path:
    """The new name of a file that is in the way; nothing is overwritten."""
    aside, count = path.with_name(f"{path.name}.bad"), 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{path.name}.bad{count}")
    try:
        return path.rename(aside)
    except OSError as error:
        raise CannotWrite(
            f"{path} is damaged and cannot be renamed ({_reason(error)}); move it away"
        ) from error


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


_CHANGES_NO_NUMBER: Final = ("cli", "figures")


@cache
def _code() -> str:
    """A digest of the source that makes results: after an edit, old ones are not found."""
    package = Path(__file__).parent.parent
    files = [path.relative_to(package) for path in package.rglob("*.py")]
    files = sorted(file for file in files if file.parts[0] not in _CHANGES_NO_NUMBER)
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.as_posix().encode() + b"\0" + (package / file).read_bytes())
    return digest.hexdigest()


@cache
def _revision() -> str:
    """The commit of this code, or "unknown" where it is not kept by Git."""
    git, here = shutil.which("git"), Path(__file__).parent.parent

    def said(*arguments: str) -> str | None:
        done = subprocess.run(  # noqa: S603 (a fixed command)
            [str(git), "-C", str(here), *arguments], capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else None

    # An installed copy may lie inside somebody else's repository, which does not know it.
    if git is None or said("ls-files", "--error-unmatch", "errors.py") is None:
        return "unknown"
    return said("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*") or "unknown"
