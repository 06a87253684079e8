"""Tables for the tests of reading: how they are written, and a slow reading of them."""

from pathlib import Path
from typing import Any, NamedTuple

from grbp.records.clean import OPEN, Records
from grbp.records.reading import read_records

HEAD = ("case", "step", "state", "action", "next_state")
GOAL = 4


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "cases.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(folder: Path, rows: str, head: str = ",".join(HEAD), **options: Any) -> Records:
    """Read a table whose rows are separated by blanks."""
    return read_records(written(folder, "\n".join([head, *rows.split()])), GOAL, **options)


def columns(records: Records) -> dict[str, list[int]]:
    names = ("case", "step", "state", "action", "next_state", "count", "group")
    return {name: getattr(records, name).tolist() for name in names}


def everything(records: Records) -> dict[str, object]:
    """Return all that records say, so that two readings can be compared."""
    names = ("goal", "rows", "cases", "groups", "aggregated", "open_empty_next", "open_no_row")
    return columns(records) | {
        **{name: getattr(records, name) for name in names},
        "dropped": dict(records.dropped),
        "first_lines": dict(records.first_lines),
    }


class Row(NamedTuple):
    """A row as it should be understood; what is not is None."""

    line: int
    case: str
    step: int | None
    state: int | None
    action: int | None
    next_state: int | None


def number(text: str, most: int) -> int | None:
    text = text.strip().removesuffix(".0")
    digits = text != "" and all(letter in "0123456789" for letter in text)
    return int(text) if digits and int(text) <= most else None


def understood(line: int, cells: list[str]) -> Row:
    case, step, state, action, after = cells
    actions = {"continue": 0, "c": 0, "0": 0, "0.0": 0, "finish": 1, "f": 1, "1": 1, "1.0": 1}
    return Row(
        line,
        case,
        number(step, 10**12),
        number(state, GOAL),
        actions.get(action.strip().lower()),
        OPEN if not after.strip() else number(after, GOAL),
    )


def is_broken_alone(row: Row) -> bool:
    """Whether a row breaks a rule by itself."""
    unknown = None in row or not row.case or row.state in (0, GOAL)
    return unknown or (row.action == 1 and row.next_state in range(1, GOAL))


def slow_reading(rows: list[Row]) -> tuple[bool, list[tuple[str, int, int, int, int]]]:
    """Read rows one by one: whether they are fine, and those that are left without the bad ones."""
    fine, kept = True, []
    filled: list[tuple[int, Row]] = []
    for row in rows:
        fine = fine and bool(row.case)
        before = [step for step, other in filled if other.case == row.case]
        filled.append((row.step if row.step is not None else (before[-1] if before else -1), row))
    for case in dict.fromkeys(row.case for row in rows if row.case):
        mine = sorted(((s, r) for s, r in filled if r.case == case), key=lambda one: one[0])
        last: Row | None = None
        good: list[Row] = []
        for _, row in mine:
            alone = is_broken_alone(row)
            if last is not None and not alone and row[1:] == last[1:]:
                continue
            if last is not None and not alone and row.step == last.step:
                good.pop()
                fine = False
                break
            follows = last is None or (row.step == last.step + 1 and row.state == last.next_state)  # type: ignore[operator]
            if alone or not follows:
                fine = False
                break
            good.append(row)
            last = row
        kept += [row[1:] for row in good]
    return fine, kept  # type: ignore[return-value]
