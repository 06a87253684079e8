"""The explorer as one file, opened in a browser by a link."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from browser import Watched

if TYPE_CHECKING:
    from playwright.sync_api import Page


_SETTLED = """() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""


def settle(page: "Page") -> None:
    """Wait until the page was told of a fold that opened, or of an address that is another."""
    page.evaluate(_SETTLED)


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the explorer once; return its address."""
    from grbp.explorer.page import single_file  # noqa: PLC0415 (few tests need it)

    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    path.write_text(single_file(), "utf-8")
    return path.as_uri()


@contextmanager
def opened(browser: Watched, file: str, link: str = "", **options: Any) -> "Iterator[Page]":
    """Open the explorer, with what a link says, and wait until it is ready."""
    with browser.page(**options) as page:
        page.goto(f"{file}#{link}" if link else file)
        page.wait_for_selector("html[data-ready]")
        yield page
