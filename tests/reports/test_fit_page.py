"""The page of a fit in a real browser: it fits, and can be read by all, in every kind of answer."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from browser import DESK, PHONE, Watched
from fits import AT_ONE, NEVER, USUAL, counted, walked
from fonts import NARROW, WIDE

from grbp._palette import PALETTE
from grbp.fitting.result import Fit
from grbp.worlds.labels import Labels

LONG: Final = Labels(
    ("a state with a very long name",) * 5, ("watchful waiting at home", "immediate surgery")
)
DOUBTS: Final = ("The chances differ by state.", "Unbroken" * 20)

FILLS: Final = """() => [...document.querySelectorAll(".figure svg [style*=fill]")]
    .map((one) => getComputedStyle(one).fill)"""

FITS: Final[dict[str, Callable[[], Fit]]] = {
    "own words, groups and doubts": lambda: replace(
        walked(150, group="group"), labels=LONG, doubts=DOUBTS
    ),
    "by state": lambda: counted(
        [(300, 500), (200, 500), (100, 500)], [(10, 300), (100, 300), (200, 300)]
    ),
    "never finished": lambda: counted(USUAL, NEVER),
    "not tried in state 1": lambda: counted(USUAL, ((0, 0), *AT_ONE[1:])),
}


@pytest.mark.parametrize("kind", FITS)
def test_the_page_fits_every_screen_and_reads_for_all(
    kind: str, browser: Watched, violations: Any, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(FITS[kind]().report({"Command": "grbp fit " + "long-name" * 30}), "utf-8")
    for size, scheme, font in (
        (PHONE, "dark", WIDE),
        (PHONE, "light", NARROW),
        (DESK, "dark", None),
    ):
        with browser.page(viewport=size, color_scheme=scheme, font=font) as page:
            page.goto(path.as_uri())
            page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
            assert violations(page) == []


def seen_as(colour: str) -> str:
    """A colour as a browser says it."""
    return "rgb({}, {}, {})".format(*(int(colour[k : k + 2], 16) for k in (1, 3, 5)))


def test_pictures_have_the_colours_of_the_page_and_no_frame(
    browser: Watched, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(walked(150).report({}), "utf-8")
    with browser.page() as page:
        page.goto(path.as_uri())
        inks: list[str] = []
        for screen in ("light", "dark", "paper"):
            media: Any = "print" if screen == "paper" else "screen"
            scheme: Any = "light" if screen == "light" else "dark"
            page.emulate_media(media=media, color_scheme=scheme)
            inks.append(seen_as(getattr(PALETTE["ink"], screen)))
            fills = page.evaluate(FILLS)
            assert inks[-1] in fills
            # Nothing stays as it was drawn for another screen.
            others = {*inks[:-1], *([seen_as(PALETTE["paper"].light)] if screen == "dark" else [])}
            assert not others & {*fills}
            ground = "(one) => getComputedStyle(one).backgroundColor"
            assert page.eval_on_selector(".figure", ground) == "rgba(0, 0, 0, 0)"
