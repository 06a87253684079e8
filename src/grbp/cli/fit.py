"""The command `fit`: what records of past cases say."""

import argparse
import os
from datetime import UTC, datetime

import grbp
from grbp.cli.options import TABLE_WORDS, add_json, parse_number, parse_table_words, parse_whole
from grbp.cli.outputs import add_report, check_outputs, write_report
from grbp.cli.printing import print_json


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "records", metavar="CASES.csv", help="one row per step; - is standard input"
    )
    parser.add_argument("--goal", required=True, help="the state G that wins a case")
    for option, settings in TABLE_WORDS.items():
        parser.add_argument(option, **settings)
    parser.add_argument(
        "--group", metavar="COLUMN", action="append", help="answer also for each group; repeatable"
    )
    parser.add_argument(
        "--adaptive",
        action="store_true",
        help="a learner chose the actions: anytime intervals and alarms",
    )
    parser.add_argument(
        "--skip-bad-rows", action="store_true", help="leave out what breaks a rule, and count it"
    )
    parser.add_argument("--level", default="0.95", help="the level of the intervals (0.95)")
    for option, chance in (("--prior-c", "of moving up"), ("--prior-f", "of winning")):
        parser.add_argument(
            option,
            metavar="A,B",
            default=".5,.5",
            help=f"Beta prior of the chance {chance} (.5,.5)",
        )
    add_json(parser)
    add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Fit the records and say what they say."""
    check_outputs(options, [options.records])
    result = grbp.fit(
        options.records,
        parse_whole(options.goal),
        **parse_table_words(options),
        group=options.group or (),
        adaptive=options.adaptive,
        skip_bad_rows=options.skip_bad_rows,
        level=parse_number(options.level),
        prior_c=tuple(map(parse_number, options.prior_c.split(","))),
        prior_f=tuple(map(parse_number, options.prior_f.split(","))),
    )
    facts = {"Command": options.command, "Records": options.records, "Made": _now()}
    # The page first: whoever reads the text may stop reading. The answer is printed in any case.
    try:
        write_report(options, lambda: result.report(facts))
    finally:
        if options.json:
            print_json(result.to_dict())
        else:
            print(result.summary())


def _now() -> str:
    """Return the time in UTC, or that of SOURCE_DATE_EPOCH, by which a page can be made again."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)
    return f"{moment:%Y-%m-%d %H:%M} UTC"
