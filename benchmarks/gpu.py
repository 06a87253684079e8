"""How fast a GPU simulates, beside CUDA C written by hand and what bounds both, in one run.

    .venv/bin/python benchmarks/gpu.py             # prints, and writes gpu.md; some 4 minutes
    .venv/bin/python benchmarks/gpu.py --quick     # little of everything; only prints
    .venv/bin/python benchmarks/gpu.py --only proof
    .venv/bin/python benchmarks/gpu.py --only here # needs nvcc and no GPU

It needs an NVIDIA GPU and the extra "cuda"; nvcc for what is written by hand (gpu.cu). The work is
drawn whole: the learner is asked in every round. A section that fails says why, and the others go
on.
"""

import ctypes
import platform
import shutil
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import grbp
from columns import Columns
from grbp.engine.decisions import decisions
from grbp.engine.round_table import Tables, make_tables
from grbp.learners.base import Learner
from grbp.learners.comparison import log_of
from grbp.learners.registry import find_learner
from grbp.numerics.jit import reason
from grbp.numerics.rng import OPENING, WORLD, purpose_key
from grbp.worlds.problem import Problem
from machine import cores, cpu, installed, system
from measure import Effort, say
from sections import Section, Sections, run

Ints = NDArray[np.int64]

GOAL = 4
ROUNDS = 1_000
THRESHOLDS = (0, 1, GOAL - 1)
SOURCE = Path(__file__).with_name("gpu.cu")
FLAGS = ("-std=c++17", "-O3", "-arch=native", "-fmad=false", "-shared", "-Xcompiler", "-fPIC")
LEARNERS = ("getbe-sm", "getbe-ucb", "doorstep-optimal", "getbe-ps")

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p


# The work.


def grid(points: int) -> list[Problem]:
    """Problems whose two probabilities are k/points, for k from 1 to points - 1."""
    chances = [k / points for k in range(1, points)]
    return [Problem(GOAL, p_c, p_f) for p_c in chances for p_f in chances]


def seeds_of(problems: Sequence[Problem]) -> list[int]:
    """A seed for each problem."""
    return list(range(1, 1 + len(problems)))


class ByHand(ctypes.Structure):
    """The work as gpu.cu takes it."""

    _fields_ = (
        ("problems", _INT),
        ("replicas", _INT),
        ("rounds", _INT),
        ("cells", _INT),
        ("tables", _POINTER),
        ("shifts", _POINTER),
        ("chances", _POINTER),
        ("keys", _POINTER),
        ("due", _POINTER),
    )


class Given(NamedTuple):
    """The arrays that `ByHand` points at."""

    tables: Tables
    chances: NDArray[np.float64]
    keys: NDArray[np.uint64]
    due: NDArray[np.int32]

    def work(self, replicas: int) -> ByHand:
        """The work of GETBE-SM on all problems."""
        count, _, cells, _ = self.tables.cells.shape
        arrays = (self.tables.cells, self.tables.shifts, self.chances, self.keys, self.due)
        return ByHand(count, replicas, ROUNDS, cells, *(a.ctypes.data for a in arrays))


def given_for(problems: Sequence[Problem]) -> Given:
    """What the hand-written kernels need."""
    gamma = find_learner("getbe-sm", GOAL).constants.gamma
    # One round more is read than is played.
    due = [0, *(int(np.ceil(gamma * log_of(rho))) for rho in range(1, ROUNDS + 2))]
    keys = [[purpose_key(seed, p) for p in (WORLD, OPENING)] for seed in seeds_of(problems)]
    return Given(
        make_tables(problems, THRESHOLDS),
        np.array([[problem.p_c, problem.p_f] for problem in problems]),
        np.array(keys, dtype=np.uint64),
        np.array(due, dtype=np.int32),
    )


# CUDA C by hand.


@cache
def library() -> ctypes.CDLL:
    """gpu.cu compiled and loaded; where there is no nvcc, gpu.so beside it is taken instead."""
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = SOURCE.with_suffix(".so") if nvcc is None else Path(folder) / "gpu.so"
        if nvcc is not None:
            subprocess.run([nvcc, *FLAGS, "-o", str(file), str(SOURCE)], check=True)  # noqa: S603
        elif not file.exists():
            raise RuntimeError(
                "nvcc was not found, so that nothing written by hand was measured; where it is,"
                f" make {file.name} with nvcc {' '.join(FLAGS)}, -arch= being that of the GPU"
            )
        code = ctypes.CDLL(str(file))
    code.kernel_name.restype = ctypes.c_char_p
    return code


class Measured(NamedTuple):
    """The name of a kernel, its shortest time in seconds, and nine sums for each problem."""

    name: str
    seconds: float
    sums: Ints


