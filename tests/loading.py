"""Which modules a piece of code loads."""

import subprocess
import sys


def loaded_by(code: str, *arguments: str) -> set[str]:
    """Run code in a fresh interpreter; return what it loads beyond what a bare one does here.

    The bare one has what this machine's `sitecustomize` and the files `*.pth` load.
    """
    return _loaded(code, *arguments) - _loaded("")


def others(modules: set[str]) -> set[str]:
    """Return the packages that are neither of the standard library nor private."""
    packages = {name.split(".")[0] for name in modules}
    return {name for name in packages - sys.stdlib_module_names if name[0] != "_"}


def _loaded(code: str, *arguments: str) -> set[str]:
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)", *arguments]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(said.splitlines()[-1].split())
