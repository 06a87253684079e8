"""Everything of the paper with one call: on small experiments, what it writes and says."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import grbp
from grbp.cli import main
from grbp.experiments import EXPERIMENTS, load_result
from grbp.paper import reproduce as paper

FURTHER = ("growth-3", "growth-3-others", "growth-3-ucb", "growth-4", "growth-4-others")
FILES = {
    "data",
    "report.html",
    *(f"figure-{n}.{kind}" for n in range(1, 6) for kind in ("png", "svg")),
    *(f"{name}.{kind}" for name in FURTHER for kind in ("png", "svg")),
    *(f"{name}.csv" for name in EXPERIMENTS),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The paper's experiments with few replicas and rounds."""
    specs: dict[str, Any] = {}
    for name, spec in EXPERIMENTS.items():
        if not spec.curves:
            grid = {"goal": 4, "p_c": (0.2, 0.5, 0.8), "p_f": (0.2, 0.5, 0.8)}
            specs[name] = replace(spec, rounds=50, replicas=6, problems=grid)
        else:
            # One is left to splitting, which needs a thousand replicas.
            split = name == "growth-3-others"
            replicas, kept = 1000 if split else 8, (1, 10, 100, 1000)
            specs[name] = replace(spec, rounds=kept, replicas=replicas, splitting=split)
    monkeypatch.setattr(paper, "EXPERIMENTS", specs)
    monkeypatch.setattr(paper, "_MEASURED", {n: specs[f"figure-{n}"] for n in (3, 4, 5)})
    return specs


@pytest.mark.slow
def test_everything_is_written_and_said(
    small: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "new" / "results"
    assert main(["reproduce", "--out", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == FILES
    out = capsys.readouterr().out
    assert max(len(line.replace(str(folder), "results")) for line in out.splitlines()) <= 80
    page = (folder / "report.html").read_text("utf-8")
    kept = {name: load_result(folder / "data", spec) for name, spec in small.items()}
    for verdict in grbp.verdicts(kept):
        assert verdict.where in out
        assert verdict.outcome in page
    for number, shows in grbp.PAPER_FIGURES.items():
        assert f"Figure {number}. {shows}" in page
    for name in FURTHER:
        assert re.search(rf">Figure {name[7]}[^<]*, out to 1,000 rounds<", page)
    counted = re.search(r"(\d+) claims: (\d+) held, (\d+) did not hold, (\d+) cannot", out)
    assert counted is not None
    total, *parts = map(int, counted.groups())
    assert total == sum(parts)


@pytest.mark.soak
@pytest.mark.usefixtures("small")
def test_a_second_run_measures_nothing_and_writes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grbp.reproduce(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    # Nothing may be played: the numbers are there.
    monkeypatch.setattr("grbp.experiments.workers.play", None)
    measured: list[str] = []
    grbp.reproduce(tmp_path, progress=lambda name, _, __: measured.append(name))
    assert measured == []
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.slow
def test_interrupted_it_says_how_to_go_on(
    small: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def interrupt(_: object, name: str, __: int, ___: int) -> None:
        calls.append(name)
        if "figure-4" in name:
            raise KeyboardInterrupt

    monkeypatch.setattr("grbp.cli.progress.ProgressBar.__call__", interrupt)
    assert main(["reproduce", "--out", str(tmp_path)]) == 130
    said = capsys.readouterr()
    assert "The same command goes on from there." in said.err
    assert said.err.endswith("\ngrbp: interrupted\n")
    done = load_result(tmp_path / "data", small["figure-3"])
    assert len(done.cells) == 7
    with pytest.raises(grbp.InvalidInput, match="does not hold all of 'figure-4'"):
        load_result(tmp_path / "data", small["figure-4"])


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_one_measured_figure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["reproduce", "--only", "5", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(tmp_path / "figure-5.png"), str(tmp_path / "figure-5.svg")
    ]  # fmt: skip


def test_a_figure_that_does_not_exist_is_refused() -> None:
    with pytest.raises(grbp.InvalidInput, match="figure 6 was asked for; there is 1, 2, 3, 4, 5"):
        grbp.paper_figure(6)


@pytest.mark.parametrize("number", [1, 2])
def test_a_figure_that_stands_alone_has_its_title_and_all_of_it_is_seen(number: int) -> None:
    figure = grbp.paper_figure(number)
    title = next(text for text in figure.texts if text.get_fontweight() == "bold")
    assert title.get_text() == f"Figure {number}. {grbp.PAPER_FIGURES[number]}"
    figure.draw_without_rendering()
    for text in figure.texts:
        box = text.get_window_extent()
        assert box.x0 > 0.0
        assert box.y0 > 0.0
        assert box.x1 < figure.bbox.x1
        assert box.y1 < figure.bbox.y1
    top = max(axes.get_window_extent().y1 for axes in figure.axes)
    assert title.get_window_extent().y0 > top
