"""Photograph the explorer and the pages of a study for the documents."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

import grbp
from grbp.explorer.page import single_file

IMAGES = Path(__file__).parent.parent / "docs" / "images"
EXPLORER = {"explorer.png": (1280, 1010), "explorer-phone.png": (390, 844)}
PAGES = {
    "page-cases.png": ("", (1280, 700), "light"),
    "page-case.png": ("/cases/58", (1280, 1220), "light"),
    "page-case-phone.png": ("/cases/59", (390, 844), "dark"),
    "page-evidence.png": ("/evidence", (1280, 1240), "light"),
    "page-warned.png": ("%202/cases/120", (1280, 760), "light"),
}


def explorer(browser: Browser, place: Path, folder: Path) -> None:
    """Open the explorer at each width, play a hundred cases and two steps, and take a picture."""
    page_file = place / "explorer.html"
    page_file.write_text(single_file(), "utf-8")
    for name, (width, height) in EXPLORER.items():
        size: Any = {"width": width, "height": height}
        page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
        page.goto(page_file.as_uri())
        page.click("#many")
        page.click("#step")
        page.wait_for_function("() => document.getElementById('story').innerText.length < 20")
        page.mouse.move(0, 0)
        page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
        page.screenshot(path=folder / name)
    by_state(browser, page_file.as_uri(), folder)
    teaching(browser, page_file.as_uri(), folder)


def teaching(browser: Browser, url: str, folder: Path) -> None:
    """Take a picture of a question, and of the page in the words of a story."""
    page = browser.new_page(viewport={"width": 1280, "height": 560}, color_scheme="light")
    page.goto(f"{url}#predict=2&seed=7")
    page.evaluate("() => document.activeElement.blur()")
    page.screenshot(path=folder / "explorer-question.png")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.click("text=a ward")
    page.wait_for_url("**story=ward")
    page.evaluate("() => document.activeElement.blur()")
    page.screenshot(path=folder / "explorer-words.png")


def by_state(browser: Browser, url: str, folder: Path) -> None:
    """Unfold the chances that differ by state, and take a picture of the example."""
    page = browser.new_page(viewport={"width": 1280, "height": 1010}, color_scheme="light")
    page.goto(url)
    page.click("#states-fold summary")
    page.click("#states-kicks")
    page.evaluate("() => document.activeElement.blur()")
    page.locator("section[aria-labelledby=title-states]").screenshot(
        path=folder / "explorer-by-state.png"
    )


def play(store: Path) -> None:
    """Make a study of sixty drawn cases, and one of 120 whose chances differ by state."""
    play_study(store, "ward", 60, (0.47, 0.47, 0.47))
    play_study(store, "ward 2", 120, (0.2, 0.5, 0.8))


def play_study(store: Path, name: str, cases: int, up: tuple[float, ...]) -> None:
    """Make a study of drawn cases, the last three of them in progress."""
    minutes = count()
    start = datetime(2026, 11, 2, 8, tzinfo=UTC)
    draw = np.random.default_rng(1).random

    def clock() -> datetime:
        return start + timedelta(minutes=37 * next(minutes))

    with grbp.Study.create(
        store, name, goal=4, who="study office", clock=clock, case_name="patient",
        states=["dead", "severe", "moderate", "mild", "home"], actions=["medication", "surgery"],
    ) as study:  # fmt: skip
        for case in range(1, cases + 1):
            code = f"B-{case % 12 + 1}" if case > cases - 3 else None
            advice = study.open_case(1 + int(3 * draw()), who="ward desk", code=code)
            while advice.action is not None and case < cases - 2:
                finish, state = advice.action == grbp.Action.FINISH, advice.state
                above, below = (4, 0) if finish else (state + 1, state - 1)
                won = draw() < (0.35 if finish else up[state - 1])
                advice = study.tell(case, above if won else below, who="night desk")


@contextmanager
def serving(store: Path) -> Iterator[str]:
    """Serve a store for the first time; return the address, which carries a token."""
    command = [sys.executable, "-m", "grbp", "serve", "--port", "0", "--store", str(store)]
    command.append("--create")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield next(iter(server.stdout or ())).strip()
        finally:
            server.terminate()


def sign_in(page: Page, link: str) -> str:
    """Sign in by an address that carries a token; return the address without it."""
    page.goto(link)
    page.wait_for_url(lambda url: "sign-in" not in url)
    return link.partition("/sign-in")[0]


def pages(browser: Browser, place: Path, folder: Path) -> None:
    """Open pages of a study, and take a picture of each."""
    play(place / "ward.sqlite")
    with serving(place / "ward.sqlite") as link:
        for name, (path, (width, height), scheme) in PAGES.items():
            look: Any = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
            page = browser.new_page(**look, timezone_id="UTC")
            url = sign_in(page, link)
            page.goto(f"{url}/studies/ward{path}", wait_until="networkidle")
            page.evaluate("document.querySelector('.who').hidden = true")  # whoever runs this
            page.screenshot(path=folder / name)


def simulations(browser: Browser, place: Path, folder: Path) -> None:
    """Let three learners play, and take a picture of what came of it."""
    with serving(place / "none.sqlite") as link:
        page = browser.new_page(viewport={"width": 1280, "height": 1010}, color_scheme="light")
        url = sign_in(page, link)
        page.goto(f"{url}/explore#G=4&pC=0.65&pF=0.3&start=2")
        page.check("input[value=getbe-ps]")
        page.click("#simulation-run")
        page.locator("#simulation-said", has_text="Done").wait_for(timeout=180_000)
        page.evaluate("() => document.activeElement.blur()")
        page.locator("#simulations").screenshot(path=folder / "explorer-simulations.png")


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=IMAGES, help="docs/images")
    folder = parser.parse_args().folder
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        explorer(browser, Path(place), folder)
        pages(browser, Path(place), folder)
        simulations(browser, Path(place), folder)
        browser.close()


if __name__ == "__main__":
    main()
