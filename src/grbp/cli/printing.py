"""Printing answers: for a person at 80 columns, for a program as one JSON object."""

import argparse
import json
import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from grbp._format import as_plain
from grbp.worlds.words import describe_world
from grbp.worlds.world import World

Told: TypeAlias = Mapping[str, object] | Callable[[], Mapping[str, object]]
"""What a program is told, or what makes that."""

_WIDTH: Final = 80
_MOST_STATES: Final = 12
"""States shown to a person; --json has them all."""


def print_json(answer: Mapping[str, object]) -> None:
    """Print one object and nothing else."""
    print(json.dumps(as_plain(answer), allow_nan=False))


def answer(options: argparse.Namespace, told: Told, say: Callable[[], None]) -> None:
    """Answer a program by one object, or a person in words."""
    if options.json:
        print_json(told() if callable(told) else told)
    else:
        say()


def print_problem(problem: World) -> None:
    """Print which problem was asked about."""
    if problem.paper is None:
        print(textwrap.fill(describe_world(problem), 80, subsequent_indent="  ") + "\n")
        return
    problem = problem.paper
    start: str | tuple[tuple[int, float], ...] = problem.canonical_start
    if isinstance(start, tuple):
        named = [f"{state}={q:g}" for state, q in start]
        start = ", ".join(named[:4]) + (", ..." if len(named) > 4 else "")
    asked = f"goal {problem.goal:,}, p_c = {problem.p_c:g}, p_f = {problem.p_f:g}, start {start}"
    print(textwrap.fill(asked, 80, subsequent_indent="  ") + "\n")


def print_filled(text: str, indent: int = 0) -> None:
    """Print text in lines of at most 80 columns, all but the first indented."""
    print(textwrap.fill(text, _WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False))


def print_paragraph(text: str, first: str = "") -> None:
    """Print text in lines of at most 78 columns, all but the first indented."""
    lines = textwrap.TextWrapper(78, first, "  ", break_on_hyphens=False)
    print(lines.fill(text))


def print_facts(rows: Sequence[tuple[str, object, str]]) -> None:
    """Print names with their values and what those mean."""
    for name, value, meaning in rows:
        print(f"  {name:<16} {format_number(value):<14}  {meaning}".rstrip())


def choose_states(goal: int) -> list[int]:
    """Return the states worth showing: all of a few, else the lowest and the highest."""
    if goal - 1 <= _MOST_STATES:
        return list(range(1, goal))
    half = _MOST_STATES // 2
    return [*range(1, half + 1), *range(goal - half, goal)]


def print_table(
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    first: int = 8,
    width: int = 14,
    digits: int = 6,
) -> None:
    """Print a table, its first column left, the others right; dots where states are left out.

    What does not fit into 80 columns follows in a block of its own, and a long name stands on a
    line of its own.
    """
    fitting = (_WIDTH - 2 - first) // width
    for k in range(1, len(head), fitting):
        if k > 1:
            print()
        print(f"  {head[0]:<{first}}" + "".join(f"{x:>{width}}" for x in head[k : k + fitting]))
        previous = 0
        for row in rows:
            name, cells = str(row[0]), row[k : k + fitting]
            if name.isdigit() and previous and int(name) > previous + 1:
                print("  ...")
            previous = int(name) if name.isdigit() else 0
            if len(name) >= first:
                print(f"  {name}")
            shown = "".join(f"{_fit_into_column(x, digits, width):>{width}}" for x in cells)
            print(f"  {name if len(name) < first else '':<{first}}{shown}")


def _fit_into_column(value: object, digits: int, width: int) -> str:
    """Write a number so that there is a blank before it."""
    text = format_number(value, digits)
    return text if len(text) < width or not isinstance(value, float) else format_power(value)


def format_power(value: float, digits: int = 3) -> str:
    """Write a number with a power of ten, if it is large or small, in a few letters: 1.23e9."""
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:.{digits}g}")


def format_number(value: object, digits: int = 6) -> str:
    """Write a number as a person reads it; "none" where it is infinite, a dash for NaN."""
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        if math.isinf(value):
            return "none"
        whole = (value == int(value) and value > 1) or abs(value) >= 10**digits
        return f"{value:,.0f}" if whole and abs(value) < 10**10 else format_power(value, digits)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**10 else format_power(value, 6)
    return str(value)
