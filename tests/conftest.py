"""What every test shares: repeatable draws, compiled code, a plain word on what was left out."""

import os
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from grbp.numerics.jit import numba

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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one more than there are cores, as about every fifth second of a test is waiting."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) + 1


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the interpreter play: for few rounds it is done long before the compiler is."""
    compiler = numba()
    if compiler is not None:
        monkeypatch.setattr(compiler.config, "DISABLE_JIT", 1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the cases of a test to `make soak` that its sample does not have."""
    sampled: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample"):
            sampled.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for test, cases in sampled.items():
        (mark,) = cases[0].iter_markers("sample")
        names = [item.nodeid.removesuffix("]").partition("[")[2] for item in cases]
        if isinstance(mark.args[0], int):
            taken = {names[k * len(names) // mark.args[0]] for k in range(mark.args[0])}
        else:
            fitting = {one: [name for name in names if fnmatch(name, one)] for one in mark.args}
            taken = {name for those in fitting.values() for name in those}
            unused = sorted(one for one, those in fitting.items() if not those)
            if unused and config.args_source is config.ArgsSource.TESTPATHS:
                raise pytest.UsageError(f"no case of {test} fits {', '.join(unused)}")
        for item, name in zip(cases, names, strict=True):
            if name not in taken:
                item.add_marker(pytest.mark.soak)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = terminalreporter.stats.get("skipped", [])
    if left_out:
        terminalreporter.section("left out")
        reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in left_out}
        for reason in sorted(reasons):
            terminalreporter.write_line(reason)
    else:
        terminalreporter.write_line("No test was left out.")
