"""Specify a sweep before it is played: problems, learners and sizes, in Python or in TOML."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from grbp._arguments import check_choice
from grbp._io import reason
from grbp.engine.decisions import EngineLike
from grbp.errors import GrbpError, InvalidInput, TooLarge
from grbp.experiments.problem_grid import (
    MOST_PROBLEMS,
    ProblemsLike,
    check_fields,
    list_problems,
)
from grbp.experiments.simulation import (
    MOST_REPLICAS,
    MOST_ROUNDS,
    as_learner_list,
    checkpoints_up_to,
)
from grbp.experiments.splitting import check_population
from grbp.learners.custom import CustomLearner
from grbp.learners.registry import LearnerLike, StoredLearner, find_learner, stored_learner
from grbp.worlds.problem import Problem
from grbp.worlds.validation import as_seed, check_count, check_positive, check_several

DOUBLINGS: Final = 10
"""How often replicas are doubled for the sake of precision, unless a number is given."""

_SWITCHES: Final = ("leave_out", "curves", "splitting")
"""What is only kept where it is asked for."""


@dataclass(frozen=True)
class SweepSpec:
    """Specify a sweep: learners over many problems.

    Parameters
    ----------
    name : str
        The name of its files: small letters, digits and hyphens.
    problems : mapping, Problem, Chain, Drift, Groups, or sequence of them
        What is played: grids of problems with the keys ``goal``, ``p_c``, ``p_f`` (each a number,
        several, or a range ``{"from": 0.05, "to": 0.95, "step": 0.05}``) and ``start``; or single
        problems. Several make a union. A `Chain`, a `Drift` or `Groups` is a problem as well; in a
        file it is a table ``world``, with the keys of a chain's file. Names for tables are the keys
        of a mapping, ``{"ward": chain, "clinic": groups}``, or the key ``name`` of each.
    learners : sequence of str or Learner
        The learners: names, constants included (``"getbe-sm:gamma=30"``), or learners of your own.
    rounds : int or sequence of int
        The number of rounds; of several, regret is kept at each. A curve of one number is kept at
        about a hundred rounds up to there.
    replicas : int
        The number of replicas of each learner on each problem; with `se`, the number to begin with.
    seed : int
        A whole number. Every problem has a seed of its own that depends on it and on p_c and p_f,
        unless curves are played.
    engine : {"auto", "walk", "leap", "draw"}
        How rounds are played, see `simulate`.
    se : float, optional
        The standard error to reach at the last round: where it is larger, replicas are doubled.
    most_replicas : int, optional
        Where doubling ends; by default at 1,024 times `replicas`.
    leave_out : bool
        Whether a learner that cannot play at a goal is left out there. By default it is refused.
    curves : bool
        Whether whole curves are kept, with what `simulate` tells of them. Every problem is played
        with `seed` itself, as `simulate` plays it, and `SweepResult.simulation` has its curves.
    splitting : bool
        Whether rare replicas are looked for, see `simulate`; for curves alone.

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
    curves: bool = False
    splitting: bool = False

    def __post_init__(self) -> None:
        self._set("problems", list_problems(self.problems))
        if not self.grids:
            raise InvalidInput("problems = () was given; it must be one grid or several")
        if (count := sum(map(len, self.grids))) > MOST_PROBLEMS:
            raise TooLarge(
                f"the sweep has {count:,} problems; make two of it, or a grid of fewer points, up"
                f" to {MOST_PROBLEMS:,}"
            )
        rounds: Any = self.rounds if isinstance(self.rounds, Iterable) else [self.rounds]
        check_rounds = partial(check_count, "rounds", least=1, most=MOST_ROUNDS)
        self._set("rounds", tuple(sorted(check_several("rounds", rounds, check_rounds))))
        self._set("learners", check_learners(as_learner_list(self.learners), self.goals[0]))
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(self.name)):
            raise InvalidInput(
                f"the name {self.name!r} was given; it must be small letters, digits and hyphens"
            )
        self._set("replicas", check_count("replicas", self.replicas, 1, MOST_REPLICAS))
        self._set("seed", as_seed(self.seed))
        check_choice("engine", self.engine, EngineLike)
        if self.se is not None:
            self._set("se", check_positive("se", self.se))
        self._check_curves()
        if self.most_replicas is not None:
            most = check_count("most_replicas", self.most_replicas, self.replicas, MOST_REPLICAS)
            self._set("most_replicas", most)
        for goal in self.goals:
            if not self.players(goal):
                raise InvalidInput(
                    f"the learners {self.names} were given; none of them can play at goal {goal}"
                )

    def _check_curves(self) -> None:
        """Refuse switches that are none, and what curves cannot be asked along with."""
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(
                    f"{name} = {getattr(self, name)!r} was given; it must be true or false"
                )
        if self.curves and self.se is not None:
            raise InvalidInput(
                f"se = {self.se:g} and curves were given; all curves have the same replicas, so"
                " leave one of the two out"
            )
        if self.splitting:
            if not self.curves:
                raise InvalidInput("splitting was given without curves; it measures curves alone")
            check_population(self.replicas)

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def __len__(self) -> int:
        """Return the number of problems."""
        return sum(1 for _ in self.each_problem())

    @property
    def grids(self) -> tuple[Any, ...]:
        """The problems in the form in which they are kept, however they were given."""
        return cast("tuple[Any, ...]", self.problems)

    @property
    def world_names(self) -> dict[Any, str]:
        """The name of every problem that has one; where two grids have it, that of the last."""
        return {world: grid.name for grid in self.grids if grid.name for world in grid}

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
        rounds = cast("tuple[int, ...]", self.rounds)
        if self.curves and len(rounds) == 1:
            return tuple(checkpoints_up_to(*rounds).tolist())
        return rounds

    def players(self, goal: int) -> tuple[LearnerLike, ...]:
        """Return the learners that play at a goal."""
        return tuple(one for one in self.learners if self._can_play(one, goal))

    def _can_play(self, learner: LearnerLike, goal: int) -> bool:
        try:
            find_learner(learner, Problem(goal, 0.5, 0.5))
        except TooLarge:
            if self.leave_out:
                return False
            raise
        return True

    @property
    def left_out(self) -> dict[int, tuple[str, ...]]:
        """The learners that cannot play at a goal, where there are some."""
        missing = {goal: set(self.learners) - set(self.players(goal)) for goal in self.goals}
        return {
            goal: tuple(str(one) for one in self.learners if one in some)
            for goal, some in missing.items()
            if some
        }

    def each_problem(self) -> Iterator[Any]:
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
            data = tomllib.loads(Path(path).read_text("utf-8"))
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
            "problems": [one.as_json() for one in self.grids],
            "learners": [learner_as_json(learner) for learner in self.learners],
        }
        return {name: one for name, one in data.items() if one or name not in _SWITCHES}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SweepSpec":
        """Return the specification that plain data stand for, as `as_json` or a file has them."""
        given = check_fields("a sweep", data, cls)
        if isinstance(given["learners"], list | tuple):
            given["learners"] = [learner_from_json(one) for one in given["learners"]]
        return cls(**given)


def learner_as_json(learner: LearnerLike) -> str | dict[str, str]:
    """Return a learner as plain data: its name or, where others wrote it, with a digest."""
    return learner.as_json() if isinstance(learner, CustomLearner) else str(learner)


def learner_from_json(learner: Any) -> Any:
    """Return the learner that plain data stand for; else what was given, to be refused later."""
    if isinstance(learner, Mapping) and set(learner) == {"name", "digest"}:
        return CustomLearner(learner["name"], None, learner["digest"])
    return learner


def check_learners(learners: Any, goal: int, least: int = 1) -> tuple[StoredLearner, ...]:
    """Return learners as a file keeps them; refuse unless there are enough, each named once."""
    checked = check_several("learners", learners, partial(stored_learner, problem=goal), least)
    if len(set(map(str, checked))) < len(checked):
        raise InvalidInput(
            f"the learners {[str(one) for one in checked]} were given; each must have its own name"
        )
    return checked
