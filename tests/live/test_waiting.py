"""Who waits for whom: readers for nobody, writers for one another, and nobody for ever."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from optional import optional
from postgres_server import Server
from runs import one_sentence
from stored import create, eventually, log, tell

from grbp import Study
from grbp.errors import CannotWrite, GrbpError, InvalidInput
from grbp.live.store import open_store
from grbp.live.store.base import Store, Transaction
from grbp.live.store.memory import MemoryStore
from grbp.live.store.sql_store import SqlStore

apsw = optional("apsw")
T = TypeVar("T")

SOON = 30.0
"""Seconds, far more than anything here takes, and less than a store waits unless told otherwise."""

UNKNOWN, NOTHING = "may be stored or not", "so nothing was written"


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    """A store with one empty study, s."""
    sqlite = request.param == "sqlite"
    where = tmp_path / "live.sqlite" if sqlite else request.getfixturevalue("dsn")
    with closing(open_store(where, create=True)) as store:
        assert isinstance(store, SqlStore)
        store.write("s", create)
        yield store


class Pause:
    """A script that writes, and waits until it may go on."""

    def __init__(self, key: str = "") -> None:
        self.entered, self._go_on, self._key = threading.Event(), threading.Event(), key

    def __call__(self, rows: Transaction) -> int:
        number = tell(rows, self._key)
        self.entered.set()
        assert self._go_on.wait(2 * SOON)
        return number

    def end(self) -> None:
        """Let it go on."""
        self._go_on.set()


def soon(call: Callable[[], T]) -> T:
    """Make a call in a thread of its own, which must be over soon."""
    done: list[Any] = []

    def make() -> None:
        try:
            done.append((call(), None))
        except BaseException as error:
            done.append((None, error))

    thread = threading.Thread(target=make, daemon=True)
    thread.start()
    thread.join(SOON)
    assert done, "it is still waiting"
    result, error = done[0]
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def refusal(call: Callable[[], object], kind: type[GrbpError] = CannotWrite) -> str:
    """Return the sentence with which a call is refused soon."""
    with pytest.raises(kind) as caught:
        soon(call)
    return one_sentence(caught.value)


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[tuple[Study, Any]]:
    """A study in a file, and a connection of somebody else, who writes and does not end."""
    path = tmp_path / "live.sqlite"
    with closing(Study.create(path, "s", goal=4)) as study:
        study.open_case(2)
        with closing(apsw.Connection(str(path))) as other:
            other.execute("begin immediate")
            yield study, other


def test_who_reads_does_not_wait_while_another_process_writes(
    locked: tuple[Study, Any], tmp_path: Path
) -> None:
    """Nor behind a thread that does have to wait."""
    study, other = locked
    with ThreadPoolExecutor(1) as threads:
        telling = threads.submit(study.tell, 1, 1)
        try:
            eventually(lambda: study._store._leader)
            assert soon(lambda: study.ask(1)).case == 1
            assert soon(study.status).cases["opened"] == 1
            assert soon(study._store.studies) == ["s"]
            assert soon(study.verify).ok
            assert soon(lambda: study.export(tmp_path / "log")).exists()
            assert soon(lambda: study.backup(tmp_path / "copy")).exists()
            assert not telling.done()
        finally:
            other.execute("rollback")
        assert telling.result().step == 1


def test_who_writes_behind_another_process_is_told_when_that_takes_too_long(
    locked: tuple[Study, Any],
) -> None:
    study, other = locked
    study._store.patience = 0.2
    assert "another process has been writing for 0.2 seconds" in refusal(lambda: study.tell(1, 1))
    other.execute("rollback")
    assert study.tell(1, 1).step == 1


def test_a_store_is_closed_soon_though_another_process_writes(locked: tuple[Study, Any]) -> None:
    study, _ = locked
    with ThreadPoolExecutor(1) as threads:
        telling = threads.submit(refusal, lambda: study.tell(1, 1), InvalidInput)
        eventually(lambda: study._store._leader)
        soon(study.close)
        assert "was closed; open it again" in telling.result()


def test_a_long_read_is_of_one_moment_and_holds_nobody_up(store: Store) -> None:
    def count(rows: Transaction) -> int:
        study = rows.study()
        assert study is not None
        assert study.seq == len(rows.events(0, 99))
        return study.seq

    def slowly(rows: Transaction) -> tuple[int, int]:
        before = count(rows)
        for _ in range(5):
            soon(lambda: store.write("s", tell))
        assert soon(lambda: store.read("s", count)) == before + 5
        return before, count(rows)

    store.write("s", tell)
    assert store.read("s", slowly) == (1, 1)
    assert len(log(store)) == 6


def test_many_readers_at_once_leave_a_few_connections(store: SqlStore) -> None:
    here = threading.Barrier(20)

    def meet(rows: Transaction) -> int:
        here.wait(SOON)
        return len(rows.events(0, 9))

    with ThreadPoolExecutor(20) as threads:
        jobs = [threads.submit(store.read, "s", meet) for _ in range(20)]
        assert [job.result() for job in jobs] == [0] * 20
    assert 0 < len(store._readers) <= 8
    readers = list(store._readers)
    store.close()
    assert store._readers == []
    for reader in readers:
        with pytest.raises(Exception, match=r"closed|no connection"):
            reader.begin(writes=False) if hasattr(reader, "raw") else reader.connection  # type: ignore[attr-defined]


def test_who_waits_too_long_for_other_threads_has_written_nothing(store: Store) -> None:
    first = Pause()
    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(store.write, "s", first)
        try:
            assert first.entered.wait(SOON)
            store.patience = 0.2
            said = refusal(lambda: store.write("s", tell))
            assert NOTHING in said
            assert "others of this program have been writing for 0.2 seconds" in said
            assert store._waiting == []
        finally:
            first.end()
            store.patience = 60.0
        assert writing.result() == 1
    assert store.write("s", tell) == 2
    assert len(log(store)) == 2


def test_whose_turn_comes_as_they_give_up_passes_it_on(store: Store) -> None:
    """The queue never loses the one who is to run it."""
    store.patience = 0.01
    over = threading.Event()
    told: list[int] = []

    def try_often() -> None:
        while not over.is_set():
            with suppress(CannotWrite):
                told.append(store.write("s", tell))

    def hold(rows: Transaction) -> int:
        threading.Event().wait(0.015)
        return tell(rows)

    with ThreadPoolExecutor(6) as threads:
        jobs = [threads.submit(try_often) for _ in range(6)]
        for _ in range(20):
            with suppress(CannotWrite):
                store.write("s", hold)
        over.set()
        for job in jobs:
            job.result(SOON)
    store.patience = 60.0
    assert store._leader is None
    assert store._waiting == []
    assert soon(lambda: store.write("s", tell)) == len(log(store))
    assert len(set(told)) == len(told)


def test_who_gives_up_while_it_is_being_written_is_told_that_nobody_knows(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = threading.local()
    waits = property(lambda _: getattr(patient, "seconds", 60.0))
    monkeypatch.setattr(type(store), "patience", waits)
    first = Pause("first")

    def give_up() -> object:
        patient.seconds = 0.5
        return store.write("s", partial(tell, key="second"))

    with ThreadPoolExecutor(2) as threads:
        with store._lock:
            leading = threads.submit(store.write, "s", first)
            eventually(lambda: len(store._waiting) == 1)
            waiting = threads.submit(refusal, give_up)
            eventually(lambda: len(store._waiting) == 2)
        said = waiting.result()
        first.end()
        assert leading.result() == 1
    assert UNKNOWN in said
    assert "with the same key" in said
    # This time it was stored, and with its key it is stored once.
    assert store.write("s", partial(tell, key="second")) == 2
    assert len(log(store)) == 2


def test_who_closes_a_store_does_not_wait_for_a_script_that_does_not_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is closed by the thread that runs the script, once what that wrote is safe."""
    monkeypatch.setattr("grbp.live.store.base._CLOSING", 0.1)
    first = Pause()
    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(store.write, "s", first)
        assert first.entered.wait(SOON)
        soon(store.close)
        assert "was closed" in refusal(lambda: store.write("s", tell), InvalidInput)
        first.end()
        assert writing.result() == 1
    with pytest.raises(Exception, match="closed"):
        store._writer.bind("another").study()
    with closing(open_store(str(store.address))) as again:
        assert len(log(again)) == 1


