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
from grbp.cli.options import (
    TABLE_WORDS,
    Option,
    add_all,
    add_given,
    given,
    parse_number,
    parse_numbers,
    parse_table_words,
    refuse_given,
)
from grbp.cli.outputs import add_outputs, check_outputs, name_file, write_report
from grbp.cli.printing import answer
from grbp.worlds.plain import write_truth

_HEAD: Final = "# What records show by state, as grbp fit wrote it.\n"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "records", metavar="CASES.csv", help="one row per step; - is standard input"
    )
    add_given(parser, grbp.fit, "goal")
    add_all(parser, TABLE_WORDS)
    beta = "Beta prior of the chance of {}"
    add_given(
        parser,
        grbp.fit,
        "level",
        group=Option("answer also for each group; repeatable", metavar="COLUMN", more=True),
        adaptive="a learner chose the actions: anytime intervals and alarms",
        skip_bad_rows="leave out what breaks a rule, and count it",
        prior_c=Option(beta.format("moving up"), parse_numbers, "A,B"),
        prior_f=Option(beta.format("winning"), parse_numbers, "A,B"),
    )
    chain = Option("write the chain that the records show, by state", metavar="FILE.toml")
    chain.add_to(parser, "chain")
    unknown = "its chance of finishing where nobody did: a number, or pooled"
    Option(unknown, parse_number, "P").add_to(parser, "unknown_p_f")
    add_outputs(parser, page=True)


def run(options: argparse.Namespace) -> None:
    """Fit the records and say what they say."""
    check_outputs(options, [options.records], others=_list_chain(options))
    result = grbp.fit(**given(options, grbp.fit) | parse_table_words(options))
    facts = {"Command": options.command, "Records": options.records}
    # The page first: whoever reads the text may stop reading. The answer is printed in any case.
    try:
        if options.chain is not None:
            text = write_truth(result.to_chain(options.unknown_p_f))
            path = write_whole(Path(options.chain), f"{_HEAD}{text}".encode())
            logging.getLogger("grbp").info("wrote %s", path)
        write_report(options, lambda: result.report(facts | {"Made": _now()}))
    finally:
        answer(options, result.to_dict, lambda: print(result.summary()))


def _list_chain(options: argparse.Namespace) -> list[Output]:
    """Return the file of the chain, if one is asked for."""
    if options.chain is None:
        refuse_given(options, ["--unknown-p-f"], "it needs --chain FILE.toml")
        return []
    kind = Kind(re.compile(re.escape(_HEAD.encode())), "it is not a chain that grbp fit wrote")
    return [Output(name_file("--chain", options.chain), kind)]


def _now() -> str:
    """Return the time in UTC, or that of SOURCE_DATE_EPOCH, by which a page can be made again."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)
    return f"{moment:%Y-%m-%d %H:%M} UTC"
