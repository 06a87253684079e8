"""How things show themselves: a line, a table, a picture, a data frame."""

import builtins
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib.figure
import pandas as pd
import pytest
from fits import walked
from optional import optional
from runs import FIGURE_3, GRID, made_up

import grbp
from grbp.errors import InvalidInput, MissingExtra
from grbp.experiments import run
from grbp.experiments.tables import COLUMNS

NASTY = "<script>alert('$1')</script>"


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One thing of every kind."""
    folder: Path = tmp_path_factory.mktemp("results")
    sizes: Any = {"rounds": 50, "replicas": 20, "engine": "walk"}
    known = grbp.LEARNERS["getbe-sm"]
    assert isinstance(known, grbp.Learner)
    nasty = replace(known, name=NASTY)
    league = grbp.league_spec((nasty, "no-explore"), goals=(3, 4), step=0.25, **sizes)
    session = grbp.Session(4, nasty)
    session.open_case(2)
    return {
        "problem": FIGURE_3,
        "session": session,
        "policies": grbp.Session(3, "ucb1-policies"),
        "simulation": grbp.simulate(FIGURE_3, [nasty, "no-explore"], **sizes),
        "curves": run(grbp.SweepSpec("own", FIGURE_3, (nasty,), **sizes, curves=True), folder),
        "map": run(replace(GRID, learners=(nasty,), engine="walk"), folder),
        "league": run(league, folder),
        "fit": walked(60, names=(NASTY, "other"), group="group"),
        "plan": grbp.plan(4, (0.4, 0.5), 0.3, [10, 50], nasty, replicas=20),
    }


KINDS = ["problem", "session", "policies", "simulation", "curves", "map", "league", "fit", "plan"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_printed_is_short(kind: str, things: dict[str, Any]) -> None:
    said = repr(things[kind])
    assert len(said) < 500
    assert len(said.splitlines()) <= 4


def test_many_learners_and_many_states_are_not_all_named() -> None:
    result = grbp.simulate(FIGURE_3, ["threshold-1"], 5, 2)
    (curve,) = result.curves.values()
    many = replace(result, curves={f"learner-{k}": curve for k in range(40)})
    assert len(repr(many).splitlines()) == 14
    assert repr(many).endswith("and 28 more>")
    even = [k / 55 for k in range(1, 11)]
    assert repr(grbp.Problem(11, 0.5, 0.3, even)).endswith("start=<10 states>)")
    assert eval(repr(FIGURE_3), vars(grbp)) == FIGURE_3  # noqa: S307
    assert "array" not in repr(curve)


class Seen(HTMLParser):
    """The tags and the words of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.words += [value or "" for name, value in attrs if name == "alt"]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_a_table_and_a_picture(kind: str, things: dict[str, Any]) -> None:
    seen = Seen(things[kind]._repr_html_())
    assert {"table", "tr", "td", "img"} <= set(seen.tags)
    assert set(seen.tags) <= {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "img"}
    if kind not in ("problem", "policies", "fit"):
        assert NASTY in "".join(seen.words)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_without_matplotlib_a_notebook_shows_the_table(
    kind: str, things: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_picture = things[kind]._repr_html_()
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    assert things[kind]._repr_html_() == re.sub("<img[^>]*>", "", with_picture)
    with pytest.raises(MissingExtra, match="needs Matplotlib"):
        things[kind].plot()


def test_a_map_of_one_row_has_a_table_and_no_picture() -> None:
    row = {"goal": 4, "p_c": (0.25, 0.5, 0.75), "p_f": 0.2}
    one = made_up(replace(GRID, problems=row), lambda _: (1.0, 1.0))
    assert Seen(one._repr_html_()).tags.count("img") == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_drawn_into_axes_that_are_given(kind: str, things: dict[str, Any]) -> None:
    figure = matplotlib.figure.Figure()
    axes = figure.subplots(1, 2)
    assert things[kind].plot(ax=axes[1]) is figure
    assert axes[1].has_data()
    assert not axes[0].has_data()
    own = things[kind].plot()
    assert own._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(InvalidInput, match="ax = 7 was given; it must be Matplotlib axes"):
        things[kind].plot(ax=7)


ROWS = {"problem": 3, "session": 9, "policies": 4, "map": 6, "league": 2 * 2 * 9}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_has_a_row_for_everything(kind: str, things: dict[str, Any]) -> None:
    frame = things[kind].to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == ROWS.get(kind, len(frame)) > 0


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_both_libraries_get_the_same_table(kind: str, things: dict[str, Any]) -> None:
    frame, other = things[kind].to_frame(), things[kind].to_frame("polars")
    assert isinstance(other, optional("polars").DataFrame)
    assert list(frame.columns) == other.columns
    assert [tuple(row) for row in frame.itertuples(index=False)] == other.rows()


def test_tables_of_results_have_the_same_columns(things: dict[str, Any]) -> None:
    frames = [things[kind].to_frame() for kind in ("simulation", "curves", "map", "league")]
    assert {tuple(frame.columns) for frame in frames} == {COLUMNS}


def test_the_numbers_of_a_frame_are_those_of_the_thing(things: dict[str, Any]) -> None:
    frame = things["simulation"].to_frame()
    for name, curve in things["simulation"].curves.items():
        mine = frame[frame.learner == name]
        assert mine["mean"].tolist() == curve.mean.tolist()
        assert mine["round"].tolist() == things["simulation"].checkpoints.tolist()
    states = things["problem"].to_frame()
    assert states["value"].tolist() == grbp.value_at(FIGURE_3, 1).tolist()
    best = states[["q_continue", "q_finish"]].max(axis=1)
    assert best.tolist() == pytest.approx(states["value"].tolist())


def test_a_fit_has_a_row_for_each_estimate_of_all_and_of_each_group(things: dict[str, Any]) -> None:
    fit = things["fit"]
    frame = fit.to_frame()
    assert list(frame.columns) == ["group", "quantity", "estimate", "low", "high"]
    assert list(dict.fromkeys(frame.group)) == ["", NASTY, "other"]
    for name, one in {"": fit, **fit.by_group}.items():
        rows = frame[frame.group == name].set_index("quantity")
        assert rows.loc["p_c"].tolist()[1:] == [one.p_c.estimate, *one.p_c.interval]
        assert rows.loc["boundary"].tolist()[1:] == list(one.boundary)
        assert (rows.low <= rows.estimate).all()
        assert (rows.estimate <= rows.high).all()


@pytest.mark.parametrize("what", ["boundary", "ways", "states", "cusum"])
def test_a_fit_draws_each_of_its_pictures(what: str, things: dict[str, Any]) -> None:
    figure = getattr(things["fit"], f"plot_{what}")()
    assert figure._repr_png_().startswith(b"\x89PNG")
    axes = matplotlib.figure.Figure().subplots()
    assert getattr(things["fit"], f"plot_{what}")(ax=axes) is axes.figure


@pytest.mark.soak
def test_without_pandas_it_is_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grbp._display.find_spec", lambda name: None if name == "pandas" else name)
    assert isinstance(FIGURE_3.to_frame(), optional("polars").DataFrame)


def test_a_library_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="library = 'numpy' was given; it must be 'pandas' or"):
        FIGURE_3.to_frame("numpy")
    monkeypatch.setattr("grbp._display.find_spec", lambda name: None if name == "pandas" else name)
    with pytest.raises(MissingExtra, match="needs pandas, which is not installed"):
        FIGURE_3.to_frame("pandas")
    monkeypatch.setattr("grbp._display.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match="needs pandas or polars, which is not installed"):
        FIGURE_3.to_frame()
