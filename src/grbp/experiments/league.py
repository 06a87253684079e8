"""Play a league: learners over a grid of problems and several goals.

A league is a set of maps of regret, one for each goal and learner. Each is an experiment of its
own, found again if it was run before, in this league or another, and resumed chunk by chunk.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grbp._display import Displayable, Rows
from grbp._progress import Progress, ProgressLike, as_progress
from grbp.engine.decisions import EngineLike
from grbp.errors import InvalidInput, TooLarge
from grbp.experiments.league_table import Duel, LeagueTable, duel_of, standings_rows, table_of
from grbp.experiments.results import GridResult
from grbp.experiments.runner import run_map
from grbp.experiments.simulation import COLUMNS, MOST_REPLICAS, Row
from grbp.experiments.spec import GridSpec, kept_learners, several
from grbp.experiments.store import FOLDER
from grbp.experiments.sweeps.driver import workers_for
from grbp.learners.registry import LEARNERS, LearnerLike, find_learner
from grbp.model.validation import as_seed, check_count, check_goal, check_positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EVERYONE: Final = tuple(name for name in LEARNERS if name != "oracle")
_MOST_STEPS: Final = 100


@dataclass(frozen=True)
class LeagueSpec:
    """Specify a league: learners over a grid of problems and several goals.

    Parameters
    ----------
    learners : tuple of str or Learner, optional
        The learners: names, constants included (``"getbe-sm:gamma=30"``), or learners of your
        own, which are kept as in `grbp.experiments.Spec`. By default all but the oracle play,
        each at the goals that it can play.
    goals : tuple of int
        The goals, each with a map of its own.
    step : float
        The step of the grid: p_c and p_f are its multiples between 0 and 1.
    rounds, replicas, seed : int
        See `simulate`.
    engine : {"auto", "walk", "leap", "draw"}
        How rounds are played, see `simulate`; "draw" draws every round whole, as a GPU does.

    Examples
    --------
    >>> import grbp
    >>> spec = grbp.LeagueSpec(("getbe-sm", "no-explore"), goals=(4, 10), step=0.25)
    >>> spec.grid
    (0.25, 0.5, 0.75)
    >>> grbp.LeagueSpec(goals=(4, 50)).left_out
    {50: ('ucb1-policies',)}
    """

    learners: tuple[LearnerLike, ...] | None = None
    goals: tuple[int, ...] = (4, 10, 50)
    step: float = 0.1
    rounds: int = 5000
    replicas: int = 200
    seed: int = 0
    engine: EngineLike = "auto"

    def __post_init__(self) -> None:
        # One replica has no standard error, and every difference would be clear.
        replicas = check_count("replicas", self.replicas, 2, MOST_REPLICAS)
        goals = several("goals", self.goals, check_goal)
        checked = {"replicas": replicas, "goals": goals, "step": 1.0 / _steps(self.step)}
        if self.learners is not None:
            checked["learners"] = kept_learners(self.learners, goals[0], 2)
        for name, value in (checked | {"seed": as_seed(self.seed)}).items():
            object.__setattr__(self, name, value)
        for goal in self.goals:
            for learner in self.learners or ():
                find_learner(learner, goal)
            one = self.map_spec(goal, self.players(goal)[0])
        object.__setattr__(self, "rounds", one.rounds)

    @property
    def grid(self) -> tuple[float, ...]:
        """Every p_c, and every p_f."""
        steps = _steps(self.step)
        return tuple(k / steps for k in range(1, steps))

    @property
    def _named(self) -> dict[str, LearnerLike]:
        return {str(learner): learner for learner in self.learners or _EVERYONE}

    def players(self, goal: int) -> tuple[str, ...]:
        """Return the names of the learners that play at a goal."""
        return tuple(name for name in self._named if self.learners or _can_play(name, goal))

    def as_json(self) -> dict[str, Any]:
        """Return the specification as plain data, learners by their names."""
        learners = self.learners and tuple(self._named)
        return {**vars(self), "learners": learners, "grid": self.grid}

    @property
    def left_out(self) -> dict[int, tuple[str, ...]]:
        """The learners that cannot play at a goal, where there are some."""
        missing = {
            goal: tuple(name for name in self._named if name not in self.players(goal))
            for goal in self.goals
        }
        return {goal: names for goal, names in missing.items() if names}

    def map_spec(self, goal: int, learner: str) -> GridSpec:
        """Return the experiment of one learner at one goal."""
        sizes = (self.rounds, self.replicas, self.seed, self.engine)
        return GridSpec(f"league-{goal}", goal, self.grid, self.grid, self._named[learner], *sizes)


@dataclass(frozen=True, repr=False)
class League(Displayable):
    """A league that was played: a map of regret for each goal and learner.

    Attributes
    ----------
    spec : LeagueSpec
    maps : dict
        The maps: ``{goal: {learner: GridResult}}``.

    Notes
    -----
    `to_frame` has a row for each goal, learner and problem; `plot` draws the mean regret of every
    learner over all problems.

    See Also
    --------
    run_league : Plays a league.
    save_league : Draws who wins where.
    """

    spec: LeagueSpec
    maps: dict[int, dict[str, GridResult]]

    def __repr__(self) -> str:
        spec, learners = self.spec, {name for maps in self.maps.values() for name in maps}
        return (
            f"<League of {len(learners)} learners, goals {', '.join(map(str, spec.goals))}:"
            f" {len(spec.grid) ** 2:,} problems each, {spec.replicas:,} replicas of"
            f" {spec.rounds:,} rounds, seed {spec.seed}>"
        )

    def table(self, goal: int | None = None) -> LeagueTable:
        """Make the table of a goal, or that of all goals together.

        Parameters
        ----------
        goal : int, optional
            One of the league's goals.

        Returns
        -------
        LeagueTable
        """
        goals = self.spec.goals if goal is None else (self._known(goal),)
        names = [n for n in self.maps[goals[0]] if all(n in self.maps[g] for g in goals)]
        return table_of(goal, {name: [self.maps[g][name] for g in goals] for name in names})

    def duel(self, goal: int, first: str, second: str) -> Duel:
        """Compare two learners at a goal, problem by problem.

        Parameters
        ----------
        goal : int
            One of the league's goals.
        first, second : str
            The names of two learners that play there.

        Returns
        -------
        Duel
        """
        maps = self.maps[self._known(goal)]
        for name in (first, second):
            if name not in maps:
                known = ", ".join(maps)
                raise InvalidInput(f"learner {name!r} was asked for; there is {known}")
        return duel_of(maps[first], maps[second])

    def cells(self) -> Iterator[Row]:
        """Yield every cell as a row of the table that `grbp.experiments.to_csv` writes of a map."""
        for maps in self.maps.values():
            for result in maps.values():
                yield from result.rows()

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain data: what was asked, the tables, and every map [p_f][p_c]."""
        goals = {}
        for goal, maps in self.maps.items():
            regret = {
                name: {"mean": result.mean.tolist(), "se": result.se.tolist()}
                for name, result in maps.items()
            }
            goals[str(goal)] = self.table(goal).as_json() | {"maps": regret}
        return {
            "spec": self.spec.as_json(),
            "left_out": {str(goal): names for goal, names in self.spec.left_out.items()},
            "goals": goals,
            "overall": self.table().as_json(),
        }

    def _table(self) -> Rows:
        return COLUMNS, self.cells()

    def _summary(self) -> Rows:
        return standings_rows(self.table().standings)

    def _draw(self, ax: "Axes | None") -> "Figure":
        from grbp.figures.standings import standings_figure  # noqa: PLC0415 (a picture is of a floor above)

        return standings_figure(self, ax=ax)

    def _known(self, goal: int) -> int:
        if goal not in self.maps:
            known = ", ".join(map(str, self.maps))
            raise InvalidInput(f"goal {goal!r} was asked for; this league has {known}")
        return goal


