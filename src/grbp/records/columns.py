"""The columns of a table: which are needed, what each is read as, and how they are found."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

import numpy as np

from grbp.errors import InvalidRecords, Irregularity, did_you_mean
from grbp.numerics.arrays import Bools, Ints
from grbp.worlds.step_table import STEP_COLUMNS

CASE, STEP, STATE, ACTION, NEXT_STATE = STEP_COLUMNS
ORDER, COUNT = "order", "count"
ROLES: Final = (*STEP_COLUMNS, ORDER, COUNT)
"""What a column can be read as; without `columns`, it has that name."""

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
    index : sequence, optional
        The labels of the rows of a frame, where they are not simply counted.
    notes : tuple of str
        What a user should know of how it was read, in whole sentences.
    """

    unit: str
    columns: dict[str, Column]
    groups: list[Column]
    places: Ints
    uneven: Bools
    index: Sequence[object] | None = None
    notes: tuple[str, ...] = ()

    def name_place(self, place: int) -> str:
        """Name the place of a row; a row of a frame also by its label."""
        if self.index is None:
            return f"{self.unit} {place}"
        label = self.index[place - 1]
        name = repr(shorten(label)) if isinstance(label, str) else shorten(str(label))
        return f"{self.unit} {name} (number {place})"

    def list_texts(self, role: str) -> set[str]:
        """Return the different texts of a column, without the blanks around them."""
        column = self.columns[role]
        return {column.texts[k].strip() for k in np.flatnonzero(np.bincount(column.codes))}


class ColumnChoice(NamedTuple):
    """Which columns of a source to read, and as what."""

    columns: Mapping[str, str]
    group: tuple[str, ...]


def refuse(line: int, rule: str, sentence: str, column: str = "") -> NoReturn:
    """Refuse a whole table for one reason."""
    raise InvalidRecords([Irregularity(line, column, rule, sentence)])


def find_columns(
    names: Sequence[str], choice: ColumnChoice, line: int
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Find the column of every role, and note which were taken although they are spelled otherwise.

    A table that lacks one is refused, with the reason.
    """
    _check_header(names, line)
    asked = [*choice.columns.items(), *(("group", name) for name in choice.group)]
    for role, name in asked:
        if name not in names:
            meant = did_you_mean(name, names) or f"there is {_list_names(names)}"
            sentence = f"there is no column {name!r} to be read as {role}; {meant}"
            refuse(line, "missing-column", sentence, name)
    known = {NEXT_STATE: "next"} if "next" in names else {}
    known |= {role: role for role in ROLES if role in names} | dict(choice.columns)
    taken = {*known.values(), *choice.group}
    for role in ROLES:
        # A count is looked for where there are no cases.
        if role not in known and not (role == COUNT and CASE in known):
            alike = [name for name in names if name not in taken and _is_spelling(name, role)]
            if len(alike) == 1:
                known[role] = alike[0]
    found = {role: known[role] for role in ROLES if role in known}
    _check_found(found, names, choice, line)
    spelled = ", ".join(
        f"{name!r} as {role}"
        for role, name in found.items()
        if role not in choice.columns and name not in (role, "next")
    )
    return found, (f"Columns were recognised by their spelling: {spelled}.",) if spelled else ()


def _is_spelling(name: str, role: str) -> bool:
    """Return whether a name is that of a role but for capitals, blanks, hyphens and the like."""
    plain = re.sub(r"[\s_.-]", "", name).lower()
    return plain == role.replace("_", "") or (plain == "next" and role == NEXT_STATE)


def _check_header(names: Sequence[str], line: int) -> None:
    """Refuse a header that names a column twice, or has something else than commas."""
    for name, times in Counter(names).items():
        if name and times > 1:
            sentence = f"the column {name!r} is there twice; give each column a name of its own"
            refuse(line, "duplicate-column", sentence, name)
    for mark, words in _SEPARATORS.items():
        if len(names) == 1 and mark in names[0]:
            sentence = (
                f"the columns are separated by {words}; save the table as CSV with commas, or write"
                f" {f'sep={mark}'!r} into a line above them"
            )
            refuse(line, "separator", sentence)


def _check_found(
    found: dict[str, str], names: Sequence[str], choice: ColumnChoice, line: int
) -> None:
    """Refuse a table without the columns that are needed."""
    lacking = [role for role in (STATE, ACTION, NEXT_STATE) if role not in found]
    if CASE in found and {STATE, NEXT_STATE} <= {*lacking}:
        sentence = (
            "the table has no states, only cases and perhaps how they ended; p_C and p_F are about"
            " single steps, so it needs a row for every step with the columns state, action and"
            f" next_state ({_HOW_TO_NAME}); there is {_list_names(names)}"
        )
        refuse(line, "end-only", sentence)
    if CASE not in found and COUNT not in found:
        lacking = [CASE, *lacking]
    if lacking:
        sentence = (
            f"the table has no column {_list_names(lacking)}, which it needs ({_HOW_TO_NAME});"
            f" there is {_list_names(names)}"
        )
        refuse(line, "missing-column", sentence, lacking[0])
    if CASE in found and COUNT in choice.columns:
        sentence = (
            f"the columns {found[CASE]!r} and {found[COUNT]!r} were given as case and count;"
            " counts are of rows without cases, so give one of the two"
        )
        refuse(line, "count-with-case", sentence, found[COUNT])
    for role, name in found.items():
        other = next(one for one in found if found[one] == name)
        if other != role:
            sentence = f"the column {name!r} would be read as {other} and as {role}; {_HOW_TO_NAME}"
            refuse(line, "same-column", sentence, name)


_HOW_TO_NAME: Final = (
    "columns={'state': 'severity'} or --columns state=severity says which column is which"
)


def _list_names(names: Sequence[str]) -> str:
    """List some names, the first of many."""
    shown = ", ".join(repr(shorten(name)) for name in names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown or "none"


def shorten(text: str, most: int = 40) -> str:
    """Return a text that fits into a sentence."""
    return text if len(text) <= most else text[: most - 3] + "..."
