"""How often the intervals that `fit` prints hold the truth, and how often its tests reject.

    .venv/bin/python benchmarks/fit.py            # prints, and writes fit.md
    .venv/bin/python benchmarks/fit.py --quick    # a small version, which only prints
    .venv/bin/python benchmarks/fit.py --only power

Tables of past cases are drawn from a known truth, with a seed of their own each, and fitted.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import grbp
from columns import Columns
from grbp.fitting.assumptions import assumption_tests
from grbp.fitting.fit import fit_records
from grbp.fitting.general import general_chain
from grbp.fitting.moves import Moves
from grbp.fitting.reading import read_records
from grbp.fitting.records import Records
from grbp.fitting.ways import direct_value
from measure import Effort
from sections import Sections, run

LEVEL = 0.95
LEGEND = (
    "Every interval is meant to hold the truth in 95 % of tables, and every test to reject in 5 %"
    " of those that satisfy the model. A share of 4,000 tables has a standard error of .3 points,"
    " one of 400 of 1.1."
)


class Setting(NamedTuple):
    """A truth, the number of cases in a table, and how often FINISH is taken in state 1."""

    goal: int
    p_c: float
    p_f: float
    cases: int
    finish: float = 0.5

    def __str__(self) -> str:
        """Name it in a few words."""
        return f"G = {self.goal}, ({self.p_c:g}, {self.p_f:g}), {self.cases} cases"


SETTINGS = [
    Setting(goal, p_c, p_f, cases, finish)
    for goal, p_c, p_f, finish in [
        (4, 0.45, 0.3, 0.5),
        (4, 0.65, 0.3, 0.5),
        (4, 0.3, 0.1, 0.2),
        (3, 0.5, 0.5, 0.5),
        (10, 0.55, 0.2, 0.5),
        (10, 0.4, 0.7, 0.3),
    ]
    for cases in (20, 50, 200, 1000)
]
"""24 settings; none of them was used to choose between methods."""


def table_of(setting: Setting, seed: int, kind: str = "model", **more: Any) -> Records:
    """Draws a table and reads it."""
    made = grbp.example_records(
        kind, goal=setting.goal, p_c=setting.p_c, p_f=setting.p_f, cases=setting.cases,
        finish=setting.finish, seed=seed, **more,
    )  # fmt: skip
    return read_records(made, setting.goal)


def shares(judge: Callable[[int], dict[str, bool]], tables: int) -> dict[str, tuple[float, int]]:
    """Counts over tables how often each thing is true, among those tables that have it."""
    true, seen = Counter[str](), Counter[str]()
    with ProcessPoolExecutor() as pool:
        for answer in pool.map(judge, range(tables), chunksize=25):
            seen.update(answer.keys())
            true.update(name for name, holds in answer.items() if holds)
    return {name: (true[name] / seen[name], seen[name]) for name in seen}
