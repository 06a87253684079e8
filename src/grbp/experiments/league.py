"""The league: learners over a grid of problems and several goals, and who beats whom where.

A league is a set of maps of regret, one for each goal and learner. Each is an experiment of its
own, found again if it was run before, in this league or another, and resumed row by row.

Learners are paired by problem: a difference is taken cell by cell. In a cell they have one seed
but not the same cases (leaping draws rounds whole), so that the standard error of a difference is
sqrt(se_1^2 + se_2^2); where they do share cases, it is rather too large. Intervals hold 95 %, one
comparison at a time, and are about chance in the simulation, not about other problems. What
happens in fewer than one of all replicas is not seen: a learner that seldom loses much, such as
no-explore, looks better with few.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from grbp.engine.decisions import EngineLike
from grbp.errors import InvalidInput, TooLarge
from grbp.experiments.catalog import PAPER_LEARNERS
from grbp.experiments.regret import Z_95
from grbp.experiments.results import GridResult
from grbp.experiments.runner import run
from grbp.experiments.simulation import MOST_REPLICAS, Progress
from grbp.experiments.spec import GridSpec
from grbp.experiments.store import FOLDER
from grbp.learners.registry import LEARNERS, find_learner
from grbp.model.validation import check_goal, check_positive, check_whole
from grbp.numerics.arrays import Floats, Ints

HINDSIGHT: Final = "five in hindsight"
"""At each problem the best of the paper's five learners, chosen after all have played."""

_MOST_STEPS: Final = 100
# Where all policies are as good, what is left of regret is rounding.
_ROUNDING: Final = 1e-9

GridPoint: TypeAlias = tuple[int, float, float]
"""A problem of a league: goal, p_c, p_f."""


@dataclass(frozen=True)
class LeagueSpec:
    """What a league is, before it is played.

    learners   their names, constants included ("getbe-sm:gamma=30"); None for every one there
               is but the oracle, each at the goals that it can play
    goals      the goals, each with a map of its own
    step       of the grid: p_c and p_f are its multiples between 0 and 1
    rounds, replicas, seed, engine   see `simulate`
    """

    learners: tuple[str, ...] | None = None
    goals: tuple[int, ...] = (4, 10, 50)
    step: float = 0.1
    rounds: int = 5000
    replicas: int = 200
    seed: int = 0
    engine: EngineLike = "auto"

    def __post_init__(self) -> None:
        # One replica has no standard error, and everything would be clear.
        check_whole("replicas", self.replicas, 2, MOST_REPLICAS)
        goals = tuple(check_goal(goal) for goal in _each_once("goals", self.goals, 1))
        object.__setattr__(self, "goals", goals)
        object.__setattr__(self, "step", 1.0 / _steps(self.step))
        if self.learners is not None:
            object.__setattr__(self, "learners", _each_once("learners", self.learners, 2))
        for goal in goals:
            for learner in self.learners or ():
                find_learner(learner, goal)
            self.map_spec(goal, self.players(goal)[0])

    @property
    def grid(self) -> tuple[float, ...]:
        """Every p_c, and every p_f."""
        steps = _steps(self.step)
        return tuple(k / steps for k in range(1, steps))

    def players(self, goal: int) -> tuple[str, ...]:
        """The learners that play at a goal."""
        if self.learners is not None:
            return self.learners
        return tuple(name for name in _everyone() if _can_play(name, goal))

    @property
    def left_out(self) -> dict[int, tuple[str, ...]]:
        """The learners that cannot play at a goal, where there are some."""
        everyone = self.learners or _everyone()
        missing = {
            goal: tuple(name for name in everyone if name not in self.players(goal))
            for goal in self.goals
        }
        return {goal: names for goal, names in missing.items() if names}

    def map_spec(self, goal: int, learner: str) -> GridSpec:
        """The experiment of one learner at one goal."""
        sizes = (self.rounds, self.replicas, self.seed, self.engine)
        return GridSpec(f"league-{goal}", goal, self.grid, self.grid, learner, *sizes)


class Standing(NamedTuple):
    """How a learner does over the problems of a table.

    mean, se   the mean regret over all problems, and its standard error
    worst      the largest regret, and worst_at the problem: goal, p_c, p_f
    best       problems in which its regret is clearly below that of every other learner;
               None for the five in hindsight
    """

    learner: str
    mean: float
    se: float
    worst: float
    worst_at: GridPoint
    best: int | None

    @property
    def half(self) -> float:
        """Half the 95 % interval of the mean."""
        return Z_95 * self.se


