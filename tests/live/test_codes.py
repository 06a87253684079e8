"""The short code of a case: beside the log, unique in progress, found and erased."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from small_wards import Clock, clock_of, rows, ward

from grbp import Study
from grbp.errors import Conflict, InvalidInput, NotFound
from grbp.live.store import open_store


@pytest.fixture(params=["memory", "file"])
def study(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Study]:
    """A ward in which case 1 has a code and case 2 has none."""
    study = ward("getbe-sm", "memory" if request.param == "memory" else tmp_path / "live.db")
    study.open_case(2, code="B-12")
    study.open_case(1)
    yield study
    study.close()


def codes(study: Study) -> list[str | None]:
    return [case.code for case in study.cases()]


def test_it_is_shown_wherever_the_case_is(study: Study) -> None:
    assert codes(study) == ["B-12", None]
    assert (
        study.case(1).code == study.ask(1).code == study.tell(1, 3, took="continue", why="x").code
    )
    assert study.set_code(1, "Bed 7") == study.case(1)
    assert study.void(1, "a slip").code == study.cases(status="open")[0].code == "Bed 7"
    assert study.withdraw_case(1, "moved").to_dict()["code"] == "Bed 7"


def test_nothing_of_it_is_in_the_log_or_in_an_export(study: Study, tmp_path: Path) -> None:
    study.set_code(2, "XYZZY")
    study.tell(2, 0, took="finish", why="so")
    log, steps = study.export(tmp_path / "log"), study.export_steps(tmp_path / "steps.csv")
    for file in (log, steps):
        assert not any(code in file.read_text("utf-8") for code in ("B-12", "XYZZY", "xyzzy"))
    assert codes(Study.import_("memory", log)) == [None, None]
    asked = study.export_steps(tmp_path / "asked.csv", codes=True).read_text("utf-8").splitlines()
    (row,) = (dict(zip(asked[0].split(","), line.split(","), strict=True)) for line in asked[1:])
    assert (row["case"], row["code"]) == ("2", "XYZZY")


def test_the_same_study_without_codes_has_the_same_log_and_rows() -> None:
    one, other = ward("getbe-ps"), ward("getbe-ps")
    for study, code in ((one, {"code": "a"}), (other, {})):
        study.open_case(2, **code)
        study.tell(1, 4, took="finish", why="so")
    one.set_code(1, "b")
    assert (one.log(), rows(one)) == (other.log(), rows(other))
    assert one.verify() == other.verify()


@pytest.mark.parametrize("same", ["B-12", "b-12", "\uff22-\uff11\uff12"])
def test_two_cases_in_progress_have_different_codes(study: Study, same: str) -> None:
    before = rows(study)
    said = f"code = '{same}' was given; it is the code of case 1, which is in progress"
    for attempt in (lambda: study.open_case(3, code=same), lambda: study.set_code(2, same)):
        with pytest.raises(Conflict) as refused:
            attempt()
        assert str(refused.value) == said
    assert (rows(study), codes(study)) == (before, ["B-12", None])
    assert study.set_code(1, same).code == same  # It is its own.


def test_a_code_can_be_used_again_when_its_case_is_over(study: Study) -> None:
    study.withdraw_case(1, "moved")
    assert study.open_case(3, code="b-12").case == 3
    study.tell(3, 4, took="finish", why="so")
    assert study.set_code(2, "B-12").code == "B-12"
    assert study.set_code(1, "b-12").code == "b-12"  # It is over, and is in nobody's way.
    assert [case.case for case in study.find_cases("B-12")] == [2, 3, 1]
    assert [case.case for case in study.find_cases("B-12", 2)] == [2, 3]
    with pytest.raises(Conflict, match=r"its code 'b-12' is by now that of case 2"):
        study.void(3, "a slip")
    with pytest.raises(Conflict, match=r"its code 'b-12' is by now that of case 2"):
        study.undo(1)
    assert [case.status for case in study.cases()] == ["closed", "open", "won"]
    study.set_code(2, None)
    assert study.undo(3).status == "open"
    assert study.verify().ok


def test_it_is_found_by_all_of_it_alone(study: Study) -> None:
    study.set_code(2, "Größe 7")
    for given, found in {"b-12": [1], "B-1": [], "GRÖSSE 7": [2], "größe\u00a07": [2]}.items():
        assert [case.case for case in study.find_cases(given)] == found


def test_an_erased_code_is_gone(study: Study) -> None:
    erased = study.set_code(1, None)
    assert (erased.code, study.ask(1).code, study.find_cases("B-12")) == (None, None, [])
    assert study.set_code(1, None) == erased
    assert study.open_case(3, code="B-12").code == "B-12"


def test_nothing_of_an_erased_code_is_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Study.create(path, "ward", 4) as study:
        for case in range(40):
            study.open_case(2, code=f"bed-{case}-of-ward")
        study.set_code(7, None)
        for case in range(20, 41):
            study.set_code(case, None)
    kept = b"".join(file.read_bytes() for file in sorted(tmp_path.iterdir()))
    assert b"bed-9-of-ward" in kept  # That of case 10.
    assert b"bed-6-of-ward" not in kept
    assert not any(f"bed-{case - 1}-of-ward".encode() in kept for case in range(20, 41))


def test_of_an_archived_study_codes_can_only_be_erased(study: Study) -> None:
    study.archive("done")
    with pytest.raises(Conflict, match="is archived"):
        study.set_code(2, "x")
    assert study.set_code(1, None).code is None


@pytest.mark.parametrize("bad", ["", " B", "x" * 17, "a\nb", "a\u200bb", 7, "a\x00"])
def test_what_cannot_be_a_code_is_refused_and_no_case_is_opened(study: Study, bad: Any) -> None:
    for attempt in (
        lambda: study.open_case(2, code=bad),
        lambda: study.set_code(1, bad),
        lambda: study.find_cases(bad),
    ):
        with pytest.raises(InvalidInput, match=r"code = .* was given; it ") as refused:
            attempt()
        assert "\n" not in str(refused.value)
    assert codes(study) == ["B-12", None]
    with pytest.raises(NotFound):
        study.set_code(3, "x")


def test_the_same_key_changes_no_code(study: Study) -> None:
    first = study.open_case(3, code="K", key="k")
    study.set_code(first.case, "L")
    again = study.open_case(3, code="M", key="k")
    assert (again, again.replayed, again.code) == (first, True, "L")


def test_a_backup_has_the_codes_with_who_gave_them_and_when(study: Study, tmp_path: Path) -> None:
    clock_of(study).now += timedelta(days=1)
    study.set_code(2, "C", who="bob")
    copy = open_store(study.backup(tmp_path / "copy.db"))
    (_, given) = copy.read("ward", lambda tx: [*tx.all_codes()])
    assert (given.who, given.recorded) == (
        "bob",
        clock_of(study).now.isoformat(timespec="microseconds"),
    )
    copy.close()
    with Study(tmp_path / "copy.db", clock=Clock()) as restored:
        assert codes(restored) == ["B-12", "C"]
        assert restored.verify().ok


def test_another_who_has_the_store_open_sees_it_at_once(tmp_path: Path) -> None:
    with ward("getbe-sm", tmp_path / "live.db") as one, Study(tmp_path / "live.db") as other:
        one.open_case(2, code="a")
        assert codes(other) == ["a"]
        one.set_code(1, "b")
        assert (codes(other), other.ask(1).code) == (["b"], "b")
        other.set_code(1, None)
        assert codes(one) == [None]


# The table of steps.


def test_the_table_says_who_when_and_why_and_the_study_s_words(tmp_path: Path) -> None:
    words = {
        "states": ["dead", "severe", "moderate", "mild", "home"],
        "actions": ["medication", "surgery"],
    }
    study = ward("threshold-1", **words)
    study.open_case(2)
    study.tell(1, "mild", observed="2026-03-01T11:00Z")
    clock_of(study).add(1)
    study.tell(1, 4, took="surgery", why="a bed, at last", who="bob")
    assert study.export_steps(tmp_path / "s.csv").read_text("utf-8") == (
        "case,step,state,action,next_state,state_label,action_label,next_state_label,advised,why,"
        "who,recorded,observed\n"
        "1,1,2,continue,3,moderate,medication,mild,continue,,ada,"
        "2026-03-01T12:00:00.000000+00:00,2026-03-01T11:00:00.000000+00:00\n"
        '1,2,3,finish,4,mild,surgery,home,continue,"a bed, at last",bob,'
        "2026-03-02T12:00:00.000000+00:00,2026-03-02T12:00:00.000000+00:00\n"
    )


# What was taken back.


def test_what_was_taken_back_is_known_from_any_page_of_the_log() -> None:
    study = ward("getbe-sm")
    study.open_case(2)  # 2
    study.open_case(2)  # 3
    study.tell(1, 3, took="continue", why="x")  # 4
    study.tell(2, 3, took="continue", why="x")  # 5
    study.tell(1, 2, took="continue", why="x")  # 6
    study.void(1, "a slip")  # 7
    study.withdraw_case(1, "moved")  # 8
    study.undo(1)  # 9
    study.undo(1)  # 10
    assert [json.loads(event.request).get("own") for event in study.log(8)] == [True, True]
    assert study.find_taken_back(study.log()) == {4, 6, 8}
    assert study.find_taken_back(study.log(3, 1)) == {4, 6, 8}
    assert study.find_taken_back(study.log(4, 1)) == study.find_taken_back([]) == set()
