"""The explorer's chances that differ by state: what it says of them, and that it fits anywhere."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from browser import DESK, PHONE, Watched, misplaced
from explorer_page import opened, settle
from fonts import NARROW, WIDE

from grbp.worlds.chain import Chain, Move
from grbp.worlds.dynprog import evaluate, solve

if TYPE_CHECKING:
    from playwright.sync_api import Page

KICKS: Final = "G=6&pC=0.5&pF=0.3&start={}&pF1=0.01&pF2=0.02&pF3=0.1&pF4=0.76&pF5=0.93"
SENTENCES: Final = {
    KICKS.format("uniform"): (
        "The best rule: finish in states 4 and 5. With it, 56.6 of 100 cases from a state drawn"
        " evenly win. With the best simple rule, never finish, 50.0 do, 6.6 fewer."
    ),
    KICKS.format(3): (
        "The best rule: finish in states 4 and 5. With it, 57.0 of 100 cases from state 3 win."
        " With the best simple rule, never finish, 50.0 do, 7.0 fewer."
    ),
    KICKS.format(5): (
        "The best rule: finish in states 4 and 5. With it, 93.0 of 100 cases from state 5 win."
        " A simple rule is as good: finish in every state."
    ),
    "G=4&pC=0.45&pF=0.3&start=2": (
        "The best rule is simple: finish in state 1. With it, 48.8 of 100 cases from state 2 win."
    ),
    "G=4&pC=0.65&pF=0.3&start=1": (
        "The best rule is simple: never finish. With it, 50.4 of 100 cases from state 1 win."
    ),
    "G=5&pC=0&pF=0&start=uniform": (
        "The best rule is simple: finish in every state. With it, 0.0 of 100 cases from"
        " a state drawn evenly win."
    ),
    # A tie: to continue in state 3 is as good.
    "G=4&pC=0.5&pF=0&start=uniform&gamma=15&threshold=best&pF3=0.75": (
        "The best rule: finish in state 3. With it, 50.0 of 100 cases from a state drawn evenly"
        " win. A simple rule is as good: never finish."
    ),
    "G=3&pC=0.5&pF=0.1&start=1&pF2=0.9&states=dead,ill,well,home&actions=wait,cut&case=patient": (
        "The best rule: choose cut in well (2). With it, 45.0 of 100 patients from ill (1) reach"
        " home (3). With the best simple rule, never choose cut, 33.3 do, 11.7 fewer."
    ),
}
LARGEST: Final = "G=12&pC=0.5&pF=0.123&start=uniform&pC7=0.999&pF1=1e-9&pF4=0.76&pF11=0.88"
FITS: Final = """() => [...document.querySelectorAll(".faders div div")].filter((column) =>
  [...column.children].some((part) => part.getBoundingClientRect().width >
    column.getBoundingClientRect().width)).map((column) => column.textContent)"""


def said(page: "Page") -> str:
    settle(page)
    return str(page.locator("#states-words").text_content()).replace("\xa0", " ")


def faders(page: "Page", kind: str) -> list[str]:
    """What the sliders of p_C or of p_F say."""
    settle(page)
    inputs = page.locator(f"#faders-{kind} input")
    return [str(value) for value in inputs.evaluate_all("(all) => all.map((one) => one.value)")]


def test_it_says_what_is_best(browser: Watched, file: str) -> None:
    with opened(browser, file) as page:
        for link, sentence in SENTENCES.items():
            page.goto(f"{file}#{link}")
            page.wait_for_function(
                "(link) => document.getElementById('link').value.includes(link)",
                arg=re.split("&pF\\d|&states", link)[0],
            )
            assert said(page) == sentence


def test_the_table_has_the_numbers_of_the_package(browser: Watched, file: str) -> None:
    chain = Chain(6, Move(0.5, 0.5), [0.01, 0.02, 0.1, 0.76, 0.93])
    best, never = solve(chain), evaluate(chain, [0] * 5).value
    with opened(browser, file, KICKS.format("uniform")) as page:
        rows = page.locator("#states-rows tr").evaluate_all(
            "(rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent))"
        )
    numbers = np.array([best.value, never, best.value - never])
    numbers = 100 * np.column_stack([numbers, numbers.mean(axis=1)])
    names = [["1", "continue"], ["2", "continue"], ["3", "continue"], ["4", "finish"]]
    names += [["5", "finish"], ["mean", ""]]
    for row, name, expected in zip(rows, names, numbers.T, strict=True):
        assert row == [*name, *(f"{value:.1f}" for value in expected)]


def test_the_states_are_moved_one_by_one_and_kept_in_the_link(browser: Watched, file: str) -> None:
    with opened(browser, file, "G=5&pC=0.5&pF=0.3&start=uniform") as page:
        assert not page.locator("#pF2").is_visible(), "behind its fold"
        page.locator("#states-fold summary").press("Enter")
        assert faders(page, "pC") + faders(page, "pF") == ["0.5"] * 4 + ["0.3"] * 4
        alike = said(page)
        page.locator("#pF3").press("End")
        page.locator("#pF3").press("ArrowDown")
        page.wait_for_url("**&pF3=0.99")
        assert "The best rule: finish in state 3. With it," in said(page)
        # A state that was not touched follows the common slider.
        page.fill("#pF-number", "0.05")
        page.locator("#pC1").press("Home")
        page.wait_for_url("**pF=0.05&**&pC1=0&pF3=0.99")
        assert faders(page, "pC") == ["0", "0.5", "0.5", "0.5"]
        assert faders(page, "pF") == ["0.05", "0.05", "0.99", "0.05"]
        third = said(page)
        with opened(browser, page.input_value("#link")) as again:
            assert again.locator("#pF2").is_visible(), "a link opens the fold"
            assert said(again) == third
            assert again.input_value("#link") == page.input_value("#link")
        # A smaller goal takes a state away; a larger one brings it back.
        page.fill("#goal-number", "3")
        page.wait_for_url("**G=3&**&pC1=0")
        page.fill("#goal-number", "13")
        assert said(page) == "The goal is 13. There is a slider for each state up to a goal of 12."
        assert not page.locator("#pC1").is_visible()
        page.fill("#goal-number", "5")
        page.wait_for_url("**G=5&**&pC1=0&pF3=0.99")
        assert said(page) == third
        page.fill("#pF-number", "0.3")
        page.click("#states-alike")
        page.wait_for_url("**&threshold=best")
        assert said(page) == alike
        page.click("#states-kicks")
        page.wait_for_url("**&pF4=0.76&pF5=0.93")
        kicks = said(page)
        page.go_back()
        page.wait_for_url("**&threshold=best")
        assert said(page) == alike
        page.go_forward()
        page.wait_for_url("**&pF4=0.76&pF5=0.93")
        assert said(page) == kicks


def test_a_damaged_link_moves_no_state_beyond_its_limits(browser: Watched, file: str) -> None:
    damaged = "pC1=&pC2=much&pC3=-3&pF1=7&pF2=0.1,0.2&pF3=NaN&pF4=0.9&pC0=0.1&pF=0.4&pC1.5=0.3"
    with opened(browser, file, f"G=4&{damaged}") as page:
        assert (faders(page, "pC"), faders(page, "pF")) == (
            ["0.45", "0.45", "0"],
            ["1", "0.4", "0.4"],
        )
        assert page.input_value("#link").endswith("&threshold=best&pC3=0&pF1=1")
    with opened(browser, file, "G=20&pC1=0.2&pF19=0.3") as page:
        assert not page.locator("#states-words").is_visible()
        assert page.input_value("#link").endswith("&threshold=best")


def test_a_slider_stands_upright(browser: Watched, file: str) -> None:
    with opened(browser, file, KICKS.format("uniform"), viewport=PHONE) as page:
        page.locator("#panel summary").click()
        page.locator("#pF1").scroll_into_view_if_needed()
        box = page.locator("#pF1").bounding_box()
        assert box
        assert box["height"] > 3 * box["width"]
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 1)
        page.wait_for_url("**&pF1=1&pF2=0.02&**")


def test_the_picture_says_of_which_chances_it_is(browser: Watched, file: str) -> None:
    with opened(browser, file, KICKS.format("uniform")) as page:
        for kind in ("svg", "png"):
            with page.expect_download() as waiting:
                page.click(f"button[data-picture=states][data-kind={kind}]")
            assert waiting.value.suggested_filename == f"grbp-states.{kind}"
            if kind == "svg":
                drawn = waiting.value.path().read_text("utf-8")
        label = page.get_attribute("#states", "aria-label")
    assert f"<title>{label}</title>" in drawn
    assert "(0.01 0.02 0.1 0.76 0.93), start in any state" in drawn


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
    with opened(browser, file, LARGEST, viewport=viewport, color_scheme=colours) as page:
        assert violations(page) == []


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("font", [WIDE, NARROW])
def test_all_words_fit_and_nothing_scrolls_sideways(
    browser: Watched, file: str, viewport: Any, font: float
) -> None:
    with opened(browser, file, viewport=viewport, font=font) as page:
        for link in (LARGEST, KICKS.format(2), "G=2&pC=0.5&pF=0.5&start=1&pC1=0.123"):
            page.goto(f"{file}#{link}")
            page.wait_for_function(
                "(link) => document.getElementById('link').value.includes(link)",
                arg=link.partition("&start")[0],
            )
            page.locator("#states-rows").wait_for()
            assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"], link
            assert misplaced(page) == [], link
            assert page.evaluate(FITS) == [], link
