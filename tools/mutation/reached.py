"""A plugin of pytest: it says which test runs which function, or keeps to some tests in order."""

import json
import os
import sys
from pathlib import Path

import pytest

FILE = os.environ.get("GRBP_REACHED")
SEEN = set()


def hit(function: str) -> None:
    """Say that a function was called, also in a process that a test has started."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    if FILE and test and (function, test) not in SEEN:
        SEEN.add((function, test))
        _write([function, test])


def _write(line: list[object]) -> None:
    with Path(FILE).open("ab", buffering=0) as file:  # One call, so that no two lines are mixed.
        file.write(json.dumps(line).encode() + b"\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take a file with the names of tests."""
    parser.addoption("--those")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep to the tests that are named, in their order."""
    if config.option.those:
        names = json.loads(Path(config.option.those).read_text("utf-8"))
        order = {test: k for k, test in enumerate(names)}
        items[:] = sorted((i for i in items if i.nodeid in order), key=lambda i: order[i.nodeid])


def pytest_runtest_setup() -> None:
    """Forget what tests keep for each other, so that each one runs all that it rests on."""
    for module in list(sys.modules.values()) if FILE else []:
        if "/tests/" in (getattr(module, "__file__", "") or ""):
            for one in vars(module).values():
                if hasattr(one, "cache_clear"):
                    one.cache_clear()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say how long a test took, and whether it passed."""
    if FILE:
        _write([None, report.nodeid, report.duration, report.outcome])
