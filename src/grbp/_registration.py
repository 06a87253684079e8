"""Makes `gymnasium.make("grbp/GamblersRuin-v0")` work after a plain `import grbp`.

Gymnasium finds an environment in its registry, so somebody has to write it there. Importing
Gymnasium to do so would make `import grbp` slow, and fail where it is not installed; asking
the user for a second import is easily forgotten. So the entry is written at once where the
registry is already loaded, and otherwise the moment Gymnasium loads it.
"""

import importlib
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ENV_ID = "grbp/GamblersRuin-v0"
"""The name under which Gymnasium makes the environment."""

_REGISTRY = "gymnasium.envs.registration"
"""The module waited for. `import gymnasium` runs it; a search for Gymnasium does not."""


def register_when_imported() -> None:
    """Nothing; the environment is registered now, or as soon as Gymnasium is imported."""
    if not _waiting():
        sys.meta_path.insert(0, _Finder())
    if sys.modules.get(_REGISTRY) is not None:
        # Another thread may still be at it, and this waits; if it fails, that thread is told.
        with suppress(Exception):
            _register(importlib.import_module(_REGISTRY))


def _register(registration: Any) -> None:
    """Nothing; writes the entry, unless it is there, and ends the waiting."""
    # A Gymnasium too old, or something else of that name: its import must go on undisturbed.
    with suppress(AttributeError, TypeError):
        spec = registration.EnvSpec(
            id=ENV_ID,
            entry_point="grbp.env:GamblersRuinEnv",
            vector_entry_point="grbp.env:GamblersRuinVectorEnv",
        )
        # Not `gymnasium.register`, which warns when two threads come here together.
        registration.registry.setdefault(ENV_ID, spec)
    for finder in _waiting():
        with suppress(ValueError):
            sys.meta_path.remove(finder)


def _waiting() -> list[Any]:
    """The finders of this module in sys.meta_path, also those from before a reload of it."""
    return [finder for finder in sys.meta_path if type(finder).__module__ == __name__]


class _Finder(MetaPathFinder):
    """Finds the registry as the other finders do, with a loader that registers afterwards."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _REGISTRY:
            return None
        ours = _waiting()
        # As the import system does, pass over a finder of the old kind, without find_spec.
        others = [f for f in sys.meta_path if f not in ours and hasattr(f, "find_spec")]
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """The loader it is given, in everything but that it registers after executing."""

    def __init__(self, real: Loader) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # From here on the module looks as if nobody had been waiting for it.
        module.__loader__ = self._real
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        self._real.exec_module(module)
        _register(module)
