"""Read a table from a file or from standard input: CSV, also packed by gzip, or a workbook.

What a file is, its first bytes say and not its name. It is read by chunks of rows.
"""

import csv
import gzip
import io
import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO

import numpy as np

from grbp._io import reason
from grbp.errors import InvalidInput
from grbp.numerics.arrays import Bools, Ints
from grbp.records.columns import (
    Column,
    ColumnChoice,
    Table,
    find_columns,
    refuse,
    shorten,
)
from grbp.records.workbook import open_workbook

_CHUNK: Final = 20_000
"""Rows of a file that are taken at a time."""

_LONGEST: Final = 1 << 24
"""More characters than a line of a table has; what is not a table may have lines without an end."""

_MOST_UNPACKED: Final = 1 << 28
"""The largest number of characters that a file is unpacked to."""

_MOST_PIPED: Final = 1 << 28
"""The largest workbook that is read from a pipe, in bytes."""

_GZIP, _ZIP, _OLD_EXCEL = b"\x1f\x8b", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
"""How files begin that are not text."""

_SEPARATOR: Final = re.compile(r'"?sep=(.|\\t)"?[\r\n]*', re.IGNORECASE)
"""The line above the header by which a spreadsheet says what separates its columns."""

_NOTHING: Final[Ints] = np.zeros(0, dtype=np.int64)


def read_file(path: str | Path, choice: ColumnChoice) -> Table:
    """Read the chosen columns from a file, or from standard input."""
    with _open_file(path) as stream:
        if not isinstance(stream, io.BufferedReader):
            return _read_csv(stream, choice)
        magic = stream.peek(4)[:4]
        if magic == _ZIP:
            return _read_workbook(stream, choice)
        if magic == _OLD_EXCEL:
            sentence = (
                "the file is a workbook of an old Excel, or has a password; save the table as .xlsx"
                " or as CSV in UTF-8"
            )
            refuse(1, "workbook", sentence)
        packed = magic.startswith(_GZIP)
        raw: Any = gzip.GzipFile(fileobj=stream) if packed else stream
        # Bytes that are not UTF-8 are found line by line.
        text = io.TextIOWrapper(raw, "utf-8-sig", errors="surrogateescape", newline="")
        try:
            return _read_csv(text, choice, packed)
        finally:
            text.detach()


@contextmanager
def _open_file(path: str | Path) -> Iterator[io.BufferedReader | TextIO]:
    """Open a file or standard input, which may be text already."""
    try:
        if str(path) != "-":
            with Path(path).open("rb") as file:
                yield file
            return
        if sys.stdin is None:
            raise InvalidInput("there is no standard input to read; name a CSV file")
        raw = getattr(sys.stdin, "buffer", None)
        if raw is None:
            yield sys.stdin
            return
        stream = io.BufferedReader(raw)
        try:
            yield stream
        finally:
            stream.detach()
    except (OSError, ValueError, EOFError, zlib.error) as error:
        if isinstance(error, InvalidInput):
            raise
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise InvalidInput(
            f"{shorten(str(path), 200)!r} cannot be read ({why}); name a CSV file, or - for"
            " standard input"
        ) from error


# CSV


def _check_lines(stream: TextIO, packed: bool) -> Iterator[str]:
    """Yield the lines of a file; refuse one that is not text in UTF-8, or that does not end."""
    size = 0
    for number, line in enumerate(iter(partial(stream.readline, _LONGEST), ""), start=1):
        rule, problem = "", ""
        size += len(line)
        if len(line) == _LONGEST:
            rule, problem = "csv", f"over {_LONGEST - 1:,} characters; is this a table in CSV?"
        # What stands for a byte that was not understood cannot be encoded again.
        elif not line.isascii() and line.encode(errors="ignore").decode() != line:
            rule, problem = "encoding", "bytes that are not UTF-8; save the table as CSV in UTF-8"
        elif "\0" in line:
            rule, problem = "nul", "a NUL character; save the table as CSV in UTF-8"
        elif packed and size > _MOST_UNPACKED:
            rule = "too-large"
            problem = f"character {_MOST_UNPACKED:,} of what is unpacked; unpack the table first"
        if rule:
            refuse(number, rule, f"line {number} has {problem}")
        yield line


