"""The shell command `grbp`: parsing and printing only, one file a command.

Exit status: 0 answered, 1 a check found a problem, 2 a mistake in the question (one sentence on
standard error), 130 interrupted.
"""

import argparse
import io
import logging
import os
import re
import shlex
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final, NoReturn

import grbp
from grbp.cli.examples import HEAD, list_examples
from grbp.cli.options import add_commands, add_verbosity, find_subcommands
from grbp.cli.progress import write_line
from grbp.errors import GrbpError, InvalidInput, InvalidRecords, did_you_mean

__all__ = ["main"]

_COMMANDS: Final = {
    "solve": "the best policy, values, boundary and gaps; or bounds",
    "export": "the problem in the language of another tool",
    "learners": "every learner with a line on each",
    "simulate": "the regret of learners on a problem",
    "fit": "what a table of past cases says, and how sure that is",
    "example": "a synthetic table of past cases",
    "plan": "how many cases learning takes, and what it costs",
    "live": "advice on real cases as they come: open, ask, tell",
    "serve": "that advice over HTTP, for a team and its programs",
    "explore": "a page with sliders to teach with, as one file",
    "sweep": "learners over many problems: those of a file, or a league",
    "reproduce": "every figure of the paper, and the verdict; or one",
}
"""Each command is a module of this package, which is imported when it is asked for."""

_FORMER: Final[dict[str, tuple[str, ...]]] = {
    "bounds": ("solve", "--bounds"),
    "figure": ("reproduce", "--only"),
    "league": ("sweep", "--league"),
    "token": ("serve", "token"),
}
"""What former commands are now: they are carried out all the same, with a note."""

_COMPLETION: Final = "--print-completion"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    status = 0
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # a path may not fit the encoding
                stream.reconfigure(errors="backslashreplace")
        given = _replace_former(sys.argv[1:] if arguments is None else arguments)
        if "" not in sys.path:  # A learner of the user's own lies where the user is.
            sys.path.append("")
        options = _make_parser(given).parse_args(given)
        options.command = shlex.join(["grbp", *given])
        with _show_notes(options):
            status = options.run(options) or 0
        if sys.stdout is not None:
            sys.stdout.flush()
    except GrbpError as error:
        # What breaks a rule of a table stands in a line each: a list to be worked through.
        lines = str(error).splitlines() if isinstance(error, InvalidRecords) else [str(error)]
        print("grbp:", "\n  ".join(" ".join(line.split()) for line in lines), file=sys.stderr)
        return 2
    except MemoryError as error:
        why = f" ({error})" if str(error) else ""
        sentence = "there is not enough memory for this; ask for a smaller goal, fewer replicas or"
        print(f"grbp: {sentence} fewer checkpoints{why}", file=sys.stderr)
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
    return status


def _replace_former(words: Sequence[str]) -> Sequence[str]:
    """Write a former command as it is now, and any other as it was given."""
    place = next((k for k, word in enumerate(words) if not word.startswith("-")), -1)
    if place < 0 or words[place] not in _FORMER:
        return words
    former, now = words[place], _FORMER[words[place]]
    if not {"-q", "--quiet"} & {*words}:
        print(f"grbp: note: {former} is now: grbp {' '.join(now)}", file=sys.stderr)
    if {"-h", "--help"} & {*words}:  # An option would wait for its value.
        now = tuple(word for word in now if not word.startswith("-"))
    return [*words[:place], *now, *words[place + 1 :]]