class Pair(NamedTuple):
    """Two learners over the problems of a table.

    difference   the mean regret of the first less that of the second: negative if the first
                 is better; low and high are the ends of its 95 % interval
    first_wins, second_wins   problems in which that one's regret is clearly the smaller
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    first_wins: int
    second_wins: int

    @property
    def half(self) -> float:
        """Half the 95 % interval of the difference."""
        return (self.high - self.low) / 2.0


@dataclass(frozen=True)
class LeagueTable:
    """The table of one goal, or of all.

    goal        None where it is of all goals, and of the learners that play all of them
    problems    how many there are
    undecided   those in which no learner is clearly the best
    standings   from the smallest mean regret to the largest
    pairs       every two learners, in that order
    hindsight   the five in hindsight, where all five play; chosen by what chance gave them, so
                it flatters them a little
    against_hindsight   every learner against the five in hindsight
    """

    goal: int | None
    problems: int
    undecided: int
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    hindsight: Standing | None = None
    against_hindsight: tuple[Pair, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The table as plain data."""
        lists = {
            name: [one._asdict() for one in getattr(self, name)]
            for name in ("standings", "pairs", "against_hindsight")
        }
        hindsight = None if self.hindsight is None else self.hindsight._asdict()
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return found | lists | {"hindsight": hindsight}


class Duel(NamedTuple):
    """Two learners, problem by problem, at one goal: arrays [p_f, p_c].

    difference, se   the regret of the first less that of the second, and its standard error
    winner           1 where the first clearly has less, -1 where the second has, else 0
    doublings        how often the winner's regret doubles up to the loser's, with the sign of
                     winner; 0 where there is none
    """

    difference: Floats
    se: Floats
    winner: Ints
    doublings: Floats


@dataclass(frozen=True)
class League:
    """A league that was played: a map for each goal and learner, and what follows from them."""

    spec: LeagueSpec
    maps: dict[int, dict[str, GridResult]]

    def table(self, goal: int | None = None) -> LeagueTable:
        """The table of a goal, or that of all goals together."""
        goals = self.spec.goals if goal is None else (self._known(goal),)
        names = [n for n in self.maps[goals[0]] if all(n in self.maps[g] for g in goals)]
        return _table(goal, _field(self, names, goals))

    def duel(self, goal: int, first: str, second: str) -> Duel:
        """Who wins where, of two learners at a goal."""
        maps = self.maps[self._known(goal)]
        for name in (first, second):
            if name not in maps:
                known = ", ".join(maps)
                raise InvalidInput(f"learner {name!r} was asked for; there is {known}")
        one, other = maps[first], maps[second]
        difference, se = one.mean - other.mean, np.hypot(one.se, other.se)
        winner = _winner(difference, se)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log2(np.maximum(other.mean, 0.0)) - np.log2(np.maximum(one.mean, 0.0))
        return Duel(difference, se, winner, np.where(winner == 0, 0.0, ratio))

    def cells(self) -> Iterator[tuple[int, str, float, float, float, float]]:
        """Every cell: goal, learner, p_c, p_f, mean regret, standard error."""
        for goal, maps in self.maps.items():
            for name, result in maps.items():
                for (i, j), mean in np.ndenumerate(result.mean):
                    p_c, p_f = result.spec.p_c[j], result.spec.p_f[i]
                    yield goal, name, p_c, p_f, float(mean), float(result.se[i, j])

    def as_json(self) -> dict[str, Any]:
        """Everything as plain data: what was asked, the tables, and every map [p_f][p_c]."""
        asked = asdict(self.spec)
        asked["learners"] = None if self.spec.learners is None else list(self.spec.learners)
        goals = {
            str(goal): self.table(goal).as_json()
            | {
                "maps": {
                    name: {"mean": result.mean.tolist(), "se": result.se.tolist()}
                    for name, result in maps.items()
                }
            }
            for goal, maps in self.maps.items()
        }
        return {
            "spec": asked | {"goals": list(self.spec.goals), "grid": list(self.spec.grid)},
            "left_out": {str(goal): list(names) for goal, names in self.spec.left_out.items()},
            "goals": goals,
            "overall": self.table().as_json(),
        }

    def _known(self, goal: int) -> int:
        if goal not in self.maps:
            known = ", ".join(map(str, self.maps))
            raise InvalidInput(f"goal {goal!r} was asked for; this league has {known}")
        return goal


def run_league(
    spec: LeagueSpec,
    folder: Path = FOLDER,
    progress: Progress | None = None,
    threads: int | None = None,
) -> League:
    """The league, from the folder as far as it is there, else played and kept there.

    After an interruption the same call goes on with the next row of the map it was at; neither
    that nor threads change a bit. progress is called with (which map, replicas done, replicas
    in all).
    """
    todo = [(goal, learner) for goal in spec.goals for learner in spec.players(goal)]
    maps: dict[int, dict[str, GridResult]] = {goal: {} for goal in spec.goals}
    for k, (goal, learner) in enumerate(todo, start=1):
        told = _teller(progress, f"{k}/{len(todo)} {learner}, goal {goal}")
        maps[goal][learner] = run(spec.map_spec(goal, learner), folder, told, threads)
    return League(spec, maps)


def _teller(progress: Progress | None, name: str) -> Progress | None:
    """What reports on one map, under one name."""
    if progress is None:
        return None
    return lambda _, done, total: progress(name, done, total)


