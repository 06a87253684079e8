"""Compiled code that survives the process, under a name that says all it was made from.

Numba's own cache knows a function by its own file, so it misses an edit to what the function
calls in another one. Here an entry is named by the hash of everything that goes into the code:
every source file of this package; the versions, the machine and the settings of the compiler;
the types of the arguments; and the function itself with all that it reaches, by content.
Whatever has no content that can be told for certain is compiled and not kept.

The rest guards against code being kept under a name that is not its own. Numba holds on to
what it compiled from a helper when a number that the helper reads has changed since; so what
each helper was compiled from is remembered, and a mixture is not kept. And Numba numbers its
symbols from 1 in every process; so here they start at a random number, or two entries loaded
together could run each other's code.

Imported only when Numba is there. Much of this is the inside of Numba, which may change: any
failure means that the function is compiled as if there were no cache.
"""

import functools
import hashlib
import io
import itertools
import logging
import os
import pickle
import platform
import re
import secrets
import stat
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import FunctionType
from typing import Any, Final, NamedTuple

import numpy as np

from grbp._io import write_whole
from grbp._numba.contents import (
    HELPERS,
    Content,
    Dispatcher,
    Ours,
    Unkeyed,
    content_of,
    is_importable,
    teach,
)

# By name, since this much of the inside of Numba has no types, or other ones in each version.
_numba: Any = import_module("numba")
_llvmlite: Any = import_module("llvmlite")
_llvm: Any = import_module("llvmlite.binding")
_config: Any = import_module("numba.core.config")
_normalize: Any = import_module("numba.core.sigutils").normalize_signature
_runtime: Any = import_module("numba.core.runtime").rtsys
_CompileResult: Any = import_module("numba.core.compiler").CompileResult
_FunctionIdentity: Any = import_module("numba.core.bytecode").FunctionIdentity
_NumbaPickler: Any = import_module("numba.core.serialize").NumbaPickler

MOST: Final = 200
"""Entries that are kept; beyond them the one not used for longest goes."""

FOLDER: Final = "GRBP_CACHE_DIR"
"""The environment variable that says where; the empty string: nowhere."""

_SUFFIX: Final = ".code"
_LOG: Final = logging.getLogger("grbp")
_FIRST_NUMBER: Final = 2**63
_NUMBERED: Final = re.compile(r"B2[01]v[0-9]{19,20}")
"""How a symbol looks that Numba numbered from our random start."""

_INTERNAL: Final = (_llvm.Linkage.internal, _llvm.Linkage.private)
_NOT_CODE: Final = re.compile(r".*NUM_THREADS|CACHE_.*|DEBUG_CACHE|CUDA_.*|COLOR_SCHEME|SHOW_HELP")
"""Settings of Numba that change no code, and may well differ from one start to the next."""


_LOADED: dict[str, Any] = {}
"""By key, what this process has: nothing is loaded twice, for its symbols would clash."""


def learn(function: Callable[..., Any], copied: bool) -> None:
    """Nothing; compiled code may call the function from now on, and is known to."""
    teach(function, forceinline=copied)


def attach(dispatcher: Any, name: str) -> None:
    """Nothing; gives a dispatcher our cache, and a name to be spoken of by."""
    # With NUMBA_DISABLE_JIT it is the function itself.
    if isinstance(dispatcher, Dispatcher):
        with suppress(Exception):
            dispatcher._cache = Cache(dispatcher, name)


