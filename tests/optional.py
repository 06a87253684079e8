"""Parts that not every machine has: the tests without them are left out, with one sentence each."""

import re
from importlib import import_module
from typing import Any, Final

import pytest

INSTALL: Final = ".venv/bin/pip install"


def optional(module: str, package: str = "") -> Any:
    """Load a module; if it is absent or broken, leave out the tests that need it."""
    try:
        return import_module(module)
    except (ImportError, OSError) as error:
        package = package or module.partition(".")[0]
        name = error.name if isinstance(error, ModuleNotFoundError) else None
        if name and f"{module}.".startswith(f"{name}."):
            why = f"is not installed; get it with: {INSTALL} {package}"
        else:
            why = why_broken(error, f"{INSTALL} --force-reinstall {package}")
        pytest.skip(f"tests with {package}: it {why}", allow_module_level=True)


def why_broken(error: Exception, again: str) -> str:
    """Say which part is missing, and how to get it; if nobody knows, how to get all of it again."""
    if library := re.search(r"(lib[^\s:]+): cannot open shared object file", str(error)):
        get = f"on Debian and Ubuntu, get that with: apt-get install {debian_package(library[1])}"
        return f"cannot be loaded ({library[1]} is missing); {get}"
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if name and "." not in name:
        return f"cannot be loaded ({name} is missing); get that with: {INSTALL} {name}"
    said = str(error).strip().partition("\n")[0]
    return f"cannot be loaded ({said}); get it anew with: {again}"


def debian_package(library: str) -> str:
    """Return the package of a shared library, which Debian names after its name and number."""
    name, _, number = library.lower().partition(".so")
    number = number.lstrip(".").partition(".")[0]
    return f"{name}-{number}" if number and name[-1].isdigit() else f"{name}{number}"
