"""Figures 3 and 4: what learners regret, round by round, beside what theory says."""

import math
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np

from grbp.errors import InvalidInput
from grbp.experiments.simulation import Simulation
from grbp.figures.canvas import GREY, INK, drawing
from grbp.learners.getbe import SAMPLE_MEAN, Control
from grbp.model.problem import Problem
from grbp.numerics.arrays import Floats
from grbp.theory.bounds import getbe_bound
from grbp.theory.values import Region, optimal_threshold, region, value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FIVE = ("getbe-sm", "getbe-ps", "getbe-ucb", "ps-polselection", "ucb-polselection")
"""The learners that the paper draws; the picture is as high as they need."""

Dashes: TypeAlias = str | tuple[int, tuple[float, ...]]

_SOLID: Dashes = "-"
_DASHED: Dashes = (0, (5.0, 1.6))
_DASH_DOT: Dashes = (0, (6.0, 1.5, 1.2, 1.5))
_DOTTED: Dashes = (0, (1.2, 1.2))

_LOOK: dict[str, tuple[str, Dashes]] = {
    # The doorstep family is black, as no other is.
    "doorstep-lai": ("#000000", _SOLID),
    "doorstep-bayes": ("#000000", _DASHED),
    "doorstep-kl": ("#000000", _DASH_DOT),
    "doorstep-sm": ("#000000", _DOTTED),
    # A family is a colour of the Okabe-Ito palette, a way to decide a style: sample means are
    # solid, posterior sampling is dashed, upper confidence bounds are dashed and dotted.
    "getbe-sm": ("#0072B2", _SOLID),
    "getbe-ps": ("#009E73", _DASHED),
    "getbe-ucb": ("#56B4E9", _DASH_DOT),
    "ps-polselection": ("#E69F00", _DASHED),
    "ucb-polselection": ("#D55E00", _DASH_DOT),
    "no-explore": ("#CC79A7", _DOTTED),
    # These are of Paul Tol's muted palette.
    "ucb1-policies": ("#882255", _SOLID),
    "kl-ucb": ("#332288", _DASH_DOT),
    "bayes-ucb": ("#999933", _DASH_DOT),
    "epsilon-greedy": ("#AA4499", _SOLID),
    "explore-then-commit": ("#117733", _DOTTED),
    "oracle": ("#555555", _DOTTED),
}

_OTHER_COLOURS = ("#332288", "#882255", "#999933", "#AA4499", "#117733", "#0072B2", "#D55E00")
_OTHER_DASHES: tuple[Dashes, ...] = (
    (0, (9.0, 2.0)),
    (0, (3.0, 1.2, 1.0, 1.2, 1.0, 1.2)),
    (0, (2.4, 1.4)),
    (0, (8.0, 1.5, 3.0, 1.5)),
    (0, (1.0, 2.4)),
)

_FAR_ABOVE = 1.5
"""From how many times the largest regret of the paper's five on a curve is let out of sight."""

_HEADROOM = 1.15

_WIDTH, _PANEL_HEIGHT, _LINE = 9.6, 3.5, 0.215
"""Inches: the figure's width, a panel's height, and a line of small print."""

_LONGEST_NAME = 48


