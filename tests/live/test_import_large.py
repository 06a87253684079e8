"""A long log that is imported a little at a time: all of it or nothing, and nobody waits."""

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from runs import one_sentence
from small_wards import rows
from stored import a_case, create, everything, some_rows, tell

from grbp import Study
from grbp.errors import CannotWrite, Conflict
from grbp.live.calls import Call
from grbp.live.config import this_version
from grbp.live.recording import record
from grbp.live.schema import dumps
from grbp.live.store import open_store
from grbp.live.store.base import STAGED, Store, Transaction
from grbp.live.store.sql_store import PART

pytestmark = pytest.mark.slow  # seconds in all; `make test` has them

EVENTS = 3_000


@pytest.fixture(scope="module")
def source() -> Study:
    """A study in memory of about 3,000 events, some of which are held back."""
    study = Study.create("memory", "ward", 4, "threshold-1", windows={"continue": 0.25})
    draw = Random(25)  # noqa: S311

    def script(tx: Transaction) -> None:
        for minute in range(10**6):
            now = f"2026-01-01T{minute // 60 % 24:02}:{minute % 60:02}:00.000000+00:00"
            call = Call("me", now, version=this_version())
            case = record(tx, call, "open", state=draw.randint(1, 3)).case
            while case.status == "open" and draw.random() < 0.9:
                lucky = draw.random() < (0.3 if case.state == 1 else 0.5)
                low, high = (0, 4) if case.state == 1 else (case.state - 1, case.state + 1)
                case = record(tx, call, "tell", case=case.case, state=high if lucky else low).case
            row = tx.study()
            assert row is not None
            if row.seq >= EVENTS:
                return

    study._store.write("ward", script)
    return study


