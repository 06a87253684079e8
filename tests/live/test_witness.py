"""Files of a store that are removed, replaced or damaged: what is missing is named, and by whom."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from runs import one_sentence
from stored import create, everything, log, tell

from grbp import Study
from grbp.cli import main
from grbp.errors import CannotWrite, InvalidInput, ReadOnly
from grbp.live.store import open_store, sql
from grbp.live.store.base import STAGED, Transaction
from grbp.live.store.sqlite import FILES, SqliteStore
from grbp.live.store.witness import Witness, _parse_line, make_line

NAME = "live.sqlite"

WRITES = """
import sys, time
from grbp import Study

study = Study(sys.argv[1])
for _ in range(int(sys.argv[2])):
    study.open_case(2)
print(study.status().events, flush=True)
time.sleep(600)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store that nobody has open, with a study of one case: two events."""
    with closing(Study.create(tmp_path / NAME, "ward", goal=4)) as study:
        study.open_case(2)
    return tmp_path / NAME


@pytest.fixture
def killed(path: Path) -> Path:
    """The same after 20 more events of a program that was killed: they are in the log before it."""
    command = [sys.executable, "-c", WRITES, str(path), "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert int(writer.stdout.readline()) == 22
        writer.send_signal(signal.SIGKILL)
    assert beside(path, "-wal").stat().st_size > 20 * 4096
    return path


def beside(path: Path, end: str) -> Path:
    """Return the name of a file that belongs to a store."""
    return path.with_name(path.name + end)


def copied(path: Path, folder: str) -> Path:
    """Return a copy of all files of a store that are there."""
    (path.parent / folder).mkdir()
    for end in FILES:
        if beside(path, end).exists():
            shutil.copy(beside(path, end), path.parent / folder)
    return path.parent / folder / path.name


def put_back(copy: Path, path: Path) -> None:
    """Put the files of a copy in the place of a store's own."""
    for end in FILES:
        beside(path, end).unlink(missing_ok=True)
        if beside(copy, end).exists():
            shutil.copy(beside(copy, end), beside(path, end))


