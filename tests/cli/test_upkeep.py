"""Looking after a store: every log is checked, backups are verified and few, heads are compared."""

import io
import json
import re
import shutil
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from optional import optional

import grbp
from grbp.cli import main, upkeep
from grbp.live import store_log
from grbp.live.schema import Event
from grbp.live.store import open_store
from grbp.live.store.base import OWN_LOG
from grbp.live.store.sqlite import SqliteStore
from grbp.live.upkeep import append_heads, read_heads

apsw = optional("apsw")

FORMER = Path(__file__).parents[1] / "live" / "assets" / "former.sqlite"

Shell = Callable[..., str]
Answer = Callable[..., dict[str, Any]]


class Clock:
    """A clock that goes on by a day whenever somebody looks."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 17, 8, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(days=1)
        return self.now


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRBP_STORE", raising=False)
    monkeypatch.setattr(upkeep, "utc_now", Clock())
    for folder in ("backups", "elsewhere"):
        Path(folder).mkdir()
    for name in ("ward", "other ward"):
        with grbp.Study.create("live.sqlite", name, 4, who="ada") as study:
            study.open_case(2)
            study.tell(1, 1)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Shell:
    """What a person reads, at 80 columns."""

    def shell(*arguments: object, status: int = 0, notes: str = "") -> str:
        assert main(["live", *map(str, arguments), "--store", "live.sqlite"]) == status
        out, err = capsys.readouterr()
        assert re.fullmatch(notes, err), err
        if "--json" not in arguments:
            assert max(map(len, out.splitlines()), default=0) <= 80
        return out

    return shell


@pytest.fixture
def answer(said: Shell) -> Answer:
    """What a program reads: one object."""

    def shell(*arguments: object, **expected: Any) -> dict[str, Any]:
        out = said(*arguments, "--json", **expected)
        assert out.count("\n") == 1
        one: dict[str, Any] = json.loads(out, parse_constant=pytest.fail)
        return one

    return shell


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Shell:
    def shell(*arguments: object, store: str = "live.sqlite") -> str:
        assert main(["live", *map(str, arguments), "--store", store]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert re.fullmatch(r"grbp: .*\n", err)
        return err

    return shell


NEAR = r"grbp: note: elsewhere/heads is on the same disk .*; copy it to another machine\n"
"""What is said of a file of heads in these tests, where all is on one disk."""


def house_events(kind: str, path: str = "live.sqlite") -> list[Event]:
    with closing(open_store(path)) as store:
        return [event for event in store_log.read_events(store) if event.kind == kind]


def change(statement: str, path: str = "live.sqlite") -> None:
    """Change a file as nobody should."""
    with closing(apsw.Connection(path)) as connection:
        connection.execute(statement)


def names(folder: str = "backups") -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def test_every_log_is_checked_with_a_line_each_and_the_outcome_is_recorded(
    said: Shell, answer: Answer
) -> None:
    with grbp.Study("live.sqlite", "ward") as study:
        head = study.verify().head
    lines = said("verify", "--all").splitlines()
    assert f"All is well: study ward, 3 events, head {head[:16]}." in lines
    assert sum("All is well: study " in line for line in lines) == 2
    (event,) = house_events("verified")
    assert json.loads(event.request)["ok"] is True
    found = answer("verify", "--all")
    assert (found["ok"], found["problems"]) == (True, [])
    logs = {one["study"]: one for one in found["logs"]}
    assert logs.keys() == {None, "ward", "other ward"}
    assert (logs["ward"]["events"], logs["ward"]["head"]) == (3, head)
    # The store's own log is checked like the others: it has the first check by now.
    assert logs[None]["events"] >= 1
    assert len(house_events("verified")) == 2


def test_one_log_with_a_problem_is_enough(said: Shell, answer: Answer) -> None:
    change("update events set who = 'eve' where id = (select max(id) from events)")
    found = answer("verify", "--all", status=1)
    assert found["ok"] is False
    assert {one["study"]: one["ok"] for one in found["logs"]} == {"ward": True, "other ward": False}
    (event,) = house_events("verified")
    assert json.loads(event.request)["ok"] is False
    text = said("verify", "--all", status=1)
    assert "All is well: study ward, 3 events" in text
    assert "Problems were found: study other ward, 3 events:\n  event 3 was changed" in text


def test_the_log_of_the_store_itself_is_checked(said: Shell) -> None:
    said("verify", "--all")
    change("update events set who = 'eve' where kind = 'verified'")
    # What is damaged there may not even be opened any more: then that is said.
    assert main(["live", "verify", "--all", "--store", "live.sqlite"]) in (1, 2)


@pytest.mark.parametrize("words", [("verify", "--all"), ("verify", "--heads", "elsewhere/heads")])
def test_a_study_cannot_be_chosen_among_all(refused: Shell, words: tuple[str, ...]) -> None:
    assert "check every study" in refused(*words, "--study", "ward")


def test_a_store_that_is_not_there_is_not_made(refused: Shell) -> None:
    for words in (("verify", "--all"), ("backup", "--to", "backups")):
        assert "there is no store" in refused(*words, store="nowhere.sqlite")
    assert not Path("nowhere.sqlite").exists()


def test_a_store_that_can_only_be_read_is_checked_and_nothing_is_recorded(
    said: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteStore, "checks", lambda _: ["live.sqlite can only be read"])
    notes = r"grbp: note: this is not written into the store's own log: .* can only be read\n"
    assert "All is well: study ward" in said("verify", "--all", notes=notes)
    assert "Verified: " in said("backup", "--to", "backups", notes=notes)
    assert house_events("verified") == house_events("backup") == []


def test_a_database_that_is_damaged_is_named_and_not_written_to(
    said: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteStore, "damage", lambda _: ["SQLite says of the file: page 7"])
    before = house_events("verified")
    assert said("verify", "--all", status=1).startswith("Problem: SQLite says of the file: page 7")
    assert house_events("verified") == before


def test_a_backup_is_named_by_the_time_verified_and_recorded(answer: Answer) -> None:
    made = answer("backup", "--to", "backups")
    assert made["backup"] == "backups/live-20261118T083000Z.sqlite"
    assert (made["ok"], made["removed"]) == (True, [])
    assert names() == ["live-20261118T083000Z.sqlite"]
    assert Path(made["backup"]).stat().st_mode & 0o077 == 0
    with grbp.Study("live.sqlite", "ward") as one, grbp.Study(made["backup"], "ward") as other:
        assert one.verify().head == other.verify().head
    (event,) = house_events("backup")
    assert json.loads(event.request)["file"] == "live-20261118T083000Z.sqlite"


def test_the_oldest_are_removed_and_nothing_else(said: Shell) -> None:
    kept = [
        "live-20200101T000000Z.sqlite.damaged",
        "live-20200101T000000Z.sqlite.unverified",
        "live-20200101T000000Z.db",
        "live-20200101.sqlite",
        "live-2-20200101T000000Z.sqlite",
        "old-live-20200101T000000Z.sqlite",
        "alive-20200101T000000Z.sqlite",
        "live-\u0662020\u0660101T000000Z.sqlite",
    ]
    for name in kept:
        Path("backups", name).touch()
    Path("backups/live-20200102T000000Z.sqlite").mkdir()
    Path("backups/live-20200103T000000Z.sqlite").symlink_to(kept[0])
    kept += ["live-20200102T000000Z.sqlite", "live-20200103T000000Z.sqlite"]
    ours = [f"live-202611{day}T083000Z.sqlite" for day in ("18", "20", "22", "24")]
    for _ in ours:
        said("backup", "--to", "backups")
    assert names() == sorted([*kept, *ours])
    Path("backups", f"{ours[0]}-head").touch()  # It goes with the file that it belongs to.
    text = said("backup", "--to", "backups", "--keep", 3)
    new = "live-20261126T083000Z.sqlite"
    assert text.splitlines()[2:] == [f"Removed: backups/{name}" for name in ours[:2]]
    assert names() == sorted([*kept, *ours[2:], new])


def test_the_one_just_made_is_never_removed(said: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        said("backup", "--to", "backups")
    monkeypatch.setattr(upkeep, "utc_now", lambda: datetime(2020, 1, 1, tzinfo=UTC))
    said("backup", "--to", "backups", "--keep", 1)
    assert names() == ["live-20200101T000000Z.sqlite"]


def test_a_backup_that_is_not_good_is_set_aside_and_nothing_is_removed(
    said: Shell, answer: Answer
) -> None:
    for _ in range(2):
        said("backup", "--to", "backups", "--heads", "elsewhere/heads", notes=NEAR)
    good, heads = names(), Path("elsewhere/heads").read_bytes()
    change("update events set who = 'eve' where kind = 'tell'")
    words = ("backup", "--to", "backups", "--keep", 1, "--heads", "elsewhere/heads")
    assert said_anyhow(*words)
    bad = "live-20261122T083000Z.sqlite.damaged"
    assert names() == sorted([*good, bad])
    assert Path("elsewhere/heads").read_bytes() == heads
    assert len(house_events("backup")) == 2
    found = answer(*words, status=1, notes=NEAR)
    assert (found["ok"], found["removed"]) == (False, [])
    assert found["backup"].endswith("Z.sqlite.damaged")
    assert found["backup"] != f"backups/{bad}"


def test_a_backup_that_is_not_good_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    change("update events set who = 'eve' where kind = 'tell'")
    assert main(["live", "backup", "--to", "backups", "--store", "live.sqlite"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert re.fullmatch(
        r"The backup is not good \(study .*: event 3 was changed: .*\); it is kept as"
        r" backups/live-\d{8}T\d{6}Z\.sqlite\.damaged, and nothing was removed\.\n",
        out,
    )


def test_what_was_written_down_is_found_again(said: Shell, answer: Answer) -> None:
    for _ in range(2):
        said("backup", "--to", "backups", "--heads", "elsewhere/heads", notes=NEAR)
    assert Path("elsewhere/heads").stat().st_mode & 0o077 == 0
    written = read_heads(Path("elsewhere/heads"))
    assert {one.study for one in written} >= {"ward", "other ward"}
    assert {one.backup for one in written} == set(names())
    with grbp.Study("live.sqlite", "ward") as study:
        study.tell(1, 4)
    text = said("verify", "--heads", "elsewhere/heads")
    assert text.endswith(f"All {len(written)} heads of elsewhere/heads are there.\n")
    assert answer("verify", "--heads", "elsewhere/heads")["heads"] == len(written)


def test_a_log_that_has_lost_its_end_is_named(said: Shell) -> None:
    said("backup", "--to", "backups")
    (old,) = map(Path, names())
    with grbp.Study("live.sqlite", "ward") as study:
        study.tell(1, 4)
    said("backup", "--to", "backups", "--heads", "elsewhere/heads", notes=NEAR)
    # Somebody puts an older file in its place. All of it fits together.
    for end in ("", "-wal", "-shm", "-head"):
        Path(f"live.sqlite{end}").unlink(missing_ok=True)
    Path("live.sqlite").write_bytes(Path("backups", old).read_bytes())
    assert "Problem" not in said("verify", "--all")
    text = " ".join(said("verify", "--heads", "elsewhere/heads", status=1).split())
    assert "Problem: study ward has lost its end: event 4, which was there on 2026-" in text
    before = names()
    words = ("backup", "--to", "backups", "--keep", 1, "--heads", "elsewhere/heads")
    assert "has lost its end" in said_anyhow(*words)
    assert [name for name in names() if name not in before] == [
        name for name in names() if name.endswith(".damaged")
    ]


def said_anyhow(*words: object) -> str:
    """What is said of a backup that is not good, however long the line is."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()):
        assert main(["live", *map(str, words), "--store", "live.sqlite"]) == 1
    return out.getvalue()


