"""Records written as paths: each case as the states it was in, with the actions between them."""

import re
from collections.abc import Sequence

from grbp.records.clean import Records
from grbp.records.reading import read_records


def columns_of(paths: Sequence[str]) -> dict[str, list[object]]:
    """Return the table of paths such as "2c3c4", "2c1f0", or "2c1c" for one whose end is open."""
    table: dict[str, list[object]] = {
        name: [] for name in ("case", "step", "state", "action", "next_state")
    }
    for case, path in enumerate(paths):
        for step, (state, action, after) in enumerate(
            re.findall(r"(?=(?<!\d)(\d+)([cf])(\d*))", path), start=1
        ):
            row = (str(case), step, int(state), action, int(after) if after else None)
            for column, cell in zip(table.values(), row, strict=True):
                column.append(cell)
    return table


def records_of(paths: Sequence[str], goal: int) -> Records:
    """Return the clean records of paths."""
    return read_records(columns_of(paths), goal)
