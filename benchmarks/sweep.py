"""How sweeps scale: one result, two processes against one, and what a Dask cluster costs.

.venv/bin/python benchmarks/sweep.py            # prints, and writes sweep.md
.venv/bin/python benchmarks/sweep.py --quick    # a tenth of the replicas, which only prints
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grbp
from columns import Columns
from measure import Effort, say
from sections import run_table

GRID = {"goal": 4, "p_c": [k / 10 for k in range(1, 10)], "p_f": [k / 10 for k in range(1, 10)]}
LEARNERS = ("getbe-sm", "getbe-ps")
_IDLE = 10.0


def spec_of(replicas: int) -> grbp.SweepSpec:
    """The sweep that is measured: every round is asked for, so that the work is even."""
    return grbp.SweepSpec("scaling", GRID, LEARNERS, 1000, replicas, engine="draw")


def played(spec: grbp.SweepSpec, **who: Any) -> tuple[float, float, str]:
    """The seconds of a sweep, the processor's seconds that driving it took here, and the digest.

    What it takes here to find everything played and write the tables is not counted as driving.
    """
    with TemporaryDirectory() as folder:
        began, busy = time.perf_counter(), time.process_time()
        result = grbp.sweep(spec, folder, **who)
        seconds, between = time.perf_counter() - began, time.process_time()
        grbp.sweep(spec, folder, processes=1)
        driving = between - busy - (time.process_time() - between)
    return seconds, driving, result.digest


@contextmanager
def cluster() -> Iterator[tuple[str, Callable[[], float]]]:
    """A scheduler and two workers of Dask, each a process: the address, and the scheduler's CPU."""
    from psutil import Process  # noqa: PLC0415 (Dask brings it)

    with TemporaryDirectory() as folder, ExitStack() as running:
        file = Path(folder) / "scheduler.json"

        def start(part: str, *options: str) -> int:
            command = (sys.executable, "-m", f"distributed.cli.{part}", *options)
            where = ("--scheduler-file", str(file), "--no-dashboard")
            process = running.enter_context(
                subprocess.Popen([*command, *where], stderr=subprocess.DEVNULL)  # noqa: S603
            )
            running.callback(process.terminate)
            return process.pid

        scheduler = Process(start("dask_scheduler", "--port", "0"))
        for _ in range(2):
            start("dask_worker", "--nthreads", "1")
        while not file.exists() or not file.stat().st_size:
            time.sleep(0.1)
        address = str(json.loads(file.read_text("utf-8"))["address"])
        yield address, lambda: sum(scheduler.cpu_times()[:2])


def on_cluster(
    spec: grbp.SweepSpec, small: grbp.SweepSpec
) -> tuple[tuple[float, float, str], float]:
    """The same on two workers of Dask; driving it is the work of the scheduler, too.

    What a scheduler takes that has nothing to do comes last: its share of a processor.
    """
    with cluster() as (address, busy):
        played(small, dask=address)  # The workers load what is compiled.
        before = busy()
        time.sleep(_IDLE)
        idle = (busy() - before) / _IDLE
        before = busy()
        seconds, driving, digest = played(spec, dask=address)
        return (seconds, driving + busy() - before, digest), idle


def measured(effort: Effort) -> Columns:
    """The seconds of a sweep, by who plays it."""
    spec, small = spec_of(effort.choose(2000, 12_000)), spec_of(20)
    say("compiling")
    played(small, processes=1)
    ways: dict[str, tuple[float, float, str]] = {}
    for name, who in (
        ("one process", {"processes": 1}),
        ("two processes", {"processes": 2}),
        ("one process, chunks of .2 s", {"processes": 1, "chunk": 0.2}),
    ):
        say(name)
        ways[name] = played(spec, **who)
    say("Dask")
    ways["Dask, two workers"], idle = on_cluster(spec, small)
    one = ways["one process"]
    rows = [
        [name, f"{seconds:.1f}", f"{one[0] / seconds:.2f}", digest[:16]]
        for name, (seconds, _, digest) in ways.items()
    ]
    dask = ways["Dask, two workers"]
    rounds = len(spec) * len(LEARNERS) * spec.replicas * 1000
    return Columns(
        f"162 cells, {spec.replicas:,} replicas of 1,000 rounds, every round drawn whole",
        ["who plays", "seconds", "times as fast", "digest"],
        rows,
        [
            f"The driver and the scheduler of Dask together kept a processor busy for {dask[1]:.2f}"
            f" s, in tasks of a second: {100 * dask[1] / one[0]:.1f} % of the work. Of that,"
            f" {idle * dask[0]:.2f} s are what a scheduler takes that has nothing to do,"
            f" {100 * idle:.1f} % of a processor however large the cluster is; what tasks take is"
            f" {100 * (dask[1] - idle * dask[0]) / one[0]:.1f} % of the work."
            f" One process played {1e-6 * rounds / one[0]:.0f} million rounds a second. All digests"
            " are equal:"
            f" {'yes' if len({way[2] for way in ways.values()}) == 1 else 'NO'}."
        ],
    )


if __name__ == "__main__":
    run_table(__file__, "How sweeps scale", measured)
