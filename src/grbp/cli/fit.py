"""The command `fit`: what records of past cases say."""

import argparse
import logging
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import grbp
from grbp._io import Kind, Output, write_whole
from grbp.cli.options import TABLE_WORDS, add_json, parse_number, parse_table_words, parse_whole
from grbp.cli.outputs import add_report, check_outputs, name_file, write_report
from grbp.cli.printing import print_json
from grbp.errors import InvalidInput
from grbp.worlds.plain import write_truth

_HEAD: Final = "# What records show by state, as grbp fit wrote it.\n"


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
    parser.add_argument(
        "--chain", metavar="FILE.toml", help="write the chain that the records show, by state"
    )
    parser.add_argument(
        "--unknown-p-f",
        metavar="P",
        help="its chance of finishing where nobody did: a number, or pooled",
    )
    add_json(parser)
    add_report(parser)


def run(options: argparse.Namespace) -> None:
    """Fit the records and say what they say."""
    check_outputs(options, [options.records], others=_list_chain(options))
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
        if options.chain is not None:
            text = write_truth(result.to_chain(parse_number(options.unknown_p_f)))
            path = write_whole(Path(options.chain), f"{_HEAD}{text}".encode())
            logging.getLogger("grbp").info("wrote %s", path)
        write_report(options, lambda: result.report(facts))
    finally:
        if options.json:
            print_json(result.to_dict())
        else:
            print(result.summary())


def _list_chain(options: argparse.Namespace) -> list[Output]:
    """Return the file of the chain, if one is asked for."""
    if options.chain is None:
        if options.unknown_p_f is not None:
            raise InvalidInput("--unknown-p-f was given; it must come with --chain FILE.toml")
        return []
    kind = Kind(re.compile(re.escape(_HEAD.encode())), "it is not a chain that grbp fit wrote")
    return [Output(name_file("--chain", options.chain), kind)]


def _now() -> str:
    """Return the time in UTC, or that of SOURCE_DATE_EPOCH, by which a page can be made again."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)
    return f"{moment:%Y-%m-%d %H:%M} UTC"
