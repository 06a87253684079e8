"""Figures 3 and 4: the regret of learners, round by round, beside what theory says."""

import math
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from grbp._format import format_number
from grbp.errors import InvalidInput
from grbp.experiments.catalog import PAPER_LEARNERS
from grbp.experiments.regret import Curve
from grbp.experiments.simulation import Simulation
from grbp.figures.canvas import GREY, INK, LINE, check_axes, drawing_style, write_title
from grbp.figures.numbers import format_tick, rounds_in_words
from grbp.figures.style import DOTTED, Dashes, line_styles
from grbp.learners.getbe import SAMPLE_MEAN, Control
from grbp.numerics.arrays import Floats
from grbp.theory.bounds import forced_exploration_slope, getbe_bound
from grbp.theory.values import Region, optimal_threshold, region
from grbp.worlds.problem import Problem
from grbp.worlds.words import describe_world
from grbp.worlds.world import World

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

NOT_COVERED: Final = "not covered"
"""Instead of an interval that rare replicas could belie."""

_FAR_ABOVE: Final = 1.5
"""A curve this many times above the paper's five does not have to fit into the picture."""

_HEADROOM: Final = 1.15

_WIDTH, _PANEL_HEIGHT, _LINE, _SMALL_LINE = 9.6, 3.5, 0.215, 0.19
"""Inches: the figure's width, a panel's height, a line of the legend and one of small print."""

_BETWEEN, _LOW_PANEL = 0.95, 2.7
"""Inches: between the panels and the one below them, and the height of that one."""

_ON_AXIS: Final = 0.1
"""Curves that end below this part of the picture can hardly be told apart."""

_BELOW_LOWEST: Final = 0.1
"""Where a logarithmic scale of regret begins, as a part of the lowest curve's end."""

_MOST_SAID: Final = 120
"""Letters that describe a truth, at most."""

_LEFT: Final = 0.055
"""The left end of all words, as a part of the width."""

_LONGEST_NAME: Final = 48

_MANY: Final = 1000
"""Replicas with which a band was measured to hold what it says: benchmarks/intervals.md."""


