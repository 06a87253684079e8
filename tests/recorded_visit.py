"""Let two people look at a case, one of them record a step; print what was called, and where.

    python recorded_visit.py STEPS

STEPS is a list of files and functions in JSON, of the server and of the pages' scripts. It prints
those of the server that were called, in order, and those of the scripts, of which only that they
were called is known. It needs Chromium.
"""

import json
import math
import shutil
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final
from unittest.mock import patch

from browser import OPTIONS
from playwright.sync_api import Page, sync_playwright
from recorded_calls import SOURCE, is_importing
from serving import Serving

import grbp
from grbp.serve import server_routes

_KNOWN: Final = grbp.Counters(40, 20.0, 8.0, 60.0, 27.0, 0.0, 0.0, 0.0, 0.0)
"""With these CONTINUE is advised, which is what the one records."""


class Recorded:
    """The functions of the server that were called, in the order of their first calls."""

    def __init__(self, wanted: list[list[str]]) -> None:
        self._places = {(str(SOURCE / file), name): [file, name] for file, name in wanted}
        self.calls: list[list[str]] = []
        threading.setprofile(self._record)  # for the threads that will be started

    def _record(self, frame: FrameType, event: str, _: object) -> None:
        call = self._places.get((frame.f_code.co_filename, frame.f_code.co_qualname))
        if event == "call" and call and call not in self.calls and not is_importing(frame):
            self.calls.append(call)


class Scripts:
    """The functions of a page's scripts that were called."""

    def __init__(self, page: Page) -> None:
        self._profiler = page.context.new_cdp_session(page)
        self._profiler.send("Profiler.enable")
        self._profiler.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": False})

    def take(self) -> list[list[str]]:
        """Return what was called since this was asked before."""
        found: dict[str, Any] = self._profiler.send("Profiler.takePreciseCoverage")
        return [
            [f"serve/static/{script['url'].rpartition('/')[2]}", function["functionName"]]
            for script in found["result"]
            for function in script["functions"]
            if function["ranges"][0]["count"]
        ]


def visit(wanted: list[list[str]], folder: Path) -> list[list[str]]:
    """Record a step on one screen, and wait until another shows it."""
    recorded = Recorded([step for step in wanted if step[0].endswith(".py")])
    with Serving(folder, asking="admin") as server, sync_playwright() as playwright:
        study = grbp.Study.create(server.store, "ward", 4, start=_KNOWN, who="the office")
        study.open_case(2, who="the office")
        program = shutil.which("chromium") or shutil.which("google-chrome")
        with playwright.chromium.launch(executable_path=program, args=OPTIONS) as browser:
            pages = []
            for role in ("recorder", "viewer"):
                kept = server.signed_in(server.token(role))
                page = browser.new_context(storage_state=kept).new_page()
                scripts = Scripts(page)
                with page.expect_response("**/events.ndjson*"):
                    page.goto(f"{server.url}/studies/ward/cases/1")
                pages.append((page, scripts))
            (mine, _), (theirs, _) = pages
            for _, scripts in pages:
                scripts.take()
            # Whoever records would go on to a new page; what is recorded is that of the other.
            mine.route("**/studies/ward/cases/1", lambda route: route.fulfill(status=204))
            recorded.calls.clear()
            mine.locator("form[data-send$='/steps'] button").first.click()
            if mine.locator("#confirm[open]").count():
                mine.locator("#confirm-yes").click()
            theirs.locator("#news", has_text="recorded").wait_for()
            calls = recorded.calls[:]
            called = [call for _, scripts in pages for call in scripts.take()]
    return calls + [step for step in wanted if step in called]


if __name__ == "__main__":
    # A word that there is nothing new would be recorded as well.
    silent = patch.object(server_routes, "LONGEST_SILENCE", math.inf)
    with silent, TemporaryDirectory() as folder:
        sys.stdout.write(json.dumps(visit(json.loads(sys.argv[1]), Path(folder))))
