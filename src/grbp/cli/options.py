"""The options that several commands share, and how their texts are read."""

import argparse
import os
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import grbp
from grbp.errors import InvalidInput

TABLE_WORDS: Final[dict[str, dict[str, Any]]] = {
    "--columns": {
        "metavar": "NAME=COLUMN,...",
        "action": "append",
        "help": "the table's own names: case=id,next_state=after",
    },
    "--map-state": {
        "metavar": "WORD=STATE,...",
        "action": "append",
        "help": "what states are called: mild=3,severe=1",
    },
    "--map-action": {
        "metavar": "WORD=ACTION,...",
        "action": "append",
        "help": "what else is an action: punt=continue",
    },
}
"""The options that say in which words a table of past cases is written."""


STORE: Final = "grbp-live.sqlite"
"""The file in the present folder that keeps studies, unless something else is said."""

_VARIABLE: Final = "GRBP_STORE"


def add_problem(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what the problem is."""
    parser.add_argument("--goal", required=True, help="the state G that wins a round")
    parser.add_argument("--p-c", required=True, help="chance that continuing moves up")
    parser.add_argument("--p-f", required=True, help="chance that finishing wins")
    parser.add_argument(
        "--start", default="uniform", help="first state: uniform, 2, or 1=.9,2=.1 (uniform)"
    )


def add_verbosity(parser: argparse.ArgumentParser, default: object) -> None:
    """Add the options for how much is said beside the answer."""
    either = parser.add_mutually_exclusive_group()
    for name, line in (("quiet", "no notes and no progress"), ("verbose", "more notes, and times")):
        either.add_argument(
            f"-{name[0]}", f"--{name}", action="store_true", default=default, help=line
        )


def parse_verbosity(options: argparse.Namespace) -> dict[str, bool]:
    """Return whether to say nothing, or more, beside the answer."""
    return {"quiet": options.quiet, "verbose": options.verbose}


def find_subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands within a command, or within `grbp` itself, with their parsers."""
    inside = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {name: one for action in inside for name, one in action.choices.items()}


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option for programs."""
    parser.add_argument("--json", action="store_true", help="one JSON object and nothing else")


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the option for where studies are kept."""
    where = f"SQLite file or PostgreSQL address (${_VARIABLE}, or {STORE})"
    parser.add_argument("--store", metavar="FILE", help=where)


def store_of(options: argparse.Namespace) -> str:
    """Return where studies are kept."""
    named: str | None = options.store
    store = (os.environ.get(_VARIABLE) or STORE) if named is None else named
    if store in ("", "memory"):
        raise InvalidInput(f"the store {store!r} was given; it must be a file or a database")
    return store


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option for where to write."""
    parser.add_argument(
        "--out", metavar="FOLDER", default="results", help="the folder to write to (results)"
    )


def add_threads(parser: argparse._ActionsContainer) -> None:
    """Add the option for how many threads to use."""
    parser.add_argument("--threads", help="threads to use (as many as cores)")


def add_workers(parser: argparse._ActionsContainer) -> None:
    """Add the options for who plays: threads, processes, or a cluster."""
    add_threads(parser)
    parser.add_argument("--processes", metavar="N", help="processes to use (threads)")
    parser.add_argument("--dask", metavar="ADDRESS", help="the scheduler of a Dask cluster")


def parse_problem(options: argparse.Namespace) -> grbp.Problem:
    """Return the problem that the options describe."""
    probabilities = parse_number(options.p_c), parse_number(options.p_f)
    return grbp.Problem(parse_whole(options.goal), *probabilities, parse_start(options.start))


def parse_whole(text: str | None) -> Any:
    """Read a whole number, also one like 1e9; return other text as it is, for the model to refuse.

    More than 40 digits are nobody's number, and would take long.
    """
    digits = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?"
    if text is not None and re.fullmatch(digits, text, re.ASCII | re.IGNORECASE):
        value = Decimal(text)
        if abs(value) < 10**40 and value == int(value):
            return int(value)
    return text


def parse_wholes(text: str | None) -> Any:
    """Read whole numbers with commas between them, if they are given."""
    return None if text is None else [parse_whole(part) for part in text.split(",")]


def parse_words(text: str) -> list[str]:
    """Read words with commas between them."""
    return [word.strip() for word in text.split(",")]


def parse_number(text: str | None) -> Any:
    """Read a number, if one is given; return other text as it is, for the model to refuse."""
    if text is None:
        return None
    try:
        # Python also reads 1_0 and digits of other scripts, which nobody means here.
        return float(text) + 0.0 if text.isascii() and "_" not in text else text
    except ValueError:
        return text


def parse_pairs(option: str, given: Sequence[str], example: str) -> dict[str, str]:
    """Read pairs such as case=id,step=visit."""
    read: dict[str, str] = {}
    for part in (part for text in given for part in text.split(",")):
        name, sign, meaning = part.partition("=")
        if not sign or not name.strip() or not meaning.strip():
            raise InvalidInput(f"--{option} {part!r} was given; it must be pairs such as {example}")
        if name.strip() in read:
            raise InvalidInput(f"--{option} has {name.strip()!r} twice; it must be there once")
        read[name.strip()] = meaning.strip()
    return read


def parse_table_words(options: argparse.Namespace) -> dict[str, Any]:
    """Read in which words a table of past cases is written, as `fit` takes them."""
    states = parse_pairs("map-state", options.map_state or [], "word=meaning")
    return {
        "columns": parse_pairs("columns", options.columns or [], "case=id,step=visit"),
        "map_state": {word: parse_whole(state) for word, state in states.items()},
        "map_action": parse_pairs("map-action", options.map_action or [], "word=meaning"),
    }


def parse_start(text: str) -> Any:
    """Read a start distribution: uniform, 2, or 1=.9,2=.1."""
    if "=" not in text:
        return parse_whole(text)
    pairs = [part.split("=", 1) for part in text.split(",")]
    if any(len(pair) < 2 for pair in pairs):
        raise InvalidInput(
            f"start = {text!r} was given; it must be 'uniform', one state, or state=probability"
            " pairs such as 1=.9,2=.1"
        )
    return tuple((parse_whole(state), parse_number(q)) for state, q in pairs)
