"""Fits of small tables whose counts are known, for whatever shows them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import grbp
from grbp.fitting.result import Fit

Counts = Sequence[tuple[int, int]]
"""For each state: how often an action succeeded, and how often it was tried."""


def counted(c: Counts, f: Counts, **choices: Any) -> Fit:
    """Fit aggregated rows: moves up under CONTINUE and wins under FINISH, state by state."""
    goal = len(c) + 1
    rows: list[tuple[int, str, int, int]] = []
    for state, ((up, moved), (won, finished)) in enumerate(zip(c, f, strict=True), start=1):
        rows += [
            (state, "continue", state + 1, up),
            (state, "continue", state - 1, moved - up),
            (state, "finish", goal, won),
            (state, "finish", 0, finished - won),
        ]
    names = ("state", "action", "next_state", "count")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return grbp.fit(table, goal, **choices)


def walked(cases: int, names: tuple[str, str] = ("a<b", "c&d"), **choices: Any) -> Fit:
    """Fit cases that a practice played which finishes in state 1 half of the time.

    Their goal is 4, p_C is 0.45 and p_F 0.4; they are of two groups, in turn.
    """
    goal, p_c, p_f = 4, 0.45, 0.4
    random = np.random.default_rng(7)
    rows: list[tuple[object, ...]] = []
    for case in range(cases):
        state, step = int(random.integers(1, goal)), 0
        while 0 < state < goal:
            finish = state == 1 and random.random() < 0.5
            if finish:
                after = goal if random.random() < p_f else 0
            else:
                after = state + 1 if random.random() < p_c else state - 1
            step += 1
            action = "finish" if finish else "continue"
            rows.append((case, step, state, action, after, names[case % 2]))
            state = after
    columns = ("case", "step", "state", "action", "next_state", "group")
    table = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
    return grbp.fit(table, goal, **choices)


USUAL: Counts = ((80, 200), (110, 240), (60, 120))
"""Moves of CONTINUE in the states of the goal 4."""

AT_ONE: Counts = ((40, 130), (0, 0), (3, 5))
"""Tries of FINISH, none of them in state 2."""

NEVER: Counts = ((0, 0),) * 3


def joined(**tables: Any) -> dict[str, Any]:
    """Join tables of cases into one, whose column `site` names the table that a row is of."""
    parts, begin = [], 0
    for site, table in tables.items():
        columns = {name: np.asarray(column) for name, column in table.items()}
        _, case = np.unique(columns["case"], return_inverse=True)
        columns["case"] = begin + case
        columns["site"] = np.full(len(case), site)
        begin += int(case.max()) + 1
        parts.append(columns)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def two_sites(cases: int, seed: int, p_f: tuple[float, float] = (0.45, 0.45)) -> dict[str, Any]:
    """Draw cases of two sites; at A, which finishes most often in state 1, that is not right."""
    random = np.random.default_rng(seed)
    return joined(
        A=grbp.example_records("model", 4, 0.65, p_f[0], cases // 2, random, finish=0.8),
        B=grbp.example_records("model", 4, 0.45, p_f[1], cases // 2, random, finish=0.05),
    )
