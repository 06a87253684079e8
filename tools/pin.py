"""Writes constraints.txt: the versions of everything installed here, tested together."""

from importlib.metadata import distributions
from pathlib import Path

HEAD = """\
# The versions this project is tested with; `make pin` writes this file.
# A constraint installs nothing by itself. The build backend's own are kept by hand, above.
"""
BUILD = ["hatchling", "editables", "tomlkit", "trove-classifiers"]
FILE = Path("constraints.txt")

kept = [line for line in FILE.read_text("utf-8").split("\n") if line.split("==")[0] in BUILD]
found = {d.name: d.version for d in distributions() if d.name not in ("grbp", "pip", "setuptools")}
pins = [f"{name}=={version}" for name, version in sorted(found.items(), key=lambda x: x[0].lower())]
FILE.write_text(HEAD + "\n".join(kept + pins) + "\n", "utf-8")
