"""What a server writes for whoever operates it: enough, and never too much."""

import io
import logging
import re
from pathlib import Path

import pytest
from serving import Serving, refused
from sockets import wait_until

from grbp import Study
from grbp.serve.logs import (
    BURST,
    HANDLER,
    LONGEST,
    RATE,
    BoundedHandler,
    choose_level,
    write_lines,
)


class Lines:
    """A logger of its own whose lines are kept."""

    def __init__(self) -> None:
        self.now, self.written = 0.0, io.StringIO()
        self.handler = BoundedHandler(self.written, lambda: self.now)
        self.log = logging.Logger("lines")
        self.log.addHandler(self.handler)

    @property
    def all(self) -> list[str]:
        return self.written.getvalue().splitlines()


def test_a_line_has_its_time_in_utc_and_nothing_that_breaks_it() -> None:
    lines = Lines()
    lines.log.info("%s %s", "a\nb\x1b[31m", "\u00e9")
    (line,) = lines.all
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO a b\\x1b\[31m \\xe9", line)
    lines.log.info("x" * 10_000)
    assert len(lines.all[-1]) == LONGEST
    assert lines.all[-1].endswith("...")


def test_of_an_error_its_kind_and_place_are_said_and_not_its_text() -> None:
    lines = Lines()
    known: dict[str, int] = {}
    try:
        known["a secret"] += 1
    except KeyError:
        lines.log.exception("Exception in ASGI application\n")
    (line,) = lines.all
    assert "ERROR Exception in ASGI application KeyError at " in line
    assert "test_logs.py:" in line
    assert "secret" not in line


def test_a_flood_is_cut_and_counted_and_errors_are_still_said() -> None:
    lines = Lines()
    for number in range(30_000):
        lines.now = number / 10_000  # Three seconds.
        lines.log.info("127.0.0.1 nobody GET '/%s' 401 0.1 ms", "x" * 1_000)
    assert len(lines.all) <= BURST + 3 * RATE
    assert lines.handler.left_out == 30_000 - len(lines.all)
    assert len(lines.written.getvalue()) < 1_000_000
    lines.log.error("the disk is full")
    assert lines.all[-1].endswith("ERROR the disk is full")
    left_out = lines.handler.left_out
    lines.now += 10.0
    lines.log.info("quiet again")
    assert lines.all[-2].endswith(f"WARNING {left_out} lines were left out, as there were too many")
    assert lines.all[-1].endswith("INFO quiet again")
    lines.handler.flush()
    assert lines.all[-1].endswith("INFO quiet again")  # It is said once.


def test_what_was_left_out_is_said_at_the_end_and_while_it_lasts() -> None:
    lines = Lines()
    for number in range(2_000):
        lines.now = number / 100  # Twice as many as there may be, for 20 s.
        lines.log.info("x")
    said = [line for line in lines.all if "left out" in line]
    assert len(said) == 1
    lines.handler.flush()
    assert "left out" in lines.all[-1]
    told = [int(re.findall(r"(\d+) lines", line)[0]) for line in lines.all if "left out" in line]
    assert sum(told) == lines.handler.left_out


def test_which_requests_have_a_line_by_default() -> None:
    quiet = [choose_level(status, recording=False) for status in (200, 204, 303, 304, 404, 422)]
    assert set(quiet) == {logging.DEBUG}
    noted = [choose_level(status, recording=False) for status in (401, 403, 421, 429, 500, 503)]
    assert set(noted) == {logging.INFO}
    assert choose_level(201, recording=True) == logging.INFO


@pytest.fixture
def stderr(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    kept = io.StringIO()
    monkeypatch.setattr(HANDLER, "_stream", kept)
    return kept


@pytest.mark.slow
def test_the_lines_of_a_server_name_who_did_what_from_where(
    tmp_path: Path, stderr: io.StringIO
) -> None:
    with write_lines(), Serving(tmp_path) as server:
        Study.create(server.store, "ward", 4)
        token = server.token("recorder")
        place = "/api/studies/ward/cases?token=secret"
        assert server.ask("POST", place, token, json={"state": 2}).status_code == 201
        server.ask("GET", "/api/studies", token)
        refused(server.ask("GET", "/api/studies/a%0Ab"), 401)
        refused(server.ask("POST", "/api/session", json={"token": "secret"}), 401)
        refused(server.ask("GET", "/api/tokens", token), 403)
        wait_until(lambda: "403" in stderr.getvalue())
    lines = [line.split(" ", 1)[1] for line in stderr.getvalue().splitlines()]
    expected = [
        r"INFO 127\.0\.0\.1 'the recorder' POST '/api/studies/ward/cases' 201 \d+\.\d ms",
        r"INFO 127\.0\.0\.1 nobody GET '/api/studies/a\\nb' 401 \d+\.\d ms",
        r"WARNING sign-in refused: a token that is not valid came from 127\.0\.0\.1",
        r"INFO 127\.0\.0\.1 nobody POST '/api/session' 401 \d+\.\d ms",
        r"INFO 127\.0\.0\.1 'the recorder' GET '/api/tokens' 403 \d+\.\d ms",
    ]
    assert len(lines) == len(expected), lines
    for line, pattern in zip(lines, expected, strict=True):
        assert re.fullmatch(pattern, line), line


@pytest.mark.slow
def test_more_or_less_is_written_if_that_is_asked_for(tmp_path: Path, stderr: io.StringIO) -> None:
    with Serving(tmp_path) as server:
        for verbose, quiet, count in ((True, False, 1), (False, False, 0), (False, True, 0)):
            before = stderr.getvalue().count("/explore")
            with write_lines(verbose=verbose, quiet=quiet):
                server.ask("GET", "/explore")
                server.ask("GET", "/health")
                if verbose:
                    wait_until(lambda: "/health" in stderr.getvalue())
            assert stderr.getvalue().count("/explore") - before == count
