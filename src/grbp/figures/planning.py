"""What a plan expects: how soon the right policy is played and known, and what that costs."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, cast

from grbp._palette import PALETTE
from grbp.errors import InvalidInput
from grbp.figures.canvas import GREY, INK, LINE, check_axes, drawing_style, fit_words
from grbp.figures.frame import INSIDE, in_percent, legend_below, new_axes
from grbp.figures.numbers import format_tick
from grbp.figures.style import DASHED, DOTTED, SOLID, Dashes
from grbp.planning.models import ModelPlan
from grbp.planning.operating_characteristics import Outlook, Truth
from grbp.planning.printed_plan import rank_needs
from grbp.planning.result import Plan
from grbp.theory.posterior import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _LEFT, _PANEL, _ABOVE, _BELOW = 5.0, 0.95, 1.75, 0.65, 1.35
"""Inches: the width, the room on the left, a panel's height, and the room above and below it."""

_ROW: Final = 0.34
"""Inches: the height of a truth's row."""

_MOST_ROWS: Final = 12

_MOST_TICKS: Final = 5
"""Powers of ten at an axis, beside the first."""

_PLUM: Final = PALETTE["plum"].light
_TEAL: Final = PALETTE["teal"].light
"""Colours that are of no action."""

_THREE: Final[tuple[tuple[str, Dashes], ...]] = (
    (_PLUM, SOLID), (_TEAL, DASHED), (INK, DOTTED),
)  # fmt: skip
"""The looks of three truths, the worst first."""


