"""What every test shares: repeatable draws, and a plain word on what was left out."""

import pytest
from hypothesis import settings

settings.register_profile("grbp", derandomize=True, deadline=None, max_examples=150)
settings.load_profile("grbp")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = terminalreporter.stats.get("skipped", [])
    if left_out:
        terminalreporter.section("left out")
        reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in left_out}
        for reason in sorted(reasons):
            terminalreporter.write_line(reason)
    else:
        terminalreporter.write_line("No test was left out.")
