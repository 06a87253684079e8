"""What every figure shares: Matplotlib on demand, a few colours, a title, and the way to files.

There is no pyplot and no global figure: a drawing function's figure belongs to its caller.
"""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grbp._io import check_file_name, write_together
from grbp._palette import PALETTE
from grbp.errors import InvalidInput, MissingExtra, how_to_install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = PALETTE["ink"].light
GREY: Final = PALETTE["soft"].light
LINE: Final = PALETTE["line"].light
PAPER: Final = PALETTE["paper"].light
"""The colours of words, of small print, of a grid and of the ground."""

_STYLE: Final = {
    "font.size": 11.0,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color", "patch.edgecolor"), INK),
    "grid.color": LINE,
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
    "pdf": ("Creator", "Producer", "CreationDate"),
}
"""Neither the day nor the version of the software: the same picture is the same file."""

_BOTH: Final = ("png", "svg")
"""The kinds that a picture is written as, unless its name ends with one."""


@contextmanager
def drawing_style() -> Iterator[None]:
    """Give Matplotlib its own defaults and ours, whatever the user has set, for one block."""
    try:
        from matplotlib import style  # noqa: PLC0415 (optional, and slow to import)
    except ImportError as error:
        raise MissingExtra(
            f"drawing needs Matplotlib, which is not installed; {how_to_install('plots')}"
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


def check_matplotlib() -> None:
    """Refuse to draw where Matplotlib is not installed, before there is anything to draw."""
    with drawing_style():
        pass


def put_title(figure: "Figure", title: str, note: str = "") -> "Figure":
    """Give a figure more room on top for a title, and below for a note; return it."""
    with drawing_style():
        before, below = figure.get_figheight(), 0.4 if note else 0.0
        height = before + 0.5 + below
        for axes in figure.axes:
            x, y, wide, high = axes.get_position(original=True).bounds
            axes.set_position((x, (below + y * before) / height, wide, high * before / height))
        figure.set_figheight(height)
        write_title(figure, title)
        if note:
            y = 0.12 / height
            figure.text(0.055, y, note, va="bottom", size=9, color=GREY, parse_math=False)
    return figure


def render(figure: "Figure", kinds: Iterable[str] = _BOTH) -> dict[str, bytes]:
    """Return the contents of the files of a figure by their kind: "png", "svg" or "pdf".

    The same figure gives the same bytes each time.
    """
    pictures = {}
    for kind in kinds:
        file = io.BytesIO()
        with drawing_style():
            figure.savefig(file, format=kind, dpi=200, metadata=dict.fromkeys(_UNSAID[kind]))
        pictures[kind] = file.getvalue()
    return pictures


def svg_of(figure: "Figure") -> bytes:
    """Return a figure as an SVG without a ground, for a page that has its own."""
    file = io.BytesIO()
    with drawing_style():
        figure.savefig(file, format="svg", transparent=True, metadata=dict.fromkeys(_UNSAID["svg"]))
    return file.getvalue()


def write_pictures(pictures: dict[str, bytes], path: Path) -> list[Path]:
    """Write what `render` returned to its `picture_files`, all of them or none."""
    files = picture_files(path)
    return write_together({file: pictures[kind] for kind, file in files.items()})


def save(figure: "Figure", path: Path) -> list[Path]:
    """Write a figure to its `picture_files`, all of them or none; return their paths."""
    return write_pictures(render(figure, picture_files(path)), path)


def picture_files(path: Path) -> dict[str, Path]:
    """Return the files that a picture is written to, by their kind.

    A name that ends with .png, .svg or .pdf is one file of that kind. Any other name is the
    beginning of two, a PNG and an SVG.
    """
    check_file_name(path)
    kind = _kind_of(path)
    return {kind: path} if kind else {kind: _with_end(path, f".{kind}") for kind in _BOTH}


def with_addition(path: Path, addition: str) -> Path:
    """Return the path of a picture with an addition to its name, before the kind."""
    check_file_name(path)
    if not _kind_of(path):
        return _with_end(path, addition)
    return path.with_name(f"{path.stem}{addition}{path.suffix}")


def _kind_of(path: Path) -> str:
    """Return the kind that a file name ends with, or nothing."""
    kind = path.suffix.lower().removeprefix(".")
    return kind if kind in _UNSAID else ""


def _with_end(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)
