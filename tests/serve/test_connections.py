"""Who is let in when connections are many, silent or slow: everybody else, and in time."""

import resource
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from serving import Serving
from sockets import connect, is_closed, wait_until

from grbp import Study
from grbp.serve.connections import Connections, HttpConnection

ASK = "GET /health HTTP/1.1\nHost: {host}\n\n"
HALF_BODY = (
    "POST /api/session HTTP/1.1\nHost: {host}\nContent-Type: application/json\n"
    "Content-Length: 10\n\n{{"
)


@pytest.fixture
def links() -> Iterator[ExitStack]:
    with ExitStack() as kept:
        yield kept


def test_a_head_that_does_not_come_ends_the_connection(tmp_path: Path, links: ExitStack) -> None:
    with Serving(tmp_path, head_patience=0.2) as server:
        silent, half, served, again = (
            links.enter_context(closing(connect(server, said)))
            for said in ("", "GET /health HTTP/1.1\nHo", ASK, ASK)
        )
        for one in (served, again):
            assert one.recv(10_000).startswith(b"HTTP/1.1 200")
        again.sendall(b"GET")  # The next request has begun, and does not go on.
        wait_until(lambda: is_closed(silent) and is_closed(half) and is_closed(again))
        # One that was answered is kept for longer.
        assert not is_closed(served)
        served.sendall(ASK.format(host="localhost").replace("\n", "\r\n").encode())
        assert served.recv(10_000).startswith(b"HTTP/1.1 200")


def test_what_drips_does_not_stay(tmp_path: Path, links: ExitStack) -> None:
    with Serving(tmp_path, head_patience=0.2, patience=0.1) as server:
        link = links.enter_context(closing(connect(server, HALF_BODY)))
        assert link.recv(10_000).startswith(b"HTTP/1.1 408")

        def drip() -> bool:
            try:
                link.sendall(b" ") if not is_closed(link) else None
            except OSError:
                return True
            return is_closed(link)

        wait_until(drip)


def test_one_address_has_so_many_and_the_oldest_idle_ones_go_first(
    tmp_path: Path, links: ExitStack
) -> None:
    with Serving(tmp_path, each_connections=4) as server:
        served = links.enter_context(closing(connect(server, ASK)))
        assert served.recv(10_000).startswith(b"HTTP/1.1 200")
        silent = [links.enter_context(closing(connect(server))) for _ in range(3)]
        wait_until(lambda: len(server.app.state.server.connections) == 4)
        new = links.enter_context(closing(connect(server, ASK)))
        assert new.recv(10_000).startswith(b"HTTP/1.1 200")
        wait_until(lambda: is_closed(silent[0]))
        # What was of use goes last.
        assert not any(map(is_closed, [served, *silent[1:]]))
        assert len(server.app.state.server.connections) == 4
        links.close()
        wait_until(lambda: len(server.app.state.server.connections) == 0)


class Fake:
    """A connection of which only its state counts."""

    def __init__(self, idle: bool = True, served: bool = False) -> None:
        self.idle, self.served, self.ended = idle, served, False

    def abort(self) -> None:
        self.ended = True


def test_the_last_tenth_is_for_addresses_with_few_connections() -> None:
    house = Connections(20, 100, lambda _: False)
    assert all(house.admit(Fake(idle=False), "a") for _ in range(18))
    assert not house.admit(Fake(), "a")
    assert [house.admit(Fake(idle=False), name) for name in "bcd"] == [True, True, False]
    assert len(house) == 20


def test_only_a_house_full_of_requests_refuses() -> None:
    house = Connections(3, 2, lambda address: address == "proxy")
    busy = [Fake(idle=False) for _ in range(2)]
    assert all(house.admit(one, "a") for one in busy)
    assert not house.admit(Fake(), "a")
    silent = Fake()
    assert house.admit(silent, "proxy")
    last = Fake(idle=False)
    assert house.admit(last, "proxy")
    assert silent.ended
    assert not house.admit(Fake(), "b")
    house.leave(last)
    for _ in range(2):  # A proxy comes for many.
        house.leave(busy.pop())
    assert [house.admit(Fake(idle=False), "proxy") for _ in range(4)] == [True] * 3 + [False]
    assert len(house) == 3


