"""Where records place the two probabilities, beside the boundary."""

from typing import TYPE_CHECKING, Final, cast

import numpy as np

from grbp.errors import InvalidInput
from grbp.figures.canvas import GREY, INK, PAPER, drawing_style, fit_words
from grbp.figures.frame import INSIDE, TINTS, in_percent, legend_below, new_axes, short_labels
from grbp.numerics.arrays import Floats
from grbp.numerics.intervals import Interval
from grbp.theory.values import boundary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from grbp.fitting.estimates import Proportion
    from grbp.fitting.result import Fit
    from grbp.theory.posterior import Estimate, Prior

_SHADES: Final = {"95 %": 0.22, "50 %": 0.55}
"""How dark the regions are that hold so much of the posterior."""

_CELLS: Final = 240
"""Cells of the posterior's density, each way."""


def boundary_figure(fit: "Fit", ax: "Axes | None" = None) -> "Figure":
    """Draw where the records place the two probabilities, beside the boundary of their goal.

    The shades hold half of the posterior and 95 % of it: independent Betas, from the priors of
    the fit. Where FINISH was never tried, there is only the interval of p_C, and the p_F that
    finishing would have to exceed.

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
        If CONTINUE was never tried.
    """
    if not fit.p_c.tries:
        raise InvalidInput("CONTINUE was never tried in these records; there is nothing to draw")
    with drawing_style():
        below = 2.15 if fit.adaptive else 1.95
        axes = new_axes(ax, height=3.55 + below, below=below)
        x = _spread(fit.p_c, fit.prior_c)
        level = boundary(fit.goal, np.array(x))
        y = (float(level[0]), float(level[1]))
        if fit.p_f is not None:
            spread = _spread(fit.p_f, fit.prior_f)
            y = (min(y[0], spread.low), max(y[1], spread.high))
        _draw_regions(axes, fit, x, y)
        if fit.p_f is None:
            _draw_break_even(axes, fit)
        else:
            _draw_cloud(axes, fit)
        go, end = short_labels(fit.labels, 20).actions
        axes.set_xlabel(f"chance that {go} moves up")
        axes.set_ylabel(f"chance that {end} wins")
        legend_below(axes, 0.62)
        fit_words(axes, INSIDE)
        return cast("Figure", axes.figure)


def _spread(share: "Proportion", prior: "Prior") -> Interval:
    """Return where nearly all of the posterior of a probability lies, and its interval."""
    a, b = share.counts[0] + prior[0], share.counts[1] + prior[1]
    mean = a / (a + b)
    reach = 4.0 * (mean * (1.0 - mean) / (a + b + 1.0)) ** 0.5
    low, high = share.interval
    return Interval(max(0.0, min(low, mean - reach)), min(1.0, max(high, mean + reach)))


def _draw_regions(axes: "Axes", fit: "Fit", x: tuple[float, float], y: tuple[float, float]) -> None:
    """Draw the boundary in a window, and what is right on either side of it."""
    room = 0.06 * (y[1] - y[0])
    along = np.linspace(*x, 400)
    level = boundary(fit.goal, along)
    axes.plot(along, level, color=INK, linewidth=1.8, label="break-even", zorder=3)
    labels = short_labels(fit.labels, 13)
    end, one = labels.actions[1], labels.state(1)
    sides = {1: f"above it: {end} in {one}", 0: f"below it: never {end}"}
    for side, words in sides.items():
        edges = (level, 1.0) if side else (0.0, level)
        axes.fill_between(along, *edges, facecolor=TINTS[side], linewidth=0, zorder=0)
        axes.fill_between([], [], facecolor=TINTS[side], edgecolor=GREY, linewidth=0.5, label=words)
    # There are no chances below 0 or above 1.
    axes.set(xlim=x, ylim=(max(0.0, y[0] - room), min(1.0, y[1] + room)))
    axes.locator_params(nbins=5)
    in_percent(axes.xaxis, axes.yaxis)


def _draw_cloud(axes: "Axes", fit: "Fit") -> None:
    """Shade the regions that hold 50 % and 95 % of the posterior, and mark the estimate."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    p_f = cast("Proportion", fit.p_f)
    (x, across), (y, up) = _density(fit.p_c, fit.prior_c), _density(p_f, fit.prior_f)
    mass = np.outer(up, across)
    falling = np.sort(mass, axis=None)[::-1]
    held = np.cumsum(falling)
    half, most = (falling[np.searchsorted(held, part * held[-1])] for part in (0.5, 0.95))
    rings = ((most, half), (half, 2.0 * falling[0]))
    for levels, alpha in zip(rings, _SHADES.values(), strict=True):
        axes.contourf(x, y, mass, levels=levels, colors=[INK], alpha=alpha, zorder=2)
    point = cast("tuple[float, float]", (fit.p_c.estimate, p_f.estimate))
    (mark,) = axes.plot(*point, "o", color=INK, markersize=7, label="the records")
    mark.set(markeredgecolor=PAPER, zorder=5, clip_on=False)
    for held_by, alpha in _SHADES.items():
        label = f"probable region, {held_by}"
        axes.fill_between([], [], color=INK, alpha=alpha, linewidth=0, label=label)
    if fit.adaptive:
        (left, right), (low, high) = fit.p_c.interval, p_f.interval
        box = Rectangle((left, low), right - left, high - low, fill=False, zorder=4)
        box.set(edgecolor=INK, linestyle="--", label="anytime intervals")
        axes.add_patch(box)


def _draw_break_even(axes: "Axes", fit: "Fit") -> None:
    """Draw what p_F would have to be, where nothing is known of it."""
    even = cast("Estimate", fit.boundary)
    axes.axvspan(*fit.p_c.interval, color=GREY, alpha=0.15, linewidth=0, zorder=1,
                 label="the records, with their interval")  # fmt: skip
    axes.axhspan(even.low, even.high, color=INK, alpha=0.3, linewidth=0, zorder=2,
                 label="the chance that breaks even")  # fmt: skip
    axes.plot(cast("float", fit.p_c.estimate), even.estimate, "o", color=INK, zorder=5)


def _density(share: "Proportion", prior: "Prior") -> tuple[Floats, Floats]:
    """Return values of a probability, and how much of its posterior lies at each, up to a factor.

    They are even in the angle whose squared sine is the probability: there Jeffreys' prior is
    flat, so that the posterior has no pole at 0 or 1.
    """
    low, high = np.arcsin(np.sqrt(_spread(share, prior)))
    angle = low + (high - low) * (np.arange(_CELLS) + 0.5) / _CELLS
    wins, losses = share.counts[0] + prior[0] - 0.5, share.counts[1] + prior[1] - 0.5
    log = 2.0 * (wins * np.log(np.sin(angle)) + losses * np.log(np.cos(angle)))
    return np.sin(angle) ** 2, np.exp(log - log.max())
