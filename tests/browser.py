"""A real browser for the tests: it fails on whatever leaves this machine, and on any error."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import pytest
from optional import optional, why_broken

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOW: Final = (
    "tests in a browser: Chromium is not installed; on Debian and Ubuntu, get it with:"
    " apt-get install chromium"
)
OPTIONS: Final = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
PHONE: Final = {"width": 390, "height": 844}
DESK: Final = {"width": 1280, "height": 800}


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
    def page(self, *, meant: tuple[str, ...] = (), **options: Any) -> "Iterator[Page]":
        """Open an empty page in a profile of its own; on leaving, refuse all that went wrong.

        What is meant to go wrong has one of the given words in it. The options are those of
        Playwright's `new_context`.
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
            page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
            page.on("request", lambda request: wrong.extend(_abroad(request.url)))
            yield page
        assert [said for said in wrong if not any(word in said for word in meant)] == []


def _abroad(url: str) -> list[str]:
    """Say if an address is not on this machine."""
    parts = urlsplit(url)
    here = parts.scheme in ("file", "data", "blob") or parts.hostname == "127.0.0.1"
    return [] if here else [f"left the machine: {url}"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Watched]:
    """Chromium, for the tests of one module: while it runs, nothing else can have an event loop."""
    playwright = optional("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip(HOW)
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
