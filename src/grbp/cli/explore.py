"""The command `explore`: a page with sliders to teach with, as one file."""

import argparse
from pathlib import Path

from grbp._io import write_whole
from grbp.cli.outputs import check_file
from grbp.explorer.page import single_file


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--out", metavar="FILE", default="explorer.html", help="the file to write (explorer.html)"
    )


def run(options: argparse.Namespace) -> None:
    """Write the page, and print where it is."""
    check_file("--out", options.out)
    print(write_whole(Path(options.out), single_file().encode()))