def _number_apart() -> None:
    """Nothing; no other process gives a function the same symbol from now on."""
    # One that numbers otherwise fails here, and there is no cache.
    next(_FunctionIdentity._unique_ids)
    first = _FIRST_NUMBER + secrets.randbelow(_FIRST_NUMBER // 2)
    _FunctionIdentity._unique_ids = itertools.count(first)


_number_apart()
if hasattr(os, "register_at_fork"):
    # Or the child would go on counting where the parent does.
    os.register_at_fork(after_in_child=_number_apart)


class _Plan(NamedTuple):
    """What an entry is called and where it goes, and what the function reaches."""

    key: str
    path: Path
    content: Content


class Cache(Ours):
    """What a dispatcher asks before it compiles, and tells when it has.

    Numba holds its lock during both, so they need none of their own.

    seen   the content of the function, each time that it was compiled or loaded
    """

    def __init__(self, dispatcher: Any, name: str) -> None:
        self.seen: set[str] = set()
        self._dispatcher = weakref.proxy(dispatcher)
        self._name = name
        self._plans: dict[tuple[Any, ...], _Plan] = {}

    @property
    def cache_path(self) -> str:
        """The folder of the entries, for Numba's statistics."""
        return str(folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature; None if it must be compiled, which is then announced."""
        promise = ""
        try:
            args, plan = self._plan(sig, target_context)
            if plan is not None:
                code = _load(plan, args, target_context)
                if code is not None:
                    return code
                if not _is_mixed(plan.content.helpers, before=True):
                    self._plans[args] = plan
                    promise = " for this machine, once; the next start finds it"
        except Exception as error:
            _LOG.debug("%s is not looked up: %s", self._name, error)
        _LOG.info("compiling %s%s", self._name, promise)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Nothing; keeps the code for a signature, if it is what its key says."""
        try:
            args, after = self._plan(sig, data.target_context)
            before = self._plans.pop(args, None)
            if before is not None and after is not None and before.key == after.key:
                _save(after, data)
        except Exception as error:
            _LOG.debug("%s is not kept: %s", self._name, error)

    def _plan(self, sig: Any, context: Any) -> tuple[tuple[Any, ...], _Plan | None]:
        """The types of the arguments, and how to keep the code for them, if it can be kept."""
        args, return_type = _normalize(sig)
        content, place = Content(), folder()
        try:
            content.function(self._dispatcher.py_func)
            self.seen.add(content.digest())
        except Exception:
            self.seen.add("")
            raise
        if place is None:
            return tuple(args), None
        content.options(self._dispatcher)
        for kind in args:
            content.type(kind)
        content.say("returns")
        if return_type is not None:
            content.type(return_type)
        content.say(_package(), *_surroundings(context))
        key = content.digest()
        return tuple(args), _Plan(key, place / (key + _SUFFIX), content)

    def flush(self) -> None:
        """Nothing to throw away: what changed has another key."""
        self.seen.clear()


def _is_mixed(helpers: list[Any], *, before: bool) -> bool:
    """Whether Numba may use for some helper what it compiled from other content."""
    for helper in helpers:
        if id(helper) in HELPERS:
            source, seen = HELPERS[id(helper)]
            changed = bool(seen - {content_of(source)})
        elif isinstance(helper._cache, Cache):
            changed = bool(helper._cache.seen - {content_of(helper.py_func)})
        else:
            # Not one of ours: who knows when it was compiled.
            changed = before and bool(helper.overloads)
        if changed:
            return True
    return False


def _save(plan: _Plan, code: Any) -> None:
    """Nothing; writes an entry, unless the code would not be the same elsewhere."""
    if code.objectmode or code.lifted or code.reload_init or code.library.has_dynamic_globals:
        raise Unkeyed("it is bound to this process")
    if _is_mixed(plan.content.helpers, before=False):
        raise Unkeyed("it is a mixture")
    answer = Content()
    answer.type(code.signature.return_type)
    if not all(_has_an_address(kind) for kind in answer.classes):
        raise Unkeyed("it returns what only this process knows")
    needed = _needed(code.library)
    if not _are_there(needed):
        raise Unkeyed("it needs what cannot be found by name")
    buffer = io.BytesIO()
    _Pickler(buffer, plan.content.classes).dump((needed, code._reduce()))
    payload = buffer.getvalue()
    write_whole(plan.path, _seal(plan.key, payload) + payload)
    # As if loaded: without the times that compiling took, which Numba adds to only once.
    _LOADED[plan.key] = code._replace(metadata=None)
    _prune(plan.path.parent)


def _load(plan: _Plan, args: tuple[Any, ...], context: Any) -> Any:
    """The code that was kept under a key; None if there is none, or none that can be used."""
    code = _LOADED.get(plan.key)
    try:
        if code is None:
            code = _LOADED[plan.key] = _read(plan, context)
        else:
            # Each dispatcher takes its entry point along when it goes.
            entry = context.get_executable(code.library, code.fndesc, code.environment)
            code = code._replace(entry_point=entry)
    except FileNotFoundError:
        return None
    except Exception as error:
        _LOG.debug("%s is not used: %s", plan.path, error)
        return None
    return code if tuple(code.signature.args) == args else None


def _read(plan: _Plan, context: Any) -> Any:
    """The code in an entry, ready to run."""
    with plan.path.open("rb") as file:
        seal, payload = file.read(hashlib.sha256().digest_size), file.read()
        if not _is_ours(os.fstat(file.fileno())) or seal != _seal(plan.key, payload):
            raise Unkeyed("it is damaged, or not ours")
    needed, state = _Unpickler(io.BytesIO(payload), plan.content.classes).load()
    _runtime.initialize(context)
    if not _are_there(needed):
        # Numba loads the rest of itself, which takes a while.
        context.refresh()
        if not _are_there(needed):
            raise Unkeyed("it needs what cannot be found by name")
    code = _CompileResult._rebuild(context, *state)
    with suppress(OSError):
        os.utime(plan.path)
    return code


def _seal(key: str, payload: bytes) -> bytes:
    """What stands before an entry: damaged or misnamed, it would not fit."""
    return hashlib.sha256(key.encode() + payload).digest()


def _needed(library: Any) -> list[str]:
    """The symbols that code takes from outside; its own must be numbered apart, all of them."""
    module, needed = library._final_module, []
    for symbol in itertools.chain(module.functions, module.global_variables):
        if symbol.is_declaration:
            if not symbol.name.startswith("llvm."):
                needed.append(symbol.name)
        elif not (
            symbol.linkage in _INTERNAL
            or symbol.name.startswith("NRT_")
            or _NUMBERED.search(symbol.name)
        ):
            raise Unkeyed(f"the symbol {symbol.name} may have a namesake")
    return needed


def _are_there(symbols: list[str]) -> bool:
    return all(_llvm.address_of_symbol(name) for name in symbols)


def _has_an_address(thing: Any) -> bool:
    """Whether another process finds it by its name."""
    module, name = thing.__module__, thing.__qualname__
    return module != "__main__" and is_importable(thing, module, name)


class _Pickler(_NumbaPickler):  # type: ignore[misc]
    """Numba's, which refers to classes by their place, and copies no class and no function."""

    def __init__(self, file: io.BytesIO, classes: list[type]) -> None:
        super().__init__(file, protocol=4)
        self._places = {id(kind): place for place, kind in enumerate(classes)}

    def persistent_id(self, thing: Any) -> int | None:
        """The place of a class among those that the function reaches."""
        return self._places.get(id(thing))

    def reducer_override(self, thing: Any) -> Any:
        """As Numba does it."""
        if isinstance(thing, type | FunctionType) and not _has_an_address(thing):
            raise pickle.PicklingError(f"{thing!r} cannot be found by name")
        return super().reducer_override(thing)


class _Unpickler(pickle.Unpickler):
    """The other way round."""

    def __init__(self, file: io.BytesIO, classes: list[type]) -> None:
        super().__init__(file)
        self._classes = classes

    def persistent_load(self, place: int) -> type:
        """The class at a place."""
        return self._classes[place]


@functools.cache
def _package() -> str:
    """A hash of every source file of this package."""
    content = Content()
    root = Path(__file__).parent.parent
    for path in sorted(root.rglob("*.py")):
        content.say(path.relative_to(root).as_posix(), path.read_bytes())
    return content.digest()


def _surroundings(context: Any) -> Iterator[str]:
    """All that the same source may be compiled differently for."""
    _config.reload_config()
    yield from (sys.version, sys.platform, platform.machine(), np.__version__, _numba.__version__)
    yield from (_llvmlite.__version__, repr(_llvm.llvm_version_info))
    yield repr(context.codegen().magic_tuple())
    for point in entry_points(group="numba_extensions"):
        yield f"{point} {point.dist and point.dist.version}"
    for name, setting in sorted(vars(_config).items()):
        if name.isupper() and not _NOT_CODE.fullmatch(name):
            yield f"{name}={setting!r}"


def folder() -> Path | None:
    """Where entries are kept, ready to be written to; None where that cannot be."""
    given = os.environ.get(FOLDER)
    if given == "":
        return None
    try:
        place = Path(given).expanduser() if given else _user_folder() / "grbp" / "compiled"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        fit = _is_ours(place.stat()) and os.access(place, os.W_OK | os.X_OK)
    except (OSError, RuntimeError):
        return None
    return place if fit else None


def _user_folder() -> Path:
    """Where this system wants caches."""
    if sys.platform == "win32":
        given, usual = "LOCALAPPDATA", Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        given, usual = "", Path.home() / "Library" / "Caches"
    else:
        given, usual = "XDG_CACHE_HOME", Path.home() / ".cache"
    place = Path(os.environ.get(given, ""))
    return place if place.is_absolute() else usual


def _is_ours(status: os.stat_result) -> bool:
    """Whether nobody else may have written it: what is in an entry is run."""
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & stat.S_IWOTH


def _prune(place: Path) -> None:
    """Nothing; the entries not used for longest go."""
    used = []
    for path in place.glob("*" + _SUFFIX):
        with suppress(OSError):
            used.append((path.stat().st_mtime, path))
    for _, path in sorted(used)[:-MOST]:
        with suppress(OSError):
            path.unlink()
