"""The list of `make mutants`: every change can be made, and what survives is explained."""

import ast
import re
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
TOOL = runpy.run_path(str(ROOT / "tools" / "mutants.py"))
MUTANTS: list[dict[str, str]] = TOOL["listed"]()


FILES = sorted({mutant["file"] for mutant in MUTANTS})


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_a_change_can_be_made_and_python_stays_python(file: str) -> None:
    before = (ROOT / file).read_text("utf-8")
    for mutant in (one for one in MUTANTS if one["file"] == file):
        assert mutant["old"] != mutant["new"]
        after: Any = TOOL["changed"](ROOT, mutant)
        if file.endswith(".py"):
            assert code_of(after) != code_of(before), mutant
        paths = re.findall(r"(?:tests|src)/[\w/.]+", mutant["tests"])
        assert paths, mutant
        assert all((ROOT / path).exists() for path in paths), mutant


@cache
def code_of(text: str) -> str:
    """Read a file: other comments and another layout are the same code."""
    return ast.dump(ast.parse(text))


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
        (["--random", "-1"], "--random is -1; it must be 0 or more"),
        (["--help"], ""),
    ],
)
def test_what_is_not_meant_is_refused_and_nothing_is_run(given: list[str], said: str) -> None:
    tool = [sys.executable, str(ROOT / "tools" / "mutants.py"), *given]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == (2 if said else 0)
    assert said in done.stderr
    assert "usage: mutants.py [-h] [--jobs JOBS] [--random RANDOM]" in done.stdout + done.stderr
    assert "/" not in done.stdout


def test_the_same_seed_draws_the_same_changes_and_a_longer_draw_begins_alike() -> None:
    drawn: Any = TOOL["draw"](ROOT, 60, 3)
    assert TOOL["draw"](ROOT, 20, 3) == drawn[:20]
    assert TOOL["draw"](ROOT, 20, 4) != drawn[:20]
    assert len(set(drawn)) == 60
    floors = {file.split("/")[2] for file, _ in drawn}
    assert floors <= {"worlds", "planning", "fitting", "live", "serve"}


def docstrings(tree: ast.Module) -> list[str]:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    found = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds)]
    return sorted(filter(None, found))


def test_a_drawn_change_is_of_one_place_and_touches_no_docstring() -> None:
    for file, change in TOOL["draw"](ROOT, 40, 5):
        before = (ROOT / file).read_text("utf-8")
        after = change.make(before)
        old, new = ast.parse(before), ast.parse(after)
        assert ast.dump(old) != ast.dump(new)
        data = before.encode()
        assert after.encode().startswith(data[: change.start] + change.new.encode())
        assert after.encode().endswith(data[change.end :])
        assert docstrings(old) == docstrings(new)


def test_what_can_be_changed_is_what_is_computed() -> None:
    text = '''"""Compare 1 < 2."""
from a import b
if TYPE_CHECKING:
    from c import d
Kind: TypeAlias = "Literal[1] | None"
def double(x: Literal[2] = 3) -> Annotated[int, 4]:
    """Return 5 + 6."""
    log.info("seven %s", 7 + 8)
    if x not in (9,) and not (x):
        close(f"{x + 10}")
    return min(x, -x) + "eleven" * True
'''
    changes: Any = sorted(TOOL["find_changes"](text))
    assert [(text[one.start : one.end], one.new) for one in changes] == [
        ("3", "4"),
        ("x not in (9,) and not (x)", "(not (x not in (9,) and not (x)))"), ("not in", "in"),
        ("9", "10"), ("and", "or"), ("not ", ""),
        ('close(f"{x + 10}")', "pass"),
        ("min", "max"), ('min(x, -x) + "eleven" * True', "None"), ("-", ""), ("+", "-"),
        ("True", "False"),
    ]  # fmt: skip
    assert {one.function for one in changes} == {"", "double:6"}


def test_enough_are_meant_to_be_noticed() -> None:
    survivors = [mutant for mutant in MUTANTS if "survives" in mutant]
    assert len(MUTANTS) >= 60
    assert len(survivors) <= (1.0 - TOOL["ENOUGH"]) * len(MUTANTS)
