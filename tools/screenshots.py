"""Photograph the explorer for the documents, in Chromium, into docs/images or another folder.

python tools/screenshots.py [FOLDER]
"""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from grbp.serve.explorer import single_file

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SHOTS = {"explorer.png": (1280, 1010), "explorer-phone.png": (390, 844)}


def main(folder: Path) -> None:
    """Open the explorer at each width, play a hundred cases and two steps, and take a picture."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as started:
        page_file = Path(place) / "explorer.html"
        page_file.write_text(single_file(), "utf-8")
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, (width, height) in SHOTS.items():
            size = {"width": width, "height": height}
            page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
            page.goto(page_file.as_uri())
            page.click("#many")
            page.click("#step")
            page.wait_for_function("() => document.getElementById('story').innerText.length < 20")
            page.mouse.move(0, 0)
            page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
            page.screenshot(path=folder / name)
        browser.close()


main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
