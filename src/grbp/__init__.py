"""The gambler's ruin bandit problem: exact answers, learners, experiments, figures.

Every public name is loaded when it is first used (PEP 562), so that `import grbp` costs next to
nothing. The names, and the modules they come from, are listed once, in `__init__.pyi`. That is the
idea of `lazy_loader.attach_stub`, which does not load modules of a folder, such as `grbp.dynprog`.
The Gymnasium environment is `grbp.env`.
"""

import ast
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

__version__ = "0.1.0"


def _public_names() -> dict[str, str]:
    """Read the public names and their modules from the list of imports beside this file."""
    listed = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    return {
        alias.name: str(node.module)
        for node in listed
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


_MODULES = _public_names()
__all__ = sorted(_MODULES)  # noqa: PLE0605 (a list, made from the one list of names)


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module 'grbp' has no attribute {name!r}{_suggest(name)}")
    module = import_module(_MODULES[name])
    is_module = name not in vars(module)
    thing = import_module(f"{module.__name__}.{name}") if is_module else vars(module)[name]
    globals()[name] = thing = _guard(thing)
    return thing


def _guard(thing: Any) -> Any:
    """Let a public function refuse what it cannot be given; kernels are compiled as they are."""
    if not isinstance(thing, FunctionType):
        return thing
    from grbp._arguments import checked  # noqa: PLC0415 (`import grbp` costs next to nothing)
    from grbp.numerics.jit import KERNELS  # noqa: PLC0415

    guarded = thing if thing in KERNELS else checked(thing)
    if guarded is not thing:
        guarded.__module__ = __name__  # Whoever unpickles it finds it here.
    return guarded


def _suggest(name: str) -> str:
    """Say what may have been meant by a name that is not public."""
    if name == "solve":  # As the shell has it.
        return "; call grbp.summary(problem), or grbp.dynprog.solve(chain)"
    from grbp.errors import did_you_mean  # noqa: PLC0415 (only a mistake needs it)

    meant = "" if name.startswith("_") else did_you_mean(name, __all__)
    return f"; {meant}" if meant else ""


def __dir__() -> list[str]:
    """List every public name, loaded or not, and nothing else."""
    return [*__all__, "__version__"]
