"""Count the moves of clean records, in the form that estimates and tests need."""

import math
from functools import cached_property, partial
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
    forward : ndarray of bool
        Which rows succeeded: CONTINUE that went up, or FINISH that won.
    stepped, jumped : ndarray of bool
        Which rows moved under CONTINUE by one state, which alone are in p_C; and by more.
    finished : ndarray of bool
        Which rows took FINISH and have an outcome.
    ups, downs, stays, jumps : ndarray of int
        How often CONTINUE moved one state up, one down, stayed, and jumped further, for every
        inner state from 1 to goal - 1.
    wins, losses : ndarray of int
        How often FINISH reached the goal, and the dead end, for every inner state.
    first_states : ndarray of int
        How many cases started in each state; for aggregated rows, how often one stood there.
    ends : ndarray of int
        The state in which each case ended; -1 for one that is open.
    """

    def __init__(self, records: Records) -> None:
        self.records = records
        self.known: Bools = records.next_state >= 0
        self.distance: Ints = records.next_state - records.state
        self.forward: Bools = self.distance > 0
        continued: Bools = self.known & (records.action == Action.CONTINUE)
        self.stepped: Bools = continued & (np.abs(self.distance) == 1)
        self.jumped: Bools = continued & (np.abs(self.distance) > 1)
        self.finished: Bools = self.known & (records.action == Action.FINISH)
        by_state = partial(self.count_by, records.state, size=records.goal)
        self.ups = by_state(self.stepped & self.forward)[1:]
        self.downs = by_state(self.stepped & ~self.forward)[1:]
        self.stays = by_state(continued & (self.distance == 0))[1:]
        self.jumps = by_state(self.jumped)[1:]
        self.wins = by_state(self.finished & self.forward)[1:]
        self.losses = by_state(self.finished & ~self.forward)[1:]
        first = first_of_case(records.case)
        self.first_states = by_state(np.ones_like(first) if records.aggregated else first)[1:]
        last = records.next_state[np.roll(first, -1)]
        self.ends: Ints = np.where((last == 0) | (last == records.goal), last, -1)

    def count_by_group(self, rows: Bools) -> Ints:
        """Count rows by their group."""
        return self.count_by(self.records.group, rows, len(self.records.groups))

    def count_by(self, key: Ints, rows: Bools, size: int) -> Ints:
        """Count rows by a key below a size."""
        counts = np.bincount(key[rows], weights=self.records.count[rows], minlength=size)
        return np.rint(counts).astype(np.int64)

    def count(self, rows: Bools) -> tuple[int, int]:
        """Count how often some rows succeeded, and how often that was tried."""
        counts = self.records.count
        return int(counts[rows & self.forward].sum()), int(counts[rows].sum())

    @cached_property
    def steps(self) -> "Steps":
        """The moves by one state under CONTINUE, in order, with the residuals of the model."""
        return Steps(self)

    @cached_property
    def sum_over_cases(self) -> Floats | None:
        """What the moves of each case were above the share of their states, summed over cases.

        It is in units of its standard deviation by cases. Residuals are from shares of the same
        moves, so that the sum ends at 0: without a change of p_C it is like a Brownian bridge.
        """
        if self.records.aggregated:
            return None
        parts = self.steps.sum_by_case(self.steps.residual)
        spread = float((parts * parts).sum())
        total: Floats = np.cumsum(parts) / math.sqrt(spread or 1.0)
        return total if spread > 0.0 else None


class Steps:
    """The moves by one state under CONTINUE, in the order of cases and steps.

    Staying is no move, and a jump has no direction here.

    Parameters
    ----------
    moves : Transitions
        What was recorded.

    Attributes
    ----------
    case, state : ndarray of int
        The case of each move, and the state in which it began.
    up : ndarray of float
        1 for a move up, 0 for one down.
    previous : ndarray of int
        1 or 0 as the move before it in the same case went; -1 where there is none, or a jump.
    residual, variance : ndarray of float
        What each move is above the share of moves up in its state, and its variance by that share.
    """

    def __init__(self, moves: Transitions) -> None:
        records, moving = moves.records, np.flatnonzero(moves.stepped | moves.jumped)
        case, simple = records.case[moving], moves.stepped[moving]
        up = moves.forward[moving].astype(np.int64)
        known = np.zeros(len(moving), dtype=np.bool_)
        known[1:] = (case[1:] == case[:-1]) & simple[:-1]
        self.cases = records.cases
        self.case: Ints = case[simple]
        self.state: Ints = records.state[moving][simple]
        self.up: Floats = up[simple].astype(np.float64)
        self.previous: Ints = np.where(known, np.roll(up, 1), -1)[simple]
        share = self._mean_by_state(self.up)
        self.residual: Floats = self.up - share
        self.variance: Floats = share * (1.0 - share)

    def _mean_by_state(self, x: Floats) -> Floats:
        """Return for each move the mean of x over the moves in the same state."""
        tries, total = np.bincount(self.state), np.bincount(self.state, weights=x)
        mean: Floats = (total / np.maximum(tries, 1))[self.state]
        return mean

    def centre(self, x: Floats) -> Floats:
        """Take from x its mean over the moves in the same state, which have one variance.

        Here x is of the order of one; what is left by rounding alone is no difference.
        """
        centred: Floats = x - self._mean_by_state(x)
        return np.where(np.abs(centred) < _ROUNDING, 0.0, centred)

    def sum_before(self, x: Floats) -> Floats:
        """Sum x over the earlier moves of the same case."""
        total = np.cumsum(x) - x
        first = np.flatnonzero(first_of_case(self.case))
        lengths = np.diff(np.append(first, len(x)))
        return total - np.repeat(total[first], lengths) if len(x) else total

    def sum_by_case(self, x: Floats) -> Floats:
        """Sum x over the moves of each case."""
        return np.bincount(self.case, weights=x, minlength=self.cases).astype(np.float64)

    def effective_tries(self) -> float:
        """Return how many independent moves would say as much about p_C where cases differ.

        The variance of the share is that of a ratio of totals by case (cluster-robust, with
        n/(n - 1) for n cases that moved). It is itself estimated, from n cases: so it is made
        larger by the variance of Student's t with n - 1 degrees of freedom. There are never more
        than there are moves.
        """
        tries, share = len(self.up), float(self.up.mean())
        cases = len(np.unique(self.case))
        if cases <= 3:
            return float(min(tries, cases))
        parts = self.sum_by_case(self.up - share)
        variance = cases / (cases - 1.0) * float((parts * parts).sum()) / tries**2
        worth = share * (1.0 - share) / max(variance, 1e-300)
        return min(float(tries), (cases - 3.0) / (cases - 1.0) * worth)
