"""PostgreSQL stopped, killed and cut off: nothing that was acknowledged is lost."""

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

import pytest
from optional import optional
from postgres_server import Server
from runs import one_sentence
from stored import an_event, create, eventually, log, tell

from grbp.errors import CannotWrite
from grbp.live.store import open_store
from grbp.live.store.base import Store, Transaction

pytestmark = pytest.mark.slow  # seconds in all; `make test` has them

psycopg = optional("psycopg")

UNKNOWN, NOTHING = "may be stored or not", "so nothing was written"


@pytest.fixture
def store(dsn: str) -> Iterator[Store]:
    """A store with one empty study, s."""
    with closing(open_store(dsn, create=True)) as store:
        store.write("s", create)
        yield store


@contextmanager
def asking(dsn: str) -> Iterator[Callable[..., Any]]:
    """A function that runs a statement on a connection of its own and returns one value."""
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:

        def ask(statement: str, *values: object) -> Any:
            cursor = connection.execute(statement, values)
            return cursor.fetchone()[0] if cursor.description else None

        yield ask


def backend(rows: Transaction) -> int:
    """Return the process of the server in which a script runs."""
    return int(rows._query("select pg_backend_pid()")[0][0])  # type: ignore[attr-defined]


def refused(store: Store, script: Callable[[Transaction], object]) -> str:
    """Return the sentence with which a script is refused."""
    with pytest.raises(CannotWrite) as caught:
        store.write("s", script)
    return one_sentence(caught.value)


def told(store: Store) -> int:
    """Append an event, if the server can be reached; 0 if it cannot."""
    with suppress(CannotWrite):
        return store.write("s", tell)
    return 0


class Writers:
    """Threads that write one event after another, and what they were told."""

    def __init__(self) -> None:
        self.acknowledged: dict[str, int] = {}
        self.refusals: list[str] = []
        self.over = threading.Event()

    def write(self, store: Store, name: str) -> None:
        """Write until it is over; repeat what was refused, but for every third."""
        for number in itertools.takewhile(lambda _: not self.over.is_set(), itertools.count()):
            while not self._try(store, f"{name}-{number}") and number % 3:
                time.sleep(0.005)

    def wait_for(self, events: int) -> None:
        """Wait until so many more were acknowledged."""
        enough = len(self.acknowledged) + events
        eventually(lambda: len(self.acknowledged) >= enough)

    def _try(self, store: Store, key: str) -> bool:
        try:
            self.acknowledged[key] = store.write("s", partial(tell, key=key))
        except CannotWrite as error:
            self.refusals.append(one_sentence(error))
        return key in self.acknowledged


@pytest.mark.slow
def test_stopped_at_once_while_several_write_it_loses_nothing(postgres: Server) -> None:
    shared, *others = (open_store(postgres.socket, create=True) for _ in range(3))
    shared.write("s", create)
    writers = Writers()
    with ThreadPoolExecutor(5) as threads:
        places = [shared, shared, shared, *others]
        jobs = [threads.submit(writers.write, one, str(n)) for n, one in enumerate(places)]
        try:
            for _ in range(4):
                writers.wait_for(40)
                postgres.stop("immediate")
                postgres.start()
        finally:
            writers.over.set()
        for job in jobs:
            job.result()
    events = log(shared)
    stored = {event.key: event.seq for event in events}
    assert len(stored) == len(events)
    assert writers.acknowledged.items() <= stored.items()
    # Each of the four stops cut off those that wrote.
    assert len(writers.refusals) >= 4
    assert all(UNKNOWN in said or NOTHING in said for said in writers.refusals)
    for one in (shared, *others):
        one.close()


@pytest.mark.parametrize("by", ["pg_terminate_backend", "SIGKILL"])
def test_a_backend_that_is_killed_in_a_transaction_leaves_nothing(
    store: Store, dsn: str, by: str
) -> None:
    store.write("s", tell)

    def cut_off(rows: Transaction) -> object:
        tell(rows)
        process = backend(rows)
        if by == "SIGKILL":
            # The server ends all other connections as well, and recovers.
            os.kill(process, signal.SIGKILL)
        else:
            with asking(dsn) as ask:
                assert ask("select pg_terminate_backend(%s, 10000)", process)
        return rows.events(0, 9)

    said = refused(store, cut_off)
    assert NOTHING in said
    assert "cannot be reached" in said
    # The next call connects again.
    assert eventually(lambda: told(store)) == 2
    assert len(log(store)) == 2