def test_a_store_in_memory_is_not_read_for_ever_either() -> None:
    store, first = MemoryStore(), Pause()
    store.write("s", create)
    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(store.write, "s", first)
        assert first.entered.wait(SOON)
        store.patience = 0.1
        assert "cannot be read (others of this program" in refusal(lambda: log(store))
        first.end()
        assert writing.result() == 1


def test_a_forked_process_leaves_the_queue_and_the_connections_alone(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(store)
    readers = list(store._readers)
    assert readers
    with monkeypatch.context() as forked, store._gate:  # as another thread had it at that moment
        forked.setattr("os.getpid", lambda: 1)
        said = refusal(lambda: store.write("s", tell), InvalidInput)
        assert "was opened in another process" in said
        store._close_readers()
    assert store._readers == readers
    assert store.write("s", tell) == 1
    assert len(log(store)) == 1


def test_a_forked_process_has_rows_in_memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    store.write("s", create)
    monkeypatch.setattr("os.getpid", lambda: 1)
    assert store.write("s", tell) == 1


@pytest.fixture
def hanging(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Store, Server]]:
    """A store that waits for a second, in a server that can be made to hang."""
    monkeypatch.setattr(Store, "patience", 1.0)
    with closing(open_store(postgres.socket, create=True)) as store:
        store.write("s", create)
        store.write("s", tell)
        yield store, postgres


