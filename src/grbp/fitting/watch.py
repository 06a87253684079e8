"""Five alarms over the counted moves of a study, each an e-process.

They ask whether the chance of CONTINUE, and that of FINISH, differs by state or changes over time,
and whether groups differ. An alarm rises when its evidence reaches 5/(1 - level), 100 at a level of
0.95. Each so has an error of at most (1 - level)/5, and all five together of at most 1 - level,
however often one looks (a union bound).
"""

import math
from bisect import bisect
from collections.abc import Mapping
from itertools import chain
from operator import le
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from grbp._arguments import checked
from grbp.errors import InvalidInput
from grbp.fitting.e_values import Cell, Partition, log_evidence, look
from grbp.numerics.intervals import check_level
from grbp.worlds.transition import Action
from grbp.worlds.validation import check_whole

if TYPE_CHECKING:
    from grbp.fitting.transitions import Transitions
    from grbp.numerics.arrays import Bools

T = TypeVar("T")

SUSPECTED: Final[Mapping[str, tuple[Action | None, str]]] = {
    "p_C by state": (Action.CONTINUE, "state"),
    "p_C over time": (Action.CONTINUE, "time"),
    "p_F by state": (Action.FINISH, "state"),
    "p_F over time": (Action.FINISH, "time"),
    "groups": (None, "groups"),
}
"""What each alarm suspects: of which action the chances differ, None for both, and over what."""

NAMES: Final = tuple(SUSPECTED)
"""The alarms, in the order in which a watch keeps them."""

NO_ORDER: Final = "These rows have no order, so that no alarm over time is possible."

_GROUPS: Final = 4
STRENGTH: Final = 32.0
"""How strongly the chance of a state, or of a group, is drawn towards that of all."""

MARKS: Final = tuple(round(64.0 * 2.0 ** (j / 8.0)) for j in range(96))
"""After how many moves of an action its chance may have changed: an alternative for each."""

BEFORE: Final = 128.0
AFTER: Final = 32.0
"""How strongly the chances before and after a mark are drawn towards that of all."""

_SHARE: Final = 1.0 / len(MARKS)
_MOST: Final = 2**53
_NEVER: Final = -1
_NO_LOOKS: Final = (0,) * 6
_LARGEST: Final = 700.0
"""The logarithm of the largest evidence that is told."""

_DOES: Final = {Action.CONTINUE: "CONTINUE moves up", Action.FINISH: "FINISH wins", None: ""}
_SAID: Final = {
    "state": (
        "one chance for all states that {does}",
        "it can be wrong in some states, and a model by state would describe them better",
    ),
    "time": (
        "that the chance with which {does} never changes",
        "old cases mislead, and a learner that forgets would follow the change",
    ),
    "groups": (
        "the same chances in all groups",
        "it can be wrong in some groups, and each needs counts of its own",
    ),
}
"""What is taken for granted, and what follows if it is wrong, by what an alarm is over."""


