"""Any bytes at all, and valid tables with a cell, a byte or a line changed: no silent guess.

The outcome is always records or a refusal; what is read is what a slow reading, row by row, finds.
"""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from optional import optional
from tables import GOAL, HEAD, Row, everything, slow_reading, understood, written
from workbooks import packed, workbook_files

from grbp import GrbpError, InvalidRecords
from grbp.records.clean import Records
from grbp.records.reading import read_records

shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

CELLS = [
    "", " ", "0", "1", "2", "3", "4", "5", "-1", "1.0", "2.5", "03", " 2", "c", "C", "f", "finish",
    "continue", "punt", "NA", "nan", "None", "a", "b", "a ", "٢", '"', ",", "\n", "a\r\nb",
    "\ud7ff", "\x00", "é", "1e0", "x" * 200_000,
]  # fmt: skip
BYTES = [
    b"", b"\n", b"\r", b"\r\n", b'"', b'""', b",", b";", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf",
    b"\xc3", b"\xed\xa0\x80", b"\xfe\xff", b"\x0c", "\u2028".encode(), b"x" * 140_000,
]  # fmt: skip


@st.composite
def walks(draw: st.DrawFn) -> list[list[str]]:
    """Draw the rows of some cases that break no rule."""
    rows = []
    for case in draw(
        st.lists(st.sampled_from(["a", "b", "NA", "007", " "]), min_size=1, unique=True)
    ):
        state = draw(st.integers(1, GOAL - 1))
        for step in range(draw(st.integers(1, 6))):
            action = draw(st.sampled_from(["c", "c", "continue", "f"]))
            ends = [0, GOAL] if action == "f" else [state - 1, state, state + 1]
            after = draw(st.sampled_from([*ends, ""])) if step else draw(st.sampled_from(ends))
            rows.append([case, str(step), str(state), action, str(after)])
            if after in (0, GOAL, ""):
                break
            state = int(str(after))
    return draw(st.permutations(rows))


def as_csv(rows: list[list[str]], end: str = "\n") -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end).writerows([HEAD, *rows])
    return text.getvalue().encode()


def outcome(source: Any, **options: Any) -> Records | GrbpError:
    """Read a table; nothing but records and a refusal may come of it."""
    try:
        return read_records(source, GOAL, **options)
    except GrbpError as error:
        return error


def as_read(records: Records, names: list[str]) -> list[tuple[str, int, int, int, int]]:
    rows = zip(
        [names[k] for k in records.case.tolist()],
        *(getattr(records, name).tolist() for name in HEAD[1:]),
        strict=True,
    )
    return list(rows)


def check(source: Any, cells: list[list[str]], line: int) -> None:
    """Compare a reading with the slow one, strict and without the bad rows."""
    rows = [understood(line + k, row) for k, row in enumerate(cells)]
    fine, kept = slow_reading(rows)
    strict, skipped = outcome(source), outcome(source, skip_bad_rows=True)
    assert isinstance(strict, Records) == fine, strict
    if not kept:
        assert isinstance(skipped, InvalidRecords)
        return
    assert isinstance(skipped, Records)
    names = list(
        dict.fromkeys(row.case for row in _by_first(rows) if row.case in {k[0] for k in kept})
    )
    assert as_read(skipped, names) == kept
    assert skipped.rows == len(cells) == len(kept) + sum(skipped.dropped.values())
    if fine:
        assert isinstance(strict, Records)
        assert everything(strict) == everything(skipped)
    else:
        assert isinstance(strict, InvalidRecords)
        assert strict.total >= len(strict.problems) > 0
        assert all(line <= one.line < line + len(cells) for one in strict.problems)


def _by_first(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row.line)


