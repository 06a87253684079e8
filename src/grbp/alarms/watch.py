"""Five alarms over the counted moves of a study, each an e-process.

They ask whether the chance of CONTINUE, and that of FINISH, differs by state or changes over time,
and whether groups differ. An alarm rises when its evidence reaches 5/(1 - level), 100 at a level of
0.95. Each so has an error of at most (1 - level)/5, and all five together of at most 1 - level,
however often one looks (a union bound).
"""

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from grbp.alarms.evidence import Partitions, log_evidence, look
from grbp.errors import InvalidInput
from grbp.model.validation import check_whole
from grbp.numerics.intervals import check_level

NAMES: Final = ("p_C by state", "p_C over time", "p_F by state", "p_F over time", "groups")
"""The alarms, in the order in which a watch keeps them."""

_GROUPS: Final = 4
_MARKS: Final = tuple(round(16.0 * 2.0 ** (0.5 * j)) for j in range(40))
"""The numbers of moves after which the chance may have changed: an alternative for each."""

_MOST: Final = 2**53
_NEVER: Final = -1
_LARGEST: Final = 700.0
"""The logarithm of the largest evidence that is told."""

_SAID: Final = {
    "p_C by state": (
        "one chance of moving up for all states",
        "it can be wrong in some states, and a model by state would describe them",
    ),
    "p_C over time": (
        "a chance of moving up that never changes",
        "old cases mislead, and a learner that forgets would follow",
    ),
    "p_F by state": (
        "one chance that FINISH wins, whatever the state",
        "it can be wrong in some states, and a model by state would describe them",
    ),
    "p_F over time": (
        "a chance that FINISH wins that never changes",
        "old cases mislead, and a learner that forgets would follow",
    ),
    "groups": (
        "the same chances in all groups",
        "it can be wrong in some groups, and each needs counts of its own",
    ),
}
"""What is taken for granted, and what follows if it is wrong."""


class Step(NamedTuple):
    """One counted move: CONTINUE by one state, or FINISH. Stays and jumps are no steps.

    Parameters
    ----------
    case : int
        The number of the case, which an alarm that rises here will name.
    group : int
        The number of its group, from 0.
    state : int
        The state in which it began, from 1 to goal - 1.
    finish : bool
        Whether it was FINISH.
    success : bool
        Whether it moved up, or reached the goal.
    """

    case: int
    group: int
    state: int
    finish: bool
    success: bool


class Alarm(NamedTuple):
    """An alarm that rose: the model does not describe these cases. It names no cause.

    Parameters
    ----------
    name : str
        What is suspected: one of "p_C by state", "p_C over time", "p_F by state", "p_F over time"
        and "groups".
    case : int
        The case at which it rose; -1 where the moves have no order.
    evidence : float
        The e-value now. It was at least 5/(1 - level) when the alarm rose, and may have sunk since.
    sentence : str
        What is taken for granted, since when the cases say otherwise, and what follows.
    """

    name: str
    case: int
    evidence: float
    sentence: str


class Tally(NamedTuple):
    """The successes and failures of one action, by state or by group."""

    wins: tuple[int, ...]
    losses: tuple[int, ...]


class Told(NamedTuple):
    """The successes and failures of one action as they were told, and those successes at marks."""

    wins: int
    losses: int
    marks: tuple[int, ...]


