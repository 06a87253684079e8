"""The command `example`: a synthetic table of past cases."""

import argparse
from pathlib import Path

import grbp
from grbp._io import CASES, Output
from grbp.cli.options import Option, add_common, add_given, given, parse_number, parse_whole
from grbp.cli.outputs import check_outputs
from grbp.records.examples import KINDS
from grbp.worlds.step_table import steps_text, write_steps


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "kind", choices=KINDS, metavar="KIND",
        help=f"model, or the assumption that it breaks: {', '.join(KINDS[1:])}",
    )  # fmt: skip
    add_given(parser, grbp.example_records, "goal", "p_c", "p_f", "seed")
    add_given(
        parser, grbp.example_records, cases=Option("the number of cases", parse_whole, "N"),
        size=Option("how strongly the assumption is broken", parse_number, "X"),
        finish=Option("how often cases finish in state 1 (.5)", parse_number, "SHARE"),
    )  # fmt: skip
    parser.add_argument("--out", metavar="FILE", default="-", help="the file (standard output)")
    add_common(parser, "force")


def run(options: argparse.Namespace) -> None:
    """Draw a table, and write or print it as CSV."""
    if options.out != "-":
        check_outputs(options, others=[Output(Path(options.out), CASES)])
    table = grbp.example_records(**given(options, grbp.example_records))
    if options.out != "-":
        print(write_steps(Path(options.out), [table]))
        return
    for part in steps_text([table]):
        print(part.decode(), end="")
