"""Hold the results of experiments: curves or a map, played, joined, kept and tabled alike.

Both kinds of result have the same methods, so that whoever runs, stores or prints one need not
ask which kind it is.
"""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grbp._display import Displayable, Rows
from grbp._progress import Progress
from grbp.errors import InvalidInput
from grbp.experiments.provenance import Meta, meta_now
from grbp.experiments.regret import Z_95, Curve, most_unseen
from grbp.experiments.simulation import (
    COLUMNS,
    Row,
    Simulation,
    checkpoints_up_to,
    said,
    simulate,
)
from grbp.experiments.spec import AnySpec, GridSpec, Spec
from grbp.learners.registry import find_learner
from grbp.model.problem import Problem
from grbp.numerics.arrays import Floats
from grbp.numerics.rng import replica_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Arrays: TypeAlias = dict[str, NDArray[Any]]
"""The arrays of a result, by name."""

Report: TypeAlias = Callable[[int], None]
"""A function that is called with the number of replicas done so far."""

_CELL: Final = 4
"""The purpose, in a seed, of the seeds of the cells of a map."""


@dataclass(frozen=True, repr=False)
class CurveResult(Displayable):
    """Regret curves, with their specification and how they were made.

    Attributes
    ----------
    spec : Spec
    simulation : Simulation
    meta : Meta

    See Also
    --------
    run : Makes a result, or finds it.
    load : Reads one from a file.
    """

    spec: Spec
    simulation: Simulation
    meta: Meta

    def __repr__(self) -> str:
        return f"<CurveResult {self.spec.name!r}, made {self.meta.made}: {self.simulation!r}>"

    columns = COLUMNS
    """The columns of its table."""

    @classmethod
    def play(cls, spec: Spec, report: Report, threads: int | None) -> "CurveResult":
        """Simulate a specification."""
        # Splitting plays more replicas than it ends with.
        simulation = _simulated(
            spec, threads, lambda _, done, total: report(done * spec.work // total)
        )
        return cls(spec, simulation, meta_now(spec))

    @classmethod
    def join(cls, spec: Spec, parts: "Sequence[CurveResult]") -> "CurveResult":
        """Put the results of a specification's parts together, in their order."""
        curves = {name: c for part in parts for name, c in part.simulation.curves.items()}
        return cls.of_curves(spec, curves, meta_now(spec))

    @classmethod
    def of_curves(cls, spec: Spec, curves: dict[str, Curve], meta: Meta) -> "CurveResult":
        """Make the result of a specification from its curves."""
        kept = checkpoints_up_to(spec.rounds, spec.checkpoints)
        sizes = (spec.replicas, spec.seed)
        return cls(
            spec, Simulation(spec.problem, kept, *sizes, "pseudo", curves, meta.engines), meta
        )

    def arrays(self) -> tuple[dict[str, Any], Arrays]:
        """Return the contents of a file: entries of its header, and arrays."""
        curves = self.simulation.curves
        shares = {name: list(curve.threshold_share.items()) for name, curve in curves.items()}
        arrays: Arrays = {"checkpoints": self.simulation.checkpoints}
        kept = ("mean", "covariance", "final", "weights")
        for field in kept if self.spec.splitting else kept[:-1]:
            arrays[field] = np.stack([getattr(curve, field) for curve in curves.values()])
        return {"threshold_share": shares}, arrays

    @classmethod
    def from_arrays(
        cls, spec: Spec, meta: Meta, header: Mapping[str, Any], arrays: Arrays
    ) -> "CurveResult":
        """Read what `arrays` returned; raise an error of any kind if it does not fit together."""
        kept = checkpoints_up_to(spec.rounds, spec.checkpoints)
        if not np.array_equal(arrays["checkpoints"], kept):
            raise InvalidInput("the checkpoints are not those of the specification")
        size = (len(spec.learners), len(kept))
        mean = _checked(arrays, "mean", size)
        covariance = _checked(arrays, "covariance", (*size, len(kept)))
        each = (len(spec.learners), spec.replicas)
        final = _checked(arrays, "final", each)
        weights = _checked(arrays, "weights", each) if spec.splitting else [None] * each[0]
        shares = header["threshold_share"]
        curves = {}
        for k, name in enumerate(spec.names):
            share = {int(threshold): float(x) for threshold, x in shares[name]}
            unseen = most_unseen(spec.problem, tuple(share), kept, spec.replicas)
            curves[name] = Curve(
                mean[k],
                covariance[k],
                final[k],
                share,
                weights=weights[k],
                unseen=None if spec.splitting else unseen,
            )
        return cls.of_curves(spec, curves, meta)

    def rows(self) -> Iterator[Row]:
        """Yield the rows of its table."""
        return self.simulation.rows()

    def _table(self) -> Rows:
        return self.simulation._table()

    def _summary(self) -> Rows:
        return self.simulation._summary()

    def _draw(self, ax: "Axes | None") -> "Figure":
        return self.simulation._draw(ax)


@dataclass(frozen=True, repr=False)
class GridResult(Displayable):
    """A map of regret at the last round, with its specification and how it was made.

    Attributes
    ----------
    spec : GridSpec
    mean, se : ndarray, shape (len(spec.p_f), len(spec.p_c))
        The mean regret of every cell and its standard error. Cells are independent.
    meta : Meta

    Notes
    -----
    Paper: fig:3D

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from grbp.experiments import GridSpec, run
    >>> spec = GridSpec("map", 4, (0.4, 0.6), (0.2, 0.3, 0.5), "getbe-sm", 100, 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = run(spec, Path(folder))
    >>> result.mean.shape
    (3, 2)
    """

    spec: GridSpec
    mean: Floats
    se: Floats
    meta: Meta

    def __repr__(self) -> str:
        spec = self.spec
        return (
            f"<GridResult {spec.name!r} of {spec.learner}, goal {spec.goal}: {len(spec.p_c)} p_c"
            f" times {len(spec.p_f)} p_f, {spec.replicas:,} replicas of {spec.rounds:,} rounds,"
            f" seed {spec.seed}>"
        )

    columns = COLUMNS
    """The columns of its table."""

    def arrays(self) -> tuple[dict[str, Any], Arrays]:
        """Return the contents of a file: entries of its header, and arrays."""
        return {}, {"mean": self.mean, "se": self.se}

    @classmethod
    def from_arrays(
        cls, spec: GridSpec, meta: Meta, _header: Mapping[str, Any], arrays: Arrays
    ) -> "GridResult":
        """Read what `arrays` returned; raise an error of any kind if it does not fit together."""
        shape = (len(spec.p_f), len(spec.p_c))
        return cls(spec, _checked(arrays, "mean", shape), _checked(arrays, "se", shape), meta)

    def rows(self) -> Iterator[Row]:
        """Yield the rows of its table."""
        spec, engine = self.spec, self.meta.engines[str(self.spec.learner)]
        # A file keeps of a learner of one's own only its name: it may be stuck like others.
        known = isinstance(spec.learner, str)
        choices = find_learner(spec.learner, spec.goal).choices(spec.goal) if known else (0, 1)
        for (i, j), mean in np.ndenumerate(self.mean):
            problem = Problem(spec.goal, spec.p_c[j], spec.p_f[i])
            how = (str(spec.learner), spec.rounds, spec.replicas)
            seed = cell_seed(spec.seed, problem.p_c, problem.p_f)
            found = (spec.rounds, float(mean), float(self.se[i, j]))
            yield cell_row(problem, choices, (*how, seed, engine, False, "pseudo"), found)

    def _table(self) -> Rows:
        return COLUMNS, self.rows()

    def _summary(self) -> Rows:
        ends = {"least": self.mean.argmin(), "largest": self.mean.argmax()}
        places = {name: divmod(int(k), len(self.spec.p_c)) for name, k in ends.items()}
        return ("", "p_c", "p_f", "mean regret", "standard error"), (
            (name, f"{self.spec.p_c[j]:g}", f"{self.spec.p_f[i]:g}", float(self.mean[i, j]),
             float(self.se[i, j]))
            for name, (i, j) in places.items()
        )  # fmt: skip

    def _draw(self, ax: "Axes | None") -> "Figure":
        from grbp.figures.regret_map import regret_map_figure  # noqa: PLC0415 (a picture is of a floor above)

        spec = self.spec
        return regret_map_figure(spec.p_c, spec.p_f, self.mean, spec.goal, ax=ax)


def cell_row(
    problem: Problem,
    choices: Sequence[int],
    how: Row,
    found: tuple[int, float, float],
    lost: float | None = None,
) -> Row:
    """Return the row of one cell of a map or a sweep, whose learner has some choices.

    `how` stands in the columns from "learner" to "regret", and its third entry are the replicas;
    `found` are the round, the mean regret and its standard error; `lost` is as for `most_unseen`.
    """
    at, mean, se = found
    unseen = most_unseen(problem, choices, np.array([at]), int(how[2]), lost)
    room = 0.0 if unseen is None else float(unseen[0])
    return *said(problem), *how, at, mean, se, mean - Z_95 * se, mean + Z_95 * se + room


Result: TypeAlias = CurveResult | GridResult
"""The result of an experiment."""


def result_type(spec: AnySpec) -> Any:
    """Return the kind of result that a specification has."""
    return CurveResult if isinstance(spec, Spec) else GridResult


def cell_seed(seed: int, p_c: float, p_f: float) -> int:
    """Return the seed of one cell of a map, whichever map it belongs to."""
    for p in (p_c, p_f):
        seed = replica_key(seed, _CELL, int.from_bytes(struct.pack("<d", p), "little"))
    return seed


def _simulated(spec: Spec, threads: int | None, progress: Progress | None = None) -> Simulation:
    return simulate(
        spec.problem,
        spec.learners,
        spec.rounds,
        spec.replicas,
        spec.seed,
        checkpoints=spec.checkpoints,
        engine=spec.engine,
        splitting=spec.splitting,
        threads=threads,
        progress=progress,
    )


def _checked(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Floats:
    array = arrays[name]
    if array.shape != shape or array.dtype != np.float64:
        raise InvalidInput(f"{name} has not the shape of the specification")
    return array
