"""Figure 1: the effect of the two actions in a state."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, cast

from grbp._palette import PALETTE
from grbp.figures.canvas import GREY, INK, PAPER, check_axes, drawing_style, fit_words
from grbp.figures.frame import CONTINUE, FINISH, WORDS
from grbp.worlds.transition import DEAD_END
from grbp.worlds.validation import check_goal, check_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINT: Final = 72.0
"""Points in an inch; Figure 1 is laid out in points, so that text and circles fit."""

_MOST_CIRCLES: Final = 9
"""The most places in the row of Figure 1; an ellipsis takes one."""

_RADIUS: Final = 23.0
"""The radius of a state's circle, in points; the largest goal fits into it."""

_OUTER_RADIUS: Final = _RADIUS + 3.5
"""The radius of the ring around a terminal state, in points."""

_DASHES: Final = (4.5, 2.2)
_ARROW: Final = "-|>,head_length=8,head_width=3.6"


def transition_figure(
    goal: int = 4, state: int | None = None, *, ax: "Axes | None" = None
) -> "Figure":
    """Draw what CONTINUE and FINISH do in one state: Figure 1.

    Where the row of states would be too long to read, states are left out and three dots
    stand for them; 0, 1, the state with its neighbours, goal - 1 and the goal always stay.

    Parameters
    ----------
    goal : int
        The state that wins a round.
    state : int, optional
        By default it is a state in the middle.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Paper: fig:GRBP

    Examples
    --------
    >>> import grbp
    >>> figure = grbp.transition_figure(goal=5, state=2)
    >>> [text.get_text() for text in figure.axes[0].texts if "p_" in text.get_text()]
    ['$1-p_C$', '$p_C$', '$1-p_F$', '$p_F$']
    """
    goal = check_goal(goal)
    state = goal // 2 if state is None else check_whole("state", state, 1, goal - 1)
    row = _visible_states(goal, state)
    place, width = _places(row, state)
    x_of = {here: x for here, x in zip(row, place, strict=True) if here is not None}
    at = x_of[state]
    longest = max(at - x_of[DEAD_END], x_of[goal] - at)
    with drawing_style():
        figure, axes = _point_axes(width, 0.75 * _rise(longest) + 34.0, ax)
        for here, x in zip(row, place, strict=True):
            if here is None:
                axes.text(x, 0.0, "\N{HORIZONTAL ELLIPSIS}", ha="center", va="center", size=18)
            else:
                _draw_state(axes, x, here, goal, state)
        for end, chance in ((state - 1, "$1-p_C$"), (state + 1, "$p_C$")):
            _draw_continue(axes, at, x_of[end], _radius(end, goal), chance)
        for end, chance in ((DEAD_END, "$1-p_F$"), (goal, "$p_F$")):
            _draw_finish(axes, at, x_of[end], chance)
        _explain_arrows(axes, width / 2.0, goal)
        fit_words(axes, width / _POINT)
        return figure


def _visible_states(goal: int, state: int) -> list[int | None]:
    """Return the row of states from left to right; None is an ellipsis for two or more."""
    if goal < _MOST_CIRCLES:
        return list(range(goal + 1))
    kept = sorted({0, 1, state - 1, state, state + 1, goal - 1, goal})
    row: list[int | None] = [0]
    for before, here in pairwise(kept):
        if here - before == 2:
            row.append(here - 1)
        elif here - before > 2:
            row.append(None)
        row.append(here)
    return row


def _places(row: Sequence[int | None], state: int) -> tuple[list[float], float]:
    """Return where the centre of every place in the row is, and how wide the figure is.

    The two steps out of the state are wider than the others: they carry a label.
    """
    at = row.index(state)
    steps = [104.0 if i in (at - 1, at) else 62.0 for i in range(len(row) - 1)]
    stretch = max(1.0, 330.0 / sum(steps))
    margin = 62.0
    place = [margin]
    for step in steps:
        place.append(place[-1] + stretch * step)
    return place, place[-1] + margin


def _radius(state: int, goal: int) -> float:
    return _OUTER_RADIUS if state in (DEAD_END, goal) else _RADIUS


def _rise(length: float) -> float:
    """Return how high the inner points of an arc over that length are: flatter if longer."""
    return min(132.0, 80.0 + 0.17 * length)


def _point_axes(width: float, top: float, axes: "Axes | None") -> "tuple[Figure, Axes]":
    """Make axes in points with the row of states at y = 0; by default over a new figure."""
    from grbp.figures.notebook import Figure  # noqa: PLC0415

    bottom = -118.0
    if axes is None:
        figure = Figure(figsize=(width / _POINT, (top - bottom) / _POINT))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    check_axes(axes)
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set(xlim=(0.0, width), ylim=(bottom, top))
    return cast("Figure", axes.figure), axes


