"""Hold the result of a sweep: whole-number sums of every cell, priced when they are asked for."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grbp._display import Displayable, Rows
from grbp.errors import InvalidInput
from grbp.experiments.cells import Cell
from grbp.experiments.game import AnyTally, Tally
from grbp.experiments.league_table import (
    Duel,
    LeagueTable,
    Scores,
    find_winner,
    make_duel,
    make_table,
)
from grbp.experiments.problem_grid import OneTruth
from grbp.experiments.provenance import Meta, digest_of, source_digest
from grbp.experiments.regret import Z_95, Curve
from grbp.experiments.simulation import Simulation
from grbp.experiments.sweep_spec import SweepSpec
from grbp.experiments.tables import COLUMNS, NAMED_COLUMNS, Row, learner_rows
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.world import Point, World

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class SweptCell(NamedTuple):
    """A learner on a problem, played.

    Attributes
    ----------
    cell : Cell
    tally : Tally or Population
        What its replicas add up to.
    mean, se : tuple of float
        The mean regret at each of the rounds, and its standard error.
    curve : Curve or None
        The whole curve, where curves were asked for.
    """

    cell: Cell
    tally: AnyTally
    mean: tuple[float, ...]
    se: tuple[float, ...]
    curve: Curve | None = None

    @classmethod
    def of(cls, cell: Cell, parts: Sequence[Any]) -> "SweptCell":
        """Price what some parts of a cell add up to."""
        game = cell.game
        tally = parts[0] if cell.splitting else Tally.join(parts)
        if not cell.curve:
            mean, se = zip(*game.price(tally), strict=True)
            return cls(cell, tally, mean, se)
        curve = game.curve(tally)
        return cls(cell, tally, tuple(curve.mean.tolist()), tuple(curve.se.tolist()), curve)

    @property
    def replicas(self) -> int:
        """The number of replicas."""
        return self.tally.replicas

    def rows(self) -> Iterator[Row]:
        """Yield its rows of a table of results."""
        cell, rounds = self.cell, np.array(self.cell.rounds)
        mean, se = np.array(self.mean), np.array(self.se)
        if self.curve is None:
            unseen = cell.game.unseen(rounds, self.replicas)
            low, high = mean - Z_95 * se, mean + Z_95 * se + (0.0 if unseen is None else unseen)
        else:
            low, high = self.curve.band()
        how = (str(cell.learner), cell.rounds[-1], self.replicas, cell.seed, cell.engine)
        columns = (rounds, mean, se, low, high)
        return learner_rows(cell.problem, (*how, cell.splitting, "pseudo"), *columns)


class RegretMap(NamedTuple):
    """The regret of one learner at every p_c with every p_f, at one goal.

    Attributes
    ----------
    goal : int
    p_c, p_f : ndarray
        The probabilities of the columns and of the rows, rising.
    mean, se : ndarray, shape (len(p_f), len(p_c))
        The mean regret at the last round, and its standard error. Cells are independent.

    See Also
    --------
    SweepResult.regret_map : Makes a map.

    Notes
    -----
    Paper: fig:3D
    Differs: the paper does not print the goal or the grid.

    Examples
    --------
    >>> import grbp
    >>> import numpy as np
    >>> grbp.RegretMap(4, np.array([0.4, 0.6]), np.array([0.3]), *np.ones((2, 1, 2))).mean.shape
    (1, 2)
    """

    goal: int
    p_c: Floats
    p_f: Floats
    mean: Floats
    se: Floats


@dataclass(frozen=True, repr=False)
class SweepResult(Displayable):
    """The regret of every learner on every problem of a sweep.

    Attributes
    ----------
    spec : SweepSpec
    cells : tuple of SweptCell
        Every learner on every problem, in the order of the specification.
    meta : Meta
        How the last of them were made.

    Notes
    -----
    `to_frame` has a row for each cell and round, with the columns of all tables of results; `plot`
    draws the regret of one learner as a map, or which of several is best where, or, of several
    goals, the mean regret of every learner.

    See Also
    --------
    sweep : Makes a result, or goes on with it.
    league_figure : Draws who wins where.

    Examples
    --------
    >>> import grbp, tempfile
    >>> grid = {"goal": 4, "p_c": [0.4, 0.6], "p_f": [0.2, 0.3, 0.5]}
    >>> spec = grbp.SweepSpec("tour", grid, ["getbe-sm"], rounds=100, replicas=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = grbp.sweep(spec, folder)
    >>> result
    <SweepResult 'tour': 1 learner on 6 problems, 120 replicas of 100 rounds, seed 0>
    >>> result.regret_map().mean.shape
    (3, 2)
    """

    spec: SweepSpec
    cells: tuple[SweptCell, ...]
    meta: Meta = field(compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its table."""
        return NAMED_COLUMNS if self.spec.world_names else COLUMNS

    def __repr__(self) -> str:
        spec, learners = self.spec, len(self.spec.learners)
        count = sum(one.replicas for one in self.cells)
        return (
            f"<SweepResult {spec.name!r}: {learners} learner{'s' * (learners > 1)} on"
            f" {len(spec):,} problems, {count:,} replicas of {spec.checkpoints[-1]:,} rounds, seed"
            f" {spec.seed}>"
        )

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of every cell and its sums: equal for equal results, however made."""
        # The digest sorts keys, so that the order of cells is nothing.
        return digest_of({one.cell.key: one.tally.as_json() for one in self.cells})

    @property
    def imprecise(self) -> list[SweptCell]:
        """The cells whose standard error is still above the one asked for."""
        wanted = self.spec.se
        return [one for one in self.cells if wanted is not None and not one.se[-1] <= wanted]

    def rows(self) -> Iterator[Row]:
        """Yield the rows of its table: one for each cell and round."""
        names = self.spec.world_names
        for one in self.cells:
            name = (names.get(one.cell.problem, ""),) if names else ()
            for row in one.rows():
                yield *name, *row

    def simulation(self, problem: World | None = None) -> Simulation:
        """Return the curves on a problem, as `simulate` returns them.

        Parameters
        ----------
        problem : Problem, Chain, Drift or Groups, optional
            One of the problems, by default the first.

        Returns
        -------
        Simulation

        Raises
        ------
        InvalidInput
            If no curves were asked for, or there is no such problem.

        Examples
        --------
        >>> import grbp, tempfile
        >>> figure = grbp.Problem(4, 0.45, 0.3)
        >>> spec = grbp.SweepSpec("own", figure, "getbe-sm", 100, 20, seed=1, curves=True)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kept = grbp.sweep(spec, folder).simulation().curves["getbe-sm"]
        >>> direct = grbp.simulate(figure, "getbe-sm", 100, 20, seed=1).curves["getbe-sm"]
        >>> bool((kept.mean == direct.mean).all() and (kept.final == direct.final).all())
        True
        """
        spec = self.spec
        if not spec.curves:
            raise InvalidInput(f"the sweep {spec.name!r} has no curves; ask for curves = True")
        problem = self.cells[0].cell.problem if problem is None else problem
        found = {str(one.cell.learner): one for one in self.cells if one.cell.problem == problem}
        if not found:
            raise InvalidInput(f"{problem!r} was asked for, which the sweep {spec.name!r} lacks")
        return Simulation(
            problem,
            np.array(spec.checkpoints),
            spec.replicas,
            spec.seed,
            "pseudo",
            {name: one.curve for name, one in found.items() if one.curve is not None},
            {name: one.cell.engine for name, one in found.items()},
        )

    @cached_property
    def _by_goal(self) -> dict[int, dict[str, list[SweptCell]]]:
        """The cells of every learner at every goal, in their order."""
        spec = self.spec
        found: dict[int, dict[str, list[SweptCell]]] = {
            goal: {str(learner): [] for learner in spec.players(goal)} for goal in spec.goals
        }
        for one in self.cells:
            found[one.cell.problem.goal][str(one.cell.learner)].append(one)
        return found

    def table(self, goal: int | None = None) -> LeagueTable:
        """Compare the learners over the problems of a goal, or of all goals together.

        Parameters
        ----------
        goal : int, optional
            One of the goals.

        Returns
        -------
        LeagueTable
            It has the learners that play at all of these goals.
        """
        found = list(self._by_goal.values()) if goal is None else [self._cells_at(goal)]
        names = [name for name in found[0] if all(name in cells for cells in found)]
        together = {name: [one for cells in found for one in cells[name]] for name in names}
        if not names:
            raise InvalidInput("no learner plays at all goals; ask for the table of one goal")
        points = [one.cell.problem.point for one in together[names[0]]]
        return make_table(goal, {name: _score(cells) for name, cells in together.items()}, points)

    def duel(self, goal: int, first: str, second: str) -> Duel:
        """Compare two learners at a goal, problem by problem.

        Parameters
        ----------
        goal : int
            One of the goals.
        first, second : str
            The names of two learners that play there.

        Returns
        -------
        Duel
        """
        maps = (self.regret_map(name, goal) for name in (first, second))
        return make_duel(*(Scores(one.mean, one.se) for one in maps))

    def regret_map(self, learner: str | None = None, goal: int | None = None) -> RegretMap:
        """Return the map of one learner over the probabilities, at one goal.

        Parameters
        ----------
        learner : str, optional
            The name of a learner, by default the first.
        goal : int, optional
            One of the goals, by default the first.

        Returns
        -------
        RegretMap

        Raises
        ------
        InvalidInput
            If the problems of the goal are not a grid, or there is no such learner or goal.
        """
        goal = self.spec.goals[0] if goal is None else goal
        found = self._cells_at(goal)
        learner = next(iter(found)) if learner is None else learner
        if learner not in found:
            raise InvalidInput(f"learner {learner!r} was asked for; there is {', '.join(found)}")
        listed = [one.cell.problem for one in found[learner]]
        problems = [problem.paper for problem in listed if problem.paper]
        p_c, p_f = (np.unique([getattr(one, p) for one in problems]) for p in ("p_c", "p_f"))
        shape = (len(p_f), len(p_c))
        order = np.lexsort(([one.p_c for one in problems], [one.p_f for one in problems]))
        places = {(one.p_c, one.p_f) for one in problems}
        if not len(listed) == len(places) == p_c.size * p_f.size or min(shape) < 2:
            raise InvalidInput(
                f"the sweep {self.spec.name!r} cannot be drawn as a map, which needs one grid of"
                " one goal; choose from its table with to_frame()"
            )
        mean, se = _score(found[learner])
        return RegretMap(goal, p_c, p_f, mean[order].reshape(shape), se[order].reshape(shape))

    def winners(self, goal: int | None = None) -> tuple[Ints, NDArray[np.bool_]]:
        """Return which learner has the least mean regret at every point of the map of a goal.

        Returns
        -------
        best : ndarray of int, shape (len(p_f), len(p_c))
            The place of the learner among those that play at the goal.
        clear : ndarray of bool, shape (len(p_f), len(p_c))
            Whether the second best is clearly worse, as in a table.
        """
        goal = self.spec.goals[0] if goal is None else goal
        maps = [self.regret_map(name, goal) for name in self._cells_at(goal)]
        if len(maps) < 2:
            raise InvalidInput(f"the sweep {self.spec.name!r} has one learner; two can be compared")
        mean, se = np.array([one.mean for one in maps]), np.array([one.se for one in maps])
        order = np.argsort(mean, axis=0, kind="stable")[:2]
        (first, second), (s, t) = (np.take_along_axis(one, order, 0) for one in (mean, se))
        return order[0], find_winner(first - second, np.hypot(s, t)) > 0

    def _cells_at(self, goal: int) -> dict[str, list[SweptCell]]:
        if goal not in self._by_goal:
            known = ", ".join(map(str, self._by_goal))
            raise InvalidInput(f"goal {goal!r} was asked for; there is {known}")
        return self._by_goal[goal]

    def _table(self) -> Rows:
        return self.columns, self.rows()

    def name_at(self, point: Point) -> str:
        """Return the name of the problem at a point of a table, if it has one."""
        named = self.spec.world_names.items()
        return " or ".join(name for world, name in named if world.point == point)

    @property
    def _is_one_simulation(self) -> bool:
        return self.spec.curves and len(self.spec) == 1

    def _summary(self) -> Rows:
        if self._is_one_simulation:
            return self.simulation()._summary()
        columns = ("learner", "mean regret", "standard error", "worst", "at")
        return columns, (
            (
                one.learner,
                one.mean,
                one.se,
                one.worst,
                self.name_at(one.worst_at) or "goal {}, {:g}, {:g}".format(*one.worst_at),
            )
            for one in self.table().standings
        )

    def _draw(self, ax: "Axes | None") -> "Figure":
        from grbp.figures.best_map import best_learner_figure  # noqa: PLC0415 (a floor above)
        from grbp.figures.regret_map import regret_map_figure  # noqa: PLC0415 (a floor above)
        from grbp.figures.standings import standings_figure  # noqa: PLC0415 (a floor above)

        if self._is_one_simulation:
            return self.simulation()._draw(ax)
        if len(self.spec.goals) > 1 or any(isinstance(x, OneTruth) for x in self.spec.grids):
            return standings_figure(self, ax=ax)
        found = self.regret_map()
        if len(self.spec.learners) == 1:
            return regret_map_figure(found.p_c, found.p_f, found.mean, found.goal, ax=ax)
        names = list(self._by_goal[found.goal])
        return best_learner_figure(found.p_c, found.p_f, *self.winners(), names, found.goal, ax=ax)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain data: what was asked, the digest, and every cell."""
        return {
            "spec": self.spec.as_json(),
            "digest": self.digest,
            "source": source_digest(),
            "cells": [_cell_as_json(one, self.spec.world_names) for one in self.cells],
        }


def _score(cells: Sequence[SweptCell]) -> Scores:
    """Return the mean regret of cells at the last round, and its standard error."""
    return Scores(
        np.array([one.mean[-1] for one in cells]), np.array([one.se[-1] for one in cells])
    )


def _cell_as_json(one: SweptCell, names: Mapping[Any, str]) -> dict[str, Any]:
    cell = one.cell
    return {
        **({"name": names.get(cell.problem, "")} if names else {}),
        **dict(zip(COLUMNS, cell.problem.columns, strict=False)),
        "learner": str(cell.learner),
        "engine": cell.engine,
        "seed": cell.seed,
        "replicas": one.replicas,
        "rounds": list(cell.rounds),
        "mean": list(one.mean),
        # One replica has no standard error, and JSON no word for that.
        "se": [None if math.isnan(se) else se for se in one.se],
    }
