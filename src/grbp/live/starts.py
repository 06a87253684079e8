"""Where a study begins: with a word, or with what past cases tell, in all or in each group.

Counters of Algorithm 1 are kept as nine numbers. Those by state are kept as the round that comes
next and four lists with a number for each state: CONTINUE up and down, FINISH won and lost.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from grbp.errors import InvalidInput
from grbp.learners.base import AnyLearner
from grbp.learners.counters import NO_COUNTS, Counters
from grbp.learners.registry import find_problem_learner
from grbp.learners.serialization import check_counters
from grbp.learners.state_counters import StateCounters, empty_state_counters

DRAWN: Final[str] = "drawn"
FIRST: Final[str] = "first"
"""Two ways to begin: with drawn estimates, or with one first CONTINUE and one first FINISH."""


def check_start(given: object, learner: AnyLearner, goal: int, groups: list[str]) -> Any:
    """Return how a study begins, as its configuration keeps it: a word, or counters."""
    if isinstance(given, str) and given in (DRAWN, FIRST):
        if learner.by_state and given == FIRST:
            raise InvalidInput(
                f"start = {given!r} was given with {learner.name}, which begins with nothing:"
                " leave it out"
            )
        return given
    if getattr(given, "goal", goal) != goal:
        raise InvalidInput(f"a fit with another goal was given; it must be one with goal {goal}")
    if isinstance(given, Mapping):
        if sorted(given) != sorted(groups):
            raise InvalidInput(
                f"a start of the groups {', '.join(map(str, given))} was given; it must be of"
                f" {', '.join(groups) or 'none'}"
            )
        return {name: _as_kept(given[name], learner, goal) for name in groups}
    return _as_kept(given, learner, goal)


def _as_kept(given: object, learner: AnyLearner, goal: int) -> list[Any]:
    """Return counters, or those of a fit, as a configuration keeps them."""
    if learner.by_state:
        kept = as_kept(_counts_by_state(given, goal))
        check_kept_start(kept, goal, [], by_state=True)
        return kept
    counters = getattr(given, "counters", given)  # A fit has counters.
    if not isinstance(counters, Counters):
        raise InvalidInput(
            f"start = {given!r} was given; it must be 'drawn', 'first', counters or a fit"
        )
    known = check_counters(counters, learner)
    _refuse_parts(known, known)
    return list(known)


def _counts_by_state(given: object, goal: int) -> StateCounters:
    """Return counters by state, or those of a fit."""
    if isinstance(given, StateCounters):
        return given
    rows, cases = getattr(given, "by_state", None), getattr(given, "cases", 0)
    if rows is None:
        raise InvalidInput(
            f"start = {given!r} was given with a learner by state; it must be counters by state or"
            " a fit"
        )
    n = empty_state_counters(goal)._replace(rho=cases + 1)
    for row in rows:
        at = row.state - 1
        n.up[at], n.down[at] = row.c_up, row.c - row.c_up
        n.won[at], n.lost[at] = row.f_goal, row.f - row.f_goal
    return n


def count_records(
    begun: Any, tables: Mapping[str, StateCounters], *, by_state: bool
) -> Counters | StateCounters:
    """Return what was counted in some groups of a study, with what they began with.

    Records that were not counted by state cannot be added to what is, and are left out there.
    """
    starts = [begun] if isinstance(begun, list) else []
    if isinstance(begun, dict):
        starts = [begun[name] for name in tables]
    known = [as_kept(n) for n in tables.values()]
    known += [one for one in starts if isinstance(one[1], list)]
    rounds = 1 + sum(one[0] - 1 for one in known)
    n = make_state_counters(rounds, np.sum([one[1:] for one in known], axis=0))
    if by_state:
        return n
    parts = [first_counts(as_kept(n), by_state=True)]
    parts += [Counters(*one) for one in starts if not isinstance(one[1], list)]
    return _add_all(parts)


def make_state_counters(rho: int, counts: Any) -> StateCounters:
    """Return counters by state from up, down, won and lost, as one list or four."""
    up, down, won, lost = np.array(counts, dtype=float).reshape(4, -1)
    return StateCounters(rho, up, down, won, lost, np.zeros((0, 0)))


def as_kept(n: StateCounters) -> list[Any]:
    """Return counters by state as a configuration keeps them."""
    return [int(n.rho), *(np.asarray(part, float).tolist() for part in n[1:5])]


def _add_all(parts: list[Counters]) -> Counters:
    """Add counters of different cases."""
    counts = map(sum, zip(*(n[1:] for n in parts), strict=True))
    return Counters(1 + sum(n.rho - 1 for n in parts), *counts)


def check_kept_start(start: object, goal: int, groups: list[str], *, by_state: bool) -> None:
    """Refuse a start, as a configuration keeps it, that is neither a word nor counters."""
    if isinstance(start, dict):
        if sorted(start) != sorted(groups):
            raise InvalidInput(f"start = {start!r} was given; it must be of the groups {groups}")
        for one in start.values():
            check_kept_start(one, goal, [], by_state=by_state)
        return
    size = 5 if by_state else len(NO_COUNTS)
    if not isinstance(start, list) or len(start) != size:
        what = "a round and 4 lists" if by_state else f"{size} counters"
        raise InvalidInput(f"start = {start!r} was given; it must be 'drawn', 'first', or {what}")
    if not by_state:
        check_counters(Counters(*start), find_problem_learner("threshold-0", 2))
        _refuse_parts(start, start)
        return
    rho, *lists = start
    fits = all(isinstance(part, list) and len(part) == goal - 1 for part in lists)
    counts = [one for part in lists for one in part] if fits else []
    numbers = [type(one) in (int, float) and 0 <= one < 2**53 for one in counts]
    if not fits or not all(numbers) or type(rho) is not int or not 1 <= rho < 2**53:
        raise InvalidInput(
            f"start = {start!r} was given; it must be a round, and 4 lists of {goal - 1} counts"
        )
    _refuse_parts(start, counts)


def _refuse_parts(start: object, counts: Any) -> None:
    """Refuse counts that are not whole: records are."""
    if any(count != int(count) for count in counts):
        raise InvalidInput(f"start = {start!r} was given; counts of records must be whole numbers")


def first_round(start: Any) -> int:
    """Return the round of the first case: those of the records come before."""
    if isinstance(start, dict):
        return 1 + sum(int(one[0]) - 1 for one in start.values())
    return 1 if isinstance(start, str) else int(start[0])


def first_counts(start: Any, *, by_state: bool) -> Counters:
    """Return the counters of Algorithm 1 that records make, of all groups together."""
    if isinstance(start, dict):
        return _add_all([first_counts(one, by_state=by_state) for one in start.values()])
    if not by_state:
        return Counters(*start)
    up, down, won, lost = map(sum, start[1:])
    return NO_COUNTS._replace(rho=start[0], f=won + lost, f_goal=won, c=up + down, c_up=up)
