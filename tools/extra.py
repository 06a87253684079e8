"""Prints the requirements of one extra of the project, one a line."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
sys.stdout.write("\n".join(project["optional-dependencies"][sys.argv[1]]) + "\n")
