"""Rows that were changed behind the advisor's back: nobody is advised or writes from them."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from clerk import together
from optional import optional
from runs import one_sentence
from small_wards import Clock, clock_of, rows, ward
from test_replay import forged

from grbp import Study
from grbp.errors import Conflict, Damaged, GrbpError, InvalidInput, ReadOnly
from grbp.live.row_checks import CheckedTransaction, find_checked
from grbp.live.schema import CaseRow
from grbp.live.store.base import Store, Transaction
from grbp.live.store.sqlite import SqliteConnection, SqliteStore

apsw = optional("apsw")

WINDOWS = {"windows": {"finish": 30.0}}


def change(path: Path, statement: str, *values: object) -> None:
    """Change a file as somebody else would."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(statement, values)
        assert connection.changes()


def worked_on(where: Any, **settings: Any) -> Study:
    """Make a study with cases of every kind, one of them with a step that is held."""
    study = ward("threshold-1", where, **settings)
    for state in (1, 2, 3, 2, 3):
        study.open_case(state)
    study.tell(1, 4)
    study.tell(2, 3)
    study.tell(2, 2)
    study.void(2, "wrong")
    study.withdraw_case(4, "moved")
    study.void(4, "wrong")
    study.tell(5, 2, took="continue")
    return study


CHANGES = {
    "first": 1, "state": 1, "threshold": 2, "status": "won", "steps": 7, "overruled": 1, "f": 3,
    "f_goal": 1, "c": 5, "c_up": 5, "held": 1, "held_f": 1, "settled": 1,
    "opened": "2026-01-01T00:00:00.000000+00:00", "since": "2026-01-01T00:00:00.000000+00:00",
    "known": "[41,0,0,0,0,0,0,0,0,0]", "version": "0.0.1", "last": 3, "group": "north",
}  # fmt: skip


def test_every_column_of_a_case_is_changed_once() -> None:
    named = [{"overridden": "overruled"}.get(name, name) for name in CaseRow._fields[1:]]
    assert list(CHANGES) == named


@pytest.mark.parametrize("column", CHANGES)
@pytest.mark.parametrize("again", [False, True])
def test_a_changed_row_neither_advises_nor_is_written_from(
    column: str, again: bool, tmp_path: Path
) -> None:
    """By whoever opens the store, and by whoever had it open and knew the row."""
    path = tmp_path / "x.db"
    study = worked_on(path)
    head = study.status().head
    if again:
        study.close()
    change(path, f'update cases set "{column}" = ? where id & 1023 = 2', CHANGES[column])  # noqa: S608
    if again:
        study = Study(path, clock=Clock())
    with study:
        calls: list[Callable[[], Any]] = [
            lambda: study.ask(2),
            lambda: study.case(2),
            lambda: study.basis(2),
            lambda: study.tell(2, 2),
            lambda: study.tell(2, 3, step=1),
            lambda: study.void(2, "so"),
            lambda: study.withdraw_case(2, "so"),
        ]
        for call in calls:
            find_checked(study._store, "ward").damage = None
            with pytest.raises(Damaged, match="case 2") as refusal:
                call()
            assert "verify the study, and restore a backup" in one_sentence(refusal.value)
        if column != "status":  # One that is over is shown without advice.
            with pytest.raises(Damaged, match="case 2"):
                study.cases()
        # From then on it is only read, and what is sound is still advised.
        assert "case 2" in str(study.read_only)
        writes: list[Callable[[], Any]] = [lambda: study.open_case(2), lambda: study.tell(3, 4)]
        for write in writes:
            with pytest.raises(ReadOnly, match="case 2"):
                write()
        assert study.ask(3).state == 3
        assert study.log()[-1].hash == head
        (problem,) = study.verify().problems
        assert problem == "the row of case 2 does not follow from the log"