def test_a_log_that_was_made_anew_is_named(said: Shell) -> None:
    said("backup", "--to", "backups", "--heads", "elsewhere/heads", notes=NEAR)
    for end in ("", "-wal", "-shm", "-head"):
        Path(f"live.sqlite{end}").unlink(missing_ok=True)
    with grbp.Study.create("live.sqlite", "ward", 4, who="eve") as study:
        for _ in range(5):
            study.open_case(2)
    text = " ".join(said("verify", "--heads", "elsewhere/heads", status=1).split())
    assert "study ward is not what it was: event 3 has another hash than on 2026-" in text
    assert "study other ward is gone: it had 3 events on 2026-" in text


def test_files_of_heads_that_are_none_or_lie_too_near_are_refused(refused: Shell) -> None:
    backup = ("backup", "--to", "backups", "--heads")
    for near in ("heads", "backups/heads", "elsewhere/../heads"):
        assert "in the folder of what it is to prove" in refused(*backup, near)
    assert "there is no folder" in refused(*backup, "nowhere/heads")
    Path("elsewhere/heads").write_text('{"study": "ward"}\n')
    for verb in (backup, ("verify", "--heads")):
        assert "line 1 is not one that" in refused(*verb, "elsewhere/heads")
    Path("elsewhere/heads").write_bytes(b"\xff\xfe")
    assert "cannot be read" in refused("verify", "--heads", "elsewhere/heads")
    assert "cannot be read" in refused("verify", "--heads", "elsewhere/none")
    assert names() == []


