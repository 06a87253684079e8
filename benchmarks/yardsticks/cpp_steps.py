"""A tuned step loop in C++ (steps.cpp), compiled on the spot and called through ctypes."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from yardsticks.work import PS, SM, UCB, Curve, Work, curve, forced_rounds

SOURCE = Path(__file__).with_name("steps.cpp")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-shared", "-fPIC")
FUNCTIONS = {SM: "getbe_sm", UCB: "getbe_ucb", PS: "getbe_ps"}

_INT, _DOUBLE, _POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p


class Experiment(ctypes.Structure):
    """The arguments of a learner in steps.cpp.

    look     the rounds looked at: [look]
    price    of a round with threshold 0, with threshold 1, and finishing at once: [3]
    forced   for FINISH tried n times: the first round in which it is forced: [tries]
    regret   where to write the answer: [replica, look]
    """

    _fields_ = (
        ("goal", _INT),
        ("p_c", _DOUBLE),
        ("p_f", _DOUBLE),
        ("replicas", _INT),
        ("looks", _INT),
        ("look", _POINTER),
        ("price", _POINTER),
        ("forced", _POINTER),
        ("tries", _INT),
        ("seed", ctypes.c_uint64),
        ("regret", _POINTER),
    )


def run(work: Work) -> Curve | None:
    """The curve of a learner; None where it cannot be compiled."""
    code = library()
    if code is None:
        return None
    look = np.array(work.looks, dtype=np.int64)
    price = np.array(work.prices)
    forced = np.array(forced_rounds(work.rounds), dtype=np.int64)
    regret = np.empty((work.replicas, len(look)))
    experiment = Experiment(
        work.goal,
        work.p_c,
        work.p_f,
        work.replicas,
        len(look),
        look.ctypes.data,
        price.ctypes.data,
        forced.ctypes.data,
        len(forced),
        work.seed,
        regret.ctypes.data,
    )
    code[FUNCTIONS[work.learner]](ctypes.byref(experiment))
    return curve(regret)


def walk_rounds(goal: int, p_c: float, rounds: int, seed: int = 0) -> int | None:
    """How often CONTINUE was taken in rounds with threshold 0, walked and nothing else.

    None where it cannot be compiled.
    """
    code = library()
    return None if code is None else int(code.walk_rounds(goal, p_c, rounds, seed))


@cache
def compiler() -> str | None:
    """The path of a C++ compiler: $CXX, g++, clang++ or c++; None where there is none."""
    names = (os.environ.get("CXX"), "g++", "clang++", "c++")
    return next((path for name in names if name and (path := shutil.which(name))), None)


def compiler_version() -> str:
    """What the compiler calls itself; "no C++ compiler" where there is none."""
    path = compiler()
    if path is None:
        return "no C++ compiler"
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    return answer.stdout.split("\n")[0]


def absence() -> str:
    """Why nothing could be compiled, in a few words."""
    path = compiler()
    return "there is no C++ compiler" if path is None else f"{path} does not compile steps.cpp"


@cache
def library() -> ctypes.CDLL | None:
    """steps.cpp compiled and loaded; None where that cannot be (`absence` says why)."""
    path = compiler()
    if path is None:
        return None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "steps.so"
        command = [path, *FLAGS, "-o", str(file), str(SOURCE)]
        if subprocess.run(command, check=False).returncode != 0:  # noqa: S603
            return None
        code = ctypes.CDLL(str(file))
    code.walk_rounds.argtypes = (_INT, _DOUBLE, _INT, ctypes.c_uint64)
    code.walk_rounds.restype = _INT
    return code
