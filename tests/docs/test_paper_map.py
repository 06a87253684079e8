"""The map from the paper to the code: it and the docstrings say the same, and its tests exist."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "grbp"


class Row(NamedTuple):
    """One line of the map."""

    label: str
    functions: set[str]
    tests: set[str]


def paper_map() -> list[Row]:
    rows = []
    for line in (ROOT / "docs" / "paper-map.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            label, _, functions, tests = cells
            names = (set(re.findall(r"`([^`]+)`", cell)) for cell in (functions, tests))
            rows.append(Row(label.strip("`"), *names))
    return rows


def documented_labels() -> set[tuple[str, str]]:
    """(label, module.function) for every "Paper: label" line of a docstring."""
    found = set()
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        module = module.removesuffix("__init__").removesuffix(".")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = ast.get_docstring(node) or ""
                for label in re.findall(r"^Paper: (\S+)", text, re.MULTILINE):
                    found.add((label, f"grbp.{module}.{node.name}"))
    return found


def written_in(pattern: str) -> set[str]:
    """The tests that stand in some files."""
    return {
        node.name
        for path in (ROOT / "tests").rglob(pattern)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_every_label_of_the_map_names_functions_and_tests_that_exist() -> None:
    written = written_in("test_*.py")
    for row in paper_map():
        assert row.functions, row.label
        assert row.tests, row.label
        assert row.tests <= written, row.label
    lemmas = [row for row in paper_map() if row.label.split(":")[0] in ("lemma", "thm", "cor")]
    for row in lemmas:
        assert f"test_{row.label.replace(':', '_')}" in row.tests
    # Four lemmas and three theorems printed, one lemma and two corollaries commented out.
    assert len(lemmas) == 10


def test_the_map_and_the_docstrings_agree() -> None:
    in_map = {(row.label, name) for row in paper_map() for name in row.functions}
    assert in_map == documented_labels()


def test_every_test_of_a_label_is_in_the_map() -> None:
    labelled = written_in("test_paper.py") | written_in("test_paper_bounds.py")
    assert labelled <= {name for row in paper_map() for name in row.tests}
