"""The options that several commands share, and what their texts mean."""

import argparse
import re
from typing import Any

import grbp
from grbp.errors import InvalidInput


def add_problem(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say what the problem is."""
    parser.add_argument("--goal", required=True, help="the state G that wins a round")
    parser.add_argument("--p-c", required=True, help="chance that continuing moves up")
    parser.add_argument("--p-f", required=True, help="chance that finishing wins")
    parser.add_argument(
        "--start", default="uniform", help="first state: uniform, 2, or 1=.9,2=.1 (uniform)"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Adds the option for programs."""
    parser.add_argument("--json", action="store_true", help="one JSON object and nothing else")


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Adds the option for where to write."""
    parser.add_argument("--out", default="results", help="the folder to write to (results)")


def problem_of(options: argparse.Namespace) -> grbp.Problem:
    """The problem that the options describe."""
    return grbp.Problem(
        whole(options.goal),
        number(options.p_c),
        number(options.p_f),
        _start(options.start),
    )


def whole(text: str) -> Any:
    """The whole number that a text means; the text itself if none, for the model to refuse."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else text


def number(text: str) -> Any:
    """The number that a text means; the text itself if none, for the model to refuse."""
    try:
        # Python also reads 1_0 and digits of other scripts, which nobody means here.
        return float(text) + 0.0 if text.isascii() and "_" not in text else text
    except ValueError:
        return text


def _start(text: str) -> Any:
    """The start distribution that a text means: uniform, 2, or 1=.9,2=.1."""
    if "=" not in text:
        return whole(text)
    pairs = [part.split("=", 1) for part in text.split(",")]
    if any(len(pair) < 2 for pair in pairs):
        raise InvalidInput(
            f"start = {text!r} was given; it must be 'uniform', one state, or state=probability"
            " pairs such as 1=.9,2=.1"
        )
    return tuple((whole(state), number(q)) for state, q in pairs)
