"""How answers are printed: for a person at 80 columns, for a program as one JSON object."""

import json
import math
import textwrap
from collections.abc import Mapping, Sequence

import grbp


def print_json(answer: Mapping[str, object]) -> None:
    """Prints one object and nothing else."""
    print(json.dumps(plain(answer), allow_nan=False))


def plain(value: object) -> object:
    """The value with null where a number is infinite, which JSON cannot say."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def title(problem: grbp.Problem) -> None:
    """Prints which problem was asked about."""
    start = problem.start if isinstance(problem.start, str) else _start_text(problem)
    asked = f"goal {problem.goal:,}, p_c = {problem.p_c:g}, p_f = {problem.p_f:g}, start {start}"
    print(textwrap.fill(asked, 80, subsequent_indent="  ") + "\n")


def _start_text(problem: grbp.Problem) -> str:
    named = [f"{s}={q:g}" for s, q in enumerate(problem.start_probabilities.tolist(), 1) if q]
    return ", ".join(named[:4]) + (", ..." if len(named) > 4 else "")


def facts(rows: Sequence[tuple[str, object, str]]) -> None:
    """Prints names with their values and what those mean."""
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
    """Prints a table, its first column left, the others right; dots where states are left out."""
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
    """A number as a person reads it; none where there is none."""
    if isinstance(value, float):
        if math.isinf(value):
            return "none"
        whole = value == int(value) and 1 < value < 10**10
        return f"{value:,.0f}" if whole else f"{value:.{digits}g}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**10 else f"{value:.6g}"
    return str(value)
