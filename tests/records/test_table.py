"""Reading a table: files, frames and mappings, the names of columns, cases as exact text."""

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optional import optional
from tables import GOAL, HEAD, columns, everything, read, written

from grbp import GrbpError, InvalidInput, InvalidRecords
from grbp.records.clean import OPEN
from grbp.records.reading import read_records

TABLE: dict[str, list[Any]] = {
    "case": ["007", "007", "NA", "7", "7", "NA"],
    "step": [1, 2, 1, 1, 2, 2],
    "state": [2, 3, 2, 1, 2, 1],
    "action": ["continue", "C", "0", "c", "CONTINUE", "Finish"],
    "next_state": [3, 4, 1, 2, None, 0],
    "site": ["north", "north", "south", "north", "north", "south"],
}
CSV = "case,step,state,action,next_state,site\n" + "".join(
    ",".join("" if cell is None else str(cell) for cell in row) + "\n"
    for row in zip(*TABLE.values(), strict=True)
)
EXPECTED = {
    "case": [0, 0, 1, 1, 2, 2],
    "step": [1, 2, 1, 2, 1, 2],
    "state": [2, 3, 2, 1, 1, 2],
    "action": [0, 0, 0, 1, 0, 0],
    "next_state": [3, 4, 1, 0, 2, OPEN],
    "count": [1] * 6,
    "group": [0, 0, 1, 1, 0, 0],
}


def pandas_frame(table: dict[str, list[Any]]) -> Any:
    return optional("pandas").DataFrame(table)


def nullable_frame(table: dict[str, list[Any]]) -> Any:
    return pandas_frame(table).convert_dtypes()


def categorical_frame(table: dict[str, list[Any]]) -> Any:
    return pandas_frame(table).astype("category")


def polars_frame(table: dict[str, list[Any]]) -> Any:
    return optional("polars").DataFrame(table)


POLARS = pytest.param(polars_frame, marks=pytest.mark.soak)
FRAMES = [dict, pandas_frame, nullable_frame, categorical_frame, POLARS]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_file_and_a_frame_are_read_alike(tmp_path: Path, frame: Callable[..., Any]) -> None:
    file = read_records(written(tmp_path, CSV), GOAL, group="site")
    assert columns(file) == EXPECTED
    assert (file.groups, file.cases, file.open_empty_next) == (("north", "south"), 3, 1)
    assert everything(read_records(frame(TABLE), GOAL, group="site")) == everything(file)


@pytest.mark.parametrize("frame", FRAMES)
def test_a_problem_in_a_frame_is_told_by_its_row(frame: Callable[..., Any]) -> None:
    bad = TABLE | {"action": ["c", "c", "punt", "c", None, "f"]}
    with pytest.raises(InvalidRecords) as refused:
        read_records(frame(bad), GOAL)
    assert [(one.line, one.column) for one in refused.value.problems] == [
        (3, "action"), (5, "action"),
    ]  # fmt: skip
    assert "Row 3, column action: 'punt' was given" in str(refused.value)
    assert "Row 5, column action: the cell is empty" in str(refused.value)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([f"p{k}" for k in range(6)], ["'p2' (number 3)", "'p4' (number 5)", "'p3' (number 4)"]),
        ([7, 5, 3, 1, 0, 2], ["3 (number 3)", "0 (number 5)", "1 (number 4)"]),
        (range(6), ["3", "5", "4"]),
        (range(1, 7), ["3 (number 3)", "5 (number 5)", "4 (number 4)"]),
        (["x" * 99] * 6, [f"'{'x' * 37}...' (number {k})" for k in (3, 5, 4)]),
    ],
)
def test_rows_of_a_frame_are_named_by_their_labels(labels: Any, names: list[str]) -> None:
    frame = pandas_frame(TABLE | {"action": ["c", "c", "punt", "c", "kick", "f"]})
    frame.index = labels
    with pytest.raises(InvalidRecords) as refused:
        read_records(frame, GOAL)
    for name, one in zip(names, refused.value.problems, strict=False):
        assert one.sentence.startswith(f"row {name}, column action:")
    # So is the row that a row contradicts, and one that is left out.
    frame["action"], frame["state"] = "c", [2, 3, 2, 1, 1, 1]
    with pytest.raises(InvalidRecords, match=re.escape(f"the next state in row {names[2]}, the")):
        read_records(frame, GOAL)
    frame.iloc[4] = frame.iloc[3]
    (note,) = read_records(frame, GOAL).notes
    assert f"the first is row {names[1]}." in note


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_a_byte_order_mark_change_nothing(
    tmp_path: Path, end: str, mark: bytes
) -> None:
    text = mark + CSV.replace("\n", end).encode()
    assert columns(read_records(written(tmp_path, text), GOAL, group=["site"])) == EXPECTED
    bad = mark + (CSV + "x,1,1,punt,0,n\n").replace("\n", end).encode()
    with pytest.raises(InvalidRecords, match="line 8, column action"):
        read_records(written(tmp_path, bad), GOAL)


