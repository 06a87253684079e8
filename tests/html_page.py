"""A strict reader of the pages that are written, and a text that tries to be HTML."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import NamedTuple

from grbp._palette import PALETTE

HOSTILE = "</td><script>alert(1)</script><img src=x onerror=y> & \"quoted\" 'too' \x00 \ud800"
SEEN = HOSTILE.replace("\x00", "\ufffd").replace("\ud800", "\ufffd")


class Element(NamedTuple):
    """An element of a page: its tag, its attributes, and the text in it."""

    tag: str
    attributes: dict[str, str]
    text: str


class Page(HTMLParser):
    """A strict reader: what is opened must be closed, in order."""

    VOID = frozenset({"meta", "link", "img", "br", "hr", "input", "source"})

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str], list[str]]] = []
        self.elements: list[Element] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        given = {name: value or "" for name, value in attrs}
        if tag in self.VOID:
            self.elements.append(Element(tag, given, ""))
        else:
            self.open.append((tag, given, []))

    def handle_endtag(self, tag: str) -> None:
        opened, attributes, text = self.open.pop()
        assert opened == tag
        self.elements.append(Element(tag, attributes, "".join(text)))

    def handle_data(self, data: str) -> None:
        for _, _, text in self.open:
            text.append(data)

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element.tag in tags]

    def cells(self) -> Iterator[list[str]]:
        """The rows of all tables that are not heads."""
        row: list[str] = []
        for element in self.all("td", "th", "tr"):
            if element.tag != "tr":
                row.append(element.text)
                continue
            if element.text and row:
                yield row
            row = []


def check_report(html: str) -> Page:
    """Read a report, which must be well-formed, fetch nothing and run nothing."""
    page = Page(html)
    ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(set(ids)) == len(ids)
    links = [e.attributes["href"] for e in page.all("a")]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert page.all("script", "link", "iframe", "object", "form", "img") == []
    assert not any(name.startswith("on") for e in page.elements for name in e.attributes)
    assert not re.search(r"[a-z]+://|@import", html)
    check_drawings(page, html)
    return page


def check_drawings(page: Page, html: str) -> None:
    """Check that drawings have words, point to nothing outside, and are of the page's colours."""
    ids = {e.attributes["id"] for e in page.elements if "id" in e.attributes}
    assert set(re.findall(r"url\(#([^)]*)\)", html)) <= ids
    assert len(re.findall(r"url\(", html)) == len(re.findall(r"url\(#", html))
    for used in page.all("use"):
        assert used.attributes["href"].removeprefix("#") in ids
    for picture in page.all("svg"):
        assert (picture.attributes["role"], bool(picture.attributes["aria-label"])) == ("img", True)
    # No colour of a figure is one of light pages alone.
    body = html.split("</style>")[1]
    assert not set(re.findall(r"#[0-9a-f]{6}\b", body)) & {one.light for one in PALETTE.values()}
    assert "#000000" not in body
