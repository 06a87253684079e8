"""The list of `make mutants`: every change can be made, and what survives is explained."""

import ast
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
TOOL = runpy.run_path(str(ROOT / "tools" / "mutants.py"))
MUTANTS: list[dict[str, str]] = TOOL["listed"]()


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


def test_enough_are_meant_to_be_noticed() -> None:
    survivors = [mutant for mutant in MUTANTS if "survives" in mutant]
    assert len(MUTANTS) >= 60
    assert len(survivors) <= (1.0 - TOOL["ENOUGH"]) * len(MUTANTS)
