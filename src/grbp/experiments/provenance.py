"""Record how a result was made: constants, engines, versions, and a digest of the source."""

import hashlib
import json
import platform
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

from grbp import __version__
from grbp.engine.decisions import Engine
from grbp.learners.base import AnyLearner

_PACKAGE: Final = Path(__file__).parent.parent

_CHANGES_NO_NUMBER: Final = (
    "_palette.py",
    "cli",
    "explorer",
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
        The engine that played its rounds: ``{learner: "walk", "leap" or "draw"}``; in a sweep,
        those of its first problem.
    versions : dict
        The versions of Python, NumPy, Numba and this package.
    revision : str
        The commit of the code where Git knows it, with "-dirty" if it was edited since.
    made : str
        The time, in universal time.

    See Also
    --------
    SweepResult : The result that has it.
    """

    constants: dict[str, dict[str, float]]
    engines: dict[str, Engine]
    versions: dict[str, str]
    revision: str
    made: str


def make_meta(learners: Mapping[str, AnyLearner], engines: Mapping[str, Engine]) -> Meta:
    """Describe how a result is made now, by this code."""
    versions = {"python": platform.python_version(), "grbp": __version__}
    for package in ("numpy", "numba"):
        versions[package] = "absent"
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return Meta(constants_of(learners), dict(engines), versions, _revision(), made)


def constants_of(learners: Mapping[str, AnyLearner]) -> dict[str, dict[str, float]]:
    """Return the constants of learners, by their names."""
    return {name: dict(one.constants._asdict()) for name, one in learners.items()}


def digest_of(data: object) -> str:
    """Return the SHA-256 of plain data, written in the one canonical way."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


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

    def ask_git(*arguments: str) -> str | None:
        done = subprocess.run(  # noqa: S603 (a fixed command)
            [str(git), "-C", str(_PACKAGE), *arguments], capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else None

    # An installed copy may lie inside somebody else's repository, which does not know it.
    if git is None or ask_git("ls-files", "--error-unmatch", "errors.py") is None:
        return "unknown"
    return ask_git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*") or "unknown"
