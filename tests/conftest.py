"""What every test shares: repeatable draws, compiled code, a plain word on what was left out."""

import os
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

# Without a package that only `make soak` installs, it cannot be read; and nothing else runs it.
collect_ignore = [] if find_spec("schemathesis") else ["serve/test_schema.py"]
pytest_plugins = ["postgres_fixtures", "browser", "explorer_page"]

# Workers, processes and the next run share what was compiled; no user's folder is written to.
os.environ.setdefault(
    "GRBP_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "compiled")
)

# `make test` draws the same examples every time, `make check` fewer, `make soak` more, and
# `make fuzz` fresh ones.
for name, examples in {"few": 8, "some": 25, "many": 150}.items():
    settings.register_profile(name, derandomize=True, deadline=None, max_examples=examples)
settings.register_profile("fresh", deadline=None, max_examples=1500, print_blob=True)
settings.load_profile(os.environ.get("GRBP_EXAMPLES", "some"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the cases of a test to `make soak` that its sample does not name."""
    unused: dict[str, set[str]] = {}
    for item in items:
        for mark in item.iter_markers("sample"):
            test, _, case = item.nodeid.removesuffix("]").partition("[")
            fitting = {pattern for pattern in mark.args if fnmatch(case, pattern)}
            unused.setdefault(test, set(mark.args)).difference_update(fitting)
            if not fitting:
                item.add_marker(pytest.mark.soak)
    if config.args_source is config.ArgsSource.TESTPATHS:
        for test, patterns in unused.items():
            if patterns:
                raise pytest.UsageError(f"no case of {test} fits {', '.join(sorted(patterns))}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = terminalreporter.stats.get("skipped", [])
    if left_out:
        terminalreporter.section("left out")
        reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in left_out}
        for reason in sorted(reasons):
            terminalreporter.write_line(reason)
    else:
        terminalreporter.write_line("No test was left out.")
