"""The command `example`: a synthetic table of past cases."""

import argparse
from pathlib import Path

import grbp
from grbp._io import CASES, Output
from grbp.cli.options import parse_number, parse_whole
from grbp.cli.outputs import add_force, check_outputs
from grbp.records.examples import KINDS
from grbp.worlds.step_table import steps_text, write_steps


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "kind", choices=KINDS, metavar="KIND",
        help=f"model, or the assumption that it breaks: {', '.join(KINDS[1:])}",
    )  # fmt: skip
    parser.add_argument("--goal", default="4", help="the state G that wins a case (4)")
    parser.add_argument("--p-c", default=".45", help="chance that continuing moves up (.45)")
    parser.add_argument("--p-f", default=".3", help="chance that finishing wins (.3)")
    parser.add_argument("--cases", default="200", help="the number of cases (200)")
    parser.add_argument("--size", help="how strongly the assumption is broken")
    parser.add_argument("--finish", help="how often cases finish in state 1 (.5)")
    parser.add_argument("--seed", default="0", help="a whole number; same seed, same table (0)")
    parser.add_argument("--out", metavar="FILE", default="-", help="the file (standard output)")
    add_force(parser)


def run(options: argparse.Namespace) -> None:
    """Draw a table, and write or print it as CSV."""
    if options.out != "-":
        check_outputs(options, others=[Output(Path(options.out), CASES)])
    table = grbp.example_records(
        options.kind,
        parse_whole(options.goal),
        parse_number(options.p_c),
        parse_number(options.p_f),
        parse_whole(options.cases),
        parse_whole(options.seed),
        size=parse_number(options.size),
        finish=parse_number(options.finish),
    )
    if options.out != "-":
        print(write_steps(Path(options.out), [table]))
        return
    for part in steps_text([table]):
        print(part.decode(), end="")
