"""Tell what compiled code is made from: a function, and everything that it reads.

Numba takes what a function reads from outside (globals, closure cells, defaults) for constants
and never looks again; so we look, each time that code is asked for.
"""

import pickle
from collections.abc import Callable, Container
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType, NoneType
from typing import Any, Final

SOURCES: Final = (
    "_arguments",
    "_display",
    "_format",
    "_io",
    "_process",
    "engine",
    "errors",
    "learners",
    "numerics",
    "planning.confidence",
    "planning.trial_simulation",
    "theory",
    "worlds",
)
"""The parts of this package that have kernels, and all that these import: a test holds it to that.

Code is kept for the next process only if nothing else went into it."""

_PLAIN: Final = frozenset({bool, int, float, complex, str, bytes, NoneType})


class Fingerprint:
    """One look at a function, given all kernels.

    This package does not change while it runs, so its functions are known by name, with what
    their closures hold. What others wrote is known by its code, and by all that its names stand
    for now. What is known by its address is kept alive here.

    key   equal for the same code
    own   whether nothing was met but this package and plain values: then other processes agree
    """

    def __init__(self, function: Callable[..., Any], kernels: Container[Any]) -> None:
        self.own, self._kernels = True, kernels
        self._content: list[Any] = []
        self._met: dict[tuple[int, frozenset[str]], tuple[int, Any]] = {}
        self._add(function)
        self.key = tuple(self._content)

    def _add(self, thing: Any, names: frozenset[str] = frozenset()) -> None:
        """Add a thing; names: what the function that reads it may ask a module for."""
        here = len(self._content)
        place, _ = self._met.setdefault((id(thing), names), (here, thing))
        if type(thing) in _PLAIN:
            self._content.append((type(thing).__name__, repr(thing)))
        elif place < here:
            self._content.append(place)
        elif isinstance(thing, FunctionType):
            self._add_function(thing)
        elif type(thing) is tuple:
            for item in (len(thing), *thing):
                self._add(item)
        elif hasattr(thing, "py_func"):
            self._content.append(repr(sorted(thing.targetoptions.items())))
            self._add(thing.py_func)
        else:
            self._add_foreign(thing, names)

    def _add_function(self, function: FunctionType) -> None:
        code, scope, names = function.__code__, function.__globals__, names_in(function.__code__)
        self._content += function.__module__, function.__qualname__, code.co_firstlineno
        for cell in function.__closure__ or ():
            with suppress(ValueError):  # It is empty.
                self._add(cell.cell_contents, names)
        if not is_own(function):
            self.own = False
            self._content += code, function in self._kernels
            self._add(function.__defaults__)
            for name in sorted(names & scope.keys()):
                self._content.append(name)
                self._add(scope[name], names)

    def _add_foreign(self, thing: Any, names: frozenset[str]) -> None:
        """Add what is known by its address, and by what it holds now."""
        self.own = False
        self._content.append(id(thing))
        if isinstance(thing, ModuleType):
            for name in sorted(name for name in names if hasattr(thing, name)):
                self._content.append(name)
                self._add(getattr(thing, name), names)
        elif not callable(thing):
            try:
                self._content.append(pickle.dumps(thing))
            except Exception:
                # Nobody knows what it holds, so no other key equals this one.
                self._content.append(object())


def is_own(thing: Any) -> bool:
    """Return whether a function or a class is of the parts of this package that have kernels."""
    package = __name__.partition(".")[0]
    return any(f"{thing.__module__}.".startswith(f"{package}.{part}.") for part in SOURCES)


def names_in(code: CodeType) -> frozenset[str]:
    """Return the names that code may look up outside itself."""
    inner = (names_in(part) for part in code.co_consts if isinstance(part, CodeType))
    return frozenset(code.co_names).union(*inner)