def named(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is said of a study in which something is missing, as every verb says it."""
    with closing(Study(path)) as study:
        said = study.read_only
        assert said is not None
        one_sentence(ValueError(said))
        events = study.status().events
        with pytest.raises(ReadOnly) as refused:
            study.open_case(1)
        assert said in one_sentence(refused.value)
        verified = study.verify()
        assert said in verified.problems
        assert not verified.ok
        # What is there can be read.
        assert len(study.log(limit=99)) == events
    capsys.readouterr()
    assert main(["live", "verify", "--store", str(path)]) == 1
    told = capsys.readouterr().out
    assert "".join(said.split()) in "".join(told.split())  # It may be broken anywhere.
    return said


def assert_whole(path: Path, events: int) -> None:
    """See that nothing is missing, and that it goes on."""
    with closing(Study(path)) as study:
        assert study.read_only is None
        assert study.verify().ok
        assert study.status().events == events
        study.open_case(1)


@pytest.mark.parametrize("way", ["removed", "replaced"])
def test_a_log_that_is_not_the_one_that_was_opened_is_not_written_to(
    path: Path, tmp_path: Path, way: str
) -> None:
    """Put back, nothing is missing; and whoever closes the store saves what it has."""
    wal, aside = beside(path, "-wal"), tmp_path / "aside"
    with closing(open_store(path)) as store:
        store.write("s", create)
        store.write("s", tell)
        wal.rename(aside)
        if way == "replaced":
            shutil.copy(aside, wal)
        for attempt in (
            lambda: store.write("s", tell),
            lambda: log(store),
            store.studies,
            store.damage,
            lambda: store.backup(tmp_path / "copy"),
        ):
            with pytest.raises(CannotWrite, match="-wal was removed or replaced") as refused:
                attempt()
            one_sentence(refused.value)
        assert wal.exists() == (way == "replaced")  # No new one was made.
        aside.replace(wal)
        assert store.write("s", tell) == 2
        wal.unlink()
    with closing(open_store(path)) as store:
        assert store.checks() == []
        assert store.missing("s") is None
        assert len(log(store)) == 2


@pytest.mark.parametrize("place", ["file", "folder", "link"])
def test_a_store_that_is_moved_is_refused(path: Path, place: str) -> None:
    folder = path.parent / "a" / "b"
    folder.mkdir(parents=True)
    shutil.copy(path, folder / NAME)
    given = folder / NAME
    if place == "link":
        given = path.parent / "link"
        given.symlink_to(folder / NAME)
    with closing(open_store(given)) as store:
        store.write("s", create)
        moved = {"file": folder / NAME, "folder": folder.parent, "link": folder / NAME}[place]
        moved.rename(path.parent / "moved")
        for attempt in (lambda: store.write("s", tell), lambda: log(store)):
            with pytest.raises(CannotWrite, match="was moved, removed or replaced") as refused:
                attempt()
            one_sentence(refused.value)
        (path.parent / "moved").rename(moved)
        assert store.write("s", tell) == 1


def test_others_who_come_and_go_are_no_reason_to_refuse(path: Path) -> None:
    """SQLite removes the log with the last who closes the store, and makes it with the first."""
    with closing(open_store(path)) as store:
        for _ in range(3):
            with closing(Study(path, "ward")) as other:
                other.open_case(1)
            store.write("s", create)
            store.write("s", tell)
        assert len(log(store)) == 3
    assert not beside(path, "-wal").exists()
    with closing(open_store(path)) as store:
        assert (len(log(store, "s")), len(log(store, "ward"))) == (3, 5)


@pytest.mark.parametrize("gone", [("-wal",), ("-wal", "-shm")])
def test_what_a_killed_program_wrote_and_somebody_removed_is_named(
    killed: Path, gone: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = copied(killed, "whole")
    for end in gone:
        beside(killed, end).unlink()
    said = named(killed, capsys)
    assert "event 22 of 'ward' was acknowledged, but its log ends with event 2: " in said
    assert f"{killed}-wal was removed or is damaged" in said
    put_back(whole, killed)
    assert_whole(killed, 22)


def test_what_is_given_up_is_not_asked_for_again(killed: Path) -> None:
    beside(killed, "-wal").unlink()
    beside(killed, "-head").unlink()
    assert_whole(killed, 2)
    assert_whole(killed, 3)


def test_a_new_store_whose_log_is_removed_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    """All of it is in the log at first."""
    path = tmp_path / NAME
    with closing(SqliteStore(path, create=True)) as store:
        store.write("s", create)
        store.write("s", tell)
        whole = copied(path, "whole")
    put_back(whole, path)
    beside(path, "-wal").unlink()
    for create_it in (False, True):
        with pytest.raises(CannotWrite, match="is empty, but had studies") as refused:
            open_store(path, create=create_it)
        one_sentence(refused.value)
    put_back(whole, path)
    with closing(open_store(path)) as store:
        assert len(log(store)) == 1


@pytest.mark.parametrize("place", [0.3, 0.6, 0.9])
def test_a_flipped_bit_that_ends_the_log_early_is_named(
    killed: Path, place: float, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, wal = copied(killed, "whole"), beside(killed, "-wal")
    content = bytearray(wal.read_bytes())
    frame = 24 + 4096
    content[32 + int(place * (len(content) // frame)) * frame + 1000] ^= 1
    wal.write_bytes(content)
    beside(killed, "-shm").unlink()  # which would be trusted as long as somebody has it open
    said = named(killed, capsys)
    assert "event 22 of 'ward' was acknowledged, but its log ends with event " in said
    put_back(whole, killed)
    assert_whole(killed, 22)


def test_an_older_copy_that_is_put_in_place_is_named(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = copied(path, "old")
    with closing(Study(path)) as study:
        study.open_case(3)
    new = copied(path, "new")
    shutil.copy(old, path)
    assert "event 3 of 'ward' was acknowledged, but its log ends with event 2" in named(
        path, capsys
    )
    # Nor is one that went on in another way.
    beside(path, "-head").unlink()
    with closing(Study(path)) as study:
        study.open_case(1)
        study.open_case(1)
    shutil.copy(beside(new, "-head"), beside(path, "-head"))
    assert "event 3 of 'ward' is not the one that was acknowledged" in named(path, capsys)
    put_back(new, path)
    assert_whole(path, 3)


def test_a_study_that_is_gone_makes_all_others_read_only(path: Path) -> None:
    old = copied(path, "old")
    for name in ("one", "other"):
        Study.create(path, name, goal=4).close()
    shutil.copy(old, path)
    with closing(Study(path, "ward")) as study:
        assert f"2 studies of {path} cannot be found" in str(study.read_only)
        with pytest.raises(ReadOnly, match="cannot be found") as refused:
            study.open_case(1)
        one_sentence(refused.value)


def unfit(content: bytes) -> Iterator[bytes]:
    """Yield what may have become of a witness."""
    yield b""
    yield content[:64]
    yield content[:-1]
    yield bytes(len(content))
    yield b"\xff" * len(content)
    yield content[64:] + content[:64]
    yield content + b"\n" * 63
    yield content[:64] + content[64:].replace(b"0", b"9", 3)


def test_a_witness_that_is_damaged_or_missing_says_nothing(path: Path) -> None:
    head = beside(path, "-head")
    content = head.read_bytes()
    assert len(content) == 128
    for other in unfit(content):
        head.write_bytes(other)
        with closing(Study(path)) as study:
            assert study.read_only is None
            assert study.verify().ok
    head.unlink()
    assert_whole(path, 2)
    # What is acknowledged from here is noted again.
    assert Witness(str(path), "").read()[1][0] == 3


def test_no_flipped_bit_of_a_witness_says_what_is_not_so(path: Path) -> None:
    line = beside(path, "-head").read_bytes()[64:]
    assert _parse_line(1, line) == Witness(str(path), "").read()[1]
    assert _parse_line(2, line) is None
    for bit in range(8 * len(line)):
        flipped = bytearray(line)
        flipped[bit // 8] ^= 1 << bit % 8
        assert _parse_line(1, bytes(flipped)) is None


def test_a_witness_never_goes_back(tmp_path: Path) -> None:
    """Whoever writes to an older copy does not remove the trace of what is missing there."""
    for seq in (1, 9, 10, 2, 99, 100, 11):
        with closing(witness := Witness(str(tmp_path / NAME), "")):
            witness.note(3, make_line(3, seq, f"{seq:064}"))
    assert witness.read() == {3: (100, f"{100:064}"[:40])}
    with closing(witness):
        witness.forget(3)
        assert witness.read() == {}
        witness.note(3, make_line(3, 1, "f" * 64))
        assert witness.read() == {3: (1, "f" * 40)}


def test_what_was_not_committed_is_not_noted(path: Path) -> None:
    def fail(rows: Transaction) -> None:
        tell(rows)
        raise LookupError

    with closing(open_store(path)) as store:
        store.write("s", create)
        store.write("s", tell)
        witness = Witness(str(path), "")
        before = witness.read()
        with pytest.raises(LookupError):
            store.write("s", fail)
        with ThreadPoolExecutor(2) as threads:  # within a savepoint, beside one that does not fail
            with store._lock:
                jobs = [threads.submit(store.write, "s", one) for one in (fail, create)]
                while len(store._waiting) < 2:
                    threading.Event().wait(0.001)
            assert [type(job.exception()) for job in jobs] == [LookupError, type(None)]
        assert witness.read() == before


def remove(rows: Transaction) -> bool:
    """Remove a log."""
    assert isinstance(rows, sql.SqlTransaction)
    return rows.remove(99)


@pytest.mark.parametrize("together", [False, True])
def test_a_log_that_gets_the_number_of_a_removed_one_is_not_taken_for_it(
    path: Path, together: bool
) -> None:
    def begin(rows: Transaction) -> int:
        create(rows)
        return tell(rows)

    removed = f"{STAGED}1 x"
    with closing(open_store(path)) as store:
        store.write(removed, create)
        for _ in range(5):
            store.write(removed, tell)
        with ThreadPoolExecutor(2) as threads, store._lock:
            jobs: list[Future[Any]] = [threads.submit(store.write, removed, remove)]
            while not store._waiting:
                threading.Event().wait(0.001)
            if together:
                jobs.append(threads.submit(store.write, "new", begin))
                while len(store._waiting) < 2:
                    threading.Event().wait(0.001)
        assert [job.result() for job in jobs] == [True, 1][: len(jobs)]
        if not together:
            assert Witness(str(path), "").read().keys() == {1}
            assert store.write("new", begin) == 1
        assert store.missing("new") is None
        assert Witness(str(path), "").read()[2][0] == 1
    with closing(open_store(path)) as store:
        assert store.checks() == []
        assert store.missing("new") is None


def test_who_reads_while_others_write_misses_nothing(path: Path) -> None:
    over = threading.Event()

    def write() -> int:
        with closing(open_store(path)) as store:
            while not over.is_set():
                store.write("s", tell)
            return len(log(store))

    with closing(open_store(path)) as store:
        store.write("s", create)
        with ThreadPoolExecutor(2) as threads:
            jobs = [threads.submit(write) for _ in range(2)]
            try:
                assert [store.missing("s") for _ in range(200)] == [None] * 200
            finally:
                over.set()
            assert max(job.result() for job in jobs) == len(log(store))


def test_of_several_backups_to_one_name_one_is_made(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All four have seen that the name is free before the first takes it."""
    here, done = threading.Barrier(4), SqliteStore.checkpoint

    def meet(store: SqliteStore) -> None:
        done(store)
        here.wait(60)

    monkeypatch.setattr(SqliteStore, "checkpoint", meet)
    target = tmp_path / "copies" / "copy.sqlite"
    target.parent.mkdir()
    with closing(open_store(path)) as store, ThreadPoolExecutor(4) as threads:
        jobs = [threads.submit(store.backup, target) for _ in range(4)]
        errors = [error for job in jobs if (error := job.exception())]
        assert len(errors) == 3
        for error in errors:
            assert isinstance(error, InvalidInput)
            assert "it exists already: name a new file" in one_sentence(error)
        assert [one.name for one in target.parent.iterdir()] == ["copy.sqlite"]
        with closing(open_store(target)) as copy:
            assert everything(copy) == everything(store)


def test_a_backup_is_not_made_beside_what_is_left_of_another(path: Path, tmp_path: Path) -> None:
    with closing(open_store(path)) as store:
        for end in FILES:
            beside(tmp_path / "copy", end).write_text("mine")
            with pytest.raises(InvalidInput, match=f"copy{end} was asked for; it exists"):
                store.backup(tmp_path / "copy")
            beside(tmp_path / "copy", end).unlink()
        store.backup(tmp_path / "copy")


@pytest.fixture
def open_to_all() -> Iterator[None]:
    """A process whose files are everybody's, unless it says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_to_all")
def test_no_file_is_anybody_elses_whatever_the_system_would_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: dict[str, int] = {}

    def look(folder: Path) -> None:
        for one in folder.iterdir():
            if one.is_file():
                modes[one.name] = one.stat().st_mode & 0o777

    def looking(act: Callable[..., object]) -> Callable[..., object]:
        def acts(path: Path, *arguments: object, **options: object) -> object:
            look(tmp_path)  # Drafts are there for a moment only.
            return act(path, *arguments, **options)

        return acts

    for verb in ("unlink", "replace", "hardlink_to"):
        monkeypatch.setattr(Path, verb, looking(getattr(Path, verb)))
    path = tmp_path / NAME
    with closing(Study.create(path, "ward", goal=4)) as study:
        study.open_case(2)
        look(tmp_path)
        study.export(tmp_path / "log.ndjson")
        study.export_steps(tmp_path / "steps.csv")
        study.backup(tmp_path / "copy.sqlite")
    present, more = sql.newest_version(), ("alter table cases add column note {text}",)
    monkeypatch.setattr(sql, "MIGRATIONS", [*sql.MIGRATIONS, more])
    open_store(path).close()
    look(tmp_path)
    wanted = {NAME + end for end in (*FILES, f".schema-{present}")} | {"log.ndjson", "steps.csv"}
    assert wanted | {"copy.sqlite"} <= modes.keys()
    assert sum(name.startswith(".grbp-") for name in modes) >= 5
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}
