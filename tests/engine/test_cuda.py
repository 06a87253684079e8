"""The engine for GPUs: simulated against the CPU, compiled without a GPU, and what it refuses."""

import os
import subprocess
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import simulated_gpu
from runs import BUILT_IN, FIGURE_3, FIGURE_4, slow_but

from grbp import InvalidInput, Learner, Problem
from grbp.engine import cuda
from grbp.engine.recorder import StepLaw
from grbp.engine.round_table import CUT, RoundTable, make_tables, table_round
from grbp.errors import MissingExtra
from grbp.learners.counters import as_totals
from grbp.learners.registry import find_learner

GET = ".venv/bin/pip install '.[cuda-check]'"
INSTALLED = pytest.mark.skipif(
    cuda.cuda is None, reason=f"tests with numba-cuda: {cuda.MISSING}; get it with: {GET}"
)


def can_compile() -> bool:
    """Whether there is what numba-cuda compiles with, which is large."""
    with suppress(Exception):
        return bool(import_module("numba.cuda.cudadrv.nvvm").NVVM().get_version())
    return False


COMPILES = pytest.mark.skipif(
    cuda.cuda is None or not can_compile(),
    reason=f"tests that compile for a GPU: nvidia-nvvm cannot be loaded; get it with: {GET}",
)