def test_lines_are_counted_over_blank_lines_and_cells_of_several_lines(tmp_path: Path) -> None:
    text = '\n\ncase,step,state,action,next_state,note\na,1,2,c,3,"one\ntwo\r\nthree"\n\n'
    text += "a,2,3,punt,4,\nb,1,9,c,4,\n"
    with pytest.raises(InvalidRecords) as refused:
        read_records(written(tmp_path, text), GOAL)
    assert [one.line for one in refused.value.problems] == [8, 9]


def test_many_lines_are_counted_over_the_chunks_in_which_they_are_read(tmp_path: Path) -> None:
    rows = [f"k{k},1,3,c,4\n" for k in range(45_000)]
    rows[20_500] = 'k20500,1,3,c,4,"too\nmany"\n'
    rows[44_000] = "k44000,1,3,x,4\n"
    with pytest.raises(InvalidRecords) as refused:
        read_records(written(tmp_path, ",".join(HEAD) + "\n" + "".join(rows)), GOAL)
    assert [(one.line, one.rule) for one in refused.value.problems] == [
        (20_502, "cells"), (44_003, "action"),
    ]  # fmt: skip


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO(CSV.encode()), encoding="ascii")
    monkeypatch.setattr(sys, "stdin", given)
    assert columns(read_records("-", GOAL, group="site")) == EXPECTED
    assert not given.buffer.closed


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        (b"", 1, "empty"),
        (b"\n\n \n", 3, "missing-column"),
        (b"\xef\xbb\xbf", 1, "empty"),
        (CSV.splitlines()[0], 1, "no-rows"),
        (CSV.replace(",", ";"), 1, "separator"),
        (CSV.replace(",", "\t"), 1, "separator"),
        (CSV.replace("site", "case"), 1, "duplicate-column"),
        (CSV.replace("state", "severity", 1), 1, "missing-column"),
        (CSV.replace("case", "id"), 1, "missing-column"),
        ("case,outcome\na,won\n", 1, "end-only"),
        ("case,action,outcome\na,f,won\n", 1, "end-only"),
        (CSV + 'x,1,2,"c,3,n\n', 8, "csv"),
        (CSV + 'x,1,2,"c"c,3,n\nx,2,3,c,4,n\n', 8, "csv"),
        (CSV + f"x,1,2,{'c' * 200_000},3,n\n", 8, "csv"),
        (CSV + 'x,1,2,c,3,"n\n' + "y,1,1,f,0,n\n" * 20_000, 8, "csv"),
        (CSV + "x,1,2,\0,3,n\n", 8, "nul"),
        (CSV.encode() + b"x,1,2,c,3,\xff\n", 8, "encoding"),
        (CSV.encode() + "x,1,2,c,3,Zürich\n".encode("latin-1"), 8, "encoding"),
        (CSV.encode("utf-16"), 1, "encoding"),
        (CSV.encode("utf-16-le"), 1, "nul"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("skip", [False, True])
def test_a_file_that_is_no_such_table_is_refused_in_one_sentence(
    tmp_path: Path, text: str | bytes, line: int, rule: str, skip: bool
) -> None:
    with pytest.raises(InvalidRecords) as refused:
        read_records(written(tmp_path, text), GOAL, skip_bad_rows=skip)
    (only,) = refused.value.problems
    assert (only.line, only.rule) == (line, rule)
    assert str(refused.value) == only.sentence
    assert "\n" not in only.sentence


def test_the_reason_why_ends_alone_are_not_enough() -> None:
    with pytest.raises(InvalidRecords, match="p_C and p_F are about single steps"):
        read_records({"case": ["a", "b"], "outcome": ["won", "lost"]}, GOAL)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("no such file.csv", "cannot be read"),
        (".", "cannot be read"),
        ("a\0b", "cannot be read"),
        (17, "a table of type int was given"),
        (None, "a table of type NoneType"),
        (np.zeros((3, 5)), "a table of type ndarray"),
        ({**TABLE, "state": [1, 2]}, "the column 'state' has 2 rows"),
        ({**TABLE, "state": 3}, "the column 'state' does not hold one value"),
        ({**TABLE, "state": [[1], [2, 3]]}, "the column 'state' holds lists"),
        ({**TABLE, "case": [1.0, 1.0, 2.0, 3.0, 3.0, 2.0]}, "exact text"),
        ({name: [] for name in TABLE}, "has no rows"),
    ],
)
def test_what_is_no_table_is_refused(source: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_records(source, GOAL)


@pytest.mark.soak
def test_a_frame_that_is_not_computed_yet_is_refused() -> None:
    with pytest.raises(InvalidInput, match="collect"):
        read_records(polars_frame(TABLE).lazy(), GOAL)


def test_frames_that_cannot_be_meant_are_refused() -> None:
    frame = pandas_frame(TABLE)
    frame.columns = ["case", "step", "state", "action", "next_state", "state"]
    with pytest.raises(InvalidRecords, match="'state' is there twice"):
        read_records(frame, GOAL)
    # Whole numbers with a missing one among them are decimal numbers for pandas.
    with pytest.raises(InvalidRecords, match=r"decimal numbers such as 1\.0"):
        read_records(pandas_frame(TABLE | {"case": [1, 1, 2, 3, 3, None]}), GOAL)


def test_columns_of_other_names(tmp_path: Path) -> None:
    text = CSV.replace("case,step,state", " id ,visit,severity", 1).replace("next_state", "next")
    names = {"case": "id", "step": "visit", "state": "severity"}
    options: dict[str, Any] = {"columns": names, "group": "site"}
    assert columns(read_records(written(tmp_path, text), GOAL, **options)) == EXPECTED
    bad = text + "z,1,1,punt,0,n\nz,,1,c,0,n\n"
    with pytest.raises(InvalidRecords) as refused:
        read_records(written(tmp_path, bad), GOAL, **options)
    assert [one.column for one in refused.value.problems] == ["action", "visit"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": {"stat": "state"}}, "did you mean 'state'"),
        ({"columns": {"case": "cas"}}, "no column 'cas' to be read as case; did you mean 'case'"),
        ({"columns": "case=id"}, "must be a mapping"),
        ({"columns": {"case": "case", "count": "step"}}, "counts are of rows without cases"),
        ({"columns": {"case": ""}}, "no column '' to be read as case"),
        ({"columns": {3: 4}}, "columns has the key '3'"),
        ({"group": 5}, "group = 5 was given"),
        ({"group": [5]}, "no column '5' to be read as group"),
        ({"group": "region"}, "no column 'region' to be read as group"),
        ({"group": ["site", "ward"]}, "no column 'ward'"),
        ({"map_action": {"punt": "kick"}}, "must be continue or finish"),
        ({"map_action": ["punt"]}, "must be a mapping"),
        ({"map_state": {"mild": 5}}, "whole number from 0 to 4"),
        ({"map_state": {"mild": "3"}}, "whole number from 0 to 4"),
        ({"goal": 1}, "goal = 1 was given"),
    ],
)
def test_what_a_user_asks_for_must_be_there(options: dict[str, Any], words: str) -> None:
    with pytest.raises(GrbpError, match=words):
        read_records(TABLE, **{"goal": GOAL, **options})


