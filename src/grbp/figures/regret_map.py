"""Figure 5: the regret of one learner over the two probabilities."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from grbp.errors import InvalidInput
from grbp.figures.canvas import GREY, INK, drawing
from grbp.model.validation import check_goal, check_probabilities
from grbp.numerics.arrays import Floats
from grbp.theory.values import boundary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure
    from matplotlib.text import Text

_SAMPLES = 401
"""How many points of the boundary are drawn."""


def regret_map_figure(
    p_c: Floats, p_f: Floats, mean: Floats, goal: int, title: str = ""
) -> "Figure":
    """Figure 5: mean regret for every pair (p_c, p_f), as a map and as a surface.

    mean[i, j] belongs to p_c[i] and p_f[j], and colours the cell around that point. The black
    line is the boundary p_f = B(p_c): FINISH in state 1 is right above it.

    Paper: fig:3D
    Differs: a map beside the surface, whose front hides nothing.
    """
    goal = check_goal(goal)
    x, y, z = _grid(p_c, p_f, mean)
    with drawing():
        from matplotlib.colors import Normalize  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415

        top = 0.42 if title else 0.0
        figure = Figure(figsize=(9.6, 4.45 + top))
        height = figure.get_figheight()
        colours = _palette()
        low, high = min(0.0, float(z.min())), float(z.max())
        scale = Normalize(low, high if high > low else low + 1.0)
        flat = figure.add_axes((0.072, 0.6 / height, 3.65 / 9.6, 3.65 / height))
        _draw_map(flat, (x, y, z), goal, colours, scale)
        bar = figure.add_axes((0.467, 0.6 / height, 0.014, 3.65 / height))
        _draw_bar(bar, colours, scale)
        deep = figure.add_axes(
            (0.53, 0.02 / height, 0.455, 4.4 / height), projection="3d", computed_zorder=False
        )
        # Any: Matplotlib does not say what axes of three dimensions can do.
        _draw_surface(cast("Any", deep), (x, y, z), goal, colours, scale)
        if title:
            shown = figure.text(0.055, 1.0 - 0.13 / height, title, va="top", size=13, color=INK)
            shown.set(parse_math=False, weight="bold")
        return figure


def _grid(p_c: Floats, p_f: Floats, mean: Floats) -> tuple[Floats, Floats, Floats]:
    """The three arrays, if they fit together; else a refusal."""
    x, y = check_probabilities("p_c", p_c), check_probabilities("p_f", p_f)
    z = np.asarray(mean, dtype=np.float64)
    for name, axis in (("p_c", x), ("p_f", y)):
        if axis.ndim != 1 or len(axis) < 2 or not (np.diff(axis) > 0.0).all():
            raise InvalidInput(f"{name} = {axis} was given; it must be two numbers or more, rising")
    if z.shape != (len(x), len(y)) or not np.isfinite(z).all():
        raise InvalidInput(
            f"regrets of shape {z.shape} were given; they must be finite numbers, a row for each"
            f" of the {len(x)} p_c and a column for each of the {len(y)} p_f"
        )
    return x, y, z


def _palette() -> "Colormap":
    """Magma from pale (no regret) to dark, without the end on which black cannot be seen."""
    from matplotlib import colormaps  # noqa: PLC0415
    from matplotlib.colors import ListedColormap  # noqa: PLC0415

    return ListedColormap(colormaps["magma_r"](np.linspace(0.0, 0.8, 256)))


def cell_edges(centres: Floats) -> Floats:
    """The ends of cells around their centres: half-way between them, and within 0 and 1."""
    middle = (centres[1:] + centres[:-1]) / 2.0
    first, last = 2.0 * centres[0] - middle[0], 2.0 * centres[-1] - middle[-1]
    return np.concatenate(([max(first, 0.0)], middle, [min(last, 1.0)]))


def _draw_map(
    axes: "Axes",
    grid: tuple[Floats, Floats, Floats],
    goal: int,
    colours: "Colormap",
    scale: "Normalize",
) -> None:
    x, y, z = grid
    ends_x, ends_y = cell_edges(x), cell_edges(y)
    cells = axes.pcolormesh(ends_x, ends_y, z.T, cmap=colours, norm=scale, shading="flat")
    # Without an outline of its own colour, a cell shows thin white gaps in some viewers.
    cells.set(edgecolor="face", linewidth=0.3)
    along = np.linspace(ends_x[0], ends_x[-1], _SAMPLES)
    axes.plot(along, boundary(goal, along), color="black", linewidth=2.0, label="boundary")
    axes.set_xlim(ends_x[0], ends_x[-1])
    axes.set_ylim(ends_y[0], ends_y[-1])
    axes.set_xlabel("$p_C$, the chance that CONTINUE moves up", size=10.5)
    axes.set_ylabel("$p_F$, the chance that FINISH wins", size=10.5)
    axes.tick_params(labelsize=10, color=GREY)
    above = axes.text(0.03, 0.97, "no-exploration region\n(finish in state 1)", va="top")
    below = axes.text(0.97, 0.03, "exploration region\n(never finish)", va="bottom", ha="right")
    for text in (above, below):
        text.set(transform=axes.transAxes, size=10, linespacing=1.3)
        _halo(text)


def _halo(text: "Text") -> None:
    """Letters that can be read on any colour."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    text.set(color=INK, path_effects=[withStroke(linewidth=3.0, foreground="white")])


