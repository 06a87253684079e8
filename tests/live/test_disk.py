"""Disks that are full, fail, or can only be read: one sentence, nothing lost, and it goes on."""

import re
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import apsw
import pytest
from clerk import GOAL, Answer, Clerk, Clock, ask, together
from cuts import FOLDER, damage
from power import Disk, FailedSync, File, Operation, Remains, Sync, Write, after_cut

from grbp import Study
from grbp.errors import CannotWrite, NotFound, ReadOnly
from grbp.live.store.sqlite import SqliteStore

pytestmark = pytest.mark.slow  # seconds in all; `make test` has them

T = TypeVar("T")
VERBS = 10
PAGES = 12
"""The pages of the log after which SQLite folds it into the file."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a study in which something was recorded."""
    path = tmp_path_factory.mktemp("begun") / "studies.db"
    with Study.create(path, "a", GOAL, clock=Clock()) as study:
        clerk = Clerk("x")
        for _ in range(6):
            clerk.learn(ask(study, clerk.request()))
    return path


class Fault:
    """An error at the k-th operation: once, or at all writes until somebody makes room."""

    def __init__(
        self, k: int, error: type[apsw.Error], kind: type[Operation] | None = None
    ) -> None:
        self.k, self.error = k, error
        # A full disk refuses what makes files longer; to open, sync or remove one needs no room.
        self.kind = Write if kind is None and error is apsw.FullError else kind
        self.count, self.lasts = 0, False

    def __call__(self, operation: Operation) -> None:
        if self.kind is not None and not isinstance(operation, self.kind):
            return
        self.count += 1
        if self.count == self.k:
            self.lasts = self.error is apsw.FullError
            raise self.error("that is what the disk says")
        if self.lasts:
            raise self.error("that is what the disk says")


class Attempts:
    """Who tries again after a refusal, and keeps what was said."""

    def __init__(self, relieve: Callable[[], None]) -> None:
        self.relieve = relieve
        self.said: list[str] = []

    def __call__(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except CannotWrite as error:
            self.said.append(str(error))
            self.relieve()
            return action()


def a_day(
    path: Path, attempt: Attempts, acknowledge: Callable[[object], None] = lambda _: None
) -> list[Answer]:
    """Open a study, record things and close it; try again whatever was refused."""
    clerk, answers = Clerk("y"), []
    store = attempt(lambda: SqliteStore(path))
    store._connection.wal_autocheckpoint(PAGES)
    study = attempt(lambda: Study(store, "a", clock=Clock()))
    for _ in range(VERBS):
        request = clerk.request()
        answers.append(attempt(lambda request=request: ask(study, request)))  # type: ignore[misc]
        clerk.learn(answers[-1])
        acknowledge(("a", answers[-1].event, answers[-1].hash))
    assert attempt(study.verify).ok
    # SQLite leaves what fails now to the next who opens the file; this disk raises it nevertheless.
    with suppress(apsw.Error):
        study.close()
    return answers


def check(path: Path, answers: list[Answer]) -> None:
    """Find every answer in the file, each once, and nothing else."""
    with Study(path, "a") as study:
        assert study.verify().ok
        log = {event.seq: event.hash for event in study.log()}
    assert len(log) == 7 + VERBS
    assert {answer.event: answer.hash for answer in answers}.items() <= log.items()


def day_with(path: Path, begun: Path, fault: Fault) -> list[str]:
    """Let a fault happen in a day's work, check what is left, and return what was said of it."""
    shutil.copyfile(begun, path)

    def relieve() -> None:
        fault.lasts = False

    attempt = Attempts(relieve)
    with Disk(refuse=fault) as disk, patch(FOLDER, disk.sync_folder):
        answers = a_day(path, attempt)
    check(path, answers)
    return attempt.said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (apsw.FullError, "{} cannot be written (the disk is full); make room"),
        (apsw.IOError, "{} cannot be read or written (that is what the disk says)"),
    ],
)
def test_whatever_write_fails_is_said_and_made_up_for(
    tmp_path: Path, begun: Path, error: type[apsw.Error], sentence: str
) -> None:
    counted = Fault(0, error)
    assert day_with(tmp_path / "0.db", begun, counted) == []
    assert counted.count > 100
    silent = 0
    for k in range(1, counted.count + 1):
        path = tmp_path / f"{k}.db"
        said = day_with(path, begun, Fault(k, error))
        assert set(said) <= {sentence.format(path)}, k
        silent += not said
    # What fails when the last one closes is left to the next who opens.
    assert 0 < silent < counted.count / 4


@pytest.mark.slow
def test_a_sync_that_fails_and_then_the_power(tmp_path: Path, begun: Path) -> None:
    whole = Remains({"studies.db": begun.read_bytes()}, [])
    for k in range(1, 40):
        fault = Fault(k, apsw.IOError, Sync)
        folder = tmp_path / str(k)
        folder.mkdir()
        whole.restore(folder)
        with Disk(whole, fault) as disk, patch(FOLDER, disk.sync_folder):
            a_day(folder / "studies.db", Attempts(lambda: None), disk.acknowledge)
        if fault.count < k:
            break
        failed = next(n for n, one in enumerate(disk.trace) if isinstance(one, FailedSync))
        for number, (_, remains) in enumerate(after_cut(disk.trace, 5, k, failed)):
            after = folder / str(number)
            after.mkdir()
            with Disk(remains) as disk, patch(FOLDER, disk.sync_folder):
                assert damage(remains, after, disk) == ""
    assert 20 < k < 39


