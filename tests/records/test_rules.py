"""Every rule for an irregular table: strict, with line and column, and with bad rows skipped."""

import copy
from pathlib import Path
from typing import Any

import pytest
from tables import columns, read, written

from grbp import GrbpError, InvalidRecords
from grbp.records.clean import OPEN
from grbp.records.reading import read_records

GOOD = "x,1,1,c,2 x,2,2,c,1 x,3,1,f,4"
"""A case that breaks no rule, in the lines 2 to 4."""


def problems(folder: Path, rows: str, **options: Any) -> list[tuple[int, str, str]]:
    with pytest.raises(InvalidRecords) as refused:
        read(folder, rows, **options)
    for one in refused.value.problems:
        assert one.sentence.startswith(f"line {one.line}")
        assert f"column {one.column}" in one.sentence or not one.column
        assert one.sentence in str(refused.value) or refused.value.total > 1
    return [(one.line, one.column, one.rule) for one in refused.value.problems]


@pytest.mark.parametrize(
    ("rows", "line", "column", "rule", "kept", "rest"),
    [
        ("a,1,2,c,3 a,2,3,c", 6, "", "cells", 1, 0),
        ("a,1,2,c,3 a,2,3,c,4,5", 6, "", "cells", 1, 0),
        ("a,1,2,c,3 ,2,3,c,4", 6, "case", "case", 1, 0),
        ("a,1,2,c,3 a,two,3,c,4 a,3,3,c,4", 6, "step", "step", 1, 1),
        ("a,-1,2,c,3 a,2,3,c,4", 5, "step", "step", 0, 1),
        ("a,1.5,2,c,3", 5, "step", "step", 0, 0),
        ("a,1,5,c,4", 5, "state", "state", 0, 0),
        ("a,1,,c,4", 5, "state", "state", 0, 0),
        ("a,1,mild,c,3 a,2,3,c,4", 5, "state", "state", 0, 1),
        ("a,1,2,c,5", 5, "next_state", "next-state", 0, 0),
        ("a,1,2,c,NA", 5, "next_state", "next-state", 0, 0),
        ("a,1,2,punt,3 a,2,3,c,4", 5, "action", "action", 0, 1),
        ("a,1,2,,3", 5, "action", "action", 0, 0),
        ("a,1,2,2,3", 5, "action", "action", 0, 0),
        ("a,1,2,c,3 a,2,3,c,4 a,3,4,,", 7, "state", "after-end", 2, 0),
        ("a,1,0,c,1", 5, "state", "after-end", 0, 0),
        ("a,1,3,c,4 a,2,3,c,4 a,3,3,c,4", 6, "state", "after-end", 1, 1),
        ("a,1,1,f,0 a,5,1,c,2", 6, "state", "after-end", 1, 0),
        ("a,1,2,f,3 a,2,3,c,4", 5, "next_state", "finish-inside", 0, 1),
        ("a,1,2,f,2", 5, "next_state", "finish-inside", 0, 0),
        ("a,1,2,c, a,2,3,c,4", 6, "state", "after-open", 1, 0),
        ("a,1,2,c,3 a,3,3,c,4", 6, "step", "gap", 1, 0),
        ("a,1,2,c,3 a,2,2,c,3 a,3,3,c,4", 6, "state", "link", 1, 1),
        ("a,1,2,c,3 a,2,3,c,4 a,2,3,c,2", 7, "step", "conflict", 1, 1),
    ],
)  # fmt: skip
def test_a_rule_is_told_with_its_line_and_column_and_cuts_its_case_when_asked(  # noqa: PLR0917
    tmp_path: Path, rows: str, line: int, column: str, rule: str, kept: int, rest: int
) -> None:
    assert problems(tmp_path, f"{GOOD} {rows}")[0] == (line, column, rule)
    records = read(tmp_path, f"{GOOD} {rows}", skip_bad_rows=True)
    assert len(records.state) == 3 + kept
    assert records.cases == 1 + (kept > 0)
    left_out = {rule: 1} | ({"rest-of-case": rest} if rest else {})
    assert dict(records.dropped) == left_out
    # Of a conflict neither row is kept, so the first of them is the first that is left out.
    assert records.first_lines[rule] == line - (rule == "conflict")
    assert records.rows == len(records.state) + sum(records.dropped.values())
    # The case before is as it was.
    assert columns(records)["next_state"][:3] == [2, 1, 4]


def test_one_bad_row_is_told_once_and_not_blamed_on_its_neighbours(tmp_path: Path) -> None:
    assert problems(tmp_path, "a,1,2,c,3 a,2,9,c,2 a,3,2,c,1 a,4,1,f,0") == [(3, "state", "state")]
    assert problems(tmp_path, "a,1,2,c,3 a,x,3,c,2 a,3,2,c,1") == [(3, "step", "step")]
    assert problems(tmp_path, "a,1,2,c,3 a,2,4,,") == [(3, "state", "after-end")]