def _draw_bar(axes: "Axes", colours: "Colormap", scale: "Normalize") -> None:
    from matplotlib.cm import ScalarMappable  # noqa: PLC0415

    bar = axes.figure.colorbar(ScalarMappable(scale, colours), cax=axes)
    bar.set_label("mean regret", size=10.5)
    axes.tick_params(labelsize=10, color=GREY)


def _draw_surface(
    axes: Any,
    grid: tuple[Floats, Floats, Floats],
    goal: int,
    colours: "Colormap",
    scale: "Normalize",
) -> None:
    """The surface seen from its low side, p_c small and p_f large: the rise stands behind."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    x, y, z = grid
    wide, deep = np.meshgrid(x, y, indexing="ij")
    axes.plot_surface(
        wide, deep, z, cmap=colours, norm=scale, rstride=1, cstride=1,
        linewidth=0.25, edgecolor="#00000030", antialiased=True, shade=False, zorder=1,
    )  # fmt: skip
    along = np.linspace(x[0], x[-1], _SAMPLES)
    line = boundary(goal, along)
    inside = (line >= y[0]) & (line <= y[-1])
    along, line = along[inside], line[inside]
    if len(along):
        height = _on_surface(grid, along, line)
        axes.plot(along, line, height, color="black", linewidth=2.0, label="boundary", zorder=2)
    axes.view_init(elev=32.0, azim=118.0)
    axes.set_xlabel("$p_C$", size=11, labelpad=2.0)
    axes.set_ylabel("$p_F$", size=11, labelpad=2.0)
    name = axes.text2D(0.985, 0.865, "height: mean regret", ha="right", size=10.5, color=INK)
    name.set(transform=axes.transAxes)
    axes.tick_params(labelsize=9, pad=0.0)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color("#f7f7f7")
    # The ends are left out: in the front corner those of two axes would meet.
    for axis, values in ((axes.xaxis, x), (axes.yaxis, y)):
        rim = 0.04 * (values[-1] - values[0])
        ticks = MaxNLocator(5).tick_values(values[0], values[-1])
        axis.set_ticks([t for t in ticks if values[0] + rim < t < values[-1] - rim])
    axes.zaxis.set_major_locator(MaxNLocator(5))
    axes.set_box_aspect((1.0, 1.0, 0.75), zoom=0.98)


def _on_surface(grid: tuple[Floats, Floats, Floats], at_x: Floats, at_y: Floats) -> Floats:
    """The height of the surface above points, linear between the points of the grid."""
    x, y, z = grid
    i = np.clip(np.searchsorted(x, at_x, side="right") - 1, 0, len(x) - 2)
    j = np.clip(np.searchsorted(y, at_y, side="right") - 1, 0, len(y) - 2)
    u, v = (at_x - x[i]) / (x[i + 1] - x[i]), (at_y - y[j]) / (y[j + 1] - y[j])
    near = (1.0 - v) * z[i, j] + v * z[i, j + 1]
    far = (1.0 - v) * z[i + 1, j] + v * z[i + 1, j + 1]
    heights: Floats = (1.0 - u) * near + u * far
    return heights
