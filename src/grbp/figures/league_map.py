"""Who wins where in a league: a small map over the two probabilities for every two learners."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from grbp._palette import MAP_HALO, MAP_INK
from grbp.experiments.league_table import Duel
from grbp.experiments.sweep_result import RegretMap, SweepResult
from grbp.figures.canvas import GREY, INK, drawing_style, save, with_addition, write_title
from grbp.figures.regret_map import draw_cells
from grbp.numerics.arrays import Floats
from grbp.theory.values import boundary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure

_CLASSES: Final = 4
"""Shades on either side: up to twice, four times and eight times the regret, and more."""

_SAMPLES: Final = 201
_GAP, _LEFT, _TOP, _FIRST_ROW, _LETTER = 0.08, 0.72, 0.82, 0.24, 0.1
"""Inches: between maps, left of them, the title, the row without a map, a letter of a name."""

_KEY_WIDTH, _KEY_HEIGHT, _AXIS = 5.0, 0.98, 0.5
_MANY: Final = 8
"""With this many learners or more, there is room for the key in the empty corner."""


class _Page(NamedTuple):
    """Where things are, in inches from the lower left."""

    learners: int
    side: float
    width: float
    height: float
    bottom: float

    def box(self, row: int, column: int) -> tuple[float, float, float, float]:
        """Return left, bottom, width and height of a map, as parts of the page."""
        x = _LEFT + column * (self.side + _GAP)
        y = self.bottom + (self.learners - 1 - row) * (self.side + _GAP)
        return self.part(x, y, self.side, self.side)

    def part(self, x: float, y: float, w: float, h: float) -> tuple[float, float, float, float]:
        """Return a rectangle that is given in inches, as parts of the page."""
        return x / self.width, y / self.height, w / self.width, h / self.height


def league_figure(league: SweepResult, goal: int, title: str = "") -> "Figure":
    """Draw, for every two learners of a league, who clearly has less regret where, at one goal.

    A map compares the learner at the right end of its row with the one on top of its column: it
    is blue where the learner of the row wins, red where that of the column does, and white where
    chance may have decided. The line is the boundary p_f = B(p_c). Learners are ordered by their
    mean regret, the smallest first.

    Parameters
    ----------
    league : SweepResult
        The result of `league_spec`, or of another sweep over one grid.
    goal : int
        One of the league's goals.
    title : str, optional
        By default it names the goal.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import tempfile
    >>> import grbp
    >>> spec = grbp.league_spec(("getbe-sm", "no-explore"), (4,), 0.25, rounds=20, replicas=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     league = grbp.sweep(spec, folder)
    >>> figure = grbp.league_figure(league, 4)
    >>> figure.axes[0].get_xlabel()
    '$p_C$'
    """
    table = league.table(goal)
    names = [standing.learner for standing in table.standings]
    page, grid = _lay_out(names), league.regret_map(names[0], goal)
    with drawing_style():
        from grbp.figures.notebook import Figure  # noqa: PLC0415

        figure = Figure(figsize=(page.width, page.height))
        for row, first in enumerate(names):
            for column, second in enumerate(names[:row]):
                axes = figure.add_axes(page.box(row, column))
                _draw_map(axes, league.duel(goal, first, second), grid)
                _label_axes(axes, row == len(names) - 1, column == 0)
        _write_names(figure, page, names)
        left = 0.2 / page.width
        write_title(figure, title or f"Who wins where: goal {goal:,}", left)
        y = 1.0 - 0.42 / page.height
        size = _describe_size(league, table.problems)
        figure.text(left, y, size, va="top", size=10, color=GREY)
        _draw_key(figure, page)
        return figure


def save_league(league: SweepResult, path: Path) -> list[Path]:
    """Draw a league into files, one picture for every goal.

    Parameters
    ----------
    league : SweepResult
        The result of `league_spec`, or of another sweep over one grid.
    path : Path
        Where to: a name that ends with .png, .svg or .pdf is one file of that kind, any other
        name is the beginning of a PNG and an SVG. With more than one goal, the goal is added:
        league-4.png, league-10.png.

    Returns
    -------
    list of Path
        The files written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import grbp
    >>> spec = grbp.league_spec(("getbe-sm", "no-explore"), (4,), 0.25, rounds=20, replicas=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     league = grbp.sweep(spec, folder)
    ...     [path.name for path in grbp.save_league(league, Path(folder) / "who-wins")]
    ['who-wins.png', 'who-wins.svg']
    """
    written = []
    for goal, own in league_paths(league.spec.goals, path).items():
        written += save(league_figure(league, goal), own)
    return written


def league_paths(goals: Sequence[int], path: Path) -> dict[int, Path]:
    """Return where the picture of each goal goes to."""
    if len(goals) == 1:
        return {goals[0]: path}
    return {goal: with_addition(path, f"-{goal}") for goal in goals}


def _lay_out(names: Sequence[str]) -> _Page:
    count = len(names)
    side = 1.7 if count < 5 else 1.2 if count < _MANY else 0.88
    maps = (count - 1) * (side + _GAP) - _GAP
    key = 0.0 if count >= _MANY else _KEY_HEIGHT + 0.1
    bottom = key + _AXIS
    words = [max(map(len, _fold(name).split("\n"))) for name in names]
    ends = [k * (side + _GAP) + _LETTER * letters for k, letters in enumerate(words)]
    width = _LEFT + max(*ends, _KEY_WIDTH) + 0.3
    return _Page(count, side, width, bottom + maps + _GAP + _FIRST_ROW + _TOP, bottom)


def _describe_size(league: SweepResult, problems: int) -> str:
    spec = league.spec
    return (
        f"{spec.replicas:,} replicas of {spec.checkpoints[-1]:,} rounds at each of {problems:,}"
        " problems"
    )


def _draw_map(axes: "Axes", duel: Duel, grid: RegretMap) -> None:
    limits = {"vmin": -_CLASSES - 0.5, "vmax": _CLASSES + 0.5}
    shades = (grid.p_c, grid.p_f, _shades(duel))
    draw_cells(axes, shades, cmap=_make_palette(), linewidth=0.2, **limits)
    along = np.linspace(*axes.get_xlim(), _SAMPLES)
    line = boundary(grid.goal, along)
    axes.plot(along, line, color=MAP_HALO, linewidth=2.4)  # black alone is lost on the dark shades
    axes.plot(along, line, color=MAP_INK, linewidth=1.1, label="boundary")
    for spine in axes.spines.values():
        spine.set(color=GREY, linewidth=0.6)


def _shades(duel: Duel) -> Floats:
    """Return the shade of every cell, from -4 (the second has far less) over 0 to 4."""
    steps = np.minimum(np.floor(np.abs(duel.doublings)) + 1.0, _CLASSES)
    return np.where(duel.winner == 0, 0.0, np.copysign(steps, duel.winner))


def _make_palette() -> "ListedColormap":
    """Make a palette from red over white to blue, with a step next to white.

    The step tells the palest shade from "not clear".
    """
    from matplotlib import colormaps  # noqa: PLC0415
    from matplotlib.colors import ListedColormap  # noqa: PLC0415

    red, blue = np.linspace(0.04, 0.36, _CLASSES), np.linspace(0.64, 0.96, _CLASSES)
    sides = colormaps["RdBu"](np.concatenate((red, [0.5], blue)))
    sides[_CLASSES] = 1.0
    return ListedColormap(sides)


def _label_axes(axes: "Axes", lowest: bool, leftmost: bool) -> None:
    """Draw ticks and labels at the rim of the page alone."""
    ticks, words = (0.2, 0.5, 0.8), ("0.2", "0.5", "0.8")
    axes.set_xticks(ticks, words if lowest else ["", "", ""])
    axes.set_yticks(ticks, words if leftmost else ["", "", ""])
    axes.tick_params(labelsize=8, color=GREY, length=2.0, pad=2.0)
    if lowest:
        axes.set_xlabel("$p_C$", size=9, labelpad=1.0)
    if leftmost:
        axes.set_ylabel("$p_F$", size=9, labelpad=4.0)


def _write_names(figure: "Figure", page: _Page, names: Sequence[str]) -> None:
    """Write every name at the right end of its row and on top of its column."""
    for k, name in enumerate(names):
        x, y, _, high = page.box(k, k)
        middle = y + (_FIRST_ROW / page.height if k == 0 else high) / 2.0
        text = figure.text(x + 0.04 / page.width, middle, _fold(name), va="center", size=9.5)
        text.set(color=INK, parse_math=False, weight="bold", linespacing=1.15)


def _fold(name: str) -> str:
    """Fold a name into lines that fit beside the maps: constants stand under it."""
    return name.replace(":", "\n").replace(",", "\n")


def _draw_key(figure: "Figure", page: _Page) -> None:
    """Explain the colours, in the empty corner or under the maps."""
    many = page.learners >= _MANY
    x = page.width - _KEY_WIDTH - 0.3 if many else _LEFT
    y = page.height - 1.05 if many else 0.42
    axes = figure.add_axes(page.part(x, y, _KEY_WIDTH, 0.2))
    shades = np.arange(-_CLASSES, _CLASSES + 1)
    axes.pcolormesh(shades[None, :], cmap=_make_palette(), edgecolor=GREY, linewidth=0.6)
    words = [f"{2 ** (k - 1)} to {2**k}" for k in range(1, _CLASSES)]
    words.append(f"over {2 ** (_CLASSES - 1)}")
    axes.set_xticks(shades + _CLASSES + 0.5, [*reversed(words), "not clear", *words])
    axes.set_yticks([])
    axes.tick_params(labelsize=8, length=0.0, pad=2.0)
    axes.set_frame_on(False)
    axes.set_xlabel("how many times less (95 % intervals);  line: the boundary", size=9, color=GREY)
    sides = ("less regret: top of the column", "less regret: right end of the row")
    for place, align, words_of_side in zip((0.0, 1.0), ("left", "right"), sides, strict=True):
        text = axes.text(place, 1.25, words_of_side, ha=align, va="bottom", size=9, color=INK)
        text.set(transform=axes.transAxes)
