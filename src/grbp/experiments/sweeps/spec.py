"""Say what a sweep is before it is run: problems, learners and sizes, in Python or in a file.

A file of a sweep is TOML. Its numbers are read as decimals, so that a range of steps of 0.05 hits
the same floats as 0.05, 0.1, 0.15 written out.
"""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from grbp._io import reason
from grbp.engine.decisions import EngineLike
from grbp.errors import GrbpError, InvalidInput, TooLarge, did_you_mean
from grbp.experiments.simulation import MOST_REPLICAS, MOST_ROUNDS, one_or_more
from grbp.experiments.spec import (
    Spec,
    check_common,
    check_learners,
    check_several,
    learner_as_json,
    learner_from_json,
)
from grbp.learners.registry import LearnerLike, find_learner
from grbp.model.problem import Problem, StartLike
from grbp.model.validation import check_count, check_goal, check_positive, check_probability

MOST_PROBLEMS: Final = 10**6
"""The largest number of problems in a sweep."""

DOUBLINGS: Final = 10
"""How often replicas are doubled for the sake of precision, unless a number is given."""

_RANGE: Final = ("from", "to", "step")
_KEPT: Final = {"name", "digest"}
"""What plain data say of a learner that others wrote."""


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

    Examples
    --------
    >>> from grbp.experiments.sweeps.spec import ProblemGrid
    >>> grid = ProblemGrid(4, {"from": 0.1, "to": 0.4, "step": 0.1}, (0.3, 0.5))
    >>> grid.p_c, len(grid)
    ((0.1, 0.2, 0.3, 0.4), 8)
    """

    goal: tuple[int, ...]
    p_c: tuple[float, ...]
    p_f: tuple[float, ...]
    start: StartLike = "uniform"

    def __post_init__(self) -> None:
        for axis, check in (
            ("goal", lambda one: check_goal(_as_whole(one))),
            ("p_c", lambda one: check_probability("p_c", one)),
            ("p_f", lambda one: check_probability("p_f", one)),
        ):
            object.__setattr__(
                self, axis, check_several(axis, _points(axis, getattr(self, axis)), check)
            )
        starts = {
            goal: Problem(goal, self.p_c[0], self.p_f[0], _read_start(self.start))
            for goal in self.goal
        }
        # What is uniform over the states of the largest goal is so for all goals, or has failed.
        object.__setattr__(self, "start", starts[max(self.goal)].start)

    @classmethod
    def of(cls, given: object) -> "ProblemGrid":
        """Return the grid that a problem, a mapping as in a file, or a grid stands for."""
        if isinstance(given, cls):
            return given
        if isinstance(given, Problem):
            return cls((given.goal,), (given.p_c,), (given.p_f,), given.start)
        if not isinstance(given, Mapping):
            raise InvalidInput(
                f"problems = {given!r} was given; it must be a grid with goal, p_c and p_f, a"
                " Problem, or several of these"
            )
        return cls(**_check_keys("problems", given, cls))

    def __len__(self) -> int:
        return len(self.goal) * len(self.p_c) * len(self.p_f)

    def __iter__(self) -> Iterator[Problem]:
        for goal in self.goal:
            for p_f in self.p_f:
                for p_c in self.p_c:
                    yield Problem(goal, p_c, p_f, self.start)


ProblemsLike: TypeAlias = (
    Mapping[str, Any] | Problem | ProblemGrid | Sequence[Mapping[str, Any] | Problem | ProblemGrid]
)
"""Problems in any form in which a specification takes them."""


@dataclass(frozen=True)
class SweepSpec:
    """Specify a sweep: learners over many problems.

    Parameters
    ----------
    name : str
        The name of its files: small letters, digits and hyphens.
    problems : mapping, Problem, or sequence of them
        What is played: grids of problems with the keys ``goal``, ``p_c``, ``p_f`` (each a number,
        several, or a range ``{"from": 0.05, "to": 0.95, "step": 0.05}``) and ``start``; or single
        problems. Several make a union.
    learners : sequence of str or Learner
        The learners: names, constants included (``"getbe-sm:gamma=30"``), or learners of your own.
    rounds : int or sequence of int
        The number of rounds; of several, regret is kept at each.
    replicas : int
        The number of replicas of each learner on each problem; with `se`, the number to begin with.
    seed : int
        A whole number. Every problem has a seed of its own that depends on it and on p_c and p_f.
    engine : {"auto", "walk", "leap", "draw"}
        How rounds are played, see `simulate`.
    se : float, optional
        The standard error to reach at the last round: where it is larger, replicas are doubled.
    most_replicas : int, optional
        Where doubling ends; by default at 1,024 times `replicas`.
    leave_out : bool
        Whether a learner that cannot play at a goal is left out there. By default it is refused.

    See Also
    --------
    sweep : Plays it.
    league_spec : Specifies the usual comparison of learners.

    Examples
    --------
    >>> import grbp
    >>> grid = {"goal": 4, "p_c": {"from": 0.1, "to": 0.9, "step": 0.1}, "p_f": [0.3, 0.5]}
    >>> spec = grbp.SweepSpec("tour", grid, ("getbe-sm", "no-explore"), rounds=1000, replicas=200)
    >>> len(spec)
    18
    """

    name: str
    problems: ProblemsLike
    learners: Sequence[LearnerLike]
    rounds: int | Sequence[int]
    replicas: int
    seed: int = 0
    engine: EngineLike = "auto"
    se: float | None = None
    most_replicas: int | None = None
    leave_out: bool = False

    def __post_init__(self) -> None:
        many = isinstance(self.problems, Iterable) and not isinstance(
            self.problems, Mapping | ProblemGrid
        )
        given: Any = self.problems if many else [self.problems]
        grids = tuple(map(ProblemGrid.of, given))
        if not grids:
            raise InvalidInput("problems = () was given; it must be one grid or several")
        if (count := sum(map(len, grids))) > MOST_PROBLEMS:
            raise TooLarge(
                f"the sweep has {count:,} problems; make two of it, or a grid of fewer points, up"
                f" to {MOST_PROBLEMS:,}"
            )
        rounds: Any = self.rounds if isinstance(self.rounds, Iterable) else [self.rounds]
        kept = check_several(
            "rounds", rounds, lambda one: check_count("rounds", one, 1, MOST_ROUNDS)
        )
        learners = check_learners(one_or_more(self.learners), grids[0].goal[0])
        checked: dict[str, Any] = {
            "problems": grids,
            "rounds": tuple(sorted(kept)),
            "learners": learners,
        }
        if self.se is not None:
            checked["se"] = check_positive("se", self.se)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        check_common(self)
        if not isinstance(self.leave_out, bool):
            raise InvalidInput(
                f"leave_out = {self.leave_out!r} was given; it must be true or false"
            )
        most = self.most_replicas
        if most is not None:
            most = check_count("most_replicas", most, self.replicas, MOST_REPLICAS)
            object.__setattr__(self, "most_replicas", most)
        for goal in self.goals:
            if not self.players(goal):
                raise InvalidInput(
                    f"the learners {self.names} were given; none of them can play at goal {goal}"
                )

    def __len__(self) -> int:
        """Return the number of problems."""
        return sum(1 for _ in self.each_problem())

    @property
    def grids(self) -> tuple[ProblemGrid, ...]:
        """The problems in the form in which they are kept, however they were given."""
        return cast("tuple[ProblemGrid, ...]", self.problems)

    @property
    def goals(self) -> tuple[int, ...]:
        """The goals of the problems, each once."""
        return tuple(dict.fromkeys(goal for grid in self.grids for goal in grid.goal))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the learners."""
        return tuple(map(str, self.learners))

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """The rounds at which regret is kept, in order."""
        return cast("tuple[int, ...]", self.rounds)

    def players(self, goal: int) -> tuple[LearnerLike, ...]:
        """Return the learners that play at a goal."""
        return tuple(one for one in self.learners if self._can_play(one, goal))

    def _can_play(self, learner: LearnerLike, goal: int) -> bool:
        try:
            find_learner(learner, Problem(goal, self.grids[0].p_c[0], self.grids[0].p_f[0]))
        except TooLarge:
            if self.leave_out:
                return False
            raise
        return True

    @property
    def left_out(self) -> dict[int, tuple[str, ...]]:
        """The learners that cannot play at a goal, where there are some."""
        playing = {goal: set(map(str, self.players(goal))) for goal in self.goals}
        missing = {
            goal: tuple(name for name in self.names if name not in names)
            for goal, names in playing.items()
        }
        return {goal: names for goal, names in missing.items() if names}

    def each_problem(self) -> Iterator[Problem]:
        """Yield every problem once, in the order of the grids."""
        if len(self.grids) == 1:
            yield from self.grids[0]
            return
        yield from dict.fromkeys(problem for grid in self.grids for problem in grid)

    @property
    def cap(self) -> int:
        """The number of replicas beyond which precision is not sought."""
        if self.se is None:
            return self.replicas
        return self.most_replicas or min(self.replicas << DOUBLINGS, MOST_REPLICAS)

    @classmethod
    def read(cls, path: Path, **changes: Any) -> "SweepSpec":
        """Read the file of a sweep.

        Parameters
        ----------
        path : Path
            A file in TOML, with the keys that are the parameters of this class.
        **changes
            Parameters that hold in place of those of the file.

        Returns
        -------
        SweepSpec

        Raises
        ------
        InvalidInput
            If the file cannot be read, or says something that is not allowed.
        """
        try:
            data = tomllib.loads(Path(path).read_text("utf-8"), parse_float=Decimal)
        except OSError as error:
            raise InvalidInput(
                f"{path} cannot be read ({reason(error)}); name the TOML file of a sweep"
            ) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidInput(
                f"{path} is not valid TOML ({' '.join(str(error).split())}); write it as"
                ' name = "tour"'
            ) from error
        try:
            return cls.from_json(data | changes)
        except GrbpError as error:
            raise type(error)(f"{path}: {error}") from error

    def as_json(self) -> dict[str, Any]:
        """Return the specification as plain data; `from_json` is the way back."""
        data = {
            **vars(self),
            "problems": [dict(vars(one)) for one in self.grids],
            "learners": [learner_as_json(learner) for learner in self.learners],
        }
        if not self.leave_out:
            del data["leave_out"]
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SweepSpec":
        """Return the specification that plain data stand for, as `as_json` or a file has them."""
        given = _plain(_check_keys("a sweep", data, cls))
        learners = given["learners"]
        if isinstance(learners, list | tuple):
            given["learners"] = [
                learner_from_json(one) if isinstance(one, Mapping) and set(one) == _KEPT else one
                for one in learners
            ]
        return cls(**given)