def by_hand(given: Given, replicas: int, passes: int) -> Iterator[Measured]:
    """Measures all kernels of gpu.cu."""
    code, work, message = library(), given.work(replicas), ctypes.create_string_buffer(200)
    for which in range(code.kernels()):
        best, sums = ctypes.c_float(), np.zeros((work.problems, 9), dtype=np.int64)
        name = code.kernel_name(which).decode()
        if code.measure(
            ctypes.byref(work), which, passes, ctypes.byref(best),
            ctypes.c_void_p(sums.ctypes.data), message,
        ):  # fmt: skip
            raise RuntimeError(f"{name}: {message.value.decode()}")
        say(f"{name}: {best.value:.1f} ms")
        yield Measured(name, best.value / 1e3, sums)


def here(effort: Effort) -> list[Columns]:
    """Whether gpu.cu, compiled for the CPU, decides as the package does: it needs no GPU."""
    replicas, learner = effort.choose(100, 1_000), find_learner("getbe-sm", GOAL)
    chances = [(0.45, 0.3), (0.65, 0.3), (0.5, 0.25), (0.95, 0.9), (1.0, 0.5), (0.0, 0.5)]
    problems = [Problem(GOAL, p_c, p_f) for p_c, p_f in chances]
    given = given_for(problems)
    work, plays = given.work(replicas), np.zeros((len(problems), replicas, 3), dtype=np.int32)
    wanted = on_cpu(problems, [learner] * len(problems), [ROUNDS], replicas, "draw")[:, :, 0]
    table = Columns(
        f"{len(problems)} problems, {replicas:,} replicas of {ROUNDS:,} rounds, GETBE-SM",
        ["gpu.cu, compiled for the CPU", "replicas that differ"],
    )
    for way, name in enumerate(("cells as stored", "packed cells", "packed cells, shortcut")):
        library().play_here(ctypes.byref(work), way, ctypes.c_void_p(plays.ctypes.data))
        table.rows.append([name, f"{np.any(plays != wanted, axis=2).sum():,}"])
    return [table]


# Proof.


def on_cpu(
    problems: Sequence[Problem],
    learners: Sequence[Any],
    checkpoints: Sequence[int],
    replicas: int,
    engine: Any,
) -> Ints:
    """The decisions of every replica: [problem, replica, checkpoint, choice]."""
    return np.stack(
        [
            np.concatenate(
                [
                    block.played
                    for block in decisions(
                        problem, learner, checkpoints, replicas, seed,
                        engine=engine, threads=1, regret="pseudo",
                    )
                ]
            )
            for problem, learner, seed in zip(problems, learners, seeds_of(problems), strict=True)
        ]
    )  # fmt: skip