@pytest.mark.soak
@INSTALLED
@pytest.mark.parametrize(
    "case",
    [
        "getbe_sm",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                "every_learner",
                "every_goal",
                "own_learner",
                "many_launches",
                "undeclared",
                "swept",
            )
        ),
    ],
)
def test_simulated_gpu_plays_as_the_cpu_does(case: str) -> None:
    script = Path(simulated_gpu.__file__)
    done = subprocess.run(
        [sys.executable, script, case],
        # The few rounds of every learner are interpreted sooner than they are compiled.
        env={
            **os.environ,
            "NUMBA_ENABLE_CUDASIM": "1",
            "NUMBA_DISABLE_JIT": str(int(case == "every_learner")),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize(
    "problems",
    [
        [FIGURE_3, Problem(4, 1.0, 0.5), Problem(4, 0.0, 0.0), Problem(4, 0.5, 1.0, 2)],
        [Problem(9, 0.5, 0.3)],
    ],
)
def test_packed_tables_draw_what_tables_draw_at_the_edges_of_their_cells(
    problems: list[Problem],
) -> None:
    thresholds = (0, 1, problems[0].goal - 1)
    packed, tables = (
        cuda._make_packed_tables(problems, thresholds),
        make_tables(problems, thresholds),
    )
    for i, problem in enumerate(problems):
        table, world = (
            RoundTable(tables.cells[i], int(tables.shifts[i])),
            StepLaw(problem.goal, 0.5, 0.3),
        )
        for column, threshold in enumerate(thresholds):
            for cell in range(1 << (64 - table.shift)):
                begin, cut = cell << table.shift, int(table.cells[column, cell, CUT])
                edge = begin + (cut >> (64 - table.shift))
                keys = {begin, edge - 1, edge, edge + 1, begin + (1 << table.shift) - 1}
                for key in keys:
                    if key >> table.shift != cell:
                        continue
                    wanted = as_totals(table_round(table, world, column, threshold, key))
                    at_hand = cuda._packed_table(packed, i)
                    assert cuda._draw_round(at_hand, world, column, threshold, key) == wanted


def arguments(learner: Learner, walked: bool) -> tuple[Any, ...]:
    """Arguments of a thread's function, all of no use but for their types."""
    law = (cuda._make_start_tables if walked else cuda._make_packed_tables)(
        [FIGURE_3], learner.choices(4)
    )
    ints = np.zeros((1, 1, 1, 1), dtype=np.int64)
    words = np.zeros((1, 3), dtype=np.uint64)
    return (
        learner.constants, np.zeros((1, 2)), words, law, 0, 0, ints[0, 0, 0], ints, ints,
        ints[0, 0, 0],
    )  # fmt: skip


@pytest.fixture
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let numba-cuda believe in a GPU, so far as it asks which one it compiles for."""
    device = SimpleNamespace(compute_capability=(9, 0))
    monkeypatch.setattr(
        import_module("numba.cuda.dispatcher"), "get_current_device", lambda: device
    )


@pytest.mark.soak
@COMPILES
@pytest.mark.usefixtures("hopper")
@pytest.mark.parametrize("walked", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name",
    slow_but({"no-explore"}, [learner.name for learner in BUILT_IN if learner.name != "oracle"]),
)
def test_every_learner_compiles_for_a_gpu(name: str, walked: bool) -> None:
    learner: Any = find_learner(name, 4)
    types = tuple(map(import_module("numba.cuda.typing.typeof").typeof, arguments(learner, walked)))
    run = cuda.make_thread_function(learner.decide, 4, learner.choices(4), walked, not walked)
    with cuda.compiler_settings():
        cuda.register_kernels()
        code, _ = cuda.cuda.compile(run, types, device=False, cc=(9, 0), abi="numba")
    assert ".entry" in code
    # Products and sums are rounded one by one, as they are on the CPU.
    assert "mul.rn.f64" in code or "mul.f64" not in code
    # A decision of few numbers needs no memory of a thread's own.
    assert "__local_depot" not in code


def in_words(_goal: int, _: Any, _n: Any, _key: int) -> int:
    return {"never": 0}.get("never", 1)


def halves(_goal: int, _: Any, _n: Any, _key: int) -> Any:
    return 0.5


@pytest.mark.soak
@COMPILES
@pytest.mark.usefixtures("hopper")
def test_learner_that_cannot_be_compiled_is_refused_with_the_reason() -> None:
    learner = Learner("in-words", in_words)
    run = cuda.make_thread_function(learner.decide, 4, learner.choices(4), False, True)
    with pytest.raises(InvalidInput, match=r"in-words cannot be compiled for a GPU \(.*DictType"):
        cuda._compile(run, arguments(learner, False), learner.name)


@pytest.mark.parametrize(
    ("learner", "goal", "rounds", "engine", "sentence"),
    [
        ("ucb1-policies", 4, 9, "walk", "ucb1-policies plays no thresholds and keeps a memory"),
        ("getbe-sm", 4, 9, "leap", "engine = 'leap' was given; .* it must be 'walk' or 'draw'"),
        ("getbe-sm", 17, 9, "draw", "a goal of 17 .* up to a goal of 16; use engine = 'walk'"),
        ("getbe-sm", 4, 2**31, "walk", "2,147,483,648 rounds .* a GPU plays up to 1,073,741,824"),
        (Learner("all", in_words, thresholds=tuple(range(33))), 40, 9, "walk", "declares 33"),
        (Learner("half", halves), 4, 9, "walk", "half decided 0.5; it must be a threshold"),
    ],
)
def test_what_a_gpu_cannot_play_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    learner: Any,
    goal: int,
    rounds: int,
    engine: Any,
    sentence: str,
) -> None:
    monkeypatch.setattr(cuda, "cuda", SimpleNamespace(is_available=lambda: True))
    problem = Problem(goal, 0.5, 0.3)
    found: Any = find_learner(learner, problem)
    for play in (cuda.cuda_sums, cuda.cuda_decisions):
        with pytest.raises(InvalidInput, match=sentence):
            play([problem], found, [rounds], range(3), [5], engine)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ModuleNotFoundError("No module named 'numba_cuda'"), "numba-cuda is not installed"),
        (
            RuntimeError('Failure finding "libcudart.so.13": No such file\n  attempted: ...'),
            'numba-cuda cannot be loaded (Failure finding "libcudart.so.13": No such file)',
        ),
    ],
)
def test_missing_compiler_and_its_missing_parts_are_named(
    monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str
) -> None:
    def fail(_name: str) -> None:
        raise error

    monkeypatch.setattr(cuda, "import_module", fail)
    found, missing = cuda._numba_cuda()
    monkeypatch.setattr(cuda, "cuda", found)
    monkeypatch.setattr(cuda, "MISSING", missing)
    with pytest.raises(MissingExtra) as refused:
        cuda.check_cuda()
    assert str(refused.value).startswith(
        f"a GPU was asked for, and {sentence}; pip install 'grbp[cuda]'"
    )


def test_compiler_finds_the_name_that_newer_numpys_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    numpy: Any = np
    monkeypatch.delattr(numpy, "row_stack", raising=False)

    def load(name: str) -> Any:
        warnings.warn("it is of another time", DeprecationWarning, stacklevel=1)
        return SimpleNamespace(implementation="NVIDIA", name=name, stack=numpy.row_stack)

    monkeypatch.setattr(cuda, "import_module", load)
    found, missing = cuda._numba_cuda()
    assert (found.name, found.stack, missing) == ("numba.cuda", np.vstack, "")
    assert not hasattr(numpy, "row_stack")


def test_missing_gpu_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    none = SimpleNamespace(is_available=lambda: False, cuda_error=lambda: OSError("no driver"))
    monkeypatch.setattr(cuda, "cuda", none)
    with pytest.raises(InvalidInput, match=r"there is none that can be used \(no driver\)"):
        cuda.cuda_sums([FIGURE_4], BUILT_IN[0], [9], range(3), [5], "draw")
