"""How learners do on average over many problems: a point for each, with its interval."""

from typing import TYPE_CHECKING, cast

from grbp.experiments.sweep_result import SweepResult
from grbp.figures.canvas import GREY, LINE, check_axes, drawing_style
from grbp.figures.style import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def standings_figure(
    result: SweepResult, goal: int | None = None, *, ax: "Axes | None" = None
) -> "Figure":
    """Draw the mean regret of every learner over the problems of a goal, or of all goals.

    The smallest is on top; a bar holds the mean with 95 % confidence.
    """
    table = result.table(goal)
    standings = table.standings[::-1]
    names = [one.learner for one in standings]
    looks = line_styles(names)
    with drawing_style():
        from grbp.figures.notebook import Figure  # noqa: PLC0415

        if ax is None:
            longest = 0.09 * max(map(len, names))
            size = (4.9 + longest, 0.8 + 0.32 * len(names))
            place = ((longest + 0.3) / size[0], 0.6 / size[1], 4.3 / size[0], 1.0 - 0.7 / size[1])
            ax = Figure(figsize=size).add_axes(place)
        check_axes(ax)
        for y, one in enumerate(standings):
            ax.errorbar(
                one.mean, y, xerr=one.half, fmt="o", color=looks[one.learner][0], capsize=3.0
            )
        ax.set_yticks(range(len(names)), names, parse_math=False)
        ax.set_ylim(-0.6, len(names) - 0.4)
        ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
        ax.set_xlabel(f"mean regret over {table.problems:,} problems, with its 95 % interval")
        ax.grid(visible=True, axis="x", color=LINE, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(color=GREY)
    return cast("Figure", ax.figure)
