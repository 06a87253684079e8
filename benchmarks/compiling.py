"""Measure what compiling costs: the first answer of `grbp simulate`, and further ones.

python benchmarks/compiling.py [--repeat 3]

Each line is a command of its own. The first one of a block finds nothing compiled; the others find
what those before them have left. Of several runs it prints the one in the middle; the ratio is that
of its wall time to the wall time of the same command when nothing is to be compiled.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

COMMON = ["--p-c", ".45", "--p-f", ".3", "--replicas", "200", "--quiet"]

BLOCKS = [
    [
        ("the default", ["--goal", "4"]),
        ("another goal", ["--goal", "7"]),
        ("another start", ["--goal", "4", "--start", "2"]),
        ("a goal above 16", ["--goal", "20"]),
        ("GETBE-SM", ["--goal", "4", "--learner", "getbe-sm"]),
        ("GETBE-PS", ["--goal", "4", "--learner", "getbe-ps"]),
    ],
    [("GETBE-SM alone", ["--goal", "4", "--learner", "getbe-sm"])],
    [("GETBE-PS alone", ["--goal", "4", "--learner", "getbe-ps"])],
]


def measure(folder: str, asked: list[str]) -> tuple[float, float]:
    """Return the wall and CPU seconds of a command that finds what a folder keeps."""
    command = [sys.executable, "-m", "grbp", "simulate", *COMMON]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(  # noqa: S603 (a fixed program)
        [*command, *asked], env=os.environ | {"GRBP_CACHE_DIR": folder},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the seconds of every command, with nothing compiled and with all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    sys.stdout.write("                      wall s   CPU s   again, wall s   ratio\n")
    for block in BLOCKS:
        found: dict[str, list[tuple[float, ...]]] = {}
        for _ in range(repeat):
            with tempfile.TemporaryDirectory() as folder:
                for name, asked in block:
                    first, again = measure(folder, asked), measure(folder, asked)
                    found.setdefault(name, []).append((*first, again[0]))
        for name, rows in found.items():
            wall, cpu, again = map(statistics.median, zip(*rows, strict=True))
            line = f"{name:<20}{wall:8.1f}{cpu:8.1f}{again:16.2f}{wall / again:8.1f}\n"
            sys.stdout.write(line)
        sys.stdout.write("\n")


if __name__ == "__main__":
    main()