@pytest.mark.slow
def test_a_server_that_hangs_is_given_up_and_used_again(hanging: tuple[Store, Server]) -> None:
    store, server = hanging
    log(store)
    attempts: list[Callable[[], object]] = [
        lambda: log(store),
        lambda: store.write("s", tell),
        store.studies,
    ]
    with server.hanging():
        for attempt in attempts:
            said = refusal(attempt)
            assert "cannot be reached" in said
            assert NOTHING in said
        # A new connection is waited for as briefly.
        assert "cannot be reached" in refusal(lambda: open_store(server.socket))
    assert eventually(partial(told, store)) == 2
    assert len(log(store)) == 2


def told(store: Store) -> int:
    """Append an event, if the server answers; 0 if it does not."""
    with suppress(CannotWrite):
        return store.write("s", tell)
    return 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("when", "says"), [("before a statement", NOTHING), ("before the commit", UNKNOWN)]
)
def test_a_server_that_hangs_in_a_transaction_is_given_up(
    hanging: tuple[Store, Server], when: str, says: str
) -> None:
    store, server = hanging
    hung = server.hanging()

    def hang(rows: Transaction) -> int:
        number = tell(rows, key="k")
        hung.__enter__()
        if when == "before a statement":
            rows.events(0, 9)
        return number

    try:
        said = refusal(lambda: store.write("s", hang))
    finally:
        hung.__exit__(None, None, None)
    assert says in said
    store.patience = 60.0
    # What hangs in the server's hands is settled before the study can be had again.
    assert store.write("s", partial(tell, key="k")) == 2
    assert len(log(store)) == 2


@pytest.mark.slow
def test_a_store_in_a_server_that_hangs_is_closed_soon(hanging: tuple[SqlStore, Server]) -> None:
    store, server = hanging
    store.patience = 60.0
    log(store)
    with server.hanging(), ThreadPoolExecutor(2) as threads:
        writing = threads.submit(refusal, lambda: store.write("s", tell), InvalidInput)
        reading = threads.submit(refusal, lambda: log(store), InvalidInput)
        eventually(lambda: store._leader)
        eventually(lambda: not store._readers)
        soon(store.close)
        for one in (writing, reading):
            assert "was closed; open it again" in one.result()
    with closing(open_store(server.socket)) as again:
        assert len(log(again)) == 1
