"""The list of `make mutants`: every change can be made, and what survives is explained."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
TOOL = runpy.run_path(str(ROOT / "tools" / "mutants.py"))
MUTANTS: list[dict[str, str]] = TOOL["listed"]()


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant['new'][:40]}")
def test_a_change_can_be_made_and_python_stays_python(mutant: dict[str, str]) -> None:
    assert mutant["old"] != mutant["new"]
    after: Any = TOOL["changed"](ROOT, mutant)
    if mutant["file"].endswith(".py"):
        before = (ROOT / mutant["file"]).read_text("utf-8")
        assert ast.dump(ast.parse(after)) != ast.dump(ast.parse(before))
    paths = re.findall(r"(?:tests|src)/[\w/.]+", mutant["tests"])
    assert paths
    assert all((ROOT / path).exists() for path in paths)


def test_selections_of_one_file_are_run_together() -> None:
    merged = TOOL["merged"]
    assert merged(["a.py -k x", "b.py", "a.py -k 'y and z'", "a.py -k x"]) == {
        "a.py -k '(x) or (y and z)'": ["a.py -k x", "a.py -k 'y and z'"],
        "b.py": ["b.py"],
    }
    assert merged(["a.py -k x", "a.py", "a.py b.py", "a.py -m fast"]) == {
        "a.py": ["a.py -k x", "a.py"],
        "a.py b.py": ["a.py b.py"],
        "a.py -m fast": ["a.py -m fast"],
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--fast"], "unrecognized arguments: --fast"),
        (["--jobs", "0"], "--jobs is 0; it must be 1 or more"),
        (["no such words"], "no change has no such words in its file or text"),
        (["--help"], ""),
    ],
)
def test_what_is_not_meant_is_refused_and_nothing_is_run(given: list[str], said: str) -> None:
    tool = [sys.executable, str(ROOT / "tools" / "mutants.py"), *given]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == (2 if said else 0)
    assert said in done.stderr
    assert "usage: mutants.py [-h] [--jobs JOBS] [words ...]" in done.stdout + done.stderr
    assert "/" not in done.stdout


def test_enough_are_meant_to_be_noticed() -> None:
    survivors = [mutant for mutant in MUTANTS if "survives" in mutant]
    assert len(MUTANTS) >= 60
    assert len(survivors) <= (1.0 - TOOL["ENOUGH"]) * len(MUTANTS)
