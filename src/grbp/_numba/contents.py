"""What compiled code is made from: a function, and everything that it reaches, by content.

Whatever has no content that can be told for certain is refused. Imported only when Numba is there.
"""

import builtins
import dis
import enum
import functools
import hashlib
import struct
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

# By name, since this much of the inside of Numba has no types, or other ones in each version.
_overload: Any = import_module("numba.extending").overload
_types: Any = import_module("numba.core.types")
_Compiler: Any = import_module("numba.core.compiler").Compiler
_NullCache: Any = import_module("numba.core.caching").NullCache
Dispatcher: Any = import_module("numba.core.dispatcher").Dispatcher

_LIBRARIES: Final = frozenset({"builtins", "math", "numpy"})
"""Whose functions and classes are what their names and versions say."""


class Unkeyed(Exception):
    """Something whose content cannot be told for certain."""


class Helper(NamedTuple):
    """What Numba makes the code of a function from, and the content it had when it did."""

    source: Callable[..., Any]
    seen: set[str]


HELPERS: dict[int, Helper] = {}
"""By the address of a function, what is compiled in its place."""


class Ours:
    """What a dispatcher's cache is, if it is one of this package's."""


def teach(function: Callable[..., Any], **options: Any) -> None:
    """Nothing; from now on compiled code may call the function, as after `register_jitable`."""

    def source(*_args: Any, **_named: Any) -> Callable[..., Any]:
        # Numba asks just before it compiles the function for some types.
        helper.seen.add(content_of(function))
        return function

    helper = HELPERS[id(function)] = Helper(function, set())
    _overload(function, jit_options=options, strict=False)(source)


def taught(function: Callable[..., Any], source: Callable[..., Any]) -> None:
    """Nothing; tells that an overload written by hand stands for the function."""
    HELPERS[id(function)] = Helper(source, set())


class Content:
    """A hash of everything met, and what of it must be looked after.

    classes   named tuples and enumerations: an entry refers to them by their place here, so
              that it comes back with the classes of the process that loads it
    helpers   functions and dispatchers that Numba compiles on their own
    """

    def __init__(self) -> None:
        self.classes: list[type] = []
        self.helpers: list[Any] = []
        self._hash = hashlib.sha256()
        # Also keeps alive what is known by its address.
        self._met: dict[int, tuple[int, object]] = {}

    def digest(self) -> str:
        """The hash so far."""
        return self._hash.hexdigest()

    def say(self, *parts: str | bytes) -> None:
        """Nothing; adds words, each with its length: no two texts run together alike."""
        for part in parts:
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            self._hash.update(struct.pack("<Q", len(data)) + data)

    def function(self, function: Any) -> None:
        """Nothing; adds a function with all that it reaches."""
        if self._again(function):
            return
        if not isinstance(function, FunctionType):
            raise Unkeyed(f"{function!r} has no source")
        if function.__module__ not in sys.modules:
            raise Unkeyed(f"{function!r} is of no module")
        if {"__wrapped__", "__signature__"} & set(vars(function)):
            raise Unkeyed(f"{function!r} takes other arguments than it says")
        self.say("function", function.__module__, function.__qualname__)
        self._code(function.__code__)
        self.value(function.__defaults__)
        for name, default in sorted((function.__kwdefaults__ or {}).items()):
            self.say("default", name)
            self.value(default)
        for name, thing in _reached(function):
            self.say("reaches", name)
            self.value(thing)

    def value(self, thing: Any) -> None:
        """Nothing; adds what a name stands for."""
        if isinstance(thing, enum.Enum):
            self._class(type(thing))
            self.say("member", thing.name)
        elif isinstance(thing, tuple):
            self._tuple(thing)
        elif isinstance(thing, np.ndarray | np.generic):
            self._array(thing)
        elif not self._plain(thing):
            self._thing(thing)

    def _plain(self, thing: Any) -> bool:
        """Whether it was a number, a text or nothing at all, and has been added."""
        kind = type(thing)
        if kind in (float, complex):
            # The bits: 0.0 and -0.0 are two numbers.
            self.say(kind.__name__, struct.pack("<dd", thing.real, thing.imag))
        elif kind in (int, bool):
            self.say(kind.__name__, format(int(thing), "x"))
        elif kind in (str, bytes):
            self.say(kind.__name__, thing)
        elif thing is None or thing is Ellipsis:
            self.say(str(thing))
        else:
            return False
        return True

    def _thing(self, thing: Any) -> None:
        if _is_of_a_library(thing):
            self.say("library", str(getattr(thing, "__module__", None)), thing.__name__)
        elif id(thing) in HELPERS:
            self.helpers.append(thing)
            self.say("helper")
            self.function(HELPERS[id(thing)].source)
        elif isinstance(thing, Dispatcher):
            self.helpers.append(thing)
            self.say("dispatcher")
            self.options(thing)
            if not thing._can_compile or not isinstance(thing._cache, Ours | _NullCache):
                raise Unkeyed("it comes with code of its own")
            self.function(thing.py_func)
        elif isinstance(thing, type):
            self._class(thing)
        else:
            # Also a plain function: if Numba takes it, someone has told Numba what to make of
            # it, and that we cannot see.
            raise Unkeyed(f"{thing!r} is not known by content")

    def options(self, dispatcher: Any) -> None:
        """Nothing; adds how a dispatcher compiles."""
        for name, option in sorted(dispatcher.targetoptions.items()):
            self.say(name)
            if not self._plain(option):
                raise Unkeyed(f"the option {name} is {option!r}")
        if dispatcher.locals or dispatcher._compiler.pipeline_class is not _Compiler:
            raise Unkeyed("it is compiled in a way of its own")

    def _again(self, thing: object) -> bool:
        """Whether it was met before; then it is added by its place."""
        before = id(thing) in self._met
        place, _ = self._met.setdefault(id(thing), (len(self._met), thing))
        self.say("place", str(place))
        return before

    def _code(self, code: CodeType) -> None:
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        self.say("code", code.co_name, code.co_code, code.co_exceptiontable, repr((names, counts)))
        self.say(str(len(code.co_consts)))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant)
            else:
                self.value(constant)

    def _tuple(self, thing: tuple[Any, ...]) -> None:
        self.say("tuple", str(len(thing)))
        if type(thing) is not tuple:
            self._class(type(thing))
        for item in thing:
            self.value(item)

    def _array(self, thing: Any) -> None:
        if type(thing) is not np.ndarray and not isinstance(thing, np.number | np.bool_):
            raise Unkeyed(f"a {type(thing).__name__}")
        if thing.dtype.kind not in "biufc":
            raise Unkeyed(f"an array of {thing.dtype}")
        flags = (thing.shape, thing.strides, thing.flags.writeable, thing.flags.aligned)
        self.say(type(thing).__name__, thing.dtype.str, repr(flags), thing.tobytes())

    def _class(self, kind: type) -> None:
        if self._again(kind):
            return
        self.say("class", kind.__module__, kind.__qualname__)
        self.classes.append(kind)
        if kind.__bases__ == (tuple,) and hasattr(kind, "_fields"):
            defaults = getattr(kind, "_field_defaults", {})
            for name in kind._fields:
                self.say(name, str(name in defaults))
                self.value(defaults.get(name))
        elif issubclass(kind, enum.Enum):
            self.say(str(issubclass(kind, int)))
            for name, member in kind.__members__.items():
                self.say(name)
                self.value(member.value)
        else:
            raise Unkeyed(f"the class {kind!r}")

    def type(self, kind: Any) -> None:
        """Nothing; adds a type of Numba's."""
        self.say("type", type(kind).__name__)
        if isinstance(kind, _types.BaseTuple):
            self.say(str(len(kind)))
            if hasattr(kind, "instance_class"):
                self._class(kind.instance_class)
            for inner in kind:
                self.type(inner)
        elif type(kind) is _types.Array:
            self.say(repr((kind.ndim, kind.layout, kind.mutable, kind.aligned)))
            self.type(kind.dtype)
        elif isinstance(kind, _types.EnumMember):
            self._class(kind.instance_class)
            self.type(kind.dtype)
        elif isinstance(kind, _types.Omitted):
            self.value(kind.value)
        elif isinstance(kind, _types.Literal):
            self.value(kind.literal_value)
        elif type(kind) in (
            *(_types.Integer, _types.Float, _types.Complex, _types.Boolean),
            *(_types.NoneType, _types.UnicodeType),
        ):
            self.say(str(kind))
        else:
            raise Unkeyed(f"the type {kind}")


