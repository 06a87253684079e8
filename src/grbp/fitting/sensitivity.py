"""Whether the answer changes when an assumption is dropped.

With enough rows every assumption fails a test, and little of that matters. So each test has beside
it what the decision would be without the assumption.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from grbp.fitting.assumptions import (
    AT_RANDOM,
    CASES_ALIKE,
    NO_DRIFT,
    NO_DRIFT_F,
    NO_MEMORY,
    SAME_BY_STATE,
    SAME_C_BY_GROUP,
    SAME_F_BY_GROUP,
    SAME_F_BY_STATE,
    TREND_BY_STATE,
    AssumptionTest,
)
from grbp.fitting.statewise import StatewiseChain
from grbp.fitting.transitions import Transitions
from grbp.model.transition import Action
from grbp.numerics.arrays import Bools, Ints
from grbp.records.clean import OPEN
from grbp.theory.dynprog import solve_many
from grbp.theory.posterior import Estimate
from grbp.theory.values import boundary


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The decision without each assumption, beside that of the model.

    Parameters
    ----------
    moves : Transitions
        What was recorded.
    direct : Estimate or None
        The value of continuing in state 1 as it was seen.
    general : StatewiseChain or None
        The chain state by state.
    """

    moves: Transitions
    direct: Estimate | None
    general: StatewiseChain | None

    def judge(self, test: AssumptionTest) -> AssumptionTest:
        """Return a test that says whether the answer changes without what it tests."""
        ways: dict[str, Callable[[], int | None]] = {
            SAME_BY_STATE: self._by_state,
            TREND_BY_STATE: self._by_state,
            NO_MEMORY: self._directly,
            CASES_ALIKE: self._directly,
            NO_DRIFT: lambda: self._side(c=self._late()),
            NO_DRIFT_F: lambda: self._side(f=self._late()),
            SAME_F_BY_STATE: self._finish_by_state,
            SAME_C_BY_GROUP: lambda: self._any_group(lambda rows: self._side(c=rows)),
            SAME_F_BY_GROUP: lambda: self._any_group(lambda rows: self._side(f=rows)),
            AT_RANDOM: self._pending,
        }
        base, other = self._base, ways[test.assumption]()
        changes = None if base is None or other is None else base != other
        return replace(test, changes_answer=changes)

    @cached_property
    def _base(self) -> int | None:
        """The threshold that is right in the model."""
        return self._side()

    def _side(self, c: Bools | None = None, f: Bools | None = None) -> int | None:
        """Return the threshold that is right, with p_C and p_F from some of the rows."""
        m = self.moves
        up, down = self._counted(m.stepped, m.distance > 0, c)
        won, lost = self._counted(m.finished, m.records.next_state == m.records.goal, f)
        return self._compared(won, lost, up, down)

    def _counted(self, kind: Bools, good: Bools, rows: Bools | None) -> tuple[int, int]:
        kept = kind if rows is None else kind & rows
        count = self.moves.records.count
        return int(count[kept & good].sum()), int(count[kept & ~good].sum())

    def _compared(self, won: int, lost: int, up: int, down: int) -> int | None:
        if not won + lost or not up + down:
            return None
        even = boundary(self.moves.records.goal, up / (up + down))
        return int(won / (won + lost) >= even)

    def _by_state(self) -> int | None:
        """Return the threshold that the general chain plays, or goal if it plays none."""
        known = self.general
        if known is None or np.isnan(known.finish[0]):
            return None
        return self._played(known.action, ~np.isnan(known.finish))

    def _played(self, action: Ints, judged: Bools) -> int | None:
        """Return the model's threshold if some states are played as by it, and goal if not."""
        base, states = self._base, np.arange(1, self.moves.records.goal)
        if base is None:
            return None
        as_base = (action == 1) == (states <= base)
        return base if as_base[judged].all() else self.moves.records.goal

    def _finish_by_state(self) -> int | None:
        """Return what is played where p_C is common and every state has its own p_F."""
        moves, known = self.moves, self.general
        up, down = int(moves.ups.sum()), int(moves.downs.sum())
        if known is None or not up + down:
            return self._side(f=moves.records.state == 1)
        tried = ~np.isnan(known.p_f)
        states = np.arange(moves.records.goal - 1)
        law = np.zeros((1, len(states), len(states) + 2))
        law[0, states, states + 2], law[0, states, states] = up / (up + down), down / (up + down)
        return self._played(solve_many(law, known.p_f[None]).action[0], tried)

    def _directly(self) -> int | None:
        won, lost = int(self.moves.wins.sum()), int(self.moves.losses.sum())
        if self.direct is None or not won + lost:
            return None
        return int(won / (won + lost) >= self.direct.estimate)

    def _late(self) -> Bools:
        """Return the rows of the second half of all cases; none where rows have no cases."""
        late: Bools = 2 * self.moves.records.case >= max(1, self.moves.records.cases)
        return late

    def _any_group(self, side: Callable[[Bools], int | None]) -> int | None:
        """Return the side of a group that differs from that of all, if there is one."""
        records, base = self.moves.records, self._base
        sides = [side(records.group == k) for k in range(len(records.groups))]
        told = [one for one in sides if one is not None]
        return next((one for one in told if one != base), base) if told else None

    def _pending(self) -> int | None:
        """Return the side that differs if all that is pending is lost, or all won."""
        records, base = self.moves.records, self._base
        waiting = records.next_state == OPEN
        c = int(records.count[waiting & (records.action == Action.CONTINUE)].sum())
        f = int(records.count[waiting & (records.action == Action.FINISH)].sum())
        up, down = int(self.moves.ups.sum()), int(self.moves.downs.sum())
        won, lost = int(self.moves.wins.sum()), int(self.moves.losses.sum())
        for good_f in (0, f):
            for good_c in (0, c):
                side = self._compared(
                    won + good_f, lost + f - good_f, up + good_c, down + c - good_c
                )
                if side is not None and side != base:
                    return side
        return base
