"""The served explorer in a real browser: learners simulated on the spot, and the verdicts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from browser import DESK, PHONE, Watched, misplaced
from fonts import NARROW, WIDE
from serving import Serving

import grbp
from grbp import experiments
from grbp.explorer import simulations

if TYPE_CHECKING:
    from playwright.sync_api import Page

LATER: Final = 60_000
"""Milliseconds for what may be compiled first."""

BOUNDARY: Final = "#G=10&pC=0.5&pF=0.1&start=5&gamma=15"

LEAVING: Final = """() => {
    const real = window.fetch;
    window.fetch = async (...asked) => {
        const answer = await real(...asked);
        window.fetch = real;
        dispatchEvent(new Event("pagehide"));
        return answer;
    };
}"""
"""Leave the page when a question was answered: one that is not would fail."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("serving")
    with Serving(folder, asking="viewer", results=folder / "results") as serving:
        yield serving


@contextmanager
def opened(
    browser: Watched, server: Serving, state: str = "#G=4&pC=0.65&pF=0.3&start=2", **options: Any
) -> "Iterator[Page]":
    if server.asking:
        options["storage_state"] = server.signed_in()
    with browser.page(**options) as page:
        page.goto(f"{server.url}/explore{state}")
        page.wait_for_selector("html[data-ready] #simulations[data-ready]")
        yield page


def said(page: "Page", words: str, name: str = "simulation-said") -> str:
    """Wait until something is said, and return all of it."""
    place = page.locator(f"#{name}", has_text=words)
    place.wait_for(timeout=LATER)
    return place.inner_text()


def fill(page: "Page", rounds: int, replicas: int, seed: int = 0) -> None:
    for name, value in (("rounds", rounds), ("replicas", replicas), ("seed", seed)):
        page.fill(f"#simulation-{name}", str(value))


@pytest.mark.slow
def test_learners_are_simulated_and_the_picture_is_taken_away(
    browser: Watched, server: Serving, tmp_path: Path
) -> None:
    with opened(browser, server, "#G=4&pC=0.65&pF=0.3&start=2&gamma=3") as page:
        assert page.locator("input[name=learner]:checked").count() == 2
        fill(page, 1_000, 50, 7)
        page.click("#simulation-run")
        assert said(page, "Done") == "Done: 2 learners."
        assert page.locator("#simulation-progress").is_hidden()
        problem = grbp.Problem(4, 0.65, 0.3, 2)
        names = ["doorstep-optimal", "getbe-sm:gamma=3"]
        curves = grbp.simulate(problem, names, 1_000, 50, 7).curves
        rows = page.locator("#simulation-rows tr").all()
        table = [[cell.inner_text() for cell in row.locator("th, td").all()] for row in rows]
        for name, mean, interval, _ in table:
            curve = curves[name]
            low, high = curve.band()
            ends = [float(end) for end in interval.split(" to ")]
            assert float(mean) == pytest.approx(curve.mean[-1], rel=6e-3)
            assert ends == pytest.approx([max(low[-1], 0.0), high[-1]], rel=6e-3)
        assert sorted(row[0] for row in table) == names
        command = page.inner_text("#simulation-command")
        assert command.startswith("grbp simulate --goal 4 --p-c 0.65 --p-f 0.3 --start 2")
        assert "--learner getbe-sm:gamma=3" in command

        page.check("#simulation-log")
        for kind in ("svg", "png"):
            with page.expect_download() as taking:
                page.click(f".simulation-file[data-kind={kind}]")
            taking.value.save_as(tmp_path / f"regret.{kind}")
            assert taking.value.suggested_filename == f"grbp-regret.{kind}"
        words = (tmp_path / "regret.svg").read_text("utf-8")
        for word in ("getbe-sm:gamma=3", "mean regret", "50 replicas of 1,000 rounds, seed 7"):
            assert word in words
        assert (tmp_path / "regret.png").read_bytes().startswith(b"\x89PNG")

        page.fill("#pF-number", "0.2")
        said(page, "The sliders have moved since")


