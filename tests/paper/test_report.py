"""The page says all that was handed in, as text, in one well-formed file."""

import base64
import re
from xml.etree import ElementTree

import pytest
from html_page import HOSTILE, SEEN, Page
from simulations import SIX, simulation

from grbp._format import format_number
from grbp.figures import transition_figure
from grbp.figures.canvas import render
from grbp.paper.report import regret_table, report_html
from grbp.paper.verdict import Verdict
from grbp.reports.page import Section

SYMBOLS = {"held": "✓", "did not hold": "✗", "cannot be decided": "?"}
VERDICTS = [
    Verdict("finite regret", "Fig. 3", "did not hold", "slope 0.31 (0.22 to 0.40)", "too few"),
    Verdict("logarithmic", "Fig. 4", "cannot be decided", "slope still rising", "too short"),
    Verdict("lowest regret", "Fig. 4, text", "held", "9.1 against 15.1", "it samples"),
    Verdict("again", "Fig. 5", "held", "rises by 40", "as expected"),
]
FACTS = {"command": "grbp reproduce --out 'a b'", "seed": "0", "revision": "56ed10a"}


PAPER = "https://doi.org/10.1109/ALLERTON.2016.7852376"


@pytest.fixture(scope="module")
def picture() -> bytes:
    return render(transition_figure(3))["svg"]


@pytest.fixture(scope="module")
def sections(picture: bytes) -> list[Section]:
    head, rows = regret_table(simulation(SIX, rounds=99))
    return [
        Section(
            "Figure 3",
            "How to read it.\n\nAnd more.",
            picture,
            "Curves",
            head,
            rows,
            narrow=picture[:-1] + b" ",
            files=["figure-3.csv", "with a space.svg"],
            leads=True,
        ),
        Section("Figure 4", "Without a table.", picture, 'A "quoted" picture'),
        Section("Words", "Without a figure."),
    ]


@pytest.fixture(scope="module")
def html(sections: list[Section]) -> str:
    return report_html(sections, VERDICTS, FACTS)


def test_the_page_is_well_formed_and_its_links_lead_somewhere(html: str) -> None:
    page = Page(html)
    assert html.startswith("<!DOCTYPE html>\n<html lang=")
    assert [e.tag for e in page.elements if e.tag in ("head", "body", "html", "h1")] == [
        "head", "h1", "body", "html",
    ]  # fmt: skip
    ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(set(ids)) == len(ids)
    links = [e.attributes["href"] for e in page.all("a")]
    inside = [link.removeprefix("#") for link in links if link.startswith("#")]
    # What leads is seen without a link; the files of the figures lie beside the page.
    assert inside == ["words", "part-2", "part-3", "made"]
    assert set(inside) < set(ids)
    labels = [e.attributes["aria-labelledby"] for e in page.all("section")]
    assert set(labels) <= set(ids)
    beside = [link for link in links if not link.startswith("#")]
    assert beside == [PAPER, "figure-3.csv", "with%20a%20space.svg"]
    assert any(e.attributes.get("name") == "viewport" for e in page.all("meta"))
    assert 'charset="utf-8"' in html


def test_nothing_is_fetched_and_nothing_runs(html: str) -> None:
    page = Page(html)
    assert page.all("script", "link", "iframe", "object", "base", "form", "svg") == []
    assert not any(name.startswith("on") for e in page.elements for name in e.attributes)
    assert re.findall('[a-z]+://[^"]*', html) == [PAPER]
    assert "@import" not in html
    assert "url(" not in html
    assert all(e.attributes["src"].startswith("data:") for e in page.all("img"))


def test_figures_are_drawings_that_refer_to_nothing_outside_and_have_words(html: str) -> None:
    images = Page(html).all("img")
    assert [e.attributes["alt"] for e in images] == ["Curves", 'A "quoted" picture']
    for image in images:
        kind, data = image.attributes["src"].split(",")
        assert kind == "data:image/svg+xml;base64"
        svg = base64.b64decode(data, validate=True).decode("utf-8")
        root = ElementTree.fromstring(svg)  # noqa: S314 (we wrote it ourselves)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert set(re.findall(r"https?://([^/\"]+)", svg)) == {"www.w3.org"}
        assert re.findall(r"href=\"(?!#)", svg) == []


def test_every_verdict_is_there_with_a_sign_and_a_word(html: str) -> None:
    page = Page(html)
    rows = [row for row in page.cells() if len(row) == 4 and row[0] != "claim"]
    assert len(rows) == len(VERDICTS)
    for (claim, where, outcome, reason), verdict in zip(rows, VERDICTS, strict=True):
        assert (claim, where) == (verdict.claim, verdict.where)
        assert reason == verdict.why + verdict.evidence
        assert outcome == f"{SYMBOLS[verdict.outcome]} {verdict.outcome}"
    # The evidence unfolds below the reason.
    assert [e.text for e in page.all("summary")][1:] == [verdict.why for verdict in VERDICTS]
    assert "4 claims: 2 held, 1 did not hold, 1 cannot be decided." in html
    assert "What did not hold: finite regret." in html
    assert SYMBOLS.keys() == {verdict.outcome for verdict in VERDICTS}


