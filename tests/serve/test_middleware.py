"""What is refused at the door: names, sizes, types and rates; and what every answer carries."""

import http.client
import logging
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from serving import Serving, refused

from grbp import CannotWrite, Study
from grbp.serve.http_errors import Refusal
from grbp.serve.jobs import JobFile
from grbp.serve.limits import RateLimiter
from grbp.serve.middleware import _read_hostname


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("guards")
    with Serving(folder, asking="admin", body_limit=1_000, import_limit=5_000) as one:
        Study.create(one.store, "ward", 4)
        yield one


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "a@127.0.0.1", "[::2]",
     "localhost.", "127.0.0.1/x", "127.0.0.1:80:80", "[", ""],
)  # fmt: skip
def test_a_forged_host_is_refused(server: Serving, host: str) -> None:
    answer = server.ask("GET", "/explore", headers={"Host": host})
    refused(answer, 421, "this server answers to")


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost", "LOCALHOST:80", "[::1]:8000"])
def test_its_own_names_are_answered_by_any_port(server: Serving, host: str) -> None:
    assert server.ask("GET", "/explore", headers={"Host": host}).status_code == 200


def test_the_name_in_a_host_is_what_a_browser_would_take_it_for() -> None:
    assert _read_hostname("Ward.Example.org:443") == "ward.example.org"
    assert _read_hostname("[::1]:8000") == "::1"
    assert _read_hostname("ward#127.0.0.1") == ""


def test_a_body_that_is_too_long_is_refused(server: Serving) -> None:
    post = ("POST", "/api/studies/ward/cases")
    long = b'{"state": 2' + b" " * 1_000 + b"}"
    kind = {"Content-Type": "application/json"}
    refused(server.ask(*post, headers=kind, content=long), 413, "1,000 bytes")
    # In parts, whose number nobody says before.
    parts = iter([long[:900], long[900:]])
    refused(server.ask(*post, headers=kind, content=parts), 413, "1,000 bytes")
    one = server.ask(*post, headers=kind, content=iter([b'{"sta', b'te": 2}']))
    assert one.status_code == 201
    log = {"Content-Type": "application/x-ndjson"}
    refused(server.ask("POST", "/api/import", headers=log, content=b"x" * 5_001), 413, "5,000")
    more = iter([b"x" * 3_000] * 2)
    refused(server.ask("POST", "/api/import", headers=log, content=more), 413, "5,000")


@pytest.mark.parametrize("length", ["-1", "x", "9" * 30])
def test_a_length_that_is_none_is_refused(server: Serving, length: str) -> None:
    place = server.url.removeprefix("http://")
    with socket.create_connection(tuple(place.split(":"))) as link:  # type: ignore[arg-type]
        head = f"POST /api/session HTTP/1.1\r\nHost: {place}\r\nContent-Length: {length}\r\n\r\n"
        link.sendall(head.encode())
        said = link.recv(1_000).split(b"\r\n")[0]
    assert said.split()[1] in (b"400", b"413")


def test_a_body_that_never_comes_is_not_waited_for(tmp_path: Path) -> None:
    with Serving(tmp_path, patience=0.05) as server:
        link = http.client.HTTPConnection(server.url.removeprefix("http://"))
        link.putrequest("POST", "/api/session")
        link.putheader("Content-Type", "application/json")
        link.putheader("Content-Length", "10")
        link.endheaders()
        assert link.getresponse().status == 408
        link.close()


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "x"])
def test_a_body_of_another_type_is_refused(server: Serving, kind: str) -> None:
    headers = {"Content-Type": kind} if kind else {}
    for path in ("/api/studies/ward/cases", "/api/import"):
        refused(server.ask("POST", path, headers=headers, content=b"{}"), 415, "it must be")
    said = {"Content-Type": "application/json; charset=utf-8"}
    answer = server.ask("POST", "/api/studies/ward/cases", headers=said, content=b'{"state": 2}')
    assert answer.status_code == 201


