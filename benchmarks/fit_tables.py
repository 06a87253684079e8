"""Tables of past cases for `fit.py`, drawn from a known truth, and what is counted over them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import grbp
from grbp.records.clean import Records
from grbp.records.reading import read_records

Judge = Callable[[int], Mapping[str, float]]
"""From a seed to what is true of its table, or to numbers whose mean is asked for."""


class Setting(NamedTuple):
    """A truth, the number of cases, and how often FINISH is taken in state 1, and above."""

    goal: int
    p_c: float
    p_f: float
    cases: int
    finish: float = 0.5
    above: float = 0.0

    def __str__(self) -> str:
        """Name it in a few words."""
        return f"{self.goal}: {self.p_c:g}, {self.p_f:g}; {self.cases:,} cases"


TRUTHS = [
    (4, 0.45, 0.3, 0.5, 0.0),
    (4, 0.65, 0.3, 0.5, 0.1),
    (4, 0.3, 0.1, 0.2, 0.0),
    (3, 0.5, 0.5, 0.5, 0.3),
    (10, 0.55, 0.2, 0.5, 0.0),
    (10, 0.4, 0.7, 0.3, 0.05),
]


def settings(*sizes: int) -> list[Setting]:
    """Every truth with tables of several sizes."""
    return [Setting(*truth[:3], cases, *truth[3:]) for truth in TRUTHS for cases in sizes]


def table_of(setting: Setting, seed: int, kind: Any = "model", **more: Any) -> Records:
    """Draws a table and reads it."""
    goal = setting.goal
    finish = [setting.finish, *[setting.above] * (goal - 2)]
    made = grbp.example_records(
        kind, goal, setting.p_c, setting.p_f, setting.cases, seed, finish=finish, **more
    )
    return read_records(made, goal)


def shares(judge: Judge, tables: int) -> dict[str, float]:
    """Counts over tables how often each thing is true, among the tables that have it."""
    total, seen = dict[str, float](), Counter[str]()
    with ProcessPoolExecutor() as pool:
        for answer in pool.map(judge, range(tables), chunksize=20):
            seen.update(answer.keys())
            for name, number in answer.items():
                total[name] = total.get(name, 0.0) + number
    # What few tables have says little.
    return {name: total[name] / seen[name] for name in seen if seen[name] >= 0.2 * tables}


def cells(found: Mapping[str, float], names: Sequence[str]) -> list[str]:
    """The shares in percent."""
    return [f"{100.0 * found[name]:.1f} %" if name in found else "" for name in names]


OUTCOMES = ("right", "firm", "firm and wrong", "no decision")


def judge_decision(fit: grbp.Fit, right: str) -> dict[str, bool]:
    """Says what became of the decision; the first three of the tables that have one."""
    none = fit.decision not in ("threshold-0", "threshold-1")
    if none:
        return {"no decision": True}
    wrong = fit.decision != right
    return {
        "right": not wrong, "firm": fit.firm, "firm and wrong": fit.firm and wrong,
        "no decision": False,
    }  # fmt: skip


def judge_ways(fit: grbp.Fit, truth: float) -> dict[str, float]:
    """Says which ways to value state 1 hold the truth, and how far the estimates are from it."""
    answer: dict[str, float] = {}
    for name, way in fit.ways.items():
        if way is not None:
            answer[name] = way.low <= truth <= way.high
            answer[f"{name}, bias"] = way.estimate - truth
    return answer


def numbers(found: Mapping[str, float], names: Sequence[str]) -> list[str]:
    """Means with three decimals."""
    return [f"{found[name]:+.3f}" if name in found else "" for name in names]
