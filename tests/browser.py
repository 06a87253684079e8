"""A real browser for the tests: it fails on whatever leaves this machine, and on any error."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import fonts
import pytest
from optional import INSTALL, optional, why_broken

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOW: Final = (
    "tests in a browser: Chromium is not installed; on Debian and Ubuntu, get it, and what"
    " Playwright needs, with: apt-get install chromium libatomic1"
)
OPTIONS: Final = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
PHONE: Final = {"width": 390, "height": 844}
DESK: Final = {"width": 1280, "height": 800}

_MISPLACED: Final = """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map((text) => ({
    words: text.textContent, box: text.getBoundingClientRect(),
  }));
  const outside = texts.filter(({ box }) => box.left < frame.left - 1 || box.right > frame.right + 1
    || box.top < frame.top - 1 || box.bottom > frame.bottom + 1);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  const meeting = texts.flatMap((one, k) => texts.slice(k + 1)
    .filter((other) => meet(one.box, other.box)).map((other) => `${one.words} on ${other.words}`));
  return [...outside.map(({ words }) => `${words} is outside`), ...meeting]
    .map((found) => `${svg.id || svg.classList}: ${found}`);
})"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in a browser as slow: each takes seconds, and a page is seldom touched."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


class Watched:
    """A browser whose pages are watched.

    Parameters
    ----------
    browser : Browser
        The one that was started.
    """

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser

    @contextmanager
    def page(
        self, *, meant: tuple[str, ...] = (), font: float | None = None, **options: Any
    ) -> "Iterator[Page]":
        """Open an empty page in a profile of its own; on leaving, refuse all that went wrong.

        What is meant to go wrong has one of the given words in it. Given a width, the page has a
        font of our own in which every character is that wide, in ems, and no font of the machine.
        The options are those of Playwright's `new_context`.
        """
        wrong: list[str] = []
        with self._browser.new_context(**{"viewport": DESK, **options}) as context:
            context.set_default_timeout(10_000)
            page = context.new_page()
            page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
            page.on(
                "console",
                lambda said: (
                    wrong.append(f"{said.type}: {said.text}")
                    if said.type in ("error", "warning")
                    else None
                ),
            )
            page.on("requestfailed", lambda request: wrong.extend(_failed(request)))
            page.on("request", lambda request: wrong.extend(_abroad(request.url)))
            if font is not None:
                context.add_init_script(fonts.script(font))
            yield page
            if font is not None:
                assert abs(page.evaluate(fonts.WIDTH) - font) < 0.01, "the font is not in use"
        assert [said for said in wrong if not any(word in said for word in meant)] == []


def misplaced(page: "Page") -> list[str]:
    """Find the words of a page's pictures that are cut off, and those that lie on others."""
    return cast("list[str]", page.evaluate(_MISPLACED))


def _failed(request: Any) -> list[str]:
    """Say that a request failed, unless the browser gave it up because the page was left."""
    return [] if request.failure == "net::ERR_ABORTED" else [f"failed: {request.url}"]


def _abroad(url: str) -> list[str]:
    """Say if an address is not on this machine."""
    parts = urlsplit(url)
    here = parts.scheme in ("file", "data", "blob") or parts.hostname == "127.0.0.1"
    return [] if here else [f"left the machine: {url}"]


@cache
def _check_driver() -> None:
    """Leave the tests out where the program by which Playwright drives a browser cannot start."""
    command = [sys.executable, "-m", "playwright", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = why_broken(OSError(done.stderr), f"{INSTALL} --force-reinstall playwright")
        pytest.skip(f"tests in a browser: Playwright {why}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Watched]:
    """Chromium, for the tests of one module: while it runs, nothing else can have an event loop."""
    playwright = optional("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip(HOW)
    _check_driver()
    with playwright.sync_playwright() as started:
        try:
            found = started.chromium.launch(executable_path=program, args=OPTIONS)
        except playwright.Error as error:
            why = why_broken(error, "apt-get install --reinstall chromium")
            pytest.skip(f"tests in a browser: Chromium {why}")
        with found:
            yield Watched(found)


@pytest.fixture(scope="module")
def violations() -> "Callable[..., list[str]]":
    """Find what axe-core says against a page: each rule that is broken, of some or of all."""
    axe = optional("axe_playwright_python.sync_playwright", "axe-playwright-python").Axe()

    def found(page: "Page", *rules: str) -> list[str]:
        options: dict[str, Any] = {"resultTypes": ["violations"]}
        if rules:
            options["runOnly"] = {"type": "rule", "values": list(rules)}
        response = axe.run(page, options=options).response
        return [
            f"{rule['id']}: {node['target']} {node.get('failureSummary', '')}"
            for rule in response["violations"]
            for node in rule["nodes"]
        ]

    return found