class Watch(NamedTuple):
    """What all alarms know, in whole numbers; it cannot be changed.

    Parameters
    ----------
    level : float
        All alarms together are right with this probability, for ever.
    by_state, by_group : tuple of Tally
        What was counted, of CONTINUE and of FINISH.
    told : tuple of Told
        What was counted in the order in which it was told, of CONTINUE and of FINISH.
    rose : tuple of int
        The case at which each alarm rose; -1 where it did not.
    looks : tuple of int
        The number of moves told at which each alarm is looked at again. Before that it cannot
        rise, so nothing is lost.

    Notes
    -----
    `follow` takes some microseconds, and a look at the evidence takes time in proportion to the
    states, or groups, that were seen.

    Examples
    --------
    >>> from grbp.alarms.watch import Step, Watch
    >>> watch = Watch.start(goal=3)
    >>> for case in range(1, 101):
    ...     watch = watch.follow(Step(case, 0, 1, False, case % 4 == 0))
    ...     watch = watch.follow(Step(case, 0, 2, False, case % 4 > 0))
    >>> [(alarm.name, alarm.case) for alarm in watch.alarms()]
    [('p_C by state', 30)]
    """

    level: float
    by_state: tuple[Tally, ...]
    by_group: tuple[Tally, ...]
    told: tuple[Told, ...]
    rose: tuple[int, ...]
    looks: tuple[int, ...]

    @classmethod
    def start(cls, goal: int, groups: int = 1, level: float = 0.95) -> "Watch":
        """Begin before the first move."""
        goal = check_whole("goal", goal, 2, 10_000_000)
        groups = check_whole("groups", groups, 1, 1_000_000)
        states, kinds = (
            Tally((0,) * (goal - 1), (0,) * (goal - 1)),
            Tally((0,) * groups, (0,) * groups),
        )
        told = Told(0, 0, ())
        level = check_level(level)
        nobody = (_NEVER,) * len(NAMES)
        return cls(level, (states, states), (kinds, kinds), (told, told), nobody, (0,) * len(NAMES))

    def follow(self, step: Step) -> "Watch":
        """Return the watch after one more move."""
        told = list(self.told)
        told[step.finish] = _tell(self.told[step.finish], step.success)
        return self._count(step, 1)._replace(told=tuple(told))._look(step)

    def take_back(self, step: Step) -> "Watch":
        """Return the watch after a move was taken back.

        What was counted by state and by group is as if it had never been told. An alarm that rose
        in this case and is not borne out without the move is taken back as well. Over time the
        move stays in, as it was told: what came after it was predicted with it.
        """
        watch = self._count(step, -1)
        if min(min(map(min, one)) for one in (*watch.by_state, *watch.by_group)) < 0:
            raise InvalidInput(f"{step!r} was taken back; it was never told")
        again = tuple(
            _NEVER if rose == step.case and not name.endswith("time") else rose
            for name, rose in zip(NAMES, watch.rose, strict=True)
        )
        looks = (0,) * len(NAMES)
        return watch._replace(rose=again, looks=looks)._look(step)

    def alarms(self) -> tuple[Alarm, ...]:
        """Return the alarms that rose, the one with the most evidence first."""
        found = [(self._log_evidence(k), k) for k, case in enumerate(self.rose) if case != _NEVER]
        return tuple(
            Alarm(
                NAMES[k], self.rose[k], math.exp(min(log, _LARGEST)), _say(NAMES[k], self.rose[k])
            )
            for log, k in sorted(found, key=lambda one: -one[0])
        )

    def to_list(self) -> list[Any]:
        """Return the watch as lists of plain numbers, for JSON."""
        return list(_as_lists(self))

    @classmethod
    def from_list(cls, plain: Any) -> "Watch":
        """Return the watch that was made a list."""
        try:
            level, by_state, by_group, told, rose, looks = plain
            watch = cls(
                level,
                tuple(Tally(*map(tuple, one)) for one in by_state),
                tuple(Tally(*map(tuple, one)) for one in by_group),
                tuple(Told(won, lost, tuple(marks)) for won, lost, marks in told),
                tuple(rose),
                tuple(looks),
            )
            whole = watch._is_whole()
        except (TypeError, ValueError):
            whole = False
        if not whole:
            raise InvalidInput(
                "a watch was given that is damaged; it must be as to_list() wrote it"
            )
        return watch

    def _is_whole(self) -> bool:
        """Return whether the numbers can be those of a watch."""
        numbers = list(_flatten(self[1:]))
        if not all(type(number) is int and _NEVER <= number <= _MOST for number in numbers):
            return False
        states = {len(part) for tally in self.by_state for part in tally}
        groups = {len(part) for tally in self.by_group for part in tally}
        totals = [[tuple(map(sum, one)) for one in kind] for kind in (self.by_state, self.by_group)]
        return (
            type(self.level) is float
            and 0.0 < self.level < 1.0
            and [len(part) for part in self[1:]] == [2, 2, 2, len(NAMES), len(NAMES)]
            and len(states) == len(groups) == 1
            and 0 not in states | groups
            and min(_flatten(self[1:4])) >= 0
            and totals[0] == totals[1]
            and all(
                len(one.marks) == sum(mark <= one.wins + one.losses for mark in _MARKS)
                and all(won <= at for won, at in zip(one.marks, _MARKS, strict=False))
                for one in self.told
            )
        )

    def _count(self, step: Step, sign: int) -> "Watch":
        """Count a move, or take it out of the counts."""
        _, group, state, finish, success = step
        if not (
            0 < state <= len(self.by_state[0].wins) and 0 <= group < len(self.by_group[0].wins)
        ):
            raise InvalidInput(
                f"{step!r} was given; the state must be from 1 to {len(self.by_state[0].wins):,},"
                f" and the group from 0 to {len(self.by_group[0].wins) - 1:,}"
            )
        by_state, by_group = list(self.by_state), list(self.by_group)
        by_state[finish] = _add(by_state[finish], state - 1, success, sign)
        by_group[finish] = _add(by_group[finish], group, success, sign)
        return self._replace(by_state=tuple(by_state), by_group=tuple(by_group))

    def _look(self, step: Step) -> "Watch":
        """Look at the alarms that this move could have made rise."""
        rose, looks, bar = (
            list(self.rose),
            list(self.looks),
            math.log(len(NAMES) / (1.0 - self.level)),
        )
        one = self.told[step.finish].wins + self.told[step.finish].losses
        both = sum(told.wins + told.losses for told in self.told)
        for k, moves in ((2 * step.finish, one), (2 * step.finish + 1, one), (_GROUPS, both)):
            if rose[k] == _NEVER and looks[k] <= moves:
                wait = self._wait(k, bar)
                rose[k] = rose[k] if wait else step.case
                looks[k] = moves + wait
        return self._replace(rose=tuple(rose), looks=tuple(looks))

    def _wait(self, k: int, bar: float) -> int:
        """Return 0 if an alarm has reached the bar, or else after how many moves to look again."""
        if k != _GROUPS:
            return look(self._partitions(k), bar)
        if len(self.by_group[0].wins) == 1:
            return _MOST // 2
        # Their mean reaches the bar only where one of the two does.
        wait = min(look(_apart(tally), bar) for tally in self.by_group)
        return wait or int(self._log_evidence(k) < bar)

    def _log_evidence(self, k: int) -> float:
        """Compute the logarithm of an alarm's evidence."""
        if k != _GROUPS:
            return log_evidence(self._partitions(k))
        one, other = sorted(log_evidence(_apart(tally)) for tally in self.by_group)
        return other + math.log1p(math.exp(one - other)) - math.log(2.0)

    def _partitions(self, k: int) -> Partitions:
        """Return into which cells an alarm puts the moves of an action."""
        return _over_time(self.told[k // 2]) if k % 2 else _apart(self.by_state[k // 2])


def _add(tally: Tally, at: int, success: bool, sign: int) -> Tally:
    """Add one to the successes or the failures at one place, or take it away."""
    wins, losses = tally
    part = wins if success else losses
    part = (*part[:at], part[at] + sign, *part[at + 1 :])
    return Tally(part, losses) if success else Tally(wins, part)


def _tell(told: Told, success: bool) -> Told:
    """Tell one more move; at a mark, keep the successes so far."""
    wins, losses, marks = told.wins + success, told.losses + (not success), told.marks
    if len(marks) < len(_MARKS) and wins + losses == _MARKS[len(marks)]:
        marks = (*marks, wins)
    return Told(wins, losses, marks)


def _apart(tally: Tally) -> Partitions:
    """Give every state, or every group, a cell."""
    return [(1.0, list(zip(*tally, strict=True)))]


def _over_time(told: Told) -> Partitions:
    """Give what was before each mark a cell, and what came after it."""
    wins, losses, marks = told
    share = 1.0 / len(_MARKS)
    found = [
        (share, [(won, at - won), (wins - won, losses - at + won)])
        for won, at in zip(marks, _MARKS, strict=False)
    ]
    rest = len(_MARKS) - len(marks)
    return [*found, (rest * share, [(wins, losses)])] if rest else found


def _say(name: str, case: int) -> str:
    """Say what is taken for granted, since when the cases say otherwise, and what follows."""
    granted, follows = _SAID[name]
    since = "" if case == _NEVER else f" since case {case:,}"
    return f"The advice assumes {granted}; these cases say otherwise{since}: {follows}."


def _as_lists(parts: Any) -> Any:
    return [_as_lists(part) for part in parts] if isinstance(parts, tuple) else parts


def _flatten(parts: Any) -> Iterator[Any]:
    for part in parts:
        if isinstance(part, tuple):
            yield from _flatten(part)
        else:
            yield part
