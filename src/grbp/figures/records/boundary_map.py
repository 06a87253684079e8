"""Where records place the two probabilities, beside the boundary."""

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from grbp.errors import InvalidInput
from grbp.figures.canvas import GREY, INK, drawing_style, fit_words
from grbp.figures.frame import INSIDE, in_percent, legend_below, new_axes
from grbp.numerics.arrays import Floats
from grbp.numerics.intervals import Interval
from grbp.theory.values import boundary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from grbp.fitting.estimates import Proportion
    from grbp.fitting.result import Fit
    from grbp.theory.posterior import Estimate

_CLOUD: Final = "#332288"
_TINTS: Final = {0: "#fdf1e3", 1: "#e9f0f9"}
"""The regions of the two thresholds."""

_CELLS: Final = 240
"""Cells of the posterior's density, each way."""


def boundary_figure(fit: "Fit", ax: "Axes | None" = None) -> "Figure":
    """Draw where the records place the two probabilities, beside the boundary of their goal.

    The shades hold half of the posterior and 95 % of it: independent Betas, from Jeffreys
    priors. Where FINISH was never tried, there is only the interval of p_C, and the p_F that
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
        axes = new_axes(ax, height=4.9, below=1.35)
        x = _spread(fit.p_c)
        level = boundary(fit.goal, np.array(x))
        y = (float(level[0]), float(level[1]))
        if fit.p_f is not None:
            spread = _spread(fit.p_f)
            y = (min(y[0], spread.low), max(y[1], spread.high))
        _draw_regions(axes, fit.goal, x, y)
        if fit.p_f is None:
            _draw_break_even(axes, fit)
        else:
            _draw_cloud(axes, fit)
        axes.set_xlabel("$p_C$, the chance that CONTINUE moves up")
        axes.set_ylabel("$p_F$, the chance that FINISH wins")
        legend_below(axes, 0.62, ncols=2)
        fit_words(axes, INSIDE)
        return cast("Figure", axes.figure)


def _spread(share: "Proportion") -> Interval:
    """Return where nearly all of the posterior of a probability lies, and its interval."""
    mean = (share.successes + 0.5) / (share.tries + 1.0)
    reach = 4.0 * (mean * (1.0 - mean) / (share.tries + 2.0)) ** 0.5
    low, high = share.interval
    return Interval(max(0.0, min(low, mean - reach)), min(1.0, max(high, mean + reach)))


def _draw_regions(axes: "Axes", goal: int, x: tuple[float, float], y: tuple[float, float]) -> None:
    """Draw the boundary in a window, and name its sides in strips above and below all else."""
    strip = 0.2 * (y[1] - y[0])
    along = np.linspace(*x, 400)
    level = boundary(goal, along)
    tint: Any = {"linewidth": 0, "zorder": 0}
    axes.fill_between(along, level, 1.0, color=_TINTS[1], **tint)
    axes.fill_between(along, 0.0, level, color=_TINTS[0], **tint)
    axes.plot(along, level, color=INK, linewidth=1.8, label=f"boundary, goal {goal:,}", zorder=3)
    axes.set(xlim=x, ylim=(y[0] - strip, y[1] + strip))
    axes.locator_params(nbins=5)
    low, high = max(0.0, y[0] - strip), min(1.0, y[1] + strip)
    axes.set_yticks([tick for tick in axes.get_yticks() if low <= tick <= high])
    in_percent(axes.xaxis, axes.yaxis)
    above, below = "FINISH in state 1 is right (threshold 1)", "never FINISH (threshold 0)"
    axes.text(0.02, 0.98, above, ha="left", va="top", transform=axes.transAxes, color=INK)
    axes.text(0.98, 0.02, below, ha="right", va="bottom", transform=axes.transAxes, color=INK)


def _draw_cloud(axes: "Axes", fit: "Fit") -> None:
    """Shade the regions that hold 50 % and 95 % of the posterior, and mark the estimate."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    p_f = cast("Proportion", fit.p_f)
    (x, across), (y, up) = (_density(share) for share in (fit.p_c, p_f))
    mass = np.outer(up, across)
    falling = np.sort(mass, axis=None)[::-1]
    held = np.cumsum(falling)
    half, most = (falling[np.searchsorted(held, part * held[-1])] for part in (0.5, 0.95))
    for levels, alpha in (((most, half), 0.25), ((half, 2.0 * falling[0]), 0.5)):
        axes.contourf(x, y, mass, levels=levels, colors=[_CLOUD], alpha=alpha, zorder=2)
    point = cast("tuple[float, float]", (fit.p_c.estimate, p_f.estimate))
    (mark,) = axes.plot(*point, "o", color=_CLOUD, markersize=7, label="the estimate")
    mark.set(markeredgecolor="white", zorder=5, clip_on=False)
    for name, alpha in (("probable region, 50 %", 0.65), ("probable region, 95 %", 0.25)):
        axes.fill_between([], [], color=_CLOUD, alpha=alpha, linewidth=0, label=name)
    if fit.adaptive:
        (left, right), (low, high) = fit.p_c.interval, p_f.interval
        box = Rectangle((left, low), right - left, high - low, fill=False, zorder=4)
        box.set(edgecolor=_CLOUD, linestyle="--", label="anytime intervals")
        axes.add_patch(box)


def _draw_break_even(axes: "Axes", fit: "Fit") -> None:
    """Draw what p_F would have to be, where nothing is known of it."""
    even = cast("Estimate", fit.boundary)
    axes.axvspan(*fit.p_c.interval, color=GREY, alpha=0.15, linewidth=0, zorder=1,
                 label="$p_C$, with its interval")  # fmt: skip
    axes.axhspan(even.low, even.high, color=_CLOUD, alpha=0.3, linewidth=0, zorder=2,
                 label="$p_F$ that breaks even")  # fmt: skip
    axes.plot(cast("float", fit.p_c.estimate), even.estimate, "o", color=_CLOUD, zorder=5)


def _density(share: "Proportion") -> tuple[Floats, Floats]:
    """Return values of a probability, and how much of its posterior lies at each, up to a factor.

    They are even in the angle whose squared sine is the probability: there Jeffreys' prior is
    flat, so that the posterior has no pole at 0 or 1.
    """
    low, high = np.arcsin(np.sqrt(_spread(share)))
    angle = low + (high - low) * (np.arange(_CELLS) + 0.5) / _CELLS
    wins, losses = share.successes, share.tries - share.successes
    log = 2.0 * (wins * np.log(np.sin(angle)) + losses * np.log(np.cos(angle)))
    return np.sin(angle) ** 2, np.exp(log - log.max())