def test_every_bad_cell_of_a_row_is_told(tmp_path: Path) -> None:
    assert problems(tmp_path, "a,x,9,punt,9") == [
        (2, "step", "step"),
        (2, "state", "state"),
        (2, "action", "action"),
        (2, "next_state", "next-state"),
    ]


def test_all_is_told_at_once_up_to_a_limit(tmp_path: Path) -> None:
    rows = " ".join(f"k{k},1,2,punt,3 k{k},2,3,c,9" for k in range(60))
    with pytest.raises(InvalidRecords) as refused:
        read(tmp_path, rows)
    error = refused.value
    assert (len(error.problems), error.total) == (20, 120)
    assert [one.line for one in error.problems] == list(range(2, 22))
    # Each cause has one sentence: what was given, where it is first, and how often.
    title, first, second = str(error).splitlines()
    assert title == "120 things in the table break a rule."
    assert first.startswith(
        "Line 2 and 59 more rows like it (4, 6, 8, ...), column action: 'punt' was given; it must"
    )
    assert second.startswith("Line 3 and 59 more rows like it (5, 7, 9, ...), column next_state:")
    # As the shell prints it, in one line, these are still sentences.
    assert "[action]. Line 3 and 59 more" in " ".join(str(error).split())
    again = copy.copy(error)
    assert (str(again), again.causes) == (str(error), error.causes)
    assert [one.split(" and")[0] for one in error.causes] == ["line 2", "line 3"]


def test_different_texts_are_different_causes_unless_they_are_many(tmp_path: Path) -> None:
    def told(*texts: str) -> list[str]:
        with pytest.raises(InvalidRecords) as refused:
            read(tmp_path, " ".join(f"k{k},1,2,{text},3" for k, text in enumerate(texts)))
        assert refused.value.total == len(texts)
        return list(refused.value.causes)

    one, two = told("punt", "kick", "punt", "kick", "punt")
    assert one.startswith("line 2 and 2 more rows like it (4, 6), column action: 'punt' was given;")
    assert two.startswith("line 3 and 1 more row like it (5), column action: 'kick' was given;")
    few = [f"x{k}" for k in range(10)]
    assert [text.partition(":")[0] for text in told(*few)] == [
        f"line {k + 2}, column action" for k in range(10)
    ]
    (many,) = told(*few, "x0", "y")
    where = "line 2 and 11 more rows like it, with 10 other texts (3, 4, 5, ...), column action: "
    assert many.startswith(f"{where}'x0' was given;")


def test_rows_that_do_not_fit_together_are_one_cause(tmp_path: Path) -> None:
    rows = " ".join(f"k{k},1,2,c,3 k{k},2,2,c,{1 + 2 * (k % 2)}" for k in range(5))
    with pytest.raises(InvalidRecords) as refused:
        read(tmp_path, rows)
    assert str(refused.value) == (
        "line 3 and 4 more rows like it (5, 7, 9, ...), column state: state 2 was given, but the"
        " next state in line 2, the previous row of this case, is 3 [link]"
    )
    assert len(refused.value.problems) == 5


def test_many_causes_are_counted(tmp_path: Path) -> None:
    rows = " ".join(f",x{k},9{k},y{k},8{k}" for k in range(9))
    with pytest.raises(InvalidRecords) as refused:
        read(tmp_path, rows)
    lines = str(refused.value).splitlines()
    assert len(refused.value.causes) == 1 + 4 * 9
    assert (len(lines), lines[-1]) == (22, "And 17 more of other kinds")


def test_identical_rows_are_left_out_and_named(tmp_path: Path) -> None:
    rows = "a,1,2,c,3 a,2,3,c,4 a,1,2,C,3.0 b,1,1,f,0 b,1,1,f,0 b,1,1,f,0"
    for skip in (False, True):
        records = read(tmp_path, rows, skip_bad_rows=skip)
        assert columns(records)["case"] == [0, 0, 1]
        assert dict(records.dropped) == {"duplicate": 3}
        assert dict(records.first_lines) == {"duplicate": 4}
        assert any("3 rows repeat" in note and "line 4" in note for note in records.notes)


def test_a_row_that_differs_in_its_group_alone_is_a_conflict(tmp_path: Path) -> None:
    head, rows = "case,step,state,action,next_state,site", "a,1,2,c,3,n a,1,2,c,3,s"
    assert read(tmp_path, rows, head).dropped == {"duplicate": 1}
    with pytest.raises(InvalidRecords, match=r"\[conflict\]"):
        read(tmp_path, rows, head, group="site")