def test_whoever_asks_too_often_must_wait(tmp_path: Path) -> None:
    with Serving(tmp_path, rate=0.01) as server:
        assert server.ask("GET", "/explore").status_code == 200
        late = server.ask("GET", "/explore")
        refused(late, 429, "0.01 requests a second")
        assert 1 < int(late.headers["retry-after"]) <= 101
        # Another who asks, by a token, is not held up by it.
        token = server.token()
        assert server.ask("GET", "/api/session", token).status_code == 200
        refused(server.ask("GET", "/api/session", token), 429)
        for path in ("/health", "/ready"):  # Probes never wait.
            assert server.ask("GET", path).status_code == 200


def test_a_bucket_fills_up_at_its_rate() -> None:
    now = [0.0]
    rates = RateLimiter(0.5, lambda: now[0])
    rates.take("a")
    with pytest.raises(Refusal) as found:
        rates.take("a")
    assert found.value.headers == {"Retry-After": "3"}
    rates.take("b")
    now[0] = 2.0
    rates.take("a")
    with pytest.raises(Refusal):
        rates.take("a")
    now[0] = 1e9
    rates.take("a")
    with pytest.raises(Refusal):
        rates.take("a")


def test_less_than_a_request_left_is_none() -> None:
    now = [0.0]
    rates = RateLimiter(0.5, lambda: now[0])
    rates.take("a")
    for now[0] in (1.0, 1.5, 1.75):  # With 0.5, 0.75 and 0.875 of a request left.
        with pytest.raises(Refusal):
            rates.take("a")
    now[0] = 2.0  # What was refused has cost nothing.
    rates.take("a")


def test_buckets_do_not_pile_up() -> None:
    rates = RateLimiter(1.0, lambda: 0.0)
    for number in range(RateLimiter.MOST + 10):
        rates.take(str(number))
    assert len(rates._left) == RateLimiter.MOST


def test_every_answer_has_the_headers_that_keep_browsers_strict(server: Serving) -> None:
    answers = [
        server.ask("GET", "/health"),
        server.ask("GET", "/nothing"),
        server.ask("GET", "/api/studies/ward/export"),
        server.ask("GET", "/explore", headers={"Host": "evil.example"}),
        server.ask("POST", "/api/session", json={}),
    ]
    assert [one.status_code for one in answers] == [200, 404, 200, 421, 422]
    for one in answers:
        policy = one.headers["content-security-policy"].split("; ")
        assert policy[0] == "default-src 'none'"
        assert {"script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"} <= set(policy)
        assert "unsafe" not in one.headers["content-security-policy"]
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["referrer-policy"] == "no-referrer"
        assert one.headers["cache-control"] == "no-store"
        assert "server" not in one.headers or "uvicorn" in one.headers["server"]


def test_the_log_has_no_bodies_and_no_tokens(
    server: Serving, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("a secret in an error")

    monkeypatch.setattr(Study, "open_case", fail)
    with caplog.at_level(logging.DEBUG, "grbp.serve"):
        body = {"state": 2, "observed": "a secret in a body"}
        path = "/api/studies/ward/cases?basis=1&token=secret"
        refused(server.ask("POST", path, json=body), 500, "its log says where")
        refused(server.ask("POST", path, "a secret token", json=body), 401)
        until = time.monotonic() + 30
        while " 500 " not in caplog.text and time.monotonic() < until:  # It comes after the answer.
            time.sleep(0.005)
    said = caplog.text
    assert "KeyError at " in said
    assert "test_middleware.py" in said
    assert "POST '/api/studies/ward/cases' 500" in said
    assert "sign-in refused: a token that is not valid came from 127.0.0.1" in said
    assert "secret" not in said
    assert str(server.asking) not in said


def test_an_answer_that_fails_halfway_is_cut_off_and_logged(
    server: Serving, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def parts(_: JobFile) -> AsyncIterator[bytes]:
        yield b"{}\n"
        raise CannotWrite("the disk is gone")

    monkeypatch.setattr(JobFile, "__aiter__", parts)
    with pytest.raises(httpx.RemoteProtocolError):
        server.ask("GET", "/api/studies/ward/export")
    assert "CannotWrite at " in caplog.text
