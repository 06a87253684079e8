"""Write constraints.txt: the versions of everything installed here, tested together.

A line whose marker is for other Pythons stays as it is. Nothing is written if a version does not
run on every Python that pyproject.toml promises and its marker admits.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
FILE = ROOT / "constraints.txt"
HEAD = """\
# The versions this project is tested with; `make pin` writes this file.
# A constraint installs nothing by itself. The build backend's own are kept by hand, above.
# After each stand the Pythons for which it has a wheel on Linux with an x86-64 processor.
"""
BUILD = ["hatchling", "editables", "tomlkit", "trove-classifiers"]
NOT_PINNED = ["grbp", "pip", "setuptools"]
MICRO = range(31)
HERE = ".".join(map(str, sys.version_info[:3]))
LINE = re.compile(r"([\w.-]+)==([\w.+!]+)(?:; ([^#]+\S))?(?:  # (.+))?")


class Pin(NamedTuple):
    """One line: the wheels are "any", or the Pythons that have one; a marker says for which."""

    name: str
    version: str
    marker: str = ""
    wheels: str = "any"

    def admits(self, python: str) -> bool:
        """Return whether the line is for a Python, such as 3.11 or 3.11.0."""
        asked = {"python_version": ".".join(python.split(".")[:2]), "python_full_version": python}
        return not self.marker or Marker(self.marker).evaluate(asked)

    def __str__(self) -> str:
        where = f"; {self.marker}" if self.marker else ""
        return f"{self.name}=={self.version}{where}  # {self.wheels}"


def read(text: str) -> list[Pin]:
    """Return the pins of a file."""
    lines = (LINE.fullmatch(line) for line in text.splitlines())
    return [Pin(*(part or "" for part in line.groups())) for line in lines if line]


def minors() -> list[str]:
    """Return every Python that pyproject.toml promises, such as 3.11."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def promised() -> list[str]:
    """Return them with as many micro versions as may come."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = (f"{minor}.{micro}" for minor in minors() for micro in MICRO)
    return list(SpecifierSet(project["requires-python"]).filter(versions))


def misfits(found: Iterable[tuple[Pin, Distribution]]) -> list[str]:
    """Say of each distribution that does not run on a Python that is promised which one that is."""
    said = []
    for pin, one in found:
        needs = one.metadata.get("Requires-Python", "")
        admitted = set(SpecifierSet(needs).filter(promised()))
        refused = [python for python in promised() if pin.admits(python) and python not in admitted]
        if refused:
            said.append(f"{one.name} {one.version} needs Python {needs}, which is not {refused[0]}")
    return said


def serves_all(one: Distribution) -> bool:
    """Return whether what is installed came as a wheel for every Python that is promised."""
    tags = re.findall(r"^Tag: (\w+)-(\w+)-", one.read_text("WHEEL") or "", re.M)
    first = int(minors()[0].removeprefix("3."))
    return any(
        kind.startswith("py3") or (abi == "abi3" and int(kind.removeprefix("cp3")) <= first)
        for kind, abi in tags
    )


def versions(name: str, python: str) -> set[str]:
    """Ask pip which versions have a wheel for a Python, by asking for one that nobody has."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--python-version", python, "--dest", "/nowhere", f"{name}==0+none"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    listed = re.search(r"\(from versions: (.*)\)", done.stderr)
    if listed is None:
        sys.exit(f"pin: pip does not say which wheels there are of {name}; is there a network?")
    return set(listed[1].split(", "))


def with_wheels(pins: Sequence[Pin]) -> list[Pin]:
    """Return pins with the Pythons that have a wheel of each, as pip says."""
    asked = [(name, python) for name in sorted({pin.name for pin in pins}) for python in minors()]
    with ThreadPoolExecutor(4) as threads:
        answers = threads.map(lambda pair: versions(*pair), asked)
        there = dict(zip(asked, answers, strict=True))
    return [
        pin._replace(
            wheels=" ".join(it for it in minors() if pin.version in there[pin.name, it]) or "none"
        )
        for pin in pins
    ]


def renewed(before: Sequence[Pin], found: Iterable[Distribution]) -> list[tuple[Pin, Distribution]]:
    """Return the pin of everything installed, with the marker that it had for this Python."""
    markers = {pin.name: pin.marker for pin in before if pin.admits(HERE)}
    return [(Pin(one.name, one.version, markers.get(one.name, "")), one) for one in found]


def text(pins: Iterable[Pin]) -> str:
    """Return the content of the file: the build backend's own first."""
    pins = sorted(pins, key=lambda pin: (pin.name not in BUILD, pin.name.lower(), pin.marker))
    return HEAD + "".join(f"{pin}\n" for pin in pins)


def main(words: list[str] | None = None) -> None:
    """Write the file, or say what is in the way."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args(words)
    before = read(FILE.read_text("utf-8"))
    new = renewed(before, (one for one in distributions() if one.name not in NOT_PINNED))
    wrong = misfits(new)
    if wrong:
        sys.exit(
            f"pin: {FILE.name} stays as it is, as {', and '.join(wrong)}; install a version that"
            " runs on all of them"
        )
    by_hand = [pin for pin in before if pin.name in BUILD]
    others = [pin for pin in before if not pin.admits(HERE)]
    plain = [pin for pin, one in new if serves_all(one)]
    asked = with_wheels([*others, *(pin for pin, _ in new if pin not in plain)])
    FILE.write_text(text([*by_hand, *plain, *asked]), "utf-8")


if __name__ == "__main__":
    main()
