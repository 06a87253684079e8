"""A server ends within ten seconds of a signal, whatever hangs."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from optional import optional
from postgres_server import Server as Postgres

from grbp import Client

pytestmark = pytest.mark.slow

SOON = 45.0
"""Seconds, of which a quiet machine needs a tenth: what is to stop would else hang for ever."""


@contextmanager
def serving(folder: Path, store: str) -> Iterator[tuple["subprocess.Popen[str]", str, str]]:
    """Yield a server in a process of its own, its address and the token that it made."""
    command = [sys.executable, "-m", "grbp", "serve", "--port", "0", "--store", store, "--create"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        assert process.stdout is not None
        try:
            url, _, token = process.stdout.readline().strip().partition("/sign-in#token=")
            yield process, url, token
        finally:
            process.kill()


def stop(process: "subprocess.Popen[str]") -> tuple[float, str]:
    """Stop a server; return how many seconds that took, and what it wrote."""
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=2 * SOON)
    return time.monotonic() - began, said


def begin_entry(url: str, token: str) -> threading.Thread:
    """Begin to open a case, whatever comes of it."""

    def ask() -> None:
        header = {"Authorization": f"Bearer {token}"}
        try:
            path = f"{url}/api/studies/ward/cases"
            httpx.post(path, json={"state": 2}, headers=header, timeout=60)
        except httpx.HTTPError:
            pass

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


def test_it_stops_at_once_when_nothing_hangs_whatever_clients_do(tmp_path: Path) -> None:
    with serving(tmp_path, "s.sqlite") as (process, url, token):
        Client.create(url, "ward", 4, token=token).close()
        place = urlsplit(url)
        links = [socket.create_connection((place.hostname or "", place.port or 0)) for _ in "abc"]
        links[1].sendall(b"GET /health HT")
        links[2].sendall(
            f"POST /api/session HTTP/1.1\r\nHost: {place.netloc}\r\n"
            "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{".encode()
        )
        took, said = stop(process)
        for link in links:
            link.close()
    assert process.returncode == 0, said
    assert took < SOON
    assert " INFO started at http://127.0.0.1:" in said
    assert " INFO stopping; " in said
    assert said.rstrip().endswith(" INFO stopped")
    assert token not in said


def test_it_stops_while_another_process_holds_the_lock_of_its_file(tmp_path: Path) -> None:
    apsw = optional("apsw")
    with serving(tmp_path, "s.sqlite") as (process, url, token):
        Client.create(url, "ward", 4, token=token).close()
        with closing(apsw.Connection(str(tmp_path / "s.sqlite"))) as other:
            other.execute("begin immediate")
            thread = begin_entry(url, token)
            time.sleep(0.5)
            took, said = stop(process)
            thread.join()
    assert took < SOON, said


def test_it_stops_while_its_database_hangs(tmp_path: Path, postgres: Postgres) -> None:
    with serving(tmp_path, postgres.url) as (process, url, token):
        Client.create(url, "ward", 4, token=token).close()
        with closing(optional("psycopg").connect(postgres.socket)) as other:
            query = (
                "select pid from pg_stat_activity"
                " where backend_type = 'client backend' and pid <> pg_backend_pid()"
            )
            ours = [one for (one,) in other.execute(query).fetchall()]
        assert ours
        # Also the one that would let new connections in.
        fields = Path(f"/proc/{ours[0]}/stat").read_text("utf-8").rpartition(")")[2].split()
        ours.append(int(fields[1]))
        for one in ours:
            os.kill(one, signal.SIGSTOP)
        try:
            thread = begin_entry(url, token)
            time.sleep(0.5)
            began = time.monotonic()
            assert httpx.get(f"{url}/ready", timeout=60).status_code == 503
            assert time.monotonic() - began < SOON
            assert httpx.get(f"{url}/health", timeout=60).status_code == 200
            took, said = stop(process)
            thread.join()
        finally:
            for one in ours:
                os.kill(one, signal.SIGCONT)
    assert took < SOON, said
    # The store gives up in time or, if not, the server is stopped by force, and says so.
    if process.returncode:
        assert "stopped by force" in said
        assert "POST '/api/studies/ward/cases'" in said
