"""The page says all that was handed in, as text, in one well-formed file."""

import re

import pytest
from html_page import HOSTILE, SEEN, Page, check_drawings
from simulations import SIX, simulation

from grbp._format import format_number
from grbp.figures import transition_figure
from grbp.figures.canvas import svg_of
from grbp.paper.report import Recommendation, choose_learner, regret_table, report_html
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


ADVICE = Recommendation(
    "the-best", "99 rounds", ("1.2", "3.4"), ("second", "5.6"), [("lucky", 4, "0.1", 3, "99")]
)

PAPER = "https://doi.org/10.1109/ALLERTON.2016.7852376"


@pytest.fixture(scope="module")
def picture() -> bytes:
    return svg_of(transition_figure(3))


@pytest.fixture(scope="module")
def sections(picture: bytes) -> list[Section]:
    head, rows = regret_table(simulation(SIX, rounds=99))
    return [
        Section(
            "Figure 3. Curves",
            "How to read it.\n\nAnd more.",
            picture,
            "Curves",
            head,
            rows,
            narrow=picture.replace(b'viewBox="0 0', b'viewBox="1 0'),
            files=["figure-3.csv", "with a space.svg"],
            leads=True,
            seen="What one sees.",
        ),
        Section("Figure 4. Another", "Without a table.", picture, 'A "quoted" picture'),
        Section("Words", "Without a figure."),
    ]


@pytest.fixture(scope="module")
def html(sections: list[Section]) -> str:
    return report_html(sections, VERDICTS, FACTS, ADVICE)


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
    # The files of the figures lie beside the page.
    contents = ["words", "part-1", "learning", "use", "part-2", "part-3", "verdict", "made"]
    assert inside == [*contents, "part-1", "part-2"]
    assert set(inside) < set(ids)
    labels = [e.attributes["aria-labelledby"] for e in page.all("section")]
    assert set(labels) <= set(ids)
    beside = [link for link in links if not link.startswith("#")]
    assert beside == [PAPER, "figure-3.csv", "with%20a%20space.svg"]
    assert any(e.attributes.get("name") == "viewport" for e in page.all("meta"))
    assert 'charset="utf-8"' in html


def test_nothing_is_fetched_and_nothing_runs(html: str) -> None:
    page = Page(html)
    assert page.all("script", "link", "iframe", "object", "base", "form", "img") == []
    assert not any(name.startswith("on") for e in page.elements for name in e.attributes)
    assert re.findall('[a-z]+://[^"]*', html) == [PAPER]
    assert "@import" not in html


def test_figures_are_drawings_that_refer_to_nothing_outside_and_have_words(html: str) -> None:
    page = Page(html)
    check_drawings(page, html)
    said = [e.attributes["aria-label"] for e in page.all("svg")]
    assert said == ["Curves", "Curves", 'A "quoted" picture']


def test_every_verdict_is_there_with_a_sign_and_a_word(html: str) -> None:
    page = Page(html)
    rows = [row for row in page.cells() if len(row) == 4 and row[0] != "what is claimed"]
    assert len(rows) == len(VERDICTS)
    for (claim, where, outcome, reason), verdict in zip(rows, VERDICTS, strict=True):
        assert (claim, where) == (verdict.plain, verdict.where)
        for words in (verdict.claim, verdict.why, verdict.evidence):
            assert words in reason
        assert outcome == f"{SYMBOLS[verdict.outcome]} {verdict.outcome}"
    # The numbers unfold.
    assert [e.text for e in page.all("summary")][1:] == ["Why, in numbers"] * len(VERDICTS)
    assert "4 claims: 2 held, 1 did not hold, 1 cannot be decided." in html
    assert SYMBOLS.keys() == {verdict.outcome for verdict in VERDICTS}


def test_every_number_of_every_table_is_there(html: str, sections: list[Section]) -> None:
    shown = list(Page(html).cells())
    assert list(sections[0].head) in shown
    for row in sections[0].rows:
        assert list(row) in shown


