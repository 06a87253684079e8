"""Figure 2: on which side of the boundary finishing is right."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from grbp._palette import RAMP
from grbp.errors import InvalidInput
from grbp.figures.canvas import INK, LINE, PAPER, check_axes, drawing_style, fit_words
from grbp.figures.frame import TINTS
from grbp.numerics.arrays import Floats
from grbp.theory.values import boundary
from grbp.worlds.validation import check_goal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CURVES: Final = len(RAMP)
"""The most boundaries drawn in one figure; more shades could not be told apart."""


_SIDE: Final = 5.376
"""Inches: the side of the square for which the words are laid out."""


def boundary_figure(
    goals: Sequence[int] = (2, 3, 4, 6, 10, 50),
    *,
    point: tuple[float, float] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw the boundary p_f = B(p_c) on the unit square, a curve for every goal: Figure 2.

    The legend names all curves in the order in which they lie; a curve is also named on
    itself, at B(1/2) = 1/G, where its neighbours leave room for that.

    Parameters
    ----------
    goals : sequence of int
        From 1 to 12 of them.
    point : tuple of float, optional
        A problem, or an estimate of one, to be marked: p_c and p_f.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Paper: fig:Boundary

    Examples
    --------
    >>> import grbp
    >>> figure = grbp.boundary_figure([2, 10])
    >>> [line.get_label() for line in figure.axes[0].get_lines()]
    ['G = 2', 'G = 10']
    """
    given: object = goals
    if not isinstance(given, Iterable):
        raise InvalidInput(f"goals = {given!r} was given; it must be a list of goals")
    drawn = sorted({check_goal(goal) for goal in goals})
    if not 1 <= len(drawn) <= MOST_CURVES:
        raise InvalidInput(
            f"{len(drawn)} different goals were given; one figure shows from 1 to {MOST_CURVES}"
        )
    with drawing_style():
        figure, axes = _unit_square(ax)
        for goal, colour in zip(drawn, _shades(len(drawn)), strict=True):
            x = _samples(goal)
            (line,) = axes.plot(x, boundary(goal, x), color=colour, linewidth=1.8)
            line.set(label=f"G = {goal:,}", clip_on=False, zorder=3)
        if point is not None:
            (mark,) = axes.plot(*point, marker="o", markersize=9, color=INK, linestyle="none")
            mark.set(label="$(p_C, p_F)$", clip_on=False, zorder=5)
        _name_on_curves(axes, drawn)
        _name_regions(axes, drawn)
        axes.legend(
            loc="upper left",
            bbox_to_anchor=(0.035, 0.81),
            borderpad=0.0,
            handlelength=1.5,
            labelspacing=0.4,
            title="boundary for the goal",
            title_fontsize=10,
            alignment="left",
            # A long list must end above the diagonal.
            fontsize=10 if len(drawn) <= 7 else 9,
        )
        fit_words(axes, _SIDE)
        return figure


def _samples(goal: int) -> Floats:
    """Return the p_c at which a boundary is sampled, from 0 to 1.

    The boundary bends within a few 1/goal of 1/2 and is smooth elsewhere: an even grid for
    the whole, and a second one in units of 1/goal for the bend.
    """
    even = np.linspace(0.0, 1.0, 501)
    bend = 0.5 + np.linspace(-12.0, 12.0, 193) / goal
    return np.unique(np.concatenate((even, bend[(bend > 0.0) & (bend < 1.0)])))


def _shades(count: int) -> list[str]:
    """Return one colour a curve, from dark to light."""
    last = len(RAMP) - 1
    return [RAMP[round(last * i / max(1, count - 1))].light for i in range(count)]


def _unit_square(axes: "Axes | None") -> "tuple[Figure, Axes]":
    """Make the axes square, from 0 to 1 both ways; those of a new figure, if there are none."""
    from grbp.figures.notebook import Figure  # noqa: PLC0415

    if axes is None:
        axes = Figure(figsize=(6.4, 6.4)).add_axes((0.125, 0.11, _SIDE / 6.4, _SIDE / 6.4))
    check_axes(axes)
    axes.set_aspect("equal")
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    names = ["0", "0.25", "0.5", "0.75", "1"]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([float(name) for name in names], names)
    axes.set_xlabel("$p_C$, the chance that CONTINUE moves up", size=12)
    axes.set_ylabel("$p_F$, the chance that FINISH reaches the goal", size=12)
    axes.grid(visible=True, color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    return cast("Figure", axes.figure), axes


def _name_on_curves(axes: "Axes", goals: Sequence[int]) -> None:
    """Write the goal on its curve at p_c = 1/2, along the curve, where that is readable.

    The lowest curve has room beside it in any case.
    """
    half = {goal: boundary(goal, 0.5) for goal in goals}
    for goal in goals:
        y = half[goal]
        near = boundary(goal, [0.48, 0.52])
        angle = math.atan2(float(near[1] - near[0]), 0.04)
        gaps = [abs(y - other) * math.cos(angle) for g, other in half.items() if g != goal]
        # As parts of the square: the height of the letters, and half the length of a name.
        if min(gaps, default=1.0) > 0.029 and y > 0.055:
            name = axes.text(0.5, y, f"G = {goal:,}", ha="center", va="center")
            name.set(rotation=math.degrees(angle), rotation_mode="anchor")
            name.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 0.6})
        elif goal == goals[-1]:
            beside = boundary(goal, 0.53)
            name = axes.text(0.542, beside, f"G = {goal:,}", ha="left", va="top")
        else:
            continue
        name.set(color=INK, size=9, zorder=4)


def _name_regions(axes: "Axes", goals: Sequence[int]) -> None:
    """Name the two regions, and tint what all the goals drawn agree on."""
    highest, lowest = _samples(goals[0]), _samples(goals[-1])
    tint: Any = {"linewidth": 0, "zorder": 0}
    axes.fill_between(highest, boundary(goals[0], highest), 1.0, color=TINTS[1], **tint)
    axes.fill_between(lowest, 0.0, boundary(goals[-1], lowest), color=TINTS[0], **tint)
    above = "no-exploration region:\nFINISH in state 1 is right\n(threshold 1)"
    below = "exploration region:\nnever FINISH\n(threshold 0)"
    look: Any = {"size": 12, "color": INK, "linespacing": 1.35}
    axes.text(0.04, 0.965, above, ha="left", va="top", **look)
    axes.text(0.815, 0.27, below, ha="center", va="center", **look)
