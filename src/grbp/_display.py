"""Show problems, sessions and results alike: as a data frame, a picture, and in a notebook."""

import base64
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from grbp._format import format_number
from grbp.errors import GrbpError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows: TypeAlias = tuple[Sequence[str], Iterable[Sequence[Any]]]
"""The names of the columns of a table, and its rows."""

_LIBRARIES: Final = ("pandas", "polars")
_MOST_ROWS: Final = 30
"""Rows that a notebook shows of a table."""


class Displayable(ABC):
    """A thing that can be looked at: as a table, as a picture, and in a notebook.

    Each class says which numbers it has, which few of them a notebook shows, and how it is drawn.
    """

    @abstractmethod
    def _table(self) -> Rows:
        """Return all its numbers as a table."""

    @abstractmethod
    def _summary(self) -> Rows:
        """Return the few numbers that a notebook shows."""

    @abstractmethod
    def _draw(self, ax: Any) -> Any:
        """Draw it, into Matplotlib axes or as a figure of its own, and return the figure."""

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
        return make_frame(self._table(), library)

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
        figure: Figure = self._draw(ax)
        return figure

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a line, a short table, and a picture if there is one."""
        columns, summary = self._summary()
        rows = list(summary)
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_format_cell(cell))}</td>" for cell in row) + "</tr>"
            for row in rows[:_MOST_ROWS]
        )
        title, more = repr(self).partition("\n")[0].strip("<>"), len(rows) - _MOST_ROWS
        rest = f"<p>and {more:,} more</p>" if more > 0 else ""
        return (
            f"<div><p>{escape(title)}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{rest}{self._html_picture()}</div>"
        )

    def _html_picture(self) -> str:
        """Return the picture as HTML; nothing if there is none to draw, or no Matplotlib."""
        with suppress(GrbpError):
            figure = self._draw(None)
            from grbp.figures.notebook import png_of  # noqa: PLC0415 (it imports Matplotlib)

            data, words = base64.b64encode(png_of(figure)).decode(), escape(repr(self), quote=True)
            width = round(72 * figure.get_figwidth())
            style = f"max-width: min(100%, {width}px)"
            return f'<img alt="{words}" style="{style}" src="data:image/png;base64,{data}">'
        return ""


def make_frame(table: Rows, library: str | None) -> Any:
    """Return a table as a data frame of a library, or of whichever is installed."""
    if library not in (*_LIBRARIES, None):
        raise InvalidInput(f"library = {library!r} was given; it must be 'pandas' or 'polars'")
    wanted = _LIBRARIES if library is None else (library,)
    found = next((name for name in wanted if find_spec(name) is not None), None)
    if found is None:
        raise MissingExtra(
            f"a data frame needs {' or '.join(wanted)}, which is not installed; install it"
        )
    columns, rows = table
    by_column = list(zip(*rows, strict=True)) or [()] * len(columns)
    return import_module(found).DataFrame(
        {name: list(column) for name, column in zip(columns, by_column, strict=True)}
    )


def _format_cell(cell: object) -> str:
    return format_number(cell) if isinstance(cell, float) else str(cell)
