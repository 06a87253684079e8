"""The page of a fit in a real browser: it fits, and can be read by all, in every kind of answer."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from browser import DESK, PHONE, Watched
from fits import AT_ONE, NEVER, USUAL, counted, walked
from fonts import NARROW, WIDE

from grbp.fitting.result import Fit
from grbp.model.labels import Labels

LONG: Final = Labels(
    ("a state with a very long name",) * 5, ("watchful waiting at home", "immediate surgery")
)
DOUBTS: Final = ("The chances differ by state.", "Unbroken" * 20)

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
