"""Find the tests that run a change: every function says which test has called it."""

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from mutation.changes import FLOORS, Change

COMPILED = ("src/grbp/worlds/", "src/grbp/planning/confidence", "src/grbp/planning/trial_sim")
"""What kernels are made from: it is not instrumented, since all would be compiled anew."""

TESTS = (
    "planning", "fitting", "live", "serve", "worlds", "cli", "reports", "test_display.py",
    "test_env.py", "experiments/test_worlds.py", "experiments/test_sweep_worlds.py",
    "explorer/test_simulations.py", "docs/test_documents.py", "docs/test_operating.py",
)  # fmt: skip
"""The tests that may notice, beside the examples in the docstrings."""

SOAKED = (
    "tests/docs/test_documents.py", "tests/fitting/test_assumptions.py",
    "tests/live/test_algorithm.py", "tests/serve/test_schema.py", "tests/serve/test_shadow.py",
)  # fmt: skip
"""The files whose tests of `make soak` may notice as well: those of the others take too long."""

LONGEST = 20.0
"""Seconds that either part of the tests of one change may take where nothing is changed."""


def list_parts(tree: Path) -> list[str]:
    """Return the files of tests that may notice, and the folders whose examples may."""
    places = [tree / "tests" / name for name in TESTS]
    files = [
        path
        for place in places
        for path in (sorted(place.rglob("test_*.py")) if place.is_dir() else [place])
    ]
    return [path.relative_to(tree).as_posix() for path in files] + [
        f"src/grbp/{floor}" for floor in FLOORS
    ]


def instrument(tree: Path) -> None:
    """Let every function of the floors say that it was called."""
    for floor in FLOORS:
        for path in (tree / "src/grbp" / floor).rglob("*.py"):
            file = path.relative_to(tree).as_posix()
            if not file.startswith(COMPILED):
                path.write_text(_instrumented(path.read_text("utf-8"), file), "utf-8")


def _instrumented(text: str, file: str) -> str:
    before: dict[int, str] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body and body[0].lineno > node.lineno:
                first = body[0]
                decorators = getattr(first, "decorator_list", [])
                line = min(one.lineno for one in (first, *decorators))
                call = f"__import__('reached').hit('{file}:{node.name}:{node.lineno}')\n"
                before[line] = " " * first.col_offset + call
    lines = text.splitlines(keepends=True)
    return "".join(before.get(k, "") + line for k, line in enumerate(lines, start=1))


class Reach:
    """Which tests run each function, and how long each test takes, from what `reached` wrote."""

    def __init__(self, root: Path, lines: list[list[Any]]) -> None:
        self._root, self.seconds = root, defaultdict[str, float](float)
        self._of_function = defaultdict[str, set[str]](set)
        self._in_file = defaultdict[str, set[str]](set)
        failed, shared = set(), defaultdict[str, set[str]](set)
        for function, test, *report in lines:
            file = test.partition("::")[0]
            if function is None:
                self.seconds[test] += report[0]
                self._in_file[file].add(test)
                failed |= {test} if report[1] != "passed" else set()
            elif test.endswith(" (setup)"):  # What is made once may be looked at by all of a file.
                shared[function].add(file)
            else:
                self._of_function[function].add(test.rpartition(" (")[0])
        for function, files in shared.items():
            self._of_function[function].update(*(self._in_file[file] for file in files))
        for test in failed:
            del self.seconds[test]

    def tests_of(self, file: str, change: Change) -> tuple[list[str], list[str]]:
        """Return the tests that run a change: those of the files most about it, and others."""
        if file.startswith(COMPILED):
            found = self._tests_with_words_of(file)
        elif change.function:
            found = self._of_function.get(f"{file}:{change.function}", set())
        else:
            functions = [one for one in self._of_function if one.startswith(f"{file}:")]
            found = set().union(*(self._of_function[one] for one in functions))
        found &= self.seconds.keys()
        about = Counter(test.partition("::")[0] for test in found)
        near = sorted(about, key=lambda path: (-about[path] / len(self._in_file[path]), path))[:3]
        first = {test for test in found if test.partition("::")[0] in near}
        return self._take(first), self._take(found - first)

    def _take(self, tests: set[str]) -> list[str]:
        """Return the quickest tests, as many as there is time for."""
        ordered = sorted(tests, key=lambda test: (self.seconds[test], test))
        until = accumulate(self.seconds[test] for test in ordered)
        return [test for test, end in zip(ordered, until, strict=True) if end <= LONGEST]

    @cache  # noqa: B019 (there is one of it)
    def _tests_with_words_of(self, file: str) -> set[str]:
        """Return the tests in files that use a name which a module defines, and its examples."""
        tree = ast.parse((self._root / file).read_text("utf-8"))
        names = "|".join(node.name for node in tree.body if hasattr(node, "name"))
        return {
            test
            for path, tests in self._in_file.items()
            if path == file or re.search(rf"\b({names})\b", (self._root / path).read_text("utf-8"))
            for test in tests
        }