def regret_figure(simulation: Simulation, title: str = "") -> "Figure":
    """Mean regret against rounds, on a linear and on a logarithmic axis, a curve a learner.

    The shade around a curve holds the whole of the true mean curve with 95% confidence. The
    legend lists the learners from the largest regret at the last round to the smallest. A
    curve far above those of the paper's five leaves the picture, and the legend says so.

    Theory stands beside the curve of getbe-sm: where never finishing is optimal, the slope
    gamma (V* - p_f) in log(round), drawn through the last point; Theorem 3's bound where it
    applies, and where it does not, a line that says why.

    Paper: fig:regretinf
    Paper: fig:closetobound
    Differs: a logarithmic axis and confidence bands beside the paper's layout.
    """
    if not simulation.curves:
        raise InvalidInput("a simulation of no learner was given; there must be one or more")
    drawn = _drawn_curves(simulation)
    top = _top(drawn)
    theory = _theory(simulation)
    entries = [_entry(one, top) for one in drawn]
    entries += [line.label + _leaves(float(line.y.min()), top) for line in theory.lines]
    columns = _columns(entries)
    rows = 1 + -(-len(entries) // columns)
    notes = _notes(simulation, theory)
    with drawing():
        figure, panels = _panels(simulation, title, rows, notes)
        for axes in panels:
            handles = [_draw(axes, simulation, one) for one in drawn]
            handles += [_draw_theory(axes, line) for line in theory.lines]
        lowest = min(float(one.low.min()) for one in drawn)
        # A little below 0, lest a curve that stays there is lost in the axis.
        _scale(panels, simulation, min(0.0, lowest) - 0.02 * top, top)
        legend = figure.legend(
            handles,
            # A name that starts with an underscore would be left out: written afterwards.
            ["."] * len(handles),
            loc="upper left",
            bbox_to_anchor=(0.055, _from_top(figure, _legend_top(title))),
            borderaxespad=0.0,
            borderpad=0.0,
            frameon=False,
            ncols=columns,
            fontsize=9.5,
            handlelength=3.4,
            labelspacing=0.45,
            columnspacing=2.4,
            title=f"mean regret after {rounds_in_words(simulation)}",
            title_fontsize=9.5,
            alignment="left",
        )
        legend.get_title().set(color=GREY)
        for i, (text, entry) in enumerate(zip(legend.get_texts(), entries, strict=True)):
            text.set(text=entry, parse_math=i >= len(drawn), color=INK)
        return figure


def look_of(names: Sequence[str]) -> dict[str, tuple[str, Dashes]]:
    """The colour and the line style of every learner, whatever others are in the figure.

    A learner of this package has its own; another one gets those that its name leads to. Only
    where two such names lead to the same does the later one move on to the next that is free.
    """
    looks = [(colour, dashes) for dashes in _OTHER_DASHES for colour in _OTHER_COLOURS]
    given: dict[str, tuple[str, Dashes]] = {}
    for name in names:
        if name in _LOOK:
            given[name] = _LOOK[name]
            continue
        first = crc32(name.encode("utf-8", "replace")) % len(looks)
        ring = looks[first:] + looks[:first]
        given[name] = next((look for look in ring if look not in given.values()), ring[0])
    return given


def rounded(number: float, beside: float | None = None) -> str:
    """A number as figures and tables write it: three digits or so, thousands set off.

    Beside another number it has as many decimals as that one.
    """
    size = max(abs(number), 0.0 if beside is None else abs(beside))
    decimals = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    if size >= 1e9 or not math.isfinite(size):
        said = f"{number:.3g}"
    elif 0.0 < abs(number) < 0.5 * 10.0**-decimals:
        # What is small must not read as nothing.
        said = f"{number:.1g}"
    else:
        said = f"{number:,.{decimals}f}"
    return said.replace("-", "\N{MINUS SIGN}")


def rounds_in_words(simulation: Simulation) -> str:
    """How many rounds a simulation has, as figures and tables write it: "5,000 rounds"."""
    last = simulation.rounds
    return f"{_tick(last)} rounds" if last > 1 else "1 round"


class _Drawn(NamedTuple):
    """One learner's curve, ready to be drawn."""

    name: str
    mean: Floats
    low: Floats
    high: Floats
    colour: str
    dashes: Dashes


class _Line(NamedTuple):
    """A line of theory, and what the legend says of it."""

    x: Floats
    y: Floats
    dashes: Dashes
    label: str


class _Theory(NamedTuple):
    lines: list[_Line]
    note: str


def _drawn_curves(simulation: Simulation) -> list[_Drawn]:
    """The curves from the largest regret at the last round to the smallest."""
    looks = look_of(list(simulation.curves))
    drawn = [
        _Drawn(name, curve.mean, *curve.band(), *looks[name])
        for name, curve in simulation.curves.items()
    ]
    return sorted(drawn, key=lambda one: (-one.mean[-1], one.name))


def _top(drawn: Sequence[_Drawn]) -> float:
    """The upper end of the y axis: all that is drawn, unless a curve is far above the five."""
    all_of_it = max(float(one.high.max()) for one in drawn)
    five = max((float(one.high.max()) for one in drawn if one.name in FIVE), default=all_of_it)
    if five <= 0.0 or all_of_it <= _FAR_ABOVE * five:
        five = all_of_it
    return _HEADROOM * five if five > 0.0 else 1.0


def _entry(one: _Drawn, top: float) -> str:
    """What the legend says of a learner: name, regret at the last round, band, and if it
    leaves the picture.
    """  # noqa: D205
    name = one.name if len(one.name) <= _LONGEST_NAME else one.name[: _LONGEST_NAME - 1] + "…"
    half = float(one.high[-1] - one.mean[-1])
    entry = f"{' '.join(name.split())}: {rounded(float(one.mean[-1]))}"
    entry += f" ± {rounded(half, float(one.mean[-1]))}" if half > 0.0 else ""
    return entry + _leaves(float(one.mean.max()), top)


def _leaves(y: float, top: float) -> str:
    return " (↑ leaves the picture)" if y > top else ""


def _theory(simulation: Simulation) -> _Theory:
    """What is known of getbe-sm's regret, where it was simulated."""
    name, problem = SAMPLE_MEAN.name, simulation.problem
    if name not in simulation.curves:
        return _Theory([], "")
    gamma = Control().gamma
    last = simulation.rounds
    lines = []
    if optimal_threshold(problem) == 0:
        lines += _guide(problem, gamma, last, float(simulation.curves[name].mean[-1]))
    theorem = getbe_bound(problem, gamma, last)
    if not theorem.applies:
        return _Theory(lines, f"Theorem 3 gives no bound for {name} here: {theorem.why}.")
    bound = [getbe_bound(problem, gamma, int(look)).regret_bound for look in simulation.checkpoints]
    label = f"theory: Theorem 3, {name} at most {rounded(bound[-1])} at the last round"
    lines.append(_Line(simulation.checkpoints.astype(float), np.array(bound), _DOTTED, label))
    return _Theory(lines, "")


def _guide(problem: Problem, gamma: float, last: int, regret: float) -> list[_Line]:
    """The growth that forced exploration alone costs: gamma tries a unit of log, V* - p_f each.

    It is drawn through the regret at the last round, back to where it would start from 0; not
    where so few rounds were played that the tries may not yet have come up with gamma log(rho).
    """
    slope = gamma * (value(problem, 0) - problem.p_f)
    if last <= max(1.0, 2.0 * gamma * math.log(last)) or slope <= 0.0 or regret <= 0.0:
        return []
    first = max(1.0, last * math.exp(-regret / slope))
    x = np.geomspace(first, last, 200)
    label = (
        rf"theory: slope $\gamma$ ($V^*-p_F$) = {slope:.2f} per unit of log $\rho$,"
        rf" $\gamma$ = {gamma:g}"
    )
    return [_Line(x, regret + slope * np.log(x / last), (0, (3.0, 2.4)), label)]


def _notes(simulation: Simulation, theory: _Theory) -> list[str]:
    """The lines of small print under the legend."""
    priced = {
        "pseudo": "A round is priced by what its policy loses on average.",
        "realised": "Realised regret: a round is priced by what was lost in fact.",
        "by-start": "A round is priced by what its policy loses from the state it started in.",
    }[simulation.kind]
    sure = "One run: nothing is said of confidence."
    if simulation.replicas > 1:
        sure = (
            f"Means of {simulation.replicas:,} runs; a shade, and ± in the legend, holds the"
            " whole true curve with 95% confidence."
        )
    notes = (sure, priced, theory.note)
    return [line for note in notes for line in textwrap.wrap(note, 124)]


def _columns(entries: Sequence[str]) -> int:
    """In how many columns the entries of the legend fit side by side, two at most."""
    # What a formula is written with is longer than what is seen of it.
    seen = [len(re.sub(r"\\[a-z]+", "x", entry.replace("$", ""))) for entry in entries]
    half = -(-len(seen) // 2)
    widest = max(seen[:half]) + max(seen[half:], default=0)
    return 2 if len(seen) > 3 and widest <= 96 else 1


def _legend_top(title: str) -> float:
    """How many inches below the top of the figure the legend starts."""
    return (0.87 if title else 0.55) + _PANEL_HEIGHT + 0.67


def _from_top(figure: "Figure", inches: float) -> float:
    return float(1.0 - inches / figure.get_figheight())


def _panels(
    simulation: Simulation, title: str, rows: int, notes: Sequence[str]
) -> "tuple[Figure, list[Axes]]":
    """A new figure with two empty panels, all that is written around them, and room for the
    legend.
    """  # noqa: D205
    from matplotlib.figure import Figure  # noqa: PLC0415

    small_print = _legend_top(title) + rows * _LINE + 0.06
    figure = Figure(figsize=(_WIDTH, small_print + 0.19 * len(notes) + 0.14))
    height = figure.get_figheight()
    bottom = _from_top(figure, _legend_top(title) - 0.67)
    size = _PANEL_HEIGHT / height
    linear = figure.add_axes((0.072, bottom, 0.424, size))
    logarithmic = figure.add_axes((0.546, bottom, 0.424, size), sharey=linear)
    logarithmic.tick_params(labelleft=False)
    linear.set_ylabel("mean regret", size=11)
    for axes, name in ((linear, "linear axis"), (logarithmic, "logarithmic axis")):
        axes.set_xlabel(rf"rounds $\rho$, {name}", size=11)
        axes.grid(visible=True, color="#e2e2e2", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=10, color=GREY)
    start = 0.055
    if title:
        shown = figure.text(start, _from_top(figure, 0.13), title, va="top", size=13, color=INK)
        shown.set(parse_math=False, weight="bold")
    line = _setting(simulation.problem)
    y = _from_top(figure, 0.47 if title else 0.15)
    figure.text(start, y, line, va="top", size=10, color=GREY)
    for i, note in enumerate(notes):
        y = _from_top(figure, small_print + 0.19 * i)
        figure.text(start, y, note, va="top", size=8.5, color=GREY, parse_math=False)
    return figure, [linear, logarithmic]


def _setting(problem: Problem) -> str:
    """The problem in one line."""
    where = {
        Region.EXPLORATION: "exploration region: never finishing is optimal (threshold 0)",
        Region.NO_EXPLORATION: "no-exploration region: FINISH in state 1 is optimal (threshold 1)",
    }[region(problem)]
    return f"G = {problem.goal:,}, $p_C$ = {problem.p_c:g}, $p_F$ = {problem.p_f:g}; {where}"


def _draw(axes: "Axes", simulation: Simulation, one: _Drawn) -> "Line2D":
    """A learner's curve and band in one panel; the curve is what the legend shows."""
    rounds = simulation.checkpoints
    marker = "o" if len(rounds) == 1 else ""
    (line,) = axes.plot(
        rounds, one.mean, color=one.colour, linestyle=one.dashes, linewidth=1.9, marker=marker
    )
    line.set(label=f"curve of {one.name}", zorder=3, dash_capstyle="butt")
    band = axes.fill_between(rounds, one.low, one.high, color=one.colour, alpha=0.22, linewidth=0)
    band.set(label=f"band of {one.name}", zorder=2)
    return line


def _draw_theory(axes: "Axes", theory: _Line) -> "Line2D":
    (line,) = axes.plot(theory.x, theory.y, color=INK, linestyle=theory.dashes, linewidth=1.0)
    line.set(label=theory.label, zorder=4)
    return line


def _scale(panels: "Sequence[Axes]", simulation: Simulation, low: float, top: float) -> None:
    """The limits and ticks of both panels."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator  # noqa: PLC0415

    linear, logarithmic = panels
    last = simulation.rounds
    linear.set_ylim(low, top)
    linear.set_xlim(0.0, max(last, 2))
    linear.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    logarithmic.set_xscale("log")
    logarithmic.set_xlim(*((1.0, last) if last > 1 else (0.5, 2.0)))
    decades = math.floor(math.log10(last) + 1e-9)
    powers = [10.0**k for k in range(0, decades + 1, 1 + decades // 7)]
    logarithmic.xaxis.set_major_locator(FixedLocator(powers if decades else sorted({1.0, last})))
    minor = [m * 10.0**k for k in range(decades + 1) for m in range(2, 10)] if decades < 7 else []
    logarithmic.xaxis.set_minor_locator(FixedLocator([x for x in minor if x <= last]))
    logarithmic.xaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    for axis in (linear.xaxis, logarithmic.xaxis):
        axis.set_major_formatter(FuncFormatter(lambda x, _: _tick(x)))


def _tick(x: float) -> str:
    return f"{x:,.0f}" if x < 1e6 else f"{x:.3g}".replace("e+0", "e").replace("e+", "e")
