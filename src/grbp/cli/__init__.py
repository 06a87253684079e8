"""The shell command `grbp`: parsing and printing only.

Exit status: 0 answered, 2 a mistake in what was asked (one sentence on standard error),
130 interrupted.
"""

import argparse
import io
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import grbp
from grbp.cli import answers, league, learning, pictures
from grbp.cli.options import add_folder, add_json, add_problem
from grbp.errors import GrbpError, InvalidInput

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # a path may not fit the terminal's alphabet
                stream.reconfigure(errors="backslashreplace")
        options = _parser().parse_args(arguments)
        with warnings.catch_warnings(), _notes_shown():
            warnings.showwarning = _note  # type: ignore[assignment]
            options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except GrbpError as error:
        print(f"grbp: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("grbp: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"grbp: the answer cannot be written ({error.strerror})", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    return 0


def _note(message: Warning | str, *_: object) -> None:
    """Shows a warning as one line, without where in the code it arose."""
    print(f"grbp: note: {message}", file=sys.stderr)


class _Notes(logging.Handler):
    """Shows what the package has to tell as one line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Nothing; the line is on standard error."""
        _note(record.getMessage())


@contextmanager
def _notes_shown() -> Iterator[None]:
    """What the package tells, such as that it compiles, is shown meanwhile."""
    log, notes = logging.getLogger("grbp"), _Notes()
    before = log.level
    log.addHandler(notes)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(notes)
        log.setLevel(before)


class _Format(argparse.HelpFormatter):
    """Help with room for a long name and its meaning on the same line, at 80 columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=20, width=80)

    def add_argument(self, action: argparse.Action) -> None:
        """Widens the first column, which argparse forgets to do for indented commands."""
        super().add_argument(action)
        self._action_max_length = max(self._action_max_length, 16)


class _Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one sentence instead of the whole usage."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # A negative number is a value, which the model refuses, also as -1e-3.
        self._negative_number_matcher = re.compile(r"^-\.?[0-9]")

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="grbp",
        description="The gambler's ruin bandit problem: exact answers, bounds and figures.",
        allow_abbrev=False,
        formatter_class=_Format,
    )
    parser.add_argument("--version", action="version", version=f"grbp {grbp.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(
        name: str, run: Callable[[argparse.Namespace], None], line: str
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name,
            help=line,
            description=line + ".",
            allow_abbrev=False,
            formatter_class=_Format,
        )
        sub.set_defaults(run=run)
        return sub

    solve = command("solve", answers.solve, "values, best policy, boundary, gaps and round length")
    add_problem(solve)
    add_json(solve)

    bounds = command(
        "bounds", answers.bounds, "the regret bounds of Theorems 1 and 3, if they apply"
    )
    add_problem(bounds)
    bounds.add_argument("--gamma", required=True, help="of the control function gamma log(rho)")
    bounds.add_argument("--rounds", required=True, help="the number of rounds T")
    add_json(bounds)

    export = command("export", answers.export, "the problem in the language of another tool")
    add_problem(export)
    export.add_argument(
        "--format", required=True, choices=["prism", "toy-text"], help="PRISM, or Gymnasium's P"
    )

    figure = command("figure", pictures.figure, "one figure of the paper, as PNG and SVG")
    numbers = [str(n) for n in grbp.PAPER_FIGURES]
    figure.add_argument("number", choices=numbers, help=f"one of {', '.join(numbers)}")
    figure.add_argument("--goal", help="the goal (Figure 1), or several: 2,4,10 (Figure 2)")
    add_folder(figure)

    listing = command("learners", learning.learners, "every learner with a line on each")
    add_json(listing)

    simulate = command("simulate", learning.simulate, "the regret of learners on a problem")
    add_problem(simulate)
    simulate.add_argument(
        "--learner", action="append", help=f"repeat for several ({grbp.DEFAULT_LEARNER})"
    )
    simulate.add_argument("--rounds", required=True, help="rounds in a replica")
    simulate.add_argument("--replicas", required=True, help="independent repetitions")
    simulate.add_argument("--seed", required=True, help="a whole number; same seed, same result")
    simulate.add_argument("--at", help="rounds to look at: 10,100,1000 (about 100 of them)")
    simulate.add_argument(
        "--regret", default="pseudo", choices=["pseudo", "realised", "by-start"], help="(pseudo)"
    )
    simulate.add_argument(
        "--opening", default="drawn", choices=["drawn", "once"], help="first estimates (drawn)"
    )
    simulate.add_argument(
        "--engine", default="auto", choices=["auto", "walk", "leap"],
        help="take every step, or leap over them with the same law (auto: the faster one)",
    )  # fmt: skip
    simulate.add_argument("--threads", help="threads to use (as many as cores)")
    add_json(simulate)
    simulate.add_argument("--csv", metavar="FILE", help="write the curves as a table")
    simulate.add_argument("--plot", metavar="FILE", help="draw the curves, as PNG and SVG")

    table = command("league", league.league, "every learner on many problems: who wins where")
    league.add_options(table)

    reproduce = command(
        "reproduce", pictures.reproduce, "every figure of the paper, and the verdict"
    )
    reproduce.add_argument(
        "--as-printed", action="store_true", help="with the paper's 200 replicas only"
    )
    add_folder(reproduce)
    return parser
