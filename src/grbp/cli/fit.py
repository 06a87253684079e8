"""The command `fit`: what records of past cases say."""

import argparse

import grbp
from grbp.cli.options import add_json, number, pairs, whole
from grbp.cli.outputs import add_report, check_report, write_report
from grbp.cli.printing import print_json


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("records", metavar="CASES.csv", help="one row a step (- is standard input)")
    parser.add_argument("--goal", required=True, help="the state G that wins a case")
    parser.add_argument(
        "--columns", metavar="NAME=COLUMN,...", action="append",
        help="the table's own names: case=id,next_state=after",
    )  # fmt: skip
    parser.add_argument(
        "--map-state", metavar="WORD=STATE,...", action="append",
        help="what states are called: mild=3,severe=1",
    )  # fmt: skip
    parser.add_argument(
        "--map-action", metavar="WORD=ACTION,...", action="append",
        help="what else is an action: punt=continue",
    )  # fmt: skip
    parser.add_argument(
        "--group", metavar="COLUMN", action="append", help="answer also for each group; repeatable"
    )
    parser.add_argument(
        "--adaptive", action="store_true", help="a learner chose the actions: anytime intervals"
    )
    parser.add_argument(
        "--skip-bad-rows", action="store_true", help="leave out what breaks a rule, and count it"
    )
    parser.add_argument("--level", default="0.95", help="the level of the intervals (0.95)")
    add_json(parser)
    add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Fit the records and say what they say."""
    check_report(options)
    result = grbp.fit(
        options.records,
        whole(options.goal),
        columns=pairs("columns", options.columns or [], "case=id,step=visit"),
        map_state={
            word: whole(state)
            for word, state in pairs("map-state", options.map_state or [], "word=meaning").items()
        },
        map_action=pairs("map-action", options.map_action or [], "word=meaning"),
        group=options.group or (),
        adaptive=options.adaptive,
        skip_bad_rows=options.skip_bad_rows,
        level=number(options.level),
    )
    # The page first: whoever reads the text may stop reading. The answer is told in any case.
    try:
        write_report(options, lambda: result.report({"Records": options.records}))
    finally:
        if options.json:
            print_json(result.to_dict())
        else:
            print(result.summary())
