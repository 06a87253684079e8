"""Figures 3 to 5: what is drawn is what was measured and what theory says, and is legible."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ink import Ink
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from simulations import SIX, simulation

from grbp._format import format_number
from grbp._palette import MAP_INK
from grbp.errors import InvalidInput
from grbp.experiments.catalog import PAPER_LEARNERS
from grbp.experiments.simulation import Simulation
from grbp.figures import regret_figure, regret_map_figure, save
from grbp.figures.regret_curves import is_crowded
from grbp.figures.style import line_styles
from grbp.learners.getbe import Control
from grbp.learners.registry import LEARNERS
from grbp.numerics.arrays import Floats
from grbp.theory.bounds import getbe_bound
from grbp.theory.values import boundary, optimal_threshold, value
from grbp.worlds.problem import Problem

FIGURE_3, FIGURE_4 = Problem(4, 0.45, 0.3), Problem(4, 0.65, 0.3)
LEAVES = ("(↑ leaves the picture)", "(↑ leaves the upper panels)")


STRANGE = {"$x_{": 3.0, "_hidden": 4.0, "line\nbreak": 2.0, "<b>": 1.0, "n" * 90: 0.5}
CASES: dict[str, Simulation] = {
    "figure 3": simulation({**SIX, "no-explore": 145.0}, FIGURE_3),
    "figure 4": simulation(SIX),
    "one learner": simulation({"getbe-sm": 53.0}),
    "one run": simulation(SIX, replicas=1),
    "one round": simulation({"getbe-sm": 0.3, "getbe-ps": 0.2}, rounds=1, replicas=1),
    "few rounds": simulation({"getbe-sm": 0.3, "getbe-ps": 0.2}, rounds=7),
    "strange names": simulation(STRANGE, rounds=100),
    "below nothing": simulation({"getbe-ps": -3.0, "oracle": 0.0}, rounds=100, kind="realised"),
    "many": simulation({f"mine-{i}": 10.0 + i for i in range(14)}, rounds=10**12),
    "bounded": simulation({"getbe-sm": 0.2}, Problem(50, 0.05, 0.99)),
}


# --- what is on a figure ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return {name: regret_figure(case, "A title") for name, case in CASES.items()}


def legend_of(figure: Figure) -> Legend:
    (legend,) = figure.legends
    return legend


def entries(figure: Figure) -> list[str]:
    return [text.get_text() for text in legend_of(figure).get_texts()]


def lines(axes: Axes) -> dict[str, Line2D]:
    return {str(line.get_label()): line for line in axes.get_lines()}


def points(line: Line2D) -> tuple[Floats, Floats]:
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


def theory(axes: Axes) -> dict[str, Line2D]:
    return {label: line for label, line in lines(axes).items() if label.startswith("theory")}


def words(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.texts)


# --- Figures 3 and 4 --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_curve_is_the_mean_and_its_shade_the_band(
    figures: dict[str, Figure], case: str
) -> None:
    drawn, given = figures[case], CASES[case]
    assert len(drawn.axes) == 2 + is_crowded(given)
    limits = {name: measured.band() for name, measured in given.curves.items()}
    for axes in drawn.axes:
        bands = {str(band.get_label()): band for band in axes.collections}
        assert len(bands) == (len(given.curves) if given.replicas > 1 else 0)
        for name, measured in given.curves.items():
            x, y = points(lines(axes)[f"curve of {name}"])
            np.testing.assert_array_equal(x, given.checkpoints)
            np.testing.assert_array_equal(y, measured.mean)
            if given.replicas == 1:
                continue
            band = bands[f"band of {name}"]
            assert isinstance(band, PolyCollection)
            corners = np.asarray(band.get_paths()[0].vertices)
            low, high = limits[name]
            for look, mean, a, b in zip(given.checkpoints, measured.mean, low, high, strict=True):
                ends = corners[corners[:, 0] == look, 1]
                assert (ends.min(), ends.max()) == (a, b)
                assert a <= mean <= b


@pytest.mark.slow
def test_the_panels_share_the_regret_and_differ_in_the_scale_of_rounds(
    figures: dict[str, Figure],
) -> None:
    for name, figure in figures.items():
        linear, logarithmic, *low = figure.axes
        assert (linear.get_xscale(), logarithmic.get_xscale()) == ("linear", "log")
        assert linear.get_ylim() == logarithmic.get_ylim()
        for axes in figure.axes:
            last = CASES[name].rounds
            assert axes.get_xlim()[0] < last <= axes.get_xlim()[1]
        # On a panel below, curves that would lie on the axis can be told apart.
        assert len(low) == is_crowded(CASES[name])
        for axes in low:
            assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
            bottom, top = axes.get_ylim()
            ends = [one.mean[-1] for one in CASES[name].curves.values() if one.mean[-1] > 0.0]
            assert bottom < 0.2 * min(ends)
            assert max(ends) < top


def test_two_curves_far_below_the_others_are_drawn_again() -> None:
    for low, crowded in ((1.0, True), (40.0, False), (0.0, False)):
        given = simulation({"getbe-sm": 100.0, "getbe-ucb": 2.0, "getbe-ps": low}, rounds=9)
        assert is_crowded(given) == crowded
        assert len(regret_figure(given).axes) == 2 + crowded


@pytest.mark.parametrize("case", ["figure 3", "figure 4", "below nothing", "many"])
def test_the_legend_goes_from_the_largest_regret_to_the_smallest(
    figures: dict[str, Figure], case: str
) -> None:
    curves = CASES[case].curves
    named = [entry for entry in entries(figures[case]) if not entry.startswith("theory")]
    order = sorted(curves, key=lambda name: -curves[name].mean[-1])
    assert [entry.split(": ")[0] for entry in named] == order
    for name, entry in zip(order, named, strict=True):
        mean = float(curves[name].mean[-1])
        assert entry.split(": ")[1].split(" ")[0] == format_number(mean)
    # What stands beside a name is drawn as its curve is.
    for name, handle in zip(order, legend_of(figures[case]).get_lines(), strict=False):
        line = lines(figures[case].axes[0])[f"curve of {name}"]
        assert handle.get_color() == line.get_color()
        assert handle.get_linestyle() == line.get_linestyle()


def test_a_learner_looks_the_same_in_every_figure() -> None:
    looks: dict[str, set[tuple[Any, ...]]] = {}
    for finals in ({"getbe-ps": 1.0, "mine": 2.0, "no-explore": 3.0}, SIX, {"mine": 5.0}):
        drawn = lines(regret_figure(simulation(finals, rounds=9)).axes[0])
        for name in finals:
            line = drawn[f"curve of {name}"]
            # Any: Matplotlib keeps dashes to itself.
            dashes: Any = line
            looks.setdefault(name, set()).add((line.get_color(), str(dashes._dash_pattern)))
    assert all(len(look) == 1 for look in looks.values())
    # And no two of them look the same: neither ours, nor up to thirty of someone else's.
    ours = line_styles([*LEARNERS, "ucb1-policies"])
    assert len(set(ours.values())) == len(ours)
    assert line_styles(["mine", *LEARNERS]) == {**line_styles(["mine"]), **line_styles([*LEARNERS])}
    theirs = line_styles([f"learner {i}" for i in range(30)])
    assert len(set(theirs.values()) | set(ours.values())) == len(theirs) + len(ours)


def test_a_curve_far_above_the_papers_leaves_the_picture_and_the_legend_says_so() -> None:
    for no_explore, leaves in ((145.0, True), (70.0, False), (1.0, False)):
        given = simulation({**SIX, "no-explore": no_explore}, rounds=9)
        figure = regret_figure(given)
        top = figure.axes[0].get_ylim()[1]
        five = max(given.curves[name].band()[1].max() for name in PAPER_LEARNERS)
        above = {name for name, measured in given.curves.items() if measured.mean.max() > top}
        assert above == ({"no-explore"} if leaves else set())
        assert {e.split(":")[0] for e in entries(figure) if e.endswith(LEAVES)} == above
        assert top >= 1.1 * five
        if leaves:
            assert top == pytest.approx(1.15 * five)
            assert format_number(float(given.curves["no-explore"].mean[-1])) in entries(figure)[0]


@pytest.mark.parametrize("case", [c for c in CASES if "getbe-sm" not in CASES[c].curves])
def test_where_getbe_sm_is_not_there_is_no_theory(figures: dict[str, Figure], case: str) -> None:
    assert theory(figures[case].axes[0]) == {}
    assert "Theorem" not in words(figures[case])


@pytest.mark.parametrize(
    "problem", [FIGURE_4, Problem(4, 0.65, 0.3, 2), Problem(9, 0.7, 0.1), FIGURE_3]
)
def test_the_guide_has_the_slope_of_forced_exploration(problem: Problem) -> None:
    given = simulation({"getbe-sm": 53.0}, problem)
    figure = regret_figure(given)
    for axes in figure.axes:
        found = theory(axes)
        if optimal_threshold(problem) == 1:
            assert found == {}
            continue
        ((label, line),) = found.items()
        x, y = points(line)
        slope = Control().gamma * (value(problem, optimal_threshold(problem)) - problem.p_f)
        np.testing.assert_allclose(np.diff(y) / np.diff(np.log(x)), slope, rtol=1e-6)
        assert f"{slope:.2f}" in label
        # Anchored: it ends where the measured curve ends.
        assert x[-1] == pytest.approx(given.rounds)
        assert y[-1] == pytest.approx(given.curves["getbe-sm"].mean[-1])
        assert y[0] == pytest.approx(0.0, abs=1e-6) or x[0] == 1.0
        assert line.is_dashed()
        assert label in entries(figure)


@pytest.mark.parametrize("case", ["one round", "few rounds"])
def test_too_few_rounds_have_no_guide(figures: dict[str, Figure], case: str) -> None:
    assert theory(figures[case].axes[0]) == {}


@pytest.mark.parametrize("case", [c for c in CASES if "getbe-sm" in CASES[c].curves])
def test_theorem_3_is_drawn_where_it_applies_and_else_it_is_said_why_not(
    figures: dict[str, Figure], case: str
) -> None:
    given, figure = CASES[case], figures[case]
    gamma = Control().gamma
    assert isinstance(given.problem, Problem)
    theorem = getbe_bound(given.problem, gamma, given.rounds)
    assert theorem.applies == (case == "bounded")
    drawn = [line for label, line in theory(figure.axes[1]).items() if "Theorem 3" in label]
    if not theorem.applies:
        assert drawn == []
        assert theorem.why in words(figure)
        return
    assert "Theorem" not in words(figure)
    x, y = points(drawn[0])
    np.testing.assert_array_equal(x, given.checkpoints)
    assert y[-1] == theorem.regret_bound
    (entry,) = (entry for entry in entries(figure) if "Theorem 3" in entry)
    assert format_number(theorem.regret_bound) in entry
    assert entry.endswith(LEAVES) == (y.min() > figure.axes[0].get_ylim()[1])


def test_one_run_claims_no_confidence(figures: dict[str, Figure]) -> None:
    assert "95%" not in words(figures["one run"])
    assert not any("±" in entry for entry in entries(figures["one run"]))
    assert "20 replicas" in words(figures["figure 4"])
    assert "95%" in words(figures["figure 4"])


def test_a_simulation_of_nobody_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no learner was given"):
        regret_figure(simulation({}))


@pytest.mark.parametrize(
    ("number", "beside", "said"),
    [
        (0.0, None, "0.00"),
        (0.867, None, "0.87"),
        (9.996, None, "10.0"),
        (53.61, None, "53.6"),
        (99.96, None, "100"),
        (1234.5, None, "1,234"),
        (-3.1, None, "\N{MINUS SIGN}3.10"),
        (0.0004, None, "0.0004"),
        (0.0049, None, "0.005"),
        (0.0051, None, "0.01"),
        (5.1e12, None, "5.1e+12"),
        (0.158, 53.6, "0.2"),
        (1.0, 65.6, "1.0"),
    ],
)
def test_numbers_are_written_with_the_digits_that_mean_something(
    number: float, beside: float | None, said: str
) -> None:
    assert format_number(number, beside) == said


# --- Figure 5 ---------------------------------------------------------------------------------

P_C, P_F = np.linspace(0.05, 0.95, 10), np.linspace(0.1, 0.8, 8)


def height(x: Floats, y: Floats) -> Floats:
    """A plane, on which what is linear between the points of a grid is exact."""
    return np.asarray(20.0 + 30.0 * x - 15.0 * y)


PLANE = height(P_C[None, :], P_F[:, None])


@pytest.mark.slow
@pytest.mark.parametrize("goal", [2, 4, 50])
def test_every_cell_of_the_map_is_the_regret_of_its_problem(goal: int) -> None:
    mean = np.arange(80.0).reshape(8, 10)
    flat = regret_map_figure(P_C, P_F, mean, goal).axes[0]
    (cells,) = flat.collections
    assert isinstance(cells, QuadMesh)
    shown = np.asarray(cells.get_array())
    np.testing.assert_array_equal(shown, mean)
    corners = np.asarray(cells.get_coordinates())
    for i, y in enumerate(P_F):
        for j, x in enumerate(P_C):
            (left, low), (right, high) = corners[i, j], corners[i + 1, j + 1]
            assert left < x < right
            assert low < y < high
    # More regret is darker, everywhere on the scale.
    colours = np.asarray(cells.to_rgba(np.linspace(0.0, 79.0, 50)))[:, :3]
    assert (np.diff(colours @ [0.2126, 0.7152, 0.0722]) < 0.0).all()


@pytest.mark.parametrize("goal", [2, 4, 50])
def test_the_black_line_is_the_boundary_on_the_map_and_on_the_surface(goal: int) -> None:
    figure = regret_map_figure(P_C, P_F, PLANE, goal)
    flat, deep = figure.axes[0], figure.axes[2]
    (line,) = flat.get_lines()
    x, y = points(line)
    np.testing.assert_array_equal(y, boundary(goal, x))
    assert (x[0], x[-1]) == flat.get_xlim()
    assert line.get_color() == MAP_INK
    # Any: Matplotlib does not say what lines in three dimensions can do.
    above: Any = deep.get_lines()[0]
    x, y, z = (np.asarray(data) for data in above.get_data_3d())
    np.testing.assert_array_equal(y, boundary(goal, x))
    np.testing.assert_allclose(z, height(x, y), rtol=1e-12)
    assert above.get_color() == MAP_INK
    # It leaves out nothing of the boundary above the grid but less than a step of its own.
    inside = (boundary(goal, P_C) >= P_F[0]) & (boundary(goal, P_C) <= P_F[-1])
    assert ((P_C[inside] >= x[0]) & (P_C[inside] <= x[-1])).all()


@pytest.mark.parametrize("goal", [2, 4, 50])
def test_the_regions_are_named_on_their_side(goal: int) -> None:
    figure = regret_map_figure(P_C, P_F, PLANE, goal)
    flat = figure.axes[0]
    ink = Ink(figure)
    for name, threshold in (("no-exploration region", 1), ("exploration region", 0)):
        (text,) = (t for t in flat.texts if t.get_text().split("\n")[0] == name)
        rows, columns = np.nonzero(ink.of(text))
        x, y = flat.transData.inverted().transform(
            (columns.mean(), ink.page.shape[0] - rows.mean())
        )
        assert optimal_threshold(Problem(goal, float(x), float(y))) == threshold


def test_a_boundary_outside_the_grid_is_not_drawn_above_it() -> None:
    figure = regret_map_figure(P_C[:3], P_F[-3:], PLANE[-3:, :3], 50)
    assert len(figure.axes[2].get_lines()) == 0


@pytest.mark.parametrize(
    ("p_c", "p_f", "mean", "said"),
    [
        (P_C, P_F, PLANE.T, "shape"),
        (P_C, P_F, np.where(PLANE > 40.0, np.nan, PLANE), "finite"),
        (P_C[::-1], P_F, PLANE, "p_c = "),
        (P_C, P_F[:1], PLANE[:1], "p_f = "),
        (P_C + 0.5, P_F, PLANE, "p_c = "),
    ],
)
def test_a_grid_that_does_not_fit_is_refused(
    p_c: Floats, p_f: Floats, mean: Floats, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        regret_map_figure(p_c, p_f, mean, 4)


# --- all of them ------------------------------------------------------------------------------


def map_of_goal_4(title: str = "A title") -> Figure:
    return regret_map_figure(P_C, P_F, PLANE, 4, title)


def read(figure: Figure) -> dict[str, Artist]:
    """Everything that is to be read on a figure."""
    texts: list[Any] = [*figure.texts]
    for legend in figure.legends:
        texts += [*legend.get_texts(), legend.get_title()]
    for axes in figure.axes:
        texts += axes.texts
        # Any: axes of three dimensions have a third axis, which their type does not say.
        every: list[Any] = [getattr(axes, f"{a}axis", None) for a in "xyz"]
        for axis in filter(None, every):
            low, high = sorted(axis.get_view_interval())
            texts.append(axis.label)
            texts += [
                tick.label1
                for tick in axis.get_major_ticks()
                if low <= tick.get_loc() <= high and tick.label1.get_visible()
            ]
            texts += [tick.label2 for tick in axis.get_major_ticks() if tick.label2.get_visible()]
    return {f"{t.get_text()}/{i}": t for i, t in enumerate(texts) if t.get_text()}


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, "map"])
def test_no_words_overlap_or_are_cut(figures: dict[str, Figure], case: str) -> None:
    figure = map_of_goal_4() if case == "map" else figures[case]
    ink = Ink(figure)
    parts = {what: ink.of(text) for what, text in read(figure).items()}
    assert len(parts) > 12
    assert ink.touch(parts) == []
    assert not ink.at_the_edge()


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw", [lambda: regret_figure(CASES["few rounds"], "A title"), map_of_goal_4]
)
def test_the_same_figure_is_the_same_bytes(draw: Callable[[], Figure], tmp_path: Path) -> None:
    first = [path.read_bytes() for path in save(draw(), tmp_path / "figure")]
    assert first == [path.read_bytes() for path in save(draw(), tmp_path / "figure")]


def test_a_title_is_shown_as_it_is() -> None:
    title = "$x_{ <b> & more"
    for figure in (regret_figure(CASES["one learner"], title), map_of_goal_4(title)):
        figure.draw_without_rendering()
        assert title in words(figure)