def test_a_line_of_heads_that_was_cut_off_stays_one_line(said: Shell, refused: Shell) -> None:
    heads = Path("elsewhere/heads")
    heads.write_text('{"time": "2026-')
    append_heads(heads, [])
    said("backup", "--to", "backups")
    assert "line 1 is not one" in refused("verify", "--heads", heads)
    heads.write_text("\n".join(heads.read_text().splitlines()[1:]))
    said("backup", "--to", "backups", "--heads", heads, notes=NEAR)
    said("verify", "--heads", heads)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "name a file, or a folder by --to"),
        (("copy.sqlite", "--to", "backups"), "name a file, or a folder by --to"),
        (("copy.sqlite", "--keep", "2"), "it needs --to"),
        (("copy.sqlite", "--heads", "elsewhere/heads"), "it needs --to"),
        (("--to", "nowhere"), "there is no such folder"),
        (("--to", "live.sqlite"), "there is no such folder"),
        (("--to", "backups", "--keep", "0"), "from 1 to"),
        (("--to", "backups", "--keep", "few"), "from 1 to"),
    ],
)
def test_backups_that_cannot_be_meant_are_refused(
    refused: Shell, words: tuple[str, ...], why: str
) -> None:
    assert why in refused("backup", *words)
    assert names() == []
    assert not Path("copy.sqlite").exists()


