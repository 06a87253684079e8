"""One page that says what came of the experiments, for someone who has not read the paper.

The page is a single file: no script, nothing fetched from anywhere. It computes nothing; the
verdicts, figures and numbers are handed in.
"""

import base64
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from grbp._io import write_whole
from grbp.errors import InvalidInput
from grbp.experiments.simulation import Simulation
from grbp.figures.canvas import drawing
from grbp.figures.regret_curves import rounded, rounds_in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYMBOLS = {"held": "✓", "did not hold": "✗", "cannot be decided": "?"}
"""The outcomes of a verdict, and the sign each has beside its words."""

_NOTHING = "\N{EN DASH}"
"""What a table shows where there is no number."""

_QUESTION = "Did the paper&rsquo;s claims hold?"

_CLASSES = {"held": "held", "did not hold": "failed", "cannot be decided": "open"}


class VerdictLike(Protocol):
    """What the page needs to know of a verdict, all of it words.

    claim     what the paper says
    where     where it says so
    outcome   one of `SYMBOLS`
    evidence  the statistic, with its uncertainty
    why       what explains the outcome
    """

    @property
    def claim(self) -> str: ...  # noqa: D102
    @property
    def where(self) -> str: ...  # noqa: D102
    @property
    def outcome(self) -> str: ...  # noqa: D102
    @property
    def evidence(self) -> str: ...  # noqa: D102
    @property
    def why(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Section:
    """A part of the page: one figure, how to read it, and its numbers.

    title   the heading
    text    how to read the figure; an empty line starts a new paragraph
    figure  the picture, or None
    alt     what the picture shows, in words, for whoever cannot see it
    head    the names of the table's columns; no table where there are none
    rows    the table, a cell for every column; the first one names the row
    """

    title: str
    text: str
    figure: "Figure | None" = None
    alt: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def regret_table(simulation: Simulation) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of the numbers under a figure of regret, the largest regret first."""
    shares = sorted({tau for curve in simulation.curves.values() for tau in curve.threshold_share})
    head = [
        "learner",
        f"mean regret after {rounds_in_words(simulation)}",
        "95% interval",
        "standard deviation of one run",
        *(f"rounds with threshold {tau}" for tau in shares),
    ]
    rows = []
    for name, curve in simulation.curves.items():
        mean, (low, high) = float(curve.mean[-1]), curve.band()
        interval = f"{rounded(float(low[-1]), mean)} to {rounded(float(high[-1]), mean)}"
        sure = simulation.replicas > 1
        share = [_share(curve.threshold_share.get(tau)) for tau in shares]
        spread = rounded(curve.sd) if sure else _NOTHING
        rows.append((mean, [name, rounded(mean), interval if sure else _NOTHING, spread, *share]))
    return head, [row for _, row in sorted(rows, key=lambda pair: (-pair[0], pair[1][0]))]


def report_html(
    sections: Sequence[Section], verdicts: Sequence[VerdictLike], facts: Mapping[str, str]
) -> str:
    """The page: an introduction, the verdicts, a section for every figure, how it was made.

    The same input gives the same page, to the byte. Everything handed in is taken as text,
    never as HTML.
    """
    contents = "".join(
        f'<li><a href="#part-{i}">{_text(section.title)}</a></li>\n'
        for i, section in enumerate(sections, 1)
    )
    parts = "".join(_section(i, section) for i, section in enumerate(sections, 1))
    return (
        _HEAD
        + _INTRODUCTION
        + f'<nav aria-label="Contents"><ul>\n<li><a href="#verdict">{_QUESTION}</a></li>\n'
        f'{contents}<li><a href="#made">How this was made</a></li>\n</ul></nav>\n'
        + _verdict_table(verdicts)
        + parts
        + _facts(facts)
        + "</main>\n</body>\n</html>\n"
    )


def write_page(html: str, path: Path) -> Path:
    """The file the page was written to: it holds the whole page, or what it held before.

    The folder is made when it is missing.
    """
    if not path.name:
        raise InvalidInput(f"the path {str(path)!r} was given; it must end with a file name")
    return write_whole(path, html.encode("utf-8"))


def _share(share: float | None) -> str:
    """A share in percent; what is not quite none or all does not read as if it were."""
    if share is None:
        return _NOTHING
    if 0.0 < share < 0.0005:
        return "< 0.1%"
    if 0.9995 <= share < 1.0:
        return "> 99.9%"
    return f"{100.0 * share:.1f}%"


def _text(text: str) -> str:
    """Text as HTML that says just that; what no page can show is replaced."""
    clean = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)
    return escape(clean)


def _paragraphs(text: str) -> str:
    return "".join(
        f"<p>{_text(part.strip())}</p>\n" for part in re.split(r"\n\s*\n", text) if part.strip()
    )


def _verdict_table(verdicts: Sequence[VerdictLike]) -> str:
    heading = f'<section id="verdict">\n<h2>{_QUESTION}</h2>\n'
    if not verdicts:
        return f"{heading}<p>No claim was examined.</p>\n</section>\n"
    counts = Counter(str(verdict.outcome) for verdict in verdicts)
    known = [outcome for outcome in SYMBOLS if outcome in counts]
    others = [outcome for outcome in counts if outcome not in SYMBOLS]
    tally = ", ".join(f"{counts[outcome]} {_text(outcome)}" for outcome in known + others)
    total = f"Of {len(verdicts)} claims" if len(verdicts) > 1 else "Of 1 claim"
    head = ("claim", "in the paper", "outcome", "evidence", "why")
    rows = "".join(_verdict_row(verdict) for verdict in verdicts)
    return (
        f'{heading}<p class="tally">{total}: {tally}.</p>\n'
        f'<div class="wide"><table class="verdicts">\n<thead>{_head_row(head)}</thead>\n'
        f"<tbody>\n{rows}</tbody>\n</table></div>\n</section>\n"
    )


def _verdict_row(verdict: VerdictLike) -> str:
    outcome = str(verdict.outcome)
    mark = (
        f'<span class="mark {_CLASSES.get(outcome, "open")}">'
        f'<span aria-hidden="true">{SYMBOLS.get(outcome, "•")}</span> {_text(outcome)}</span>'
    )
    return (
        f'<tr><th scope="row">{_text(verdict.claim)}</th>'
        f'<td data-label="in the paper">{_text(verdict.where)}</td>'
        f'<td data-label="outcome">{mark}</td>'
        f'<td data-label="evidence">{_text(verdict.evidence)}</td>'
        f'<td data-label="why">{_text(verdict.why)}</td></tr>\n'
    )


def _head_row(head: Sequence[str]) -> str:
    return "<tr>" + "".join(f'<th scope="col">{_text(name)}</th>' for name in head) + "</tr>"


def _section(number: int, section: Section) -> str:
    picture = ""
    if section.figure is not None:
        if not section.alt.strip():
            raise InvalidInput(
                f"the section {section.title!r} has a figure without words; give it an alt text"
            )
        picture = (
            f'<div class="figure"><img src="{_image(section.figure)}"'
            f' alt="{_text(section.alt)}"></div>\n'
        )
    return (
        f'<section id="part-{number}">\n<h2>{_text(section.title)}</h2>\n'
        f"{_paragraphs(section.text)}{picture}{_table(section)}</section>\n"
    )


def _image(figure: "Figure") -> str:
    """The figure as an address that holds all of it: drawn in lines, sharp at every size.

    As an image of its own, and not as a part of the page: the names inside two figures clash.
    """
    unsaid = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    file = io.BytesIO()
    with drawing():
        figure.savefig(file, format="svg", metadata=unsaid)
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def _table(section: Section) -> str:
    if not section.head:
        return ""
    width = len(section.head)
    if any(len(row) != width for row in section.rows):
        raise InvalidInput(
            f"the table of the section {section.title!r} has {width} columns;"
            " every row must have as many cells"
        )
    rows = "".join(
        f'<tr><th scope="row">{_text(first)}</th>'
        + "".join(f"<td>{_text(cell)}</td>" for cell in rest)
        + "</tr>\n"
        for first, *rest in section.rows
    )
    label = _text(f"Numbers: {section.title}")
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{label}">'
        f'<table class="numbers">\n<thead>{_head_row(section.head)}</thead>\n'
        f"<tbody>\n{rows}</tbody>\n</table></div>\n"
    )


def _facts(facts: Mapping[str, str]) -> str:
    said = "".join(f"<dt>{_text(k)}</dt><dd>{_text(v)}</dd>\n" for k, v in facts.items())
    listed = f"<dl>\n{said}</dl>\n" if said else ""
    return f'<section id="made">\n<h2>How this was made</h2>\n{listed}</section>\n'


_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1a1a1a; --soft: #5a5a5a;
  --line: #dcdcdc; --link: #005a8f;
  --held: #00664a; --held-tint: #e2f3ec; --failed: #a33b00; --failed-tint: #fdeadf;
  --open: #4d4d4d; --open-tint: #ececec; }
@media (prefers-color-scheme: dark) { :root { --paper: #15171a; --ink: #e8e8e6; --soft: #a9adb2;
  --line: #363a40; --link: #7cc4f2;
  --held: #6fd6b0; --held-tint: #12342a; --failed: #ffa372; --failed-tint: #40210f;
  --open: #cfcfcf; --open-tint: #33363b; }
  .figure { filter: brightness(.9); } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.4rem; line-height: 1.3; margin: 3rem 0 .75rem; padding-top: 1.25rem;
  border-top: 1px solid var(--line); }
p, dl.words, nav { max-width: 44rem; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
sub { line-height: 0; }
a { color: var(--link); }
.lead { font-size: 1.15rem; color: var(--soft); }
nav ul { padding-left: 1.25rem; }
dl.words dt { font-weight: 650; margin-top: .75rem; }
dl.words dd { margin: 0; }
.tally { font-weight: 650; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .925rem; line-height: 1.45; }
th, td { text-align: left; vertical-align: top; padding: .55rem .75rem .55rem 0;
  border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 600; border-bottom: 2px solid var(--line);
  vertical-align: bottom; }
tbody th { font-weight: 600; }
.verdicts th, .verdicts td { overflow-wrap: anywhere; }
.verdicts thead th:nth-child(1) { width: 24%; }
.verdicts thead th:nth-child(2) { width: 11%; }
.verdicts thead th:nth-child(3) { width: 19%; }
.mark { display: inline-block; padding: .1rem .55rem; border-radius: .8rem; font-weight: 600;
  white-space: nowrap; }
.held { color: var(--held); background: var(--held-tint); }
.failed { color: var(--failed); background: var(--failed-tint); }
.open { color: var(--open); background: var(--open-tint); }
.numbers td, .numbers thead th:not(:first-child) { text-align: right; }
.numbers td { font-variant-numeric: tabular-nums; }
.numbers td, .numbers tbody th { white-space: nowrap; }
.numbers th, .numbers td { padding-left: .5rem; }
.numbers th:first-child { padding-left: 0; }
.figure { margin: 1.25rem 0; padding: .75rem; background: #fff; border: 1px solid var(--line);
  border-radius: .5rem; overflow-x: auto; }
.figure img { display: block; width: 100%; height: auto; }
#made dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.25rem; margin: 0;
  font-size: .95rem; }
#made dt { color: var(--soft); }
#made dd { margin: 0; overflow-wrap: anywhere; font-family: ui-monospace, Menlo, Consolas,
  "DejaVu Sans Mono", monospace; font-size: .875rem; line-height: 1.7; }
@media (max-width: 46rem) {
  main { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.6rem; }
  .figure img { min-width: 40rem; }
  .verdicts thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); }
  .verdicts, .verdicts tbody, .verdicts tr, .verdicts th, .verdicts td { display: block; }
  .verdicts tr { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem;
    margin-bottom: 1rem; }
  .verdicts th, .verdicts td { border: 0; padding: .2rem 0; }
  .verdicts td::before { content: attr(data-label) ": "; color: var(--soft); }
  #made dl { grid-template-columns: 1fr; gap: 0; }
  #made dd { margin-bottom: .6rem; }
}
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #000; --soft: #444; --line: #bbb;
    --link: #000; --held: #004d38; --held-tint: #fff; --failed: #7a2c00; --failed-tint: #fff;
    --open: #333; --open-tint: #fff; }
  html { font-size: 9.5pt; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  .wide, .figure { overflow: visible; }
  .figure { border: 0; padding: 0; break-inside: avoid; filter: none; }
  .figure img { min-width: 0; }
  tr { break-inside: avoid; }
  h2 { break-after: avoid; }
}
"""

_HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The gambler&rsquo;s ruin bandit: what was found</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
"""

_INTRODUCTION = """<h1>The gambler&rsquo;s ruin bandit: what was found</h1>
<p class="lead">The paper <cite>Gambler&rsquo;s Ruin Bandit Problem</cite> by Akbarzadeh and Tekin
(2016) compares ways to learn when to go on and when to stake everything. Its experiments were run
again, many more times. This page shows what came out, and which of the paper&rsquo;s claims it
supports.</p>
<p>Think of a patient whose state is a number. At 0 the case is lost; at the goal G it is won. In
between, one of two things can be done, again and again:</p>
<dl class="words">
<dt>CONTINUE</dt>
<dd>The state moves one up with probability p<sub>C</sub>, else one down: a mild treatment,
say.</dd>
<dt>FINISH</dt>
<dd>All is decided at once, won with probability p<sub>F</sub>, else lost: an operation, say.</dd>
</dl>
<p>One such case, from its first state to its end, is a <em>round</em>. Both probabilities are
unknown. They can only be learned from the rounds themselves, and a round in which something is
tried out may be a round lost.</p>
<dl class="words">
<dt>Regret</dt>
<dd>How many rounds fewer are won, on average, than by someone who knows both probabilities and
always does what is best. Small is good. Regret that stops growing means that the learner has
found out. Regret that grows like a logarithm means that it keeps paying a little to stay sure.
Regret that grows like a straight line means that it sometimes never finds out.</dd>
<dt>Threshold</dt>
<dd>A plan for a round: FINISH in the states up to the threshold, CONTINUE above. Threshold 0 never
finishes. The best plan is always threshold 0 or threshold 1.</dd>
<dt>The two regions</dt>
<dd>Let B be the chance of reaching the goal from state 1 by continuing. Where p<sub>F</sub> is at
least B, FINISH in state 1 is best (threshold 1). There both actions are taken anyway, so nothing
has to be tried on purpose: the <em>no-exploration region</em>. Where p<sub>F</sub> is below B, it
is best never to finish (threshold 0). Then nothing is learned about FINISH unless it is tried on
purpose, at a cost: the <em>exploration region</em>.</dd>
</dl>
"""