@contextmanager
def _show_notes(options: argparse.Namespace) -> Iterator[None]:
    """Show warnings, and what the package logs, such as that it compiles, each as a line."""
    began = time.monotonic()

    def note(message: object, *_: object) -> None:
        after = f", after {time.monotonic() - began:.1f} s" if options.verbose else ""
        if not options.quiet:
            write_line(f"grbp: note{after}: {message}", sys.stderr)

    log, notes = logging.getLogger("grbp"), logging.Handler()
    notes.emit = lambda record: note(record.getMessage())  # type: ignore[method-assign]
    before = log.level
    log.addHandler(notes)
    log.setLevel(logging.DEBUG if options.verbose else logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = note  # type: ignore[assignment]
            yield
    finally:
        log.removeHandler(notes)
        log.setLevel(before)


class _Format(argparse.HelpFormatter):
    """Help with room for a long name and its meaning on the same line, at 80 columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=20, width=80)

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Wrap a help, and leave names such as grbp-live.sqlite whole."""
        return textwrap.wrap(text, width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap what is said, and leave examples in lines of their own."""
        if text.startswith(HEAD):
            return text
        return super()._fill_text(text, width, indent)

    def add_argument(self, action: argparse.Action) -> None:
        """Widen the first column, which argparse forgets to do for indented commands."""
        super().add_argument(action)
        self._action_max_length = max(self._action_max_length, 16)


class _Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one sentence instead of the whole usage."""

    def __init__(self, **options: Any) -> None:
        words = options["prog"].removeprefix("grbp").strip()
        super().__init__(
            allow_abbrev=False, formatter_class=_Format, epilog=list_examples(words), **options
        )
        self.given: Sequence[str] = ()
        # A negative number is a value, which the model refuses, also as -1e-3.
        self._negative_number_matcher = re.compile(r"^-\.?[0-9]")

    def error(self, message: str) -> NoReturn:
        """Refuse what was given; whoever names no command, or no verb, is shown which there are."""
        asked = self.asked()
        known, number = asked._option_string_actions, self._negative_number_matcher
        strange = [name for name in self.given if name[:1] == "-" and not number.match(name)]
        strange = [name for name in strange if name not in known]
        if message.endswith(("required: COMMAND", "required: VERB")) and not strange:
            self.print_help()
            self.exit()
        if message.startswith("the following arguments are required"):
            # One that is missing was perhaps given, and is written otherwise.
            near = [name for name in strange if did_you_mean(name, known)]
            strange = strange if message.endswith(("COMMAND", "VERB")) else near
        if strange and message.startswith(("the following", "the verb")):
            message = f"unrecognized arguments: {strange[0]}"
        for pattern, plain in _PLAIN.items():
            message = re.sub(pattern, plain, message)
        meant = did_you_mean(message.split()[-1], known) if "no option" in message else ""
        raise InvalidInput(f"{message}{meant and f'; {meant}'} (see {asked.prog} --help)")

    def asked(self) -> argparse.ArgumentParser:
        """Return the parser of the command, or of the verb of it, that was asked for."""
        inside: dict[str, Any] = find_subcommands(self)
        return next((one.asked() for name, one in inside.items() if name in self.given), self)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is no choice, and ask for what may have been meant."""
        choices = list(action.choices or [value])
        if value not in choices:
            what = "".join(action.option_strings) or f"the {str(action.metavar).lower()}"
            meant = did_you_mean(value, choices) or f"it must be {', '.join(choices)}"
            self.error(f"{what} {value!r} was given; {meant}")


_PLAIN: Final = {
    r"unrecognized arguments: (-[^ =]+).*": r"there is no option \1",
    "unrecognized arguments: (.*)": r"there is no place for \1",
    "argument (.*): not allowed with argument (.*)": r"\1 and \2 were given; give one of them",
    "argument (.*): expected one argument": r"\1 was given without its value",
    "argument (.*): ignored explicit argument (.*)": r"\1 was given with \2; it has no value",
}
"""What `argparse` says, in plain English."""


class _Completion(argparse.Action):
    """Print the script that teaches a shell to complete our command lines."""

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, __: Any = None) -> None:
        """Print it and stop."""
        print(import_module("grbp.cli.completion").completion(parser, shell))
        parser.exit()


def _make_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Make a parser that knows all commands by name, and the one asked for with its options."""
    parser = _Parser(
        prog="grbp",
        description="The gambler's ruin bandit problem: answers, learners, advice on cases.",
    )
    parser.add_argument("--version", action="version", version=f"grbp {grbp.__version__}")
    parser.add_argument(
        _COMPLETION, action=_Completion, choices=["bash", "zsh", "tcsh"], metavar="SHELL",
        help="print a script that makes bash, zsh or tcsh complete commands and options",
    )  # fmt: skip
    add_verbosity(parser, default=False)
    parser.given = [word.partition("=")[0] for word in arguments]
    parser.set_defaults(named=parser.given)
    add_command = add_commands(parser, "COMMAND")
    asked = next((word for word in arguments if not word.startswith("-")), None)
    for name, line in _COMMANDS.items():
        command = add_command(name, line)
        if name == asked or _COMPLETION in parser.given:
            module = import_module(f"grbp.cli.{name}")
            module.add_options(command)
            command.set_defaults(run=module.run)
            for one in _with_subcommands(command):
                # Given before the command they hold as well, so here is no default.
                add_verbosity(one, default=argparse.SUPPRESS)
                one.given = parser.given
    return parser


def _with_subcommands(command: argparse.ArgumentParser) -> list[Any]:
    """Return the parser of a command and those of its verbs, if it has any."""
    inside = find_subcommands(command).values()
    return [command, *(one for verb in inside for one in _with_subcommands(verb))]
