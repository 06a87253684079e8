"""Power cuts: what was acknowledged is there, and the simulated disk would show it otherwise."""

import random
from collections import Counter
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import apsw
import pytest
from cuts import FILE, FOLDER, cut_many, damage, work
from power import (
    Create,
    Delete,
    Disk,
    FailedSync,
    Operation,
    Remains,
    Sync,
    Truncate,
    Write,
    after_cut,
)

from grbp import Study
from grbp.live.store.sqlite import SqliteStore
from grbp.live.store.witness import Witness

pytestmark = pytest.mark.slow  # seconds in all; `make test` has them


def test_what_was_synced_is_there_and_only_that_is_certain() -> None:
    trace: list[Operation] = [
        Create(1, "a"), Write(1, 0, b"x" * 1024), Sync(1, True), Write(1, 512, b"y" * 1024),
    ]  # fmt: skip
    seen = {remains.files["a"] for _, remains in after_cut(trace, 400, seed=1, begin=3)}
    assert all(content[:512] == b"x" * 512 for content in seen)
    assert b"x" * 1024 in seen
    assert b"x" * 512 + b"y" * 1024 in seen
    assert b"x" * 1024 + b"y" * 512 in seen  # the second sector arrived, the first did not
    assert b"x" * 512 + b"y" * 512 in seen
    assert any(set(content) - set(b"xy") for content in seen)  # a sector of noise


def test_unsynced_writes_arrive_in_any_order() -> None:
    trace: list[Operation] = [
        Create(1, "a"), Sync(1, True), Write(1, 0, b"1"), Write(1, 1, b"2"), Truncate(1, 1),
    ]  # fmt: skip
    seen = {remains.files["a"] for _, remains in after_cut(trace, 400, seed=1, begin=5)}
    assert {b"", b"1", b"\0", b"12", b"\0" + b"2"} <= seen


def test_a_sync_that_failed_is_not_made_up_for_by_the_next() -> None:
    trace: list[Operation] = [
        Create(1, "a"), Sync(1, True), Write(1, 0, b"1"), FailedSync(1), Write(1, 1, b"2"),
        Sync(1, False),
    ]  # fmt: skip
    seen = {remains.files["a"] for _, remains in after_cut(trace, 100, seed=1, begin=6)}
    assert {b"12", b"\0" + b"2"} <= seen
    assert all(content[1:] == b"2" for content in seen)


def test_a_name_is_certain_when_the_folder_was_synced() -> None:
    trace: list[Operation] = [
        Create(1, "a"), Write(1, 0, b"1"), Sync(1, False), Create(2, "b"), Sync(2, True),
        Delete("a", False), Create(3, "a"), Sync(3, False),
    ]  # fmt: skip

    def at(moment: int) -> set[tuple[tuple[str, bytes], ...]]:
        left = after_cut(trace[:moment], 100, seed=1, begin=moment)
        return {tuple(sorted(remains.files.items())) for _, remains in left}

    assert at(3) == {(), (("a", b"1"),)}
    assert at(5) == {(("a", b"1"), ("b", b""))}
    assert at(6) == {(("b", b""),), (("a", b"1"), ("b", b""))}
    assert at(8) == {(("b", b""),), (("a", b"1"), ("b", b"")), (("a", b""), ("b", b""))}


def inserts(folder: Path, synchronous: str) -> Disk:
    """Record a loop of inserts, with checkpoints and with a close in the middle."""
    draw = random.Random(1)  # noqa: S311
    with Disk() as disk:
        for half in range(2):
            bare = apsw.Connection(str(folder / "x.db"))
            bare.execute(
                f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};"
                "PRAGMA wal_autocheckpoint = 12;"
                "CREATE TABLE IF NOT EXISTS t (i INTEGER PRIMARY KEY, a TEXT)"
            ).fetchall()
            for i in range(30 * half, 30 * half + 30):
                bare.execute("INSERT INTO t VALUES (?, ?)", (i, "x" * draw.randint(10, 3000)))
                disk.acknowledge(i)
            bare.close()
    return disk


