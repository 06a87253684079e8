"""Within a process, code is compiled anew once something that it reads has changed."""

import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError
from runs import FIGURE_3, all_at_once

import grbp
from grbp.engine.decisions import Engine
from grbp.numerics.fingerprint import Fingerprint
from grbp.numerics.jit import compile_function

level = 1
table, nested, listed, lock = np.array([1, 7]), (1, (1, 7)), [1], threading.Lock()
module: Any = types.ModuleType("module")


@grbp.kernel
def risen(x: int) -> int:
    return x + level


@grbp.kernel
def risen_twice(x: int) -> int:
    return risen(risen(x))


module.level, module.risen, other = 1, risen, risen


def closure() -> tuple[Callable[[int], int], Callable[[int], None]]:
    """A function, and one that changes what it reads."""
    step = 1

    def run(x: int) -> int:
        return x + step

    def change(to: int) -> None:
        nonlocal step
        step = to

    return run, change


def default(x: int, more: int = 1) -> int:
    return x + more


def change_default(to: int) -> None:
    default.__defaults__ = (to,)


def change_kernel(to: int) -> None:
    def lowered(x: int) -> int:
        return x - to

    globals()["other"] = grbp.kernel(lowered)


def change_level(to: float) -> None:
    globals()["level"] = to


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "change"),
    [
        (lambda x: x + level, change_level),
        (lambda x: x + level, lambda to: change_level(1.0 if to == 5 else 1)),
        (lambda x: risen_twice(x) + 0, change_level),
        (lambda x: module.risen(x) + 0, change_level),
        (lambda x: x + module.level, lambda to: setattr(module, "level", to)),
        (lambda x: x + table[0], lambda to: table.__setitem__(0, to)),
        (lambda x: x + nested[1][0], lambda to: globals().update(nested=(1, (to, 7)))),
        (lambda x: -other(x), change_kernel),
        (default, change_default),
        closure(),
    ],
    ids=["global", "kind of number", "kernel of a kernel", "kernel of a module", "module", "array",
         "tuple", "another kernel", "default", "closure"],
)  # fmt: skip
def test_what_has_changed_is_compiled_anew(
    function: Callable[[int], float], change: Callable[[int], None]
) -> None:
    runs = []
    for to in (1, 5, 1):
        change(to)
        runs.append(compile_function(function))
        assert compile_function(function) is runs[-1]
        assert runs[-1](10) == function(10)
        assert isinstance(runs[-1](10), float) == isinstance(function(10), float)
    assert runs[0] is runs[2]
    assert runs[0] is not runs[1]


def unmarked(x: int) -> int:
    return x + 1


def test_what_could_not_be_compiled_is_tried_again_when_it_may_be() -> None:
    def run(x: int) -> int:
        return unmarked(x) * 2

    with pytest.raises(TypingError):
        compile_function(run)(1)
    grbp.kernel(unmarked)
    assert compile_function(run)(1) == 4


def test_what_cannot_be_told_is_never_taken_for_the_same() -> None:
    def key(function: Callable[[], object]) -> object:
        return Fingerprint(function, ()).key

    def held() -> object:
        return lock

    def mutable() -> object:
        return listed

    assert key(held) != key(held)
    before = key(mutable)
    assert key(mutable) == before
    listed.append(2)
    assert key(mutable) != before


@grbp.kernel
def chosen() -> int:
    return 0 if level == 1 else 1


def decide(_goal: int, _: Any, _n: Any, _key: int) -> int:
    return chosen()


@pytest.mark.parametrize("engine", ["walk", pytest.param("leap", marks=pytest.mark.slow)])
def test_a_learner_plays_by_what_it_reads_now(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "grbp")
    learner = grbp.Learner("mine", decide, grbp.NoConstants(), (0, 1))
    for to in (1, 5, 5, 1):
        change_level(to)
        played = all_at_once(FIGURE_3, learner, [20], 3, 0, engine=engine).played
        assert played[:, 0].tolist() == [[20, 0] if to == 1 else [0, 20]] * 3
        assert grbp.Session(4, learner, seed=0).open_case(2) == (to != 1)
    said = [record.message for record in caplog.records]
    assert said.count("compiling mine for grbp's engine, some seconds") == 2
