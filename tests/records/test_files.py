"""Tables as people have them: packed, from Excel, with another separator, with other spellings."""

import gzip
import io
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from runs import one_sentence
from tables import GOAL, HEAD, columns, read, written
from workbooks import DATE, DAYS, OWN_DATE, packed, workbook, workbook_files

from grbp import InvalidInput, InvalidRecords
from grbp.records import files, workbook as sheets
from grbp.records.reading import read_records

ROWS: list[list[Any]] = [
    ["007", 1, 2, "continue", 3], ["007", 2, 3, "C", 4], ["NA", 1, 2, "0", 1], [7, 1, 1, "c", 2],
    [7, 2, 2, "CONTINUE", None], ["NA", 2, 1, "Finish", 0],
]  # fmt: skip
CSV = "".join(
    ",".join("" if cell is None else str(cell) for cell in row) + "\n" for row in [HEAD, *ROWS]
)


def expected(tmp_path: Path) -> dict[str, list[int]]:
    return columns(read_records(written(tmp_path, CSV), GOAL))


def refusal(tmp_path: Path, data: bytes) -> InvalidRecords:
    """The one sentence with which a file is refused, strictly or not."""
    for skip in (True, False):
        with pytest.raises(InvalidRecords) as refused:
            read_records(written(tmp_path, data), GOAL, skip_bad_rows=skip)
        (only,) = refused.value.problems
        assert one_sentence(refused.value) == only.sentence
    return refused.value


# Packed


@pytest.mark.parametrize("name", ["cases.csv.gz", "cases.csv"])
def test_a_packed_table_is_read_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    half = len(CSV) // 2
    for data in (
        gzip.compress(CSV.encode("utf-8-sig")),
        gzip.compress(CSV[:half].encode()) + gzip.compress(CSV[half:].encode()),
    ):
        path.write_bytes(data)
        assert columns(read_records(path, GOAL)) == expected(tmp_path)


def test_a_packed_table_and_a_workbook_come_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for data in (gzip.compress(CSV.encode()), workbook(HEAD, *ROWS)):
        for stream in (io.BytesIO(data), Pipe(data)):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream, encoding="ascii"))
            assert columns(read_records("-", GOAL)) == expected(tmp_path)


