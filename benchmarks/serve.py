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
from grbp.serve.transport import Transport
from machine import cores, cpu, system
from measure import Effort, say
from sections import Sections, run

Ask = Callable[[], object]

ROWS = {
    "loop": "bare route in the loop, GET",
    "thread": "bare route in a thread, POST",
    "ask": "advice, without reasons, GET",
    "tell": "tell, without reasons, POST",
    "reasons": "tell, with reasons, POST",
}


@contextmanager
def started(*words: str) -> Iterator[str]:
    """A server in another process, by the address that it prints first."""
    command = [sys.executable, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout is not None  # noqa: S101 (it is a pipe)
            yield process.stdout.readline().strip()
        finally:
            process.kill()


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
        started(str(here / "bare_server.py")) as bare,
        started(
            "-m", "grbp", "serve", "-q", "--port", "0", "--rate", "1e9",
            "--store", f"{folder}/s.sqlite",
        ) as served,
    ):  # fmt: skip
        study = grbp.Client.create(served, "bench", goal=100, learner="getbe-sm")
        transports = {"bare": Transport(bare, None, 60), "served": Transport(served, None, 60)}
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


SECTIONS: Sections = {"load": ("Requests a second", load)}


if __name__ == "__main__":
    began = time.strftime("%Y-%m-%d")
    what = f"fastapi {fastapi.__version__}, uvicorn {uvicorn.__version__}"
    where = f"{cpu()}, {cores()} cores, {system()}, {what}"
    legend = f"Measured on {began}. The machine: {where}."
    run(__file__, "The live advisor over HTTP: speed", legend, SECTIONS)