def found(remains: Remains, folder: Path) -> str:
    """Let SQLite open what is left, and say what became of the inserts."""
    remains.restore(folder)
    bare = apsw.Connection(str(folder / "x.db"))
    try:
        if bare.execute("PRAGMA integrity_check").get != "ok":
            return "damaged"
        there = {i for (i,) in bare.execute("SELECT i FROM t")}
    except (apsw.CorruptError, apsw.NotADBError):
        return "damaged"
    except apsw.SQLError:  # there is no table
        there = set()
    finally:
        bare.close()
    return "lost" if set(remains.acknowledged) - there else "whole"


@pytest.mark.sample("NORMAL-*")
@pytest.mark.parametrize(
    ("synchronous", "expected"),
    [("FULL", {"whole"}), ("NORMAL", {"whole", "lost"}), ("OFF", {"whole", "lost", "damaged"})],
)
def test_the_simulated_disk_shows_what_sqlite_promises(
    tmp_path: Path, synchronous: str, expected: set[str]
) -> None:
    (tmp_path / "live").mkdir()
    disk = inserts(tmp_path / "live", synchronous)
    kinds: Counter[str] = Counter()
    for number, (_, remains) in enumerate(after_cut(disk.trace, 300, seed=1)):
        folder = tmp_path / str(number)
        folder.mkdir()
        kinds[found(remains, folder)] += 1
    assert set(kinds) == expected


@pytest.mark.sample("1-50")
@pytest.mark.slow
@pytest.mark.parametrize(("seed", "cuts"), [(1, 50), *((seed, 250) for seed in range(8))])
def test_a_power_cut_loses_nothing_that_was_acknowledged(seed: int, cuts: int) -> None:
    found = list(cut_many(cuts, seed))
    assert len(found) == cuts
    assert [one for one in found if one] == []


def test_after_a_cut_the_witness_may_be_older_than_the_store_and_never_newer(
    tmp_path: Path,
) -> None:
    """The cuts above would call a store damaged whose witness knows of more than it has."""
    (tmp_path / "live").mkdir()
    trace = work(tmp_path / "live", 1)
    ages = Counter[int]()
    for number, (_, remains) in enumerate(after_cut(trace, 60, seed=1)):
        folder = tmp_path / str(number)
        folder.mkdir()
        remains.restore(folder)
        noted = Witness(str(folder / FILE), FILE).read()
        with closing(SqliteStore(folder / FILE, create=True)) as store:
            for name in store.studies():
                log, study = store.read(name, lambda tx: (tx.number(), tx.study()))
                assert log is not None
                assert study is not None
                ages[noted.get(log, (0, ""))[0] - study.seq] += 1
    assert max(ages) == 0
    assert min(ages) < 0


def test_the_same_cuts_lose_events_that_were_not_synced() -> None:
    found = Counter(one.partition(":")[0] for one in cut_many(50, 0, "NORMAL"))
    assert found["lost"] > 15
    assert found["damaged"] == 0


def test_the_same_work_is_recorded_as_the_same_trace(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    trace = work(tmp_path / "one", 1)
    assert trace == work(tmp_path / "other", 1)
    assert trace != work(tmp_path / "other", 2)


def test_a_commit_into_a_log_that_a_reader_made_survives(tmp_path: Path) -> None:
    # SQLite syncs the name of a new log with the first commit of the connection that made it.
    with Disk() as disk, patch(FOLDER, disk.sync_folder):
        reader = SqliteStore(tmp_path / FILE, create=True)
        Study.create(reader, "a", 4)
        reader.close()
        reader, writer = SqliteStore(tmp_path / FILE), SqliteStore(tmp_path / FILE)
        study = Study(writer, "a")
        event = study.open_case(2).event
        disk.acknowledge(("a", event, study.status().head))
        moment = len(disk.trace)
        reader.close()
        writer.close()
    for number, (_, remains) in enumerate(after_cut(disk.trace[:moment], 20, 1, moment)):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert damage(remains, folder, disk) == ""
