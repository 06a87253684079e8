"""What problems, sessions and results have in common: they show themselves as others do.

How each of them looks is said in `grbp.views`, which stands above all that it shows and is loaded
when it is first asked.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Shown:
    """A thing that can be looked at: as a table, as a picture, and in a notebook."""

    def to_frame(self, library: str | None = None) -> Any:
        """Return the numbers as a data frame, a row for each line of the table.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            The library whose data frame is made; by default pandas, or else Polars, whichever is
            installed.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame

        Raises
        ------
        MissingExtra
            If the library is not installed.
        """
        return _views().frame_of(self, library)

    def plot(self, ax: "Axes | None" = None) -> "Figure":
        """Draw a picture; it needs Matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw into, instead of a figure of its own.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which a notebook shows by itself.
        """
        figure: Figure = _views().picture_of(self, ax)
        return figure

    def _repr_html_(self) -> str:
        html: str = _views().html_of(self)
        return html


def _views() -> Any:
    return import_module("grbp.views")
