"""The command `export`: the problem in the language of another tool."""

import argparse
import json

import grbp
from grbp.cli.options import PROBLEM, add_given, given, make_problem


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_given(parser, make_problem, *PROBLEM)
    parser.add_argument(
        "--format", required=True, choices=["prism", "toy-text"], help="PRISM, or Gymnasium's P"
    )


def run(options: argparse.Namespace) -> None:
    """Print the problem in that language."""
    problem = make_problem(**given(options, make_problem))
    if options.format == "prism":
        print(grbp.to_prism(problem), end="")
    else:
        print(json.dumps(grbp.to_toy_text(problem)))
