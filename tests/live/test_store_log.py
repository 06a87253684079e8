"""The log of a store itself: chained and verified as a study's is, and no study for anybody."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grbp import Damaged, InvalidInput, Study
from grbp.live import store_log
from grbp.live.log_file import read_log
from grbp.live.schema import Event, hash_fields
from grbp.live.store import open_store
from grbp.live.store.base import OWN_LOG, Store

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    ways: dict[str, Callable[[], Any]] = {
        "memory": lambda: "memory",
        "sqlite": lambda: tmp_path / "live.sqlite",
        "postgres": lambda: request.getfixturevalue("dsn"),
    }
    with closing(open_store(ways[request.param](), create=True)) as made:
        yield made


def test_what_is_recorded_is_there_in_order_and_by_kind(store: Store) -> None:
    assert store_log.read_events(store) == []
    assert store_log.last_of(store, store_log.VERIFIED) is None
    assert store_log.verify(store).ok
    made = [
        store_log.record(store, kind, "ada", NOW, number=number, who="its own", kind="x")
        for number, kind in enumerate(["grant", "verified", "backup", "verified", "revoke"])
    ]
    assert store_log.read_events(store) == made
    assert store_log.read_events(store, 3) == made[3:]
    assert [store_log.last_of(store, kind) for kind in store_log.KINDS] == [
        made[0], made[4], made[3], made[2],
    ]  # fmt: skip
    assert json.loads(made[1].request) == {"number": 1, "who": "its own", "kind": "x"}
    found = store_log.verify(store)
    assert (found.events, found.head, found.problems) == (5, made[-1].hash, ())
    with pytest.raises(InvalidInput, match="the kind 'open' was given"):
        store_log.record(store, "open", "ada", NOW)


def test_the_log_of_the_store_is_no_study(store: Store, tmp_path: Path) -> None:
    store_log.record(store, "grant", "ada", NOW)
    Study.create(store, "ward", 4).export(tmp_path / "log")
    assert store.studies() == ["ward"]
    assert store.logs() == [OWN_LOG, "ward"]
    with pytest.raises(InvalidInput, match="name = "):
        Study(store, OWN_LOG)
    with pytest.raises(InvalidInput, match="name = "):
        Study.create(store, OWN_LOG, 4)
    with pytest.raises(InvalidInput, match="name = "):
        read_log(_renamed(tmp_path / "log"))
    with closing(open_store(tmp_path / "other.sqlite", create=True)) as other:
        with pytest.raises(InvalidInput, match="name = "):
            Study.import_(other, _renamed(tmp_path / "log"))
        assert other.logs() == []


def _renamed(path: Path) -> Path:
    """Return an export that would be the log of the store itself, with hashes that fit."""
    head, event = map(json.loads, path.read_text("utf-8").splitlines())
    request = json.loads(event["request"])
    request["config"]["name"] = OWN_LOG
    event["request"] = json.dumps(request, separators=(",", ":"))
    event["hash"] = hash_fields(tuple(event.values())[:-1])
    head |= {"study": OWN_LOG, "head": event["hash"]}
    path.write_text(f"{json.dumps(head)}\n{json.dumps(event)}\n", "utf-8")
    return path


def test_an_export_knows_nothing_of_it_and_a_backup_all(store: Store, tmp_path: Path) -> None:
    made = store_log.record(store, "grant", "ada", NOW, label="night desk", hash="ab" * 32)
    study = Study.create(store, "ward", 4)
    study.open_case(2)
    exported = study.export(tmp_path / "log").read_bytes()
    assert b"night desk" not in exported
    assert b"abab" not in exported
    study.backup(tmp_path / "copy.sqlite")
    with closing(open_store(tmp_path / "copy.sqlite")) as copy:
        assert store_log.read_events(copy) == [made]
        assert store_log.verify(copy).ok
        store_log.record(copy, "revoke", "ada", NOW)


LOST = [
    ("delete from events where id = 1 << 40 | 3", "event 3"),
    ("delete from events where id = 1 << 40 | 2", "event 2"),
    ("delete from events", "event 1"),
    ("update events set id = id + 7 where id = 1 << 40 | 3", "event 3"),
    ("update studies set config = '{}'", "event 4"),
    ("insert into events select id + 1, kind, \"case\", step, request, response, who, recorded,"
     " observed, key, hash, hash from events where id = 1 << 40 | 3", "event 4"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "words"),
    [*((f'update events set "{name}" = 9 where id = 1 << 40 | {seq}', f"event {seq}")  # noqa: S608
       for name in Event._fields[1:] for seq in (1, 3)),
     *LOST],
)  # fmt: skip
def test_whatever_is_changed_or_lost_is_named(tmp_path: Path, statement: str, words: str) -> None:
    path = tmp_path / "live.sqlite"
    with closing(open_store(path, create=True)) as store:
        for kind in ("grant", "verified", "revoke"):
            store_log.record(store, kind, "ada", NOW, id="1")
    with closing(sqlite3.connect(path)) as run, run:
        assert run.execute(statement).rowcount
    with closing(open_store(path)) as store:
        with pytest.raises(Damaged, match=words):
            store_log.read_events(store)
        assert not store_log.verify(store).ok
        # Whoever records looks at the end alone, and verify at all of it.
        if words in ("event 3", "event 4") or statement == "delete from events":
            with pytest.raises(Damaged):
                store_log.record(store, "backup", "ada", NOW)


def test_a_whole_event_of_another_store_is_no_part_of_the_chain(tmp_path: Path) -> None:
    paths = [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    for path in paths:
        with closing(open_store(path, create=True)) as store:
            for kind in ("grant", "verified", "revoke"):
                store_log.record(store, kind, path.stem, NOW)
    with closing(sqlite3.connect(paths[0])) as run, run:
        run.execute("attach ? as other", [str(paths[1])])
        run.execute(
            "insert or replace into main.events select * from other.events where id = 1 << 40 | 2"
        )
    with closing(open_store(paths[0])) as store:
        with pytest.raises(Damaged, match="event 2"):
            store_log.read_events(store)
        assert not store_log.verify(store).ok
