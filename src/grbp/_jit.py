"""One definition for two lives: interpreted here, compiled in the engine.

A kernel is a plain function of numbers and named tuples. `@kernel` only remembers it, so
defining one costs nothing and needs nothing; when the engine first asks for Numba, every
kernel is made known to it, and the same source is then also compiled into the engine's loop.

The dialect: `math` and numbers, one type a name, no None and no containers; guard what
Python refuses and compiled code does not (a division by zero, the logarithm of zero).
"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_KERNELS: list[Callable[..., Any]] = []


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The function itself, which compiled code may call from now on."""
    _KERNELS.append(function)
    return function


def u64(number: int) -> int:
    """The number, in compiled code as an unsigned 64-bit one (interpreted, as it is)."""
    return int(number)


@functools.cache
def numba() -> ModuleType | None:
    """Numba, which knows of `u64`; None where it is not installed."""
    try:
        import numba as compiler  # noqa: PLC0415 (slow to import, and optional)
    except ImportError:
        return None
    import numpy as np  # noqa: PLC0415

    # Numba compares the two signatures to the letter, annotations included.
    compiler.extending.overload(u64)(lambda number: lambda number: np.uint64(number))  # noqa: ARG005, PLW0108
    return compiler


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled, to run without holding the interpreter back; needs Numba."""
    compiler = numba()
    if compiler is None:
        return function
    while _KERNELS:
        compiler.extending.register_jitable(_KERNELS.pop())
    dispatcher: Callable[..., Any] = compiler.njit(nogil=True)(function)
    return dispatcher


def compiler_errors() -> tuple[type[Exception], ...]:
    """What Numba raises for what it cannot compile; nothing where it is not installed."""
    compiler = numba()
    return () if compiler is None else (compiler.core.errors.NumbaError,)


def reason(error: BaseException) -> str:
    """The first line of a compiler's report that says something."""
    lines = [line.strip() for line in str(error).splitlines()]
    telling = [line for line in lines if line and not line.startswith("Failed in")]
    return telling[0] if telling else type(error).__name__