class Step(NamedTuple):
    """One counted move: CONTINUE by one state, or FINISH. Stays and jumps are no steps.

    Parameters
    ----------
    case : int
        The number of the case, from 0 on, which an alarm that rises here will name.
    group : int
        The number of its group, from 0.
    state : int
        The state in which it began, from 1 to goal - 1.
    finish : bool
        Whether it was FINISH.
    success : bool
        Whether it moved up, or reached the goal.

    Examples
    --------
    >>> import grbp
    >>> step = grbp.Step(case=7, group=0, state=2, finish=False, success=True)
    >>> sum(grbp.Watch.start(goal=4).follow(step).by_state[0].wins)
    1
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
    case : int or None
        The case at which it rose; None where the moves have no order.
    evidence : float
        The e-value now. It was at least 5/(1 - level) when the alarm rose, and may have sunk since.
    sentence : str
        What is taken for granted, since when the cases say otherwise, and what follows.

    Examples
    --------
    >>> import grbp
    >>> table = grbp.example_records("state", cases=500, seed=1, size=2.0)
    >>> for alarm in grbp.fit(table, goal=4, adaptive=True).alarms:
    ...     print(alarm.name, alarm.case)
    p_C by state 67
    """

    name: str
    case: int | None
    evidence: float
    sentence: str

    @property
    def action(self) -> Action | None:
        """The action whose chance differs; None if that of any may."""
        return SUSPECTED[self.name][0]

    @property
    def over(self) -> str:
        """Over what it differs: "state", "time" or "groups"."""
        return SUSPECTED[self.name][1]


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
        At how many moves told of CONTINUE the evidence by state, over time and by group is looked
        at again, and then of FINISH. Before that it cannot reach the bar, so nothing is lost.

    Notes
    -----
    `follow` takes some microseconds, and a look at the evidence takes time in proportion to the
    states, or groups, that were seen.

    Examples
    --------
    >>> import grbp
    >>> watch = grbp.Watch.start(goal=3)
    >>> for case in range(1, 101):
    ...     watch = watch.follow(grbp.Step(case, 0, 1, False, case % 4 == 0))
    ...     watch = watch.follow(grbp.Step(case, 0, 2, False, case % 4 > 0))
    >>> [(alarm.name, alarm.case) for alarm in watch.alarms()]
    [('p_C by state', 35)]
    """

    level: float
    by_state: tuple[Tally, ...]
    by_group: tuple[Tally, ...]
    told: tuple[Told, ...]
    rose: tuple[int, ...]
    looks: tuple[int, ...]

    @classmethod
    def start(cls, goal: int, groups: int = 1, level: float = 0.95) -> "Watch":
        """Begin before the first move.

        Parameters
        ----------
        goal : int
            The state in which a case is won.
        groups : int
            The number of groups.
        level : float
            All alarms together are right with this probability, for ever.

        Returns
        -------
        Watch
        """
        goal = check_whole("goal", goal, 2, 10_000_000)
        groups = check_whole("groups", groups, 1, 1_000_000)
        states, kinds = (Tally((0,) * cells, (0,) * cells) for cells in (goal - 1, groups))
        told, nobody, level = Told(0, 0, ()), (_NEVER,) * len(NAMES), check_level(level)
        return cls(level, (states, states), (kinds, kinds), (told, told), nobody, _NO_LOOKS)

    @checked
    def follow(self, step: Step) -> "Watch":
        """Return the watch after one more move.

        Parameters
        ----------
        step : Step
            The move.

        Returns
        -------
        Watch
        """
        step = self._check(step)
        told = _tell(self.told[step.finish], step.success)
        return self._count(step, 1, told)._look(step)

    @checked
    def take_back(self, step: Step) -> "Watch":
        """Return the watch after a move was taken back.

        What was counted by state and by group is as if it had never been told. An alarm that rose
        in this case is taken back as well, unless the other moves bear it out. Over time the move
        stays in, as it was told, and so does an alarm.

        Parameters
        ----------
        step : Step
            The move, as it was told.

        Returns
        -------
        Watch
        """
        step = self._check(step)
        finish = step.finish
        watch = self._count(step, -1, self.told[finish])
        if min(map(min, (*watch.by_state[finish], *watch.by_group[finish]))) < 0:
            raise InvalidInput(f"{step!r} was taken back; it was never told")
        rose = list(watch.rose)
        for k in (2 * finish, _GROUPS):
            if rose[k] == step.case and watch._log_evidence(k) < _log_bar(self.level):
                rose[k] = _NEVER
        return watch._replace(rose=tuple(rose), looks=_NO_LOOKS)

    def alarms(self) -> tuple[Alarm, ...]:
        """Return the alarms that rose, the one with the most evidence first.

        Returns
        -------
        tuple of Alarm
        """
        return self._tell_alarms({k: case for k, case in enumerate(self.rose) if case != _NEVER})

    def _tell_alarms(self, rose: Mapping[int, int | None]) -> tuple[Alarm, ...]:
        """Return the alarms, each with the case at which it rose, if there is an order."""
        logs = {k: self._log_evidence(k) for k in rose}
        return tuple(
            Alarm(NAMES[k], rose[k], math.exp(min(logs[k], _LARGEST)), _say(NAMES[k], rose[k]))
            for k in sorted(rose, key=lambda k: -logs[k])
        )

    def to_list(self) -> list[Any]:
        """Return the watch as lists of plain numbers, for JSON.

        Returns
        -------
        list
        """
        return list(_as_lists(self))

    @classmethod
    def from_list(cls, plain: Any) -> "Watch":
        """Return the watch that was made a list.

        Parameters
        ----------
        plain : list
            What `to_list` returned.

        Returns
        -------
        Watch

        Raises
        ------
        InvalidInput
            If the numbers cannot be those of a watch.
        """
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
        level, by_state, by_group, told, rose, looks = self
        parts = [*chain(*by_state, *by_group)]
        counts = [*chain(*parts, *(one.marks for one in told), *(one[:2] for one in told), looks)]
        return (
            type(level) is float
            and 0.0 < level < 1.0
            and [len(part) for part in self[1:]] == [2, 2, 2, len(NAMES), len(_NO_LOOKS)]
            and {*map(type, counts), *map(type, rose)} == {int}
            and min(counts) >= 0
            and min(rose) >= _NEVER
            and max(*counts, *rose) <= _MOST
            and {*map(len, parts[:4])} == {len(parts[0])} != {0}
            and {*map(len, parts[4:])} == {len(parts[4])} != {0}
            and all(sum(a) == sum(b) for a, b in zip(parts[:4], parts[4:], strict=True))
            and all(
                len(one.marks) == bisect(MARKS, one.wins + one.losses)
                and all(map(le, one.marks, MARKS))
                for one in told
            )
        )

    def _check(self, step: Step) -> Step:
        """Return a move in plain numbers, or refuse it."""
        case, group, state, finish, success = step
        return Step(
            check_whole("case", case, 0, _MOST),
            check_whole("group", group, 0, len(self.by_group[0].wins) - 1),
            check_whole("state", state, 1, len(self.by_state[0].wins)),
            _check_bool("finish", finish),
            _check_bool("success", success),
        )

    def _count(self, step: Step, sign: int, told: Told) -> "Watch":
        """Count a move, or take it out of the counts, and keep what was told of its action."""
        _, group, state, finish, success = step
        by_state = _add(self.by_state, finish, success, state - 1, sign)
        by_group = _add(self.by_group, finish, success, group, sign)
        parts = by_state, by_group, _put(self.told, finish, told)
        return Watch(self.level, *parts, self.rose, self.looks)

    def _look(self, step: Step) -> "Watch":
        """Look at the alarms of an action that are due."""
        finish = step.finish
        moves, first = self.told[finish].wins + self.told[finish].losses, 3 * finish
        due = [k for k in range(first, first + 3) if self.looks[k] <= moves]
        if not due:
            return self
        rose, looks = list(self.rose), list(self.looks)
        bar = _log_bar(self.level)
        for k in due:
            alarm = _GROUPS if k == first + 2 else 2 * finish + k - first
            wait = look(self._partitions(k), bar) if rose[alarm] == _NEVER else _MOST
            # The mean of what groups say of both actions reaches the bar only where one does.
            if wait == 0 and alarm == _GROUPS:
                wait = int(self._log_evidence(alarm) < bar)
            rose[alarm] = rose[alarm] if wait else step.case
            looks[k] = min(moves + wait, _MOST)
        return self._replace(rose=tuple(rose), looks=tuple(looks))

    def _log_evidence(self, alarm: int) -> float:
        """Compute the logarithm of an alarm's evidence."""
        if alarm != _GROUPS:
            return log_evidence(self._partitions(3 * (alarm // 2) + alarm % 2))
        one, other = sorted(log_evidence(self._partitions(k)) for k in (2, 5))
        return other + math.log1p(math.exp(one - other)) - math.log(2.0)

    def _partitions(self, k: int) -> list[Partition]:
        """Return into which cells the moves of an action are put: by state, time or group."""
        finish, kind = divmod(k, 3)
        if kind == 1:
            return _over_time(self.told[finish])
        return _apart((self.by_group if kind else self.by_state)[finish])


def watch_moves(moves: "Transitions", level: float) -> tuple[Alarm, ...]:
    """Return the alarms that rose when each move was looked at, in the order of the cases.

    Cases are numbered from 1. Aggregated rows have no order: their counts are looked at once.
    """
    records, good = moves.records, moves.forward
    groups = max(len(records.groups), 1)
    if not records.aggregated:
        watch, counted = Watch.start(records.goal, groups, level), moves.stepped | moves.finished
        columns = records.case + 1, records.group, records.state, moves.finished, good
        for row in zip(*(column[counted].tolist() for column in columns), strict=True):
            watch = watch.follow(Step(*row))
        return watch.alarms()

    def by_group(rows: "Bools") -> tuple[int, ...]:
        return tuple(moves.count_by(records.group, rows, groups).tolist())

    states = (
        Tally(tuple(moves.ups.tolist()), tuple(moves.downs.tolist())),
        Tally(tuple(moves.wins.tolist()), tuple(moves.losses.tolist())),
    )
    kinds = [
        Tally(by_group(rows & good), by_group(rows & ~good))
        for rows in (moves.stepped, moves.finished)
    ]
    return find_alarms(states, (kinds[0], kinds[1]), level)


def find_alarms(
    by_state: tuple[Tally, ...], by_group: tuple[Tally, ...], level: float
) -> tuple[Alarm, ...]:
    """Return the alarms of counts that have no order: what differs by state and by group."""
    states, groups = len(by_state[0].wins), len(by_group[0].wins)
    watch = Watch.start(states + 1, groups, level)._replace(by_state=by_state, by_group=by_group)
    found = [k for k in (0, 2, _GROUPS) if watch._log_evidence(k) >= _log_bar(level)]
    return watch._tell_alarms(dict.fromkeys(found))


def _put(parts: tuple[T, ...], at: int, new: T) -> tuple[T, ...]:
    """Return a tuple with one of its parts anew."""
    return (*parts[:at], new, *parts[at + 1 :])


def _add(
    tallies: tuple[Tally, ...], finish: bool, success: bool, at: int, sign: int
) -> tuple[Tally, ...]:
    """Add one to the successes or the failures of an action at one place, or take it away."""
    wins, losses = tallies[finish]
    if success:
        wins = _put(wins, at, wins[at] + sign)
    else:
        losses = _put(losses, at, losses[at] + sign)
    return _put(tallies, finish, Tally(wins, losses))


def _check_bool(name: str, value: object) -> bool:
    """Return yes or no, which a table may have as 1 or 0; a word is neither."""
    number = int(value) if isinstance(value, bool | np.bool_) else value
    return bool(check_whole(name, number, 0, 1))


def _tell(told: Told, success: bool) -> Told:
    """Tell one more move; at a mark, keep the successes so far."""
    wins, losses, marks = told.wins + success, told.losses + (not success), told.marks
    if len(marks) < len(MARKS) and wins + losses == MARKS[len(marks)]:
        marks = (*marks, wins)
    return Told(wins, losses, marks)


def _apart(tally: Tally) -> list[Partition]:
    """Give every state, or every group, a cell."""
    return [(1.0, [Cell(won, lost, STRENGTH) for won, lost in zip(*tally, strict=True)])]


def _over_time(told: Told) -> list[Partition]:
    """Give what was before each mark a cell, and what came after it."""
    wins, losses, marks = told
    found: list[Partition] = [
        (_SHARE, (Cell(won, at - won, BEFORE), Cell(wins - won, losses - at + won, AFTER)))
        for won, at in zip(marks, MARKS, strict=False)
    ]
    if len(marks) < len(MARKS):
        found.append((1.0 - len(marks) * _SHARE, (Cell(wins, losses, BEFORE),)))
    return found


def _log_bar(level: float) -> float:
    """Compute the logarithm of the evidence at which an alarm rises."""
    return math.log(len(NAMES) / (1.0 - level))


def _say(name: str, case: int | None) -> str:
    """Say what is taken for granted, since when the cases say otherwise, and what follows."""
    action, over = SUSPECTED[name]
    granted, follows = (part.format(does=_DOES[action]) for part in _SAID[over])
    since = "" if case is None else f" since case {case:,}"
    return f"The advice assumes {granted}; these cases say otherwise{since}: {follows}."


def _as_lists(parts: Any) -> Any:
    return [_as_lists(part) for part in parts] if isinstance(parts, tuple) else parts
