"""Processes that run a module of this package beside this one."""

import json
import logging
import os
import sys
import threading
import warnings
from typing import Any


def module_command(module: str) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs a module of this package, and the environment that it needs."""
    # The process finds this package where this one has found it.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return [sys.executable, "-P", "-m", module], environment


def read_request() -> Any:
    """Read what this process is to do: one line of JSON on standard input, and nothing to print.

    When standard input is closed, the process ends: whoever asked is gone.
    """
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    logging.getLogger("grbp").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    return request


def _end_with_input() -> None:
    """End this process when standard input is closed."""
    sys.stdin.read()
    os._exit(1)
