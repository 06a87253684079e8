"""Long runs: a million rounds against stepping, a billion against a million, two threads."""

from collections.abc import Callable
from functools import partial

import machine
import ours
from groups.paper import title
from measure import Effort, Key, enough, in_turn, say
from table import Row, Table, Target
from yardsticks import cpp_steps
from yardsticks.work import LEARNERS, P_C, PS, SM, UCB, Work

MILLION, BILLION = 10**6, 10**9


def threads(effort: Effort) -> list[Table]:
    """Two threads against one, on enough replicas to keep them busy."""
    table = Table("Two threads against one, the paper's problems, time of a run", "two", "one")
    if machine.cores() < 2:
        table.notes.append("Not measured: this process may use one real core only.")
        return [table]
    replicas = effort.choose(2000, 20_000)
    works = {learner: Work(learner, P_C[0], replicas=replicas) for learner in LEARNERS}
    tasks: dict[tuple[str, int], Callable[[], object]] = {
        (learner, count): partial(ours.run, work, threads=count)
        for learner, work in works.items()
        for count in (1, 2)
    }
    best = in_turn(tasks, effort.choose(2, 3))
    for learner in LEARNERS:
        what = f"{title(learner)}, p_C = {P_C[0]:g}"
        table.rows.append(Row(what, best[learner, 2], best[learner, 1], Target(1.7)))
    table.notes.append(f"{replicas:,} replicas of 5,000 rounds.")
    return [table]


def million(effort: Effort) -> list[Table]:
    """GETBE-SM over a million rounds against the tuned step loop."""
    table = Table("GETBE-SM over 10^6 rounds, time a replica", "grbp", "C++ steps")
    if cpp_steps.library() is None:
        table.notes.append(f"Not measured: {cpp_steps.absence()}.")
        return [table]
    engines = {"grbp": ours.run, "C++ steps": cpp_steps.run}
    runs = {(who, p_c): _run(run, SM, p_c, MILLION) for who, run in engines.items() for p_c in P_C}
    times = _a_replica(runs, effort)
    for p_c in P_C:
        fast, slow = times["grbp", p_c], times["C++ steps", p_c]
        table.rows.append(Row(f"GETBE-SM, p_C = {p_c:g}", fast, slow, Target(50)))
    return [table]


def billion(effort: Effort) -> list[Table]:
    """A billion rounds against a million: a leap costs like the logarithm of what it spans."""
    table = Table("10^9 rounds against 10^6, time a replica", "10^9", "10^6")
    cases = [(learner, p_c) for learner in (SM, PS, UCB) for p_c in P_C]
    runs = {
        (case, rounds): _run(partial(ours.run, engine="leap"), *case, rounds)
        for case in cases
        for rounds in (MILLION, BILLION)
    }
    times = _a_replica(runs, effort)
    for learner, p_c in cases:
        long, short = times[(learner, p_c), BILLION], times[(learner, p_c), MILLION]
        # At p_C = .65 GETBE-UCB stays next to the boundary of its decision.
        target = None if (learner, p_c) == (UCB, 0.65) else Target(3)
        what = f"{title(learner)}, p_C = {p_c:g}"
        table.rows.append(Row(what, long, short, target, longer=True))
    return [table]


def _run(
    run: Callable[[Work], object], learner: str, p_c: float, rounds: int
) -> Callable[[int], object]:
    """A run of some replicas, whose number is still open."""
    return lambda replicas: run(Work(learner, p_c, rounds, replicas))


def _a_replica(runs: dict[Key, Callable[[int], object]], effort: Effort) -> dict[Key, float]:
    """The time of one replica of every run, each with replicas for a moment's work."""
    say("finding out how many replicas it takes")
    sizes = {key: enough(run, 0.1 if effort.quick else 0.5) for key, run in runs.items()}
    tasks = {key: partial(run, sizes[key]) for key, run in runs.items()}
    best = in_turn(tasks, effort.passes)
    return {key: time / sizes[key] for key, time in best.items()}
