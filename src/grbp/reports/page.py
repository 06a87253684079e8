"""What every page shares: its sections, and what fills in the templates beside this file.

A page is a single file: no script, nothing fetched from anywhere. Everything handed in is taken as
text, never as HTML, and the same input gives the same page, to the byte.
"""

import math
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from grbp import _palette
from grbp._format import format_interval, percent, plural
from grbp.errors import InvalidInput, MissingExtra, how_to_install
from grbp.figures.canvas import render
from grbp.fitting.estimates import Proportion
from grbp.theory.posterior import Estimate

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

NO_NUMBER: Final = "\N{EN DASH}"
"""What stands where there is no number."""

MOST_ROWS: Final = 200
"""Rows of a table on a page; `--json` has all of them."""

_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Section:
    """A part of a page: one figure, how to read it, and its numbers.

    Attributes
    ----------
    title : str
        The heading.
    text : str
        How to read the figure; an empty line starts a new paragraph.
    svg : bytes
        The picture; empty if there is none.
    alt : str
        What the picture shows, in words, for whoever cannot see it.
    head, rows : sequence
        The names of the table's columns, and its rows, whose first cell names the row; there is
        no table without a head.
    narrow : bytes
        The picture for a narrow screen, if that is another one.
    files : sequence of str
        The names of files that lie beside the page.
    leads : bool
        Whether the section comes before the findings.
    unfolded : bool
        Whether the table is shown at once, and not when it is asked for.
    """

    title: str
    text: str
    svg: bytes = b""
    alt: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    narrow: bytes = b""
    files: Sequence[str] = ()
    leads: bool = False
    unfolded: bool = False

    def __post_init__(self) -> None:
        if self.svg and not self.alt.strip():
            raise InvalidInput(
                f"the section {self.title!r} has a figure without words; give it an alt text"
            )
        if any(len(row) != len(self.head) for row in self.rows):
            raise InvalidInput(
                f"the table of the section {self.title!r} has {len(self.head)} columns;"
                " every row must have as many cells"
            )

    @property
    def paragraphs(self) -> list[str]:
        """Split the text where a line is empty; what a template has escaped stays escaped."""
        parts = re.split(r"\n\s*\n", self.text.strip())
        return [type(self.text)(re.sub(r" *\n *", " ", part)) for part in parts if part]

    @staticmethod
    def encode(svg: bytes) -> str:
        """Encode a picture, which is an image of its own: the names inside two would clash."""
        return b64encode(svg).decode()


def format_share(share: Proportion | Estimate | None) -> str:
    """Write a share with its interval, or that there is no number."""
    estimate = share.as_estimate if isinstance(share, Proportion) else share
    if estimate is None or math.isnan(estimate.estimate):
        return NO_NUMBER
    return format_interval(*estimate)


def format_percent(share: float | None) -> str:
    """Write a share in percent, or that there is no number."""
    return NO_NUMBER if share is None else percent(share)


def format_level(level: float) -> str:
    """Write the level of an interval: "95 %"."""
    return f"{100.0 * level:.4g} %"


def svg_of(figure: "Figure") -> bytes:
    """Return a figure as the picture of a section."""
    return render(figure, ["svg"])["svg"]


def environment() -> "Environment":
    """Return what fills in the templates; refuse where Jinja2 is not installed."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise MissingExtra(
            f"the report needs Jinja2, which is not installed; {how_to_install('plots')}"
        ) from error
    pages = Environment(
        loader=PackageLoader("grbp.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_replace_unprintable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.globals |= {"palette": _palette.css(), "section": Section}
    pages.filters |= {
        "counted": plural,
        "level": format_level,
        "percent": format_percent,
        "share": format_share,
    }
    return pages


def _replace_unprintable(value: Any) -> Any:
    """Replace characters that no page can show; text that is HTML already is of another type."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value) if type(value) is str else value
