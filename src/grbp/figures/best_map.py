"""The map of the best learner: who has the least regret where, over the two probabilities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from numpy.typing import ArrayLike

from grbp._palette import AREAS
from grbp.errors import InvalidInput
from grbp.figures.canvas import GREY, INK, check_axes, drawing_style, write_title
from grbp.figures.regret_map import check_map, draw_cells, label_map
from grbp.figures.style import line_styles
from grbp.numerics.arrays import Floats, Ints
from grbp.worlds.validation import check_goal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PALE: Final = 0.45
"""How much of its colour a cell has where the second best is not clearly worse."""


def best_learner_figure(  # noqa: PLR0913, PLR0917 (a picture is of all this)
    p_c: ArrayLike,
    p_f: ArrayLike,
    best: ArrayLike,
    clear: ArrayLike,
    learners: Sequence[str],
    goal: int,
    title: str = "",
    *,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw which learner has the least mean regret for every pair (p_c, p_f).

    The black line is the boundary p_f = B(p_c): above it, finishing in state 1 is right.

    Parameters
    ----------
    p_c, p_f : array_like
        Rising probabilities, at least two of each.
    best : array_like of int, shape (len(p_f), len(p_c))
        The place, in `learners`, of the one that is best; see `SweepResult.winners`.
    clear : array_like of bool, shape (len(p_f), len(p_c))
        Whether the second best is clearly worse; where it is not, the colour is pale.
    learners : sequence of str
        The names of the learners.
    goal : int
        The goal of all these problems.
    title : str, optional
        A line on top; it is shown as it is.
    ax : matplotlib.axes.Axes, optional
        Axes to draw the map into instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure

    See Also
    --------
    sweep : Measures the regret of learners over a grid of problems.
    league_figure : Compares every two learners.

    Examples
    --------
    >>> import grbp
    >>> names = ["getbe-sm", "no-explore"]
    >>> best, clear = [[0, 1], [1, 1]], [[True, True], [False, True]]
    >>> figure = grbp.best_learner_figure([0.3, 0.6], [0.2, 0.4], best, clear, names, goal=4)
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['no-explore: 75.0 %', 'getbe-sm: 25.0 %']
    """
    goal, names = check_goal(goal), list(learners)
    x, y, numbers = check_map(p_c, p_f, best)
    whole = numbers.astype(np.int64)
    if (whole != numbers).any() or whole.min() < 0 or whole.max() >= len(names):
        raise InvalidInput(
            f"best was given with {float(numbers.min()):g} to {float(numbers.max()):g}; its"
            f" numbers must be places among the {len(names)} learners, from 0 on"
        )
    surely = check_map(p_c, p_f, clear)[2] > 0.0
    with drawing_style():
        from grbp.figures.notebook import Figure  # noqa: PLC0415

        if ax is not None:
            check_axes(ax)
            axes = ax
            axes.set_title(title, parse_math=False)
        else:
            height = 5.0 if title else 4.6
            figure = Figure(figsize=(7.0, height))
            axes = figure.add_axes((0.64 / 7.0, 0.6 / height, 3.8 / 7.0, 3.8 / height))
            if title:
                write_title(figure, title)
        _draw(axes, (x, y, whole + 0.5 * ~surely), names, goal)
        _draw_key(axes, whole, names)
        return cast("Figure", axes.figure)


def _palette(names: list[str]) -> list[str]:
    """Return the colours of learners: their own where these differ and are not the boundary's."""
    free = iter(AREAS * len(names))
    given: list[str] = []
    for colour, _ in line_styles(names).values():
        given.append(next(free) if colour in (*given, INK) else colour)
    return given


def _draw(axes: "Axes", grid: tuple[Floats, Floats, Floats], names: list[str], goal: int) -> None:
    """Colour every cell: learner k is the number k, and k + 1/2 where that is not clear."""
    from matplotlib.colors import ListedColormap, to_rgb  # noqa: PLC0415

    shades = []
    for colour in _palette(names):
        full = np.array(to_rgb(colour))
        shades += [full, _PALE * full + (1.0 - _PALE)]
    limits = {"vmin": -0.25, "vmax": len(names) - 0.25}
    draw_cells(axes, grid, cmap=ListedColormap(shades), linewidth=0.0, **limits)
    label_map(axes, goal)


def _draw_key(axes: "Axes", best: Ints, names: list[str]) -> None:
    """Name the colours beside the map, those first that are seen most."""
    from matplotlib.patches import Patch  # noqa: PLC0415

    colours, share = _palette(names), [float((best == k).mean()) for k in range(len(names))]
    order = sorted(range(len(names)), key=lambda k: -share[k])
    keys = [Patch(color=colours[k], label=f"{names[k]}: {100 * share[k]:.1f} %") for k in order]
    legend = axes.legend(
        handles=keys, loc="upper left", bbox_to_anchor=(1.04, 1.0), alignment="left",
        title="The least mean regret, and in how\nmany problems (pale: not clearly)",
        fontsize=9.5, title_fontsize=9.5,
    )  # fmt: skip
    legend.get_title().set_color(GREY)
    for text in legend.get_texts():
        text.set_parse_math(False)
