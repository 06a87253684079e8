"""Count the moves of clean records, in the form that estimates and tests need."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from grbp.model.transition import Action
from grbp.numerics.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from grbp.records.clean import Records

_ROUNDING: Final = 1e-9
"""What rounding may leave of a difference that is none, in a sum over a million moves."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """The transitions of records, each with what it was.

    An array over states has an entry for every inner state, from 1 to goal - 1.

    Parameters
    ----------
    records : Records
        Clean records.
    """

    records: "Records"

    @cached_property
    def known(self) -> Bools:
        """Which rows have an outcome."""
        known: Bools = self.records.next_state >= 0
        return known

    @cached_property
    def distance(self) -> Ints:
        """How far each row moved towards the goal; without meaning where the outcome is open."""
        return self.records.next_state - self.records.state

    @cached_property
    def continued(self) -> Bools:
        """Which rows took CONTINUE and have an outcome."""
        continued: Bools = self.known & (self.records.action == Action.CONTINUE)
        return continued

    @cached_property
    def stepped(self) -> Bools:
        """Which rows moved by one state under CONTINUE: these alone are in p_C."""
        stepped: Bools = self.continued & (np.abs(self.distance) == 1)
        return stepped

    @cached_property
    def jumped(self) -> Bools:
        """Which rows moved by more than one state under CONTINUE."""
        jumped: Bools = self.continued & (np.abs(self.distance) > 1)
        return jumped

    @cached_property
    def finished(self) -> Bools:
        """Which rows took FINISH and have an outcome."""
        finished: Bools = self.known & (self.records.action == Action.FINISH)
        return finished

    def by_state(self, rows: Bools) -> Ints:
        """Count rows by their state."""
        counts = np.bincount(
            self.records.state[rows],
            weights=self.records.count[rows],
            minlength=self.records.goal,
        )
        return np.rint(counts[1 : self.records.goal]).astype(np.int64)

    @cached_property
    def ups(self) -> Ints:
        """How often CONTINUE moved one state up, by state."""
        return self.by_state(self.stepped & (self.distance > 0))

    @cached_property
    def downs(self) -> Ints:
        """How often CONTINUE moved one state down, by state."""
        return self.by_state(self.stepped & (self.distance < 0))

    @cached_property
    def stays(self) -> Ints:
        """How often CONTINUE stayed, by state."""
        return self.by_state(self.continued & (self.distance == 0))

    @cached_property
    def jumps(self) -> Ints:
        """How often CONTINUE jumped further than one state, by state."""
        return self.by_state(self.jumped)

    @cached_property
    def wins(self) -> Ints:
        """How often FINISH reached the goal, by state."""
        return self.by_state(self.finished & (self.records.next_state == self.records.goal))

    @cached_property
    def losses(self) -> Ints:
        """How often FINISH reached the dead end, by state."""
        return self.by_state(self.finished & (self.records.next_state == 0))

    @cached_property
    def first_rows(self) -> Ints:
        """The first row of each case."""
        return np.flatnonzero(np.diff(self.records.case, prepend=-1))

    @cached_property
    def last_rows(self) -> Ints:
        """The last row of each case."""
        return np.append(self.first_rows[1:], len(self.records.case))[: self.records.cases] - 1

    @cached_property
    def first_states(self) -> Ints:
        """How many cases started in each state; for aggregated rows, how often one stood there."""
        if self.records.aggregated:
            return self.by_state(np.ones(len(self.records.state), dtype=np.bool_))
        starts = self.records.state[self.first_rows]
        return np.bincount(starts, minlength=self.records.goal)[1 : self.records.goal]

    @cached_property
    def ends(self) -> Ints:
        """The state in which each case ended; -1 for one that is open."""
        last = self.records.next_state[self.last_rows]
        return np.where((last == 0) | (last == self.records.goal), last, -1)

    @cached_property
    def steps(self) -> "Steps":
        """The moves by one state under CONTINUE, in order, with the residuals of the model."""
        return Steps.of(self)


@dataclass(frozen=True, eq=False)
class Steps:
    """The moves by one state under CONTINUE, in the order of cases and steps.

    Parameters
    ----------
    case, state : ndarray of int
        The case of each move, and the state in which it began.
    up : ndarray of float
        1 for a move up, 0 for one down.
    previous : ndarray of int
        1 or 0 as the move before it in the same case went; -1 where there is none, or a jump.
    """

    case: Ints
    state: Ints
    up: Floats
    previous: Ints

    @classmethod
    def of(cls, moves: Transitions) -> "Steps":
        """Take the moves out of the rows; staying is no move, and a jump has no direction here."""
        moving = np.flatnonzero(moves.stepped | moves.jumped)
        case = moves.records.case[moving]
        up = (moves.distance[moving] > 0).astype(np.int64)
        simple = moves.stepped[moving]
        known = np.zeros(len(moving), dtype=np.bool_)
        known[1:] = (case[1:] == case[:-1]) & simple[:-1]
        previous = np.where(known, np.roll(up, 1), -1)
        state = moves.records.state[moving]
        return cls(case[simple], state[simple], up[simple].astype(np.float64), previous[simple])

    @cached_property
    def share(self) -> Floats:
        """The share of moves up in the state of each move."""
        tries, ups = np.bincount(self.state), np.bincount(self.state, weights=self.up)
        share: Floats = (ups / np.maximum(tries, 1))[self.state]
        return share

    @cached_property
    def residual(self) -> Floats:
        """What each move is above the share of its state."""
        return self.up - self.share

    @cached_property
    def variance(self) -> Floats:
        """The variance of each move, given the share of its state."""
        return self.share * (1.0 - self.share)

    def centred(self, x: Floats) -> Floats:
        """Take from x its mean over the moves in the same state, which have one variance.

        Here x is of the order of one; what is left by rounding alone is no difference.
        """
        tries, total = np.bincount(self.state), np.bincount(self.state, weights=x)
        centred: Floats = x - (total / np.maximum(tries, 1))[self.state]
        return np.where(np.abs(centred) < _ROUNDING, 0.0, centred)

    def before(self, x: Floats) -> Floats:
        """Sum x over the earlier moves of the same case."""
        total = np.cumsum(x) - x
        first = np.flatnonzero(np.diff(self.case, prepend=-1))
        lengths = np.diff(np.append(first, len(x)))
        return total - np.repeat(total[first], lengths) if len(x) else total

    def by_case(self, x: Floats, cases: int) -> Floats:
        """Sum x over the moves of each case."""
        return np.bincount(self.case, weights=x, minlength=cases).astype(np.float64)