@shared
@given(walks(), st.data(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_table_with_changed_cells_is_read_as_it_says_or_refused(
    tmp_path: Path, rows: list[list[str]], data: st.DataObject, end: str
) -> None:
    plain = [cell for cell in CELLS if cell.isprintable() and "x" not in cell]
    for _ in range(data.draw(st.integers(0, 2))):
        row = data.draw(st.integers(0, len(rows) - 1))
        kind = data.draw(st.integers(0, len(HEAD) - 1))
        rows[row] = [*rows[row]]
        rows[row][kind] = data.draw(st.sampled_from(plain))
    for _ in range(data.draw(st.integers(0, 1))):
        rows.append(data.draw(st.sampled_from(rows)))
    check(written(tmp_path, as_csv(rows, end)), rows, 2)
    table = {name: [row[k] for row in rows] for k, name in enumerate(HEAD)}
    check(table, rows, 1)


@pytest.mark.soak
@shared
@given(walks(), st.data())
def test_a_file_and_frames_of_the_same_texts_agree(
    tmp_path: Path, rows: list[list[str]], data: st.DataObject
) -> None:
    pandas, polars = optional("pandas"), optional("polars")
    row = data.draw(st.integers(0, len(rows) - 1))
    kind = data.draw(st.integers(0, len(HEAD) - 1))
    rows[row] = [*rows[row]]
    rows[row][kind] = data.draw(
        st.sampled_from([c for c in CELLS if "\0" not in c and len(c) < 99])
    )
    table = {name: [row[k] for row in rows] for k, name in enumerate(HEAD)}
    path = written(tmp_path, as_csv(rows))
    for skip in (False, True):
        file = outcome(path, skip_bad_rows=skip)
        for source in (table, pandas.DataFrame(table, dtype=str), polars.DataFrame(table)):
            frame = outcome(source, skip_bad_rows=skip)
            if isinstance(file, Records):
                assert isinstance(frame, Records)
                lines = {"first_lines": None}
                assert everything(frame) | lines == everything(file) | lines
            elif isinstance(file, InvalidRecords):
                assert isinstance(frame, InvalidRecords)
                assert [p[1:3] for p in frame.problems] == [p[1:3] for p in file.problems]


@shared
@given(walks(), st.data())
def test_a_file_with_changed_bytes_is_read_or_refused(
    tmp_path: Path, rows: list[list[str]], data: st.DataObject
) -> None:
    text = as_csv(rows)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.sampled_from(BYTES)) + text[at + gone :]
    path = written(tmp_path, text)
    for skip in (False, True):
        outcome(path, skip_bad_rows=skip)


@pytest.mark.slow
@shared
@given(
    st.one_of(
        st.binary(max_size=300),
        st.text(max_size=200).map(str.encode),
        st.lists(st.sampled_from(BYTES), max_size=12).map(b"".join),
        st.lists(st.lists(st.sampled_from(CELLS), max_size=7), max_size=8).map(as_csv),
        st.text(max_size=60).map(lambda text: text.encode("utf-16")),
    ),
    st.booleans(),
)
def test_any_bytes_are_read_or_refused(tmp_path: Path, text: bytes, with_head: bool) -> None:
    path = written(tmp_path, ",".join(HEAD).encode() + b"\n" + text if with_head else text)
    for skip in (False, True):
        outcome(path, skip_bad_rows=skip)
        outcome(path, skip_bad_rows=skip, group="state", columns={"case": "action"})


BOOK = workbook_files(
    {"S": [HEAD, ["a", 1, 2, "c", 3], ["a", 2, 3, "c", None], ["b", 1, 1, "f", 0]]}
)


@shared
@given(st.data())
def test_a_workbook_with_changed_bytes_is_read_or_refused(
    tmp_path: Path, data: st.DataObject
) -> None:
    whole = bytearray(packed(BOOK))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(4, len(whole) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.just(len(whole)), st.integers(4, len(whole))))
    outcome(written(tmp_path, bytes(whole[:end])))


@shared
@given(st.data())
def test_a_workbook_with_changed_text_is_read_or_refused(
    tmp_path: Path, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(BOOK)))
    text = BOOK[name]
    for _ in range(data.draw(st.integers(1, 4))):
        at, gone = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 9))
        new = data.draw(
            st.sampled_from(["", "<", '"', "9", "-", "x", "/>", "&a;", "\n", "\0", "é"])
        )
        text = text[:at] + new + text[at + gone :]
    outcome(written(tmp_path, packed({**BOOK, name: text})))


@given(
    st.dictionaries(
        st.sampled_from([*HEAD, "order", "count", "x"]),
        st.lists(
            st.one_of(
                st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(CELLS),
                st.just([1]), st.binary(max_size=3), st.complex_numbers(), st.dates(),
            ),
            min_size=2, max_size=3,
        ),
    )
)  # fmt: skip
def test_any_values_in_columns_are_read_or_refused(table: dict[str, list[Any]]) -> None:
    for skip in (False, True):
        outcome(table, skip_bad_rows=skip)
