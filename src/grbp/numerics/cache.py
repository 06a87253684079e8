"""Compiled code of this package, kept for the next process.

Numba's own cache knows a function by its own file, so it misses an edit to what the function
calls in another one. Here an entry is named by a digest of everything that goes into the code:
every source file that kernels can be made from; the versions, the machine and the settings of
the compiler; the types of the arguments; and the function with what its closures hold. Code that
others wrote is not kept: nobody can tell for certain what they have identity Numba about it.

Imported only when Numba is there. Some of this is the inside of Numba, which may change: any
failure means that a function is compiled as if there were no cache.
"""

import functools
import itertools
import logging
import os
import pickle
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from grbp._io import write_whole
from grbp.numerics.fingerprint import SOURCES, Fingerprint, is_own
from grbp.numerics.jit import STARTED

# By name, since the inside of Numba has no types, or other ones in each version.
_numba: Any = import_module("numba")
_llvmlite: Any = import_module("llvmlite")

MOST: Final = 200
"""Entries that are kept; beyond them the one not used for longest goes."""

_SOURCE: Final = Path(__file__).parent.parent
_LOG: Final = logging.getLogger("grbp")
_NOT_CODE: Final = ("NUM_THREADS", "CACHE", "CUDA", "COLOR", "HELP")
"""Parts of the names of settings that change no code, and may differ between two starts."""


def _number_symbols_apart() -> None:
    """Make Numba give functions other symbols than it gives to any in another process.

    It numbers them from 1 in every process, so that two entries could run each other's code.
    """
    identity = _numba.core.bytecode.FunctionIdentity
    identity._unique_ids = itertools.count(next(identity._unique_ids) + secrets.randbits(62))


_number_symbols_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_symbols_apart)


class KernelCache(_numba.core.caching.NullCache):  # type: ignore[misc]
    """Answer a dispatcher that asks before it compiles, and keep what it has compiled.

    Numba holds its lock during both, so they need none of their own. Its `FunctionCache` is no
    base for this: it writes for everybody to read, two processes that write at once can give one
    function the code of another, and it loads all of Numba before it loads an entry.
    """

    def __init__(
        self,
        fingerprint: Fingerprint,
        name: str,
        level: int,
        before: Callable[[], None] | None = None,
    ) -> None:
        self._fingerprint, self._name, self._level = fingerprint, name, level
        self._before = before

    def keeps(self, sig: Any, target_context: Any) -> bool:
        """Return whether there is code for a signature, or there never will be."""
        try:
            return self._path(sig, target_context).exists()
        except Exception:
            return True

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature; or None, and say that it is being compiled."""
        promise = ""
        if self._before is not None and not self.keeps(sig, target_context):
            self._before()
        try:
            path = self._path(sig, target_context)
            promise = ", once; the next start finds it"
            needed, code = _read_entry(path)
            _numba.core.runtime.rtsys.initialize(target_context)
            if not all(map(_llvmlite.binding.address_of_symbol, needed)):
                # Numba loads the rest of itself, which takes a while.
                target_context.refresh()
            return _numba.core.compiler.CompileResult._rebuild(target_context, *code)
        except Exception as error:
            _LOG.debug("%s is not loaded: %s", self._name, error)
        _LOG.log(self._level, "compiling %s for grbp's engine, some seconds%s", self._name, promise)
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep the code for a signature, unless it is bound to this process."""
        with suppress(Exception):
            if cres.lifted or cres.reload_init or cres.library.has_dynamic_globals:
                return
            path, module = self._path(sig, cres.target_context), cres.library._final_module
            symbols = (s for s in (*module.functions, *module.global_variables) if s.is_declaration)
            needed = [symbol.name for symbol in symbols if not symbol.name.startswith("llvm.")]
            _write_entry(path, _numba.core.serialize.dumps((needed, cres._reduce())))

    def _path(self, sig: Any, context: Any) -> Path:
        """Return where the code for a signature is kept; raise an error where it is not."""
        place, (args, _) = cache_folder(), _numba.core.sigutils.normalize_signature(sig)
        files = _source_files()
        edited = max(file.stat().st_ctime_ns for file in files) > STARTED
        if edited or place is None or not self._fingerprint.own:
            raise LookupError("there is no folder, others wrote some of it, or it was edited since")
        key, described = self._fingerprint.key, [_describe_type(kind) for kind in args]
        identity = repr((key, described, _source_digest(*files), _describe_compiler(context)))
        return place / f"{sha256(identity.encode()).hexdigest()}.code"


def _describe_type(kind: Any) -> tuple[Any, ...]:
    """Return all about the type of an argument, if its classes are of this package."""
    named = getattr(kind, "instance_class", Fingerprint)
    if not is_own(named):
        raise LookupError(f"others wrote {named}")
    return str(kind), repr(named), [_describe_type(inner) for inner in getattr(kind, "types", ())]


def _describe_compiler(context: Any) -> list[Any]:
    """Return all that the same source may be compiled differently for."""
    settings = sorted(vars(_numba.core.config).items())
    relevant = (s for s in settings if s[0].isupper() and not any(w in s[0] for w in _NOT_CODE))
    versions = (part.__version__ for part in (np, _numba, _llvmlite))
    return [context.codegen().magic_tuple(), sys.version, sys.flags.optimize, *versions, *relevant]


def _source_files() -> list[Path]:
    """Return the source files that kernels can be made from."""
    places = [_SOURCE.joinpath(*part.split(".")) for part in SOURCES]
    return sorted(f for p in places for f in [*p.rglob("*.py")] or [p.with_suffix(".py")])


@functools.cache
def _source_digest(*files: Path) -> str:
    """Return a digest of source files."""
    content = [(str(file.relative_to(_SOURCE)), file.read_bytes()) for file in files]
    return sha256(repr(content).encode()).hexdigest()


def _read_entry(path: Path) -> Any:
    """Return what an entry holds; raise an error if it is damaged, or may be another's."""
    with path.open("rb") as file:
        status, seal, data = os.fstat(file.fileno()), file.read(32), file.read()
    if not _is_private(status) or seal != sha256(path.name.encode() + data).digest():
        raise LookupError("it is damaged, or others may have written it")
    os.utime(path)
    return pickle.loads(data)  # noqa: S301 (nobody else can have written it)


def _write_entry(path: Path, data: bytes) -> None:
    """Write an entry; the oldest ones go, and so do the drafts of processes that were killed."""
    write_whole(path, sha256(path.name.encode() + data).digest() + data, mode=0o600)
    files = [*path.parent.glob("*.code"), *path.parent.glob(".grbp-*")]
    for old in sorted(files, key=lambda file: file.stat().st_mtime)[:-MOST]:
        old.unlink(missing_ok=True)


def cache_folder() -> Path | None:
    """Return the folder of the entries, ready to be written to; None where that cannot be."""
    usual = _numba.misc.appdirs.user_cache_dir(str(Path("grbp", "compiled")), appauthor=False)
    given = os.environ.get("GRBP_CACHE_DIR", usual)
    with suppress(OSError, RuntimeError):
        place = Path(given).expanduser().resolve()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if given and _is_private(place.stat()) and os.access(place, os.W_OK | os.X_OK):
            return place
    return None


def _is_private(status: os.stat_result) -> bool:
    """Return whether nobody else may have written it: what is in an entry is run."""
    user = getattr(os, "geteuid", lambda: None)()
    return user is None or (status.st_uid == user and not status.st_mode & 0o022)
