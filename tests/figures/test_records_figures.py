"""The pictures of a fit: what is drawn is what was fitted, and all words can be read."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fits import AT_ONE, NEVER, USUAL, counted, walked
from ink import Ink
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection, LineCollection
from matplotlib.colors import to_hex
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.path import Path
from matplotlib.text import Text

from grbp._format import format_interval
from grbp.errors import InvalidInput
from grbp.figures.fit_cusum import cusum_figure
from grbp.figures.fit_map import boundary_figure
from grbp.figures.fit_states import states_figure
from grbp.figures.fit_ways import ways_figure
from grbp.figures.frame import TINTS
from grbp.fitting.result import Cusum, Fit
from grbp.numerics.intervals import anytime, wilson
from grbp.theory.values import boundary
from grbp.worlds.labels import Labels

Draw = Callable[..., Figure]

DRAWINGS: list[Draw] = [boundary_figure, ways_figure, states_figure, cusum_figure]

MANY = 49
FITS: dict[str, Callable[[], Fit]] = {
    "usual": lambda: counted(USUAL, AT_ONE),
    "steered": lambda: counted(USUAL, AT_ONE, adaptive=True),
    "never finished": lambda: counted(USUAL, NEVER),
    "few": lambda: counted(((1, 3), (2, 2), (0, 1)), ((0, 2), (0, 0), (0, 0))),
    "many states": lambda: counted(
        [(20_000 + 50 * k, 45_000) for k in range(MANY)],
        [(900, 30_000), *[(0, 0)] * (MANY - 1)],
    ),
    "only up": lambda: counted(((5, 5), (3, 3), (2, 2)), AT_ONE),
    "one state": lambda: counted(((400_000, 1_000_000),), ((2, 3),)),
    "cases": lambda: walked(150),
}


@cache
def fit_of(name: str) -> Fit:
    """Make a fit once: with many states it takes a second."""
    return FITS[name]()


@pytest.fixture(scope="module", params=FITS)
def fit(request: pytest.FixtureRequest) -> Fit:
    return fit_of(request.param)


@pytest.fixture(scope="module")
def usual() -> Fit:
    return fit_of("usual")


@pytest.fixture(scope="module")
def of_cases() -> Fit:
    return fit_of("cases")


def only_axes(figure: Figure) -> Axes:
    (axes,) = figure.axes
    return axes


def words_of(axes: Axes) -> dict[str, Text]:
    """Every text that is seen, by what it says."""
    legend = axes.get_legend()
    texts = [*axes.texts, *(legend.get_texts() if legend else ())]
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
        # A tick beyond the window has words that are not drawn.
        texts += [axis.label, *(text for place, text in ticks if low <= place <= high)]
    return {f"{text.get_text()}/{k}": text for k, text in enumerate(texts) if text.get_text()}


# --- all of them ------------------------------------------------------------------------------


@pytest.mark.sample("usual", "few", "many states")
@pytest.mark.slow
def test_no_words_overlap_or_are_cut(fit: Fit) -> None:
    for draw in DRAWINGS if fit.cusum else DRAWINGS[:-1]:
        figure = draw(fit)
        ink = Ink(figure)
        shown = {said: ink.of(text) for said, text in words_of(only_axes(figure)).items()}
        assert ink.touch(shown) == []
        assert not ink.at_the_edge()


@pytest.mark.parametrize("draw", DRAWINGS)
def test_words_are_legible_on_a_telephone(draw: Draw, of_cases: Fit) -> None:
    figure = draw(of_cases)
    smallest = min(float(t.get_fontsize()) for t in words_of(only_axes(figure)).values())
    on_a_telephone = 360.0 / figure.get_figwidth() / 72.0
    assert smallest * on_a_telephone >= 9.5


@pytest.mark.parametrize("draw", DRAWINGS)
def test_axes_that_are_given_are_drawn_into(draw: Draw, of_cases: Fit) -> None:
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert draw(of_cases, ax=axes[1]) is figure
    assert axes[1].has_data()
    assert not axes[0].has_data()
    with pytest.raises(InvalidInput, match="ax = 7 was given; it must be Matplotlib axes"):
        draw(of_cases, ax=7)


# --- the boundary map -------------------------------------------------------------------------


def test_the_curve_is_the_boundary_across_the_whole_window(fit: Fit) -> None:
    axes = only_axes(boundary_figure(fit))
    line = axes.get_lines()[0]
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    np.testing.assert_array_equal(y, boundary(fit.goal, x))
    assert (x[0], x[-1]) == axes.get_xlim()
    low, high = axes.get_ylim()
    assert low <= y[0]
    assert y[-1] <= high
    point = axes.get_lines()[1]
    assert np.asarray(point.get_xdata()) == fit.p_c.estimate
    wanted = fit.boundary.estimate if fit.p_f is None else fit.p_f.estimate  # type: ignore[union-attr]
    assert np.asarray(point.get_ydata()) == wanted


def inside(cloud: QuadContourSet, points: Any) -> float:
    """The share of points in a shade, whose path may have holes."""
    (path,) = cloud.get_paths()
    held = np.zeros(len(points), dtype=int)
    for ring in path.to_polygons():
        held += Path(ring).contains_points(points)
    return float((held % 2 == 1).mean())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["usual", "few", "many states"])
def test_the_shades_hold_half_of_the_posterior_and_95_percent_of_it(name: str) -> None:
    fit = fit_of(name)
    assert fit.p_f is not None
    random = np.random.default_rng(0)
    points = np.column_stack([
        random.beta(p.successes + 0.5, p.tries - p.successes + 0.5, 20_000)
        for p in (fit.p_c, fit.p_f)
    ])  # fmt: skip
    axes = only_axes(boundary_figure(fit))
    rim, core = (one for one in axes.collections if isinstance(one, QuadContourSet))
    assert inside(core, points) == pytest.approx(0.5, abs=0.02)
    assert inside(rim, points) == pytest.approx(0.45, abs=0.02)


def test_each_side_of_the_boundary_has_the_colour_of_its_action_and_a_name(fit: Fit) -> None:
    axes = only_axes(boundary_figure(fit))
    legend = axes.get_legend()
    assert legend is not None
    named = dict(
        zip((t.get_text() for t in legend.get_texts()), legend.legend_handles, strict=True)
    )
    for side, words in ((1, "above it: FINISH in state 1"), (0, "below it: never FINISH")):
        patch = named[words]
        assert isinstance(patch, Rectangle)
        assert to_hex(patch.get_facecolor()) == TINTS[side]
        # The region of that colour is on its side of the boundary.
        (region,) = (
            one for one in axes.collections
            if isinstance(one, FillBetweenPolyCollection) and one.get_paths()
            and np.asarray(one.get_paths()[0].vertices).shape[0] > 400
            and to_hex(tuple(np.asarray(one.get_facecolor())[0].tolist())) == TINTS[side]
        )  # fmt: skip
        middle = float(np.mean(axes.get_xlim()))
        level = boundary(fit.goal, middle)
        above, below = (region.get_paths()[0].contains_point((middle, y))
                        for y in (level + 1e-4, level - 1e-4))  # fmt: skip
        assert (above, below) == (bool(side), not side)


def test_no_chance_is_below_zero_or_above_one(fit: Fit) -> None:
    axes = only_axes(boundary_figure(fit))
    for low, high in (axes.get_xlim(), axes.get_ylim()):
        assert 0.0 <= low < high <= 1.0


OWN = Labels(("dead", "severe $x", "so-so", "nearly well", "home"), ("medication", "surgery"))


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_table_has_its_own_words(draw: Draw, of_cases: Fit) -> None:
    """Neither the words of the paper nor its symbols are left where a table has words."""
    said = " ".join(words_of(only_axes(draw(replace(of_cases, labels=OWN)))))
    assert not re.search(r"CONTINUE|FINISH|state 1|p_[CF]", said)
    wanted = {
        boundary_figure: ["chance that medication moves up", r"surgery in severe \$x (1)"],
        ways_figure: [r"winning from severe \$x (1)", "surgery wins: "],
        states_figure: ["medication moved up", "surgery won", r"severe \$x", "nearly well"],
        cusum_figure: [],
    }
    assert all(words in said for words in wanted[draw])


@pytest.mark.slow
@pytest.mark.parametrize("draw", DRAWINGS)
def test_long_words_of_a_table_have_room(draw: Draw, of_cases: Fit) -> None:
    long = Labels(("a very long word for a state",) * 5, ("a very long action indeed",) * 2)
    figure = draw(replace(of_cases, labels=long))
    ink = Ink(figure)
    shown = {said: ink.of(text) for said, text in words_of(only_axes(figure)).items()}
    assert ink.touch(shown) == []
    assert not ink.at_the_edge()


def test_what_was_never_tried_has_no_cloud_but_a_break_even() -> None:
    fit = fit_of("never finished")
    assert fit.boundary is not None
    axes = only_axes(boundary_figure(fit))
    assert not any(isinstance(one, QuadContourSet) for one in axes.collections)
    bands = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [band.get_label() for band in bands] == [
        "the records, with their interval", "the chance that breaks even",
    ]  # fmt: skip
    box = bands[1].get_bbox()
    assert (box.y0, box.y1) == pytest.approx(fit.boundary[1:])


def test_steered_records_have_a_box_of_anytime_intervals(usual: Fit) -> None:
    fit = fit_of("steered")
    assert fit.p_f is not None
    (box,) = (p for p in only_axes(boundary_figure(fit)).patches if isinstance(p, Rectangle))
    corners = box.get_bbox()
    assert (corners.x0, corners.x1) == pytest.approx(fit.p_c.anytime)
    assert (corners.y0, corners.y1) == pytest.approx(fit.p_f.anytime)
    assert not only_axes(boundary_figure(usual)).patches


def test_nothing_tried_is_nothing_to_draw() -> None:
    fit = counted(NEVER, AT_ONE)
    with pytest.raises(InvalidInput, match="CONTINUE was never tried"):
        boundary_figure(fit)


# --- the three ways ---------------------------------------------------------------------------


def test_every_way_is_drawn_and_written_with_its_interval(fit: Fit) -> None:
    axes = only_axes(ways_figure(fit))
    drawn = [line for line in axes.get_lines() if len(np.asarray(line.get_xdata())) == 2]
    known = [way for way in fit.ways.values() if way is not None]
    assert [tuple(np.asarray(line.get_xdata())) for line in drawn] == [way[1:] for way in known]
    said = " ".join(text.get_text() for text in axes.texts)
    assert said.count("not possible with these records") == len(fit.ways) - len(known)
    assert all(format_interval(*way) in said for way in known)
    legend = axes.get_legend()
    if fit.p_f is None:
        assert legend is None
    else:
        assert legend is not None
        (label,) = legend.get_texts()
        assert fit.p_f.estimate is not None
        assert format_interval(fit.p_f.estimate, *fit.p_f.interval) in label.get_text()


# --- state by state ---------------------------------------------------------------------------


def test_every_share_is_at_its_state_with_its_counts_below(usual: Fit) -> None:
    axes = only_axes(states_figure(usual))
    marks = [line for line in axes.get_lines() if line.get_marker() in ("o", "s")]
    assert [np.asarray(mark.get_ydata()).tolist() for mark in marks] == [
        [up / moved for up, moved in USUAL],
        [won / tried for won, tried in AT_ONE if tried],
    ]
    assert np.rint(np.asarray(marks[1].get_xdata())).tolist() == [1, 3]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [
        f"{k + 1}\n{c}\n{f}" for k, ((_, c), (_, f)) in enumerate(zip(USUAL, AT_ONE, strict=True))
    ]
    # Shapes tell the actions apart, not colours alone.
    assert {mark.get_marker() for mark in marks} == {"o", "s"}


@pytest.mark.parametrize("name", ["usual", "steered"])
def test_every_share_has_the_interval_that_the_fit_prints(name: str) -> None:
    fit = fit_of(name)
    moves, finishes = (
        [segment[:, 1].tolist() for segment in one.get_segments()]
        for one in only_axes(states_figure(fit)).collections
        if isinstance(one, LineCollection)
    )
    interval = anytime if fit.adaptive else wilson
    assert moves == [list(interval(up, moved)) for up, moved in USUAL]
    assert finishes == [list(interval(won, tried)) for won, tried in AT_ONE if tried]


def test_what_was_never_tried_is_hatched_where_it_is(usual: Fit) -> None:
    axes = only_axes(states_figure(usual))
    (hatched,) = (patch for patch in axes.patches if patch.get_hatch())
    box = hatched.get_window_extent().transformed(axes.transData.inverted())
    assert 1.5 < box.x0 < 2.0 + 1e-9
    assert 2.0 < box.x1 < 2.5
    full = counted(USUAL, USUAL)
    assert not any(patch.get_hatch() for patch in only_axes(states_figure(full)).patches)


@pytest.mark.slow
def test_of_many_states_some_are_named_and_all_are_drawn() -> None:
    axes = only_axes(states_figure(fit_of("many states")))
    assert len(axes.get_xticks()) <= 8
    assert len(np.asarray(axes.get_lines()[1].get_xdata())) == MANY
    assert axes.get_xticklabels()[0].get_text() == "1\n45k\n30k"


# --- drift ------------------------------------------------------------------------------------


def test_the_sum_is_drawn_with_its_limits(of_cases: Fit) -> None:
    cusum = of_cases.cusum
    assert cusum is not None
    curve, *others = only_axes(cusum_figure(of_cases)).get_lines()
    np.testing.assert_array_equal(np.asarray(curve.get_ydata()), cusum.y)
    flat = {float(np.asarray(line.get_ydata())[0]) for line in others}
    assert flat == {cusum.limit, -cusum.limit, 0.0}


def test_a_long_sum_is_drawn_with_few_points_and_all_its_extremes() -> None:
    y = np.cumsum(np.random.default_rng(3).normal(size=100_000))
    long = SimpleNamespace(cusum=Cusum(np.arange(1.0, 100_001.0), y, 1.36))
    curve, *_ = only_axes(cusum_figure(long)).get_lines()  # type: ignore[arg-type]
    drawn = np.asarray(curve.get_ydata())
    assert len(drawn) <= 1002
    assert (drawn.min(), drawn.max(), drawn[0], drawn[-1]) == (y.min(), y.max(), y[0], y[-1])


def test_without_an_order_of_cases_there_is_no_sum(usual: Fit) -> None:
    with pytest.raises(InvalidInput, match="no sum to draw"):
        cusum_figure(usual)


# --- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((0.446, 0.406, 0.488), "44.6 % (40.6 to 48.8 %)"),
        ((0.0, 0.0, 0.66), "0.0 % (0.0 to 66.0 %)"),
        ((0.03, 0.0281, 0.032), "3.00 % (2.81 to 3.20 %)"),
        ((3.8e-5, 3.4e-5, 4.2e-5), "0.0038 % (0.0034 to 0.0042 %)"),
        ((3.8e-9, 3.4e-9, 4.2e-9), "under 0.0001 %"),
        ((-0.02, -0.11, 0.07), "-2.0 % (-11.0 to 7.0 %)"),
        ((1.0, 1.0, 1.0), "100.000 % (100.000 to 100.000 %)"),
    ],
)
def test_a_probability_is_written_with_its_interval(
    numbers: tuple[float, float, float], said: str
) -> None:
    plain = format_interval(*numbers).replace("\xa0", " ").replace("\N{MINUS SIGN}", "-")
    assert plain == said
