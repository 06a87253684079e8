"""Two rules on the same luck, and a learner that plays, in the explorer as a person has it."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import pytest
from browser import DESK, PHONE, Watched, misplaced
from explorer_page import opened, settle
from fonts import NARROW, WIDE

import grbp
from grbp import Problem

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
WARD: Final = (
    "G=4&pC=0.65&pF=0.3&start=2&states=dead,severe,moderate,mild,home"
    "&actions=medication,surgery&case=patient"
)
LINKS: Final = [
    "G=4&pC=0.45&pF=0.3&start=2",
    WARD,
    "G=50&pC=0.5&pF=0.1&start=uniform&gamma=100&race=all-1&luck=9999",
    "G=2&pC=0.5&pF=0.5&start=1&race=best-1",
]
SECTIONS: Final = """() => ["race", "learner"].map((id) =>
  [...document.getElementById(id).querySelectorAll("p, dd, td, svg")].map((part) =>
    part.matches("svg") ? part.outerHTML : part.textContent))"""

STARTS: Final = """(words) =>
  document.getElementById("race-exact").textContent.startsWith(words)"""


def said(page: "Page", name: str) -> str:
    return str(page.locator(f"#{name}").text_content()).replace("\N{NO-BREAK SPACE}", " ")


def press(page: "Page", *names: str) -> None:
    for name in names:
        page.locator(f"#{name}").press("Enter")


def played(page: "Page") -> int:
    """Read how many cases the two rules have played."""
    found = re.match(r"After ([\d,]+) cases?,", said(page, "race-said"))
    return int(found[1].replace(",", "")) if found else 0


def test_the_long_run_is_that_of_the_package(browser: Watched, file: str) -> None:
    with opened(browser, file) as page:
        for goal, p_c, p_f, start in (
            (4, 0.45, 0.3, 2), (4, 0.65, 0.3, 1), (20, 0.48, 0.05, "uniform"), (9, 0.0, 1.0, 8),
        ):  # fmt: skip
            problem = Problem(goal, p_c, p_f, start)
            best = grbp.optimal_threshold(problem)
            for names, thresholds in (
                ("0-1", (0, 1)), ("all-best", (goal - 1, best)), ("best-0", (best, 0)),
            ):  # fmt: skip
                link = f"G={goal}&pC={p_c}&pF={p_f}&start={start}&race={names}"
                page.goto(f"{file}#{link}")
                one, other = (100 * grbp.value(problem, tau) for tau in thresholds)
                ahead = f"{'A' if one > other else 'B'} wins {abs(one - other):.1f} more."
                if thresholds[0] == thresholds[1]:
                    expected = (
                        f"Both follow the same rule here. In the long run each wins {one:.1f}"
                    )
                else:
                    expected = f"In the long run, A wins {one:.1f} and B {other:.1f}"
                page.wait_for_function(STARTS, arg=expected)
                level = "same rule" in expected or one == other
                assert level or said(page, "race-exact").endswith(ahead)


def test_a_link_gives_the_same_luck_and_another_luck_another_race(
    browser: Watched, file: str
) -> None:
    buttons = ("race-many", "race-one", "learner-100", "learner-1")
    with opened(browser, file, "G=4&pC=0.45&pF=0.3&start=2&race=1-all&luck=77") as page:
        press(page, *buttons)
        once = page.evaluate(SECTIONS)
        assert played(page) == 101
        press(page, "race-again", "learner-again")
        assert played(page) == 0
        assert page.evaluate(SECTIONS) != once
        press(page, *reversed(buttons))  # the cases do not depend on how they are asked for
        assert page.evaluate(SECTIONS) == once
        link = page.input_value("#link")
        assert "race=1-all" in link
        assert "luck=77" in link
        page.fill("#learner-luck", "78")
        press(page, "learner-luck")
        page.wait_for_url("**luck=78*")
        assert page.input_value("#race-luck") == "78"
        assert played(page) == 0
        press(page, *buttons)
        assert page.evaluate(SECTIONS) != once
        page.select_option("#race-rule-B", "0")
        page.wait_for_url("**race=1-0*")
        assert played(page) == 0
        page.go_back()
        page.go_back()
        page.wait_for_url("**luck=77*")
        settle(page)
        press(page, *buttons)
        assert page.evaluate(SECTIONS) == once
    with opened(browser, link) as page:
        press(page, *buttons)
        assert page.evaluate(SECTIONS) == once
    with opened(browser, file, "race=1-2-3&luck=much") as page:
        assert (page.input_value("#race-rule-A"), page.input_value("#race-rule-B")) == ("0", "best")
        usual = page.input_value("#race-luck")
        page.goto(f"{file}#race=x-0&luck=123456")
        page.wait_for_function("() => document.getElementById('race-luck').value === '9999'")
        page.fill("#race-luck", "")
        press(page, "race-luck")
        assert page.input_value("#race-luck") == usual


@pytest.mark.parametrize(("motion", "at_once"), [("no-preference", 1), ("reduce", 8)])
def test_it_plays_until_it_is_stopped(
    browser: Watched, file: str, motion: Any, at_once: int
) -> None:
    with opened(browser, file, reduced_motion=motion) as page:
        press(page, "race-play")
        assert said(page, "race-play") == "Pause"
        assert page.get_attribute("#race-said", "aria-live") == "off"
        page.wait_for_function("() => document.getElementById('race-number').textContent !== ''")
        press(page, "race-play")
        assert said(page, "race-play") == "Play"
        assert page.get_attribute("#race-said", "aria-live") == "polite"
        count = played(page)
        assert count > 0
        assert count % at_once == 0
        press(page, "race-one")
        assert played(page) == count + 1
        press(page, "race-play", "race-many")
        assert said(page, "race-play") == "Play", "100 cases at once end the play"
        press(page, "race-play")
        page.fill("#pF-number", "0.31")
        assert (said(page, "race-play"), played(page)) == ("Play", 0)


def test_the_learner_says_what_it_has_counted_and_why(browser: Watched, file: str) -> None:
    with opened(browser, file, "G=4&pC=0.65&pF=0.2&start=2&gamma=5&luck=7") as page:
        reasons = set()
        for cases in ["learner-1"] * 12 + ["learner-10", "learner-100", "learner-1000"]:
            up, moves = numbers(said(page, "learner-up"))
            won, tries = numbers(said(page, "learner-won"))
            assert said(page, "learner-up-now") == f"{100 * up / moves:.1f} %"
            assert said(page, "learner-won-now") == f"{100 * won / tries:.1f} %"
            boundary = grbp.boundary(4, up / moves)
            why, chooses = said(page, "learner-why"), said(page, "learner-next")
            if up == 0 or won / tries >= boundary:
                assert chooses.endswith("it chooses: finish in state 1.")
                assert "looks at least as good" in why or up == 0
            elif "to learn" in why:
                assert chooses.endswith("it chooses: finish at once.")
                assert numbers(why)[0] == tries < numbers(why)[1]
            else:
                assert chooses.endswith("it chooses: never finish.")
                assert f"It has tried it {tries} time" in why
            reasons.add(chooses.partition(": ")[2])
            press(page, cases)
        assert reasons == {"finish in state 1.", "finish at once.", "never finish."}
        assert said(page, "learner-next").startswith("For case 1,123 it chooses: ")
        assert " = 1,123: N_C = " in said(page, "learner-symbols")
        page.fill("#gamma-number", "6")
        assert said(page, "learner-next").startswith("For case 1 it chooses: ")


def numbers(words: str) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(r"\d[\d,]*", words)]


def test_somebody_who_knows_wins_what_the_best_rule_wins(browser: Watched, file: str) -> None:
    with opened(browser, file, "G=4&pC=0.65&pF=0.3&start=2&race=best-0&luck=5&gamma=0") as page:
        press(page, "race-many", "learner-100")
        knows = numbers(said(page, "learner-said"))[2]
        assert knows == int(said(page, "race-won-A")) == int(said(page, "race-won-B"))
        assert said(page, "race-said").endswith("They are level.")


def test_it_speaks_in_the_words_of_the_link(browser: Watched, file: str) -> None:
    with opened(browser, file, WARD) as page:
        press(page, "race-many", "learner-10")
        assert said(page, "race-name-A") == "never surgery"
        assert said(page, "race-one") == "One patient"
        assert said(page, "race-said").startswith("After 100 patients, A has won ")
        assert said(page, "race-walk-A").startswith("A: moderate (2) → ")
        assert said(page, "learner-up").startswith("Medication moved up ")
        assert said(page, "learner-won").startswith("Surgery worked ")
        assert said(page, "learner-next").startswith("For patient 11 it chooses: ")
        for name in ("race-said", "race-exact", "learner-why", "learner-said", "learner-last"):
            assert not re.search(r"\bcase|\bfinish|\bcontinu|p_|B\(", said(page, name)), name


@pytest.mark.sample("dark-phone")
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_is_in_the_way_of_anyone(
    browser: Watched,
    file: str,
    violations: "Callable[[Page], list[str]]",
    viewport: Any,
    colours: Any,
) -> None:
    with opened(browser, file, viewport=viewport, color_scheme=colours) as page:
        press(page, "race-many", "learner-100")
        for fold in page.locator(":is(#race, #learner) summary").all():
            fold.press("Enter")
        assert violations(page) == []


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("font", [WIDE, NARROW])
def test_all_words_fit_and_nothing_scrolls_sideways(
    browser: Watched, file: str, viewport: Any, font: float
) -> None:
    for link in LINKS if font == WIDE else LINKS[:2]:
        with opened(browser, file, link, viewport=viewport, font=font) as page:
            press(page, "race-many", "learner-100")
            assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"], link
            assert misplaced(page) == [], link
