"""What every test shares: repeatable draws, compiled code, a plain word on what was left out."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["postgres_fixtures", "browser"]

# Workers, processes and the next run share what was compiled; no user's folder is written to.
os.environ.setdefault(
    "GRBP_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "compiled")
)

# `make test` draws the same examples every time, `make check` fewer, `make fuzz` fresh ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=150)
settings.register_profile("few", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("fresh", deadline=None, max_examples=1500, print_blob=True)
settings.load_profile(os.environ.get("GRBP_EXAMPLES", "repeatable"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = terminalreporter.stats.get("skipped", [])
    if left_out:
        terminalreporter.section("left out")
        reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in left_out}
        for reason in sorted(reasons):
            terminalreporter.write_line(reason)
    else:
        terminalreporter.write_line("No test was left out.")
