"""Read the first sheet of an Excel workbook (.xlsx), which is a ZIP archive of XML files.

Cells are read as what was entered: text is exact, whole numbers have no decimals, dates are in ISO
form. Nothing is unpacked beyond a limit, and no declaration of a document type is followed.

It is by hand because a case must not seem open where its cell is wrong: python-calamine 0.9 reads
#N/A and formulas without a value as empty cells, and two cells in opposite corners of a sheet end
the process; openpyxl 3.1 reads such formulas so too, and takes gigabytes for a bomb of 700 kB.
"""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import IO, Final, NamedTuple, TypeAlias
from xml.parsers import expat

from grbp.errors import InvalidInput
from grbp.records.columns import refuse

MOST_UNPACKED: Final = 1 << 29
"""The largest number of bytes that a part is unpacked to."""

_MOST_EVENTS: Final = 1 << 25
"""The largest number of begins and ends of elements in a part: a full sheet of seven columns."""

_LONGEST: Final = 1 << 20
"""More characters than a cell has; Excel allows 32,767."""

_MOST_COLUMNS, _MOST_ROWS = 1 << 14, 1 << 20
"""The size of a sheet."""

_DATE_FORMATS: Final = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""The numbers of the formats of dates that need no description."""

_UNPRINTED: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
"""Parts of the description of a format that say nothing of what is shown."""

_ESCAPED: Final = re.compile("_x(00(?:[01][0-9A-F]|5F))_", re.IGNORECASE)

_SAVE: Final = "save the table as CSV in UTF-8"

Row: TypeAlias = tuple[int, dict[int, str]]
"""The number of a row, from 1, and its cells that are not empty by their columns, from 0."""

_NONE: Final[dict[str, str]] = {}

_Event: TypeAlias = tuple[bool, str, dict[str, str], str]
"""Whether an element begins, its name, its attributes if so, and the text before it if not."""


class Sheet(NamedTuple):
    """The sheet that is read, and the names of all."""

    name: str
    names: list[str]
    rows: Iterator[Row]


@contextmanager
def open_workbook(stream: IO[bytes]) -> Iterator[Sheet]:
    """Open a workbook, and read its first sheet that is not hidden."""
    try:
        with zipfile.ZipFile(stream) as archive:
            yield _find_sheet(archive)
    except InvalidInput:
        raise
    except (
        zipfile.BadZipFile, zlib.error, expat.ExpatError, EOFError, LookupError, ValueError,
        RuntimeError,
    ) as error:  # fmt: skip
        why = " ".join(str(error).split())
        refuse(
            1, "workbook", f"the file is not an Excel workbook that can be read ({why}); {_SAVE}"
        )


def _find_sheet(archive: zipfile.ZipFile) -> Sheet:
    """Find the first sheet that is not hidden, and what its cells refer to."""
    book = next(iter(_list_parts(archive, "", "officeDocument").values()), "")
    if not book.endswith(".xml"):
        refuse(1, "workbook", f"the file is a ZIP archive, but not an Excel workbook; {_SAVE}")
    parts = _list_parts(archive, book, "worksheet")
    sheets, old_epoch = [], False
    for _, name, attributes, _ in _read_events(archive, book):
        plain = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        if name == "sheet" and plain.get("id") in parts:
            sheets.append(plain)
        elif name == "workbookPr":
            old_epoch |= attributes.get("date1904") in ("1", "true")
    if not sheets:
        refuse(1, "workbook", f"the workbook has no sheet; {_SAVE}")
    first = next((one for one in sheets if one.get("state", "visible") == "visible"), sheets[0])
    shared = [
        text
        for part in _list_parts(archive, book, "sharedStrings").values()
        for text in _read_shared(archive, part)
    ]
    dates = {
        number
        for part in _list_parts(archive, book, "styles").values()
        for number in _list_date_styles(archive, part)
    }
    epoch = datetime(1904, 1, 1) if old_epoch else datetime(1899, 12, 30)
    cells = _Cells(shared, dates, epoch)
    names = [one.get("name", "") for one in sheets]
    return Sheet(first.get("name", ""), names, cells.read_rows(archive, parts[first["id"]]))


def _list_parts(archive: zipfile.ZipFile, part: str, kind: str) -> dict[str, str]:
    """Return the parts of a kind that a part refers to, by their ids."""
    folder, name = posixpath.split(part)
    file = posixpath.join(folder, "_rels", f"{name}.rels")
    if file not in archive.namelist():
        return {}
    return {
        one["Id"]: posixpath.normpath(posixpath.join("/", folder, one["Target"])).lstrip("/")
        for begins, name, one, _ in _read_events(archive, file)
        if begins and name == "Relationship" and one["Type"].endswith(f"/{kind}")
    }


def _read_events(archive: zipfile.ZipFile, part: str) -> Iterator[_Event]:
    """Read a part of a workbook, some of it at a time."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    events: list[_Event] = []
    text: list[str] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        text.clear()
        events.append((True, name.rpartition(":")[2], attributes, ""))

    def end(name: str) -> None:
        events.append((False, name.rpartition(":")[2], _NONE, "".join(text)))
        text.clear()

    def add(characters: str) -> None:
        text.append(characters)
        if len(text) > 1 and sum(map(len, text)) > _LONGEST:
            refuse(1, "workbook", f"a cell has over {_LONGEST:,} characters; {_SAVE}")

    def stop(*_: object) -> None:
        refuse(1, "workbook", f"the workbook declares a document type, as none does; {_SAVE}")

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = add
    parser.StartDoctypeDeclHandler = stop
    info = archive.getinfo(part)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile("packed in an unusual way")
    if info.file_size > MOST_UNPACKED:
        sentence = f"the workbook has over {MOST_UNPACKED:,} bytes when it is unpacked; {_SAVE}"
        refuse(1, "too-large", sentence)
    left, stuck = _MOST_EVENTS, 0
    with archive.open(info) as stream:
        while chunk := stream.read(1 << 16):
            parser.Parse(chunk)
            # What is read again and again until it ends must end soon.
            stuck = 0 if events or text else stuck + len(chunk)
            left -= len(events)
            if left < 0 or stuck > _LONGEST:
                refuse(1, "too-large", f"the workbook has too many or too long cells; {_SAVE}")
            yield from events
            events.clear()
        parser.Parse(b"", True)
        yield from events