def test_every_number_of_every_table_is_there(html: str, sections: list[Section]) -> None:
    shown = list(Page(html).cells())
    assert list(sections[0].head) in shown
    for row in sections[0].rows:
        assert list(row) in shown


def test_texts_and_facts_are_there_in_order(html: str, sections: list[Section]) -> None:
    page = Page(html)
    headings = [e.text for e in page.all("h2")]
    assert headings == [
        sections[0].title,
        "Did the paper\N{RIGHT SINGLE QUOTATION MARK}s claims hold?",
        "Further down",
        "What the words mean",
        *(section.title for section in sections[1:]),
        "How this was made",
    ]
    paragraphs = [e.text for e in page.all("p")]
    told = ["How to read it.", "And more.", "Without a table.", "Without a figure."]
    assert [text for text in paragraphs if text in told] == told
    facts = [e.text for e in page.all("dt", "dd")][-2 * len(FACTS) :]
    assert facts == [word for pair in FACTS.items() for word in pair]
    explained = [e.text for e in page.all("dt")][: -len(FACTS)]
    assert {"CONTINUE", "FINISH", "Regret", "Threshold", "The two regions"} <= set(explained)
    # A picture comes before any verdict, and regret is explained before the picture.
    places = ["<em>regret</em>", 'id="part-1"', "<picture", 'id="verdict"', 'id="part-2"']
    assert sorted(places, key=html.index) == places


def test_a_narrow_screen_has_a_picture_of_its_own(html: str, sections: list[Section]) -> None:
    (source,) = Page(html).all("source")
    assert source.attributes["media"] == "(max-width: 46rem)"
    kind, data = source.attributes["srcset"].split(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(data, validate=True) == sections[0].narrow


def test_everything_handed_in_is_text_never_html(picture: bytes) -> None:
    html = report_html(
        [Section(HOSTILE, HOSTILE, picture, HOSTILE, (HOSTILE, "b"), [(HOSTILE, HOSTILE)])],
        [Verdict(HOSTILE, HOSTILE, "held", HOSTILE, HOSTILE)],
        {HOSTILE: HOSTILE},
    )
    page = Page(html)
    assert page.all("script") == []
    assert len(page.all("img")) == 1
    assert page.all("img")[0].attributes["alt"] == SEEN
    # Contents, heading, paragraph, six cells and a head (a verdict's reason and evidence share
    # a cell, with a summary), key and value of a fact.
    said = [
        e for e in page.all("a", "h2", "p", "td", "th", "dt", "dd", "summary") if SEEN in e.text
    ]
    assert len(said) == 12
    html.encode("utf-8")


def test_the_same_input_is_the_same_page(html: str, sections: list[Section]) -> None:
    assert report_html(sections, VERDICTS, FACTS) == html


def test_light_dark_narrow_and_paper_are_thought_of(html: str) -> None:
    for media in ("screen and (prefers-color-scheme: dark)", "(max-width", "print"):
        assert f"@media {media}" in html
    # Every colour that the page uses is one that light and dark set.
    style = html.split("<style>")[1].split("</style>", maxsplit=1)[0]
    light, dark, *_ = (set(re.findall(r"(--[\w-]+):", part)) for part in style.split("@media"))
    assert light == dark
    assert set(re.findall(r"var\((--[\w-]+)\)", style)) <= light


def test_nothing_to_say_is_still_a_page() -> None:
    page = Page(report_html([], [], {}))
    assert "No claim was examined." in [e.text for e in page.all("p")]


# --- the numbers of a simulation --------------------------------------------------------------


def test_the_table_of_a_simulation_has_its_numbers_the_largest_regret_first() -> None:
    given = simulation(SIX, rounds=99)
    head, rows = regret_table(given)
    assert "99 rounds" in head[1]
    assert head[4:] == [f"rounds with threshold {tau}" for tau in (0, 1, 3)]
    order = sorted(given.curves, key=lambda name: -given.curves[name].mean[-1])
    assert [row[0] for row in rows] == order
    for name, mean, interval, sd, *shares in rows:
        curve = given.curves[name]
        low, high = curve.band()
        at = float(curve.mean[-1])
        assert mean == format_number(at)
        assert (
            interval
            == f"{format_number(float(low[-1]), at)} to {format_number(float(high[-1]), at)}"
        )
        assert sd == format_number(curve.sd)
        assert shares == ["70.0%", "30.0%", "< 0.1%"]


def test_one_run_has_no_interval() -> None:
    _, rows = regret_table(simulation({"oracle": 0.0}, rounds=9, replicas=1))
    assert [row[2:4] for row in rows] == [["\N{EN DASH}", "\N{EN DASH}"]]
