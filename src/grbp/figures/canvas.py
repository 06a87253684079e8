"""What every figure shares: Matplotlib on demand, a few colours, a title, and the way to files.

There is no pyplot and no global figure: a drawing function's figure belongs to its caller.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grbp._io import check_file_name, write_together
from grbp.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#1a1a1a"
GREY: Final = "#555555"

_STYLE: Final = {
    "font.size": 11.0,
    "legend.frameon": False,
    "legend.borderaxespad": 0.0,
    # Outlines instead of letters: the same picture where our font is not installed.
    "svg.fonttype": "path",
    # Names inside the file are otherwise drawn at random.
    "svg.hashsalt": "grbp",
}

_UNSAID: Final = {
    "png": ("Software",),
    "svg": ("Creator", "Date", "Format", "Type"),
}
"""Neither the day nor the version of the software: the same picture is the same file."""


@contextmanager
def drawing() -> Iterator[None]:
    """Give Matplotlib its own defaults and ours, whatever the user has set, for one block."""
    try:
        from matplotlib import style  # noqa: PLC0415 (optional, and slow to import)
    except ImportError as error:
        raise MissingExtra(
            "drawing a figure needs Matplotlib, which is not installed; install grbp[plots]"
        ) from error
    with style.context(["default", _STYLE]):
        yield


def check_axes(axes: object) -> None:
    """Refuse what nothing can be drawn into."""
    from matplotlib.axes import Axes  # noqa: PLC0415

    if not isinstance(axes, Axes):
        raise InvalidInput(f"ax = {axes!r} was given; it must be Matplotlib axes")


def fit_words(axes: "Axes", inches: float) -> None:
    """Make words smaller where axes are narrower than those for which they were laid out."""
    from matplotlib.text import Text  # noqa: PLC0415

    axes.apply_aspect()
    part = axes.get_window_extent().width / axes.figure.dpi / inches
    if part < 1.0:
        for text in axes.findobj(Text):
            text.set_fontsize(part * float(text.get_fontsize()))


def write_title(figure: "Figure", title: str, left: float = 0.055) -> None:
    """Write a title at the top of a figure, as it is: no formula is read into it."""
    y = 1.0 - 0.13 / figure.get_figheight()
    text = figure.text(left, y, title, va="top", size=13, color=INK)
    text.set(parse_math=False, weight="bold")


def render(figure: "Figure") -> dict[str, bytes]:
    """Return the contents of the files of a figure by their kind, "png" and "svg".

    The same figure gives the same bytes each time.
    """
    pictures = {}
    for kind, unsaid in _UNSAID.items():
        file = io.BytesIO()
        with drawing():
            figure.savefig(file, format=kind, dpi=200, metadata=dict.fromkeys(unsaid))
        pictures[kind] = file.getvalue()
    return pictures


def write_pictures(pictures: dict[str, bytes], path: Path) -> list[Path]:
    """Write what `render` returned to path.png and path.svg, both of them or neither."""
    stem = stem_of(path)
    return write_together(
        {stem.with_name(f"{stem.name}.{kind}"): pictures[kind] for kind in pictures}
    )


def save(figure: "Figure", path: Path) -> list[Path]:
    """Write a figure to path.png and path.svg, both of them or neither; return their paths."""
    return write_pictures(render(figure), path)


def stem_of(path: Path) -> Path:
    """Return the path of a picture without its .png or .svg."""
    check_file_name(path)
    return path.with_suffix("") if path.suffix in (".png", ".svg") else path
