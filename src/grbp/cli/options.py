"""The options that several commands share, and how their texts are read."""

import argparse
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from inspect import Parameter, signature
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

import grbp
from grbp._format import begin
from grbp.errors import InvalidInput

STORE: Final = "grbp-live.sqlite"
"""The file in the present folder that keeps studies, unless something else is said."""

_VARIABLE: Final = "GRBP_STORE"


def parse_whole(text: str) -> Any:
    """Read a whole number, also one like 1e9; return other text as it is, for the model to refuse.

    More than 40 digits are nobody's number, and would take long.
    """
    digits = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?"
    if re.fullmatch(digits, text, re.ASCII | re.IGNORECASE):
        value = Decimal(text)
        if abs(value) < 10**40 and value == int(value):
            return int(value)
    return text


def parse_wholes(text: str) -> Any:
    """Read whole numbers with commas between them."""
    return [parse_whole(part) for part in text.split(",")]


def parse_words(text: str) -> list[str]:
    """Read words with commas between them."""
    return [word.strip() for word in text.split(",")]


def parse_number(text: str) -> Any:
    """Read a number; return other text as it is, for the model to refuse."""
    try:
        # Python also reads 1_0 and digits of other scripts, which nobody means here.
        return float(text) + 0.0 if text.isascii() and "_" not in text else text
    except ValueError:
        return text


def parse_numbers(text: str) -> Any:
    """Read numbers with commas between them."""
    return tuple(map(parse_number, text.split(",")))


def parse_start(text: str) -> Any:
    """Read a start distribution: uniform, 2, or 1=.9,2=.1; return other text as it is."""
    pairs = [part.partition("=") for part in text.split(",")]
    if all(sign for _, sign, _ in pairs):
        return tuple((parse_whole(state), parse_number(q)) for state, _, q in pairs)
    return parse_whole(text)


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


class Option(NamedTuple):
    """An option: what it means, how its text is read, and what it is called if not as it is kept.

    It may be given several times, or have no text at all, and with a name without hyphens it is
    known by its place.
    """

    help: str
    read: Callable[[str], Any] | None = None
    metavar: str | None = None
    name: str = ""
    more: bool = False
    flag: bool = False
    nargs: str | None = None

    def add_to(self, parser: argparse._ActionsContainer, name: str, **settings: Any) -> None:
        """Add it to the options of a command, to be kept under a name."""
        called = self.name or f"--{name.replace('_', '-')}"
        if called.startswith("-"):
            settings["dest"] = name
        if self.flag:
            settings["action"] = "store_true"
        else:
            settings |= {"type": self.read, "metavar": self.metavar, "nargs": self.nargs}
        if self.more:
            settings["action"] = "append"
        parser.add_argument(called, help=self.help, **settings)


def add_all(parser: argparse._ActionsContainer, options: Mapping[str, Option]) -> None:
    """Add options by the names under which they are kept."""
    for name, option in options.items():
        option.add_to(parser, name)


COMMON: Final = {
    "json": Option("one JSON object and nothing else", flag=True),
    "force": Option("replace files even if they are something else", flag=True),
    "out": Option("the folder to write to (results)", metavar="FOLDER"),
    "store": Option(f"SQLite file or PostgreSQL address (${_VARIABLE}, or {STORE})", None, "FILE"),
    "who": Option("who records (your user name)", metavar="NAME"),
}
"""The options that commands share beside those of the functions that they call."""

TABLE_WORDS: Final = {
    "columns": Option(
        "the table's own names: case=id,next_state=after", metavar="NAME=COLUMN,...", more=True
    ),
    "map_state": Option(
        "what states are called: mild=3,severe=1", metavar="WORD=STATE,...", more=True
    ),
    "map_action": Option(
        "what else is an action: punt=continue", metavar="WORD=ACTION,...", more=True
    ),
}
"""The options that say in which words a table of past cases is written."""

_SHARED: Final = {
    "goal": Option("the state G that wins", parse_whole, "G"),
    "goals": Option("the state G that wins, or several", parse_wholes, "G,...", "--goal"),
    "p_c": Option("chance that continuing moves up", parse_number, "P"),
    "p_f": Option("chance that finishing wins", parse_number, "P"),
    "start": Option("first state: uniform, 2, or 1=.9,2=.1", parse_start, "STATE"),
    "learner": Option("who decides", None, "NAME"),
    "learners": Option("who decides; repeat for several", None, "NAME", "--learner", more=True),
    "rounds": Option("rounds in a replica", parse_whole, "N"),
    "replicas": Option("independent repetitions", parse_whole, "N"),
    "seed": Option("a whole number; same seed, same result", parse_whole, "N"),
    "level": Option("the level of the intervals", parse_number, "P"),
    "threads": Option("threads to use (as many as cores)", parse_whole, "N"),
    "processes": Option("processes to use (threads)", parse_whole, "N"),
    "dask": Option("the scheduler of a Dask cluster", metavar="ADDRESS"),
}
"""The parameters that functions share, and so do the commands that call them."""


