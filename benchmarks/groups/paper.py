"""The paper's work in every way: G = 4, p_f = .3, 5,000 rounds, 200 replicas, one thread."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import ours
from measure import Effort, in_turn, say
from table import Row, Table, Target
from yardsticks import cpp_steps, gymnasium_loop, inline_python, numpy_replicas, plain_python
from yardsticks.work import LEARNERS, P_C, PS, SM, UCB, Work

OURS, WALKING = "grbp", "grbp, walking"
CPP, NUMPY, GYMNASIUM = "C++ steps", "NumPy", "Gymnasium"
PYTHON, INLINE = "plain Python", "inline Python"

Speeds = dict[tuple[str, str, float], float]
"""Seconds a round, by engine, learner and p_c."""

TARGETS: dict[str, dict[str, Target]] = {
    PYTHON: {SM: Target(150), UCB: Target(100), PS: Target(50)},
    CPP: {SM: Target(1, hoped=2), UCB: Target(1, hoped=2), PS: Target(1)},
}
"""By rival and learner."""

TITLES = {
    PYTHON: "The paper's work against a plain Python program",
    INLINE: "The paper's work against Python in one loop, inlined by hand",
    CPP: "The paper's work against a tuned step loop in C++",
    NUMPY: "The paper's work against NumPy over the replicas",
    GYMNASIUM: "The paper's work against a Gymnasium loop with a Python learner",
    WALKING: "The paper's work against grbp's own walking engine",
}


def measure(effort: Effort) -> Speeds:
    """The speed of every engine on every learner and p_c."""
    tasks: dict[tuple[str, str, float], Callable[[], object]] = {}
    sizes: dict[tuple[str, str, float], int] = {}
    for engine, (run, part) in engines(effort).items():
        for learner in LEARNERS:
            for p_c in P_C:
                key, work = (engine, learner, p_c), part(Work(learner, p_c))
                tasks[key], sizes[key] = partial(run, work), work.size
    say("compiling")
    for (engine, _, _), task in tasks.items():
        if engine in (OURS, WALKING, CPP):
            task()
    best = in_turn(tasks, effort.passes)
    return {key: time / sizes[key] for key, time in best.items()}


def engines(
    effort: Effort,
) -> dict[str, tuple[Callable[[Work], object], Callable[[Work], Work]]]:
    """By engine: how it is run, and on how much of the work, for the slow ones take less."""

    def whole(work: Work) -> Work:
        return work

    def replicas(number: int) -> Callable[[Work], Work]:
        return lambda work: replace(work, replicas=number)

    found: dict[str, tuple[Callable[[Work], object], Callable[[Work], Work]]] = {
        OURS: (ours.run, whole),
        CPP: (cpp_steps.run, whole),
        NUMPY: (numpy_replicas.run, lambda work: replace(work, rounds=effort.choose(250, 5000))),
        PYTHON: (plain_python.run, replicas(effort.choose(10, 200))),
        INLINE: (inline_python.run, replicas(effort.choose(10, 200))),
        GYMNASIUM: (gymnasium_loop.run, replicas(effort.choose(2, 40))),
        WALKING: (lambda work: ours.run(work, engine="walk"), whole),
    }
    if cpp_steps.library() is None:
        del found[CPP]
    return found


def tables(speeds: Speeds, effort: Effort) -> list[Table]:
    """One table a rival; those without a target in short."""
    notes = {
        PYTHON: f"Plain Python plays {effort.choose(10, 200)} replicas.",
        INLINE: "As fast as Python can be made by hand; no target.",
        CPP: "One replica at a time; vector instructions over several are not used.",
        NUMPY: f"NumPy plays {effort.choose(250, 5000):,} rounds.",
        GYMNASIUM: f"The Gymnasium loop plays {effort.choose(2, 40)} replicas.",
    }
    found = []
    for rival, name in TITLES.items():
        table = Table(f"{name}, time a round", OURS, rival)
        if (rival, SM, P_C[0]) in speeds:
            table.rows.extend(row for learner in LEARNERS for row in rows(speeds, rival, learner))
            table.notes.extend([notes[rival]] if rival in notes else [])
        elif rival == CPP:
            table.notes.append(f"Not measured: {cpp_steps.absence()}.")
        else:
            continue
        found.append(table)
    return found


def rows(speeds: Speeds, rival: str, learner: str) -> list[Row]:
    """A row for each p_c, where there is a target to hold, and one for both together."""
    target, name = TARGETS.get(rival, {}).get(learner), title(learner)

    def row(what: str, which: tuple[float, ...]) -> Row:
        mean = {
            who: sum(speeds[who, learner, p_c] for p_c in which) / len(which)
            for who in (OURS, rival)
        }
        return Row(what, mean[OURS], mean[rival], target)

    each = [row(f"{name}, p_C = {p_c:g}", (p_c,)) for p_c in P_C] if target else []
    return [*each, row(f"{name}, both", P_C)]


def title(learner: str) -> str:
    """A learner's name as the paper writes it."""
    return learner.upper()
