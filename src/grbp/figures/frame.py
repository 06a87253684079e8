"""What the pictures of past cases and of plans share: their size, colours, ticks and legend.

Each is five inches wide with letters of ten points and more, so that it reads on a telephone.
"""

from typing import TYPE_CHECKING, Final

from grbp._palette import PALETTE
from grbp.figures.canvas import check_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from grbp.worlds.labels import Labels

_WIDTH: Final = 5.0
_LEFT: Final = 0.85
_RIGHT: Final = 0.3
INSIDE: Final = _WIDTH - _LEFT - _RIGHT
"""Inches: the width of a figure, the room beside its axes, and the width for which words fit."""

CONTINUE: Final = PALETTE["continue-line"].light
FINISH: Final = PALETTE["finish-line"].light
"""The colours of the two actions: of lines and marks."""

WORDS: Final = PALETTE["continue"].light, PALETTE["finish"].light
"""The colours of words on the two actions, which are darker."""

TINTS: Final = {0: PALETTE["continue-tint"].light, 1: PALETTE["finish-tint"].light}
"""The regions of the two thresholds: where CONTINUE is right in state 1, and where FINISH is."""


def new_axes(
    axes: "Axes | None", height: float, below: float, left: float = _LEFT, above: float = 0.15
) -> "Axes":
    """Return the axes to draw into: those of a new figure of this height, if there are none."""
    from grbp.figures.notebook import Figure  # noqa: PLC0415

    if axes is None:
        wide, high = (_WIDTH - left - _RIGHT) / _WIDTH, 1.0 - (below + above) / height
        place = (left / _WIDTH, below / height, wide, high)
        axes = Figure(figsize=(_WIDTH, height)).add_axes(place)
    check_axes(axes)
    return axes


def in_percent(*axes: "Axis") -> None:
    """Write the ticks of axes in percent."""
    for axis in axes:
        axis.set_major_formatter(lambda share, _: f"{100.0 * share:.6g}\xa0%")


def legend_below(axes: "Axes", inches: float, ncols: int = 1) -> None:
    """Put the legend under the axes, where no curve can be."""
    height = axes.get_window_extent().height / axes.figure.dpi
    axes.legend(
        loc="upper left", bbox_to_anchor=(0.0, -inches / height), ncols=ncols, fontsize=10,
        columnspacing=1.2, handlelength=1.6, labelspacing=0.35,
    )  # fmt: skip


def shorten(words: str, most: int) -> str:
    """Cut words of a table's own where a picture has no room, and read no formula into them."""
    cut = words if len(words) <= most else f"{words[: most - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}"
    return " ".join(cut.split()).replace("$", r"\$")


def short_labels(labels: "Labels", most: int) -> "Labels":
    """Return labels with every word cut to so many letters."""
    go, end = (shorten(word, most) for word in labels.actions)
    return labels._replace(
        states=tuple(shorten(word, most) for word in labels.states), actions=(go, end)
    )
