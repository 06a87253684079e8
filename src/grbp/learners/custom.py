"""Learners that others wrote: found as `module:name`, and known by a digest of their source.

A stored result must not be found again after the learner that made it has changed. So the digest
covers the code of its functions and everything that they read: what their names stand for,
closures, defaults, and whatever is behind those. What is installed, such as NumPy, is known by
its name and version; this package has a digest of its own.
"""

import dis
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType, NoneType
from typing import Any, Final

from grbp.errors import InvalidInput
from grbp.learners.base import AnyLearner
from grbp.numerics.fingerprint import names_in

_PLAIN: Final = frozenset({bool, int, float, complex, str, bytes, NoneType, type(...)})
_SKIPPED: Final = frozenset(
    {"__dict__", "__weakref__", "__module__", "__doc__", "__annotations__", "__annotate_func__"}
    | {"__annotations_cache__", "__classdictcell__", "__firstlineno__", "__static_attributes__"}
)
"""What a class holds that says nothing about what it does."""


_STORED_NAMES: Final = {
    "grbp.learners.averaged_states": "grbp.learners.statewise.averaged",
    "grbp.learners.best_of_chain": "grbp.learners.statewise.best_of_chain",
    "grbp.learners.best_policy": "grbp.learners.statewise.solving",
    "grbp.learners.kl_ucb_states": "grbp.learners.statewise.kl_ucb",
    "grbp.learners.psrl": "grbp.learners.statewise.posterior_sampling",
    "grbp.learners.state_counters": "grbp.learners.statewise.counters",
    "grbp.learners.state_learner": "grbp.learners.statewise.base",
    "grbp.numerics.jit": "grbp._numba.jit",
    "grbp.worlds.chain": "grbp.theory.chain",
    "grbp.worlds.dynprog": "grbp.theory.dynprog",
    "grbp.worlds.dynprog_many": "grbp.theory.dynprog_many",
    "grbp.worlds.problem": "grbp.model.problem",
    "grbp.worlds.step_table": "grbp.model.steps",
    "grbp.worlds.transition": "grbp.model.transition",
}
"""The names that modules with public things had when digests were first stored."""


@dataclass(frozen=True, eq=False)
class CustomLearner:
    """A learner that others wrote, as a specification keeps it: a name and a digest.

    Attributes
    ----------
    name : str
    learner : Learner or None
        The learner; None in a specification that was read from a file, which keeps no code.
    """

    name: str
    learner: AnyLearner | None = field(default=None, repr=False)
    _stored: str = field(default="", repr=False)

    @property
    def digest(self) -> str:
        """The digest of its source and of everything that it reads now."""
        return self._stored if self.learner is None else digest_of(self.learner)

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CustomLearner):
            return NotImplemented
        return self.as_json() == other.as_json()

    def __hash__(self) -> int:
        return hash(self.name)

    def resolve(self) -> AnyLearner:
        """Return the learner, or refuse if only its name is known."""
        if self.learner is None:
            raise InvalidInput(
                f"the learner {self.name} was asked for; a file keeps its name and digest alone,"
                " so give the learner itself"
            )
        return self.learner

    def as_json(self) -> dict[str, str]:
        """Return the name and the digest as plain data."""
        return {"name": self.name, "digest": self.digest}


def import_learner(given: str, problem: object) -> AnyLearner:
    """Import the learner called `module:name`, or let the function of that name make it.

    The name may have dots. A function is called with the problem, or with its goal alone where
    nothing else is known.
    """
    module, _, name = given.partition(":")
    try:
        thing: Any = reduce(getattr, name.split("."), import_module(module))
        if callable(thing):
            thing = thing(problem)
    except Exception as error:
        raise InvalidInput(
            f"learner {given!r} was asked for; there is none of that name, and importing it"
            f" failed ({type(error).__name__}: {' '.join(str(error).split())})"
        ) from error
    if not isinstance(thing, AnyLearner):
        raise InvalidInput(
            f"learner {given!r} was asked for; it is a {type(thing).__name__}, and must be a"
            " grbp.Learner or a function that makes one for a problem"
        )
    return replace(thing, name=given)


def digest_of(learner: AnyLearner) -> str:
    """Digest the source of a learner and everything that it reads."""
    # Learners that forget nothing have the digest that they always had.
    memory = (learner.memory,) if learner.memory else ()
    return _digest(_Reader(learner).describe(learner.parts + memory))


