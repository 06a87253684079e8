"""One page that says what the experiments showed, for someone who has not read the paper.

The page is a single file: no script, nothing fetched from anywhere. Its words stand in the
templates beside this file; the verdicts, figures and numbers are handed in.
"""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from grbp.errors import InvalidInput, MissingExtra, how_to_install
from grbp.experiments.simulation import Simulation
from grbp.figures.numbers import rounded, rounds_in_words
from grbp.figures.regret_curves import NOT_COVERED
from grbp.paper.verdict import LEGEND, Verdict, tally

if TYPE_CHECKING:
    from jinja2 import Environment

_NO_NUMBER: Final = "\N{EN DASH}"

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
        """Split the text where a line is empty."""
        return [part.strip() for part in re.split(r"\n\s*\n", self.text) if part.strip()]

    @staticmethod
    def encoded(svg: bytes) -> str:
        """Encode a picture, which is an image of its own: the names inside two would clash."""
        return b64encode(svg).decode()


def report_html(
    sections: Sequence[Section], verdicts: Sequence[Verdict], facts: Mapping[str, str]
) -> str:
    """Write the page: what was asked, the answer, what leads, the verdicts and all the rest.

    The same input gives the same page, to the byte. Everything handed in is taken as text,
    never as HTML.
    """
    page = environment().get_template("report.html.j2")
    return page.render(
        sections=list(sections),
        verdicts=verdicts,
        tally=tally(verdicts),
        legend=LEGEND,
        facts=facts,
    )


def environment() -> "Environment":
    """Return what fills in the templates; refuse where Jinja2 is not installed."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 (optional)
    except ImportError as error:
        raise MissingExtra(
            f"the report needs Jinja2, which is not installed; {how_to_install('plots')}"
        ) from error
    return Environment(
        loader=PackageLoader("grbp.paper"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printable(value: Any) -> Any:
    """Replace characters that no page can show; text that is HTML already is of another type."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value) if type(value) is str else value


def regret_table(simulation: Simulation) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the numbers under a figure, the largest regret first."""
    shares = sorted({tau for curve in simulation.curves.values() for tau in curve.threshold_share})
    head = [
        "learner",
        f"mean regret after {rounds_in_words(simulation)}",
        "95% interval",
        "standard deviation over replicas",
        *(f"rounds with threshold {tau}" for tau in shares),
    ]
    rows = []
    for name, curve in sorted(
        simulation.curves.items(), key=lambda one: (-one[1].mean[-1], one[0])
    ):
        mean, interval, spread = float(curve.mean[-1]), _NO_NUMBER, _NO_NUMBER
        if simulation.replicas > 1:
            ends = (rounded(float(end[-1]), mean) for end in curve.band())
            interval = " to ".join(ends) if curve.covered else NOT_COVERED
            spread = rounded(curve.sd)
        share = [_share(curve.threshold_share.get(tau)) for tau in shares]
        rows.append([name, rounded(mean), interval, spread, *share])
    return head, rows


def _share(share: float | None) -> str:
    """Write a share in percent; what is not quite none or all does not read as if it were."""
    if share is None:
        return _NO_NUMBER
    if 0.0 < share < 0.0005:
        return "< 0.1%"
    if 0.9995 <= share < 1.0:
        return "> 99.9%"
    return f"{100.0 * share:.1f}%"