def _read_csv(stream: TextIO, choice: ColumnChoice, packed: bool = False) -> Table:
    """Read a CSV file."""
    lines = _check_lines(stream, packed)
    first = next(lines, "")
    mark = ","
    if named := _SEPARATOR.fullmatch(first):
        mark, first = named[1].replace("\\t", "\t"), "\n"
        if mark not in ",;\t|":
            sentence = f"the first line gives {mark!r} as separator; it must be , ; | or a tab"
            refuse(1, "separator", sentence)
    reader = csv.reader(chain([first], lines), strict=True, delimiter=mark)
    chunks = _read_chunks(reader)
    head, line = next(chunks, ([], 1))
    if not head:
        refuse(1, "empty", "the table is empty; its first line must name the columns")
    collector = _Collector(head[0], choice, line)
    width = len(collector.names)
    for rows, begin in chunks:
        last = reader.line_num
        if last - begin + 1 == len(rows) and set(map(len, rows)) == {width}:
            places: Ints = np.arange(begin, last + 1)
            uneven: Bools = np.zeros(len(rows), dtype=np.bool_)
        else:
            at = begin + np.cumsum([0, *map(_height, rows)])[:-1]
            filled = [k for k, row in enumerate(rows) if row]
            rows = [rows[k] for k in filled]  # noqa: PLW2901 (blank lines are not rows)
            places = at[filled]
            uneven = np.array([len(row) != width for row in rows], dtype=np.bool_)
            rows = [row + [""] * (width - len(row)) for row in rows]  # noqa: PLW2901
        collector.add(([row[k] for row in rows] for k in collector.needed), places, uneven)
    return collector.build("line")


class _Collector:
    """Collect the columns that are needed, a chunk of rows at a time."""

    def __init__(self, head: Sequence[str], choice: ColumnChoice, line: int) -> None:
        self.names = [name.strip() for name in head]
        self._found, self._notes = find_columns(self.names, choice, line)
        columns = [*self._found.values(), *choice.group]
        self.needed = [self.names.index(name) for name in columns]
        self._numbers: list[dict[str, int]] = [number_keys() for _ in columns]
        self._parts: list[list[Ints]] = [[] for _ in columns]
        self._places: list[Ints] = []
        self._uneven: list[Bools] = []

    def add(self, columns: Iterable[list[str]], places: Ints, uneven: Bools) -> None:
        """Add the cells of the columns that are needed, for some rows."""
        for cells, number, part in zip(columns, self._numbers, self._parts, strict=True):
            part.append(np.fromiter(map(number.__getitem__, cells), np.int32, len(cells)))
        self._places.append(places)
        self._uneven.append(uneven)

    def build(self, unit: str, *notes: str) -> Table:
        """Return the table."""
        read = [
            Column(self.names[place], np.concatenate([_NOTHING, *part]), list(number))
            for place, number, part in zip(self.needed, self._numbers, self._parts, strict=True)
        ]
        return Table(
            unit,
            dict(zip(self._found, read, strict=False)),
            read[len(self._found) :],
            np.concatenate([_NOTHING, *self._places]),
            np.concatenate([_NOTHING.astype(np.bool_), *self._uneven]),
            notes=(*notes, *self._notes),
        )


def number_keys() -> dict[Any, int]:
    """Return a dictionary that gives every new key the next number."""
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


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


# A workbook


def _read_workbook(stream: io.BufferedReader, choice: ColumnChoice) -> Table:
    """Read the first sheet of a workbook; its rows have the numbers that Excel shows."""
    file: BinaryIO = stream
    if not stream.seekable():
        file = io.BytesIO(stream.read(_MOST_PIPED + 1))
        if file.getbuffer().nbytes > _MOST_PIPED:
            refuse(1, "too-large", f"the workbook has over {_MOST_PIPED:,} bytes; name its file")
    with open_workbook(file) as sheet:
        rows = sheet.rows
        line, head = next(rows, (1, {}))
        if not head:
            refuse(1, "empty", "the first sheet is empty; its first row must name the columns")
        width = max(head) + 1
        collector = _Collector([head.get(k, "") for k in range(width)], choice, line)
        while some := list(islice(rows, _CHUNK)):
            collector.add(
                ([cells.get(k, "") for _, cells in some] for k in collector.needed),
                np.array([row for row, _ in some]),
                np.array([max(cells) >= width for _, cells in some], dtype=np.bool_),
            )
    others = [name for name in sheet.names if name != sheet.name]
    note = f"The workbook has {len(sheet.names)} sheets, and {shorten(sheet.name)!r} was read."
    return collector.build("row", *([note] if others else []))