def _digest(parts: Iterator[object]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(repr(part).encode("utf-8", "backslashreplace") + b"\0")
    return digest.hexdigest()


class _Reader:
    """One look at a learner: it yields plain values that differ if anything differs."""

    def __init__(self, learner: AnyLearner) -> None:
        self._name = learner.name
        self._package = str(getattr(learner.decide, "__module__", "")).partition(".")[0]
        self._met: dict[object, tuple[int, Any]] = {}  # It keeps alive what is known by address.

    def describe(self, thing: Any, names: frozenset[str] = frozenset()) -> Iterator[object]:
        """Describe a thing; names: what the function that reads it may ask a module for."""
        yield type(thing).__qualname__
        if type(thing) in _PLAIN:
            yield thing
        elif isinstance(thing, tuple):
            yield from self._describe_tuple(thing, names)
        elif isinstance(thing, frozenset | set):
            yield sorted(_digest(self.describe(item)) for item in thing)
        else:
            new = (id(thing), names) not in self._met
            number, _ = self._met.setdefault((id(thing), names), (len(self._met), thing))
            yield number
            if new:
                yield from self._describe_new(thing, names)

    def _describe_tuple(self, thing: tuple[Any, ...], names: frozenset[str]) -> Iterator[object]:
        if type(thing) is not tuple:
            yield from self.describe(type(thing))
        yield len(thing)
        for item in thing:
            yield from self.describe(item, names)

    def _describe_new(self, thing: Any, names: frozenset[str]) -> Iterator[object]:
        """Describe what has not been met before."""
        if isinstance(thing, ModuleType):
            yield from self._describe_module(thing, names)
        elif isinstance(thing, CodeType):
            yield from self._describe_code(thing)
        elif isinstance(thing, FunctionType):
            yield from self._describe_function(thing)
        elif isinstance(thing, type):
            yield from self._describe_class(thing)
        else:
            yield from self._describe_object(thing)

    def _describe_module(self, module: ModuleType, names: frozenset[str]) -> Iterator[object]:
        yield module.__name__
        if self._is_installed(module.__name__):
            yield _version(module.__name__)
            return
        for name in sorted(name for name in names if hasattr(module, name)):
            yield name
            yield from self.describe(getattr(module, name), names)

    def _describe_code(self, code: CodeType) -> Iterator[object]:
        """Describe code, but not in which file and line it stands."""
        yield code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        yield code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        yield from self.describe(code.co_consts)
        for step in dis.get_instructions(code):
            if step.opname == "IMPORT_NAME":
                yield from self.describe(import_module(step.argval), names_in(code))

    def _describe_function(self, function: FunctionType) -> Iterator[object]:
        names, scope = names_in(function.__code__), function.__globals__
        yield _stored_name(function.__module__), function.__qualname__
        for cell in function.__closure__ or ():
            if cell != CellType():  # which is empty
                yield from self.describe(cell.cell_contents, names)
        if self._is_installed(function.__module__):
            yield _version(function.__module__)
            return
        yield from self.describe(function.__code__)
        yield from self.describe((function.__defaults__, function.__kwdefaults__), names)
        for name in sorted(names & scope.keys()):
            yield name
            yield from self.describe(scope[name], names)

    def _describe_class(self, kind: type) -> Iterator[object]:
        yield _stored_name(kind.__module__), kind.__qualname__
        if self._is_installed(kind.__module__):
            yield _version(kind.__module__)
            return
        yield from self.describe(kind.__bases__)
        for name, value in sorted(vars(kind).items()):
            if name not in _SKIPPED:
                yield name
                yield from self.describe(value)

    def _describe_object(self, thing: Any) -> Iterator[object]:
        """Describe what a value is made of: what it wraps, or what a copy would be made from."""
        if isinstance(thing, property):
            yield from self.describe((thing.fget, thing.fset))
            return
        inside = [getattr(thing, name, None) for name in ("py_func", "__wrapped__", "__func__")]
        if any(part is not None for part in inside):
            yield from self.describe(tuple(inside))
            yield from self.describe(getattr(thing, "__self__", None))
            return
        try:
            made = thing.__reduce_ex__(4)
            parts = made if isinstance(made, str) else [_as_tuple(part) for part in made]
        except Exception as error:
            raise InvalidInput(
                f"the learner {self._name} was given; it reads a {type(thing).__qualname__}, and"
                " there is no way to tell whether that has changed, so its results cannot be"
                " stored; simulate stores none"
            ) from error
        yield from self.describe(type(thing))
        yield from self.describe(parts if isinstance(parts, str) else tuple(parts))

    def _is_installed(self, module: str | None) -> bool:
        """Return whether a module is Python's, this package's or installed: others digest it."""
        top = str(module).partition(".")[0]
        if top in sys.stdlib_module_names or top == __name__.partition(".")[0]:
            return True
        file = getattr(sys.modules.get(top), "__file__", None) or ""
        elsewhere = not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)
        return elsewhere and top != self._package


def _as_tuple(part: Any) -> Any:
    """Return what an iterator yields as a tuple, and anything else as it is."""
    return tuple(part) if isinstance(part, Iterator) else part


def _stored_name(module: str | None) -> str | None:
    """Return the name by which stored digests know a module of this package."""
    return _STORED_NAMES.get(str(module), module)


def _version(module: str | None) -> str:
    return str(getattr(sys.modules.get(str(module).partition(".")[0]), "__version__", ""))
