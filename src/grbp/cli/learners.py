"""The command `learners`: every learner with a line on each."""

import argparse
import textwrap

import grbp
from grbp.cli.options import add_common
from grbp.cli.printing import answer
from grbp.learners.base import AnyLearner


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_common(parser, "json")


def run(options: argparse.Namespace) -> None:
    """Print every learner with its summary, its constants and its reference."""
    any_problem = grbp.Problem(4, 0.5, 0.5)
    listed = [
        grbp.find_learner(name, any_problem) for name in (*grbp.LEARNERS, *grbp.STATE_LEARNERS)
    ]
    told = {"learners": [_as_json(learner) for learner in listed]}
    answer(options, told, lambda: _print_learners(listed))


def _as_json(learner: AnyLearner) -> dict[str, object]:
    named = {key: getattr(learner, key) for key in ("name", "summary", "reference")}
    return named | {"constants": [one._asdict() for one in grbp.learner_constants(learner)]}


def _print_learners(listed: list[AnyLearner]) -> None:
    for learner in listed:
        _print_entry(learner.name, learner.summary)
        for constant in grbp.learner_constants(learner):
            meaning = f"{constant.meaning.removesuffix('.')} ({constant.range})"
            _print_entry("", f":{constant.name}={constant.default:g}  {meaning}", "  ")
        if learner.reference:
            _print_entry("", learner.reference)
    _print_entry("threshold-K", "Play threshold K in every round, for a K from 0 to goal - 1")
    print("\nSet a constant after the name: getbe-sm:gamma=30, doorstep-optimal:good=2,bad=6.")
    print("Listed are the defaults; what is allowed stands in brackets.")


def _print_entry(name: str, text: str, further: str = "") -> None:
    """Print a name and what is said about it, beside it at 80 columns."""
    print(textwrap.fill(f"{name:<20} {text}", 80, subsequent_indent=" " * 21 + further))
