"""The command `figure`: one figure of the paper."""

import argparse
from pathlib import Path

import grbp
from grbp.cli.options import add_folder, parse_verbosity, parse_wholes
from grbp.cli.outputs import add_force, check_outputs, list_pictures
from grbp.cli.progress import progress_bar
from grbp.figures.canvas import check_matplotlib


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    numbers = [str(number) for number in grbp.PAPER_FIGURES]
    parser.add_argument("number", choices=numbers, help=f"one of {', '.join(numbers)}")
    parser.add_argument("--goal", help="the goal (Figure 1), or several: 2,4,10 (Figure 2)")
    add_folder(parser)
    add_force(parser)


def run(options: argparse.Namespace) -> None:
    """Draw the figure and print the names of its files."""
    number, folder = int(options.number), Path(options.out)
    goals = parse_wholes(options.goal) or []
    check_outputs(options, others=list_pictures(folder / f"figure-{number}"), folder=folder)
    check_matplotlib()
    with progress_bar(folder / "data", **parse_verbosity(options)) as progress:
        figure = grbp.paper_figure(number, goals, folder=folder / "data", progress=progress)
    print(*grbp.save_figure(figure, folder, number), sep="\n")
