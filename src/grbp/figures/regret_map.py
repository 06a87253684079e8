"""Figure 5: the regret of one learner over the two probabilities."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from grbp._palette import MAP_HALO, MAP_INK, PALETTE
from grbp.errors import InvalidInput
from grbp.figures.canvas import GREY, INK, check_axes, drawing_style, write_title
from grbp.numerics.arrays import Floats
from grbp.theory.values import boundary
from grbp.worlds.validation import check_goal, check_probabilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

_SAMPLES: Final = 401
"""How many points of the boundary are drawn."""

_FINE: Final = 60**2
"""Points from which on no lines are drawn on a surface."""

_MANY: Final = 100**2
"""Points from which on a map is a picture, also in a drawing."""

Grid: TypeAlias = tuple[Floats, Floats, Floats]
"""The p_c of the columns, the p_f of the rows, and the regret: [p_f, p_c]."""


def regret_map_figure(
    p_c: ArrayLike,
    p_f: ArrayLike,
    mean: ArrayLike,
    goal: int,
    title: str = "",
    *,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw mean regret for every pair (p_c, p_f), as a map and as a surface: Figure 5.

    The black line is the boundary p_f = B(p_c): above it, finishing in state 1 is right.

    Parameters
    ----------
    p_c, p_f : array_like
        Rising probabilities, at least two of each.
    mean : array_like, shape (len(p_f), len(p_c))
        ``mean[i, j]`` belongs to ``p_f[i]`` and ``p_c[j]``, as in `SweepResult.regret_map`.
    goal : int
        The goal of all these problems.
    title : str, optional
        A line on top; it is shown as it is.
    ax : matplotlib.axes.Axes, optional
        Axes to draw the map into, with a scale beside it, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Paper: fig:3D
    Differs: a map stands beside the surface, whose front hides nothing.

    Examples
    --------
    >>> import numpy as np
    >>> import grbp
    >>> figure = grbp.regret_map_figure([0.3, 0.5, 0.7], [0.2, 0.4], np.ones((2, 3)), goal=4)
    >>> len(figure.axes)  # the map, its scale and the surface
    3
    """
    goal, grid = check_goal(goal), check_map(p_c, p_f, mean)
    with drawing_style():
        from matplotlib.colors import Normalize  # noqa: PLC0415

        from grbp.figures.notebook import Figure  # noqa: PLC0415

        colours = _palette()
        low, high = min(0.0, float(grid[2].min())), float(grid[2].max())
        scale = Normalize(low, high if high > low else low + 1.0)
        if ax is not None:
            check_axes(ax)
            _draw_map(ax, grid, goal, cmap=colours, norm=scale)
            _draw_bar(ax, colours, scale, beside=True)
            ax.set_title(title, parse_math=False)
            return cast("Figure", ax.figure)
        figure = Figure(figsize=(9.6, 4.87 if title else 4.45))
        height = figure.get_figheight()
        flat = figure.add_axes((0.072, 0.6 / height, 3.65 / 9.6, 3.65 / height))
        _draw_map(flat, grid, goal, cmap=colours, norm=scale)
        bar = figure.add_axes((0.467, 0.6 / height, 0.014, 3.65 / height))
        _draw_bar(bar, colours, scale)
        deep = figure.add_axes(
            (0.53, 0.02 / height, 0.455, 4.4 / height), projection="3d", computed_zorder=False
        )
        # The name of the scale may reach into these axes.
        deep.patch.set_visible(False)
        # Any: Matplotlib does not say what axes of three dimensions can do.
        _draw_surface(cast("Any", deep), grid, goal, cmap=colours, norm=scale)
        if title:
            write_title(figure, title)
        return figure


def check_map(p_c: ArrayLike, p_f: ArrayLike, mean: ArrayLike) -> Grid:
    """Return the three arrays, or refuse them if they do not fit together."""
    x, y = check_probabilities("p_c", p_c), check_probabilities("p_f", p_f)
    z = np.asarray(mean, dtype=np.float64)
    for name, axis in (("p_c", x), ("p_f", y)):
        if axis.ndim != 1 or len(axis) < 2 or not (np.diff(axis) > 0.0).all():
            raise InvalidInput(f"{name} = {axis} was given; it must be two numbers or more, rising")
    if z.shape != (len(y), len(x)) or not np.isfinite(z).all():
        raise InvalidInput(
            f"regrets of shape {z.shape} were given; they must be finite numbers, a row for each"
            f" of the {len(y)} p_f and a column for each of the {len(x)} p_c"
        )
    return x, y, z


def _palette() -> "Colormap":
    """Make a palette from pale (no regret) to dark, on all of which black can be seen."""
    from matplotlib import colormaps  # noqa: PLC0415
    from matplotlib.colors import ListedColormap  # noqa: PLC0415

    return ListedColormap(colormaps["magma_r"](np.linspace(0.0, 0.8, 256)))