AnySpec: TypeAlias = Spec | SweepSpec
"""A specification of either kind: of curves on one problem, or of a sweep over many."""


def _check_keys(what: str, given: Mapping[Any, Any], kind: type) -> dict[str, Any]:
    """Return a mapping whose keys are fields of a class; refuse others, and missing ones."""
    known = {one.name: one.default for one in fields(kind)}
    for key in given:
        if key not in known:
            meant = did_you_mean(str(key), known) or f"there is {', '.join(known)}"
            raise InvalidInput(f"the key {key!r} was given for {what}; {meant}")
    for key, default in known.items():
        if key not in given and not isinstance(default, str | int | None):
            raise InvalidInput(f"the key {key!r} is missing for {what}; write one")
    return dict(given)


def _plain(value: Any) -> Any:
    """Replace decimals by floats, except in problems, whose ranges are computed exactly."""
    if isinstance(value, dict):
        return {key: item if key == "problems" else _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value


def _points(axis: str, given: object) -> Iterable[object]:
    """Return the values of an axis: one, several, or those of a range, exactly."""
    if isinstance(given, Mapping):
        return [float(point) for point in _range(axis, given)]
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    return [_decimal_as_float(one) for one in given]


def _decimal_as_float(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


def _range(axis: str, given: Mapping[Any, Any]) -> list[Fraction]:
    """Return the points of a range of decimals, both ends included."""
    numbers = {key: _fraction(given.get(key)) for key in _RANGE}
    if set(given) == set(_RANGE) and None not in numbers.values():
        low, high, step = cast("list[Fraction]", list(numbers.values()))
        steps = (high - low) / step if step > 0 else Fraction(-1)
        if steps >= 0 and steps.denominator == 1 and steps < MOST_PROBLEMS:
            return [low + k * step for k in range(int(steps) + 1)]
    said = "{" + ", ".join(f"{key} = {value}" for key, value in given.items()) + "}"
    raise InvalidInput(
        f"{axis} = {said} was given; a range must be {{from = A, to = B, step = C}} with whole"
        " steps from A up to B"
    )


def _fraction(value: object) -> Fraction | None:
    """Return a number as it is written, exactly."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        with suppress(InvalidOperation, ValueError, OverflowError):
            number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
            if math.isfinite(number) and abs(number.adjusted()) < 40:
                return Fraction(number)
    return None


def _as_whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read_start(start: Any) -> Any:
    """Return a start as `Problem` takes it; in a file, states are texts and numbers decimals."""
    if isinstance(start, str) and "=" in start:
        start = dict(part.split("=", 1) for part in start.split(",") if "=" in part)
    if isinstance(start, Mapping):
        return {_number(state, int): _number(q, float) for state, q in start.items()}
    if isinstance(start, list | tuple):
        return [tuple(q) if isinstance(q, list) else _decimal_as_float(q) for q in start]
    return _number(start, int) if isinstance(start, str) else start


def _number(value: object, kind: type) -> object:
    """Return the number that a text or a decimal stands for; else the value as it is."""
    if isinstance(value, str | Decimal):
        with suppress(ValueError):
            return kind(value)
    return value
