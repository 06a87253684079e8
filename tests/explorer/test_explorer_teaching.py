"""The explorer in a class: in the words of a link, as a tour, and with questions to guess first."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import pytest
from browser import PHONE, Watched, misplaced
from explorer_page import opened
from fonts import NARROW, WIDE
from html_page import Page as Read

import grbp
from grbp import Problem
from grbp.explorer.page import STATIC, served_page, single_file

if TYPE_CHECKING:
    from playwright.sync_api import Page

HERE: Final = "http://127.0.0.1:8000"
LAPTOP: Final = {"width": 1366, "height": 650}
WARD: Final = (
    "G=4&pC=0.45&pF=0.3&start=2&states=dead,severe,moderate,mild,home"
    "&actions=medication,surgery&case=patient"
)
LONG: Final = "&".join(
    [
        "G=5&pC=0.5&pF=0.25&start=uniform",
        "states=" + ",".join(f"{k} {'quite a long word ' * 2}".strip() for k in range(6)),
        "actions=to go on as we did so far and wait,to bring it to an end here and now",
        "case=episode of care that has a long name,episodes of care that have long names",
    ]
)
VIEWS: Final = [
    WARD,
    f"{WARD}&view=projector",
    f"{WARD}&view=embed",
    f"{WARD}&predict=1",
    LONG,
    f"{LONG}&predict=2",
    "tour=1",
    "tour=3",
    "tour=4&view=projector",
]
SYMBOLS: Final = re.compile(
    "FINISH|CONTINUE|threshold|p_?[CF]|B\\(|gamma|\N{GREEK SMALL LETTER GAMMA}"
)
LISTS: Final = """async ([seeds, numbers, goal]) => {
  const { drawQuestion } = await import("/static/explorer-lessons.js");
  return seeds.map((seed) => numbers.map((number) => drawQuestion(seed, number, goal)));
}"""
LINKS: Final = """async (links) => {
  const { readLink, writeLink } = await import("/static/explorer-state.js");
  return links.map((link) => writeLink(readLink(link)));
}"""
KEPT: Final = """async (answers) => {
  const { Score } = await import("/static/explorer-lessons.js");
  const score = new Score();
  return answers.map(([goal, pC, pF, action]) => {
    score.keep({ goal, pC, pF }, action);
    return [score.find({ goal, pC, pF }).off, score.words];
  });
}"""
UNFOLD: Final = (
    "() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
)
SIZE: Final = "(part) => parseFloat(getComputedStyle(part).fontSize)"
CLIPBOARD: Final = """([allowed, commanded]) => {
  window.taken = [];
  const writeText = async (text) => {
    if (!allowed) throw new DOMException("no", "NotAllowedError");
    window.taken.push(text);
  };
  Object.defineProperty(navigator, "clipboard", { value: { writeText } });
  document.execCommand = () => {
    if (commanded) window.taken.push(document.activeElement.value);
    return commanded;
  };
}"""


@contextmanager
def modules(browser: Watched) -> "Iterator[Page]":
    """Open a page that can import the modules as they are."""
    with browser.page() as page:
        page.route(
            f"{HERE}/**",
            lambda route: (
                route.fulfill(path=STATIC / route.request.url.rpartition("/")[2])
                if route.request.url.endswith(".js")
                else route.fulfill(body="<!DOCTYPE html>", content_type="text/html")
            ),
        )
        page.goto(HERE)
        yield page


def words(page: "Page", name: str) -> str:
    text = page.locator(f"#{name}").text_content() or ""
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


def focused(page: "Page") -> str:
    return str(page.evaluate("document.activeElement.id"))


# the first screen


@pytest.mark.parametrize("link", ["", WARD, f"{WARD}&story=ward"])
@pytest.mark.parametrize("viewport", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_the_answer_is_seen_at_once_and_above_the_sliders(
    browser: Watched, file: str, viewport: Any, link: str
) -> None:
    with opened(browser, file, link, viewport=viewport, font=0.6) as page:
        answer, sliders = (page.locator(name).bounding_box() for name in ("#verdict", "#panel"))
        assert answer
        assert sliders
        assert answer["y"] + answer["height"] <= min(sliders["y"], viewport["height"])


def test_nobody_has_to_read_symbols_to_begin(browser: Watched, file: str) -> None:
    with opened(browser, file) as page:
        for name in ("header", "#verdict", "#panel", "#chain-section"):
            text = page.locator(name).evaluate(
                """(part) => {
                  const copy = part.cloneNode(true);
                  for (const small of copy.querySelectorAll("small")) small.remove();
                  return copy.textContent;
                }"""
            )
            assert not re.search(
                "FINISH|CONTINUE|threshold|p_?[CF]|B\\(|\N{GREEK SMALL LETTER GAMMA}|gamma", text
            ), name


def test_only_a_server_leads_back_to_its_studies() -> None:
    links = {link.text: link.attributes["href"] for link in Read(served_page()).all("a")}
    assert links["Back to the studies"] == "/"
    assert "Back to the studies" not in single_file()


# words of a link


def test_the_words_of_a_link_are_used_everywhere(browser: Watched, file: str) -> None:
    with opened(browser, file, WARD) as page:
        assert words(page, "right") == "In severe (1), it is right to choose surgery."
        assert words(page, "chances-name") == "Chance to reach home (4) from severe (1)"
        assert words(page, "name-pF").startswith("chance that surgery reaches home (4)")
        assert words(page, "words-0") == "never choose surgery"
        assert words(page, "story") == "Patient 1: moderate (2)."
        drawn = page.locator("#chain text").all_text_contents()
        assert {"dead", "severe", "moderate", "mild", "home"} <= set(drawn)
        assert "surgery is right" in page.locator("#map text").all_text_contents()
        page.click("#many")
        assert re.fullmatch(
            r"Patient 100: .*: (home \(4\)|dead \(0\)) after \d+ steps?\.", words(page, "story")
        )
        for picture in ("chain", "shares", "values", "map", "costs", "control"):
            label = page.get_attribute(f"#{picture}", "aria-label") or ""
            assert not re.search(r"\bcases?\b|state 1|finish", label), label
        assert unquote(page.input_value("#link")).endswith(WARD.partition("start=2")[2])
        # What does not fit a larger goal comes back with the smaller one.
        page.fill("#goal-number", "5")
        assert words(page, "right") == "In state 1, it is right to choose surgery."
        assert words(page, "labels-said") == (
            "The link names 5 states, but a goal of 5 needs 6 names, from 0 to 5; these names are"
            " left out."
        )
        page.fill("#goal-number", "4")
        assert words(page, "labels-said") == ""
        assert words(page, "right") == "In severe (1), it is right to choose surgery."


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ("states=a,b,c", "3 states, but a goal of 4 needs 5 names, from 0 to 4"),
        ("states=a,b,c,d,A", "two states by the same word"),
        (f"states=a,b,c,d,{'e' * 41}", "a state by more than 40 letters"),
        ("actions=wait", "1 action, but there are two"),
        ("actions=wait,", "2 actions, but there are two"),
        ("actions=wait,Wait", "both actions by the same word"),
        ("case=a,b,c", "cases by something other than one word, and perhaps one for several"),
    ],
)
def test_words_that_do_not_fit_are_left_out_with_a_sentence(
    browser: Watched, file: str, labels: str, sentence: str
) -> None:
    with opened(browser, file, f"G=4&{labels}") as page:
        said = f"The link names {sentence}; these names are left out."
        assert words(page, "labels-said") == said
        assert words(page, "right") == "In state 1, it is right to finish."
        assert page.input_value("#link").endswith("&threshold=best")


def test_a_link_is_written_as_it_is_read(browser: Watched) -> None:
    with modules(browser) as page:
        links = [
            WARD, f"{WARD}&view=projector", f"{WARD}&story=ward", "predict=3&seed=7", "tour=4",
            "tour=5&predict=0", "G=2&states=%C3%A9t%C3%A9,a%26b%3D%23,%25", "G=3&states=,low,,won",
            "case=boy,boys", LONG,
        ]  # fmt: skip
        once = page.evaluate(LINKS, [f"#{link}" for link in links])
        assert page.evaluate(LINKS, once) == once
        for link, written in zip(links, once, strict=True):
            given = {pair.partition("=")[::2] for pair in unquote(link).split("&")}
            kept = {pair.partition("=")[::2] for pair in unquote(written).split("&")}
            assert {pair for pair in given if pair[0] in ("states", "actions", "case")} <= kept
        bare = "#G=4&pC=0.45&pF=0.3&start=2&gamma=15&threshold=best"
        garbled = ["#view=huge", "#story=none", "#story=constructor", "#tour=x", "#seed=1"]
        assert page.evaluate(LINKS, garbled) == [bare] * 5


def test_each_story_has_its_words_and_its_chances(browser: Watched, file: str) -> None:
    with opened(browser, file) as page:
        links = page.locator("#stories a:visible")
        assert links.count() == 5
        for number in range(5):
            links.nth(number).click()
            page.wait_for_function(
                "(k) => document.querySelectorAll('#stories a')[k].hasAttribute('aria-current')",
                arg=number,
            )
            assert words(page, "labels-said") == ""
            assert not page.locator("#lead").is_visible()
            assert len(re.findall(r"\.(?: |$)", words(page, "setting"))) == 2
            goal = int(page.input_value("#goal-number"))
            p_c, p_f = (float(page.input_value(f"#{key}-number")) for key in ("pC", "pF"))
            best = grbp.optimal_threshold(Problem(goal, p_c, p_f))
            actions = page.locator("#verdict dt").all_text_contents()
            right = actions[0] if best else actions[1].removesuffix(" all the way")
            assert words(page, "right").endswith(f"(1), it is right to choose {right}.")
        page.click("#stories a:last-child")
        page.wait_for_selector("#lead", state="visible")
        assert words(page, "right") == "In state 1, it is right to finish."


# questions


def test_a_seed_is_a_list_of_questions(browser: Watched) -> None:
    with modules(browser) as page:
        lists = page.evaluate(LISTS, [list(range(12)), list(range(1, 16)), None])
        assert page.evaluate(LISTS, [list(range(12)), list(range(1, 16)), None]) == lists
        fixed = page.evaluate(LISTS, [[5], list(range(1, 9)), 20])
    for asked in [*lists, *fixed]:
        right = set()
        for one in asked:
            apart = one["pF"] - grbp.boundary(one["goal"], one["pC"])
            assert 0.02 <= abs(apart) <= 0.22
            right.add(apart > 0)
        assert right == {True, False}, "no list is answered by one word"
    assert {one["goal"] for one in fixed[0]} == {20}
    assert len({str(asked) for asked in lists}) == len(lists)


def test_an_answer_counts_once_and_by_its_distance(browser: Watched) -> None:
    with modules(browser) as page:
        answers = [
            (4, 0.45, 0.3, "finish"), (4, 0.45, 0.3, "continue"), (4, 0.65, 0.3, "finish"),
            (2, 0.6, 0.5, "continue"),
        ]  # fmt: skip
        (first, again, wrong, last) = page.evaluate(KEPT, answers)
    off = grbp.boundary(4, 0.65) - 0.3
    assert first == [0, "So far 1 of 1 right, 0.0 points off in all."]
    assert again == first
    assert wrong[0] == pytest.approx(off)
    assert last == [0, f"So far 2 of 3 right, {100 * off:.1f} points off in all."]


def test_the_answer_is_hidden_until_one_has_guessed(browser: Watched, file: str) -> None:
    with opened(browser, file, f"{WARD}&predict=2&seed=3") as page:
        assert words(page, "question-asks") == "Surgery or medication in severe (1)?"
        hidden = ("#verdict", "#panel", "#pictures", "#question-next", "#statisticians")
        assert [name for name in hidden if page.locator(name).is_visible()] == []
        page.click("#answer-finish")
        page.locator("#verdict").wait_for()
        assert focused(page) == "question-next"
        p_c, p_f = (float(page.input_value(f"#{key}-number")) for key in ("pC", "pF"))
        apart = p_f - grbp.boundary(4, p_c)
        points = f"{100 * abs(apart):.1f} points"
        end = f"the other choice is {points} worse" if apart > 0 else f"were {points} off"
        assert words(page, "question-said").endswith(f": you chose surgery, and {end}.")
        assert words(page, "score").startswith(f"So far {int(apart > 0)} of 1 right")
        page.keyboard.press("Enter")
        page.wait_for_url("**predict=3**")
        assert focused(page) == "question-title"
        assert not page.locator("#verdict").is_visible()
        page.go_back()
        page.locator("#verdict").wait_for()
        assert words(page, "score").startswith(f"So far {int(apart > 0)} of 1 right")
        # Who moves a slider has left the questions, and comes back to the next one.
        page.fill("#pF-number", "0.77")
        assert not page.locator("#question").is_visible()
        page.click("#predict-start")
        assert words(page, "question-title") == "Question 1"
        page.click("#question-end")
        assert page.locator("#verdict").is_visible()
        assert "predict" not in page.input_value("#link")


def test_the_answer_is_not_told_to_those_who_listen_before_they_have_guessed(
    browser: Watched, file: str
) -> None:
    with opened(browser, file, "predict=1") as page:
        page.clock.install()
        page.click("#question-list")
        page.clock.run_for(2_000)
        assert words(page, "announce") == ""
        page.click("#answer-continue")
        page.clock.run_for(2_000)
        assert words(page, "announce").startswith(words(page, "right"))


# the tour


def test_the_tour_has_five_steps_and_ends_in_a_question(browser: Watched, file: str) -> None:
    with opened(browser, file, "tour=1") as page:
        for step, at in enumerate(("verdict", "panel", "chain", "map", "question"), start=1):
            page.wait_for_url(f"**tour={step}*")
            assert focused(page) == "tour-title"
            assert words(page, "tour-title").startswith(f"Step {step} of 5: ")
            pointed = page.locator(".pointed")
            assert pointed.count() == 1
            assert pointed.evaluate(
                "(part, id) => part.id === id || part.querySelector('svg')?.id === id", at
            )
            card, place = page.locator("#tour").bounding_box(), pointed.bounding_box()
            assert card
            assert place
            assert 0 <= card["y"] < place["y"]
            if step < 5:
                page.locator("#tour-next").press("Enter")
        assert page.locator("#answer-finish").is_visible()
        page.locator("#tour-back").press("Enter")
        page.wait_for_url("**tour=4*")
        assert words(page, "right") == "In state 1, both choices are equally good."
        page.locator("#point").press("ArrowUp")
        page.wait_for_url("**pF=0.26&**tour=4*")
        assert page.locator("#tour").is_visible(), "to try something does not end the tour"
        page.go_back()
        page.wait_for_url("**pF=0.25&**tour=4*")
        page.locator("#tour-end").press("Enter")
        assert not page.locator("#tour").is_visible()
        assert focused(page) == "tour-start"
        assert page.locator(".pointed").count() == 0


# the point, the views, and what is taken away


def test_the_point_moves_by_the_keyboard(browser: Watched, file: str) -> None:
    with opened(browser, file, WARD) as page:
        point = page.locator("#point")
        assert point.get_attribute("role") == "slider"
        for key in ("ArrowRight", "Shift+ArrowUp", "Shift+ArrowLeft", "ArrowDown"):
            point.press(key)
        page.wait_for_url("**pC=0.36&pF=0.39&**")
        told = (point.get_attribute("aria-valuetext") or "").replace("\xa0", " ")
        assert told == (
            "chance that medication moves up 36.0 %, chance that surgery reaches home (4) 39.0 %"
        )
        for _ in range(8):
            point.press("Shift+ArrowUp")
            point.press("Shift+ArrowLeft")
        page.wait_for_url("**pC=0&pF=1&**")
        assert focused(page) == "point", "it is still held"


def test_a_projector_shows_the_same_larger(browser: Watched, file: str) -> None:
    with opened(browser, file) as page:
        small = page.locator("#right").evaluate(
            "(part) => parseFloat(getComputedStyle(part).fontSize)"
        )
        page.click("#projector")
        page.wait_for_url("**view=projector")
        assert page.get_attribute("#projector", "aria-pressed") == "true"
        assert not page.locator("#map-words").is_visible()
        large = page.locator("#right").evaluate(
            "(part) => parseFloat(getComputedStyle(part).fontSize)"
        )
        assert large > 1.2 * small
        page.locator("#map").scroll_into_view_if_needed()
        box = page.locator("#map .outline").bounding_box()
        assert box
        page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + 0.75 * box["height"])
        page.wait_for_url("**pC=0.8&pF=0.25&**")
        page.click("#projector")
        page.wait_for_url(lambda url: "view" not in url)


def test_another_page_shows_the_parts_that_count(browser: Watched, file: str) -> None:
    with opened(browser, file, f"{WARD}&view=embed") as page:
        shown = page.locator("svg:visible").evaluate_all("(all) => all.map(({ id }) => id)")
        assert shown == ["chain", "map"]
        assert page.locator("#verdict").is_visible()
        assert page.locator("#pC").is_visible()
        assert not page.locator("#tools").is_visible()
        whole = page.get_attribute("#whole", "href") or ""
        assert "view" not in whole
        assert "states=dead,severe" in whole


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        ((True, False), "Link copied."),
        ((False, True), "Link copied."),
        ((False, False), "Press Ctrl+C."),
    ],
)
def test_the_link_is_copied_from_a_file_too(
    browser: Watched, file: str, allowed: tuple[bool, bool], said: str
) -> None:
    with opened(browser, file, WARD) as page:
        page.evaluate(CLIPBOARD, allowed)
        page.click("#copy")
        page.locator("#copied", has_text=said).wait_for()
        link = page.input_value("#link")
        assert page.evaluate("window.taken") == ([link] if any(allowed) else [])
        assert page.locator("#link").evaluate("(field) => field.selectionEnd") == len(link)
        page.click("#embed")
        page.locator("#code").wait_for()
        code = Read(page.input_value("#code"))
        (frame,) = code.all("iframe")
        assert frame.attributes["src"].startswith("explorer.html#G=4&")
        assert frame.attributes["src"].endswith("&view=embed")
        assert frame.attributes["title"]


# anyone, anywhere


@pytest.mark.sample("projector", "embed", "question")
@pytest.mark.parametrize(
    ("viewport", "colours", "link"),
    [
        (LAPTOP, "light", VIEWS[0]),
        (LAPTOP, "dark", VIEWS[1]),
        (PHONE, "light", VIEWS[2]),
        (PHONE, "dark", VIEWS[3]),
        (LAPTOP, "light", "tour=5"),
        (PHONE, "dark", "tour=3"),
    ],
    ids=["words", "projector", "embed", "question", "tour-laptop", "tour-phone"],
)
def test_nothing_is_in_the_way_of_anyone(
    browser: Watched,
    file: str,
    violations: "Callable[[Page], list[str]]",
    viewport: Any,
    colours: Any,
    link: str,
) -> None:
    with opened(browser, file, link, viewport=viewport, color_scheme=colours) as page:
        assert violations(page) == []


@pytest.mark.parametrize(
    ("viewport", "font"),
    [(LAPTOP, WIDE), (PHONE, WIDE), (PHONE, NARROW)],
    ids=["laptop-wide", "phone-wide", "phone-narrow"],
)
def test_all_words_fit_and_nothing_scrolls_sideways(
    browser: Watched, file: str, viewport: Any, font: float
) -> None:
    with opened(browser, file, viewport=viewport, font=font) as page:
        for gamma, link in enumerate(VIEWS, start=20):
            page.evaluate("(hash) => { location.hash = hash; }", f"{link}&gamma={gamma}")
            page.wait_for_function(
                "(gamma) => document.getElementById('gamma').value === gamma", arg=str(gamma)
            )
            for turn in range(2):
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide == viewport["width"], link
                assert misplaced(page) == [], link
                page.click("#answer-finish" if "predict" in link and turn == 0 else "#many")
                page.evaluate(UNFOLD)
