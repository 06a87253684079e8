"""Machine code is made of whole loops only, and nobody who calls the same functions can tell."""

import math
from collections import defaultdict
from typing import Any
from unittest.mock import patch

import pytest
from optional import optional

from grbp.numerics import jit
from grbp.numerics.jit import compile_function, compile_if_long, kernel

numba = optional("numba")
inner = pytest.importorskip("grbp.numerics.inner")


def over(below: Any) -> Any:
    """Make a kernel that calls another one."""

    def above(x: float) -> float:
        return below(x) + math.sqrt(x)  # type: ignore[no-any-return]

    return kernel(above)


def inverse() -> Any:
    """Make a kernel, another one each time."""

    def divide(x: float) -> float:
        return 1.0 / x

    return kernel(divide)


def test_of_a_loop_that_calls_others_machine_code_is_made_once() -> None:
    made: list[str] = []
    usual = inner._codegen.JITCodeLibrary._finalize_final_module

    def noted(library: Any) -> None:
        made.append(library.name)
        usual(library)

    def whole(x: float) -> float:
        return third(x)  # type: ignore[no-any-return]

    third = over(over(over(inverse())))
    with patch.object(inner._codegen.JITCodeLibrary, "_finalize_final_module", noted):
        assert compile_function(whole)(4.0) == 0.25 + 3 * 2.0
    assert [name for name in made if "whole" in name] == made
    assert len(made) == 1


def test_errors_in_what_was_copied_are_those_of_python() -> None:
    first = over(inverse())

    def whole(x: float) -> float:
        return first(x)  # type: ignore[no-any-return]

    with pytest.raises(ZeroDivisionError, match="division by zero"):
        compile_function(whole)(0.0)


def test_what_waits_serves_the_compiled_code_of_others() -> None:
    """A user's own Numba code may call a kernel that was compiled in a loop of ours."""
    first = over(inverse())

    def whole(x: float) -> float:
        return first(x)  # type: ignore[no-any-return]

    assert compile_function(whole)(4.0) == 2.25
    theirs = numba.njit(lambda x: first(x) + 1.0)
    assert theirs(4.0) == 3.25
    with pytest.raises(ZeroDivisionError):
        theirs(0.0)


def test_what_waits_has_an_address_for_whoever_asks() -> None:
    first = inverse()

    def whole(x: float) -> float:
        return first(x)  # type: ignore[no-any-return]

    waiting: list[Any] = []
    usual = inner.InnerLibrary.finalize

    def noted(library: Any) -> None:
        usual(library)
        if library.waits:
            waiting.append(library)

    with patch.object(inner.InnerLibrary, "finalize", noted):
        compile_function(whole)(4.0)
    (library,) = (one for one in waiting if "divide" in one.name)
    (name,) = (f.name for f in library.get_defined_functions() if "divide" in f.name)
    assert library.get_pointer_to_function(name) != 0
    assert not library.waits


def test_the_interpreter_has_its_seconds_and_the_compiler_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jit, "_SPENT", defaultdict(float))
    first = inverse()
    tries = [compile_if_long(first, jit.ENOUGH / 2, "x") for _ in range(4)]
    assert [one is first for one in tries] == [True, True, False, False]
    assert {one(4.0) for one in tries} == {0.25}
