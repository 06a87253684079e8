"""The figures of the paper by their numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grbp.errors import InvalidInput
from grbp.figures import boundary_figure, save, transition_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER_FIGURES = {
    1: "what the two actions do in a state",
    2: "the boundary between the exploration and the no-exploration region",
}
"""What each figure shows, by its number; `make reproduce` makes them all."""


def paper_figure(number: int, goals: Sequence[int] = ()) -> "Figure":
    """One figure of the paper, for the goals given; without any, for the usual ones.

    Paper: fig:GRBP
    Paper: fig:Boundary
    """
    if number == 1:
        if len(goals) > 1:
            raise InvalidInput(f"{len(goals)} goals were given; Figure 1 shows one")
        return transition_figure(*goals)
    if number == 2:
        return boundary_figure(goals) if goals else boundary_figure()
    raise InvalidInput(
        f"figure {number!r} was asked for; there is {' and '.join(map(str, PAPER_FIGURES))}"
    )


def save_figure(figure: "Figure", folder: Path, number: int) -> list[Path]:
    """The files a figure was written to: figure-NUMBER.png and .svg in the folder, or neither."""
    return save(figure, folder / f"figure-{number}")