def test_damage_is_remembered_with_the_store_until_a_check_finds_all_well(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    worked_on(path).close()
    with closing(SqliteStore(path)) as store:
        study = Study(store, clock=Clock())
        change(path, "update cases set threshold = 0 where id & 1023 = 2")
        with pytest.raises(Damaged):
            study.tell(2, 2)
        # A server opens a study that can only be read anew, each time.
        for one in (study, Study(store), Study(store)):
            assert "does not follow from the log" in str(one.read_only)
            assert not one.verify().ok
        change(path, "update cases set threshold = 1 where id & 1023 = 2")
        with pytest.raises(ReadOnly):
            study.tell(2, 2)
        assert study.verify().ok
        assert (study.read_only, Study(store).read_only) == (None, None)
        assert study.tell(2, 2).state == 2


CONFIGS = {
    "shadow": ('"shadow":false', '"shadow":true'),
    "goal": ('"goal":4', '"goal":5'),
    "learner": ('"learner":"threshold-1"', '"learner":"threshold-0"'),
    "seed": ('"seed":0', '"seed":1'),
    "level": ('"level":0.95', '"level":0.5'),
    "windows": ('"windows":{}', '"windows":{"finish":5.0}'),
    "start": ('"start":[41,12.0', '"start":[41,13.0'),
    "version": ('"version":"', '"version":"9'),
    "name": ('"name":"ward"', '"name":"bard"'),
    "space": ('{"name"', '{ "name"'),
}


@pytest.mark.parametrize("what", CONFIGS)
@pytest.mark.parametrize("again", [False, True])
def test_a_changed_configuration_advises_nobody(what: str, again: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    study = worked_on(path)
    config, head = rows(study)[0].config, study.status().head
    assert CONFIGS[what][0] in config
    if again:
        study.close()
    change(path, "update studies set config = ?", config.replace(*CONFIGS[what]))
    if again:
        study = Study(path, "ward", clock=Clock())
    with study:
        for call in (
            lambda: study.ask(2), study.cases, lambda: study.basis(2), study.status,
            lambda: study.case(2),
        ):  # fmt: skip
            with pytest.raises(Damaged, match="does not follow from the log") as refusal:
                call()
            one_sentence(refusal.value)
        for write in (
            lambda: study.open_case(2), lambda: study.tell(2, 2), lambda: study.archive("so"),
        ):  # fmt: skip
            with pytest.raises((Damaged, ReadOnly), match="does not follow from the log"):
                write()
        assert study.log()[-1].hash == head
        assert not study.verify().ok


def test_a_configuration_that_is_no_more_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    worked_on(path).close()
    for config in ("", "{", "[]", "{}", "[" * 10**5, "NaN", '{"name":"ward"}'):
        change(path, "update studies set config = ?", config)
        with pytest.raises(GrbpError, match="the configuration of the study is damaged") as refusal:
            Study(path)
        one_sentence(refusal.value)


@pytest.mark.parametrize("part", ["request", "response", "recorded", "who", "hash", "previous"])
@pytest.mark.parametrize("which", ["first", "own", "last"])
def test_a_changed_event_is_noticed_where_it_matters(part: str, which: str, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    study = worked_on(path)
    seq = {"first": 1, "own": 3, "last": study.status().events}[which]
    (text,) = (getattr(event, part) for event in study.log(seq - 1, 1))
    study.close()
    changed = text.replace("1", "2") if "1" in text else f"{text}x"
    change(path, f"update events set {part} = ? where id & 1023 = {seq}", changed)  # noqa: S608
    with Study(path, clock=Clock()) as study:
        calls: list[Callable[[], Any]] = [lambda: study.ask(2), lambda: study.tell(2, 2)]
        for call in calls:
            with pytest.raises((Damaged, ReadOnly)) as refusal:
                call()
            one_sentence(refusal.value)
        assert study.read_only


HELD = {
    "due": "update held set due = '2026-03-01T12:00:00.000000+00:00'",
    "later": "update held set due = '2027-03-01T12:00:00.000000+00:00'",
    "step": "update held set step = 2",
    "case": 'update held set "case" = 2',
    "seq": "update held set seq = 8",
    "gone": "delete from held",
    "more": "insert into held (study, \"case\", step, due, seq) values (1, 2, 1, '2026', 8)",
}


@pytest.mark.parametrize("what", HELD)
@pytest.mark.parametrize("case", [1, 3])
def test_a_changed_held_step_is_not_counted(what: str, case: int, tmp_path: Path) -> None:
    """Whichever case is told of: what is due is counted before."""
    path = tmp_path / "x.db"
    study = worked_on(path, **WINDOWS)
    assert [row[:2] for row in rows(study)[2]] == [(1, 1)]
    study.close()
    change(path, HELD[what])
    with Study(path, clock=Clock()) as study:
        clock_of(study).add(60)
        with pytest.raises(Damaged) as refusal:
            study.void(1, "so") if case == 1 else study.tell(case, 4)
        one_sentence(refusal.value)
        assert not study.verify().ok


@pytest.mark.parametrize("what", ["due", "seq"])
def test_a_held_step_that_is_changed_under_an_open_study_is_not_counted(
    what: str, tmp_path: Path
) -> None:
    """The row of its case is remembered, and still as it was."""
    path = tmp_path / "x.db"
    with worked_on(path, **WINDOWS) as study:
        study.ask(1)
        change(path, HELD[what])
        clock_of(study).add(60)
        with pytest.raises(Damaged, match="held step 1 of case 1"):
            study.tell(3, 4)


def test_a_case_that_is_gone_or_too_many_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with worked_on(path) as study:
        change(path, "delete from cases where id & 1023 = 2")
        with pytest.raises(Damaged, match="the row of case 2 "):
            study.ask(2)
    with Study(path, clock=Clock()) as study:
        with pytest.raises(InvalidInput, match="the study has cases 1 to 5"):
            study.ask(6)
        change(path, "update cases set id = id + 4 where id & 1023 = 3")
        with pytest.raises(Damaged, match="the row of case 7 "):
            study.ask(7)


def test_what_was_not_kept_is_not_remembered(tmp_path: Path, monkeypatch: Any) -> None:
    """A row that was rolled back is not taken for one that follows from the log."""
    with worked_on(tmp_path / "x.db", **WINDOWS) as study:
        known = find_checked(study._store, "ward")
        before, cases = known.study, dict(known.cases)
        monkeypatch.setattr(SqliteConnection, "commit", lambda _: 1 // 0)
        with pytest.raises(GrbpError):
            study.tell(2, 2)
        monkeypatch.undo()
        assert known.study in (None, before)
        assert known.cases.get(2) in (None, cases[2])
        known.damage = None
        assert study.tell(2, 2).step == 2
        assert study.verify().ok


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_row_is_looked_at_once(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = request.getfixturevalue("dsn") if kind == "postgres" else tmp_path / "x.db"
    worked_on(where, **WINDOWS).close()
    walks: list[int] = []
    walk = CheckedTransaction._fold_case

    def count(self: CheckedTransaction, config: Any, row: CaseRow) -> Any:
        walks.append(row.case)
        return walk(self, config, row)

    monkeypatch.setattr(CheckedTransaction, "_fold_case", count)
    with Study(where, "ward", clock=Clock()) as study:
        for _ in range(3):
            for case in (1, 2, 3):
                study.ask(case)
            study.cases(status="open")
        assert walks == [1, 2, 3, 4, 5]
        for state in (2, 3, 2):
            study.tell(2, state)
            study.ask(2)
        study.tell(study.open_case(2).case, 3)
        study.void(2, "so")
        assert walks == [1, 2, 3, 4, 5]
    # What another process wrote is looked at again, and only that.
    with Study(where, "ward", clock=Clock()) as one, Study(where, "ward", clock=Clock()) as other:
        one.ask(2)
        one.ask(3)
        other.tell(3, 2)
        del walks[:]
        assert (one.ask(2).state, one.ask(3).state) == (3, 2)
        assert walks == [3]
        assert one.verify().ok


def test_what_several_write_in_one_commit_is_remembered(tmp_path: Path) -> None:
    with worked_on(tmp_path / "x.db") as study:
        calls = [lambda: study.tell(2, 2), lambda: study.tell(1, 9), lambda: study.tell(3, 4)]
        told, refused, also = together(study._store, calls)
        assert isinstance(refused, Conflict | InvalidInput)
        assert [told.step, also.step] == [2, 1]  # type: ignore[union-attr]
        known = find_checked(study._store, "ward")
        assert known.study == rows(study)[0]
        assert all(known.cases[case.case] == case for case in rows(study)[1])


def test_memory_needs_no_checks() -> None:
    study = worked_on("memory")

    def damage(tx: Transaction) -> None:
        row = tx.case(2)
        assert row is not None
        tx.put_case(row._replace(threshold=3))

    study._store.write("ward", damage)
    assert study.ask(2).case == 2
    assert find_checked(study._store, "ward").cases == {}


def test_names_of_studies_that_are_not_there_are_not_kept(tmp_path: Path) -> None:
    with worked_on(tmp_path / "x.db") as study:
        store: Store = study._store
        for name in ("a", "b"):
            with pytest.raises(InvalidInput, match="there is none of this name"):
                Study(store, name)
        assert list(store.remembered) == ["ward"]


def test_a_log_with_a_configuration_that_no_study_has_is_not_imported(tmp_path: Path) -> None:
    study = ward("threshold-1", windows={"finish": 3.0})
    study.open_case(2)
    lines = study.export(tmp_path / "log").read_text("utf-8").splitlines()
    asked = json.loads(json.loads(lines[1])["request"])["config"]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"goal": 10**9}, "goal = 1000000000 was given"),
        ({"goal": "4"}, "goal = '4' was given"),
        ({"windows": "x"}, "windows = 'x' was given"),
        ({"windows": {"finish": "x"}}, "the window for finish = 'x' was given"),
        ({"windows": {"finish": 1e12}}, "it must be at most 36,500"),
        ({"windows": {"stop": 1.0}}, "a window for 'stop' was given"),
        ({"seed": None}, "seed = None was given"),
        ({"shadow": 1}, "shadow = 1 was given"),
        ({"level": 1.0}, "level = 1.0 was given"),
        ({"level": float("nan")}, "with NaN"),
        ({"constants": {"gamma": float("nan")}}, "with NaN"),
        ({"constants": []}, "constants = [] was given; it must be a dict"),
        ({"constants": {"gamma": "x"}}, "the constant gamma = 'x' was given"),
        ({"start": [1, 2, 3]}, "it must be 'drawn', 'first', or 9 counters"),
        ({"start": [41, 12.5, 5.0, 90.0, 40.0, 10.0, 4.0, 6.0, 3.0]}, "must be whole numbers"),
        ({"start": [41, "x", 5.0, 90.0, 40.0, 10.0, 4.0, 6.0, 3.0]}, "counters.f = 'x' was given"),
        ({"start": [41, 1.0, 5.0, 90.0, 40.0, 10.0, 4.0, 6.0, 3.0]}, "more often than it was"),
        ({"start": "now"}, "start = 'now' was given"),
        ({"learner": "getbe-sn"}, "event 2 differs from what the rules make of it"),
        ({"learner": "ucb1-policies"}, "event 2 differs from what the rules make of it"),
        ({"learner": 7}, "learner = 7 was given"),
        ({"learner": {"name": ["x"]}}, "was given; it must be one line"),
        ({"version": ""}, "version = '' was given"),
        ({"colour": "red"}, "a configuration was given that has not exactly name, goal"),
        ({"name": "\x01house"}, "name = '\\x01house' was given"),
        ({"name": "wa\u200brd"}, "U+200B (zero width space)"),
    ]
    for changed, words in wrong:
        said = json.dumps({"config": asked | changed}, separators=(",", ":"))
        text = forged(lines, 1, lambda event, said=said: event | {"request": said})  # type: ignore[misc]
        if "name" in changed:
            text = text.replace('"study":"ward"', f'"study":{json.dumps(changed["name"])}', 1)
        (tmp_path / "changed").write_text(text, "utf-8")
        for where in ("memory", tmp_path / "y.db"):
            with pytest.raises(InvalidInput) as refusal:
                Study.import_(where, tmp_path / "changed")
            assert words in one_sentence(refusal.value)
    with closing(SqliteStore(tmp_path / "y.db")) as store:
        assert store.logs() == []
