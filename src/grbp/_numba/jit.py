"""One definition for two lives: interpreted here, compiled in the engine.

A kernel is a plain function of numbers and named tuples. `@kernel` only remembers it, so
defining one costs nothing and needs nothing; when the engine first asks for Numba, every
kernel is made known to it, and the same source is then also compiled into the engine's loop.

The dialect: `math` and numbers, one type a name, no None and no containers; guard what
Python refuses and compiled code does not (a division by zero, the logarithm of zero).
"""

import functools
import logging
import threading
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

_KERNELS: dict[Callable[..., Any], bool] = {}
"""Those that Numba does not know of yet, and whether they go into their callers whole."""

_KNOWN: set[Callable[..., Any]] = set()
_LOCK: Final = threading.Lock()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """The function itself, which compiled code may call from now on."""
    if isinstance(function, FunctionType) and function not in _KNOWN:
        _KERNELS.setdefault(function, False)
    return function


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """The function itself, a kernel so small and so often called that compiled code copies it."""
    if isinstance(function, FunctionType) and function not in _KNOWN:
        _KERNELS[function] = True
    return function


def u64(number: int) -> int:
    """The number, in compiled code as an unsigned 64-bit one (interpreted, as it is)."""
    return int(number)


def i64(number: int) -> int:
    """The number, in compiled code as a signed 64-bit one (interpreted, as it is)."""
    return int(number)


# Numba compares the two signatures to the letter, annotations included.
_COMPILED_U64: Final = lambda number: lambda number: np.uint64(number)  # noqa: ARG005, E731, PLW0108


_COMPILED_I64: Final = lambda number: lambda number: np.int64(number)  # noqa: ARG005, E731, PLW0108


@functools.cache
def numba() -> ModuleType | None:
    """Numba, which knows of `u64`; None where it is not installed."""
    try:
        import numba as compiler  # noqa: PLC0415 (slow to import, and optional)
    except ImportError:
        return None
    compiler.extending.overload(u64)(_COMPILED_U64)
    compiler.extending.overload(i64)(_COMPILED_I64)
    return compiler


@functools.cache
def _cache() -> ModuleType | None:
    """What keeps compiled code; None where Numba is not as it must be for that."""
    try:
        from grbp._numba import (  # noqa: PLC0415 (they import Numba)
            cache as _compiled_cache,
            contents as _contents,
        )

        _contents.taught(u64, _COMPILED_U64)
        _contents.taught(i64, _COMPILED_I64)
    except Exception as error:
        logging.getLogger("grbp").debug("compiled code is not kept: %s", error)
        return None
    return _compiled_cache


def compiled(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """The function compiled, to run without holding the interpreter back; needs Numba.

    The code is kept for the next process. The name is what a log calls the function.
    """
    with _LOCK:
        compiler = numba()
        if compiler is None:
            return function
        cache = _cache()
        while _KERNELS:
            known, copied = _KERNELS.popitem()
            _KNOWN.add(known)
            if cache is None:
                compiler.extending.register_jitable(forceinline=copied)(known)
            else:
                cache.learn(known, copied)
    dispatcher: Callable[..., Any] = compiler.njit(nogil=True)(function)
    if cache is not None:
        cache.attach(dispatcher, name or function.__name__)
    return dispatcher


def compiler_errors() -> tuple[type[Exception], ...]:
    """What Numba raises for what it cannot compile; nothing where it is not installed."""
    compiler = numba()
    return () if compiler is None else (compiler.core.errors.NumbaError,)


def reason(error: BaseException) -> str:
    """The line of a compiler's report that says what it minds: the first of the innermost."""
    inner = str(error).rpartition("Failed in nopython mode")[2].partition("\n")[2] or str(error)
    telling = [line.strip() for line in inner.splitlines() if line.strip()]
    return telling[0] if telling else type(error).__name__