def test_there_are_fewer_connections_than_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for files, most in ((1024, 896), (100, 50), (10_000, 1_000), (resource.RLIM_INFINITY, 1_000)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert Connections(1_000, 100, lambda _: False).most == most


def test_what_is_not_http_is_refused_in_one_line(
    tmp_path: Path, links: ExitStack, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with Serving(tmp_path) as server:
        link = links.enter_context(closing(connect(server, "nonsense\n\n")))
        assert link.recv(10_000).startswith(b"HTTP/1.1 400")
        # In the middle of a body, whose request was answered with an error already.
        bad = "POST /api/session HTTP/1.1\nHost: {host}\nTransfer-Encoding: chunked\n\nzz\n"
        link = links.enter_context(closing(connect(server, bad)))
        link.recv(10_000)
        wait_until(lambda: caplog.text.count("sent what is not HTTP") == 2)
    assert "Traceback" not in caplog.text
    assert "Invalid HTTP" not in caplog.text


@pytest.mark.slow
def test_nobody_is_locked_out_by_silence_halves_and_streams(
    tmp_path: Path, links: ExitStack
) -> None:
    with Serving(tmp_path, each_connections=100, most_connections=250) as server:
        Study.create(server.store, "ward", 4).open_case(2)
        admin, recorder, viewer = (server.token(r) for r in ("admin", "recorder", "viewer"))
        stream = (
            "GET /api/studies/ward/events.ndjson?follow=60 HTTP/1.1\nHost: {host}\n"
            f"Authorization: Bearer {viewer}\n\n"
        )
        for said in ("", "GET /heal", HALF_BODY):
            for _ in range(100):
                links.enter_context(closing(connect(server, said, source="127.0.0.2")))
        streams = [
            links.enter_context(closing(connect(server, stream, source=f"127.0.0.{3 + n % 5}")))
            for n in range(500)
        ]
        for _ in range(3):
            assert server.ask("GET", "/health").elapsed.total_seconds() < 5
            assert server.ask("GET", "/api/tokens", admin).elapsed.total_seconds() < 5
        told = server.ask(
            "POST", "/api/studies/ward/cases/1/steps", recorder,
            json={"state": 1, "took": "continue", "why": "x"},
        )  # fmt: skip
        assert (told.status_code, told.elapsed.total_seconds() < 5) == (201, True)
        state = server.app.state.server
        assert state.streams.taken <= 10
        assert len(state.connections) <= 250
        served = [one for one in streams if not is_closed(one)]
        assert len(served) <= 250
        links.close()


@pytest.mark.slow
def test_an_answer_that_nobody_reads_is_cut_off(
    tmp_path: Path, links: ExitStack, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with Serving(tmp_path, patience=0.3) as server:
        study, token = Study.create(server.store, "ward", 4), server.token("viewer")
        for _ in range(300):
            study.open_case(2)
        host = server.url.removeprefix("http://")
        request = (
            f"GET /api/studies/ward/events?limit=1000 HTTP/1.1\r\nHost: {host}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n"
        ).encode()
        # The answers to many requests, more than the buffers of the system hold.
        link = links.enter_context(closing(connect(server, receive=4096)))
        link.settimeout(0.5)
        with suppress(OSError):
            for _ in range(300):
                link.sendall(request)
        wait_until(lambda: "as nobody read it" in caplog.text)
        wait_until(lambda: not len(server.app.state.server.connections))
        assert server.ask("GET", "/health").status_code == 200
        assert server.app.state.server.requests.taken == 0


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for this machine, and its key."""
    if not shutil.which("openssl"):
        pytest.skip(
            "tests with HTTPS: openssl is not installed; on Debian and Ubuntu, get it with:"
            " apt-get install openssl"
        )
    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",  # noqa: S607
         "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]],
        capture_output=True, check=True,
    )  # fmt: skip
    return files


@pytest.mark.slow
def test_silence_before_tls_is_counted_and_ended_as_well(
    tmp_path: Path, links: ExitStack, certificate: tuple[Path, Path]
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server = Serving(tmp_path, head_patience=0.3, each_connections=5)
    secure: Any = partial(HttpConnection, context=context)
    server._server = uvicorn.Server(uvicorn.Config(server.app, log_config=None, http=secure))
    trusts = ssl.create_default_context(cafile=certificate[0])
    with server, httpx.Client(verify=trusts) as client:
        state, url = server.app.state.server, server.url.replace("http:", "https:")
        silent = [
            links.enter_context(closing(connect(server, source="127.0.0.2"))) for _ in range(20)
        ]
        wait_until(lambda: sum(map(is_closed, silent)) >= 15)
        assert len(state.connections) <= 5
        for _ in range(3):
            assert client.get(f"{url}/health").status_code == 200
        wait_until(lambda: all(map(is_closed, silent)))
        # What is no TLS is closed, and the same connection serves many requests.
        bad = links.enter_context(closing(connect(server, ASK)))
        wait_until(lambda: is_closed(bad))
        assert client.get(f"{url}/health").status_code == 200
        wait_until(lambda: len(state.connections) == 1)
    assert len(state.connections) == 0
