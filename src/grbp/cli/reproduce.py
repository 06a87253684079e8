"""The command `reproduce`: every figure of the paper, the tables, the report, the verdicts."""

import argparse
import sys
import time
from pathlib import Path

import grbp
from grbp.cli.options import add_folder, parse_verbosity
from grbp.cli.outputs import add_force, check_outputs
from grbp.cli.progress import progress_bar, write_line
from grbp.paper.reproduce import list_files


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--as-printed", action="store_true", help="with the paper's 200 replicas only"
    )
    add_folder(parser)
    add_force(parser)


def run(options: argparse.Namespace) -> None:
    """Make everything and print the verdicts."""
    folder, began = Path(options.out), time.monotonic()
    check_outputs(options, others=list_files(folder), folder=folder)
    with progress_bar(folder / "data", **parse_verbosity(options)) as progress:
        found = grbp.reproduce(
            folder,
            printed=options.as_printed,
            progress=progress,
            say=lambda line: None if options.quiet else write_line(line, sys.stdout),
        )
    print("\nWhat the paper claims, and what was measured:")
    print(*grbp.short_lines(found), sep="\n")
    print(f"\nDone in {time.monotonic() - began:.0f} s; open {folder / 'report.html'}.")