def regret_figure(simulation: Simulation, title: str = "", *, ax: "Axes | None" = None) -> "Figure":
    """Draw mean regret against rounds, on a linear and on a logarithmic axis, a curve a learner.

    Where the lowest curves would lie on the axis, a panel below has a logarithmic scale of regret.
    The shade around a curve holds the whole of the true mean curve with 95% confidence. The
    legend lists the learners from the largest regret at the last round to the smallest. A
    curve far above those of the paper's five leaves the picture, and the legend says so.

    Theory stands beside the curve of getbe-sm: where never finishing is optimal, the slope
    gamma (V* - p_f) in log(round), drawn through the last point; Theorem 3's bound where it
    applies, and where it does not, a line that says why.

    Parameters
    ----------
    simulation : Simulation
        The curves, as `simulate` returns them.
    title : str, optional
        A line on top; it is shown as it is.
    ax : matplotlib.axes.Axes, optional
        Axes to draw the curves into, with a legend, instead of a figure of its own with both
        axes. Rounds are logarithmic there if the axes are, and so is regret.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    Paper: fig:regretinf
    Paper: fig:closetobound
    Differs: a logarithmic axis and confidence bands beside the paper's layout.

    Examples
    --------
    >>> import grbp
    >>> result = grbp.simulate(grbp.Problem(4, 0.65, 0.3), ["getbe-sm"], 100, replicas=5, seed=0)
    >>> figure = grbp.regret_figure(result, "A first look")
    >>> [axes.get_xscale() for axes in figure.axes]
    ['linear', 'log']
    """
    if not simulation.curves:
        raise InvalidInput("a simulation of no learner was given; there must be one or more")
    if ax is not None:
        with drawing_style():
            check_axes(ax)
    crowded = ax is None and is_crowded(simulation)
    drawn = _order_curves(simulation)
    top = _highest_y(drawn)
    lines, theory_note = _theory_lines(simulation)
    # On a logarithmic scale of regret, every curve is seen.
    seen = math.inf if ax is not None and _is_logarithmic(ax) else top
    where = "upper panels" if crowded else "picture"
    entries = [_legend_entry(one, seen, where) for one in drawn]
    entries += [line.label + _note_if_outside(float(line.y.min()), seen, where) for line in lines]
    if ax is not None:
        return _draw_into(ax, simulation, drawn, lines, entries, title)
    columns = _columns(entries)
    notes = [
        line for note in (*_notes(simulation), theory_note) for line in textwrap.wrap(note, 124)
    ]
    # In inches below the top of the figure: the panels, the legend and the small print.
    panel_top = 0.87 if title else 0.55
    below = _BETWEEN + _LOW_PANEL if crowded else 0.0
    legend_top = panel_top + _PANEL_HEIGHT + below + 0.67
    notes_top = legend_top + (1 + -(-len(entries) // columns)) * _LINE + 0.06
    with drawing_style():
        from grbp.figures.notebook import Figure  # noqa: PLC0415

        figure = Figure(figsize=(_WIDTH, notes_top + _SMALL_LINE * len(notes) + 0.14))
        panels = _panels(figure, panel_top)
        if crowded:
            panels.append(_low_panel(figure, panel_top + _PANEL_HEIGHT + _BETWEEN))
        for axes in panels:
            handles = [_draw(axes, simulation, one) for one in drawn]
            if not _is_logarithmic(axes):
                theory = [_draw_theory(axes, line) for line in lines]
        for axes in panels:
            _scale(axes, simulation, drawn, top)
        legend = figure.legend(
            [*handles, *theory],
            # A name that starts with an underscore would be left out: written afterwards.
            ["."] * len(entries),
            loc="upper left",
            bbox_to_anchor=(_LEFT, _from_top(figure, legend_top)),
            borderpad=0.0,
            ncols=columns,
            columnspacing=2.4,
            **_legend_look(simulation),
        )
        _write_legend(legend, entries, len(drawn))
        if title:
            write_title(figure, title, _LEFT)
        y = _from_top(figure, panel_top - 0.4)
        figure.text(_LEFT, y, _describe_problem(simulation.problem), va="top", size=10, color=GREY)
        for i, note in enumerate(notes):
            y = _from_top(figure, notes_top + _SMALL_LINE * i)
            figure.text(_LEFT, y, note, va="top", size=8.5, color=GREY, parse_math=False)
        return figure


def _draw_into(
    axes: "Axes",
    simulation: Simulation,
    drawn: "Sequence[_Drawn]",
    lines: "Sequence[_Line]",
    entries: Sequence[str],
    title: str,
) -> "Figure":
    """Draw the curves into one panel that somebody else made."""
    with drawing_style():
        handles = [_draw(axes, simulation, one) for one in drawn]
        handles += [_draw_theory(axes, line) for line in lines]
        _scale(axes, simulation, drawn, _highest_y(drawn))
        _style_axes(axes, r"rounds $\rho$")
        axes.set_ylabel("mean regret", size=11)
        legend = axes.legend(handles, ["."] * len(handles), **_legend_look(simulation))
        _write_legend(legend, entries, len(drawn))
        axes.set_title(title, parse_math=False)
    return cast("Figure", axes.figure)


def _legend_look(simulation: Simulation) -> dict[str, Any]:
    return {
        "fontsize": 9.5,
        "handlelength": 3.4,
        "labelspacing": 0.45,
        "title": f"mean regret after {rounds_in_words(simulation)}",
        "title_fontsize": 9.5,
        "alignment": "left",
    }


def _write_legend(legend: "Legend", entries: Sequence[str], names: int) -> None:
    """Write the entries; in the names among them, which come first, no formula is read."""
    legend.get_title().set(color=GREY)
    for i, (text, entry) in enumerate(zip(legend.get_texts(), entries, strict=True)):
        text.set(text=entry, parse_math=i >= names, color=INK)


class _Drawn(NamedTuple):
    """One learner's curve, ready to be drawn."""

    name: str
    mean: Floats
    low: Floats
    high: Floats
    colour: str
    dashes: Dashes


class _Line(NamedTuple):
    """A line of theory, and its entry in the legend."""

    x: Floats
    y: Floats
    dashes: Dashes
    label: str


def _order_curves(simulation: Simulation) -> list[_Drawn]:
    """Order the curves from the largest regret at the last round to the smallest."""
    looks = line_styles(list(simulation.curves))
    drawn = [
        _Drawn(name, curve.mean, *_band(curve), *looks[name])
        for name, curve in simulation.curves.items()
    ]
    return sorted(drawn, key=lambda one: (-one.mean[-1], one.name))


def _band(curve: Curve) -> tuple[Floats, Floats]:
    """Return the band of a curve, one replica's without a width; NaN where it would not cover."""
    if len(curve.final) == 1:
        return curve.mean, curve.mean
    nothing = np.full(len(curve.mean), math.nan)
    return curve.band() if curve.covered else (nothing, nothing)


def _highest_y(drawn: Sequence[_Drawn]) -> float:
    """Return the upper end of the y axis: all of it, unless a curve is far above the five."""
    highest = {one.name: float(np.fmax(one.mean, one.high).max()) for one in drawn}
    top = max(highest.values())
    five = max((highest[name] for name in PAPER_LEARNERS if name in highest), default=top)
    if 0.0 < _FAR_ABOVE * five < top:
        top = five
    return _HEADROOM * top if top > 0.0 else 1.0


def is_crowded(simulation: Simulation) -> bool:
    """Return whether two curves or more end so low that they can hardly be told apart."""
    drawn = _order_curves(simulation)
    low = _ON_AXIS * _highest_y(drawn)
    return sum(0.0 < float(one.mean[-1]) < low for one in drawn) > 1


def _legend_entry(one: _Drawn, top: float, where: str) -> str:
    """Write the legend's entry of a learner: its name and its regret at the last round."""
    name = one.name if len(one.name) <= _LONGEST_NAME else one.name[: _LONGEST_NAME - 1] + "…"
    mean, low, high = (float(end[-1]) for end in (one.mean, one.low, one.high))
    entry = f"{' '.join(name.split())}: {format_number(mean)}"
    half, more = format_number(mean - low, mean), format_number(high - mean, mean)
    if math.isnan(high):
        entry += f" ({NOT_COVERED})"
    elif half != more:
        entry += f" ({format_number(low, mean)} to {format_number(high, mean)})"
    elif high > mean:
        entry += f" ± {half}"
    return entry + _note_if_outside(float(one.mean.max()), top, where)


def _note_if_outside(y: float, top: float, where: str) -> str:
    return f" (↑ leaves the {where})" if y > top else ""


def _is_logarithmic(axes: "Axes") -> bool:
    """Return whether the scale of regret is logarithmic."""
    return axes.get_yscale() == "log"


def _theory_lines(simulation: Simulation) -> tuple[list[_Line], str]:
    """Return what is known of getbe-sm's regret, where it was simulated: lines, and a note."""
    name, problem, last = SAMPLE_MEAN.name, simulation.problem.paper, simulation.rounds
    if name not in simulation.curves or problem is None:
        return [], ""
    gamma, lines = Control().gamma, []
    if optimal_threshold(problem) == 0:
        lines += _slope_line(problem, gamma, last, float(simulation.curves[name].mean[-1]))
    theorem = getbe_bound(problem, gamma, last)
    if not theorem.applies:
        return lines, f"Theorem 3 gives no bound for {name} here: {theorem.why}."
    bound = [getbe_bound(problem, gamma, int(k)).regret_bound for k in simulation.checkpoints]
    label = f"theory: Theorem 3, {name} at most {format_number(bound[-1])} at the last round"
    lines.append(_Line(simulation.checkpoints.astype(float), np.array(bound), DOTTED, label))
    return lines, ""


def _slope_line(problem: Problem, gamma: float, last: int, regret: float) -> list[_Line]:
    """Return the growth that forced exploration alone costs, through the last point of a curve.

    It goes back to where it would start from 0. There is none where so few rounds were played
    that the forced explorations may not yet number gamma log(rho).
    """
    slope = forced_exploration_slope(problem, gamma)
    if last <= max(1.0, 2.0 * gamma * math.log(last)) or slope <= 0.0 or regret <= 0.0:
        return []
    first = max(1.0, last * math.exp(-regret / slope))
    x = np.geomspace(first, last, 200)
    label = (
        rf"theory: slope $\gamma$ ($V^*-p_F$) = {slope:.2f} per unit of log $\rho$,"
        rf" $\gamma$ = {gamma:g}"
    )
    return [_Line(x, regret + slope * np.log(x / last), (0, (3.0, 2.4)), label)]


def _notes(simulation: Simulation) -> tuple[str, str]:
    """Return the small print: how sure the curves are, and what a round counts."""
    counted = {
        "pseudo": "Pseudo-regret: a round counts the mean loss of the policy played in it.",
        "realised": "Realised regret: a round counts what was actually lost in it.",
        "by-start": "Pseudo-regret by start: a round counts the mean loss of the policy played in"
        " it, from the state in which it started.",
    }[simulation.kind]
    if simulation.replicas == 1:
        return "One replica: there is no confidence band.", counted
    curves = simulation.curves.values()
    split = any(curve.weights is not None for curve in curves)
    sure = (
        f"Means of {simulation.replicas:,} replicas{', by splitting' if split else ''}; a shade,"
        " and the interval in the legend, holds the whole true mean curve with 95% confidence"
        f"{', or a little less with so few' if simulation.replicas < _MANY else ''}."
    )
    if not all(curve.covered for curve in curves):
        sure += f" {NOT_COVERED.capitalize()}: stuck replicas, too rare to be seen, could add more."
    return sure, counted


def _columns(entries: Sequence[str]) -> int:
    """Return in how many columns the entries of the legend fit side by side, two at most."""
    # The source of a formula is longer than the formula.
    seen = [len(re.sub(r"\\[a-z]+", "x", entry.replace("$", ""))) for entry in entries]
    half = -(-len(seen) // 2)
    widest = max(seen[:half]) + max(seen[half:], default=0)
    return 2 if len(seen) > 3 and widest <= 96 else 1


def _from_top(figure: "Figure", inches: float) -> float:
    return float(1.0 - inches / figure.get_figheight())


def _panels(figure: "Figure", top: float) -> "list[Axes]":
    """Add two empty panels that share the regret, so many inches below the top of a figure."""
    bottom = _from_top(figure, top + _PANEL_HEIGHT)
    size = _PANEL_HEIGHT / figure.get_figheight()
    linear = figure.add_axes((0.072, bottom, 0.424, size))
    logarithmic = figure.add_axes((0.546, bottom, 0.424, size), sharey=linear)
    logarithmic.tick_params(labelleft=False)
    linear.set_ylabel("mean regret", size=11)
    logarithmic.set_xscale("log")
    for axes, name in ((linear, "linear axis"), (logarithmic, "logarithmic axis")):
        _style_axes(axes, rf"rounds $\rho$, {name}")
    return [linear, logarithmic]


def _low_panel(figure: "Figure", top: float) -> "Axes":
    """Add an empty panel below, in which small regrets can be told apart."""
    size = _LOW_PANEL / figure.get_figheight()
    axes = figure.add_axes((0.072, _from_top(figure, top + _LOW_PANEL), 0.898, size))
    axes.set(xscale="log", yscale="log")
    axes.set_ylabel("mean regret", size=11)
    _style_axes(axes, r"rounds $\rho$; both axes logarithmic, so that small regrets are seen")
    return axes


def _style_axes(axes: "Axes", name: str) -> None:
    axes.set_xlabel(name, size=11)
    axes.grid(visible=True, color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=10, color=GREY)


def _describe_problem(world: World) -> str:
    """Describe the problem in one line."""
    problem = world.paper
    if problem is None:
        line = describe_world(world).replace("$", r"\$")
        line = line.replace("p_C", "$p_C$").replace("p_F", "$p_F$")
        return textwrap.shorten(line, _MOST_SAID, placeholder=" ...")
    where = {
        Region.EXPLORATION: "exploration region: never finishing is optimal (threshold 0)",
        Region.NO_EXPLORATION: "no-exploration region: FINISH in state 1 is optimal (threshold 1)",
    }[region(problem)]
    return f"G = {problem.goal:,}, $p_C$ = {problem.p_c:g}, $p_F$ = {problem.p_f:g}; {where}"


def _draw(axes: "Axes", simulation: Simulation, one: _Drawn) -> "Line2D":
    """Draw a learner's curve and band in one panel; return the curve for the legend."""
    rounds = simulation.checkpoints
    marker = "o" if len(rounds) == 1 else ""
    (line,) = axes.plot(
        rounds, one.mean, color=one.colour, linestyle=one.dashes, linewidth=1.9, marker=marker
    )
    line.set(label=f"curve of {one.name}", zorder=3, dash_capstyle="butt")
    if simulation.replicas > 1 and not np.isnan(one.high).any():
        band = axes.fill_between(rounds, one.low, one.high, color=one.colour, linewidth=0)
        band.set(label=f"band of {one.name}", alpha=0.22, zorder=2)
    return line


def _draw_theory(axes: "Axes", theory: _Line) -> "Line2D":
    (line,) = axes.plot(theory.x, theory.y, color=INK, linestyle=theory.dashes, linewidth=1.0)
    line.set(label=theory.label, zorder=4)
    return line


def _scale(axes: "Axes", simulation: Simulation, drawn: Sequence[_Drawn], top: float) -> None:
    """Set the limits and ticks of a panel, whose rounds are linear or logarithmic."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator  # noqa: PLC0415

    last, axis = simulation.rounds, axes.xaxis
    if _is_logarithmic(axes):
        _scale_regret(axes, drawn)
    else:
        lowest = min(float(np.fmin(one.mean, one.low).min()) for one in drawn)
        # A little below 0, so that a curve that stays there is not hidden by the axis.
        axes.set_ylim(min(0.0, lowest) - 0.02 * top, top)
    if axes.get_xscale() == "log":
        axes.set_xlim(*((1.0, last) if last > 1 else (0.5, 2.0)))
        decades = math.floor(math.log10(last) + 1e-9)
        powers = [10.0**k for k in range(0, decades + 1, 1 + decades // 7)]
        axis.set_major_locator(FixedLocator(powers if decades else sorted({1.0, last})))
        minor = [m * 10.0**k for k in range(decades + 1) for m in range(2, 10) if decades < 7]
        axis.set_minor_locator(FixedLocator([x for x in minor if x <= last]))
        axis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    else:
        axes.set_xlim(0.0, max(last, 2))
        axis.set_major_locator(MaxNLocator(5, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda x, _: format_tick(x)))


def _scale_regret(axes: "Axes", drawn: Sequence[_Drawn]) -> None:
    """Set the limits and ticks of a logarithmic scale of regret, on which every curve is seen."""
    from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: PLC0415

    ends = [float(one.mean[-1]) for one in drawn if one.mean[-1] > 0.0] or [1.0]
    axes.set_ylim(_BELOW_LOWEST * min(ends), 2.0 * max(ends))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda y, _: format_tick(y) if y >= 1.0 else f"{y:g}")
    )
    axes.yaxis.set_minor_locator(NullLocator())