def prove(name: str, replicas: int, rounds: int) -> list[str]:
    """How many replicas of a learner differ between CPU and GPU, walked and drawn whole."""
    from grbp.engine.cuda import cuda_decisions  # noqa: PLC0415 (it needs a GPU)

    problems = [Problem(GOAL, p_c, 0.3) for p_c in (0.45, 0.65)]
    learners: list[Any] = [find_learner(name, problem) for problem in problems]
    # The oracle is another learner on every problem; all others play both in one launch.
    parts = [slice(0, 2)] if learners[0] == learners[1] else [slice(0, 1), slice(1, 2)]
    seeds, checkpoints = seeds_of(problems), sorted({1, rounds // 10, rounds})
    row = [name]
    for engine in ("walk", "draw"):
        theirs = [
            cuda_decisions(
                problems[k], learners[k][0], checkpoints, range(replicas), seeds[k], engine
            )
            for k in parts
        ]
        ours = on_cpu(problems, learners, checkpoints, replicas, engine)
        row.append(f"{np.any(np.concatenate(theirs) != ours, axis=(2, 3)).sum():,}")
    return row


def proof(effort: Effort) -> list[Columns]:
    """Per-replica equality of CPU and GPU, for every learner of thresholds."""
    replicas, rounds = effort.choose(64, 4_096), effort.choose(50, ROUNDS)
    any_problem = Problem(GOAL, 0.5, 0.5)
    names = [n for n in grbp.LEARNERS if isinstance(find_learner(n, any_problem), Learner)]
    names = names[: effort.choose(3, len(names))]
    table = Columns(
        f"Replicas that differ, of 2 x {replicas:,} with {rounds:,} rounds (wanted: 0)",
        ["learner", "walked", "drawn whole"],
    )
    # Most of the time is spent by compilers, so that each learner has a process of its own.
    with ProcessPoolExecutor(min(len(names), cores()), get_context("spawn")) as pool:
        jobs = {name: pool.submit(prove, name, replicas, rounds) for name in names}
        for name, job in jobs.items():
            try:
                row = job.result()
            except Exception as error:
                row = [name, "failed", "failed"]
                table.notes.append(f"{name}: {reason(error)}.")
            say(": ".join(row))
            table.rows.append(row)
    equal = sum(row[1:] == ["0", "0"] for row in table.rows)
    table.notes.append(f"{equal} of {len(names)} learners: no replica differs.")
    return [table]


# Speed.


@contextmanager
def launches() -> Iterator[list[float]]:
    """The times of the kernels that Numba launches meanwhile, by CUDA events, in seconds."""
    from grbp.engine.cuda import cuda  # noqa: PLC0415 (it needs a GPU)

    kernel, times = import_module("numba.cuda.dispatcher")._Kernel, []
    launch = kernel.launch

    def timed(self: Any, *arguments: Any, **more: Any) -> None:
        begin, end = cuda.event(), cuda.event()
        begin.record()
        launch(self, *arguments, **more)
        end.record()
        end.synchronize()
        times.append(cuda.event_elapsed_time(begin, end) / 1e3)

    with patch.object(kernel, "launch", timed):
        yield times


class Ours(NamedTuple):
    """Our shortest times in seconds: the first call, the kernels alone, a whole call; the sums."""

    first: float
    kernel: float
    whole: float
    sums: tuple[Ints, Ints]


def ours(problems: Sequence[Problem], name: str, replicas: int, passes: int) -> Ours:
    """Measures the package on all problems; a whole call makes tables and copies, too."""
    from grbp.engine.cuda import cuda_sums  # noqa: PLC0415 (it needs a GPU)

    learner, seeds = find_learner(name, GOAL), seeds_of(problems)
    began = time.perf_counter()
    cuda_sums(problems, learner, [ROUNDS], range(1), seeds, "draw")
    first = time.perf_counter() - began
    best = Ours(first, np.inf, np.inf, (np.zeros(0), np.zeros(0)))
    for _ in range(passes):
        with launches() as times:
            began = time.perf_counter()
            sums = cuda_sums(problems, learner, [ROUNDS], range(replicas), seeds, "draw")
            whole = time.perf_counter() - began
        best = Ours(first, min(best.kernel, sum(times)), min(best.whole, whole), sums)
    say(f"{name}: kernel {best.kernel:.3f} s, whole {best.whole:.3f} s, first {first:.1f} s")
    return best


def speed(count: float, seconds: float) -> str:
    """So many rounds in so many seconds, in words."""
    return f"{count / seconds / 1e9:,.1f}"


def size(effort: Effort) -> tuple[list[Problem], int]:
    """The problems and replicas of the two sections below."""
    return grid(effort.choose(5, 20)), effort.choose(2_000, 100_000)


def held(good: bool) -> str:
    """A verdict."""
    return "held" if good else "NOT held"


def kernel(effort: Effort) -> list[Columns]:
    """The time of our kernels, and with tables and transfers."""
    problems, replicas = size(effort)
    count = len(problems) * replicas * ROUNDS
    table = Columns(
        f"{len(problems):,} problems x {replicas:,} replicas x {ROUNDS:,} rounds, drawn whole",
        ["learner", "kernel, s", "G rounds/s", "whole call, s", "first call, s"],
    )
    for name in LEARNERS:
        best = ours(problems, name, replicas, effort.choose(1, 3))
        table.rows.append(
            [
                name,
                f"{best.kernel:.3f}",
                speed(count, best.kernel),
                f"{best.whole:.3f}",
                f"{best.first:.1f}",
            ]
        )
        if name == "getbe-sm":
            table.notes.append(
                f"GETBE-SM: kernel at most .3 s: {held(best.kernel <= 0.3)}; whole call at most"
                f" .6 s: {held(best.whole <= 0.6)}."
            )
    table.notes.append(
        "A whole call makes the tables and copies them; a first one also compiles, and plays one"
        " replica."
    )
    return [table]


def limits(effort: Effort) -> list[Columns]:
    """Our kernel beside CUDA C by hand, and beside what bounds both."""
    problems, replicas = size(effort)
    count, passes = len(problems) * replicas * ROUNDS, effort.choose(1, 3)
    others = list(by_hand(given_for(problems), replicas, passes))
    own = ours(problems, "getbe-sm", replicas, passes)
    own_time, wanted = own.kernel, packed_sums(*own.sums)
    table = Columns(
        f"GETBE-SM, {len(problems):,} problems x {replicas:,} replicas x {ROUNDS:,} rounds",
        ["kernel", "ms", "G rounds/s", "ours is", "sums"],
        [["ours", f"{1e3 * own_time:.1f}", speed(count, own_time), "", ""]],
    )
    best: dict[str, float] = {}
    for name, seconds, sums in others:
        kind = name.partition(":")[0]
        best[kind] = min(best.get(kind, np.inf), seconds)
        equal = "" if kind in BOUNDS else "equal" if np.array_equal(sums, wanted) else "DIFFER"
        share = f"{100 * seconds / own_time:.0f} %"
        table.rows.append([name, f"{1e3 * seconds:.1f}", speed(count, seconds), share, equal])
    targets = {
        "stored draws": ("the random words with a draw from the package's tables", 0.6),
        "packed draws": ("the same with tables packed into half, in the memory of a block", None),
        "same": ("CUDA C by hand with the same operations", 0.9),
        "shortcut": ("CUDA C by hand that decides in single precision far from a tie", None),
    }
    for kind, (what, least) in targets.items():
        share = best[kind] / own_time
        verdict = "" if least is None else f" (wanted: {100 * least:.0f}): {held(share >= least)}"
        table.notes.append(f"Of {what}: {100 * share:.0f} %{verdict}.")
    return [table]


def whole_map(effort: Effort) -> list[Columns]:
    """A map of 200 x 200 problems, from the problems to the regret of each."""
    points, replicas = effort.choose(6, 200), effort.choose(2_000, 100_000)
    problems = grid(points + 1)
    began = time.perf_counter()
    if hasattr(grbp, "sweep"):
        chances = [k / (points + 1) for k in range(1, points + 1)]
        cells = {"goal": GOAL, "p_c": chances, "p_f": chances}
        spec = grbp.SweepSpec("map", cells, ["getbe-sm"], ROUNDS, replicas, 1, "draw")
        with tempfile.TemporaryDirectory() as folder:
            result = grbp.sweep(spec, folder, device="cuda")
        way, largest = "grbp.sweep", max(float(cell.se[-1]) for cell in result.cells)
    else:
        from grbp.engine.cuda import cuda_sums  # noqa: PLC0415 (it needs a GPU)

        learner, seeds = find_learner("getbe-sm", GOAL), seeds_of(problems)
        cuda_sums(problems, learner, [ROUNDS], range(replicas), seeds, "draw")
        way, largest = "cuda_sums", np.nan
    took = time.perf_counter() - began
    count = len(problems) * replicas * ROUNDS
    return [
        Columns(
            f"{points} x {points} problems x {replicas:,} replicas x {ROUNDS:,} rounds, end to end",
            ["through", "s", "G rounds/s", "wanted, s", "", "largest standard error"],
            [[way, f"{took:.1f}", speed(count, took), "45", held(took <= 45), f"{largest:.3g}"]],
        )
    ]


BOUNDS = ("words", "stored draws", "packed draws")
"""The kernels of gpu.cu that play nothing."""


def packed_sums(totals: Ints, products: Ints) -> Ints:
    """Our sums at the end in the order of gpu.cu: three totals, and then products by rows."""
    rows, columns = np.triu_indices(len(THRESHOLDS))
    return np.concatenate([totals[:, -1], products[:, -1, rows, columns]], axis=1)


Measure = Callable[[Effort], list[Columns]]


def guarded(measure: Measure) -> Measure:
    """The section, or why it failed: the others are still worth measuring."""

    def tried(effort: Effort) -> list[Columns]:
        try:
            return measure(effort)
        except Exception as error:
            traceback.print_exc()
            return [Columns("It failed.", ["why"], [[str(error).partition("\n")[0]]])]

    return tried


SECTIONS: Sections = {
    "here": Section("CUDA C by hand, on the CPU", guarded(here), timed=True),
    "kernel": Section("Simulating on a GPU", guarded(kernel), timed=True),
    "limits": Section("Beside CUDA C by hand and what bounds both", guarded(limits), timed=True),
    "map": Section("A map of many problems", guarded(whole_map), timed=True),
    "proof": Section("The same decisions on CPU and GPU", guarded(proof), timed=True),
}


def gpu_name() -> str:
    """The GPU and its driver, as its own tool says it."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return "no GPU"
    command = [tool, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return answer.stdout.strip().replace("\n", "; ") or "no GPU"


if __name__ == "__main__":
    where = f"{gpu_name()}; {cpu()}, {cores()} cores, {system()}"
    legend = (
        f"Measured on {time.strftime('%Y-%m-%d')}. The machine: {where}; Python"
        f" {platform.python_version()}, numba-cuda {installed('numba-cuda')}, nvidia-nvvm"
        f" {installed('nvidia-nvvm')}. Each time is the shortest of several. Kernels are timed by"
        f" CUDA events; gpu.cu is compiled with `nvcc {' '.join(FLAGS)}`."
    )
    run(__file__, "Simulating on a GPU: speed, limits and proof", legend, SECTIONS)