def _draw_state(axes: "Axes", x: float, here: int, goal: int, state: int) -> None:
    """Draw one circle with its number in it and its name under it."""
    from matplotlib.patches import Circle  # noqa: PLC0415

    fill, name = PAPER, ""
    if here == DEAD_END:
        fill, name = PALETTE["dead"].light, f"dead end\nD = {DEAD_END}"
    elif here == goal:
        fill, name = PALETTE["goal"].light, f"goal\nG = {goal:,}"
    elif here == state:
        fill, name = PALETTE["card"].light, "$s$"
    elif abs(here - state) == 1:
        name = "$s-1$" if here < state else "$s+1$"
    thick = 2.6 if here == state else 1.2
    if here in (DEAD_END, goal):
        # A second ring: the usual sign for a state in which a chain ends.
        ring = Circle((x, 0.0), _OUTER_RADIUS, facecolor=PAPER, edgecolor=INK, linewidth=1.2)
        axes.add_patch(ring)
    axes.add_patch(Circle((x, 0.0), _RADIUS, facecolor=fill, edgecolor=INK, linewidth=thick))
    number = f"{here:,}"
    # A digit is 0.64 of the font's size wide and a comma half of that.
    ems = 0.64 * len(str(here)) + 0.32 * number.count(",")
    size = min(13.0, 1.7 * _RADIUS / ems)
    axes.text(x, 0.0, number, ha="center", va="center_baseline", size=size, color=INK)
    if name:
        axes.text(x, -_RADIUS - 9.0, name, ha="center", va="top", size=11, color=INK)


def _draw_continue(axes: "Axes", start: float, end: float, radius: float, label: str) -> None:
    """Draw a straight solid arrow to the circle of a neighbour, its label above it."""
    from matplotlib.patches import FancyArrowPatch  # noqa: PLC0415

    way = math.copysign(1.0, end - start)
    tail, tip = start + way * (_RADIUS + 1.0), end - way * (radius + 1.5)
    ends = (tail, 0.0), (tip, 0.0)
    arrow = FancyArrowPatch(*ends, arrowstyle=_ARROW, mutation_scale=1.0, shrinkA=0.0, shrinkB=0.0)
    arrow.set(linewidth=1.7, color=CONTINUE)
    axes.add_patch(arrow)
    words = axes.text((tail + tip) / 2.0, 6.0, label, ha="center", va="bottom", size=13)
    words.set_color(WORDS[0])


def _draw_finish(axes: "Axes", start: float, end: float, label: str) -> None:
    """Draw a dashed arc over the row to a terminal state, its label above its top."""
    from matplotlib.patches import FancyArrowPatch, PathPatch  # noqa: PLC0415
    from matplotlib.path import Path as Curve  # noqa: PLC0415

    rise = _rise(abs(end - start))
    inner = 0.17 * (end - start)
    # Along the radius at both ends: the arcs of one state leave it on two sides of its top.
    angle = math.atan2(inner, rise)
    first = (start + (_RADIUS + 1.0) * math.sin(angle), (_RADIUS + 1.0) * math.cos(angle))
    reach = _OUTER_RADIUS + 1.5
    last = (end - reach * math.sin(angle), reach * math.cos(angle))
    inside_head = (last[0] - 6.0 * math.sin(angle), last[1] + 6.0 * math.cos(angle))
    shaft, whole = (
        Curve(
            [first, (start + inner, rise), (end - inner, rise), tip],
            [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4],
        )
        for tip in (inside_head, last)
    )
    # Dashes would also break the outline of the head, so that is drawn on its own, unlined.
    dashed = PathPatch(shaft, fill=False, edgecolor=FINISH, linewidth=1.7, linestyle=(0, _DASHES))
    head = FancyArrowPatch(path=whole, arrowstyle=_ARROW, mutation_scale=1.35)
    head.set(linewidth=0.0, color=FINISH)
    axes.add_patch(dashed)
    axes.add_patch(head)
    # The middle of a cubic is three quarters of the way from its ends to its inner points.
    top = (first[1] + last[1]) / 8.0 + 0.75 * rise
    middle = (first[0] + last[0]) / 2.0
    words = axes.text(middle, top + 4.0, label, ha="center", va="bottom", size=13)
    words.set_color(WORDS[1])


def _explain_arrows(axes: "Axes", middle: float, goal: int) -> None:
    """Write the legend of the two kinds of arrow, and a note on the other states."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    solid = Line2D([], [], color=CONTINUE, linewidth=1.7, label="continue (C)")
    dashed = Line2D([], [], color=FINISH, linewidth=1.7, dashes=_DASHES, label="finish (F)")
    axes.legend(
        handles=[solid, dashed],
        loc="upper center",
        bbox_to_anchor=(middle, -70.0),
        bbox_transform=axes.transData,
        ncols=2,
        handlelength=2.77,  # three dashes
        columnspacing=2.5,
    )
    note = {
        2: "State 1 is the only state in between.",
        3: "The other state in between has the same transitions.",
    }.get(goal, "All other states in between have the same transitions.")
    axes.text(middle, -110.0, note, ha="center", va="bottom", color=GREY, size=10)
