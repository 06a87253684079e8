"""Make machine code of whole loops only, not of each function that is copied into one.

Numba optimises every function that compiled code calls and makes machine code of it, though that
is never run: the loop that calls it has its own copy, and is optimised as a whole again. A loop of
ours calls about a hundred. So while one of ours is compiled, functions that no interpreter can
call wait as they are, until somebody asks for their address.

Imported only when Numba is there; all of this is the inside of Numba, which may change. `install`
says whether it fits; where it does not, Numba does as it always did.
"""

import gc
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, Final

_codegen: Any = import_module("numba.core.codegen")
_context: Any = import_module("numba.core.cpu").CPUContext
_find_environment: Any = import_module("numba.core.environment").lookup_environment
_make_function: Any = import_module("numba._dynfunc").make_function

_ENTRY: Final = "_ZN7cpython"
"""How the names begin of functions that the interpreter calls."""

_ENVIRONMENT: Final = "_ZN08NumbaEnv"
"""How the names begin of variables that hold what a function may need of Python."""

_compiling: list[Callable[..., Any]] = []
"""The loops of ours that are being compiled; Numba holds its lock meanwhile."""


class InnerLibrary(_codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of one function, of which machine code is made when it is asked for."""

    waits = False

    def finalize(self) -> None:
        """Link the code that it calls; make machine code only if the interpreter may call it."""
        defined = (f.name for f in self._final_module.functions if not f.is_declaration)
        self.waits = bool(_compiling) and not any(name.startswith(_ENTRY) for name in defined)
        super().finalize()

    def _optimize_final_module(self) -> None:
        if not self.waits:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if not self.waits:
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> Any:
        """Return the address of a function, whose machine code is made now if it was not."""
        self._ensure_finalized()
        if self.waits:
            self.waits = False
            self._get_module_for_linking()  # It stays what others link.
            self._optimize_final_module()
            self._finalize_final_module()
            _set_environments(self)
        return super().get_pointer_to_function(name)


def _get_executable(context: Any, library: Any, description: Any, environment: Any) -> Any:
    """Return what the interpreter calls; give all functions that were copied their environments."""
    library._ensure_finalized()
    name = description.qualname.split(".")[-1]
    if getattr(library, "waits", False):
        return _make_function(description.lookup_module(), name, "", 0, environment, (library,))
    executable = _usual_executable(context, library, description, environment)
    _set_environments(library)
    return executable


def _set_environments(library: Any) -> None:
    """Give each function that was copied into a library what it may need of Python."""
    for variable in library._final_module.global_variables:
        if variable.name.startswith(_ENVIRONMENT):
            known = _find_environment(variable.name)
            if known is not None:
                library.codegen.set_env(variable.name, known)


_usual_executable: Final = _context.get_executable


@cache
def install() -> bool:
    """Put this in the place of what Numba does, and return whether it fits this Numba."""
    parts = ("finalize", "_optimize_final_module", "_finalize_final_module", "_ensure_finalized",
             "_finalize_dynamic_globals", "_verify_declare_only_symbols",
             "_get_module_for_linking", "get_pointer_to_function")  # fmt: skip
    target = _codegen.JITCPUCodegen
    if target._library_class is not _codegen.JITCodeLibrary or not all(
        hasattr(_codegen.JITCodeLibrary, part) for part in parts
    ):
        return False
    target._library_class, _context.get_executable = InnerLibrary, _get_executable
    return True


def compile_loop_only(dispatcher: Any) -> None:
    """Let the functions that a dispatcher's one calls wait while it is compiled."""
    usual = dispatcher._compiler.compile

    def compile_whole(*signature: Any) -> Any:
        _compiling.append(usual)
        collects = gc.isenabled()
        gc.disable()  # A tenth of the time went into looking for what is not garbage yet.
        try:
            return usual(*signature)
        finally:
            _compiling.pop()
            if collects:
                gc.enable()

    with suppress(AttributeError):
        if install():
            dispatcher._compiler.compile = compile_whole
