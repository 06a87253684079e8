"""Print the requirements of one extra of the project, one a line."""

import argparse
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def main() -> None:
    """Print what was asked for."""
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extra", choices=extras)
    print(*extras[parser.parse_args().extra], sep="\n")


if __name__ == "__main__":
    main()
