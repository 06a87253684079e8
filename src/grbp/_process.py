"""Processes that run a module of this package beside this one, and what they are asked.

The request is one line of JSON on standard input, where no list of processes shows it. What is
answered are lines of JSON on standard output.
"""

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
    """Return what this process is asked, and end it when standard input is closed: nobody waits."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    logging.getLogger("grbp").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    return request


def _end_with_input() -> None:
    """End this process when standard input is closed."""
    sys.stdin.read()
    os._exit(1)


def write_answer(**answer: Any) -> None:
    """Write a line of what this process answers."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