@pytest.mark.parametrize("name", ["site", "order"])
def test_a_group_or_order_that_changes_inside_a_case_is_refused(tmp_path: Path, name: str) -> None:
    head = f"case,step,state,action,next_state,{name}"
    rows = "a,1,2,c,3,1 a,2,3,c,2,2 a,3,2,c,1,2 b,1,1,f,0,2"
    options: dict[str, Any] = {"group": [name]} if name == "site" else {}
    with pytest.raises(InvalidRecords) as refused:
        read(tmp_path, rows, head, **options)
    (only,) = refused.value.problems
    assert (only.line, only.rule) == (3, "group-changes" if name == "site" else "order-changes")
    records = read(tmp_path, rows, head, skip_bad_rows=True, **options)
    assert dict(records.dropped) == {only.rule: 1, "rest-of-case": 1}
    assert columns(records)["step"] == [1, 1]


def test_an_empty_group_is_refused(tmp_path: Path) -> None:
    head = "case,step,state,action,next_state,site"
    with pytest.raises(InvalidRecords, match=r"line 3, column site: the cell is empty"):
        read(tmp_path, "a,1,2,c,4,n b,1,2,c,3,", head, group="site")


def test_open_cases_are_counted_apart_and_used_as_far_as_they_go(tmp_path: Path) -> None:
    records = read(tmp_path, "a,1,2,c, b,1,2,c,3 c,1,1,f, d,1,3,c,4 e,1,2,c,1 e,2,1,c,2 f,1,1,f,0")
    assert (records.cases, records.open_empty_next, records.open_no_row) == (6, 2, 2)
    assert columns(records)["next_state"] == [OPEN, 3, OPEN, 4, 1, 2, 0]
    assert not records.notes


def test_a_case_that_is_cut_is_open(tmp_path: Path) -> None:
    records = read(tmp_path, "a,1,2,c,3 a,2,3,c,9", skip_bad_rows=True)
    assert (records.open_no_row, records.open_empty_next) == (1, 0)


def test_rows_that_are_not_contiguous_are_sorted(tmp_path: Path) -> None:
    records = read(tmp_path, "b,2,3,c,4 a,3,1,f,0 b,1,2,c,3 a,1,3,c,2 a,2,2,c,1")
    # The cases come in the order of their first appearance.
    assert columns(records)["case"] == [0, 0, 1, 1, 1]
    assert columns(records)["step"] == [1, 2, 1, 2, 3]
    assert columns(records)["state"] == [2, 3, 3, 2, 1]


def test_stays_and_jumps_are_no_errors_and_many_stays_are_noted(tmp_path: Path) -> None:
    half = read(tmp_path, "a,1,1,c,1 a,2,1,c,3 b,1,3,c,4 b2,1,2,c,2")
    assert columns(half)["next_state"] == [1, 3, 4, 2]
    assert not half.notes
    most = read(tmp_path, "a,1,1,c,1 a,2,1,c,1 a,3,1,c,3")
    assert any("More than half of all rows stay" in note for note in most.notes)


def test_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecords, match=r"no row is left .* \(1 by action, 1 by rest-of-case"):
        read(tmp_path, "a,1,2,punt,3 a,2,3,c,4", skip_bad_rows=True)
    with pytest.raises(InvalidRecords, match="no row is left"):
        read(tmp_path, ",1,2,c,3", skip_bad_rows=True)


def test_aggregated_rows_have_counts_and_no_cases(tmp_path: Path) -> None:
    head = "state,action,next_state,count"
    records = read(tmp_path, "2,c,3,40 2,c,1,60 1,f,4,3 1,f,0,7 3,c,4,0", head)
    assert (records.aggregated, records.cases, records.rows) == (True, 0, 5)
    assert columns(records)["count"] == [40, 60, 3, 7]
    assert (records.open_no_row, records.open_empty_next) == (0, 0)
    with pytest.raises(InvalidRecords) as refused:
        read(tmp_path, "2,c,3,many 1,f,2,5 4,c,3,1 2,c,3,", head)
    assert [(one.line, one.rule) for one in refused.value.problems] == [
        (2, "count"), (3, "finish-inside"), (4, "after-end"), (5, "count"),
    ]  # fmt: skip
    kept = read(tmp_path, "2,c,3,many 1,f,2,5 2,c,1,6 4,c,3,1", head, skip_bad_rows=True)
    assert dict(kept.dropped) == {"count": 1, "finish-inside": 1, "after-end": 1}
    assert columns(kept)["count"] == [6]
    with pytest.raises(InvalidRecords, match="every count of the table is 0"):
        read(tmp_path, "2,c,3,0", head)


def test_a_million_bad_rows_make_a_short_error(tmp_path: Path) -> None:
    text = "case,step,state,action,next_state\n" + "a,1,2,punt,3\n" * 50_000
    with pytest.raises(GrbpError, match="line 2 and 49,999 more rows like it") as refused:
        read_records(written(tmp_path, text), 4)
    assert len(str(refused.value)) < 250
