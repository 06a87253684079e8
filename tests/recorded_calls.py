"""Run a command of the shell, and print which of some functions it called, in order.

    python recorded_calls.py STEPS COMMAND...

STEPS is a list of files and functions in JSON. A process of its own has nothing cached yet.
"""

import json
import sys
import threading
from contextlib import redirect_stdout
from pathlib import Path
from types import FrameType

import grbp
from grbp.cli import main

SOURCE = Path(grbp.__file__).parent


def is_importing(frame: FrameType | None) -> bool:
    """Whether a function is called while a module of the package is imported."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and str(SOURCE) in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def record_calls(wanted: list[list[str]], command: list[str]) -> list[list[str]]:
    """Run a command; return the functions in the order of their first calls after imports."""
    seen: list[list[str]] = []
    places = {(str(SOURCE / file), name): [file, name] for file, name in wanted}

    def record(frame: FrameType, event: str, _: object) -> None:
        call = places.get((frame.f_code.co_filename, frame.f_code.co_qualname))
        if event == "call" and call and call not in seen and not is_importing(frame):
            seen.append(call)

    threading.setprofile(record)
    sys.setprofile(record)
    with redirect_stdout(sys.stderr):
        status = main(command)
    sys.setprofile(None)
    if status:
        sys.exit(status)
    return seen


if __name__ == "__main__":
    sys.stdout.write(json.dumps(record_calls(json.loads(sys.argv[1]), sys.argv[2:])))