def choose_truths(plan: Plan, rank: Callable[[Outlook], float]) -> list[Truth]:
    """Choose the truths that are drawn: the lowest in the end, the middle one, the highest."""
    last = plan.cases[-1]
    ranked = sorted(plan.truths, key=lambda truth: rank(truth.at(last)))
    return [ranked[k] for k in sorted({0, len(ranked) // 2, len(ranked) - 1})]


def knowing_figure(plan: Plan, ax: "Axes | None" = None) -> "Figure":
    """Draw how many studies play the right policy, and how many know it, by the number of cases.

    There is a panel for the truth of which least is known in the end, for the middle one and for
    that of which most is known.

    Parameters
    ----------
    plan : Plan
        What `grbp.plan` returned.
    ax : matplotlib.axes.Axes, optional
        Axes to draw the first of these panels into, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
    """
    truths = choose_truths(plan, lambda one: one.known.estimate)[: None if ax is None else 1]
    with drawing_style():
        panels = _make_panels(len(truths)) if ax is None else [ax]
        for axes, truth in zip(panels, truths, strict=True):
            check_axes(axes)
            _draw_curves(axes, plan, truth)
        last = panels[-1]
        last.set_xlabel("cases")
        legend_below(last, 0.5)
        if ax is not None:
            fit_words(ax, INSIDE)
        return cast("Figure", last.figure)


def lost_figure(plan: Plan, ax: "Axes | None" = None) -> "Figure":
    """Draw how many goals learning costs, by the number of cases.

    The truths are that for which it costs most in the end, the middle one and the cheapest.

    Parameters
    ----------
    plan : Plan
        What `grbp.plan` returned.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with drawing_style():
        axes = new_axes(ax, height=3.9, below=1.55)
        truths = choose_truths(plan, lambda one: -one.goals_lost.estimate)
        for truth, (colour, dashes) in zip(truths, _THREE, strict=False):
            ends = [one.goals_lost for one in truth.outlooks]
            _draw_curve(axes, truth.outlooks, ends, _name_truth(truth), colour, dashes)
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        axes.set_ylabel("goals lost by learning")
        axes.set_xlabel("cases")
        _set_case_axis(axes, plan)
        legend_below(axes, 0.6)
        fit_words(axes, INSIDE)
        return cast("Figure", axes.figure)


def models_figure(plan: ModelPlan, ax: "Axes | None" = None) -> "Figure":
    """Draw how many goals a study under each model loses, by the number of cases.

    Parameters
    ----------
    plan : ModelPlan
        What `grbp.plan_models` returned.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with drawing_style():
        models = list(dict.fromkeys(one.model for one in plan.outlooks))
        axes = new_axes(ax, height=3.1 + 0.2 * len(models), below=0.95 + 0.2 * len(models))
        for k, model in enumerate(models):
            colour, dashes = _THREE[k % 3][0], (SOLID, DOTTED)[k // 3 % 2]
            own = [one for one in plan.outlooks if one.model == model]
            lost, cases = [one.lost for one in own], [one.cases for one in own]
            errors = [[x.estimate - x.low for x in lost], [x.high - x.estimate for x in lost]]
            axes.errorbar(
                cases, [x.estimate for x in lost], errors, label=f"a study that {own[0].words}",
                color=colour, linestyle=dashes, marker="o", capsize=3,
            )  # fmt: skip
        axes.set_xlim(left=0.0)
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel("cases")
        axes.set_ylabel("goals lost")
        legend_below(axes, 0.5)
        fit_words(axes, INSIDE)
        return cast("Figure", axes.figure)


def needed_figure(plan: Plan, ax: "Axes | None" = None) -> "Figure":
    """Draw how many cases are enough, and the goals lost by then, beside a trial with two arms.

    There is a row for each truth, the hardest on top; of many truths, the hardest are drawn.

    Parameters
    ----------
    plan : Plan
        What `grbp.plan` returned, when it was asked for `known` or `right`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw the cases into, without the goals, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidInput
        If the plan does not say how many cases are enough.
    """
    ranked = rank_needs(plan)[:_MOST_ROWS]
    truths, needed = [truth for truth, _ in ranked], [one for _, one in ranked]
    if not needed:
        raise InvalidInput(
            "the plan does not say how many cases are enough; plan with known=0.8 or right=0.9"
        )
    with drawing_style():
        high = _ROW * (1 + len(truths))
        panels = _make_panels(2, high, left=1.2) if ax is None else [ax]
        check_axes(panels[0])
        _draw_needs(panels[0], "cases", truths, [(one.cases, one.trial_cases) for one in needed])
        for goals in panels[1:]:
            lost = [(one.goals_lost.estimate, one.trial_goals_lost) for one in needed]
            points = [(Estimate(x, x, x), trial) for x, trial in lost]
            _draw_needs(goals, "goals lost by then", truths, points)
        legend_below(panels[-1], 0.4)
        if ax is not None:
            fit_words(ax, INSIDE)
        return cast("Figure", panels[-1].figure)


def _draw_needs(
    axes: "Axes", what: str, truths: Sequence[Truth], pairs: Sequence[tuple[Estimate, float]]
) -> None:
    """Draw a row for each truth: learning with its interval, and the trial."""
    rows = range(len(truths))
    numbers = [one.estimate for one, _ in pairs]
    least = [one.low if math.isinf(one.estimate) else math.nan for one, _ in pairs]
    for row, (one, _) in zip(rows, pairs, strict=True):
        high = one.high if math.isfinite(one.high) else one.estimate
        axes.plot([one.low, high], [row, row], color=_TEAL, linewidth=2.0)
    axes.plot(numbers, rows, "o", color=_TEAL, label="learning, with its interval")
    if any(map(math.isfinite, least)):
        axes.plot(least, rows, ">", color=_TEAL, label="learning: more than that")
    axes.plot([trial for _, trial in pairs], rows, "D", color=_PLUM, label="a trial with two arms")
    axes.set_xscale("log")
    axes.set_ylim(len(truths) - 0.5, -0.5)
    axes.set_yticks(rows, [f"{truth.p_c:.3g}, {truth.p_f:.3g}" for truth in truths])
    axes.set_title(f"{what}, by truth ($p_C$, $p_F$)", size=11, loc="left")
    drawn = [x for one, trial in pairs for x in (*one, trial) if 0.0 < x < math.inf] or [1.0]
    low, high = math.floor(math.log10(min(drawn))), math.ceil(math.log10(max(drawn)))
    high = max(low + 1, high)
    axes.set_xlim(0.8 * 10.0**low, 1.2 * 10.0**high)
    ticks = range(low, high + 1, 1 + (high - low) // _MOST_TICKS)
    axes.set_xticks([10.0**k for k in ticks])
    axes.xaxis.set_major_formatter(lambda x, _: format_tick(x) if x >= 1.0 else f"{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.grid(visible=True, color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _make_panels(count: int, panel: float = _PANEL, left: float = _LEFT) -> "list[Axes]":
    """Return as many panels of a height, one below the other, with room on the left."""
    from grbp.figures.notebook import Figure  # noqa: PLC0415

    height = count * (panel + _ABOVE) + _BELOW
    figure = Figure(figsize=(_WIDTH, height))
    return [
        figure.add_axes(
            (
                left / _WIDTH,
                (_BELOW + (count - 1 - k) * (panel + _ABOVE)) / height,
                1.0 - (left + 0.3) / _WIDTH,
                panel / height,
            )
        )
        for k in range(count)
    ]


def _draw_curves(axes: "Axes", plan: Plan, truth: Truth) -> None:
    """Draw the curves of one truth."""
    after = truth.outlooks
    level = f"{100.0 * plan.level:.4g} %"
    wrong = "settled on the wrong policy" if plan.stop_at else "was ever sure of the wrong policy"
    for name, ends, colour, dashes in (
        ("plays the right policy", [one.plays_right for one in after], _TEAL, SOLID),
        (f"knows it at {level}", [one.known for one in after], _PLUM, DASHED),
        (wrong, [one.ever_wrongly_sure for one in after], GREY, DOTTED),
    ):
        _draw_curve(axes, after, ends, name, colour, dashes)
    axes.set_ylim(-0.02, 1.02)
    axes.set_yticks([0.0, 0.5, 1.0])
    axes.set_ylabel("of all studies")
    in_percent(axes.yaxis)
    _set_case_axis(axes, plan)
    right = {0: "never FINISH", 1: "FINISH in state 1", None: "either"}[truth.right]
    axes.set_title(f"{_name_truth(truth)}: {right} is right", size=11, loc="left")


def _name_truth(truth: Truth) -> str:
    return f"$p_C$ = {truth.p_c:.3g}, $p_F$ = {truth.p_f:.3g}"


def _draw_curve(
    axes: "Axes", after: Sequence[Outlook], ends: Sequence[Estimate], name: str, colour: str,
    dashes: Dashes,
) -> None:  # fmt: skip
    """Draw a curve with the shade of its interval."""
    x = [one.cases for one in after]
    axes.plot(
        x, [one.estimate for one in ends], label=name, color=colour, linestyle=dashes, linewidth=2.0
    )
    low, high = [one.low for one in ends], [one.high for one in ends]
    axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)


def _set_case_axis(axes: "Axes", plan: Plan) -> None:
    """Set the axis of the cases: logarithmic, with the numbers that were asked about."""
    from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: PLC0415

    first, last = plan.truths[0].outlooks[0].cases, plan.cases[-1]
    axes.set_xscale("log")
    axes.set_xlim(*((first, last) if first < last else (0.5 * last, 2.0 * last)))
    ticks: list[int] = []
    for one in sorted({*plan.cases, first}, reverse=True):
        # Numbers that are less than a factor of two apart would run into each other.
        if not ticks or one * 2 <= ticks[-1]:
            ticks.append(one)
    axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_tick(x)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(visible=True, color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