def _everyone() -> tuple[str, ...]:
    """The learners of a league where none are named."""
    return tuple(name for name in LEARNERS if name != "oracle")


def _can_play(name: str, goal: int) -> bool:
    try:
        find_learner(name, goal)
    except TooLarge:
        return False
    return True


def _each_once(name: str, values: Sequence[Any], least: int) -> tuple[Any, ...]:
    """The values as a tuple, or a refusal unless there are enough, each once."""
    kept = tuple(values) if isinstance(values, Sequence) and not isinstance(values, str) else ()
    if len(kept) < least or any(one in kept[:k] for k, one in enumerate(kept)):
        enough = "one or more" if least == 1 else "two or more"
        raise InvalidInput(f"{name} = {values!r} was given; there must be {enough}, each once")
    return kept


def _steps(step: float) -> int:
    """How many steps there are from 0 to 1, or a refusal unless that is a whole number."""
    steps = round(1.0 / max(check_positive("step", step), 1e-3))
    if not 3 <= steps <= _MOST_STEPS or abs(steps * step - 1.0) > 1e-9:
        raise InvalidInput(
            f"step = {step!r} was given; it must be 1 divided by a whole number from 3 to"
            f" {_MOST_STEPS}, such as 0.1"
        )
    return steps


class _Field(NamedTuple):
    """Learners on problems: regret and standard error, [learner, problem]."""

    names: list[str]
    places: list[GridPoint]
    mean: Floats
    se: Floats


def _field(league: League, names: list[str], goals: Sequence[int]) -> _Field:
    grid = league.spec.grid
    places = [(goal, p_c, p_f) for goal in goals for p_f in grid for p_c in grid]
    rows = [[league.maps[goal][name] for goal in goals] for name in names]
    mean = np.array([np.concatenate([one.mean.ravel() for one in row]) for row in rows])
    se = np.array([np.concatenate([one.se.ravel() for one in row]) for row in rows])
    order = sorted(range(len(names)), key=lambda k: (mean[k].mean(), names[k]))
    return _Field([names[k] for k in order], places, mean[order], se[order])


def _table(goal: int | None, field: _Field) -> LeagueTable:
    names, count = field.names, len(field.names)
    # wins[i, j, problem]: whether i clearly beats j there
    wins = np.zeros((count, count, len(field.places)), dtype=bool)
    pairs = []
    for i in range(count):
        for j in range(i + 1, count):
            difference = field.mean[i] - field.mean[j]
            se = np.hypot(field.se[i], field.se[j])
            wins[i, j], wins[j, i] = _winner(difference, se) > 0, _winner(difference, se) < 0
            pairs.append(_pair((names[i], names[j]), difference, se))
    best = (wins.sum(axis=1) == count - 1).sum(axis=1)
    standings = tuple(
        _standing(name, field.mean[k], field.se[k], field.places, int(best[k]))
        for k, name in enumerate(names)
    )
    undecided = len(field.places) - int(best.sum())
    hindsight, against = _hindsight(field)
    return LeagueTable(
        goal, len(field.places), undecided, standings, tuple(pairs), hindsight, tuple(against)
    )


def _standing(
    name: str, mean: Floats, se: Floats, places: Sequence[GridPoint], best: int | None
) -> Standing:
    worst, noise = int(mean.argmax()), _se_of_mean(se)
    return Standing(name, float(mean.mean()), noise, float(mean[worst]), places[worst], best)


def _pair(names: tuple[str, str], difference: Floats, se: Floats) -> Pair:
    middle, half = float(difference.mean()), Z_95 * _se_of_mean(se)
    winner = _winner(difference, se)
    wins = int((winner > 0).sum()), int((winner < 0).sum())
    return Pair(*names, middle, middle - half, middle + half, *wins)


def _hindsight(field: _Field) -> tuple[Standing | None, list[Pair]]:
    """The best of the paper's five at each problem, and every learner against it."""
    if not set(PAPER_LEARNERS) <= set(field.names):
        return None, []
    five = np.array([field.names.index(name) for name in PAPER_LEARNERS])
    chosen = five[field.mean[five].argmin(axis=0)]
    at = np.arange(len(field.places))
    mean, se = field.mean[chosen, at], field.se[chosen, at]
    pairs = [
        # A learner does not differ from itself.
        _pair(
            (name, HINDSIGHT),
            field.mean[k] - mean,
            np.where(chosen == k, 0.0, np.hypot(field.se[k], se)),
        )
        for k, name in enumerate(field.names)
    ]
    return _standing(HINDSIGHT, mean, se, field.places, None), pairs


def _winner(difference: Floats, se: Floats) -> Ints:
    """1 where the first clearly has less regret, -1 where the second has, else 0."""
    clear = np.abs(difference) > np.maximum(Z_95 * se, _ROUNDING)
    return np.where(clear, -np.sign(difference), 0.0).astype(np.int64)


def _se_of_mean(se: Floats) -> float:
    """The standard error of the mean over cells, which are independent of each other."""
    return float(np.sqrt(np.square(se).sum())) / len(se)
