"""Write constraints.txt: the versions of everything installed here, tested together.

Nothing is written if one of them does not run on every Python that pyproject.toml promises.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
FILE = ROOT / "constraints.txt"
HEAD = """\
# The versions this project is tested with; `make pin` writes this file.
# A constraint installs nothing by itself. The build backend's own are kept by hand, above.
"""
BUILD = ["hatchling", "editables", "tomlkit", "trove-classifiers"]
NOT_PINNED = ["grbp", "pip", "setuptools"]
MICRO = range(31)


def promised() -> list[str]:
    """Return every Python that pyproject.toml promises, with as many micro versions as may come."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    minors = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    versions = (f"{minor}.{micro}" for minor in minors for micro in MICRO)
    return list(SpecifierSet(project["requires-python"]).filter(versions))


def misfits(found: Iterable[Distribution]) -> list[str]:
    """Say of each distribution that does not run on a Python that is promised which one that is."""
    said = []
    for one in found:
        needs = one.metadata.get("Requires-Python", "")
        admitted = set(SpecifierSet(needs).filter(promised()))
        refused = [python for python in promised() if python not in admitted]
        if refused:
            said.append(f"{one.name} {one.version} needs Python {needs}, which is not {refused[0]}")
    return said


def text(found: Iterable[Distribution], before: str) -> str:
    """Return the new content of the file; what is kept by hand is taken from the one before."""
    kept = [line for line in before.split("\n") if line.split("==")[0] in BUILD]
    versions = {one.name: one.version for one in found}
    pins = [f"{name}=={versions[name]}" for name in sorted(versions, key=str.lower)]
    return HEAD + "\n".join(kept + pins) + "\n"


def main(words: list[str] | None = None) -> None:
    """Write the file, or say what is in the way."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args(words)
    found = [one for one in distributions() if one.name not in NOT_PINNED]
    wrong = misfits(found)
    if wrong:
        sys.exit(
            f"pin: {FILE.name} stays as it is, as {', and '.join(wrong)}; install a version that"
            " runs on all of them"
        )
    FILE.write_text(text(found, FILE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