class Pipe(io.BytesIO):
    """Bytes that can be read once, from the first to the last."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: Any) -> int:
        raise io.UnsupportedOperation("seek")


def test_a_packed_table_that_is_damaged_is_refused(tmp_path: Path) -> None:
    data = gzip.compress(CSV.encode())
    for bad in (data[:-9], data[:20], data[:-8] + b"\0" * 8, data[:12] + b"\xff" * 9 + data[21:]):
        with pytest.raises(InvalidInput, match="cannot be read") as refused:
            read_records(written(tmp_path, bad), GOAL)
        one_sentence(refused.value)


def test_what_is_unpacked_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MOST_UNPACKED", 1000)
    rows = "a,1,2,c,3\n" * 200
    text = f"{','.join(HEAD)}\n{rows}"
    error = refusal(tmp_path, gzip.compress(text.encode()))
    assert (error.problems[0].rule, error.problems[0].line) == ("too-large", 98)
    # What is not packed has none: its size is plain to see.
    assert read_records(written(tmp_path, text), GOAL).rows == 200


@pytest.mark.slow
def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    line = gzip.compress(b"a" * (1 << 26))  # without an end
    assert refusal(tmp_path, line).problems[0].rule == "csv"


# Separators


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("first", ["sep={}", '"sep={}"', "SEP={}"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_above_the_header_names_the_separator(
    tmp_path: Path, mark: str, first: str, end: str
) -> None:
    text = f"{first.format(mark)}\n{CSV.replace(',', mark)}".replace("\n", end)
    for start in ("", "\ufeff"):
        records = read_records(written(tmp_path, start + text), GOAL)
        assert columns(records) == expected(tmp_path)
    bad = text + f"x{mark}1{mark}2{mark}punt{mark}3{end}"
    with pytest.raises(InvalidRecords, match="line 9, column action: 'punt'"):
        read_records(written(tmp_path, bad), GOAL)


def test_a_tab_may_be_written_out(tmp_path: Path) -> None:
    text = "sep=\\t\n" + CSV.replace(",", "\t")
    assert columns(read_records(written(tmp_path, text), GOAL)) == expected(tmp_path)


def test_a_separator_that_is_not_named_or_not_allowed_is_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, CSV.replace(",", ";").encode())
    assert "separated by semicolons; save the table as CSV with commas, or write 'sep=;'" in str(
        error
    )
    assert "'sep=\\t' into a line above" in str(refusal(tmp_path, CSV.replace(",", "\t").encode()))
    for mark in ("x", '"', " ", "0"):
        error = refusal(tmp_path, f"sep={mark}\n{CSV}".encode())
        assert error.problems[0].rule == "separator"
    assert refusal(tmp_path, b"sep=;\n").problems[0].rule == "empty"
    assert refusal(tmp_path, b"sep=;\n" + CSV.encode()).problems[0].rule == "missing-column"


# Spellings of the names


@pytest.mark.parametrize(
    "head",
    [
        "Case,Step,State,Action,Next State", "CASE,STEP,STATE,ACTION,NEXT_STATE",
        "case,Step,state,ACTION,next-state", " Case ,step,state,action,NextState",
        "case,step,state,action,Next", "case,step,state,action,next.state",
    ],
)  # fmt: skip
def test_names_are_recognised_in_other_spellings(tmp_path: Path, head: str) -> None:
    records = read_records(written(tmp_path, CSV.replace(",".join(HEAD), head)), GOAL)
    assert columns(records) == expected(tmp_path)
    (note,) = records.notes
    assert note.startswith("Columns were recognised by their spelling: ")
    for name, role in zip(map(str.strip, head.split(",")), HEAD, strict=True):
        assert (f"{name!r} as {role}" in note) == (name != role)


def test_an_exact_name_wins_and_what_is_asked_for_even_more() -> None:
    table: dict[str, Any] = {
        "Case": ["x", "x"], "case": ["a", "b"], "state": [1, 2], "ACTION": ["f", "f"],
        "action": ["c", "c"], "next_state": [2, 3], "Next": ["", ""],
    }  # fmt: skip
    records = read_records(table, GOAL)
    assert (records.cases, records.action.tolist()) == (2, [0, 0])
    assert not any("spelling" in note for note in records.notes)
    asked = {"case": "Case", "action": "ACTION", "next_state": "Next"}
    records = read_records(table, GOAL, columns=asked, skip_bad_rows=True)
    assert (records.cases, records.action.tolist()) == (1, [1])


def test_two_spellings_of_a_name_are_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecords, match="no column 'state', which it needs"):
        read(tmp_path, "a,1,2,c,3,2", "case,step,State,action,next_state,STATE")
    # Nor is a column that has another part already.
    with pytest.raises(InvalidRecords, match="no column 'action'"):
        read(tmp_path, "a,2,c,3", "case,state,Action,next_state", columns={"step": "Action"})
    with pytest.raises(InvalidRecords, match="no column 'action'"):
        read(tmp_path, "a,2,c,3", "case,state,Action,next_state", group="Action")


def test_a_count_is_recognised_where_there_are_no_cases(tmp_path: Path) -> None:
    records = read(tmp_path, "2,c,3,40 1,f,0,2", "State,Action,Next State,Count")
    assert records.count.tolist() == [40, 2]
    records = read(tmp_path, "a,2,c,3,many", "case,state,action,next_state,Count")
    assert records.count.tolist() == [1]


# Workbooks


def test_a_workbook_is_read_as_its_table_is(tmp_path: Path) -> None:
    for name in ("cases.xlsx", "cases.csv"):
        path = tmp_path / name
        path.write_bytes(workbook(HEAD, *ROWS))
        records = read_records(path, GOAL)
        assert columns(records) == expected(tmp_path)
        assert (records.cases, records.open_empty_next, records.notes) == (3, 1, ())


def test_cells_of_a_workbook_are_exact() -> None:
    inline = b'<c AT t="inlineStr"><is><r><t>0</t></r><r><t>07</t></r></is></c>'
    cells = [
        "007", 7, "7.0", 7.0, "7 ", inline, b'<c AT t="str"><f>A1&amp;""</f><v>=007</v></c>', True,
        b'<c AT t="e"><v>#N/A</v></c>', b'<c AT t="n"><v>1E2</v></c>', 0.1,
        b"<c AT><v>0.10000000000000001</v></c>",
        (45123, DATE), (45123.5, OWN_DATE), (3, DAYS), b'<c AT t="d"><v>2024-01-02</v></c>', 2**60,
        "a\nb <&> \u00fc", "a_x000D_b_x005F_x0041__x0041_",
    ]  # fmt: skip
    names = [
        "007", "7", "7.0", "7", "7 ", "007", "=007", "TRUE", "#N/A", "100", "0.1", "0.1",
        "2023-07-16", "2023-07-16T12:00:00", "3", "2024-01-02", repr(float(2**60)),
        "a\nb <&> \u00fc", "a\rb_x0041__x0041_",
    ]  # fmt: skip
    with sheets.open_workbook(io.BytesIO(workbook(*([cell] for cell in cells)))) as sheet:
        assert list(sheet.rows) == [(k, {0: name}) for k, name in enumerate(names, start=1)]


@pytest.mark.parametrize(
    ("days", "old_epoch", "date"),
    [
        (1, False, "1900-01-01"), (59, False, "1900-02-28"), (61, False, "1900-03-01"),
        (36526, False, "2000-01-01"), (36526.25, False, "2000-01-01T06:00:00"),
        (2958465, False, "9999-12-31"), (2958466, False, "2958466"), (-1, False, "-1"),
        (0.5, False, "0.5"), (1, True, "1904-01-02"), (35064, True, "2000-01-01"),
        (2957003, True, "9999-12-31"), (2957004, True, "2957004"),
        (45123.123456789, False, "2023-07-16T02:57:46.667000"),
    ],
)  # fmt: skip
def test_dates_are_those_that_excel_shows(days: float, old_epoch: bool, date: str) -> None:
    data = workbook([(days, DATE)], old_epoch=old_epoch)
    with sheets.open_workbook(io.BytesIO(data)) as sheet:
        assert list(sheet.rows) == [(1, {0: date})]


def test_rows_of_a_workbook_have_the_numbers_that_excel_shows(tmp_path: Path) -> None:
    rows = [[*row] for row in ROWS]
    rows[3][3] = "punt"
    error = refusal_of_rows(tmp_path, workbook(HEAD, [None] * 5, *rows, first=3))
    assert error.problems[0].line == 3 + 2 + 3
    assert str(error).startswith("row 8, column action: 'punt' was given;")
    beside = workbook(HEAD, *ROWS[:2], [*ROWS[2], None, "a remark"])
    assert str(refusal_of_rows(tmp_path, beside)).startswith("row 4: the row has a different")
    # Cells that are there and empty are nothing.
    blank = b'<c AT s="1"/>'
    wide = [[*row, None, blank, b'<c AT t="str"><v></v></c>'] for row in ROWS]
    read_again = read_records(written(tmp_path, workbook(HEAD, *wide, [blank] * 9)), GOAL)
    assert columns(read_again) == expected(tmp_path)


def refusal_of_rows(tmp_path: Path, data: bytes) -> InvalidRecords:
    with pytest.raises(InvalidRecords) as refused:
        read_records(written(tmp_path, data), GOAL)
    return refused.value


def test_the_first_sheet_that_is_shown_is_read(tmp_path: Path) -> None:
    pages: dict[str, list[Any]] = {"Lists": [["x"]], "M\u00e4rz": [HEAD, *ROWS], "Notes": [["y"]]}
    data = packed(workbook_files(pages, hidden=["Lists"]))
    records = read_records(written(tmp_path, data), GOAL)
    assert columns(records) == expected(tmp_path)
    assert records.notes == ("The workbook has 3 sheets, and 'M\u00e4rz' was read.",)


def test_a_workbook_that_others_write_is_read(tmp_path: Path) -> None:
    """Without places of cells, with whole paths, prefixes, and a strict vocabulary."""
    plain = workbook_files({"S": [HEAD, *ROWS]})
    text = plain["xl/worksheets/sheet1.xml"]
    bare = re.sub(r' (r|spans)="[^"]*"', "", text.replace('<c r="E6"', '<c/><c r="E6"'))
    short = {**plain, "xl/worksheets/sheet1.xml": bare}
    paths = plain["xl/_rels/workbook.xml.rels"].replace('Target="', 'Target="/xl/')
    prefixed = text.replace("<", "<x:").replace("<x:/", "</x:").replace("<x:?", "<?")
    strict = {
        name: page.replace("schemas.openxmlformats.org", "purl.oclc.org/ooxml")
        for name, page in plain.items()
    }
    for changed in (
        short, {**plain, "xl/_rels/workbook.xml.rels": paths}, strict,
        {**plain, "xl/worksheets/sheet1.xml": prefixed.replace("xmlns=", "xmlns:x=")},
    ):  # fmt: skip
        assert columns(read_records(written(tmp_path, packed(changed)), GOAL)) == expected(tmp_path)
    assert columns(
        read_records(written(tmp_path, packed(plain, zipfile.ZIP_STORED)), GOAL)
    ) == expected(tmp_path)


def test_a_formula_that_nobody_has_computed_is_refused(tmp_path: Path) -> None:
    rows = [[*row] for row in ROWS]
    rows[2][2] = b"<c AT><f>1+1</f></c>"
    error = refusal(tmp_path, workbook(HEAD, *rows))
    assert "row 4 has a formula without its value" in str(error)


BOOK = workbook_files({"S": [HEAD, *ROWS]})
SHEET = "xl/worksheets/sheet1.xml"
ENTITIES = (
    '<!DOCTYPE worksheet [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">'
    '<!ENTITY c SYSTEM "file:///etc/passwd">]>'
)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"_rels/.rels": "<x/>"}, "a ZIP archive, but not an Excel workbook"),
        ({"xl/workbook.xml": "<workbook/>"}, "the workbook has no sheet"),
        ({"xl/workbook.xml": "<workbook>"}, "no element found"),
        ({"xl/_rels/workbook.xml.rels": "<Relationships/>"}, "the workbook has no sheet"),
        ({SHEET: BOOK[SHEET].replace("?>\n", "?>" + ENTITIES, 1)}, "declares a document type"),
        ({SHEET: BOOK[SHEET].replace("<v>0</v>", "<v>99</v>", 1)}, "cannot|can be read"),
        ({SHEET: BOOK[SHEET].replace("<v>1</v>", "<v>one</v>", 1)}, "can be read"),
        ({SHEET: BOOK[SHEET].replace('r="B2"', 'r="A2"', 1)}, "not in their order"),
        ({SHEET: BOOK[SHEET].replace('r="B2"', 'r="ZZZZ2"', 1)}, "not in their order"),
        ({SHEET: BOOK[SHEET].replace('<row r="3"', '<row r="1"', 1)}, "not in their order"),
        ({SHEET: BOOK[SHEET].replace('<row r="7"', '<row r="9999999"', 1)}, "not in their order"),
        ({SHEET: BOOK[SHEET].replace("<v>1</v>", f"<v>{'1' * (1 << 21)}</v>", 1)}, "characters"),
        ({SHEET: BOOK[SHEET].replace("<v>", f"<!--{'-x' * (1 << 21)}--><v>", 1)}, "too long cells"),
        ({SHEET: BOOK[SHEET].replace("<v>", f"<v a='{'x' * (1 << 22)}'>", 1)}, "too long cells"),
        ({SHEET: "<worksheet/>"}, "the first sheet is empty"),
    ],
)
def test_a_workbook_that_cannot_be_meant_is_refused(
    tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    with pytest.raises(InvalidRecords, match=words) as refused:
        read_records(written(tmp_path, packed({**BOOK, **changes})), GOAL)
    one_sentence(refused.value)


def test_archives_that_are_no_workbooks_are_refused(tmp_path: Path) -> None:
    assert "not an Excel workbook" in str(refusal(tmp_path, packed({"a.txt": "x"})))
    assert "of an old Excel" in str(refusal(tmp_path, b"\xd0\xcf\x11\xe0" + b"\0" * 600))
    unusual = packed(BOOK, zipfile.ZIP_BZIP2)
    assert "packed in an unusual way" in str(refusal(tmp_path, unusual))
    missing = {name: text for name, text in BOOK.items() if name != SHEET}
    assert "that can be read" in str(refusal(tmp_path, packed(missing)))


def test_what_a_workbook_is_unpacked_to_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "MOST_UNPACKED", len(BOOK[SHEET]) - 1)
    error = refusal(tmp_path, packed(BOOK))
    assert error.problems[0].rule == "too-large"
    monkeypatch.undo()
    monkeypatch.setattr(sheets, "_MOST_EVENTS", BOOK[SHEET].count("<") - 2)
    assert "too many or too long cells" in str(refusal(tmp_path, packed(BOOK)))
    monkeypatch.undo()
    monkeypatch.setattr(files, "_MOST_PIPED", 100)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe(packed(BOOK)), encoding="ascii"))
    with pytest.raises(InvalidRecords, match="over 100 bytes; name its file"):
        read_records("-", GOAL)
