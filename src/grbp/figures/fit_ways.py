"""Three ways to value state 1, beside the probability of FINISH."""

from typing import TYPE_CHECKING, cast

from grbp._format import format_interval
from grbp.figures.canvas import GREY, INK, drawing_style, fit_words
from grbp.figures.frame import (
    CONTINUE,
    FINISH,
    INSIDE,
    in_percent,
    legend_below,
    new_axes,
    short_labels,
)
from grbp.fitting.sentences import IN_FIGURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from grbp.fitting.result import Fit


def ways_figure(fit: "Fit", ax: "Axes | None" = None) -> "Figure":
    """Draw three estimates of the chance to win from state 1 by continuing, beside p_F.

    Where they agree and lie on one side of p_F, the decision does not depend on the model.

    Parameters
    ----------
    fit : Fit
        What `grbp.fit` returned.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with drawing_style():
        axes = new_axes(ax, height=3.3, below=0.95, left=0.25)
        ends, band = [0.0], None
        labels = short_labels(fit.labels, 14)
        end, one = labels.actions[1], labels.state(1)
        if fit.p_f is not None and fit.p_f.estimate is not None:
            band = fit.p_f.interval
            label = f"to compare, {end} wins: {format_interval(fit.p_f.estimate, *band)}"
            axes.fill_between([], [], color=FINISH, alpha=0.2, linewidth=0, label=label)
            legend_below(axes, 0.62)
            ends.append(band.high)
        for row, (name, way) in enumerate(fit.ways.items()):
            words = IN_FIGURES[name].replace("{one}", one)
            if band is not None:
                axes.fill_between(
                    band, -row - 0.2, -row + 0.2, color=FINISH, alpha=0.2, linewidth=0
                )
            if way is None:
                label = f"{words}:\nnot possible with these records"
            else:
                label = f"{words}:\n{format_interval(*way)}"
                axes.plot([way.low, way.high], [-row] * 2, color=CONTINUE, linewidth=3.0)
                axes.plot(way.estimate, -row, "o", color=CONTINUE, markersize=8, clip_on=False)
                ends.append(way.high)
            place = axes.annotate(label, (0.0, -row), xycoords=("axes fraction", "data"))
            place.set(position=(0.0, 9.0), color=INK if way else GREY, va="bottom")
            place.set_anncoords("offset points")
        axes.set_ylim(-2.35, 0.85)
        axes.set_yticks([])
        axes.set_xlim(0.0, min(1.0, 1.15 * max(ends)) or 1.0)
        axes.set_xlabel(f"chance of winning from {one}")
        axes.locator_params(axis="x", nbins=6)
        in_percent(axes.xaxis)
        axes.spines[["top", "left", "right"]].set_visible(False)
        fit_words(axes, INSIDE)
        return cast("Figure", axes.figure)
