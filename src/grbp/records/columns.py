"""The columns of a table: which are needed, what each is read as, and how they are found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

from grbp.errors import InvalidRecords, Irregularity, did_you_mean
from grbp.model.steps import STEP_COLUMNS
from grbp.numerics.arrays import Bools, Ints

CASE, STEP, STATE, ACTION, NEXT_STATE = STEP_COLUMNS
ORDER, COUNT = "order", "count"
ROLES: Final = (*STEP_COLUMNS, ORDER, COUNT)
"""What a column can be read as; without `columns`, it has that name."""

_ALIASES: Final = {NEXT_STATE: "next"}
_SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class Column(NamedTuple):
    """A column: its name, the number of each row's text, the texts, and if they were decimals."""

    name: str
    codes: Ints
    texts: list[str]
    decimal: bool = False


@dataclass(frozen=True)
class Table:
    """The columns that are needed, as they stand in the source.

    Attributes
    ----------
    unit : {"line", "row"}
        What the places are: lines of a file, or rows of a frame, from 1.
    columns : dict of str to Column
        The columns by their roles.
    groups : list of Column
        The columns that make the groups, in the order in which they were asked for.
    places : ndarray of int
        The place of each row.
    uneven : ndarray of bool
        Which rows have too few or too many cells.
    """

    unit: str
    columns: dict[str, Column]
    groups: list[Column]
    places: Ints
    uneven: Bools


class Wanted(NamedTuple):
    """Which columns of a source to read, and as what."""

    columns: Mapping[str, str]
    group: tuple[str, ...]


def refuse(line: int, column: str, rule: str, sentence: str) -> NoReturn:
    """Refuse a whole table for one reason."""
    raise InvalidRecords([Irregularity(line, column, rule, sentence)])


def check_names(names: Sequence[str], line: int) -> None:
    """Refuse a head in which a name stands twice."""
    for k, name in enumerate(names):
        if name and name in names[:k]:
            refuse(
                line, name, "duplicate-column",
                f"the column {name!r} is there twice; give each column a name of its own",
            )  # fmt: skip


def find_columns(names: Sequence[str], wanted: Wanted, line: int) -> dict[str, str]:
    """Find the column of every role; refuse a table that lacks one, with the reason."""
    _check_separator(names, line)
    for role, name in [*wanted.columns.items(), *(("group", name) for name in wanted.group)]:
        if name not in names:
            meant = did_you_mean(name, names) or f"there is {_listed(names)}"
            refuse(
                line, name, "missing-column",
                f"there is no column {name!r} to be read as {role}; {meant}",
            )  # fmt: skip
    found = {}
    for role in ROLES:
        known = [name for name in (role, _ALIASES.get(role, role)) if name in names]
        known = [wanted.columns[role]] if role in wanted.columns else known
        if known:
            found[role] = known[0]
    _check_found(found, names, wanted, line)
    return found


def _check_found(found: dict[str, str], names: Sequence[str], wanted: Wanted, line: int) -> None:
    """Refuse a table without the columns that are needed."""
    lacking = [role for role in (STATE, ACTION, NEXT_STATE) if role not in found]
    if CASE in found and {STATE, NEXT_STATE} <= {*lacking}:
        refuse(
            line, "", "end-only",
            "the table has no states, only cases and perhaps how they ended; p_C and p_F are about"
            " single steps, so it needs a row for every step with the columns state, action and"
            f" next_state ({_how_to_name()}); there is {_listed(names)}",
        )  # fmt: skip
    if CASE not in found and COUNT not in found:
        lacking = [CASE, *lacking]
    if lacking:
        refuse(
            line, lacking[0], "missing-column",
            f"the table has no column {_listed(lacking)}, which it needs ({_how_to_name()});"
            f" there is {_listed(names)}",
        )  # fmt: skip
    if CASE in found and COUNT in wanted.columns:
        refuse(
            line, found[COUNT], "count-with-case",
            f"the columns {found[CASE]!r} and {found[COUNT]!r} were given as case and count;"
            " counts are of rows without cases, so give one of the two",
        )  # fmt: skip
    for role, name in found.items():
        other = next(one for one in found if found[one] == name)
        if other != role:
            refuse(
                line, name, "same-column",
                f"the column {name!r} would be read as {other} and as {role}; {_how_to_name()}",
            )  # fmt: skip


def _how_to_name() -> str:
    return "columns={'state': 'severity'} or --columns state=severity says which column is which"


def _listed(names: Sequence[str]) -> str:
    """List some names, the first of many."""
    shown = ", ".join(repr(shortened(name)) for name in names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown or "none"


def _check_separator(names: Sequence[str], line: int) -> None:
    """Refuse a head that was written with something else than commas."""
    for mark, words in _SEPARATORS.items():
        if len(names) == 1 and mark in names[0]:
            refuse(
                line, "", "separator",
                f"the columns are separated by {words}; save the table as CSV with commas",
            )  # fmt: skip


def shortened(text: str, most: int = 40) -> str:
    """Return a text that fits into a sentence."""
    return text if len(text) <= most else text[: most - 3] + "..."
