"""What every page shares: its sections, and what fills in the templates beside this file.

A page is a single file: no script, nothing fetched from anywhere. Everything handed in is taken as
text, never as HTML, and the same input gives the same page, to the byte.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from grbp import _palette
from grbp._format import format_interval, format_level, percent, plural
from grbp._palette import PALETTE, RAMP
from grbp.errors import InvalidInput, MissingExtra, how_to_install
from grbp.fitting.estimates import Proportion
from grbp.theory.posterior import Estimate

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

NO_NUMBER: Final = "\N{EN DASH}"
"""What stands where there is no number."""

MOST_ROWS: Final = 200
"""Rows of a table on a page; `--json` has all of them."""

_NOT_ON_PAGES: Final = re.compile(
    r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>| xmlns(:\w+)?=\"[^\"]*\"", re.DOTALL
)
"""What a drawing has as a file of its own, and not as a part of a page."""

_POINTS_TO: Final = re.compile(r'(xlink:href="#|url\(#)')

_VARIABLES: Final = {
    **{shade.light: f"var(--ramp-{k})" for k, shade in enumerate(RAMP)},
    # Of names that share a colour, the first counts.
    **{shade.light: f"var(--{name})" for name, shade in reversed(PALETTE.items())},
}
"""Of the colours that figures are drawn in, the variables that are right on any screen."""

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
        The picture, as `svg_of` returns it; empty if there is none.
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
    seen : str
        What one sees in the picture, in a sentence.
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
    seen: str = ""

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

    def pictures(self, number: int) -> "list[Markup]":
        """Return the picture of a section with this number, and that for a narrow screen."""
        if not self.narrow:
            return [_inline(self.svg, f"p{number}-", self.alt, "any")] if self.svg else []
        return [
            _inline(self.svg, f"p{number}-", self.alt, "broad"),
            _inline(self.narrow, f"n{number}-", self.alt, "narrow"),
        ]


def format_share(share: Proportion | Estimate | None, otherwise: str = NO_NUMBER) -> str:
    """Write a share with its interval, or something else where there is no number."""
    estimate = share.as_estimate if isinstance(share, Proportion) else share
    if estimate is None or math.isnan(estimate.estimate):
        return otherwise
    return format_interval(*estimate)


def format_percent(share: float | None) -> str:
    """Write a share in percent, or that there is no number."""
    return NO_NUMBER if share is None else percent(share)


def _inline(svg: bytes, prefix: str, alt: str, screen: str) -> "Markup":
    """Return a drawing as a part of a page, in the colours of the page.

    The names inside it, which two drawings may share, get a prefix; those that nothing points to
    are left out.
    """
    from markupsafe import Markup, escape  # noqa: PLC0415 (comes with Jinja2)

    head, inside = re.split(r"<svg\b", svg.decode("utf-8"), maxsplit=1)[1].split(">", 1)
    inside = _NOT_ON_PAGES.sub("", inside)
    wanted = set(re.findall(r'(?:href="#|url\(#)([^")]+)', inside))
    inside = re.sub(
        r' id="([^"]*)"',
        lambda found: f' id="{prefix}{found[1]}"' if found[1] in wanted else "",
        inside,
    )
    inside = _POINTS_TO.sub(rf"\g<1>{prefix}", inside).replace("xlink:href", "href")
    inside = re.sub(r"#[0-9a-f]{6}\b", lambda found: _VARIABLES.get(found[0], found[0]), inside)
    box = re.findall(r'viewBox="([^"]*)"', head)[0]
    said = escape(_replace_unprintable(alt))
    return Markup(  # noqa: S704 (we drew it ourselves)
        f'<svg class="{screen}" role="img" aria-label="{said}" viewBox="{box}">{inside}'
    )


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
