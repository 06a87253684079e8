"""Hold the result of an experiment on one problem: curves, as they are played, kept and tabled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grbp._display import Displayable, Rows
from grbp.errors import InvalidInput
from grbp.experiments.provenance import Meta
from grbp.experiments.regret import Curve, bound_unseen
from grbp.experiments.simulation import Simulation, checkpoints_up_to
from grbp.experiments.spec import Spec
from grbp.experiments.tables import COLUMNS, Row
from grbp.numerics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Arrays: TypeAlias = dict[str, NDArray[Any]]
"""The arrays of a result, by name."""


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
    def from_curves(cls, spec: Spec, curves: dict[str, Curve], meta: Meta) -> "CurveResult":
        """Make the result of a specification from its curves."""
        checkpoints = checkpoints_up_to(spec.rounds, spec.checkpoints)
        simulation = Simulation(
            spec.problem, checkpoints, spec.replicas, spec.seed, "pseudo", curves, meta.engines
        )
        return cls(spec, simulation, meta)

    def arrays(self) -> tuple[dict[str, Any], Arrays]:
        """Return the contents of a file: entries of its header, and arrays."""
        curves = self.simulation.curves
        shares = {name: list(curve.threshold_share.items()) for name, curve in curves.items()}
        arrays: Arrays = {"checkpoints": self.simulation.checkpoints}
        fields = ("mean", "covariance", "final", "weights")
        for field in fields if self.spec.splitting else fields[:-1]:
            arrays[field] = np.stack([getattr(curve, field) for curve in curves.values()])
        return {"threshold_share": shares}, arrays

    @classmethod
    def from_arrays(
        cls, spec: Spec, meta: Meta, header: Mapping[str, Any], arrays: Arrays
    ) -> "CurveResult":
        """Read what `arrays` returned; raise an error of any kind if it does not fit together."""
        checkpoints = checkpoints_up_to(spec.rounds, spec.checkpoints)
        if not np.array_equal(arrays["checkpoints"], checkpoints):
            raise InvalidInput("the checkpoints are not those of the specification")
        size = (len(spec.learners), len(checkpoints))
        mean = _check_shape(arrays, "mean", size)
        covariance = _check_shape(arrays, "covariance", (*size, len(checkpoints)))
        each = (len(spec.learners), spec.replicas)
        final = _check_shape(arrays, "final", each)
        weights = _check_shape(arrays, "weights", each) if spec.splitting else [None] * each[0]
        shares = header["threshold_share"]
        curves = {}
        for k, name in enumerate(spec.names):
            share = {int(threshold): float(x) for threshold, x in shares[name]}
            unseen = bound_unseen(spec.problem, tuple(share), checkpoints, spec.replicas)
            curves[name] = Curve(
                mean[k],
                covariance[k],
                final[k],
                share,
                weights=weights[k],
                unseen=None if spec.splitting else unseen,
            )
        return cls.from_curves(spec, curves, meta)

    def rows(self) -> Iterator[Row]:
        """Yield the rows of its table."""
        return self.simulation.rows()

    def _table(self) -> Rows:
        return self.simulation._table()

    def _summary(self) -> Rows:
        return self.simulation._summary()

    def _draw(self, ax: "Axes | None") -> "Figure":
        return self.simulation._draw(ax)


def _check_shape(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Floats:
    array = arrays[name]
    if array.shape != shape or array.dtype != np.float64:
        raise InvalidInput(f"{name} does not have the shape of the specification")
    return array
