"""A Matplotlib figure that a notebook shows by itself; imported when something is drawn.

Notebooks know how to show a figure once pyplot is loaded, which nothing here needs.
"""

import io

from matplotlib.figure import Figure as PlainFigure

from grbp.figures.canvas import drawing_style

_DPI = 80
"""Dots per inch in a notebook: the widest figure fits into it, and a saved notebook stays small."""


class Figure(PlainFigure):
    """A figure with the picture that IPython asks an object for."""

    def _repr_png_(self) -> bytes:
        return png_of(self)


def png_of(figure: PlainFigure) -> bytes:
    """Return a figure as a PNG for the screen; the same figure gives the same bytes."""
    file = io.BytesIO()
    with drawing_style():
        figure.savefig(file, format="png", dpi=_DPI, metadata={"Software": None})
    return file.getvalue()