def test_words_for_states_and_actions(tmp_path: Path) -> None:
    rows = "a,1,mild,punt,3 a,2,3,treat,dead b,1,1,1,0"
    named: dict[str, Any] = {"map_state": {"mild": 2, "dead": 0}}
    acts: dict[str, Any] = {"map_action": {"punt": "continue", "treat": "F", "1": "finish"}}
    records = read(tmp_path, rows, **named, **acts)
    assert columns(records)["state"] == [2, 3, 1]
    assert columns(records)["next_state"] == [3, 0, 0]
    assert columns(records)["action"] == [0, 1, 1]
    # The user's word counts for more than ours, and nothing else is understood.
    turned = read(tmp_path, "a,1,2,1,3 a,2,3,0,4", map_action={"1": "continue", "0": "finish"})
    assert columns(turned)["action"] == [0, 1]
    with pytest.raises(InvalidRecords, match="'Punt' was given"):
        read(tmp_path, rows.replace("punt", "Punt"), **named, **acts)


@pytest.mark.parametrize("text", ["3", "3.0", "3.", "03", " 3 "])
def test_a_state_may_be_written_as_a_whole_number_is(text: str) -> None:
    table = {"case": ["a"], "state": [text], "action": ["c"], "next_state": ["4"]}
    assert read_records(table, GOAL).state.tolist() == [3]


