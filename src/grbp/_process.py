"""Processes that run a module of this package beside this one."""

import os
import sys


def module_command(module: str) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs a module of this package, and the environment that it needs."""
    # The process finds this package where this one has found it.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return [sys.executable, "-P", "-m", module], environment