@pytest.mark.slow
def test_a_simulation_shows_how_far_it_is_and_can_be_cancelled(
    browser: Watched, server: Serving
) -> None:
    with opened(browser, server, BOUNDARY) as page:
        page.uncheck("input[value=getbe-sm]")
        fill(page, 100_000, 2_000)
        page.focus("#simulation-run")
        page.keyboard.press("Enter")
        said(page, "doorstep-optimal", "simulation-words")
        said(page, "of 2,000 replicas", "simulation-words")
        assert 0.0 < page.locator("#simulation-bar").evaluate("bar => bar.value") < 1.0
        assert page.evaluate("document.activeElement.id") == "simulation-cancel"
        (job,) = (one for one in server.app.state.server.simulations._by_id.values() if one.running)
        page.keyboard.press("Enter")
        assert said(page, "Cancelled") == "Cancelled."
        assert job.process.wait(timeout=2) != 0
        assert page.evaluate("document.activeElement.id") == "simulation-run"

        # Whoever leaves the page cancels as well.
        page.click("#simulation-run")
        said(page, "of 2,000 replicas", "simulation-words")
        (job,) = (one for one in server.app.state.server.simulations._by_id.values() if one.running)
        page.evaluate(LEAVING)
        assert job.process.wait(timeout=10) != 0
        assert page.locator("#simulation-run").is_visible()


@pytest.mark.slow
def test_what_cannot_be_simulated_is_said_in_a_sentence(
    browser: Watched, server: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(browser, server) as page:
        for name in ("doorstep-optimal", "getbe-sm"):
            page.uncheck(f"input[value={name}]")
        page.click("#simulation-run")
        said(page, "No learner is chosen")
        page.fill("#simulation-rounds", "100001")
        page.click("#simulation-run")
        assert not page.locator("#simulation-rounds").evaluate("field => field.checkValidity()")
    monkeypatch.setattr(simulations, "find_spec", lambda _: None)
    with opened(browser, server) as page:
        assert "Numba" in page.inner_text("#simulation-missing")
        assert page.locator("#simulation-form").is_hidden()
        page.click("#many")
        assert page.inner_text("#count") == "100"


def test_a_stranger_has_the_sliders_alone(browser: Watched, tmp_path: Path) -> None:
    with Serving(tmp_path) as server, opened(browser, server) as page:
        assert "signed in" in page.inner_text("#simulation-missing")
        assert page.locator("#simulation-form").is_hidden()
        assert page.locator("#claims").is_hidden()
        page.click("#many")
        assert page.inner_text("#count") == "100"
        page.click("#simulation-missing a")
        page.wait_for_selector("#sign-in")
        assert page.url == f"{server.url}/sign-in?next=%2Fexplore"


def test_the_claims_and_what_became_of_them(
    browser: Watched, server: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(browser, server) as page:
        page.click("#claims-open summary")
        assert "grbp reproduce" in said(page, "No results are on this server", "claims-said")
        claims = page.locator("#claims-list li")
        assert claims.count() == len(grbp.verdicts({}))
        assert "not measured" in claims.first.inner_text()
    spec = replace(experiments.FIGURE_4, learners=("getbe-sm",), rounds=100, replicas=5)
    monkeypatch.setattr(experiments, "EXPERIMENTS", experiments.EXPERIMENTS | {"figure-4": spec})
    settings = replace(server.app.state.server.settings, results=tmp_path)
    monkeypatch.setattr(server.app.state.server, "settings", settings)
    result = experiments.run(spec, tmp_path / "data")
    with opened(browser, server) as page:
        page.click("#claims-open summary")
        assert "17 claims: 1 held" in said(page, "The latest result", "claims-said")
        shown = page.locator("#claims-list").inner_text()
        for row in grbp.verdicts({"figure-4": result}):
            assert row.claim in shown
            if row.evidence != "no data":
                assert row.evidence in shown
                assert row.why in shown


@pytest.mark.sample("phone-dark")
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_nobody_is_shut_out(
    browser: Watched,
    server: Serving,
    violations: "Callable[[Page], list[str]]",
    scheme: str,
    viewport: dict[str, int],
) -> None:
    font = WIDE if scheme == "light" else NARROW
    with opened(browser, server, color_scheme=scheme, viewport=viewport, font=font) as page:
        page.click("#simulation-more summary")
        fill(page, 1_000, 20)
        page.click("#simulation-run")
        if viewport == PHONE:
            assert violations(page) == []
        said(page, "Done")
        page.click("#claims-open summary")
        said(page, "results", "claims-said")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        assert misplaced(page) == []