def test_texts_and_facts_are_there_in_order(html: str, sections: list[Section]) -> None:
    page = Page(html)
    headings = [e.text for e in page.all("h2")]
    # The story goes forwards: the actions, what is learned, the answer, its figures, the verdicts.
    assert headings == [
        "What can be done",
        sections[0].title,
        "What has to be learned",
        "What should I use?",
        *(section.title for section in sections[1:]),
        "Did the paper\N{RIGHT SINGLE QUOTATION MARK}s claims hold?",
        "How this was made",
    ]
    paragraphs = [e.text for e in page.all("p")]
    told = [
        "What one sees.",
        "How to read it.",
        "And more.",
        "Without a table.",
        "Without a figure.",
    ]
    assert [text for text in paragraphs if text in told] == told
    facts = [e.text for e in page.all("dt", "dd")][-2 * len(FACTS) :]
    assert facts == [word for pair in FACTS.items() for word in pair]
    explained = [e.text for e in page.all("dt")][: -len(FACTS)]
    assert {"CONTINUE", "FINISH", "Regret", "Threshold", "The two regions"} <= set(explained)


def test_a_narrow_screen_has_a_picture_of_its_own(html: str) -> None:
    drawn = [(e.attributes["class"], e.attributes["viewbox"][0]) for e in Page(html).all("svg")]
    assert drawn == [("broad", "0"), ("narrow", "1"), ("any", "0")]
    assert "@media screen and (max-width: 46rem)" in html


def test_the_answer_has_its_reason_and_leads_to_its_figure(html: str) -> None:
    page = Page(html)
    (answer,) = (e.text for e in page.all("p") if e.attributes.get("class") == "answer")
    assert answer == "Use the-best."
    (why,) = (" ".join(e.text.split()) for e in page.all("p") if "Nobody knows" in e.text)
    assert "After 99 rounds, the-best has lost 1.2 where it is right" in why
    assert "the next best, second, loses 5.6" in why
    assert "lucky loses less in Figure 4 (0.1), but 99 in Figure 3." in why
    assert '<a href="#part-1">Figure&nbsp;3</a>' in html


def test_everything_handed_in_is_text_never_html(picture: bytes) -> None:
    html = report_html(
        [Section(HOSTILE, HOSTILE, picture, HOSTILE, (HOSTILE, "b"), [(HOSTILE, HOSTILE)])],
        [Verdict(HOSTILE, HOSTILE, "held", HOSTILE, HOSTILE)],
        {HOSTILE: HOSTILE},
    )
    page = Page(html)
    assert page.all("script") == []
    assert [e.attributes["aria-label"] for e in page.all("svg")] == [SEEN]
    # Contents, heading, paragraph, six cells and a head (a verdict's claim, reason and evidence
    # share a cell, each in a paragraph), key and value of a fact.
    said = [
        e for e in page.all("a", "h2", "p", "td", "th", "dt", "dd", "summary") if SEEN in e.text
    ]
    assert len(said) == 14
    html.encode("utf-8")


def test_the_same_input_is_the_same_page(html: str, sections: list[Section]) -> None:
    assert report_html(sections, VERDICTS, FACTS, ADVICE) == html


def test_light_dark_narrow_and_paper_are_thought_of(html: str) -> None:
    for media in ("screen and (prefers-color-scheme: dark)", "screen and (max-width", "print"):
        assert f"@media {media}" in html
    # Every colour that the page uses is one that light and dark set.
    style = html.split("<style>")[1].split("</style>", maxsplit=1)[0]
    light, dark, *_ = (set(re.findall(r"(--[\w-]+):", part)) for part in style.split("@media"))
    assert light == dark
    assert set(re.findall(r"var\((--[\w-]+)\)", style)) <= light


def test_nothing_to_say_is_still_a_page() -> None:
    page = Page(report_html([], [], {}))
    assert "No claim was examined." in [e.text for e in page.all("p")]


def test_the_learner_to_use_loses_little_in_both_figures() -> None:
    right = simulation({"good": 2.0, "lucky": 90.0, "slow": 1.0, "fair": 6.0}, rounds=9)
    never = simulation({"good": 3.0, "lucky": 0.5, "slow": 80.0, "fair": 9.0}, rounds=9)
    found = choose_learner(right, never)
    ends = {
        name: [format_number(float(one.curves[name].mean[-1])) for one in (right, never)]
        for name in right.curves
    }
    assert (found.learner, list(found.losses)) == ("good", ends["good"])
    assert found.next == ("fair", ends["fair"][1])
    slow, lucky = ends["slow"], ends["lucky"]
    assert sorted(found.tempting) == [
        ("lucky", 4, lucky[1], 3, lucky[0]),
        ("slow", 3, slow[0], 4, slow[1]),
    ]
    alone = simulation({"good": 2.0}, rounds=9)
    assert choose_learner(alone, alone).next == ()


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