def add_given(
    parser: argparse._ActionsContainer,
    function: Callable[..., Any],
    *names: str,
    needed: bool = True,
    **own: Option | str,
) -> None:
    """Add options for parameters of a function; their help says what holds if they are left out.

    Those that are not shared, or not in all, are described: in full, or by words alone.
    """
    parameters = signature(function).parameters
    for name in (*names, *own):
        option, of = own.get(name, ""), parameters[name]
        if isinstance(option, str):
            shared = _SHARED.get(name, Option(""))
            option = shared._replace(help=option or shared.help)
        flag = isinstance(of.default, bool)
        line = option.help if flag else option.help + _write_default(of.default)
        settings: dict[str, Any] = {}
        if get_origin(of.annotation) is Literal:
            settings["choices"] = get_args(of.annotation)
        if of.default is Parameter.empty:
            settings["required"] = needed
        option._replace(help=line, flag=flag).add_to(parser, name, **settings)


def add_common(parser: argparse.ArgumentParser, *names: str, **settings: Any) -> None:
    """Add options that commands share."""
    for name in names:
        COMMON[name].add_to(parser, name, **settings)


def _write_default(value: object) -> str:
    """Say in brackets what holds if an option is left out, as the shell reads it; or nothing."""
    if value in (None, Parameter.empty, ()):
        return ""
    if isinstance(value, tuple):
        value = ",".join(map(str, value))
    elif isinstance(value, int | float):
        value = f"{value:,}".removesuffix(".0")
    return f" ({value})"


def given(options: argparse.Namespace, to: Callable[..., Any] | Collection[str]) -> dict[str, Any]:
    """Return what was given of the parameters of a function; its defaults hold for the others."""
    names = signature(to).parameters if callable(to) else to
    return {
        name: value for name, value in vars(options).items() if name in names and value is not None
    }


def refuse_given(options: argparse.Namespace, names: Iterable[str], why: str) -> None:
    """Refuse options where they would mean nothing."""
    for name in names:
        if name in options.named:
            raise InvalidInput(f"{name} was given; {why}")


def require(options: argparse.Namespace, names: Iterable[str], otherwise: str) -> None:
    """Refuse to go on without some options, which something else can take the place of."""
    missing = [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) is None]
    if missing:
        lack = f"the following arguments are required: {', '.join(missing)}"
        raise InvalidInput(f"{lack}; or give {otherwise} in their place")


def make_problem(goal: int, p_c: float, p_f: float, start: Any = "uniform") -> grbp.Problem:
    """Make the problem that options describe."""
    return grbp.Problem(goal, p_c, p_f, start)


PROBLEM: Final = tuple(signature(make_problem).parameters)
"""The options of a problem."""


def add_commands(
    parser: argparse.ArgumentParser, kind: str, *, needed: bool = True
) -> Callable[[str, str], argparse.ArgumentParser]:
    """Let a parser have commands; return what adds one, with a line on what it is for."""
    commands = parser.add_subparsers(metavar=kind, required=needed)
    return lambda name, line: commands.add_parser(name, help=line, description=f"{begin(line)}.")


def find_subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands within a command, or within `grbp` itself, with their parsers."""
    inside = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {name: one for action in inside for name, one in action.choices.items()}


def add_verbosity(parser: argparse.ArgumentParser, default: object) -> None:
    """Add the options for how much is said beside the answer."""
    either = parser.add_mutually_exclusive_group()
    for name, line in (("quiet", "no notes and no progress"), ("verbose", "more notes, and times")):
        either.add_argument(
            f"-{name[0]}", f"--{name}", action="store_true", default=default, help=line
        )


def store_of(options: argparse.Namespace) -> str:
    """Return where studies are kept."""
    named: str | None = options.store
    store = (os.environ.get(_VARIABLE) or STORE) if named is None else named
    if store in ("", "memory"):
        raise InvalidInput(f"the store {store!r} was given; it must be a file or a database")
    return store
