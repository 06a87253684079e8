"""Whether cases drift: what they were above the expected, summed in their order."""

from typing import TYPE_CHECKING, Final, cast

import numpy as np

from grbp.errors import InvalidInput
from grbp.figures.canvas import GREY, INK, drawing_style, fit_words
from grbp.figures.frame import CONTINUE, INSIDE, legend_below, new_axes
from grbp.numerics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from grbp.fitting.result import Fit

_MOST_POINTS: Final = 1000
"""A longer curve is thinned, and keeps its extremes."""


def cusum_figure(fit: "Fit", ax: "Axes | None" = None) -> "Figure":
    """Draw whether p_C drifts over the cases: moves up beyond the expected, summed in order.

    The limits are those of a test among `Fit.tests`: the curve leaves them just where that test,
    adjusted for all others, says that p_C has shifted. The sum is by case, since the moves of one
    case belong together.

    Parameters
    ----------
    fit : Fit
        What `grbp.fit` returned.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidInput
        If the records have no cases in an order.
    """
    if fit.cusum is None:
        raise InvalidInput("these records have too few ordered cases, so there is no sum to draw")
    (x, y), limit = _thin(fit.cusum.x, fit.cusum.y), fit.cusum.limit
    with drawing_style():
        axes = new_axes(ax, height=3.5, below=1.1)
        axes.plot(x, y, color=CONTINUE, linewidth=1.4, label="moves up beyond the expected, summed")
        for sign in (1.0, -1.0):
            axes.axhline(sign * limit, color=INK, linestyle="--", linewidth=1.4)
        axes.get_lines()[-1].set_label("limits of the test: a shift shows beyond them")
        axes.axhline(0.0, color=GREY, linewidth=0.8)
        axes.set_xlabel("cases, in their order")
        axes.set_ylabel("sum, in standard deviations")
        axes.set_xlim(float(x[0]), float(x[-1]))
        axes.locator_params(axis="x", integer=True)
        legend_below(axes, 0.62)
        fit_words(axes, INSIDE)
        return cast("Figure", axes.figure)


def _thin(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Keep the lowest and the highest point of each stretch of a long curve."""
    if len(x) <= _MOST_POINTS:
        return x, y
    chosen = {0, len(x) - 1}
    for part in np.array_split(np.arange(len(x)), _MOST_POINTS // 2):
        chosen |= {int(part[y[part].argmin()]), int(part[y[part].argmax()])}
    at = sorted(chosen)
    return x[at], y[at]
