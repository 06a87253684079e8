"""Bandit libraries on the two-armed baselines: UCB1 and Thompson sampling over two policies."""

from functools import partial

import ours
from measure import Effort, in_turn, say
from table import Row, Table
from yardsticks import libraries
from yardsticks.work import P_C, Work

LEARNERS = {"UCB1": "ucb-polselection", "Thompson": "ps-polselection"}


def tables(effort: Effort) -> list[Table]:
    """Every library against grbp on the same two arms."""
    works = {name: Work(learner, P_C[0]) for name, learner in LEARNERS.items()}
    tasks = {name: partial(ours.run, work) for name, work in works.items()}
    say("compiling")
    for task in tasks.values():
        task()
    best = {name: time / works[name].size for name, time in in_turn(tasks, effort.passes).items()}
    table = Table(
        f"Bandit libraries on the two threshold policies, p_C = {P_C[0]:g}, time a round",
        "grbp",
        "library",
    )
    for library in libraries.LIBRARIES:
        table.rows.extend(rows(library, best, effort))
    table.notes.append("A library's time has the round in it, walked in plain Python.")
    return [table]


def rows(library: libraries.Library, best: dict[str, float], effort: Effort) -> list[Row]:
    """A row a learner, or one that says why the library was not measured."""
    say(f"{library.name}, in its own environment")
    try:
        found = libraries.speed(library, 5000, 0.2 if effort.quick else 3.0, not effort.quick)
    except libraries.Unavailable as error:
        return [Row(library.name, note=f"not measured, {error}")]
    name = f"{library.name} {found.version}"
    return [
        Row(f"{name}, UCB1", best["UCB1"], found.ucb * 1e-9),
        Row(f"{name}, Thompson", best["Thompson"], found.ps * 1e-9),
    ]
