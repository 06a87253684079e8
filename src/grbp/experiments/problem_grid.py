"""Grids of problems: every goal with every p_c and every p_f, in Python or in a file.

Numbers are taken as they are written in decimals, so that a range of steps of 0.05 hits the same
floats as 0.05, 0.1, 0.15 written out.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Final, TypeAlias, cast

from grbp.errors import InvalidInput
from grbp.worlds.plain import from_plain
from grbp.worlds.problem import Problem
from grbp.worlds.start import StartLike, read_start
from grbp.worlds.validation import check_goal, check_keys, check_probability, check_several
from grbp.worlds.world import World

MOST_PROBLEMS: Final = 10**6
"""The largest number of problems in a sweep."""

_RANGE: Final = ("from", "to", "step")


@dataclass(frozen=True)
class ProblemGrid:
    """Specify problems: every goal with every p_c and every p_f, and one way to start.

    Parameters
    ----------
    goal, p_c, p_f : number, sequence or mapping
        One value, several of them, or a range ``{"from": 0.05, "to": 0.95, "step": 0.05}``, both
        ends included.
    start : optional
        The first state of a round, as `Problem` takes it, or a text such as ``"1=.9,2=.1"``.
    name : str, optional
        What its problems are called in tables.

    Examples
    --------
    >>> from grbp.experiments.problem_grid import ProblemGrid
    >>> grid = ProblemGrid(4, {"from": 0.1, "to": 0.4, "step": 0.1}, (0.3, 0.5))
    >>> grid.p_c, len(grid)
    ((0.1, 0.2, 0.3, 0.4), 8)
    """

    goal: tuple[int, ...]
    p_c: tuple[float, ...]
    p_f: tuple[float, ...]
    start: StartLike = "uniform"
    name: str = ""

    def __post_init__(self) -> None:
        checks: dict[str, Callable[[object], Any]] = {
            "goal": lambda one: check_goal(_as_whole(one)),
            "p_c": partial(check_probability, "p_c"),
            "p_f": partial(check_probability, "p_f"),
        }
        for axis, check in checks.items():
            points = _list_points(axis, getattr(self, axis))
            object.__setattr__(self, axis, check_several(axis, points, check))
        starts = {
            goal: Problem(goal, self.p_c[0], self.p_f[0], read_start(self.start))
            for goal in self.goal
        }
        # What is uniform over the states of the largest goal is so for all goals, or has failed.
        object.__setattr__(self, "start", starts[max(self.goal)].start)

    @classmethod
    def from_any(cls, given: object) -> "ProblemGrid":
        """Return the grid that a mapping as in a file stands for, or a grid as it is."""
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise InvalidInput(
                f"problems = {given!r} was given; it must be a grid with goal, p_c and p_f, a"
                " Problem, or several of these"
            )
        return cls(**check_fields("problems", given, cls))

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {key: value for key, value in vars(self).items() if key != "name" or value}

    def __len__(self) -> int:
        return len(self.goal) * len(self.p_c) * len(self.p_f)

    def __iter__(self) -> Iterator[Problem]:
        for goal in self.goal:
            for p_f in self.p_f:
                for p_c in self.p_c:
                    yield Problem(goal, p_c, p_f, self.start)


@dataclass(frozen=True)
class OneTruth:
    """Specify a chain, a drift or groups, which are no point of a grid.

    Parameters
    ----------
    world : str
        The truth as plain data, written as JSON in the one canonical way. So those that say the
        same are equal, in this process and in others.
    name : str, optional
        What it is called in tables.
    """

    world: str
    name: str = ""

    @classmethod
    def from_any(cls, given: object) -> "OneTruth | ProblemGrid":
        """Return the truth that an object or plain data stand for, or else the grid."""
        if isinstance(given, cls):
            return given
        if isinstance(given, World):
            given = {"world": given.to_plain()}
        if isinstance(given, Mapping) and "world" in given:
            fields = check_fields("problems", given, cls)
            world, name = from_plain(fields["world"]), fields.get("name", "")
            if world.paper is None:
                return cls(json.dumps(_round(world.to_plain()), sort_keys=True), name)
            given = world.to_plain() | {"name": name}
        return ProblemGrid.from_any(given)

    @property
    def goal(self) -> tuple[int, ...]:
        """The goal, as a grid has it."""
        return (self.truth.goal,)

    @cached_property
    def truth(self) -> World:
        """The truth itself."""
        return from_plain(json.loads(self.world))

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[World]:
        yield self.truth

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"world": json.loads(self.world)} | ({"name": self.name} if self.name else {})


def _round(plain: Any) -> Any:
    """Round the numbers of plain data to 12 digits, which survive being read and written again."""
    if isinstance(plain, Mapping):
        return {key: _round(one) for key, one in plain.items()}
    if isinstance(plain, list | tuple):
        return [_round(one) for one in plain]
    return float(f"{plain:.12g}") if isinstance(plain, float) else plain


_KEYS: Final = {key.name for kind in (ProblemGrid, OneTruth) for key in fields(kind)}


def list_problems(given: Any) -> tuple[OneTruth | ProblemGrid, ...]:
    """Return problems as a specification keeps them, however they were given; refuse bad names."""
    table = isinstance(given, Mapping)
    if table and not _KEYS & {*given} and all(map(_is_problem, given.values())):
        problems = [replace(OneTruth.from_any(one), name=name) for name, one in given.items()]
    else:
        many = isinstance(given, Iterable) and not _is_problem(given)
        problems = [OneTruth.from_any(one) for one in (given if many else [given])]
    names: list[object] = [one.name for one in problems if one.name != ""]
    words = [name for name in names if isinstance(name, str) and name.isprintable()]
    if len({*words}) < len(names):
        raise InvalidInput(
            f"the names {names} were given to problems; each must be a text, and no two the same"
        )
    return tuple(problems)


def _is_problem(given: object) -> bool:
    return isinstance(given, Mapping | World | ProblemGrid | OneTruth)


ProblemsLike: TypeAlias = (
    Mapping[str, Any] | World | ProblemGrid | OneTruth | Sequence[Mapping[str, Any] | World]
    | Sequence[ProblemGrid] | Sequence[ProblemGrid | OneTruth]
)  # fmt: skip
"""Problems in any form in which a specification takes them."""


def check_fields(what: str, given: Mapping[Any, Any], kind: type) -> dict[str, Any]:
    """Return a mapping whose keys are fields of a class; refuse others, and missing ones."""
    known = {one.name: one.default for one in fields(kind)}
    needed = [name for name, default in known.items() if default is MISSING]
    check_keys(what, given, needed, [name for name in known if name not in needed])
    return dict(given)


def _list_points(axis: str, given: object) -> Iterable[object]:
    """Return the values of an axis: one, several, or those of a range, exactly."""
    if isinstance(given, Mapping):
        return _list_range(axis, given)
    return given if isinstance(given, Iterable) and not isinstance(given, str) else [given]


def _list_range(axis: str, given: Mapping[Any, Any]) -> list[float]:
    """Return the points of a range of decimals, both ends included."""
    numbers = [_fraction(given.get(key)) for key in _RANGE]
    if set(given) == set(_RANGE) and None not in numbers:
        low, high, step = cast("list[Fraction]", numbers)
        steps = (high - low) / step if step > 0 else Fraction(-1)
        if steps >= 0 and steps.denominator == 1 and steps < MOST_PROBLEMS:
            return [float(low + k * step) for k in range(int(steps) + 1)]
    text = "{" + ", ".join(f"{key} = {value}" for key, value in given.items()) + "}"
    raise InvalidInput(
        f"{axis} = {text} was given; a range must be {{from = A, to = B, step = C}} with whole"
        " steps from A up to B"
    )


def _fraction(value: object) -> Fraction | None:
    """Return a number as it is written in decimals, exactly; None if it is none, or huge."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e40:
        return None
    return Fraction(str(value))


def _as_whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value
