"""How long it takes until others see an entry: ten people look at the same case in Chromium.

    .venv/bin/python benchmarks/news.py             # prints, and writes news.md
    .venv/bin/python benchmarks/news.py --quick     # little of everything; only prints

The server runs in a process of its own. Each person has a browser profile and a page, which nobody
touches. The clock starts when the server has answered whoever records, and stops when the entry
stands in the history of the page. All pages are on this machine, and are drawn by its cores.
"""

import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

import grbp
from columns import Columns
from measure import Effort, say
from sections import run_table
from serve import serving, started

PEOPLE = 10
PROMISE = 2.0
"""Seconds within which others see an entry."""

WAIT = """(step) => {
  window.seen = new Promise((done) => {
    const look = new MutationObserver(() => {
      if (!document.querySelector("tr .what").textContent.startsWith(`Step ${step}`)) return;
      look.disconnect();
      done(Date.now());
    });
    look.observe(document.getElementById("main"), { childList: true, subtree: true });
  });
}"""


def open_pages(browser: Any, url: str, token: str) -> list[Any]:
    """Let everybody sign in, and look at the first case."""
    pages = []
    for _ in range(PEOPLE):
        page = browser.new_context().new_page()
        with page.expect_response("**/events.ndjson*"):
            page.goto(f"{url}/sign-in?next=/studies/ward/cases/1#token={token}")
        pages.append(page)
    return pages


def measure_delays(url: str, token: str, entries: int) -> list[float]:
    """Record entries of one case; return after how many seconds each was seen by each."""
    delays = []
    with sync_playwright() as started_driver, grbp.Client(url, "ward", token=token) as client:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = started_driver.chromium.launch(executable_path=program, args=options)
        pages = open_pages(browser, url, token)
        for step in range(1, entries + 1):
            say(f"entry {step} of {entries}")
            for page in pages:
                page.evaluate(WAIT, step)
            time.sleep(1.0 + 0.37 * step % 0.25)  # At another moment between two looks each time.
            client.tell(1, 3 if step % 2 else 2, took="continue", why="measured")
            recorded = 1e3 * time.time()
            delays += [(page.evaluate("window.seen") - recorded) / 1e3 for page in pages]
        browser.close()
    return delays


def measured(effort: Effort) -> Columns:
    """The table of how long it takes."""
    entries = effort.choose(3, 40)
    with TemporaryDirectory() as folder:
        store = Path(folder) / "store.sqlite"
        grbp.Study.create(store, "ward", 4, who="bench").open_case(2)
        with started(*serving(store)) as (url, token):
            delays = measure_delays(url, token or "", entries)
    longest = max(delays)
    shown = [f"{1e3 * one:.0f} ms" for one in (*np.quantile(delays, [0.5, 0.99]), longest)]
    held = "held" if longest < PROMISE else "not held"
    return Columns(
        f"{entries} entries, each seen by {PEOPLE} people",
        ["what", "half within", "99 % within", "longest"],
        [["an entry is seen by others", *shown]],
        [f"Wanted: all within {PROMISE:g} s: {held}."],
    )


if __name__ == "__main__":
    run_table(__file__, "How soon others see an entry", measured)