def test_a_backup_that_fails_leaves_nothing_behind(tmp_path: Path, begun: Path) -> None:
    path, copy = tmp_path / "a.db", tmp_path / "copy.db"
    shutil.copyfile(begun, path)
    with Disk() as disk, Study(path) as study:
        k, said = 0, set()
        while not copy.exists():
            k += 1
            disk.refuse = fault = Fault(k, apsw.FullError)
            try:
                study.backup(copy)
            except CannotWrite as error:
                said.add(re.sub(r"\.grbp-[0-9a-f]+", "copy.db", str(error)))
            except apsw.FullError:  # This disk also raises what fails when a file is closed.
                pass
            assert copy.exists() is not fault.lasts
            disk.refuse = None
            assert {one.name for one in tmp_path.iterdir()} - {"copy.db"} == {
                "a.db", "a.db-shm", "a.db-wal",
            }  # fmt: skip
        assert k > 10
        assert said == {f"{copy} cannot be written (the disk is full); make room"}
        study.open_case(1)
    with Study(copy) as copied:
        assert copied.verify().events == 7


def test_what_fails_in_a_group_is_said_to_all_of_it(tmp_path: Path, begun: Path) -> None:
    faults = 0
    for k in range(1, 60):
        path = tmp_path / f"{k}.db"
        shutil.copyfile(begun, path)
        fault = Fault(k, apsw.FullError)
        with Disk(refuse=fault) as disk, patch(FOLDER, disk.sync_folder):
            store = SqliteStore(path)
            store._connection.pragma("cache_size", 1)  # It writes before it commits.
            study = Study(store, "a", clock=Clock())
            calls = [partial(study.open_case, state, key=f"{state}") for state in (1, 2, 3)]
            answers = together(store, calls)
            if fault.lasts:
                said = f"{path} cannot be written (the disk is full); make room"
                assert [str(one) for one in answers] == [said] * 3
                faults, fault.lasts = faults + 1, False
                answers = together(store, calls)
            fault.k = 0
            assert [getattr(one, "event", one) for one in answers] == [8, 9, 10]
            assert study.verify().ok
            study.close()
    assert 20 < faults < 59


@contextmanager
def files_up_to(size: int) -> Iterator[Callable[[], None]]:
    """Let the system refuse what makes a file longer than this, until somebody lifts it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def lift() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield lift
    finally:
        lift()


@pytest.mark.slow
def test_what_the_system_refuses_is_said_and_made_up_for(tmp_path: Path, begun: Path) -> None:
    refused = 0
    for number, size in enumerate(range(0, 90_000, 3_500)):
        path = tmp_path / f"{number}.db"
        shutil.copyfile(begun, path)
        with files_up_to(size) as lift:
            attempt = Attempts(lift)
            answers = a_day(path, attempt)
        check(path, answers)
        assert set(attempt.said) <= {f"{path} cannot be read or written (disk I/O error)"}
        refused += bool(attempt.said)
    assert refused > 10


class ReadOnlyDisk(Disk):
    """A disk with a file, or a whole folder, that can only be read."""

    folder = False

    def xOpen(  # noqa: N802
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> File:
        if self.folder and not flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            raise apsw.ReadOnlyError("attempt to write a readonly database")
        flags[0] &= ~(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        flags[0] |= apsw.SQLITE_OPEN_READONLY
        return super().xOpen(name, flags)


def test_a_file_that_can_only_be_read_is_read(tmp_path: Path, begun: Path) -> None:
    path = tmp_path / "a.db"
    shutil.copyfile(begun, path)
    with Study(path) as kept, ReadOnlyDisk():  # Somebody else writes, so that the log is there.
        kept.open_case(1)
        study = Study(path)
        assert study.verify().events == kept.status().events
        said = f"{path} can only be read; change that, or copy it elsewhere"
        assert study.read_only == said
        with pytest.raises(ReadOnly) as refusal:
            study.open_case(1)
        assert str(refusal.value) == f"the study 'a' can only be read: {said}"
        study.close()


def test_a_folder_that_can_only_be_read_is_said(tmp_path: Path, begun: Path) -> None:
    path = tmp_path / "a.db"
    shutil.copyfile(begun, path)
    with ReadOnlyDisk() as disk:
        disk.folder = True
        with pytest.raises(CannotWrite) as refusal:
            Study(path)
    assert str(refusal.value) == (
        f"{path} cannot be written (the file or its folder is read-only); change that"
    )


def test_a_folder_that_cannot_be_looked_into_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with (
        patch.object(Path, "stat", side_effect=PermissionError(13, "Permission denied")),
        pytest.raises(CannotWrite) as refusal,
    ):
        Study(path)
    assert str(refusal.value) == f"{path} cannot be written (Permission denied)"
    with pytest.raises(CannotWrite, match="File name too long"):
        Study(tmp_path / ("x" * 999))
    with pytest.raises(NotFound, match="there is no store"):
        Study(path)
