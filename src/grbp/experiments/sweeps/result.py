"""Hold the result of a sweep: whole-number sums of every cell, priced when they are asked for."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grbp._display import Displayable, Rows
from grbp.errors import InvalidInput
from grbp.experiments.league_table import (
    Scores,
    Standing,
    clear_winner,
    standing_of,
    standings_rows,
)
from grbp.experiments.provenance import source_digest
from grbp.experiments.results import cell_row
from grbp.experiments.simulation import COLUMNS, Row, said
from grbp.experiments.sums import Sums
from grbp.experiments.sweeps.cells import Cell, digest_of
from grbp.experiments.sweeps.spec import SweepSpec
from grbp.numerics.arrays import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class SweptCell(NamedTuple):
    """A learner on a problem, played: the sums of its decisions at each of the rounds.

    Attributes
    ----------
    cell : Cell
    sums : tuple of Sums
    mean, se : tuple of float
        The mean regret at each of the rounds, and its standard error.
    """

    cell: Cell
    sums: tuple[Sums, ...]
    mean: tuple[float, ...]
    se: tuple[float, ...]

    @property
    def replicas(self) -> int:
        """The number of replicas."""
        return self.sums[0].replicas


@dataclass(frozen=True, repr=False)
class SweepResult(Displayable):
    """The regret of every learner on every problem of a sweep.

    Attributes
    ----------
    spec : SweepSpec
    cells : tuple of SweptCell
        Every learner on every problem, in the order of the specification.

    Notes
    -----
    `to_frame` has a row for each cell and round, with the columns of all tables of results; `plot`
    draws a sweep over one grid: the regret of one learner, or which of several is best where.

    See Also
    --------
    sweep : Makes a result, or goes on with it.

    Examples
    --------
    >>> import grbp, tempfile
    >>> grid = {"goal": 4, "p_c": [0.4, 0.6], "p_f": [0.2, 0.3, 0.5]}
    >>> spec = grbp.SweepSpec("tour", grid, ["getbe-sm"], rounds=100, replicas=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = grbp.sweep(spec, folder)
    >>> result
    <SweepResult 'tour': 1 learner on 6 problems, 120 replicas of 100 rounds, seed 0>
    """

    spec: SweepSpec
    cells: tuple[SweptCell, ...]

    columns = COLUMNS
    """The columns of its table."""

    def __repr__(self) -> str:
        spec, learners = self.spec, len(self.spec.learners)
        count = sum(one.replicas for one in self.cells)
        return (
            f"<SweepResult {spec.name!r}: {learners} learner{'s' * (learners > 1)} on"
            f" {len(self.cells) // learners:,} problems, {count:,} replicas of"
            f" {spec.checkpoints[-1]:,} rounds, seed {spec.seed}>"
        )

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of every cell and its sums: equal for equal results, however made."""
        told = {one.cell.key: [sums.as_json() for sums in one.sums] for one in self.cells}
        return digest_of(told)  # The digest sorts keys, so that the order of cells is nothing.

    @property
    def imprecise(self) -> list[SweptCell]:
        """The cells whose standard error is still above the one asked for."""
        wanted = self.spec.se
        return [one for one in self.cells if wanted is not None and not one.se[-1] <= wanted]

    def standings(self) -> list[Standing]:
        """Return how each learner does over all problems, the best first.

        Returns
        -------
        list of Standing
        """
        found = []
        for name in map(str, self.spec.learners):
            mine = [one for one in self.cells if str(one.cell.learner) == name]
            at = [(p.goal, p.p_c, p.p_f) for p in (one.cell.problem for one in mine)]
            scores = Scores(
                np.array([one.mean[-1] for one in mine]), np.array([one.se[-1] for one in mine])
            )
            found.append(standing_of(name, scores, at))
        return sorted(found, key=lambda one: one.mean)

    def rows(self) -> Iterator[Row]:
        """Yield the rows of its table: one for each cell and round."""
        for one in self.cells:
            cell = one.cell
            choices = cell.found().choices(cell.problem.goal)
            lost = None if cell.gaps is None or 0 not in choices else cell.gaps[choices.index(0)]
            how = (str(cell.learner), cell.rounds[-1], one.replicas, cell.seed, cell.engine)
            for found in zip(cell.rounds, one.mean, one.se, strict=True):
                yield cell_row(cell.problem, choices, (*how, False, "pseudo"), found, lost)

    def maps(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the maps of a sweep over one grid of one goal.

        Returns
        -------
        p_c, p_f : ndarray
        mean, se : ndarray, shape (learners, len(p_f), len(p_c))
            The mean regret at the last round, and its standard error.

        Raises
        ------
        InvalidInput
            If the sweep is something else.
        """
        grid = self.spec.grids[0]
        if (
            len(self.spec.grids) > 1
            or len(grid.goal) > 1
            or min(map(len, (grid.p_c, grid.p_f))) < 2
        ):
            raise InvalidInput(
                f"the sweep {self.spec.name!r} cannot be drawn as a map, which needs one grid of"
                " one goal; choose from its table with to_frame()"
            )
        shape = (len(grid.p_f), len(grid.p_c), len(self.spec.learners))
        mean, se = (
            np.array([getattr(one, name)[-1] for one in self.cells]).reshape(shape)
            for name in ("mean", "se")
        )
        return (
            np.array(grid.p_c),
            np.array(grid.p_f),
            np.moveaxis(mean, 2, 0),
            np.moveaxis(se, 2, 0),
        )

    def winners(self) -> tuple[Ints, NDArray[np.bool_]]:
        """Return which learner has the least mean regret at every point of the map.

        Returns
        -------
        best : ndarray of int, shape (len(p_f), len(p_c))
            The place of the learner in ``spec.learners``.
        clear : ndarray of bool, shape (len(p_f), len(p_c))
            Whether the second best is clearly worse, as in a league.
        """
        _, _, mean, se = self.maps()
        if len(mean) < 2:
            raise InvalidInput(f"the sweep {self.spec.name!r} has one learner; two can be compared")
        order = np.argsort(mean, axis=0, kind="stable")[:2]
        (first, second), (s, t) = (np.take_along_axis(one, order, 0) for one in (mean, se))
        return order[0], clear_winner(first - second, np.hypot(s, t)) > 0

    def _table(self) -> Rows:
        return COLUMNS, self.rows()

    def _summary(self) -> Rows:
        return standings_rows(self.standings())

    def _draw(self, ax: "Axes | None") -> "Figure":
        from grbp.figures.best_map import best_learner_figure  # noqa: PLC0415 (a picture is of a floor above)
        from grbp.figures.regret_map import regret_map_figure  # noqa: PLC0415 (a picture is of a floor above)

        p_c, p_f, mean, _ = self.maps()
        goal = self.spec.grids[0].goal[0]
        if len(mean) == 1:
            return regret_map_figure(p_c, p_f, mean[0], goal, ax=ax)
        names = [str(learner) for learner in self.spec.learners]
        return best_learner_figure(p_c, p_f, *self.winners(), names, goal, ax=ax)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain data: what was asked, the digest, and every cell."""
        return {
            "spec": self.spec.as_json(),
            "digest": self.digest,
            "source": source_digest(),
            "cells": [_cell_as_json(one) for one in self.cells],
        }


def _cell_as_json(one: SweptCell) -> dict[str, Any]:
    goal, p_c, p_f, start = said(one.cell.problem)
    cell = one.cell
    return {
        "goal": goal,
        "p_c": p_c,
        "p_f": p_f,
        "start": start,
        "learner": str(cell.learner),
        "engine": cell.engine,
        "seed": cell.seed,
        "replicas": one.replicas,
        "rounds": list(cell.rounds),
        "mean": list(one.mean),
        # One replica has no standard error, and JSON no word for that.
        "se": [None if math.isnan(se) else se for se in one.se],
    }
