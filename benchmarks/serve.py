"""How quick the live advisor is over HTTP, beside a bare FastAPI route in the same run.

    .venv/bin/python benchmarks/serve.py             # prints, and writes serve.md
    .venv/bin/python benchmarks/serve.py --quick     # little of everything; only prints

Both servers run in processes of their own on loopback, and are asked by threads of this one through
the same client, with a fixed number of requests in turn; each row is the best of its passes. On a
machine with few cores, whoever asks takes part of the time.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import fastapi
import numpy as np
import uvicorn

import grbp
from columns import Columns
from grbp.live.transport import Transport
from live import grow, study_of
from machine import cores, cpu, system
from measure import Effort, say
from sections import Section, Sections, run

Ask = Callable[[], object]

ROWS = {
    "loop": "bare route in the loop, GET",
    "thread": "bare route in a thread, POST",
    "ask": "advice, without reasons, GET",
    "tell": "tell, without reasons, POST",
    "reasons": "tell, with reasons, POST",
}


MOST = 5.0
"""How many times as long as in quiet a tell may take while others do something large."""

CLIENTS = 4
"""How many tell meanwhile."""


@contextmanager
def started(*words: str) -> Iterator[tuple[str, str | None]]:
    """A server in another process: the address that it prints first, and the token after it."""
    command = [sys.executable, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout is not None  # noqa: S101 (it is a pipe)
            url, _, token = process.stdout.readline().strip().partition("/sign-in#token=")
            yield url, token or None
        finally:
            process.kill()


def serving(store: Path) -> tuple[str, ...]:
    """The command that serves a store, as quickly as anybody asks."""
    words = ("-m", "grbp", "serve", "-q", "--port", "0", "--rate", "1e9")
    return *words, "--store", str(store), *(() if store.exists() else ("--create",))


def asked(works: list[Ask], count: int) -> tuple[float, np.ndarray]:
    """Requests a second of several clients at once, and how long each request took."""
    took: list[list[float]] = [[] for _ in works]
    ready = threading.Barrier(len(works) + 1)

    def work(one: Ask, times: list[float]) -> None:
        one()  # It connects.
        ready.wait()
        for _ in range(count // len(works)):
            began = time.perf_counter()
            one()
            times.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(works, took, strict=True)]
    for one in threads:
        one.start()
    ready.wait()
    began = time.perf_counter()
    for one in threads:
        one.join()
    times = np.concatenate([np.array(one) for one in took])
    return len(times) / (time.perf_counter() - began), times


def telling(transport: Transport, place: str, case: int, reasons: bool) -> Ask:
    """Tells one step after another of a case that goes up and down and does not end."""
    state = [50]

    def ask() -> None:
        state[0] += 1 if state[0] == 50 else -1
        body = {"state": state[0], "took": "continue", "why": "measured"}
        transport.post(f"{place}/cases/{case}/steps?basis={int(reasons)}", body)

    return ask


def requests(near: Transport, far: Transport, cases: list[int]) -> dict[str, list[Ask]]:
    """What is asked by every client: each has two cases of its own."""
    clients, place = len(cases) // 2, "/api/studies/bench"
    return {
        "loop": [lambda: near.get("/loop")] * clients,
        "thread": [lambda: near.post("/thread", {"state": 1})] * clients,
        "ask": [lambda: far.get(f"{place}/cases/1/advice", basis=0)] * clients,
        "tell": [telling(far, place, case, False) for case in cases[::2]],
        "reasons": [telling(far, place, case, True) for case in cases[1::2]],
    }


def load(effort: Effort) -> list[Columns]:
    """Requests a second and how long they take, by the number of clients."""
    count = effort.choose(320, 4_000)
    here = Path(__file__).parent
    with (
        TemporaryDirectory() as folder,
        started(str(here / "bare_server.py")) as (bare, _),
        started(*serving(Path(folder) / "s.sqlite")) as (served, token),
    ):
        study = grbp.Client.create(served, "bench", goal=100, learner="getbe-sm", token=token)
        transports = {"bare": Transport(bare, None, 60), "served": Transport(served, token, 60)}
        tables = []
        for clients in (1, 8, 32):
            say(f"{clients} clients")
            cases = [study.open_case(50).case for _ in range(2 * clients)]
            tasks = requests(transports["bare"], transports["served"], cases)
            best: dict[str, tuple[float, np.ndarray]] = {}
            for _ in range(effort.passes):
                for name, works in tasks.items():
                    best[name] = max(best.get(name, (0.0, np.empty(0))), asked(works, count),
                                     key=lambda pair: pair[0])  # fmt: skip
            tables.append(_table(clients, count, best))
        study.close()
        for transport in transports.values():
            transport.close()
    return tables


def _table(clients: int, count: int, best: dict[str, tuple[float, np.ndarray]]) -> Columns:
    """A table of what was measured."""
    plural = "s" if clients > 1 else ""
    table = Columns(
        f"{clients} client{plural} at once, {count:,} requests",
        ["what", "a second", "half within", "99 % within", "of the bare thread"],
    )
    for name, (rate, times) in best.items():
        half, most = np.percentile(1e3 * times, [50, 99])
        share = rate / best["thread"][0]
        table.rows.append(
            [ROWS[name], f"{rate:,.0f}", f"{half:.1f} ms", f"{most:.1f} ms", f"{share:.2f}"]
        )
    return table


def told_while(works: list[Ask], job: Callable[[], object] | None, least: float) -> np.ndarray:
    """How long tells take while a job runs, or for a while without one, in seconds."""
    took: list[list[float]] = [[] for _ in works]
    over = threading.Event()

    def work(one: Ask, times: list[float]) -> None:
        while not over.is_set():
            began = time.perf_counter()
            one()
            times.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(works, took, strict=True)]
    for one in threads:
        one.start()
    try:
        if job is None:
            time.sleep(least)
        else:
            job()
    finally:
        over.set()
        for one in threads:
            one.join()
    return np.concatenate([np.array(one) for one in took])


def read_out(transport: Transport, path: str) -> None:
    """Reads an answer to its end."""
    with transport.stream(path) as answer:
        while answer.read(2**20):
            pass


def sent(transport: Transport, log: Path) -> None:
    """Imports a log."""
    with log.open("rb") as file:
        transport.send("/api/import", file, log.stat().st_size)


def make_logs(folder: Path, cases: int) -> tuple[Path, Path, int]:
    """A store with a large study, and an export of another that is as large."""
    study, store = study_of(folder / "s.sqlite")
    grow(store, "s", cases, walks=True)
    events = study.status().events
    study.close()
    with grbp.Study.create(folder / "o.sqlite", "other", goal=4, learner="threshold-1") as other:
        grow(other._store, "other", cases, walks=True)  # type: ignore[arg-type]
        other.export(folder / "other.jsonl")
    return folder / "s.sqlite", folder / "other.jsonl", events


def busy(effort: Effort) -> list[Columns]:
    """Tells while somebody else asks for something that takes long."""
    with TemporaryDirectory() as name:
        store, log, events = make_logs(Path(name), effort.choose(33_000, 340_000))
        say(f"{events:,} events")
        token = make_token(store)
        with started(*serving(store)) as (url, _):
            study = grbp.Client.create(url, "bench", goal=100, learner="getbe-sm", token=token)
            far, long = Transport(url, token, 60), Transport(url, token, 3_600)
            place = "/api/studies/bench"
            works = [telling(far, place, study.open_case(50).case, False) for _ in range(CLIENTS)]
            large = "/api/studies/s"
            jobs: dict[str, Callable[[], object] | None] = {
                "nothing else": None,
                "verify": lambda: long.post(f"{large}/verify"),
                "export": lambda: read_out(long, f"{large}/export"),
                "steps.csv": lambda: read_out(long, f"{large}/steps.csv"),
                "import": lambda: sent(long, log),
            }
            took = {}
            for key, job in jobs.items():
                began = time.perf_counter()
                times = told_while(works, job, effort.choose(3, 20))
                took[key] = time.perf_counter() - began, times
                say(f"{key}: {took[key][0]:.1f} s, {len(times):,} tells")
            study.close()
            far.close()
            long.close()
    return [_busy_table(events, took)]


def make_token(store: Path) -> str:
    """A token for a store that is there."""
    words = ["serve", "token", "make", "--label", "benchmark", "--role", "admin", "--store"]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "grbp", *words, str(store)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def _busy_table(events: int, took: dict[str, tuple[float, np.ndarray]]) -> Columns:
    """A table of how long tells took, beside those in quiet."""
    table = Columns(
        f"{CLIENTS} clients tell while something is done to a study of {events:,} events",
        ["meanwhile", "it takes", "tells", "half within", "99 % within", "of quiet", "longest"],
    )
    quiet = float(np.percentile(1e3 * took["nothing else"][1], 99))
    worst = 0.0
    for key, (whole, times) in took.items():
        half, most = np.percentile(1e3 * times, [50, 99])
        worst = max(worst, most / quiet)
        table.rows.append(
            [key, f"{whole:.1f} s", f"{len(times):,}", f"{half:.1f} ms", f"{most:.1f} ms",
             f"{most / quiet:.2f}", f"{1e3 * times.max():.0f} ms"]
        )  # fmt: skip
    held = "held" if worst <= MOST else "NOT held"
    table.notes.append(
        f"Wanted: 99 % within at most {MOST:g} times as long as in quiet"
        f" ({worst:.2f} here): {held}."
    )
    return table


SECTIONS: Sections = {
    "load": Section("Requests a second", load, timed=True),
    "busy": Section("While a large study is verified, exported, imported", busy, timed=True),
}


if __name__ == "__main__":
    began = time.strftime("%Y-%m-%d")
    what = f"fastapi {fastapi.__version__}, uvicorn {uvicorn.__version__}"
    where = f"{cpu()}, {cores()} cores, {system()}, {what}"
    legend = f"Measured on {began}. The machine: {where}."
    run(__file__, "The live advisor over HTTP: speed", legend, SECTIONS)
