"""Count the moves of clean records, in the form that estimates and tests need."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from grbp.numerics.arrays import Bools, Floats, Ints
from grbp.records.clean import Records, first_of_case
from grbp.worlds.transition import Action

_ROUNDING: Final = 1e-9
"""What rounding may leave of a difference that is none, in a sum over a million moves."""


class Transitions:
    """The transitions of records, each with what it was.

    Parameters
    ----------
    records : Records
        Clean records.

    Attributes
    ----------
    known : ndarray of bool
        Which rows have an outcome.
    distance : ndarray of int
        How far each row moved towards the goal; without meaning where the outcome is open.
    stepped, jumped : ndarray of bool
        Which rows moved under CONTINUE by one state, which alone are in p_C; and by more.
    finished : ndarray of bool
        Which rows took FINISH and have an outcome.
    ups, downs, stays, jumps : ndarray of int
        How often CONTINUE moved one state up, one down, stayed, and jumped further, for every
        inner state from 1 to goal - 1.
    wins, losses : ndarray of int
        How often FINISH reached the goal, and the dead end, for every inner state.
    """

    def __init__(self, records: Records) -> None:
        self.records = records
        self.known: Bools = records.next_state >= 0
        self.distance: Ints = records.next_state - records.state
        continued: Bools = self.known & (records.action == Action.CONTINUE)
        self.stepped: Bools = continued & (np.abs(self.distance) == 1)
        self.jumped: Bools = continued & (np.abs(self.distance) > 1)
        self.finished: Bools = self.known & (records.action == Action.FINISH)
        self.ups = self.count_by_state(self.stepped & (self.distance > 0))
        self.downs = self.count_by_state(self.stepped & (self.distance < 0))
        self.stays = self.count_by_state(continued & (self.distance == 0))
        self.jumps = self.count_by_state(self.jumped)
        self.wins = self.count_by_state(self.finished & (records.next_state == records.goal))
        self.losses = self.count_by_state(self.finished & (records.next_state == 0))

    def count_by_state(self, rows: Bools) -> Ints:
        """Count rows by their state."""
        return self._count_by(self.records.state, rows, self.records.goal)[1 : self.records.goal]

    def count_by_group(self, rows: Bools) -> Ints:
        """Count rows by their group."""
        return self._count_by(self.records.group, rows, len(self.records.groups))

    def _count_by(self, key: Ints, rows: Bools, size: int) -> Ints:
        counts = np.bincount(key[rows], weights=self.records.count[rows], minlength=size)
        return np.rint(counts).astype(np.int64)

    @cached_property
    def first_states(self) -> Ints:
        """How many cases started in each state; for aggregated rows, how often one stood there."""
        if self.records.aggregated:
            return self.count_by_state(np.ones(len(self.records.state), dtype=np.bool_))
        starts = self.records.state[first_of_case(self.records.case)]
        return np.bincount(starts, minlength=self.records.goal)[1 : self.records.goal]

    @cached_property
    def ends(self) -> Ints:
        """The state in which each case ended; -1 for one that is open."""
        last = self.records.next_state[np.roll(first_of_case(self.records.case), -1)]
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

    def centre(self, x: Floats) -> Floats:
        """Take from x its mean over the moves in the same state, which have one variance.

        Here x is of the order of one; what is left by rounding alone is no difference.
        """
        tries, total = np.bincount(self.state), np.bincount(self.state, weights=x)
        centred: Floats = x - (total / np.maximum(tries, 1))[self.state]
        return np.where(np.abs(centred) < _ROUNDING, 0.0, centred)

    def sum_before(self, x: Floats) -> Floats:
        """Sum x over the earlier moves of the same case."""
        total = np.cumsum(x) - x
        first = np.flatnonzero(first_of_case(self.case))
        lengths = np.diff(np.append(first, len(x)))
        return total - np.repeat(total[first], lengths) if len(x) else total

    def sum_by_case(self, x: Floats, cases: int) -> Floats:
        """Sum x over the moves of each case."""
        return np.bincount(self.case, weights=x, minlength=cases).astype(np.float64)
