"""Write a table of steps: its columns are named once, for those who write one and who read it."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from grbp._io import write_whole
from grbp.worlds.transition import Action

STEP_COLUMNS: Final = ("case", "step", "state", "action", "next_state")
"""One row for each step: its case, its number, the state before, the action, the state after."""

_ACTIONS: Final = tuple(action.name.lower() for action in Action)

_LINES: Final = 100_000
"""Rows that are turned into text at a time."""


def write_steps(path: Path, blocks: Iterable[Mapping[str, Any]]) -> Path:
    """Write tables of the same columns, which are arrays, to one CSV file, one below the other."""
    return write_whole(path, steps_text(blocks))


def steps_text(blocks: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield the lines of such a file, some at a time."""
    names: tuple[str, ...] = ()
    for block in blocks:
        head, names = not names, tuple(block)
        rows = max(len(column) for column in block.values())
        for first in range(0, max(rows, 1), _LINES):
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            if head and not first:
                writer.writerow(names)
            part = {name: column[first : first + _LINES].tolist() for name, column in block.items()}
            part["action"] = [_ACTIONS[action] for action in part["action"]]
            writer.writerows(zip(*part.values(), strict=True))
            yield text.getvalue().encode()
