"""Long work: in a process of its own, a few at once, and ended when nobody waits for it."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from prometheus_client.parser import text_string_to_metric_families
from serving import Clock, Serving, refused
from sockets import connect, wait_until

from grbp import Study
from grbp._process import module_command
from grbp.live import store_log
from grbp.live.store import open_store
from grbp.live.store.base import Store
from grbp.serve import job_worker, jobs
from grbp.serve.app import create_app
from grbp.serve.jobs import PART, JobFailed, Jobs
from grbp.serve.tokens import Tokens

pytestmark = pytest.mark.slow

_WAITS = """
import time
from grbp import _process
from grbp.serve import job_worker

def wait(_):
    print("begun", flush=True)
    time.sleep(60)

job_worker.open_store = wait
_process.json.loads = lambda _: {"store": ""}
job_worker.main()
"""
"""A worker whose job takes long."""

WARD = "/api/studies/ward"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    with Serving(tmp_path, asking="admin") as serving:
        Study.create(serving.store, "ward", 4).open_case(2)
        yield serving


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let jobs hang: a process that notes its number, and sleeps as long as its server waits."""
    folder = tmp_path / "hanging"
    folder.mkdir()
    script = folder / "worker.py"
    script.write_text(
        "import os, pathlib, sys, threading\n"
        "asked = sys.stdin.readline()\n"
        f"(pathlib.Path({str(folder)!r}) / str(os.getpid())).touch()\n"
        "sys.stdin.read()\n",
        "utf-8",
    )
    command = [sys.executable, str(script)], dict(os.environ)
    monkeypatch.setattr(jobs, "module_command", lambda _: command)
    return folder


def running(folder: Path) -> list[int]:
    """Return the numbers of the processes that have begun and are not over."""
    begun = [int(path.name) for path in folder.iterdir() if path.name.isdigit()]
    return [one for one in begun if _is_running(one)]


def _is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_job_ends_when_whoever_asked_has_gone(server: Serving, hanging: Path) -> None:
    asks = f"{{}} HTTP/1.1\nHost: {{{{host}}}}\nAuthorization: Bearer {server.asking}\n\n"
    for what in (f"POST {WARD}/verify", f"GET {WARD}/export", f"GET {WARD}/steps.csv"):
        with closing(connect(server, asks.format(what))):
            wait_until(lambda: len(running(hanging)) == 1)
        wait_until(lambda: not running(hanging))
        wait_until(lambda: not len(server.app.state.server.jobs))


def test_there_are_few_jobs_at_once_and_one_of_a_kind_for_each_study(
    server: Serving, hanging: Path
) -> None:
    Study.create(server.store, "other", 4)
    asks = f"POST {{}} HTTP/1.1\nHost: {{{{host}}}}\nAuthorization: Bearer {server.asking}\n\n"
    with closing(connect(server, asks.format(f"{WARD}/verify"))):
        wait_until(lambda: len(running(hanging)) == 1)
        refused(server.ask("POST", f"{WARD}/verify"), 429, "verify of 'ward'", "wait for it")
        with closing(connect(server, asks.format("/api/studies/other/verify"))):
            wait_until(lambda: len(running(hanging)) == 2)
            late = server.ask("GET", f"{WARD}/export")
            refused(late, 429, "2 checks, exports, imports or backups are under way")
            assert late.headers["retry-after"] == "2"
            # Whoever waits for advice does not notice.
            assert server.ask("POST", f"{WARD}/cases", json={"state": 2}).status_code == 201
    wait_until(lambda: not running(hanging))


def test_a_job_that_takes_too_long_is_ended(tmp_path: Path, hanging: Path) -> None:
    with Serving(tmp_path, asking="admin", longest_job=0.3) as server:
        Study.create(server.store, "ward", 4)
        refused(server.ask("POST", f"{WARD}/verify"), 503, "more than 0 s", "grbp live")
        assert not running(hanging)


def test_a_server_that_stops_ends_its_jobs(server: Serving, hanging: Path) -> None:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(server.ask("POST", f"{WARD}/verify")))
    thread.start()
    wait_until(lambda: len(running(hanging)) == 1)
    assert server.app.state.server.jobs.describe() == ["verify of 'ward'"]
    server.app.state.server.jobs.end_all()
    thread.join()
    refused(answers[0], 503, "is being stopped")
    refused(server.ask("POST", f"{WARD}/verify"), 503, "is being stopped")
    assert not running(hanging)


def test_a_process_that_dies_is_a_fault_and_not_an_answer(
    server: Serving, hanging: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(server.ask("POST", f"{WARD}/verify")))
    thread.start()
    wait_until(lambda: running(hanging))
    os.kill(running(hanging)[0], signal.SIGKILL)
    thread.join()
    refused(answers[0], 500, "its log says where")
    assert "a process ended without an answer" in caplog.text