def draw_cells(axes: "Axes", grid: Grid, **how: Any) -> None:
    """Colour the cell around every pair (p_c, p_f), and end the axes where the cells end."""
    p_c, p_f, values = grid
    x, y = _cell_ends(p_c), _cell_ends(p_f)
    # Without an outline of its own colour, a cell shows thin white gaps in some viewers. Tens of
    # thousands of cells are a picture inside a drawing, which would be too large.
    axes.pcolormesh(
        x, y, values, shading="flat", edgecolor="face", rasterized=values.size > _MANY, **how
    )
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))


def _cell_ends(centres: Floats) -> Floats:
    """Return the ends of cells around their centres: half-way between them, within 0 and 1."""
    middle = (centres[1:] + centres[:-1]) / 2.0
    first, last = 2.0 * centres[0] - middle[0], 2.0 * centres[-1] - middle[-1]
    return np.concatenate(([max(first, 0.0)], middle, [min(last, 1.0)]))


def _draw_map(axes: "Axes", grid: Grid, goal: int, **how: Any) -> None:
    draw_cells(axes, grid, linewidth=0.3, **how)
    label_map(axes, goal)


def label_map(axes: "Axes", goal: int) -> None:
    """Draw the boundary into a map, and name its axes and the two regions."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    along = np.linspace(*axes.get_xlim(), _SAMPLES)
    axes.plot(along, boundary(goal, along), color=MAP_INK, linewidth=2.0, label="boundary")
    axes.set_xlabel("$p_C$, the chance that CONTINUE moves up", size=10.5)
    axes.set_ylabel("$p_F$, the chance that FINISH wins", size=10.5)
    axes.tick_params(labelsize=10, color=GREY)
    above = axes.text(0.03, 0.97, "no-exploration region\n(finish in state 1)", va="top")
    below = axes.text(0.97, 0.03, "exploration region\n(never finish)", va="bottom", ha="right")
    # A halo makes letters readable on any colour.
    halo = [withStroke(linewidth=3.0, foreground=MAP_HALO)]
    for text in (above, below):
        text.set(
            transform=axes.transAxes, size=10, linespacing=1.3, color=MAP_INK, path_effects=halo
        )


def _draw_bar(axes: "Axes", colours: "Colormap", scale: "Normalize", beside: bool = False) -> None:
    """Draw the scale into axes, or beside them."""
    from matplotlib.cm import ScalarMappable  # noqa: PLC0415

    place: Any = {"ax" if beside else "cax": axes}
    bar = axes.figure.colorbar(ScalarMappable(scale, colours), **place)
    bar.set_label("mean regret", size=10.5)
    bar.ax.tick_params(labelsize=10, color=GREY)


def _draw_surface(axes: Any, grid: Grid, goal: int, **how: Any) -> None:
    """Draw the surface seen from its low side, p_c small and p_f large: the rise stands behind."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    x, y, z = grid
    axes.plot_surface(
        *np.meshgrid(x, y), z, rstride=1, cstride=1, shade=False, zorder=1,
        edgecolor=(*to_rgb(INK), 0.19),
        # The lines of a fine grid would blacken it.
        linewidth=0.25 if z.size <= _FINE else 0.0, antialiased=z.size <= _FINE,
        rasterized=z.size > _MANY, **how,
    )  # fmt: skip
    along = np.linspace(x[0], x[-1], _SAMPLES)
    line = boundary(goal, along)
    inside = (line >= y[0]) & (line <= y[-1])
    along, line = along[inside], line[inside]
    if len(along):
        height = _on_surface(grid, along, line)
        axes.plot(along, line, height, color=MAP_INK, linewidth=2.0, label="boundary", zorder=2)
    axes.view_init(elev=32.0, azim=118.0)
    axes.set_xlabel("$p_C$", size=11, labelpad=2.0)
    axes.set_ylabel("$p_F$", size=11, labelpad=2.0)
    name = axes.text2D(0.985, 0.865, "height: mean regret", ha="right", size=10.5, color=INK)
    name.set(transform=axes.transAxes)
    axes.tick_params(labelsize=9, pad=0.0)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color(PALETTE["card"].light)
    # The ends are left out: in the front corner those of two axes would meet.
    for axis, values in ((axes.xaxis, x), (axes.yaxis, y)):
        rim = 0.04 * (values[-1] - values[0])
        ticks = MaxNLocator(5).tick_values(values[0], values[-1])
        axis.set_ticks([t for t in ticks if values[0] + rim < t < values[-1] - rim])
    axes.zaxis.set_major_locator(MaxNLocator(5))
    axes.set_box_aspect((1.0, 1.0, 0.75), zoom=0.98)


def _on_surface(grid: Grid, at_x: Floats, at_y: Floats) -> Floats:
    """Return the height of the surface above points, linear between the points of the grid."""
    x, y, z = grid
    j = np.clip(np.searchsorted(x, at_x, side="right") - 1, 0, len(x) - 2)
    i = np.clip(np.searchsorted(y, at_y, side="right") - 1, 0, len(y) - 2)
    u, v = (at_x - x[j]) / (x[j + 1] - x[j]), (at_y - y[i]) / (y[i + 1] - y[i])
    near = (1.0 - v) * z[i, j] + v * z[i + 1, j]
    far = (1.0 - v) * z[i, j + 1] + v * z[i + 1, j + 1]
    heights: Floats = (1.0 - u) * near + u * far
    return heights
