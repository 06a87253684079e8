"""Count the functions, and the files, that requests of the live advisor walk.

    python walked.py shell|server

It prints a JSON object: for each request how many functions of the package were called, and in how
many files. A process of its own has nothing cached yet.
"""

import json
import sys
import threading
from contextlib import redirect_stdout
from pathlib import Path
from types import FrameType

from recorded_calls import SOURCE, is_importing

from grbp.cli import main


class Walked:
    """The functions that were called, while somebody records."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str]] = set()
        self.counted: dict[str, tuple[int, int]] = {}
        threading.setprofile(self._record)

    def _record(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Functions without a name are parts of others, and which there are depends on Python.
        if (
            event == "call"
            and code.co_filename.startswith(str(SOURCE))
            and "<" not in code.co_name
            and (code.co_filename, code.co_qualname) not in self.seen
            and not is_importing(frame)
        ):
            self.seen.add((code.co_filename, code.co_qualname))

    def begin(self) -> None:
        """Record what is called from now on, here and in threads."""
        self.seen.clear()
        sys.setprofile(self._record)

    def end(self, name: str) -> None:
        """Count what was called; of several times, that when nothing else was done meanwhile."""
        sys.setprofile(None)
        found = len(self.seen), len({file for file, _ in self.seen})
        self.counted[name] = min(found, self.counted.get(name, found))


def walk_shell(walked: Walked) -> None:
    """Tell a step at the shell; the study was made by another process."""
    walked.begin()
    with redirect_stdout(sys.stderr):
        assert main(["live", "tell", "--case", "1", "--state", "1"]) == 0
    walked.end("tell at the shell")


def walk_server(walked: Walked) -> None:
    """Tell a step over HTTP, and look at the page of its case, several times."""
    from serving import Serving  # noqa: PLC0415 (the shell needs no server)

    from grbp import Study  # noqa: PLC0415

    with Serving(Path("server"), asking="admin") as server:
        Study.create(server.store, "ward", 4, who="ada").open_case(2)
        for state in (3, 2, 3, 2, 3, 2, 3, 2):
            walked.begin()
            told = server.ask("POST", "/api/studies/ward/cases/1/steps", json={"state": state})
            walked.end("tell over HTTP")
            assert told.status_code == 201
            walked.begin()
            shown = server.ask("GET", "/studies/ward/cases/1")
            walked.end("page of a case")
            assert shown.status_code == 200


if __name__ == "__main__":
    walked = Walked()
    {"shell": walk_shell, "server": walk_server}[sys.argv[1]](walked)
    sys.stdout.write(json.dumps(walked.counted))
