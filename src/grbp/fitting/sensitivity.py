"""Whether the answer changes when an assumption is dropped.

With enough rows every assumption fails a test, and little of that matters. So each test has beside
it what the decision would be without the assumption.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from grbp.fitting.assumptions import (
    AT_RANDOM,
    CASES_ALIKE,
    NO_DRIFT,
    NO_DRIFT_F,
    NO_MEMORY,
    NO_SHIFT,
    SAME_BY_STATE,
    SAME_C_BY_GROUP,
    SAME_F_BY_GROUP,
    SAME_F_BY_STATE,
    TREND_BY_STATE,
    AssumptionTest,
    sum_over_cases,
)
from grbp.fitting.statewise import StatewiseChain
from grbp.fitting.transitions import Transitions
from grbp.numerics.arrays import Bools, Ints
from grbp.records.clean import OPEN
from grbp.theory.posterior import Estimate
from grbp.theory.values import boundary
from grbp.worlds.dynprog import solve_many
from grbp.worlds.transition import Action

_SMALL_SIDE: Final = 0.1
"""A stretch with a smaller share of the cases than that has no answer of its own."""


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The decision without each assumption, beside that of the model.

    Parameters
    ----------
    moves : Transitions
        What was recorded.
    direct : Estimate or None
        The value of continuing in state 1 as it was seen.
    chain : StatewiseChain or None
        The chain state by state.
    """

    moves: Transitions
    direct: Estimate | None
    chain: StatewiseChain | None

    def judge(self, test: AssumptionTest) -> AssumptionTest:
        """Return a test that says whether the answer changes without what it tests."""
        thresholds: dict[str, Callable[[], int | None]] = {
            SAME_BY_STATE: self._by_state,
            TREND_BY_STATE: self._by_state,
            NO_MEMORY: self._by_what_was_seen,
            CASES_ALIKE: self._by_what_was_seen,
            NO_DRIFT: lambda: self._from_rows(c=self._later_half()),
            NO_SHIFT: self._around_shift,
            NO_DRIFT_F: lambda: self._from_rows(f=self._later_half()),
            SAME_F_BY_STATE: self._by_p_f_of_state,
            SAME_C_BY_GROUP: lambda: self._of_a_group(lambda rows: self._from_rows(c=rows)),
            SAME_F_BY_GROUP: lambda: self._of_a_group(lambda rows: self._from_rows(f=rows)),
            AT_RANDOM: self._with_open_cases,
        }
        base, other = self._base, thresholds[test.assumption]()
        changes = None if base is None or other is None else base != other
        return replace(test, changes_answer=changes)

    # Each of the following returns a threshold, the goal if none is right, or None if unknown.

    @cached_property
    def _base(self) -> int | None:
        """The threshold that is right in the model."""
        return self._from_rows()

    def _from_rows(self, c: Bools | None = None, f: Bools | None = None) -> int | None:
        """Return the threshold that is right, with p_C and p_F from some of the rows."""
        m = self.moves
        up, down = self._count(m.stepped, m.distance > 0, c)
        won, lost = self._count(m.finished, m.records.next_state == m.records.goal, f)
        return self._from_counts(won, lost, up, down)

    def _count(self, kind: Bools, good: Bools, rows: Bools | None) -> tuple[int, int]:
        """Count the rows of a kind, among some rows, that came out well and that did not."""
        chosen = kind if rows is None else kind & rows
        count = self.moves.records.count
        return int(count[chosen & good].sum()), int(count[chosen & ~good].sum())

    def _from_counts(self, won: int, lost: int, up: int, down: int) -> int | None:
        """Return the threshold that is right, with p_C and p_F as they were counted."""
        if not won + lost or not up + down:
            return None
        return int(won / (won + lost) >= boundary(self.moves.records.goal, up / (up + down)))

    def _by_state(self) -> int | None:
        """Return the threshold that the chain plays whose states have their own chances."""
        chain = self.chain
        if chain is None or np.isnan(chain.finish[0]):
            return None
        return self._if_played(chain.action, ~np.isnan(chain.finish))

    def _if_played(self, action: Ints, judged: Bools) -> int | None:
        """Return the model's threshold if some states are played as by it, and goal if not."""
        base, states = self._base, np.arange(1, self.moves.records.goal)
        if base is None:
            return None
        as_base = (action == 1) == (states <= base)
        return base if as_base[judged].all() else self.moves.records.goal

    def _by_p_f_of_state(self) -> int | None:
        """Return what is played where p_C is common and every state has its own p_F."""
        moves, chain = self.moves, self.chain
        up, down = int(moves.ups.sum()), int(moves.downs.sum())
        if chain is None or not up + down:
            return self._from_rows(f=moves.records.state == 1)
        states = np.arange(moves.records.goal - 1)
        law = np.zeros((1, len(states), len(states) + 2))
        law[0, states, states + 2], law[0, states, states] = up / (up + down), down / (up + down)
        action = solve_many(law, chain.p_f[None]).action[0]
        return self._if_played(action, ~np.isnan(chain.p_f))

    def _by_what_was_seen(self) -> int | None:
        """Compare p_F with what became of the cases that went on in state 1."""
        won, lost = int(self.moves.wins.sum()), int(self.moves.losses.sum())
        if self.direct is None or not won + lost:
            return None
        return int(won / (won + lost) >= self.direct.estimate)

    def _later_half(self) -> Bools:
        """Return the rows of the second half of all cases; none where rows have no cases."""
        late: Bools = 2 * self.moves.records.case >= max(1, self.moves.records.cases)
        return late

    def _around_shift(self) -> int | None:
        """Return the threshold that differs before or after p_C changed most, if one does."""
        total = sum_over_cases(self.moves)
        if total is None:
            return None
        last = int(np.abs(total).argmax())
        late: Bools = self.moves.records.case > last
        sides = [(late, len(total) - last - 1), (~late, last + 1)]
        large = [rows for rows, cases in sides if cases > _SMALL_SIDE * len(total)]
        return self._that_differs([self._from_rows(c=rows) for rows in large])

    def _of_a_group(self, threshold: Callable[[Bools], int | None]) -> int | None:
        """Return the threshold of a group that differs from that of all, if there is one."""
        records = self.moves.records
        found = [threshold(records.group == k) for k in range(len(records.groups))]
        return self._that_differs(found)

    def _with_open_cases(self) -> int | None:
        """Return the threshold that differs if all that is open is lost, or all won."""
        records = self.moves.records
        waiting = records.next_state == OPEN
        c = int(records.count[waiting & (records.action == Action.CONTINUE)].sum())
        f = int(records.count[waiting & (records.action == Action.FINISH)].sum())
        up, down = int(self.moves.ups.sum()), int(self.moves.downs.sum())
        won, lost = int(self.moves.wins.sum()), int(self.moves.losses.sum())
        found = [
            self._from_counts(won + good_f, lost + f - good_f, up + good_c, down + c - good_c)
            for good_f in (0, f)
            for good_c in (0, c)
        ]
        return self._that_differs([self._base, *found])

    def _that_differs(self, found: Sequence[int | None]) -> int | None:
        """Return a threshold that is not the model's, or else the model's if any is known."""
        known = [one for one in found if one is not None]
        return next((one for one in known if one != self._base), self._base) if known else None
