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
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import grbp
from columns import Columns
from grbp.engine.decisions import decisions
from grbp.engine.leap.round_table import Tables, tables_of
from grbp.learners.base import Learner
from grbp.learners.comparison import log_of
from grbp.learners.registry import find_learner
from grbp.model.problem import Problem
from grbp.numerics.rng import OPENING, WORLD, _purpose_key
from machine import cores, cpu, installed, system
from measure import Effort, say
from sections import Sections, run

Ints = NDArray[np.int64]

GOAL = 4
ROUNDS = 1_000
THRESHOLDS = (0, 1, GOAL - 1)
SOURCE = Path(__file__).with_name("gpu.cu")
FLAGS = ("-std=c++17", "-O3", "-fmad=false", "-shared", "-Xcompiler", "-fPIC")
LEARNERS = ("getbe-sm", "getbe-ucb", "doorstep-lai", "getbe-ps")

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
        return ByHand(count, replicas, len(self.due) - 1, cells, *(a.ctypes.data for a in arrays))


def given_for(problems: Sequence[Problem]) -> Given:
    """What the hand-written kernels need."""
    gamma = find_learner("getbe-sm", GOAL).constants.gamma
    due = [0, *(int(np.ceil(gamma * log_of(rho))) for rho in range(1, ROUNDS + 1))]
    keys = [[_purpose_key(seed, p) for p in (WORLD, OPENING)] for seed in seeds_of(problems)]
    return Given(
        tables_of(problems, THRESHOLDS),
        np.array([[problem.p_c, problem.p_f] for problem in problems]),
        np.array(keys, dtype=np.uint64),
        np.array(due, dtype=np.int32),
    )


# CUDA C by hand.


@cache
def library() -> ctypes.CDLL:
    """gpu.cu compiled and loaded."""
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc is None:
        raise RuntimeError("nvcc was not found, so that nothing written by hand was measured")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "gpu.so"
        command = [nvcc, *FLAGS, f"-arch={architecture()}", "-o", str(file), str(SOURCE)]
        subprocess.run(command, check=True)  # noqa: S603
        code = ctypes.CDLL(str(file))
    code.kernel_name.restype = ctypes.c_char_p
    return code


def architecture() -> str:
    """The architecture to compile for: that of the GPU or, where there is none, of an H200."""
    try:
        from numba import cuda

        major, minor = cuda.get_current_device().compute_capability
    except Exception:  # noqa: BLE001 (whatever says that there is none)
        return "sm_90"
    return f"sm_{major}{minor}"


class Measured(NamedTuple):
    """The name of a kernel, its time in seconds, and its nine sums for each problem."""

    name: str
    seconds: float
    sums: Ints


def by_hand(given: Given, replicas: int, passes: int) -> Iterator[Measured]:
    """Measures all kernels of gpu.cu."""
    code, work, message = library(), given.work(replicas), ctypes.create_string_buffer(200)
    for which in range(code.kernels()):
        best, sums = ctypes.c_float(), np.zeros((work.problems, 9), dtype=np.int64)
        if code.measure(
            ctypes.byref(work), which, passes, ctypes.byref(best),
            ctypes.c_void_p(sums.ctypes.data), message,
        ):  # fmt: skip
            raise RuntimeError(message.value.decode())
        name = code.kernel_name(which).decode()
        say(f"{name}: {1e3 * best.value / 1e3:.1f} ms")
        yield Measured(name, best.value / 1e3, sums)


def packed_sums(totals: Ints, products: Ints) -> Ints:
    """Our sums in the order of gpu.cu: three totals, and the products of each with the rest."""
    upper = np.triu_indices(len(THRESHOLDS))
    return np.concatenate([totals, products[:, *upper]], axis=1)