def _read_shared(archive: zipfile.ZipFile, part: str) -> Iterator[str]:
    """Read the texts that cells refer to by their numbers."""
    text, aside = "", False
    for begins, name, _, characters in _read_events(archive, part):
        if name == "rPh":  # how a text is pronounced
            aside = begins
        elif name == "t" and not begins and not aside:
            text += characters
        elif name == "si" and not begins:
            yield _unescape(text)
            text = ""


def _unescape(text: str) -> str:
    """Return a text with the characters that XML cannot hold, which Excel writes as _x000D_."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def _list_date_styles(archive: zipfile.ZipFile, part: str) -> Iterator[int]:
    """Return the numbers of the styles in which a number is shown as a date."""
    dates, number, inside = set(_DATE_FORMATS), 0, False
    for begins, name, attributes, _ in _read_events(archive, part):
        if name == "cellXfs":
            inside = begins
        elif begins and name == "numFmt":
            shown = _UNPRINTED.sub("", attributes["formatCode"])
            if re.search("[dmy]", shown, re.IGNORECASE):
                dates.add(int(attributes["numFmtId"]))
        elif begins and inside and name == "xf":
            if int(attributes.get("numFmtId", 0)) in dates:
                yield number
            number += 1


class _Cells(NamedTuple):
    """What the cells of a sheet refer to: texts, styles of dates, and the day 0."""

    shared: list[str]
    dates: set[int]
    epoch: datetime

    def read_rows(self, archive: zipfile.ZipFile, part: str) -> Iterator[Row]:
        """Read the rows of a sheet that are not empty."""
        for row, found in groupby(self._read_cells(archive, part), itemgetter(0)):
            cells = {column: text for _, column, text in found if text}
            if cells:
                yield row, cells

    def _read_cells(self, archive: zipfile.ZipFile, part: str) -> Iterator[tuple[int, int, str]]:
        """Read the row, the column and the text of every cell."""
        row, column, aside = 0, -1, False
        cell: dict[str, str] = {}
        for begins, name, attributes, text in _read_events(archive, part):
            if name == "row" and begins:
                row = _check_next(row, int(attributes.get("r", row + 1)), _MOST_ROWS)
                column = -1
            elif name == "c" and begins:
                cell = attributes
                at = _read_column(cell["r"]) if "r" in cell else column + 1
                column = _check_next(column, at, _MOST_COLUMNS - 1)
            elif name == "rPh":  # how a text is pronounced
                aside = begins
            elif name in ("v", "t") and not begins and not aside:
                cell["value"] = cell.get("value", "") + text
            elif name == "f":
                cell["formula"] = text
            elif name == "c":
                yield row, column, self._read_value(row, cell)

    def _read_value(self, row: int, cell: dict[str, str]) -> str:
        """Return what a cell holds as text."""
        value = cell.get("value", "")
        if not value:
            if "formula" in cell and "value" not in cell:
                sentence = (
                    f"row {row} has a formula without its value; open the workbook in Excel and"
                    f" save it, or {_SAVE}"
                )
                refuse(row, "formula", sentence)
            return ""
        kind = cell.get("t", "n")
        if kind == "s":
            return self.shared[int(value)]
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind != "n":
            return _unescape(value)
        number = float(value)
        last = (datetime.max - self.epoch).days
        if int(cell.get("s", 0)) in self.dates and 1 <= number <= last:
            return self._read_date(number)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)

    def _read_date(self, number: float) -> str:
        """Return a number of days as a date, with the time of day if there is one."""
        if number < 60 and self.epoch.year < 1900:
            number += 1  # Excel has a 29 February 1900.
        moment = self.epoch + timedelta(seconds=round(number * 86_400, 3))
        return moment.isoformat().removesuffix("T00:00:00")


def _check_next(last: int, number: int, most: int) -> int:
    """Refuse rows or cells that are not in their order, or more than a sheet has."""
    if not last < number <= most:
        raise ValueError("its rows and cells are not in their order")
    return number


def _read_column(place: str) -> int:
    """Read the column of a cell such as B7, from 0."""
    number = 0
    for letter in place.rstrip("0123456789"):
        number = 26 * number + ord(letter) - 64
    return number - 1
