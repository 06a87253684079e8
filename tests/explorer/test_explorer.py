"""The explorer as a person has it: in a real browser, as one file and as it is served."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

import pytest
from browser import DESK, PHONE, Watched, misplaced
from explorer_page import opened, settle
from fonts import NARROW, WIDE
from html_page import Page as Read
from runs import one_sentence

import grbp
from grbp import Problem
from grbp.cli import main
from grbp.errors import GrbpError
from grbp.explorer.page import STATIC, served_page, single_file

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES: Final = ["chain", "shares", "values", "map", "costs", "control"]
STATES: Final = [
    "G=4&pC=0.45&pF=0.3&start=2",
    "G=2&pC=0.5&pF=0.5&start=1&threshold=0",
    "G=50&pC=0.5&pF=0.1&start=1&gamma=100",
    "G=50&pC=0.97&pF=0.123&start=49&threshold=all&gamma=0.5",
    "G=12&pC=0.3&pF=0&start=uniform&gamma=0",
    "G=9&pC=0&pF=1&start=8&threshold=1",
]
STORY: Final = re.compile(r"Case (\d+): (.*?)(?:: (won|lost) after (\d+) steps?)?\.")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    assert main(["explore", "--out", str(path), "--quiet"]) == 0
    return path.as_uri()


def words(page: "Page", name: str) -> str:
    text = page.locator(f"#{name}").text_content() or ""
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


def settings(page: "Page") -> dict[str, str]:
    """What the sliders, the fields and the choices say, and what follows from them."""
    settle(page)
    names = ["goal", "pC", "pF", "start", "gamma"]
    read = {name: page.input_value(f"#{name}-number") for name in names}
    read |= {f"slider {name}": page.input_value(f"#{name}") for name in names}
    read["any"] = str(page.is_checked("#uniform"))
    read["threshold"] = page.locator("input[name=threshold]:checked").input_value()
    return read | {name: words(page, name) for name in ("verdict", "gamma-counts", "exact")}


def test_the_file_needs_nothing_beside_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explore"]) == 0
    assert capsys.readouterr().out == "explorer.html\n"
    written = (tmp_path / "explorer.html").read_text("utf-8")
    assert written == single_file()
    assert len(written.encode()) < 200_000
    page = Read(written)
    assert page.all("link") == []
    assert [element.attributes for element in page.all("script")] == [{"type": "module"}]
    for element in page.elements:
        assert not {"src", "srcset", "action", "data"} & element.attributes.keys()
        assert element.attributes.get("href", "#").startswith("#")
    (script,) = page.all("script")
    assert not re.search(r"^\s*(import|export)\b", script.text, re.MULTILINE)
    assert "</" not in script.text
    for module in [*STATIC.glob("explorer*.js"), STATIC / "exact.js"]:
        longest = max(module.read_text("utf-8").splitlines(), key=len)
        assert longest in script.text, module.name
    for address in re.findall(r"https?://[^\"'\s]*", written):
        assert address == "http://www.w3.org/2000/svg"


def test_the_page_that_is_served_has_nothing_inline() -> None:
    page = Read(served_page())
    assert page.all("style") == []
    assert {script.text for script in page.all("script")} == {""}
    for element in page.elements:
        assert not any(name == "style" or name.startswith("on") for name in element.attributes)


@pytest.mark.parametrize("name", ["-", ".", "there", "", "explorer.html/inside"])
def test_where_nothing_can_be_written_is_said_in_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "explorer.html").write_text("kept", "utf-8")
    assert main(["explore", "--out", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    one_sentence(GrbpError(err.removesuffix("\n")))
    assert (tmp_path / "explorer.html").read_text("utf-8") == "kept"


def test_it_says_what_the_package_says(browser: Watched, file: str) -> None:
    with opened(browser, file) as page:
        for goal, p_c, p_f, start in (
            (4, 0.45, 0.3, 2), (4, 0.65, 0.3, 3), (50, 0.5, 0.1, 25), (20, 0.48, 0.05, "uniform"),
            (2, 0.6, 0.4, 1), (4, 0.5, 0.25, "uniform"), (9, 0.0, 1.0, 8), (7, 1.0, 0.2, 1),
        ):  # fmt: skip
            page.evaluate(
                "(hash) => { location.hash = hash; }", f"G={goal}&pC={p_c}&pF={p_f}&start={start}"
            )
            problem = Problem(goal, p_c, p_f, start)
            best = grbp.optimal_threshold(problem)
            right = f"it is right to {'finish' if best else 'continue'}"
            if grbp.margin(problem) == 0.0:
                right = "both choices are equally good"
            page.wait_for_function(
                "(wins) => document.getElementById('number-finish').textContent === wins",
                arg=f"{100 * p_f:.1f}\xa0%",
            )
            assert words(page, "right") == f"In state 1, {right}."
            assert words(page, "number-boundary") == f"{100 * grbp.boundary(goal, p_c):.1f} %"
            assert words(page, "number-value") == f"{100 * grbp.value(problem, best):.1f} %"
            assert words(page, "exact") == words(page, "number-value")
            assert words(page, "exact-boundary") == words(page, "number-boundary")
            assert words(page, "number-cost") == f"{100 * grbp.gap(problem):.1f} %"
            assert float(words(page, "number-margin")) == pytest.approx(
                grbp.margin(problem), rel=0.005
            )
            rows = page.locator("#value-rows tr").evaluate_all(
                "(rows) => rows.map((row) => row.textContent)"
            )
            values = zip(*(grbp.value_at(problem, tau) for tau in (0, 1, best)), strict=True)
            for state, (row, cells) in enumerate(zip(rows, values, strict=True), start=1):
                assert row == str(state) + "".join(f"{100 * v:.1f}\xa0%" for v in cells)


@pytest.mark.slow
def test_every_state_is_a_link_and_back_leads_back(browser: Watched, file: str) -> None:
    with opened(browser, file) as page:
        first = settings(page)
        page.fill("#goal-number", "7")
        page.fill("#pC-number", "0.613")
        page.locator("#pF").press("End")
        page.locator("#pF").press("ArrowLeft")
        page.wait_for_url("**pF=0.99**")
        second = settings(page)
        page.fill("#gamma-number", "2.5")
        page.check("#threshold-all")
        page.check("#uniform")
        page.wait_for_url("**start=uniform**")
        third = settings(page)
        assert (third["goal"], third["pC"], third["slider pC"]) == ("7", "0.613", "0.61")
        link = page.input_value("#link")
        assert link == page.url
        with opened(browser, link) as again:
            assert settings(again) == third
            assert again.input_value("#link") == link
        page.go_back()
        page.wait_for_url("**pF=0.99**")
        assert settings(page) == second
        page.go_back()
        page.wait_for_url(file)
        assert settings(page) == first
        page.go_forward()
        page.go_forward()
        assert settings(page) == third
        page.locator("#copy").click()
        page.wait_for_function("() => document.getElementById('copied').textContent !== ''")
    with opened(browser, f"{file}#G=1e9&pC=-3&pF=much&start=99&gamma=&threshold=7") as page:
        read = settings(page)
        assert [read[name] for name in ("goal", "pC", "pF", "start", "gamma")] == [
            "50",
            "0",
            "0.3",
            "49",
            "15",
        ]
        assert read["threshold"] == "best"
        # A smaller goal takes the start along until there is room for it again, and what is typed
        # beyond a limit is the limit.
        page.fill("#goal-number", "3")
        page.fill("#pF-number", "7")
        page.locator("#pF-number").blur()
        assert (page.input_value("#start-number"), page.input_value("#pF-number")) == ("2", "1")
        page.wait_for_url("**G=3&**pF=1&**")
        page.locator("#goal-number").press_sequentially("0")
        page.wait_for_url("**G=30&**start=29**")
        page.go_back()
        settle(page)
        assert page.input_value("#goal-number") == "3"


@pytest.mark.slow
def test_the_cases_walk_as_they_may_and_are_counted(browser: Watched, file: str) -> None:
    with opened(browser, f"{file}#G=5&pC=0.5&pF=0.3&start=3&threshold=1") as page:
        page.select_option("#speed", "200")
        ended = 0
        while ended < 6:
            page.click("#step")
            page.click("#step")
            found = STORY.fullmatch(words(page, "story"))
            assert found
            number, way, outcome, steps = found.groups()
            states = way.split(" → ")
            assert states[0] == "3"
            for here, there in pairwise(states):
                if there == "finish":
                    assert here == "1"
                elif here == "finish":
                    assert there in ("0", "5")
                elif "…" not in (here, there):
                    assert here != "1", "in state 1 it must finish"
                    assert abs(int(here) - int(there)) == 1
            if outcome is None:
                assert states[-1] not in ("0", "5")
                continue
            ended = int(number)
            assert states[-1] == {"won": "5", "lost": "0"}[outcome]
            assert "…" in states or int(steps) == len(states) - 1 - ("finish" in states)
            assert (
                int(words(page, "won")) + int(words(page, "lost"))
                == int(words(page, "count"))
                == ended
            )
        page.click("#play")
        page.wait_for_function("() => Number(document.getElementById('count').textContent) > 30")
        assert words(page, "play") == "Pause"
        page.click("#play")
        stopped = words(page, "count")
        for _ in range(10):
            page.click("#many")
        count, won = (int(words(page, name).replace(",", "")) for name in ("count", "won"))
        assert count == int(stopped) + 1000
        exact = grbp.value(Problem(5, 0.5, 0.3, 3), 1)
        assert abs(won / count - exact) < 4 * (exact * (1 - exact) / count) ** 0.5
        page.click("#again")
        assert (words(page, "count"), words(page, "share")) == ("0", "\N{EN DASH}")


def test_no_step_is_lost_by_a_hurried_hand(browser: Watched, file: str) -> None:
    with opened(browser, f"{file}#G=9&pC=1&pF=0&start=2&threshold=0") as page:
        page.select_option("#speed", "1.5")
        for _ in range(4):
            page.click("#step")
        page.wait_for_function(
            "() => document.getElementById('story').textContent.endsWith(' 2 → 3 → 4 → 5 → 6.')"
        )


TRACE = """() => {
  const token = document.querySelector("#chain .token");
  window.places = [];
  new MutationObserver(() => window.places.push(token.getAttribute("transform")))
    .observe(token, { attributes: true });
}"""


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_glides_for_those_who_asked_for_less_motion(
    browser: Watched, file: str, motion: str
) -> None:
    with opened(browser, f"{file}#G=4&pC=1&pF=0&start=2", reduced_motion=motion) as page:
        page.evaluate(TRACE)
        before = page.locator("#chain .token").get_attribute("transform")
        page.click("#step")
        page.wait_for_function("() => document.getElementById('story').textContent.endsWith('3.')")
        places = set(page.evaluate("window.places")) - {before}
        assert (len(places) == 1) == (motion == "reduce"), places


def taken(page: "Page", picture: str, kind: str) -> bytes:
    with page.expect_download() as waiting:
        page.click(f"button[data-picture={picture}][data-kind={kind}]")
    assert waiting.value.suggested_filename == f"grbp-{picture}.{kind}"
    return waiting.value.path().read_bytes()


def test_every_picture_is_a_drawing_of_its_own(browser: Watched, file: str) -> None:
    name = "{http://www.w3.org/2000/svg}"
    with opened(browser, file, color_scheme="dark") as page:
        for picture in PICTURES:
            text = taken(page, picture, "svg").decode()
            root = ET.fromstring(text)  # noqa: S314 (our own)
            assert root.findtext(f"{name}title") == page.get_attribute(f"#{picture}", "aria-label")
            assert root.find(f"{name}rect[@fill='#ffffff']") is not None, "light on any screen"
            fact = "".join(root.findall(f"{name}text")[-1].itertext())
            given = "\N{GREEK SMALL LETTER GAMMA} = 15"
            assert fact.startswith(given if picture == "control" else "G = 4, pC = 0.45, pF = 0.3")
            assert "var(" not in text
            assert "class=" not in text


def test_every_picture_is_an_image(browser: Watched, file: str) -> None:
    with opened(browser, file) as page:
        for picture in PICTURES:
            image = taken(page, picture, "png")
            assert image[:8] == b"\x89PNG\r\n\x1a\n"
            width, height = (int.from_bytes(image[at : at + 4], "big") for at in (16, 20))
            shown = page.locator(f"#{picture}").bounding_box()
            assert shown
            assert (width, height) == (3 * shown["width"], 3 * (shown["height"] + 24))


def focused(page: "Page") -> str:
    return str(page.evaluate("document.activeElement.id"))


def test_the_keyboard_is_enough(browser: Watched, file: str) -> None:
    with opened(browser, file) as page:
        reached: list[str] = []
        while not reached or reached[-1] != "gamma-number":
            page.keyboard.press("Tab")
            reached.append(focused(page))
            assert len(reached) < 120
            if reached[-1] == "goal":
                page.keyboard.press("ArrowRight")
            elif reached[-1] == "threshold-best":
                page.keyboard.press("ArrowDown")
            elif reached[-1] == "many":
                page.keyboard.press("Space")
        ways = [
            "tour-start", "predict-start", "projector", "copy", "embed",
            "pC", "pC-number", "pF", "pF-number", "goal", "goal-number", "start", "start-number",
            "uniform", "play", "step", "many", "again", "speed", "point", "gamma", "gamma-number",
        ]  # fmt: skip
        assert [name for name in reached if name in ways] == ways
        assert (page.input_value("#goal"), words(page, "count")) == ("5", "100")
        assert page.is_checked("#threshold-0")


def test_the_point_is_dragged_by_finger(browser: Watched, file: str) -> None:
    with opened(browser, file, viewport=PHONE, has_touch=True) as page:
        page.locator("#panel summary").click()
        page.locator("#map").scroll_into_view_if_needed()
        box = page.locator("#map .outline").bounding_box()
        handle = page.locator("#map .handle").bounding_box()
        assert box
        assert handle
        x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
        finger = page.context.new_cdp_session(page)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            places = [{"x": x, "y": y} for x, y in points]
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

        # Elsewhere on the map a finger moves the page.
        touch("touchStart", (box["x"] + 9, box["y"] + 99))
        touch("touchEnd")
        assert page.input_value("#pC-number") == "0.45"
        touch("touchStart", (x, y))
        touch("touchMove", (x + 0.1 * box["width"], y))
        touch("touchMove", (x + 0.2 * box["width"], y - 0.3 * box["height"]))
        touch("touchEnd")
        page.wait_for_url("**pC=0.65&pF=0.6&**")


def test_the_point_is_dragged(browser: Watched, file: str) -> None:
    with opened(browser, file) as page:
        page.locator("#map").scroll_into_view_if_needed()
        box = page.locator("#map .outline").bounding_box()
        handle = page.locator("#map .handle").bounding_box()
        assert box
        assert handle
        page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 0.75 * box["height"], steps=4)
        page.mouse.up()
        assert (page.input_value("#pC-number"), page.input_value("#pF-number")) == ("0.8", "0.25")
        page.wait_for_url("**pC=0.8&pF=0.25**")


@pytest.mark.sample("dark-desk")
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
        page.click("#many")
        page.locator("summary").last.click()
        assert violations(page) == []


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("font", [WIDE, NARROW])
def test_all_words_fit_and_nothing_scrolls_sideways(
    browser: Watched, file: str, viewport: Any, font: float
) -> None:
    with opened(browser, file, viewport=viewport, font=font) as page:
        for state in STATES if font == WIDE else STATES[:3]:
            page.evaluate("(hash) => { location.hash = hash; }", state)
            page.wait_for_function(
                "(state) => document.getElementById('link').value.includes(state)",
                arg=state.split("&start")[0],
            )
            for _ in range(2):
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide == viewport["width"], state
                assert misplaced(page) == [], state
                page.click("#many")
