"""Read a table of past cases: a CSV file, a data frame, or a mapping of columns.

A column is read as the number of each cell's text among the different texts of the column. What
follows looks at those few texts, and goes over the rows with NumPy.
"""

import csv
import io
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np
from numpy.typing import NDArray

from grbp._io import reason
from grbp.errors import InvalidInput, did_you_mean
from grbp.numerics.arrays import Bools, Ints
from grbp.records.columns import (
    ROLES,
    Column,
    ColumnChoice,
    Table,
    find_columns,
    refuse,
    shorten,
)

_CHUNK: Final = 20_000
"""Rows of a file that are taken at a time."""

_LONGEST: Final = 1 << 24
"""More characters than a line of a table has; what is not a table may have lines without an end."""

_NOTHING: Final[Ints] = np.zeros(0, dtype=np.int64)


def read_table(source: object, choice: ColumnChoice) -> Table:
    """Read the chosen columns from a path, a frame or a mapping."""
    for role in choice.columns:
        if role not in ROLES:
            meant = did_you_mean(role, ROLES) or f"it must be one of {', '.join(ROLES)}"
            raise InvalidInput(
                f"columns has the key {role!r}, which is not the role of a column; {meant}"
            )
    if isinstance(source, str | Path):
        with _open_table(source) as stream:
            return _read_csv(stream, choice)
    return _read_frame(source, choice)


# A file


@contextmanager
def _open_table(path: str | Path) -> Iterator[TextIO]:
    """Open a file, or standard input; bytes that are not UTF-8 are found line by line later."""
    how: dict[str, Any] = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": ""}
    try:
        if str(path) == "-":
            if sys.stdin is None:
                raise InvalidInput("there is no standard input to read; name a CSV file")
            raw = getattr(sys.stdin, "buffer", None)
            if raw is None:
                yield sys.stdin
                return
            text = io.TextIOWrapper(raw, **how)
            try:
                yield text
            finally:
                text.detach()
            return
        with Path(path).open(**how) as stream:
            yield stream
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise InvalidInput(
            f"{shorten(str(path), 200)!r} cannot be read ({why}); name a CSV file, or - for"
            " standard input"
        ) from error


def _check_lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines of a file; refuse one that is not text in UTF-8, or that does not end."""
    for number, line in enumerate(iter(partial(stream.readline, _LONGEST), ""), start=1):
        rule, problem = "", ""
        if len(line) == _LONGEST:
            rule, problem = "csv", f"over {_LONGEST - 1:,} characters; is this a table in CSV?"
        # What stands for a byte that was not understood cannot be encoded again.
        elif not line.isascii() and line.encode(errors="ignore").decode() != line:
            rule, problem = "encoding", "bytes that are not UTF-8; save the table as CSV in UTF-8"
        elif "\0" in line:
            rule, problem = "nul", "a NUL character; save the table as CSV in UTF-8"
        if rule:
            refuse(number, rule, f"line {number} has {problem}")
        yield line


def _read_csv(stream: TextIO, choice: ColumnChoice) -> Table:
    """Read a CSV file in chunks of rows."""
    reader = csv.reader(_check_lines(stream), strict=True)
    chunks = _read_chunks(reader)
    head, line = next(chunks, ([], 1))
    if not head:
        refuse(1, "empty", "the table is empty; its first line must name the columns")
    names = [name.strip() for name in head[0]]
    found = find_columns(names, choice, line)
    needed = [*found.values(), *choice.group]
    places = [names.index(name) for name in needed]
    numbers: list[dict[str, int]] = [_number_keys() for _ in places]
    parts: list[list[Ints]] = [[] for _ in places]
    lines: list[Ints] = []
    uneven: list[Bools] = []
    for rows, first in chunks:
        last = reader.line_num
        if last - first + 1 == len(rows) and set(map(len, rows)) == {len(names)}:
            lines.append(np.arange(first, last + 1))
            uneven.append(np.zeros(len(rows), dtype=np.bool_))
        else:
            at = first + np.cumsum([0, *map(_height, rows)])[:-1]
            filled = [k for k, row in enumerate(rows) if row]
            rows = [rows[k] for k in filled]  # noqa: PLW2901 (blank lines are not rows)
            lines.append(at[filled])
            uneven.append(np.array([len(row) != len(names) for row in rows], dtype=np.bool_))
            rows = [row + [""] * (len(names) - len(row)) for row in rows]  # noqa: PLW2901
        for place, number, part in zip(places, numbers, parts, strict=True):
            cells = [row[place] for row in rows]
            part.append(np.fromiter(map(number.__getitem__, cells), np.int32, len(cells)))
    read = [
        Column(name, np.concatenate([_NOTHING, *part]), list(number))
        for name, number, part in zip(needed, numbers, parts, strict=True)
    ]
    return Table(
        "line",
        dict(zip(found, read, strict=False)),
        read[len(found) :],
        np.concatenate([_NOTHING, *lines]),
        np.concatenate([_NOTHING.astype(np.bool_), *uneven]),
    )


def _read_chunks(reader: Any) -> Iterator[tuple[list[list[str]], int]]:
    """Yield rows, the head alone first, and the line in which they begin."""
    size = 1
    while True:
        first = reader.line_num + 1
        rows: list[list[str]] = []
        try:
            # What the reader raises must not lose the rows before it, which say where it was.
            rows.extend(islice(reader, size))
        except csv.Error as error:
            line = first + sum(map(_height, rows))
            refuse(line, "csv", f"line {line} is not valid CSV ({_explain(error)})")
        if not rows:
            return
        if size == 1 and not rows[0]:  # blank lines before the head
            continue
        yield rows, first
        size = _CHUNK


def _explain(error: csv.Error) -> str:
    """Say what is wrong with a line of CSV."""
    reasons = {
        "field limit": f"a cell has more than {csv.field_size_limit():,} characters; is a quotation"
        " mark not closed?",
        "unexpected end": "a quotation mark is not closed",
        "expected after": "a quotation mark inside a cell must be doubled",
    }
    return next((words for part, words in reasons.items() if part in str(error)), str(error))


def _height(row: Sequence[str]) -> int:
    """Return over how many lines a row goes."""
    return 1 + sum(c.count("\n") + c.count("\r") - c.count("\r\n") for c in row)


def _number_keys() -> dict[str, int]:
    """Return a dictionary that gives every new key the next number."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


