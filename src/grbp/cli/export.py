"""The command `export`: the problem in the language of another tool."""

import argparse
import json

import grbp
from grbp.cli.options import add_problem, parse_problem


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_problem(parser)
    parser.add_argument(
        "--format", required=True, choices=["prism", "toy-text"], help="PRISM, or Gymnasium's P"
    )


def run(options: argparse.Namespace) -> None:
    """Print the problem in that language."""
    problem = parse_problem(options)
    if options.format == "prism":
        print(grbp.to_prism(problem), end="")
    else:
        print(json.dumps(grbp.to_toy_text(problem)))