@pytest.mark.parametrize("text", ["+3", "3,0", "3.5", "3e0", "0x3", "٣", "three", "3 3", "-0"])
def test_and_in_no_other_way(text: str) -> None:
    table = {"case": ["a"], "state": [text], "action": ["c"], "next_state": ["4"]}
    with pytest.raises(InvalidRecords):
        read_records(table, GOAL)


def test_without_steps_rows_keep_their_order() -> None:
    table = {name: column for name, column in TABLE.items() if name != "step"}
    records = read_records(table, GOAL, group="site")
    assert columns(records) == EXPECTED
    assert any("no column of steps" in note for note in records.notes)


def test_cases_are_in_the_order_of_a_column(tmp_path: Path) -> None:
    head = "case,step,state,action,next_state,order"
    for orders in ("10 9 9.5", "2024-10-01 2024-09-30 2024-09-30T12:00", "1e3 -5 0"):
        last, first, middle = orders.split()
        rows = f"a,1,1,c,2,{last} a,2,2,c,3,{last} b,1,2,f,4,{first} c,1,3,c,4,{middle}"
        records = read(tmp_path, rows, head)
        assert columns(records)["state"] == [2, 3, 1, 2], orders
    for mixed in ("1 2024-09-30 2", "1 nan 2", "1 later 2", "1 _2 2", "2024-01-01 x 2024-01-02"):
        one, other, third = mixed.split()
        rows = f"a,1,1,c,2,{one} b,1,2,f,4,{other} c,1,3,c,4,{third}"
        with pytest.raises(InvalidRecords, match="line 3, column order") as refused:
            read(tmp_path, rows, head)
        assert refused.value.total == 1


def test_moments_of_a_frame_are_an_order() -> None:
    pandas = optional("pandas")
    when = pandas.to_datetime(["2024-05-02", "2024-05-02", "2024-05-01"] * 2)
    frame = pandas_frame(TABLE).assign(order=when, case=["b", "b", "a", "c", "c", "d"])
    frame["state"], frame["step"] = [2, 3, 1, 2, 1, 3], [1, 2, 1, 1, 2, 1]
    frame["next_state"], frame["action"] = [3, 4, 0, 1, 0, 4], "c"
    assert read_records(frame, GOAL).state.tolist() == [1, 3, 2, 3, 2, 1]


def test_groups_are_crossed_and_have_their_own_records(tmp_path: Path) -> None:
    head = "case,step,state,action,next_state,site,arm"
    rows = (
        "a,1,2,c,3,south,B a,2,3,c,4,south,B b,1,1,f,,north,A c,1,2,c,1,south,A d,1,1,f,0,north,A"
    )
    records = read(tmp_path, rows, head, group=("site", "arm"))
    assert records.groups == ("south / B", "north / A", "south / A")
    north = records.in_group(1)
    assert columns(north)["case"] == [0, 1]
    assert (north.groups, north.cases, north.rows) == (("north / A",), 2, 2)
    assert (north.open_empty_next, north.open_no_row) == (1, 0)
    assert records.in_group(2).open_no_row == 1
    whole = [columns(records.in_group(k))["state"] for k in range(3)]
    assert whole == [[2, 3], [1, 1], [2]]