# A frame


def _read_frame(source: Any, choice: ColumnChoice) -> Table:
    """Read a data frame, or a mapping from names to columns."""
    if hasattr(source, "collect"):
        raise InvalidInput("a lazy frame was given; collect() it first")
    keys = source if isinstance(source, Mapping) else getattr(source, "columns", None)
    if keys is None or isinstance(keys, str) or not hasattr(source, "__getitem__"):
        raise InvalidInput(
            f"a table of type {type(source).__name__} was given; it must be the path of a CSV file,"
            " a pandas or Polars frame, or a mapping of names to columns"
        )
    by_name = {str(key): key for key in keys}
    found = find_columns([str(key) for key in keys], choice, 0)
    read = [_frame_column(name, source[by_name[name]]) for name in [*found.values(), *choice.group]]
    rows = len(read[0].codes)
    for column in read:
        if len(column.codes) != rows:
            raise InvalidInput(
                f"the column {column.name!r} has {len(column.codes):,} rows and the first one has"
                f" {rows:,}; all columns must have the same number of rows"
            )
    return Table(
        "row",
        dict(zip(found, read, strict=False)),
        read[len(found) :],
        np.arange(1, rows + 1),
        np.zeros(rows, dtype=np.bool_),
        _read_index(source, rows),
    )


def _read_index(source: Any, rows: int) -> list[object] | None:
    """Return the labels of a frame's rows, if there are any and they are not counted from 0."""
    index: Any = getattr(source, "index", None)
    labels = index.tolist() if hasattr(index, "tolist") else None
    return None if labels == list(range(rows)) else labels


def _frame_column(name: str, values: Any) -> Column:
    """Return a column of a frame; values that are missing are empty text."""
    try:
        # NumPy would turn what is missing in a list of texts into the text "nan".
        plain = isinstance(values, list | tuple)
        array: NDArray[Any] = np.asarray(values, dtype=object if plain else None)
    except ValueError:  # rows of unequal lengths
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise InvalidInput(f"the column {name!r} does not hold one value for each row")
    if array.dtype.kind in "iu" and len(array):
        low, high = int(array.min()), int(array.max())
        if high - low <= 2 * len(array) and high < 2**63:
            codes = array.astype(np.int64) - low
            return Column(name, codes, [str(value) for value in range(low, high + 1)])
    if array.dtype.kind in "iufbM":
        different, codes = np.unique(array, return_inverse=True)
        texts = [_cell_text(value) for value in different]
        return Column(name, codes, texts, array.dtype.kind == "f" and any(texts))
    numbers: dict[Any, int] = _number_keys()
    try:
        codes = np.fromiter(map(numbers.__getitem__, array.tolist()), np.int64, len(array))
    except TypeError as error:
        raise InvalidInput(
            f"the column {name!r} holds lists or other things that are not single values"
        ) from error
    texts = [_cell_text(value) for value in numbers]
    decimal = any(
        isinstance(value, float) and text for value, text in zip(numbers, texts, strict=True)
    )
    return _merge_equal_texts(Column(name, codes, texts, decimal))


def _merge_equal_texts(column: Column) -> Column:
    """Give equal texts of different values, such as 1 and "1", the same number."""
    numbers = _number_keys()
    again = np.array([numbers[text] for text in column.texts], dtype=np.int64)
    if len(numbers) == len(again):
        return column
    return column._replace(codes=again[column.codes], texts=list(numbers))


def _cell_text(value: Any) -> str:
    """Return a value of a frame as text; one that is missing is empty."""
    if isinstance(value, str):
        return value
    missing = value is None or type(value).__name__ in ("NAType", "NaTType") or str(value) == "NaT"
    if missing or (isinstance(value, float | np.floating) and value != value):  # noqa: PLR0124
        return ""
    return str(value)