def test_two_backups_in_one_second_do_not_meet(
    said: Shell, refused: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "utc_now", lambda: datetime(2026, 1, 1, tzinfo=UTC))
    said("backup", "--to", "backups")
    whole = Path("backups", *names()).read_bytes()
    assert "it exists already" in refused("backup", "--to", "backups")
    assert Path("backups", *names()).read_bytes() == whole


def test_a_backup_to_a_named_file_only_copies(said: Shell) -> None:
    change("update events set who = 'eve' where kind = 'tell'")
    assert said("backup", "as-it-is.sqlite") == "as-it-is.sqlite\n"
    assert house_events("backup") == []


@pytest.fixture
def database(dsn: str) -> str:
    with grbp.Study.create(dsn, "ward", 4) as study:
        study.open_case(2)
    return dsn


@pytest.mark.slow
def test_a_database_is_looked_after_in_the_same_way(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["live", "verify", "--all", "--store", database]) == 0
    to = ["--to", "backups", "--keep", "1", "--heads", "elsewhere/heads"]
    for _ in range(2):
        assert main(["live", "backup", *to, "--store", database]) == 0
    (name,) = names()
    assert re.fullmatch(r"[\w.-]+-\d{8}T\d{6}Z\.sqlite", name)
    assert main(["live", "verify", "--heads", "elsewhere/heads", "--store", database]) == 0
    capsys.readouterr()
    assert main(["live", "verify", "--all", "--store", f"backups/{name}", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["study"] for one in found["logs"]] == [None, "ward"]
    with closing(open_store(database)) as store:
        assert OWN_LOG in store.logs()
        assert store.studies() == ["ward"]


def test_what_was_acknowledged_and_is_not_there_is_named_and_nothing_is_written(
    said: Shell,
) -> None:
    with grbp.Study("live.sqlite", "ward") as study:
        study.tell(1, 4)
        # A copy without the write-ahead log, as if that had been removed.
        for end in ("", "-head"):
            if Path(f"live.sqlite{end}").exists():
                shutil.copy(f"live.sqlite{end}", f"copy.sqlite{end}")
    if not Path("copy.sqlite-head").exists():
        pytest.fail("a store in a file has a witness")
    for end in ("", "-wal", "-shm", "-head"):
        Path(f"live.sqlite{end}").unlink(missing_ok=True)
        if Path(f"copy.sqlite{end}").exists():
            Path(f"copy.sqlite{end}").rename(f"live.sqlite{end}")
    text = " ".join(said("verify", "--all", status=1).split())
    assert "event 4 of 'ward' was acknowledged, but its log ends with event 3" in text
    with closing(apsw.Connection("live.sqlite")) as connection:
        kinds = {kind for (kind,) in connection.execute("select kind from events")}
    assert "verified" not in kinds


def test_replay_all_makes_every_decision_of_every_study_again(
    said: Shell, answer: Answer, refused: Shell
) -> None:
    shown = said("replay", "--all")
    assert shown.count("3 events, 1 decision made again, head") == 2
    found = answer("replay", "--all")
    assert [one["decisions"] for one in found["logs"]] == [1, 1]
    assert found["ok"] is True
    assert "--study or a file was given with --all" in refused("replay", "--all", "--study", "ward")
    assert "--study or a file was given with --all" in refused("replay", "log", "--all")
    # A learner that is gone is named, and another one goes on; what it decided stays.
    for old in Path().glob("live.sqlite*"):
        old.unlink()
    shutil.copy(FORMER, "live.sqlite")
    shown = " ".join(said("replay", "--all", status=1).split())
    assert shown.count("5 decisions could not be made again: the study was made with") == 4
    assert shown.count("shadow mode hides why") == 1
    said("verify", "--all")
    status = said("learner", "--study", "ward", "--learner", "getbe-sm", "--why", "it has left")
    assert "NO NEW CASE" not in status
    assert "NO NEW CASE: the study was made with the learner doorstep-bayes" in said(
        "status", "--study", "late"
    )
    assert "Case 6 is in state 2" in said("open", "--study", "ward", "--state", 2)
    shown = " ".join(said("log", "--study", "ward").split())
    assert "The learner was changed from doorstep-lai to getbe-sm. Reason: it has left" in shown
