"""One definition for two lives: interpreted here, compiled in the engine.

A kernel is a plain function of numbers and named tuples. `@kernel` only remembers it, so
defining one costs nothing and needs nothing; when the engine first asks for Numba, every
kernel is made known to it, and the same source is then also compiled into the engine's loop.

The dialect: `math` and numbers, one type a name, no None and no containers; guard what
Python refuses and compiled code does not (a division by zero, the logarithm of zero).
"""

import functools
import logging
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any, Final, ParamSpec, TypeVar, cast

import numpy as np

from grbp.numerics.fingerprint import Fingerprint, is_own

P = ParamSpec("P")
R = TypeVar("R")

STARTED: Final = time.time_ns()
"""The time at which the package began to be imported, about."""

KERNELS: dict[Callable[..., Any], bool] = {}
"""All functions that were marked, and whether each is inlined."""

ENOUGH: Final = 1.0
"""Seconds that the interpreter has for a function that it shares with the compiler."""

_SPENT: defaultdict[Callable[..., Any], float] = defaultdict(float)
"""The seconds that it has had, about."""

_OWN: dict[Callable[..., Any], Fingerprint] = {}
_LOCK: Final = threading.Lock()


class Compiler:
    """What one compiler was told: the kernels, and the functions that it compiles, each once.

    registered    the kernels that it knows of
    dispatchers   what it made of functions, by the keys of their fingerprints
    """

    def __init__(self) -> None:
        self.registered: set[Callable[..., Any]] = set()
        self.dispatchers: dict[tuple[Any, ...], tuple[Any, Fingerprint]] = {}
        self._remembered: list[dict[Any, Any]] = []

    def find(self, fingerprint: Fingerprint, make: Callable[[], Any]) -> Any:
        """Return what the compiler made of a function, and let it look at what changes anew."""
        if fingerprint.key not in self.dispatchers:
            self.dispatchers[fingerprint.key] = make(), fingerprint
        if not fingerprint.own:
            for code in self._remembered:
                code.clear()
        return self.dispatchers[fingerprint.key][0]

    def register(
        self, extending: Any, templates: Any, options: Callable[..., dict[str, Any]]
    ) -> None:
        """Make all kernels known to the compiler, each with its options."""
        if not self.registered:
            # It compares the two signatures to the letter, annotations included.
            extending.overload(u64)(lambda number: lambda number: np.uint64(number))  # noqa: ARG005, PLW0108
            extending.overload(i64)(lambda number: lambda number: np.int64(number))  # noqa: ARG005, PLW0108
        for function in KERNELS.keys() - self.registered:
            extending.register_jitable(**options(function))(function)
            self.registered.add(function)
            if function.__closure__ or not is_own(function):  # It may read something that changes.
                held = getattr(templates.builtin_registry.functions[-1], "_impl_cache", {})
                self._remembered.append(held)


_NUMBA: Final = Compiler()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function that compiled code calls.

    Parameters
    ----------
    function : callable
        A function of numbers and named tuples, in the dialect that Numba compiles.

    Returns
    -------
    callable
        The function itself: interpreted, it is what it was.

    See Also
    --------
    inlined : Marks a function that is small and called often.

    Examples
    --------
    >>> import grbp
    >>> @grbp.kernel
    ... def share(won, tried):
    ...     return won / tried if tried > 0 else 0.5
    >>> share(3, 4)
    0.75
    """
    if isinstance(function, FunctionType):
        KERNELS.setdefault(function, False)
    return function


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a kernel so small, and called so often, that compiled code copies it.

    Parameters
    ----------
    function : callable
        A function of numbers and named tuples, in the dialect that Numba compiles.

    Returns
    -------
    callable
        The function itself: interpreted, it is what it was.

    See Also
    --------
    kernel : Marks any other function that compiled code calls.

    Examples
    --------
    >>> import grbp
    >>> @grbp.inlined
    ... def larger(a, b):
    ...     return a if a > b else b
    >>> larger(2, 3)
    3
    """
    if isinstance(function, FunctionType) and function not in _NUMBA.registered:
        KERNELS[function] = True
    return function


def u64(number: int) -> int:
    """Return the number, in compiled code as an unsigned 64-bit one (interpreted, as it is)."""
    return int(number)


def i64(number: int) -> int:
    """Return the number, in compiled code as a signed 64-bit one (interpreted, as it is)."""
    return int(number)


@functools.cache
def numba() -> ModuleType | None:
    """Return Numba; None where it is not installed."""
    try:
        import numba as compiler  # noqa: PLC0415 (slow to import, and optional)
    except ImportError:
        return None
    return compiler


def compile_function(
    function: Callable[..., Any],
    name: str = "",
    level: int = logging.INFO,
    before: Callable[[], None] | None = None,
) -> Callable[..., Any]:
    """Return the function compiled, to run without holding the interpreter back; needs Numba.

    It is compiled once, until something changes that it reads, and code of this package is kept
    for the next process. The name is what the log calls the function when it is compiled, and
    the level that of the record: `logging.WARNING` is seen by users who set up no logging. What is
    to be done `before` it is compiled may be to wait for a process that compiles it.
    """
    compiler = numba()
    if compiler is None or compiler.config.DISABLE_JIT:
        return function
    with _LOCK:
        fingerprint = _OWN.get(function) or Fingerprint(function, KERNELS)
        if fingerprint.own:  # This package does not change while it runs.
            _OWN[function] = fingerprint

        def make() -> Any:
            dispatcher = compiler.njit(nogil=True)(function)
            with suppress(Exception):  # Where Numba is made otherwise, there is no cache.
                from grbp.numerics.cache import KernelCache  # noqa: PLC0415 (it imports Numba)
                from grbp.numerics.inner import compile_loop_only  # noqa: PLC0415 (it imports Numba)

                called = name or function.__name__
                dispatcher._cache = KernelCache(fingerprint, called, level, before)
                compile_loop_only(dispatcher)
            return dispatcher

        templates = compiler.core.typing.templates
        _NUMBA.register(
            compiler.extending, templates,
            lambda kernel: {"forceinline": KERNELS[kernel], "no_cfunc_wrapper": True},
        )  # fmt: skip
        compiled: Callable[..., Any] = _NUMBA.find(fingerprint, make)
        return compiled


def is_kept(compiled: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    """Return whether a function need not be compiled for arguments of such types, or cannot be."""
    compiler, dispatcher = numba(), cast("Any", compiled)
    keeps = getattr(getattr(dispatcher, "_cache", None), "keeps", None)
    if compiler is None or keeps is None:
        return True
    return bool(keeps(tuple(map(compiler.typeof, arguments)), dispatcher.targetctx))


def compile_if_long(function: Callable[..., Any], seconds: float, name: str) -> Callable[..., Any]:
    """Return the function as it is while the interpreter would be done sooner than the compiler.

    The seconds are what it would take about; over all calls it has `ENOUGH` of them.
    """
    _SPENT[function] += seconds
    return function if _SPENT[function] <= ENOUGH else compile_function(function, name)


def reason(error: BaseException) -> str:
    """Return the line of a compiler's report that says what it minds: the innermost."""
    inner = re.split(r"Failed in (?:nopython|cuda) mode.*\n", str(error))[-1]
    return next((line.strip() for line in inner.splitlines() if line.strip()), type(error).__name__)
