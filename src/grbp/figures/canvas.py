"""What every figure shares: Matplotlib on demand, a few colours, and the way to files.

No pyplot and no global figure: what a drawing function returns belongs to its caller.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from grbp.errors import CannotWrite, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, GREY = "#1a1a1a", "#555555"

_STYLE = {
    "font.size": 11.0,
    # Outlines instead of letters: the same picture where our font is not installed.
    "svg.fonttype": "path",
    # Names inside the file are otherwise drawn at random.
    "svg.hashsalt": "grbp",
}


@contextmanager
def drawing() -> Iterator[None]:
    """Matplotlib with its own defaults and ours, whatever the user has set, for one block."""
    try:
        from matplotlib import style  # noqa: PLC0415 (optional, and slow to import)
    except ImportError as error:
        raise MissingExtra(
            "drawing a figure needs Matplotlib, which is not installed; install grbp[plots]"
        ) from error
    with style.context(["default", _STYLE]):
        yield


def save(figure: "Figure", stem: Path) -> list[Path]:
    """The two files written, stem.png and stem.svg: both of them, or neither.

    The folder is made when it is missing. Both pictures are first drawn into files of other
    names beside the final ones, so a failure leaves what was there before. The same figure
    gives the same bytes each time.
    """
    if not stem.name:
        raise InvalidInput(f"the stem {str(stem)!r} was given; it must end with a file name")
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"the folder {stem.parent} cannot be made ({_reason(error)});"
            " name one that can be written to"
        ) from error
    final = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg")]
    # Short names: a stem that is just short enough for the file system stays so.
    token = secrets.token_hex(6)
    drafts = [stem.with_name(f".grbp-{token}.{kind}") for kind in ("png", "svg")]
    try:
        for draft in drafts:
            _render(figure, draft)
        _replace_both(drafts, final)
    except OSError as error:
        raise CannotWrite(
            f"{final[0]} and {final[1].name} cannot be written ({_reason(error)});"
            " name a folder that can be written to"
        ) from error
    finally:
        for draft in drafts:
            # What cannot be removed must not hide why the figure was not written.
            _remove_if_possible(draft)
    return final


def _render(figure: "Figure", path: Path) -> None:
    """Write the figure into a new file of the kind its suffix says."""
    kind = path.suffix.removeprefix(".")
    # Neither the day nor the version of the software: the same picture is the same file.
    unsaid = {"png": {"Software": None}, "svg": {"Creator": None, "Date": None}}[kind]
    with drawing(), path.open("xb") as file:
        figure.savefig(file, format=kind, dpi=200, metadata=unsaid)


def _replace_both(drafts: Sequence[Path], final: Sequence[Path]) -> None:
    """Give both drafts their final names; if the second cannot have it, undo the first."""
    (first_draft, second_draft), (first, second) = drafts, final
    before = first.read_bytes() if first.exists() else None
    first_draft.replace(first)
    try:
        second_draft.replace(second)
    except OSError:
        if before is None:
            first.unlink()
        else:
            first.write_bytes(before)
        raise


def _remove_if_possible(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