def test_crossed_groups_that_would_share_a_name_are_refused() -> None:
    table = {"case": ["a", "b"], "state": [1, 1], "action": ["f", "f"], "next_state": [0, 0]}
    mixed = {"site": ["x", "x / y"], "arm": ["y / z", "z"]}
    with pytest.raises(InvalidInput, match="two groups have the same name"):
        read_records(table | mixed, GOAL, group=("site", "arm"))


def test_records_cannot_be_changed() -> None:
    records = read_records(TABLE, GOAL)
    with pytest.raises(ValueError, match="read-only"):
        records.state[0] = 3


def test_a_count_beside_cases_is_named_and_not_used() -> None:
    records = read_records(TABLE | {"count": [2] * 6}, GOAL)
    assert records.count.tolist() == [1] * 6
    assert any("'count' is not used" in note for note in records.notes)


def test_wide_numbers_of_frames() -> None:
    ids = np.array([2**63 + 5, 2**63 + 5, 3, 2**64 - 1, 2**64 - 1, 3], dtype=np.uint64)
    small = np.array([-100, -100, 100, 127, 127, 100], dtype=np.int8)
    for case in (ids, small):
        table: dict[str, Any] = TABLE | {"case": case, "step": np.array(TABLE["step"])}
        assert read_records(table, GOAL).case.tolist() == EXPECTED["case"]


WORDS: dict[str, Any] = {
    "map_state": {"dead": 0, "gone": 0, "severe": 1, "very-bad": 1, "home": 4, "mild": 3},
    "map_action": {"drug": "continue", "cut": "finish", "operate": "finish"},
}
ROWS = "a,1,severe,drug,2 a,2,2,drug,3 a,3,3,drug,home b,1,very-bad,operate,dead"


def test_a_table_has_its_own_words(tmp_path: Path) -> None:
    labels = read(tmp_path, ROWS, **WORDS).labels
    # Of two words for a state the first that was given, of those that occur; 3 has none.
    assert labels.states == ("dead", "severe", "", "", "home")
    assert labels.actions == ("drug", "operate")
    assert labels.state(1) == "severe (1)"
    assert labels.state(3) == "state 3"
    turned = dict(reversed(WORDS["map_state"].items()))
    assert read(tmp_path, ROWS, **WORDS | {"map_state": turned}).labels.states[1] == "very-bad"


def test_a_word_for_an_action_is_its_name_if_nothing_else_is(tmp_path: Path) -> None:
    for plain in ("continue", "C", "0"):
        labels = read(tmp_path, f"{ROWS} c,1,2,{plain},3", **WORDS).labels
        assert labels.actions == ("CONTINUE", "operate")
    # A word of the user's own for 0 is no plain one.
    zero = {**WORDS, "map_action": {"0": "continue", **WORDS["map_action"]}}
    assert read(tmp_path, f"{ROWS} c,1,2,0,3", **zero).labels.actions == ("drug", "operate")
    # A number is no word at all.
    turned = {"1": "continue", "0": "finish"}
    assert not read(tmp_path, "a,1,2,1,3 a,2,3,0,4", map_action=turned).labels.own


def test_words_that_do_not_occur_are_no_labels(tmp_path: Path) -> None:
    labels = read(tmp_path, "a,1,1,c,2 b,1,1,f,0", **WORDS).labels
    assert not labels.own
    assert labels.states == ()
    assert not read(tmp_path, "a,1,1,c,2 b,1,1,f,0").labels.own
    # Nor the number itself.
    assert read(tmp_path, "a,1,1,c,2", map_state={"1": 1}).labels.states == ()


def test_a_label_is_short_and_stands_on_one_line() -> None:
    long = "w" * 39 + "x" * 5
    table = {"case": ["a", "b"], "state": [long, " odd\n\ttext\x07 "], "action": ["c", "c"]}
    words = {long: 1, " odd\n\ttext\x07 ": 2}
    labels = read_records(table | {"next_state": [2, 3]}, GOAL, map_state=words).labels
    assert labels.states[1:3] == ("w" * 37 + "...", "odd text")
