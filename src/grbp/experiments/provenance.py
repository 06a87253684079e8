"""Record how a result was made: constants, engines, versions, and a digest of the source."""

import hashlib
import platform
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Final

from grbp.engine.decisions import Engine, choose_engine
from grbp.experiments.spec import AnySpec
from grbp.learners.registry import AnyLearner, find_learner

_PACKAGE: Final = Path(__file__).parent.parent

_CHANGES_NO_NUMBER: Final = (
    "cli",
    "figures",
    "fitting",
    "live",
    "paper",
    "planning",
    "records",
    "reports",
    "serve",
)
"""The floors whose source no result depends on."""


@dataclass(frozen=True)
class Meta:
    """How a result was made.

    Attributes
    ----------
    constants : dict
        The constants of every learner: ``{learner: {constant: value}}``.
    engines : dict
        The engine that played its rounds: ``{learner: "walk", "leap" or "draw"}``.
    versions : dict
        The versions of Python, NumPy, Numba and this package.
    revision : str
        The commit of the code where Git knows it, with "-dirty" if it was edited since.
    made : str
        The time, in universal time.

    See Also
    --------
    CurveResult, GridResult : The results that have it.
    """

    constants: dict[str, dict[str, float]]
    engines: dict[str, Engine]
    versions: dict[str, str]
    revision: str
    made: str


def _learners(spec: AnySpec) -> dict[str, AnyLearner]:
    return {str(one): find_learner(one, spec.example) for one in spec.learners}


def constants(spec: AnySpec) -> dict[str, dict[str, float]]:
    """Return the constants of every learner of a specification."""
    return {name: dict(one.constants._asdict()) for name, one in _learners(spec).items()}


def engines(spec: AnySpec) -> dict[str, Engine]:
    """Return the engine that plays the rounds of every learner of a specification."""
    asked = (spec.rounds, spec.engine)
    return {name: choose_engine(spec.example, one, *asked) for name, one in _learners(spec).items()}


def meta_now(spec: AnySpec) -> Meta:
    """Describe how a result is made now, by this code."""
    versions = {"python": platform.python_version(), "grbp": import_module("grbp").__version__}
    for package in ("numpy", "numba"):
        versions[package] = "absent"
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return Meta(constants(spec), engines(spec), versions, _revision(), made)


@cache
def source_digest() -> str:
    """Digest the source that makes results, so that after an edit no old one is found."""
    files = [path.relative_to(_PACKAGE) for path in _PACKAGE.rglob("*.py")]
    digest = hashlib.sha256()
    for file in sorted(file for file in files if file.parts[0] not in _CHANGES_NO_NUMBER):
        digest.update(file.as_posix().encode() + b"\0" + (_PACKAGE / file).read_bytes())
    return digest.hexdigest()


@cache
def _revision() -> str:
    """Return the commit of this code, or "unknown" where Git does not keep it."""
    git = shutil.which("git")

    def said(*arguments: str) -> str | None:
        done = subprocess.run(  # noqa: S603 (a fixed command)
            [str(git), "-C", str(_PACKAGE), *arguments], capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else None

    # An installed copy may lie inside somebody else's repository, which does not know it.
    if git is None or said("ls-files", "--error-unmatch", "errors.py") is None:
        return "unknown"
    return said("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*") or "unknown"
