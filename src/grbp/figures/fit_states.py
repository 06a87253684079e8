"""The probabilities state by state, with how often each action was tried."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from grbp.figures.canvas import GREY, drawing_style, fit_words
from grbp.figures.frame import (
    CONTINUE,
    FINISH,
    INSIDE,
    WORDS,
    in_percent,
    legend_below,
    new_axes,
    shorten,
)
from grbp.fitting.estimates import Proportion
from grbp.numerics.arrays import Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from grbp.fitting.result import Fit

_MOST_TICKS: Final = 8
"""States that have their counts below them."""

_MANY_STATES: Final = 20
"""More states than that have smaller marks, and neighbours share their hatching."""


_LETTERS: Final = 40
"""Letters that have room above all states together."""


class _Kind(NamedTuple):
    """How an action is drawn by state, and where a fit keeps its counts."""

    tries: str
    wins: str
    pooled: str
    word: int
    done: str
    marker: str
    sign: str
    colour: str
    aside: float


_ACTIONS: Final = (
    _Kind("c", "c_up", "p_c", 0, "moved up", "o", "\N{BLACK CIRCLE}", CONTINUE, -0.2),
    _Kind("f", "f_goal", "p_f", 1, "won", "s", "\N{BLACK SQUARE}", FINISH, 0.2),
)


def states_figure(fit: "Fit", ax: "Axes | None" = None) -> "Figure":
    """Draw p_C and p_F by state with their intervals, and how often each action was tried.

    The lines are the estimates over all states; what was never tried is hatched. Of many
    states, some have their counts below them.

    Parameters
    ----------
    fit : Fit
        What `grbp.fit` returned.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, instead of a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with drawing_style():
        axes = new_axes(ax, height=4.7, below=1.5, above=0.35 if any(fit.labels.states) else 0.15)
        states = np.array([row.state for row in fit.by_state])
        for one in _ACTIONS:
            _draw_action(axes, fit, one)
        if any(not (row.c and row.f) for row in fit.by_state):
            axes.fill_between([], [], facecolor="none", edgecolor=GREY, hatch="////",
                              linewidth=0, label="hatched: never tried")  # fmt: skip
        shown = fit.by_state[:: -(-len(states) // _MOST_TICKS)]
        axes.set_xticks(
            [row.state for row in shown],
            [f"{row.state}\n{_format_count(row.c)}\n{_format_count(row.f)}" for row in shown],
        )
        names = {"state": GREY} | {f"{one.sign} tries": WORDS[one.word] for one in _ACTIONS}
        for line, (words, colour) in enumerate(names.items()):
            name = axes.annotate(words, (0.0, 0.0), xycoords="axes fraction", ha="right", va="top")
            name.set(position=(-4.0, -7.0 - 13.2 * line), size=10, color=colour)
            name.set_anncoords("offset points")
        _name_states(axes, fit, [row.state for row in shown])
        aside = max(0.5, 0.06 * len(states))
        axes.set(ylim=(0.0, 1.0), xlim=(1.0 - aside, states[-1] + aside))
        axes.set_ylabel("share that succeeded")
        in_percent(axes.yaxis)
        legend_below(axes, 0.75)
        fit_words(axes, INSIDE)
        return cast("Figure", axes.figure)


def _draw_action(axes: "Axes", fit: "Fit", one: _Kind) -> None:
    """Draw the shares of an action by state, that of all states, and where it was never tried."""
    pooled = getattr(fit, one.pooled)
    if pooled is not None and pooled.estimate is not None:
        axes.axhspan(*pooled.interval, color=one.colour, alpha=0.13, linewidth=0)
        # FINISH is dashed, as everywhere.
        dashes = ("-", "--")[one.word]
        axes.axhline(pooled.estimate, color=one.colour, linewidth=0.9, linestyle=dashes)
    shares = {
        row.state: Proportion(getattr(row, one.wins), tries, fit.level, fit.adaptive)
        for row in fit.by_state
        if (tries := getattr(row, one.tries))
    }
    many, words = len(fit.by_state) > _MANY_STATES, shorten(fit.labels.actions[one.word], 20)
    if shares:
        at = np.array(list(shares)) + one.aside
        low, high = zip(*(share.interval for share in shares.values()), strict=True)
        axes.vlines(at, low, high, color=one.colour, linewidth=min(1.8, 60.0 / len(fit.by_state)))
        share = [share.successes / share.tries for share in shares.values()]
        (mark,) = axes.plot(at, share, one.marker, color=one.colour, clip_on=False)
        mark.set(
            markersize=3 if many else 6, zorder=4, label=f"{words} {one.done}, with its interval"
        )
    never = np.array([row.state for row in fit.by_state if row.state not in shares], dtype=np.int64)
    for first, last in _group_states(never, merge=many):
        axes.axvspan(first + one.aside - 0.2, last + one.aside + 0.2, facecolor="none",
                     edgecolor=one.colour, hatch="////", alpha=0.45, linewidth=0)  # fmt: skip


def _name_states(axes: "Axes", fit: "Fit", states: Sequence[int]) -> None:
    """Write the table's own words for states above the axes, as far as there is room."""
    for state in states if fit.labels.states else ():
        words = shorten(fit.labels.states[state], max(3, _LETTERS // len(states)))
        name = axes.annotate(words, (state, 1.0), xycoords=("data", "axes fraction"), ha="center")
        name.set(position=(0.0, 5.0), size=10, color=GREY, va="bottom")
        name.set_anncoords("offset points")


def _group_states(states: Ints, merge: bool) -> list[tuple[int, int]]:
    """Return the first and the last of consecutive states, or of each state alone."""
    cuts = np.flatnonzero(np.diff(states) > (1 if merge else 0)) + 1
    return [(int(run[0]), int(run[-1])) for run in np.split(states, cuts) if len(run)]


def _format_count(count: int) -> str:
    """Write a count in few letters: 9,999 and 45k and 1.2M."""
    if count < 10**4:
        return f"{count:,}"
    return f"{count / 1e3:.3g}k" if count < 999_500 else f"{count / 1e6:.3g}M"
