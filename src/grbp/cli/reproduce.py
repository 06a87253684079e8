"""The command `reproduce`: every figure of the paper with the verdicts, or one figure alone."""

import argparse
import sys
import time
from pathlib import Path

import grbp
from grbp.cli.options import add_common, add_given, given, refuse_given
from grbp.cli.outputs import check_outputs, list_pictures
from grbp.cli.progress import progress_bar, write_line
from grbp.figures.canvas import check_matplotlib
from grbp.paper.reproduce import list_files


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--as-printed", action="store_true", help="with the paper's 200 replicas only"
    )
    parser.add_argument(
        "--only",
        metavar="NUMBER",
        choices=[str(number) for number in grbp.PAPER_FIGURES],
        help=f"one figure alone: {', '.join(map(str, grbp.PAPER_FIGURES))}",
    )
    add_given(parser, grbp.paper_figure, goals="the goal of Figure 1, or those of Figure 2: 2,4,10")
    add_common(parser, "out", default="results")
    add_common(parser, "force")


def run(options: argparse.Namespace) -> None:
    """Make everything and print the verdicts, or make one figure and print its files."""
    if options.only is not None:
        refuse_given(options, ["--as-printed"], "it is for all figures, without --only")
        _draw_one(options, int(options.only))
        return
    refuse_given(options, ["--goal"], "it needs --only")
    folder, began = Path(options.out), time.monotonic()
    check_outputs(options, others=list_files(folder), folder=folder)
    with progress_bar(options, folder / "data") as progress:
        found = grbp.reproduce(
            folder,
            printed=options.as_printed,
            progress=progress,
            say=lambda line: None if options.quiet else write_line(line, sys.stdout),
        )
    print("\nWhat the paper claims, and what was measured:")
    print(*grbp.short_lines(found), sep="\n")
    print(f"\nDone in {time.monotonic() - began:.0f} s; open {folder / 'report.html'}.")


def _draw_one(options: argparse.Namespace, number: int) -> None:
    """Draw one figure and print the names of its files."""
    folder = Path(options.out)
    check_outputs(options, others=list_pictures(folder / f"figure-{number}"), folder=folder)
    check_matplotlib()
    with progress_bar(options, folder / "data") as progress:
        figure = grbp.paper_figure(
            number, **given(options, grbp.paper_figure), folder=folder / "data", progress=progress
        )
    print(*grbp.save_figure(figure, folder, number), sep="\n")
