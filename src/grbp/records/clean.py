"""The clean records: what is left of a table when every rule has been applied to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from grbp.numerics.arrays import Bools, Ints
from grbp.worlds.labels import Labels
from grbp.worlds.transition import DEAD_END

OPEN: Final = -1
"""The next state of a row that leaves it empty: what came of the action is not known yet."""

_COLUMNS: Final = ("case", "step", "state", "action", "next_state", "count", "group")
_NONE: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Records:
    """Rows of past cases that satisfy every rule, sorted by case and then by step.

    The arrays have one entry for each row that was kept, and cannot be written to.

    Parameters
    ----------
    goal : int
        The state in which a case is won.
    rows : int
        The rows that were read, those left out among them.
    cases : int
        The number of cases; 0 where the rows are aggregated.
    case : ndarray of int
        The number of each row's case, from 0. Cases are in the order of the column ``order``, or
        else of their first appearance.
    step, state, action : ndarray of int
        The step, the state before the action, and the action (`grbp.Action`).
    next_state : ndarray of int
        The state after it, or OPEN where it was left empty: such a state was visited, but the
        row is no transition.
    count : ndarray of int
        How many observed transitions a row stands for: one, unless the rows are aggregated.
    groups : tuple of str
        The names of the groups, in the order of their first appearance.
    group : ndarray of int
        The number of each row's group; zeros where no group was asked for.
    aggregated : bool
        Whether rows are counts of transitions that belong to no case.
    open_empty_next, open_no_row : int
        The cases that have not ended: because the last next state is empty, or because it is an
        inner state without a row of its own.
    dropped : mapping of str to int
        The rows that were left out, by the rule that they broke. What followed them in their
        cases is counted under ``"rest-of-case"``.
    first_lines : mapping of str to int
        The line, or row of a frame, of the first row that was left out by each rule.
    notes : tuple of str
        Warnings, in whole sentences.
    labels : Labels
        What the table calls its states and actions.
    """

    goal: int
    rows: int
    cases: int
    case: Ints
    step: Ints
    state: Ints
    action: Ints
    next_state: Ints
    count: Ints
    groups: tuple[str, ...]
    group: Ints
    aggregated: bool
    open_empty_next: int
    open_no_row: int
    dropped: Mapping[str, int] = field(default_factory=lambda: _NONE)
    first_lines: Mapping[str, int] = field(default_factory=lambda: _NONE)
    notes: tuple[str, ...] = ()
    labels: Labels = Labels()  # noqa: RUF009 (it cannot be changed)

    def __post_init__(self) -> None:
        for name in _COLUMNS:
            getattr(self, name).setflags(write=False)

    def in_group(self, k: int) -> "Records":
        """Return the records of one group, whose cases are numbered anew.

        What was left out of the table, and the notes on it, belong to the whole.
        """
        here = self.group == k
        columns = {name: getattr(self, name)[here] for name in _COLUMNS}
        cases, empty, no_row = 0, 0, 0
        if not self.aggregated:
            columns["case"], cases = renumber_cases(columns["case"])
            empty, no_row = count_open_cases(self.goal, columns["case"], columns["next_state"])
        columns["group"] = np.zeros_like(columns["group"])
        return replace(
            self,
            **columns,
            rows=int(np.count_nonzero(here)),
            cases=cases,
            groups=(self.groups[k],) if self.groups else (),
            open_empty_next=empty,
            open_no_row=no_row,
            dropped=_NONE,
            first_lines=_NONE,
            notes=(),
        )


def renumber_cases(case: Ints) -> tuple[Ints, int]:
    """Return sorted cases numbered from 0 without gaps, and how many there are."""
    new = first_of_case(case)
    number = np.cumsum(new) - 1
    return number, int(np.count_nonzero(new))


def first_of_case(case: Ints) -> Bools:
    """Return which rows, sorted by case, are the first of theirs."""
    new = np.ones(len(case), dtype=np.bool_)
    np.not_equal(case[1:], case[:-1], out=new[1:])
    return new


def count_open_cases(goal: int, case: Ints, next_state: Ints) -> tuple[int, int]:
    """Count the cases whose last next state is empty, and those where it is an inner state."""
    last = next_state[np.roll(first_of_case(case), -1)]
    empty = int(np.count_nonzero(last == OPEN))
    return empty, int(np.count_nonzero((last > DEAD_END) & (last < goal)))