@pytest.fixture(scope="module")
def exported(source: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study as a file."""
    return source.export(tmp_path_factory.mktemp("exported") / "ward.ndjson")


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store with a study of another name."""
    sqlite = request.param == "sqlite"
    where = tmp_path / "live.sqlite" if sqlite else request.getfixturevalue("dsn")
    with closing(open_store(where, create=True)) as store:
        store.write("other", create)
        store.write("other", tell)
        yield store


class Counted:
    """What each transaction of a store appends; more may be done before or after its commit."""

    def __init__(
        self,
        store: Store,
        before: Callable[[int], object] = bool,
        after: Callable[[int], object] = bool,
    ) -> None:
        self.appended: list[int] = []
        self._count, self._before, self._after = 0, before, after
        writer = store._writer
        self._bind, self._commit = writer.bind, writer.commit
        writer.bind, writer.commit = self.bind, self.commit  # type: ignore[method-assign]

    def bind(self, name: str) -> Transaction:
        """Return a transaction that counts."""
        tx: Any = self._bind(name)
        append = tx.append

        def count(event: Any) -> None:
            self._count += 1
            append(event)

        tx.append = count
        return tx  # type: ignore[no-any-return]

    def commit(self) -> None:
        """Commit, and begin to count anew."""
        count, self._count = self._count, 0
        self._before(len(self.appended) + 1)
        self._commit()
        self.appended.append(count)
        self._after(len(self.appended))


def test_the_source_has_all_there_is_to_copy(source: Study, exported: Path) -> None:
    study, cases, held = rows(source)
    assert EVENTS <= study.seq < EVENTS + 20
    assert min(len(cases), len(held)) > PART
    assert exported.stat().st_size > 2**19


def test_a_long_log_is_imported_in_short_transactions(
    store: Store, source: Study, exported: Path, tmp_path: Path
) -> None:
    seen: list[list[str]] = []
    with closing(open_store(str(store.address))) as other:
        counted = Counted(store, lambda _: seen.append([*store.studies(), *other.logs()]))
        Study.import_(store, exported)
        assert max(counted.appended) <= PART
        assert sum(counted.appended) == source.status().events
        assert len(counted.appended) > EVENTS / PART
        # Nobody sees any of it before all is there.
        assert seen == [["other", "other"]] * len(seen)
        assert other.studies() == ["other", "ward"]
    with closing(Study(str(store.address), "ward")) as copy:
        assert copy.read_only is None
        assert rows(copy) == rows(source)
        assert copy.log(limit=10**6) == source.log(limit=10**6)
        assert copy.verify().ok
        assert copy.export(tmp_path / "again").read_bytes() == exported.read_bytes()
        assert copy.open_case(1).case == source.status().cases["opened"] + 1
    assert store.names() == ["other", "ward"]


@pytest.mark.sample("*--1-*", "*-2-*")
@pytest.mark.parametrize(
    ("place", "error"),
    [
        (1, KeyboardInterrupt()),
        (2, CannotWrite("a fault")),
        (7, KeyboardInterrupt()),
        (-1, CannotWrite("a fault")),
    ],
)
def test_an_import_that_fails_on_the_way_leaves_nothing(
    store: Store, source: Study, exported: Path, place: int, error: BaseException
) -> None:
    before = everything(store)
    study, cases, held = rows(source)
    parts = math.ceil((1 + study.seq + len(cases) + len(held)) / PART)
    wanted = place if place > 0 else parts + 1

    def fail(number: int) -> None:
        if number == wanted:
            store._writer.commit = counted._commit  # type: ignore[method-assign]
            raise error

    counted = Counted(store, fail)
    with pytest.raises(type(error)):
        Study.import_(store, exported)
    assert len(counted.appended) == wanted - 1
    assert store.names() == ["other"]
    assert everything(store) == before
    # The next one works, and has the number of the one that failed.
    copy = Study.import_(store, exported)
    assert copy.read_only is None
    assert rows(copy) == rows(source)
    assert store.checks() == []


def test_a_log_that_is_refused_in_the_middle_leaves_nothing(
    store: Store, exported: Path, tmp_path: Path
) -> None:
    lines = exported.read_text("utf-8").splitlines()
    event = json.loads(lines[2000])
    lines[2000] = dumps(event | {"who": "somebody else"})
    (tmp_path / "changed").write_text("\n".join(lines) + "\n", "utf-8")
    before = everything(store)
    with pytest.raises(Exception, match="event 2000") as refused:
        Study.import_(store, tmp_path / "changed")
    one_sentence(refused.value)
    assert store.names() == ["other"]
    assert everything(store) == before


def test_one_of_two_who_import_the_same_study_is_refused(store: Store, exported: Path) -> None:
    """Even if the other is quicker while this one is under way."""

    def be_quicker(number: int) -> None:
        if number == 5:
            with closing(open_store(str(store.address))) as other:
                other.write("ward", create)

    Counted(store, after=be_quicker)
    with pytest.raises(Conflict, match="was to be imported; the store has one already") as refused:
        Study.import_(store, exported)
    one_sentence(refused.value)
    assert store.names() == ["other", "ward"]
    assert store.read("ward", lambda tx: tx.events(0, 9)) == []


def test_what_a_program_left_that_died_is_removed_a_day_later(store: Store, exported: Path) -> None:
    def leave(tx: Transaction) -> None:
        create(tx)
        some_rows(tx)
        for case in range(3, 3 + 2 * PART):
            tx.put_case(a_case(case))

    now = int(time.time())
    old, young, odd = f"{STAGED}{now - 90_000} a", f"{STAGED}{now} b", f"{STAGED}x"
    for name in (old, young, odd):
        store.write(name, leave)
    assert store.studies() == ["other"]
    assert store.logs() == ["other"]
    Study.import_(store, exported)
    assert store.names() == sorted([young, odd, "other", "ward"])
    assert store.checks() == []


def test_a_backup_and_its_studies_know_nothing_of_what_is_being_imported(
    store: Store, tmp_path: Path
) -> None:
    store.write(f"{STAGED}1 x", create)
    store.backup(tmp_path / "copy")
    with closing(open_store(tmp_path / "copy")) as copy:
        assert copy.logs() == copy.studies() == ["other"]
        assert everything(copy) == everything(store)


def test_an_export_is_a_head_and_a_line_for_each_event(source: Study, exported: Path) -> None:
    parts = list(source.export_lines())
    events = source.log(limit=10**6)
    head = {
        "format": "grbp live log", "format_version": 1, "study": "ward",
        "events": len(events), "head": events[-1].hash,
    }  # fmt: skip
    lines = [dumps(one) + "\n" for one in (head, *(event._asdict() for event in events))]
    assert parts == [line.encode() for line in lines]
    assert b"".join(parts) == exported.read_bytes()