def content_of(function: Callable[..., Any]) -> str:
    """A hash of a function with all that it reaches; the empty string if it has none."""
    content = Content()
    try:
        content.function(function)
    except Exception:
        # Whatever went wrong, Numba is in the middle of compiling, and goes on.
        return ""
    return content.digest()


def _reached(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function finds outside itself: (name, thing)."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    enclosed = {name: _contents(cell) for name, cell in cells}
    for name, thing in enclosed.items():
        if not isinstance(thing, ModuleType):
            yield name, thing
    for is_global, name, attributes in _references(function.__code__):
        if is_global:
            known = vars(builtins) if name not in function.__globals__ else function.__globals__
        else:
            # Any other than a module has been told; and some are local to the function.
            known = {n: thing for n, thing in enclosed.items() if isinstance(thing, ModuleType)}
        if name in known:
            yield ".".join((name, *attributes)), _asked_of(known[name], attributes)
        elif is_global:
            raise Unkeyed(f"{name} is not there yet")


def _asked_of(thing: Any, attributes: tuple[str, ...]) -> Any:
    """The thing itself; of a module, what is asked of it by name."""
    for name in attributes:
        if isinstance(thing, ModuleType):
            thing = getattr(thing, name)
    return thing


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError as error:
        raise Unkeyed("a name is not there yet") from error


@functools.cache
def _references(code: CodeType) -> tuple[tuple[bool, str, tuple[str, ...]], ...]:
    """The names that code looks up outside: (global?, name, attributes asked of it at once)."""
    found: list[tuple[bool, str, tuple[str, ...]]] = []
    asking = False
    for step in dis.get_instructions(code):
        if step.opname == "EXTENDED_ARG":
            continue
        if step.opname in ("LOAD_GLOBAL", "LOAD_DEREF"):
            found.append((step.opname == "LOAD_GLOBAL", step.argval, ()))
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if asking:
                is_global, name, before = found[-1]
                found[-1] = is_global, name, (*before, step.argval)
            continue
        elif step.opcode in dis.hasname and step.opname != "STORE_ATTR":
            raise Unkeyed(f"{code.co_name} does {step.opname}")
        asking = step.opname in ("LOAD_GLOBAL", "LOAD_DEREF")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += _references(constant)
    return tuple(found)


def _is_of_a_library(thing: Any) -> bool:
    """Whether it is what a library has under its name."""
    # Of older versions of NumPy, such a function does not say where it belongs.
    unsaid = "numpy" if isinstance(thing, np.ufunc) else None
    module, name = getattr(thing, "__module__", unsaid), getattr(thing, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return False
    return module.split(".")[0] in _LIBRARIES and is_importable(thing, module, name)


def is_importable(thing: Any, module: str, name: str) -> bool:
    """Whether it is what a module has under a name."""
    return getattr(sys.modules.get(module), name, None) is thing