def run_league(
    spec: LeagueSpec,
    folder: Path = FOLDER,
    progress: ProgressLike = None,
    threads: int | None = None,
    *,
    processes: int | None = None,
    dask: str | None = None,
) -> League:
    """Play a league, or as much of it as the folder does not hold already.

    After an interruption the same call goes on with the map that was being played, chunk by chunk;
    neither that nor who plays changes a bit.

    Parameters
    ----------
    spec : LeagueSpec
        The league.
    folder : Path
        The folder in which results are kept.
    progress : bool or callable, optional
        True for a bar, or a function that is called with (which map, replicas done, replicas in
        all).
    threads : int, optional
        The number of threads, by default one for each processor.
    processes : int, optional
        The number of processes that play, in place of threads.
    dask : str, optional
        The address of a Dask cluster that plays; see `sweep`.

    Returns
    -------
    League

    Examples
    --------
    >>> import grbp, tempfile
    >>> from pathlib import Path
    >>> learners = ("getbe-sm", "no-explore")
    >>> spec = grbp.LeagueSpec(learners, goals=(4,), step=0.25, rounds=200, replicas=50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     league = grbp.run_league(spec, Path(folder))
    >>> for one in league.table(4).standings:
    ...     print(f"{one.learner}: {one.mean:.1f}, standard error {one.se:.1f}")
    no-explore: 3.9, standard error 0.5
    getbe-sm: 11.1, standard error 0.2
    >>> league.duel(4, *learners).winner.tolist()  # 1 where getbe-sm wins; a row for each p_f
    [[0, -1, -1], [0, 1, -1], [1, 1, 0]]
    """
    todo = [(goal, learner) for goal in spec.goals for learner in spec.players(goal)]
    maps: dict[int, dict[str, GridResult]] = {goal: {} for goal in spec.goals}
    report = as_progress(progress)
    with workers_for(processes, threads, dask) as workers:
        for k, (goal, learner) in enumerate(todo, start=1):
            told = _under_name(report, f"{k}/{len(todo)} {learner}, goal {goal}")
            one = spec.map_spec(goal, learner)
            maps[goal][learner] = run_map(one, Path(folder), told, workers)
    return League(spec, maps)


def _under_name(progress: Progress | None, name: str) -> Progress | None:
    """Make the function that reports on one map, under one name."""
    if progress is None:
        return None
    return lambda _, done, total: progress(name, done, total)


def _can_play(name: str, goal: int) -> bool:
    try:
        find_learner(name, goal)
    except TooLarge:
        return False
    return True


def _steps(step: float) -> int:
    """Count the steps from 0 to 1; refuse a step unless that is a whole number."""
    steps = round(1.0 / max(check_positive("step", step), 1e-3))
    if not 3 <= steps <= _MOST_STEPS or abs(steps * step - 1.0) > 1e-9:
        raise InvalidInput(
            f"step = {step!r} was given; it must be 1 divided by a whole number from 3 to"
            f" {_MOST_STEPS}, such as 0.1"
        )
    return steps
