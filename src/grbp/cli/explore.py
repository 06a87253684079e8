"""The command `explore`: a page with sliders to teach with, as one file."""

import argparse

from grbp._io import PAGE, Output, write_whole
from grbp.cli.options import add_common
from grbp.cli.outputs import check_outputs, name_file
from grbp.explorer.page import single_file


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--out", metavar="FILE", default="explorer.html", help="the file to write (explorer.html)"
    )
    add_common(parser, "force")


def run(options: argparse.Namespace) -> None:
    """Write the page, and print where it is."""
    path = name_file("--out", options.out)
    check_outputs(options, others=[Output(path, PAGE)])
    print(write_whole(path, single_file().encode()))