def test_one_that_is_cut_off_takes_those_it_was_grouped_with_along(store: Store, dsn: str) -> None:
    def cut_off(rows: Transaction) -> None:
        with asking(dsn) as ask:
            assert ask("select pg_terminate_backend(%s, 10000)", backend(rows))

    with ThreadPoolExecutor(3) as threads:
        with store._lock:
            jobs = [threads.submit(store.write, "s", script) for script in (tell, cut_off, tell)]
            eventually(lambda: len(store._waiting) == 3)
        errors = [job.exception() for job in jobs]
    assert all(isinstance(error, CannotWrite) and NOTHING in str(error) for error in errors)
    assert store.write("s", tell) == 1


def test_whoever_is_cut_off_while_it_commits_is_told_so_and_can_repeat_it(
    store: Store, dsn: str
) -> None:
    with asking(dsn) as ask, ThreadPoolExecutor(1) as threads:
        try:
            # A commit waits for a standby that does not exist; it is on the disk by then.
            ask("alter system set synchronous_standby_names = 'nobody'")
            ask("select pg_reload_conf()")
            writing = threads.submit(refused, store, partial(tell, key="k"))
            waiting = "select max(pid) from pg_stat_activity where wait_event = 'SyncRep'"
            process = eventually(lambda: ask(waiting))
            assert ask("select pg_terminate_backend(%s, 10000)", process)
            said = writing.result()
        finally:
            ask("alter system reset synchronous_standby_names")
            ask("select pg_reload_conf()")
    assert UNKNOWN in said
    assert "with the same key" in said
    # This time it was stored; with its key it is not stored again.
    assert len(log(store)) == 1
    assert store.write("s", partial(tell, key="k")) == 1
    assert store.write("s", partial(tell, key="l")) == 2


def test_a_restart_between_two_calls_goes_unnoticed(store: Store, postgres: Server) -> None:
    assert store.write("s", tell) == 1
    postgres.stop("fast")
    said = refused(store, tell)
    assert NOTHING in said
    postgres.start()
    assert store.write("s", tell) == 2
    postgres.stop("immediate")
    postgres.start()
    assert len(log(store)) == 2
    assert store.studies() == ["s"]


def test_a_writer_that_hangs_does_not_hold_up_the_others_for_ever(store: Store, dsn: str) -> None:
    store.patience = 0.15

    def hang(rows: Transaction) -> None:
        tell(rows)
        with closing(open_store(dsn)) as other:
            # It waits until the server has put an end to the one that hangs.
            assert other.write("s", tell) == 1
        rows.events(0, 9)

    assert NOTHING in refused(store, hang)
    assert len(log(store)) == 1


def test_who_has_waited_too_long_is_told_so(store: Store, dsn: str) -> None:

    def wait(rows: Transaction) -> int:
        number = tell(rows)
        with closing(open_store(dsn)) as other:
            other.patience = 0.1
            assert "has been writing for 0.1 seconds" in refused(other, tell)
            # It is as good as new.
            assert len(log(other)) == 0
        return number

    assert store.write("s", wait) == 1


def test_a_script_that_hides_an_error_is_not_believed(store: Store) -> None:
    store.write("s", tell)

    def hide(rows: Transaction) -> str:
        rows.append(an_event(1))
        with suppress(Exception):
            rows.event_of_key("k")
        return "all is well"

    assert "a statement of the transaction failed" in refused(store, hide)
    assert store.write("s", tell) == 2


def test_commits_wait_for_the_disk_whatever_the_server_was_told(dsn: str) -> None:
    with asking(dsn) as ask:
        try:
            ask("alter database postgres set synchronous_commit to off")
            ask("alter database postgres set default_transaction_isolation to serializable")
            with closing(open_store(dsn, create=True)) as store:
                store.write("s", create)
                shown = ("synchronous_commit", "transaction_isolation")
                asked = [f"select current_setting('{name}')" for name in shown]
                got = store.write("s", lambda rows: [rows._query(one) for one in asked])  # type: ignore[attr-defined]
                assert got == [[("on",)], [("read committed",)]]
                assert store.checks() == []
        finally:
            ask("alter database postgres reset all")
