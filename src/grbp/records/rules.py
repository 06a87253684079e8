"""The rules for the irregularities of a table, each with the sentence that says where it is broken.

| rule | what breaks it |
|---|---|
| cells | a row with too few or too many cells |
| case, group | an empty case or group |
| step, count | not a whole number |
| order | neither a number nor an ISO date, or of another kind than the first |
| state, next-state | not a whole number from 0 to the goal, and not mapped to one |
| action | neither continue nor finish, and not mapped to one |
| after-end | an action in an end, or a row after the end of its case |
| finish-inside | FINISH that leads to an inner state |
| duplicate | the same row of a case twice: left out, never an error |
| conflict | the same step of a case twice, with different cells |
| after-open | a row after one whose next state is empty |
| gap | a step that does not follow the one before |
| link | a state that is not the next state of the row before |
| group-changes, order-changes | a group or an order that changes inside a case |

A next state that is left empty, or that has no row, leaves its case open; a continue that stays in
place or jumps is kept. Neither is an error.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import numpy as np

from grbp.errors import InvalidRecords, Irregularity
from grbp.numerics.arrays import Bools, Ints
from grbp.records.clean import OPEN, first_of_case
from grbp.records.columns import (
    ACTION,
    CASE,
    NEXT_STATE,
    ORDER,
    STATE,
    STEP,
    Column,
    Table,
    shorten,
)
from grbp.worlds.transition import DEAD_END, Action

MOST_LISTED: Final = 20
"""Problems that are kept one by one; the others are counted."""

_MOST_TEXTS: Final = 10
"""Different texts that break the same rule and are told apart; more have one cause."""

_MOST_PLACES: Final = 3
"""Further places that are named of what has one cause."""

REST: Final = "rest-of-case"
"""What the rows after the first bad one of a case are counted as."""

DUPLICATE: Final = "duplicate"

Say: TypeAlias = Callable[[int], str]
"""A function from the number of a row to what is wrong with it."""


class Finding(NamedTuple):
    """A rule, the column it is about, and the rows that break it, with a sentence for each.

    Where the sentence tells no more than the text of the cell, rows have the number of the text.
    """

    rule: str
    column: str
    rows: Ints
    say: Say
    texts: Ints | None = None


@dataclass
class Rows:
    """The rows of a table as numbers, in the order of the table, and what is wrong with them.

    Attributes
    ----------
    goal : int
    values : dict of str to ndarray
        The columns by their roles, and `group`.
    broken : ndarray of int
        For each row, one more than the place in `findings` of the first rule that it breaks; 0
        where it breaks none.
    findings : list of Finding
    """

    table: Table
    goal: int
    values: dict[str, Ints]
    broken: Ints
    findings: list[Finding] = field(default_factory=list)

    def find(
        self, rule: str, column: str, where: Bools, say: Say, texts: Ints | None = None
    ) -> None:
        """Note the rows that break a rule."""
        if where.any():
            texts = None if texts is None else texts[where]
            self._add(Finding(rule, column, np.flatnonzero(where), say, texts))

    def name(self, role: str) -> str:
        """Return the name that a role has in the table; several groups have several."""
        columns = self.table.groups if role == "group" else [self.table.columns[role]]
        return " / ".join(column.name for column in columns)

    def _add(self, finding: Finding) -> None:
        self.findings.append(finding)
        fresh = finding.rows[self.broken[finding.rows] == 0]
        self.broken[fresh] = len(self.findings)

    # The rules about one row

    def check_cells(self, role: str, column: Column, bad: Bools, allowed: str) -> None:
        """Apply the rule that a column must be understood; uneven rows have broken one already."""

        def say(row: int) -> str:
            text = shorten(column.texts[column.codes[row]])
            given = f"{text!r} was given" if text else "the cell is empty"
            return f"{given}; {allowed}"

        where = bad[column.codes] & ~self.table.uneven
        if role in (ACTION, NEXT_STATE):
            where &= ~self.in_end()
        self.find(role.replace("_", "-"), column.name, where, say, column.codes)

    def in_end(self) -> Bools:
        """Return which rows have a state in which there is no action."""
        state = self.values[STATE]
        ends: Bools = (state == DEAD_END) | (state == self.goal)
        return ends

    def check_transitions(self) -> None:
        """Apply the rules about what a single row can say."""
        state, next_state = self.values[STATE], self.values[NEXT_STATE]
        self.find(
            "after-end", self.name(STATE), (self.broken == 0) & self.in_end(),
            lambda row: f"state {state[row]} is an end, in which there is no action; leave the row"
            " out",
        )  # fmt: skip
        inner = (next_state > DEAD_END) & (next_state < self.goal)
        finish = self.values[ACTION] == Action.FINISH
        self.find(
            "finish-inside", self.name(NEXT_STATE), (self.broken == 0) & finish & inner,
            lambda row: f"finish led to state {next_state[row]}; it must end the case in 0 or"
            f" {self.goal}, or be left empty",
        )  # fmt: skip

    # The rules about the row before

    def check_neighbours(self, order: Ints) -> None:
        """Apply the rules about rows of a case that follow each other, sorted and each once."""
        place, now = self.table.places[order], {k: v[order] for k, v in self.values.items()}
        fine = self.broken[order] == 0
        pairs = (now[CASE][1:] == now[CASE][:-1]) & fine[1:] & fine[:-1]
        steps = np.diff(now[STEP])
        before, state = now[NEXT_STATE][:-1], now[STATE][1:]

        def earlier(k: int) -> str:
            """Name the first row of a pair."""
            return self.table.name_place(int(place[k]))

        def find(rule: str, role: str, where: Bools, say: Callable[[int], str]) -> Ints:
            """Note the second rows of some pairs, leave those pairs to this rule, return them."""
            at = np.flatnonzero(pairs & where)
            if len(at):
                pairs[at] = False
                pair_of = {int(order[k + 1]): int(k) for k in at[_earliest(place[at + 1])]}
                rows = np.sort(order[at + 1])
                self._add(Finding(rule, self.name(role), rows, lambda row: say(pair_of[row])))
            return at

        both = find("conflict", STEP, steps == 0, lambda k: (
            f"step {now[STEP][k]} of this case is also in {earlier(k)}, with different cells"
        ))  # fmt: skip
        # Which of the two is right is not known, so a case is cut before both.
        self.broken[order[both]] = self.broken[order[both + 1]]
        find("after-end", STATE, (before == DEAD_END) | (before == self.goal), lambda k: (
            f"the case ended in state {before[k]} in {earlier(k)}; no row may follow"
        ))  # fmt: skip
        find("gap", STEP, steps != 1, lambda k: (
            f"step {now[STEP][k + 1]} follows step {now[STEP][k]} of {earlier(k)}; the steps"
            " between are missing"
        ))  # fmt: skip
        find("after-open", STATE, before == OPEN, lambda k: (
            f"the next state in {earlier(k)} is empty, which leaves the case open, and yet a"
            " row follows; fill it in"
        ))  # fmt: skip
        find("link", STATE, before != state, lambda k: (
            f"state {state[k]} was given, but the next state in {earlier(k)}, the previous row"
            f" of this case, is {before[k]}"
        ))  # fmt: skip
        for role in ("group", ORDER):
            if role in now:
                find(f"{role}-changes", role, now[role][1:] != now[role][:-1], lambda k, r=role: (  # type: ignore[misc]
                    f"the {r} differs from {earlier(k)}, an earlier row of this case; it"
                    " must be the same in all rows of a case"
                ))  # fmt: skip

    def find_duplicates(self, order: Ints) -> Bools:
        """Return which rows, as sorted, say the same as the row before of their case and step."""
        fine = self.broken[order] == 0
        same = fine[1:] & fine[:-1]
        for column in self.values.values():
            now = column[order]
            same &= now[1:] == now[:-1]
        return np.concatenate([[False], same])

    # What becomes of it

    def refuse(self) -> NoReturn:
        """Refuse a table that breaks rules: the first problems by line, and every cause."""
        total = sum(len(finding.rows) for finding in self.findings)
        first = [
            (int(self.table.places[row]), finding, int(row))
            for finding in self.findings
            for row in finding.rows[_earliest(self.table.places[finding.rows])]
        ]
        first.sort(key=lambda item: item[0])
        problems = [self._describe(*item) for item in first[:MOST_LISTED]]
        parts = (part for finding in self.findings for part in _split(finding))
        causes = sorted(map(self._describe_cause, parts), key=lambda cause: cause.line)
        raise InvalidRecords(problems, total, [cause.sentence for cause in causes])

    def _describe(self, place: int, finding: Finding, row: int, more: str = "") -> Irregularity:
        """Say what is wrong with a row, and where."""
        where = self.table.name_place(place) + more
        where += f", column {finding.column}" if finding.column else ""
        sentence = f"{where}: {finding.say(row)} [{finding.rule}]"
        return Irregularity(place, finding.column, finding.rule, sentence)

    def _describe_cause(self, finding: Finding) -> Irregularity:
        """Say what is wrong with the first of some rows, and how many are like it."""
        row, *others = finding.rows[: _MOST_PLACES + 1].tolist()
        more = ""
        if others:
            left = len(finding.rows) - 1
            different = 0 if finding.texts is None else len(np.unique(finding.texts)) - 1
            named = ", ".join(str(self.table.places[other]) for other in others)
            more = (
                f" and {left:,} more {'row' if left == 1 else 'rows'} like it"
                f"{f', with {different:,} other texts' if different else ''}"
                f" ({named}{', ...' if left > len(others) else ''})"
            )
        return self._describe(int(self.table.places[row]), finding, row, more)

    def group_by_rule(self, rows: Ints) -> dict[str, Ints]:
        """Return which of some rows were the first to break each rule."""
        by_rule: dict[str, Any] = {}
        for k in np.unique(self.broken[rows]).tolist():
            rule = self.findings[k - 1].rule
            here = rows[self.broken[rows] == k]
            by_rule[rule] = np.concatenate([by_rule[rule], here]) if rule in by_rule else here
        return by_rule


def _split(finding: Finding) -> Iterator[Finding]:
    """Split a finding by what stands in the cells, unless that is too many different things."""
    texts = finding.texts
    if texts is None or len(different := np.unique(texts)) > _MOST_TEXTS:
        yield finding
        return
    for text in different:
        yield finding._replace(rows=finding.rows[texts == text], texts=None)


def _earliest(places: Ints) -> Ints:
    """Return the positions of those of some places that come first in the table."""
    if len(places) <= MOST_LISTED:
        return np.arange(len(places))
    return np.argpartition(places, MOST_LISTED)[:MOST_LISTED]


def cut_cases(case: Ints, broken: Bools) -> tuple[Bools, Bools]:
    """Return the first broken row of each case, and the rows after it; all are sorted."""
    so_far = np.cumsum(broken)
    new = first_of_case(case)
    base = np.where(new, so_far - broken, 0)
    in_case: Ints = so_far - np.maximum.accumulate(base)
    first = broken & (in_case == 1)
    return first, (in_case > 0) & ~first