def test_what_a_process_answers_is_raised_again() -> None:
    waiting = Jobs(open_store("memory"), 2, 10.0)
    for name in ("NotFound", "InvalidInput", "Conflict", "CannotWrite", "Damaged"):
        with pytest.raises(Exception, match="a sentence") as found:
            waiting._read_answer(json.dumps({"error": name, "detail": "a sentence"}).encode())
        assert type(found.value).__name__ == name
    with pytest.raises(JobFailed, match="KeyError at x:1"):
        waiting._read_answer(b'{"fault": "KeyError at x:1"}')


def test_the_worker_has_no_address_in_its_command_and_ends_with_its_server(
    tmp_path: Path,
) -> None:
    store = tmp_path / "s.sqlite"
    Study.create(store, "ward", 4).close()
    command, environment = module_command(jobs._WORKER)
    assert not any(str(store) in word for word in command)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"store": str(store), "verb": "verify", "study": "none", "file": ""}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["error"] == "NotFound"
    with subprocess.Popen(
        [sys.executable, "-c", _WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("{}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "begun\n"
        process.stdin.close()
        assert process.wait(60) == 1


def test_a_store_that_no_other_process_can_open_is_checked_here() -> None:
    store = open_store("memory")
    Study.create(store, "ward", 4).open_case(2)
    found = job_worker.do_job(store, "verify", "ward", Path())
    assert (found["ok"], found["events"]) == (True, 2)
    assert create_app(store, Tokens(store)).state.server.jobs is not None


def test_an_export_comes_in_large_parts_while_it_is_written(server: Serving) -> None:
    study = Study(server.store, "ward")
    for _ in range(1_000):
        study.open_case(2)
    whole = b"".join(study.export_lines())
    assert len(whole) > PART
    with server.http.stream("GET", f"{WARD}/export", headers=server.bearer()) as answer:
        parts = list(answer.iter_raw())
    assert b"".join(parts) == whole
    sizes: list[int] = []
    head = f"GET {WARD}/export HTTP/1.1\nHost: {{host}}\nAuthorization: Bearer {server.asking}\n\n"
    with closing(connect(server, head)) as link, link.makefile("rb") as lines:
        while lines.readline() != b"\r\n":
            pass
        while size := int(lines.readline(), 16):  # The parts as they were sent.
            sizes.append(size)
            lines.read(size + 2)
    assert sum(sizes) == len(whole)
    assert sum(size < 60_000 for size in sizes) <= 2  # The first, and what was left at the end.


def metrics(server: Serving) -> dict[str, float]:
    """Return the metrics without labels by their names."""
    return {
        one.name: one.value
        for family in text_string_to_metric_families(server.ask("GET", "/metrics").text)
        for one in family.samples
        if not one.labels
    }


def test_the_last_check_and_backup_are_metrics(tmp_path: Path) -> None:
    clock = Clock()
    with Serving(tmp_path, clock, asking="admin") as server:
        Study.create(server.store, "ward", 4)
        before = metrics(server)
        assert not [name for name in before if name.startswith("grbp_last_")]
        assert before["grbp_connections"] >= 1
        for name in ("streams", "jobs", "sessions", "log_lines_left_out_total"):
            assert before[f"grbp_{name}"] >= 0
        # One study that is well, or a copy that nobody looked at, is not what these are about.
        assert server.ask("POST", f"{WARD}/verify").json()["ok"]
        assert server.ask("GET", "/api/backup").status_code == 200
        assert not [name for name in metrics(server) if name.startswith("grbp_last_")]
        store_log.record(server.store, store_log.VERIFIED, "x", clock.now, ok=True)
        store_log.record(server.store, store_log.BACKUP, "x", clock.now)
        known = metrics(server)
        assert known["grbp_last_verify_time_seconds"] == clock.now.timestamp()
        assert known["grbp_last_verify_ok"] == 1
        assert known["grbp_last_backup_time_seconds"] == clock.now.timestamp()
        spoil(server.store)
        assert not server.ask("POST", f"{WARD}/verify").json()["ok"]
        assert metrics(server)["grbp_last_verify_ok"] == 0
        event = store_log.last_of(server.store, store_log.VERIFIED)
        assert event is not None
        assert (event.who, json.loads(event.request)["study"]) == ("whoever asks", "ward")


def spoil(store: Store) -> None:
    """Change an event behind the back of the store."""
    assert store.address is not None
    with closing(apsw.Connection(store.address)) as other:
        other.execute("update events set who = 'somebody' where kind = 'study'")


def test_a_study_in_which_a_check_found_something_is_not_written_to(tmp_path: Path) -> None:
    with Serving(tmp_path, asking="admin") as server:
        Study.create(server.store, "ward", 4, who="ada")
        assert server.ask("POST", f"{WARD}/cases", json={"state": 2}).status_code == 201
        spoil(server.store)
        assert not server.ask("POST", f"{WARD}/verify").json()["ok"]
        refused(server.ask("POST", f"{WARD}/cases", json={"state": 2}), 503, "event 1", "changed")
        with closing(apsw.Connection(str(server.store.address))) as other:
            other.execute("update events set who = 'ada' where kind = 'study'")
        assert server.ask("POST", f"{WARD}/verify").json()["ok"]
        assert server.ask("POST", f"{WARD}/cases", json={"state": 2}).status_code == 201
