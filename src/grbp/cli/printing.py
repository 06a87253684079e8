"""Printing answers: for a person at 80 columns, for a program as one JSON object."""

import json
import math
import textwrap
from collections.abc import Mapping, Sequence

import grbp


def print_json(answer: Mapping[str, object]) -> None:
    """Print one object and nothing else."""
    print(json.dumps(_plain(answer), allow_nan=False))


def _plain(value: object) -> object:
    """Replace infinite numbers, which JSON cannot say, by None."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def title(problem: grbp.Problem) -> None:
    """Print which problem was asked about."""
    start: str | tuple[tuple[int, float], ...] = problem.canonical_start
    if isinstance(start, tuple):
        named = [f"{state}={q:g}" for state, q in start]
        start = ", ".join(named[:4]) + (", ..." if len(named) > 4 else "")
    asked = f"goal {problem.goal:,}, p_c = {problem.p_c:g}, p_f = {problem.p_f:g}, start {start}"
    print(textwrap.fill(asked, 80, subsequent_indent="  ") + "\n")


def paragraph(text: str, first: str = "") -> None:
    """Print text in lines of at most 78 columns, all but the first indented."""
    print(textwrap.fill(text, 78, initial_indent=first, subsequent_indent="  "))


def facts(rows: Sequence[tuple[str, object, str]]) -> None:
    """Print names with their values and what those mean."""
    for name, value, meaning in rows:
        print(f"  {name:<16} {shown_number(value):<14}  {meaning}".rstrip())


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    first: int = 8,
    width: int = 14,
    digits: int = 6,
) -> None:
    """Print a table, its first column left, the others right; dots where states are left out."""
    print("  " + f"{head[0]:<{first}}" + "".join(f"{name:>{width}}" for name in head[1:]))
    previous = 0
    for label, *numbers in rows:
        name = str(label)
        if name.isdigit() and previous and int(name) > previous + 1:
            print("  ...")
        previous = int(name) if name.isdigit() else 0
        cells = "".join(f"{shown_number(x, digits):>{width}}" for x in numbers)
        print("  " + f"{name:<{first}}" + cells)


def shown_number(value: object, digits: int = 6) -> str:
    """Write a number as a person reads it; "none" where it is infinite."""
    if isinstance(value, float):
        if math.isinf(value):
            return "none"
        whole = value == int(value) and 1 < value < 10**10
        return f"{value:,.0f}" if whole else f"{value:.{digits}g}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**10 else f"{value:.6g}"
    return str(value)
