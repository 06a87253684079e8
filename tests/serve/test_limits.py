"""How much one caller may take, and that the rest is left to others."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from serving import Serving, refused
from sockets import connect, wait_until

from grbp import Study
from grbp.live.endpoints import ADMIN, RECORDER, VIEWER
from grbp.serve.http_errors import Refusal
from grbp.serve.limits import Places
from grbp.serve.tokens import ANYBODY

pytestmark = pytest.mark.slow

EVENTS = "/api/studies/ward/events.ndjson?follow=60"


class Gate:
    """Something that takes as long as the test wants, such as a store that hangs."""

    def __init__(self, then: Callable[..., Any]) -> None:
        self.inside, self._then, self._opened = 0, then, threading.Event()

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.inside += 1
        assert self._opened.wait(60)
        return self._then(*given, **named)

    def open(self) -> None:
        """Let everybody go on."""
        self._opened.set()


@pytest.fixture
def threads() -> Iterator[list[threading.Thread]]:
    begun: list[threading.Thread] = []
    yield begun
    for one in begun:
        one.join()


def begin(threads: list[threading.Thread], work: Callable[[], object]) -> None:
    threads.append(threading.Thread(target=work))
    threads[-1].start()


def test_places_are_given_back_and_some_are_kept_for_admins() -> None:
    places = Places("requests", 10, 8)
    with ExitStack() as held:
        held.enter_context(places.take("a", ANYBODY))
        held.enter_context(places.take("b", ANYBODY))
        with (
            pytest.raises(Refusal, match="too many requests at once") as found,
            places.take("c", ANYBODY),
        ):
            pass
        assert (found.value.status, found.value.headers) == (503, {"Retry-After": "1"})
        for _ in range(7):
            held.enter_context(places.take("d", RECORDER))
        with pytest.raises(Refusal, match="too many"), places.take("e", VIEWER):
            pass
        held.enter_context(places.take("f", ADMIN))
        assert places.taken == 10
        with pytest.raises(Refusal, match="too many"), places.take("f", ADMIN):
            pass
    assert places.taken == 0
    with ExitStack() as held:
        for _ in range(8):
            held.enter_context(places.take("a", ADMIN))
        with pytest.raises(Refusal, match="8 requests of yours") as found, places.take("a", ADMIN):
            pass
        assert found.value.status == 429


def test_a_full_house_lets_an_admin_in_and_answers_probes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: list[threading.Thread]
) -> None:
    with Serving(tmp_path, most_at_once=10, each_at_once=3) as server:
        Study.create(server.store, "ward", 4)
        viewers, admin = [server.token("viewer") for _ in range(4)], server.token("admin")
        state = server.app.state.server
        gate = Gate(server.store.studies)
        monkeypatch.setattr(server.store, "studies", gate)
        try:
            for viewer in [*viewers[:3]] * 3:
                begin(threads, lambda token=viewer: server.ask("GET", "/api/studies", token))  # type: ignore[misc]
            wait_until(lambda: state.requests.taken == 9)
            late = server.ask("GET", "/api/session", viewers[3])
            refused(late, 503, "too many requests at once")
            assert late.headers["retry-after"] == "1"
            own = server.ask("GET", "/api/session", viewers[0])
            refused(own, 429, "3 requests of yours are under way")
            assert server.ask("GET", "/api/session", admin).status_code == 200
            assert server.ask("GET", "/health").status_code == 200
        finally:
            gate.open()
        for one in threads:
            one.join()
        assert server.ask("GET", "/api/session", viewers[3]).status_code == 200


def test_streams_use_no_place_of_a_request_and_each_has_so_many(tmp_path: Path) -> None:
    with (
        Serving(tmp_path, most_at_once=2, each_streams=2, most_streams=4) as server,
        ExitStack() as kept,
    ):
        Study.create(server.store, "ward", 4)
        first, second, third = (server.token("viewer") for _ in range(3))

        def follow(token: str) -> int:
            said = f"GET {EVENTS} HTTP/1.1\nHost: {{host}}\nAuthorization: Bearer {token}\n\n"
            link = kept.enter_context(closing(connect(server, said)))
            return int(link.recv(4096).split()[1])

        assert [follow(first) for _ in range(3)] == [200, 200, 429]
        assert [follow(second) for _ in range(2)] == [200, 503]  # The last one is an admin's.
        assert follow(server.token("admin")) == 200
        assert server.ask("GET", "/api/session", third).status_code == 200
        kept.close()
        wait_until(lambda: server.app.state.server.streams.taken == 0)


def test_bodies_on_their_way_are_counted_by_caller(tmp_path: Path) -> None:
    with Serving(tmp_path, each_bodies=2) as server, ExitStack() as kept:
        half = (
            "POST /api/session HTTP/1.1\nHost: {host}\nContent-Type: application/json\n"
            "Content-Length: 10\n\n{{"
        )
        for _ in range(2):
            kept.enter_context(closing(connect(server, half)))
        wait_until(lambda: server.app.state.server.requests.taken == 2)
        refused(server.ask("POST", "/api/session", json={"token": "x"}), 429, "2 bodies of yours")
        recorder = server.token("recorder")
        Study.create(server.store, "ward", 4)
        opened = server.ask("POST", "/api/studies/ward/cases", recorder, json={"state": 2})
        assert opened.status_code == 201
        kept.close()


def test_only_so_many_logs_arrive_at_once_and_none_is_waited_for_long(tmp_path: Path) -> None:
    with Serving(tmp_path, most_imports=1, patience=0.3) as server, ExitStack() as kept:
        token = server.token("admin")
        half = (
            f"POST /api/import HTTP/1.1\nHost: {{host}}\nContent-Type: application/x-ndjson\n"
            f"Authorization: Bearer {token}\nContent-Length: 1000\n\nx"
        )
        link = kept.enter_context(closing(connect(server, half)))
        wait_until(lambda: server.app.state.server.requests.taken == 1)
        kind = {"Content-Type": "application/x-ndjson"}
        late = server.ask("POST", "/api/import", token, headers=kind, content=b"x")
        refused(late, 429, "1 imports of yours")
        assert link.recv(1000).startswith(b"HTTP/1.1 408")


def test_writes_that_hang_leave_threads_to_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: list[threading.Thread]
) -> None:
    limits = {"most_threads": 4, "most_writes": 2, "patience": 0.3}
    with Serving(tmp_path, **limits) as server:  # type: ignore[arg-type]
        Study.create(server.store, "ward", 4)
        recorder = server.token("recorder")
        gate = Gate(server.store.write)
        monkeypatch.setattr(server.store, "write", gate)
        answers: list[Any] = []

        def record() -> None:
            path = "/api/studies/ward/cases"
            answers.append(server.ask("POST", path, recorder, json={"state": 2}))

        try:
            for _ in range(6):
                begin(threads, record)
            wait_until(lambda: len(answers) == 4)  # The others hang.
            for one in answers:
                refused(one, 503, "too many entries wait for the store")
            assert gate.inside == 2
            for _ in range(5):
                assert server.ask("GET", "/api/studies", recorder).status_code == 200
        finally:
            gate.open()
        for one in threads:
            one.join()
        assert sorted(one.status_code for one in answers) == [201, 201, 503, 503, 503, 503]


def test_a_store_that_hangs_is_not_ready_and_says_so_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Serving(tmp_path, ready_within=0.2) as server:
        gate = Gate(server.store.studies)
        monkeypatch.setattr(server.store, "studies", gate)
        try:
            for _ in range(3):
                late = server.ask("GET", "/ready")
                refused(late, 503, "has not answered within 0.2 s")
                assert late.elapsed.total_seconds() < 3
            assert gate.inside == 1  # However often somebody asks.
            assert server.ask("GET", "/health").status_code == 200
        finally:
            gate.open()
        wait_until(lambda: server.ask("GET", "/ready").status_code == 200)
