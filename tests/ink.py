"""Legibility measured in ink: each piece is drawn alone, and the pixels it covers compared."""

from itertools import combinations
from typing import Any, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

Pixels = NDArray[np.bool_]


class Ink:
    """The pixels that parts of one figure cover when each is drawn alone."""

    def __init__(self, figure: Figure) -> None:
        # Any: Matplotlib does not say the types of a canvas.
        self.canvas = cast("Any", FigureCanvasAgg(figure))
        self.canvas.draw()  # the legend finds its place
        self.page = np.asarray(self.canvas.buffer_rgba())[:, :, :3].copy()

    def of(self, *parts: Artist) -> Pixels:
        renderer = self.canvas.get_renderer()
        renderer.clear()
        for part in parts:
            part.draw(renderer)
        covered: Pixels = np.asarray(self.canvas.buffer_rgba())[:, :, 3] > 0
        assert covered.any(), f"nothing of {parts} is on the page"
        return covered

    def touch(self, parts: dict[str, Pixels]) -> list[tuple[str, str]]:
        return [
            (a, b)
            for (a, ink_a), (b, ink_b) in combinations(parts.items(), 2)
            if (ink_a & ink_b).any()
        ]

    def at_the_edge(self) -> bool:
        """Whether anything but white is within three pixels of the edge of the page."""
        inner = np.zeros(self.page.shape[:2], dtype=bool)
        inner[3:-3, 3:-3] = True
        return bool((self.page[~inner] != 255).any())
