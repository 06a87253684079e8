"""Measure what compiling costs: the CPU seconds of a learner's first simulation, and of the next.

python benchmarks/compiling.py [LEARNER ...]

One process starts with an empty cache and simulates the learners one after another; a second one
finds what the first has compiled.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter

COMMON = ["doorstep-optimal", "getbe-sm", "getbe-ps", "getbe-ucb"]

MEASURE = """
import sys, time
import grbp
from grbp._numba.jit import numba
from llvmlite.binding import ffi
from numba.core import event

inside, call = [0.0], ffi._lib_fn_wrapper.__call__

def timed(self, *arguments, **named):
    before = time.process_time()
    try:
        return call(self, *arguments, **named)
    finally:
        inside[0] += time.process_time() - before

ffi._lib_fn_wrapper.__call__ = timed

class Heard(event.Listener):
    def on_start(self, said): print("function", said.data["dispatcher"].py_func.__qualname__)
    def on_end(self, said): pass

numba()
event.register("numba:compile", Heard())
for name in sys.argv[1:]:
    before, inside[0] = time.process_time(), 0.0
    grbp.simulate(grbp.Problem(4, 0.45, 0.3), name, 5000, 2, threads=1)
    print("seconds", name, time.process_time() - before, inside[0])
"""


def measure(folder: str, learners: list[str]) -> list[list[str]]:
    """Return what a new process says that simulates some learners, line by line."""
    done = subprocess.run(  # noqa: S603 (a fixed program)
        [sys.executable, "-c", MEASURE, *learners],
        env=os.environ | {"GRBP_CACHE_DIR": folder}, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return [line.split() for line in done.stdout.splitlines()]


def main() -> None:
    """Print the seconds, and how many functions were compiled."""
    learners = sys.argv[1:] or COMMON
    with tempfile.TemporaryDirectory() as folder:
        for process in ("a new cache", "the same cache, another process"):
            sys.stdout.write(f"{process}: CPU seconds, those in LLVM, functions compiled\n")
            functions: Counter[str] = Counter()
            for kind, name, *seconds in measure(folder, learners):
                if kind == "function":
                    functions[name] += 1
                    continue
                count, kinds = functions.total(), len(functions)
                whole, llvm = map(float, seconds)
                line = f"  {name:<20} {whole:5.1f} {llvm:5.1f} {count:4} (of {kinds} names)\n"
                sys.stdout.write(line)
                functions.clear()


if __name__ == "__main__":
    main()
