"""Cut the power under studies, kill their writers, or flip bits, as often as you like.

    .venv/bin/python tools/faults.py power --cuts 20000 --seed 1
    .venv/bin/python tools/faults.py kill --cycles 10000 --seed 1
    .venv/bin/python tools/faults.py serve --cycles 300 --seed 1
    .venv/bin/python tools/faults.py flips --flips 2000 --seed 1

Each ends with a line that says what was found, and with status 1 if something was lost, damaged or
not noticed; `power --synchronous NORMAL` shows that. `make test` runs the same code, from
tests/live and tests/serve, with fewer cuts, kills and flips. See docs/live-faults.md.
"""

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

for room in ("live", "serve"):
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / room))
# Writers are forked, which threads of a library would not survive.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def power(cuts: int, seed: int, synchronous: str) -> int:
    """Cut the power many times; print what was found, and return how often something was."""
    from cuts import cut_many

    found: Counter[str] = Counter()
    for one in tqdm(cut_many(cuts, seed, synchronous), total=cuts, unit="cut", disable=None):
        found[one.partition(":")[0]] += 1
        if one and sum(found.values()) - found[""] <= 5:
            print(one)
    done = sum(found.values())
    print(
        f"{done:,} power cuts with synchronous={synchronous}: {found['lost']:,} lost acknowledged"
        f" events, {found['damaged']:,} left a damaged study"
    )
    return done - found[""]


def summed(runs: Iterator[Any], cycles: int) -> tuple[Any, int]:
    """Return what all cycles came to, and in how many something was wrong, which is printed."""
    from killing import Cycle

    total, bad = Cycle([], 0, 0, 0), 0
    for one in tqdm(runs, total=cycles, unit="cycle", disable=None):
        total = Cycle([], *(a + b for a, b in zip(total[1:], one[1:], strict=True)))
        bad += bool(one.wrong)
        if one.wrong and bad <= 5:
            print(*one.wrong[:5], sep="\n")
    return total, bad


def kill(cycles: int, seed: int, synchronous: str) -> int:
    """Kill writers many times; print what was found, and return how often something was."""
    from killing import kill_many

    with tempfile.TemporaryDirectory() as folder:
        total, bad = summed(kill_many(Path(folder), cycles, seed, synchronous), cycles)
    print(
        f"{cycles:,} cycles with synchronous={synchronous}: {total.killed:,} writers killed,"
        f" {total.unanswered:,} with a request that had no answer, {total.stored:,} of them seen to"
        f" be stored; {bad:,} cycles lost an acknowledged event or left a damaged study"
    )
    return bad


def serve(cycles: int, seed: int, _: str) -> int:
    """Kill a server under its clients; print what was found, and return how often something was."""
    from killed_server import kill_server

    with tempfile.TemporaryDirectory() as folder:
        total, bad = summed(kill_server(Path(folder), cycles, seed), cycles)
    print(
        f"{total.killed:,} servers killed under their clients, with {total.unanswered:,} requests"
        f" that had no answer, {total.stored:,} of them seen to be stored; {bad:,} cycles lost an"
        " acknowledged event or left a damaged study"
    )
    return bad


def flips(number: int, seed: int, _: str) -> int:
    """Flip bits one at a time; print who noticed, and return how often nobody did."""
    from flips import flip_many
    from power import Disk

    outcomes: Counter[str] = Counter()
    by_sqlite = ahead = bad = 0
    with tempfile.TemporaryDirectory() as folder, Disk() as disk:
        for one in tqdm(
            flip_many(Path(folder), number, seed), total=number, unit="flip", disable=None
        ):
            outcomes[one.outcome] += 1
            by_sqlite, ahead, bad = (
                by_sqlite + one.by_sqlite,
                ahead + one.ahead,
                bad + bool(one.wrong),
            )
            if one.wrong and bad <= 5:
                print(*one.wrong[:5], sep="\n")
            disk.trace.clear()
    print(
        f"{number:,} flipped bits, {ahead:,} of them in the log ahead: {outcomes['named']:,} named"
        f" by verify, {outcomes['refused']:,} refused, {outcomes['nothing']:,} change nothing that"
        f" can be read, {outcomes['older']:,} end the log ahead, {outcomes['unseen']:,} unseen;"
        f" {bad:,} ended a verb with a traceback or with wrong advice; SQLite's own check alone"
        f" sees {by_sqlite:,}"
    )
    return outcomes["unseen"] + bad


COMMANDS = {
    "power": (power, "cuts", 20_000),
    "kill": (kill, "cycles", 10_000),
    "serve": (serve, "cycles", 300),
    "flips": (flips, "flips", 2_000),
}


def main() -> int:
    """Read the command line, and do what it says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (_, many, number) in COMMANDS.items():
        one = commands.add_parser(name)
        one.add_argument(f"--{many}", dest="number", type=int, default=number)
        one.add_argument("--seed", type=int, default=1)
        if name in ("power", "kill"):
            one.add_argument("--synchronous", default="FULL", choices=("FULL", "NORMAL", "OFF"))
    parser.set_defaults(synchronous="FULL")
    given = parser.parse_args()
    run, _, _ = COMMANDS[given.command]
    return int(run(given.number, given.seed, given.synchronous) > 0)


if __name__ == "__main__":
    sys.exit(main())
