"""The two drawings: what is drawn is true and legible.

Legibility is measured in ink: each piece is drawn alone, and the pixels it covers are
compared with those of the others.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from ink import Ink, Pixels
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.patches import Circle, FancyArrowPatch, PathPatch
from matplotlib.text import Text
from numpy.typing import NDArray

from grbp.errors import InvalidInput
from grbp.figures import (
    MOST_CURVES,
    boundary_figure,
    transition_figure,
)
from grbp.figures.frame import CONTINUE, FINISH, WORDS
from grbp.theory.values import boundary, optimal_threshold
from grbp.worlds.problem import Problem
from grbp.worlds.validation import LARGEST_GOAL

LAST = -1
"""In a parameter: the state just below the goal."""

DRAWINGS = [
    (2, None),
    (3, None),
    (3, 2),
    (4, None),
    (8, 1),
    (8, LAST),
    (9, None),
    (10, None),
    (10, 3),
    (1000, None),
    (1000, 1),
    (10**6, None),
    (LARGEST_GOAL, None),
    (LARGEST_GOAL, 2),
    (LARGEST_GOAL, LAST),
]

SETS_OF_GOALS: list[tuple[int, ...]] = [
    (2, 3, 4, 6, 10, 50),
    (2,),
    (10**6,),
    (3, 4, 5),
    (2, 10, 1000, LARGEST_GOAL),
    tuple(range(2, 2 + MOST_CURVES)),
    (2, *range(LARGEST_GOAL - MOST_CURVES + 2, LARGEST_GOAL + 1)),
]


# --- what is on a figure ----------------------------------------------------------------------


def drawn(goal: int, state: int | None) -> tuple[Figure, int]:
    """Figure 1, and the state it is about."""
    if state == LAST:
        state = goal - 1
    return transition_figure(goal, state), goal // 2 if state is None else state


def only_axes(figure: Figure) -> Axes:
    (axes,) = figure.axes
    return axes


def legend_of(axes: Axes) -> Legend:
    legend = axes.get_legend()
    assert legend is not None
    return legend


def written(axes: Axes) -> dict[str, Text]:
    """Every text in the axes and its legend by what it says; none is there twice."""
    texts = [*axes.texts, *legend_of(axes).get_texts(), legend_of(axes).get_title()]
    said = [text for text in texts if text.get_text() and text.get_visible()]
    return {f"{text.get_text()}/{i}": text for i, text in enumerate(said)}


def numbers(axes: Axes) -> dict[int, float]:
    """The states that are drawn, and where in the row each stands."""
    shown = {t.get_text().replace(",", ""): t.get_position()[0] for t in axes.texts}
    return {int(number): float(x) for number, x in shown.items() if number.isdigit()}


def labels(axes: Axes) -> dict[str, Text]:
    """The chances written at the arrows."""
    return {t.get_text(): t for t in axes.texts if "p_" in t.get_text()}


def circles(axes: Axes, x: float) -> list[Circle]:
    return [p for p in axes.patches if isinstance(p, Circle) and p.center[0] == x]


def heads(axes: Axes) -> list[FancyArrowPatch]:
    """CONTINUE down and up, then FINISH to the dead end and to the goal."""
    return [p for p in axes.patches if isinstance(p, FancyArrowPatch)]


def shafts(axes: Axes) -> list[PathPatch]:
    """The dashed part of FINISH to the dead end and to the goal."""
    return [p for p in axes.patches if isinstance(p, PathPatch)]


def in_data(axes: Axes, pixels: Pixels) -> NDArray[np.float64]:
    """The (x, y) in the axes' units of every covered pixel."""
    rows, columns = np.nonzero(pixels)
    display = np.column_stack((columns + 0.5, pixels.shape[0] - rows - 0.5))
    return np.asarray(axes.transData.inverted().transform(display))


# --- Figure 1 ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("goal", "state"), DRAWINGS)
def test_the_states_that_matter_are_in_the_row_in_order(goal: int, state: int | None) -> None:
    figure, s = drawn(goal, state)
    axes = only_axes(figure)
    shown = numbers(axes)
    assert {0, 1, s - 1, s, s + 1, goal - 1, goal} <= set(shown)
    assert (min(shown), max(shown)) == (0, goal)
    places = [shown[number] for number in sorted(shown)]
    assert all(a < b for a, b in pairwise(places))
    assert all(len(circles(axes, x)) >= 1 for x in places)


@pytest.mark.slow
@pytest.mark.parametrize("goal", [2, 3, 7, 8, 9, 10, 11, 12, 13])
def test_dots_stand_for_two_states_or_more_and_for_all_that_are_left_out(goal: int) -> None:
    for state in range(1, goal):
        axes = only_axes(transition_figure(goal, state))
        shown = sorted(numbers(axes))
        gaps = [(a, b) for a, b in pairwise(shown) if b - a > 1]
        assert all(b - a > 2 for a, b in gaps)
        dots = [t.get_position()[0] for t in axes.texts if t.get_text() == "…"]
        x = numbers(axes)
        assert len(dots) == len(gaps)
        assert all(x[a] < dot < x[b] for dot, (a, b) in zip(sorted(dots), gaps, strict=True))
        assert len(shown) + len(dots) <= 9


@pytest.mark.parametrize(("goal", "state"), DRAWINGS)
def test_terminal_states_are_named_and_ringed_and_no_others(goal: int, state: int | None) -> None:
    figure, s = drawn(goal, state)
    axes = only_axes(figure)
    x = numbers(axes)
    names = {t.get_text(): t.get_position()[0] for t in axes.texts}
    assert names["dead end\nD = 0"] == x[0]
    assert names[f"goal\nG = {goal:,}"] == x[goal]
    assert names["$s$"] == x[s]
    ringed = {number for number, place in x.items() if len(circles(axes, place)) == 2}
    assert ringed == {0, goal}


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "state"), DRAWINGS)
def test_four_arrows_lead_from_the_state_where_the_actions_lead(
    goal: int, state: int | None
) -> None:
    figure, s = drawn(goal, state)
    figure.draw_without_rendering()
    axes = only_axes(figure)
    x = numbers(axes)
    wanted = [("$1-p_C$", s - 1), ("$p_C$", s + 1), ("$1-p_F$", 0), ("$p_F$", goal)]
    assert len(heads(axes)) == len(wanted)
    assert sorted(labels(axes)) == sorted(label for label, _ in wanted)
    for arrow, (chance, end) in zip(heads(axes), wanted, strict=True):
        corners = np.asarray(arrow.get_path().vertices)
        outer = max(circle.radius for circle in circles(axes, x[end]))
        from_start = np.hypot(corners[0, 0] - x[s], corners[0, 1])
        to_end = np.hypot(corners[:, 0] - x[end], corners[:, 1]).min()
        assert circles(axes, x[s])[0].radius < from_start < circles(axes, x[s])[0].radius + 2
        assert outer < to_end < outer + 4
        label = labels(axes)[chance]
        assert (to_hex(arrow.get_facecolor()), label.get_color()) == (
            (CONTINUE, WORDS[0]) if "C" in chance else (FINISH, WORDS[1])
        )
        assert min(x[s], x[end]) < label.get_position()[0] < max(x[s], x[end])


def test_continue_is_solid_and_finish_is_dashed_as_the_legend_says() -> None:
    axes = only_axes(transition_figure())
    down, up, *_ = heads(axes)
    assert {down.get_linestyle(), up.get_linestyle()} <= {"-", "solid"}
    assert len(shafts(axes)) == 2
    assert all(isinstance(shaft.get_linestyle(), tuple) for shaft in shafts(axes))
    legend = legend_of(axes)
    solid, dashed = legend.get_lines()
    assert [t.get_text() for t in legend.get_texts()] == ["continue (C)", "finish (F)"]
    assert not solid.is_dashed()
    assert dashed.is_dashed()
    assert to_hex(solid.get_color()) == to_hex(up.get_edgecolor())
    assert to_hex(dashed.get_color()) == to_hex(shafts(axes)[0].get_edgecolor())


@pytest.mark.parametrize(
    ("goal", "note"),
    [
        (2, "State 1 is the only state in between."),
        (3, "The other state in between has the same transitions."),
        (4, "All other states in between have the same transitions."),
    ],
)
def test_the_note_is_true_of_the_goal(goal: int, note: str) -> None:
    assert note in [t.get_text() for t in only_axes(transition_figure(goal)).texts]


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "state"), DRAWINGS)
def test_nothing_overlaps_or_is_cut_in_figure_1(goal: int, state: int | None) -> None:
    figure, _ = drawn(goal, state)
    axes = only_axes(figure)
    ink = Ink(figure)
    down, up, dead_end_head, goal_head = heads(axes)
    dead_end_shaft, goal_shaft = shafts(axes)
    parts = {what: ink.of(text) for what, text in written(axes).items()}
    parts["continue down"], parts["continue up"] = ink.of(down), ink.of(up)
    parts["finish to the dead end"] = ink.of(dead_end_shaft, dead_end_head)
    parts["finish to the goal"] = ink.of(goal_shaft, goal_head)
    assert ink.touch(parts) == []
    assert not ink.at_the_edge()


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "state"), DRAWINGS)
def test_numbers_are_inside_their_circles_and_all_else_outside(
    goal: int, state: int | None
) -> None:
    figure, _ = drawn(goal, state)
    axes = only_axes(figure)
    ink = Ink(figure)
    disks = [(p.center[0], p.radius) for p in axes.patches if isinstance(p, Circle)]
    parts: list[tuple[str, Artist]] = [
        *written(axes).items(),
        *(("an arrow", part) for part in [*heads(axes), *shafts(axes)]),
    ]
    for what, part in parts:
        spots = in_data(axes, ink.of(part))
        if what.split("/")[0].replace(",", "").isdigit():
            x, radius = min(disks, key=lambda disk: (abs(disk[0] - spots[:, 0].mean()), disk[1]))
            assert np.hypot(spots[:, 0] - x, spots[:, 1]).max() < radius - 0.8, what
        else:
            for x, radius in disks:
                assert np.hypot(spots[:, 0] - x, spots[:, 1]).min() > radius - 0.8, what


@pytest.mark.parametrize("goal", [1, 0, -3, 2.0, True, "4", None, LARGEST_GOAL + 1])
def test_a_goal_that_is_none_is_refused(goal: Any) -> None:
    with pytest.raises(InvalidInput, match="goal ="):
        transition_figure(goal)
    with pytest.raises(InvalidInput, match="goal ="):
        boundary_figure([3, goal])


@pytest.mark.parametrize("state", [0, 4, 5, -1, 1.0, True, "1"])
def test_a_state_without_actions_is_refused(state: Any) -> None:
    with pytest.raises(InvalidInput, match=r"state = .* whole number from 1 to 3"):
        transition_figure(4, state)


# --- Figure 2 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("goals", SETS_OF_GOALS)
def test_every_curve_is_the_boundary_of_its_goal(goals: tuple[int, ...]) -> None:
    axes = only_axes(boundary_figure(goals))
    assert len(axes.get_lines()) == len(goals)
    for goal, line in zip(goals, axes.get_lines(), strict=True):
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert line.get_label() == f"G = {goal:,}"
        np.testing.assert_array_equal(y, boundary(goal, x))
        assert (x[0], x[-1]) == (0.0, 1.0)
        assert (np.diff(x) > 0.0).all()


@pytest.mark.parametrize("goal", [2, 3, 10, 50, 1000, 10**6, LARGEST_GOAL])
def test_straight_lines_between_samples_follow_the_boundary(goal: int) -> None:
    (line,) = only_axes(boundary_figure([goal])).get_lines()
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert np.diff(y).max() < 0.01
    middle = (x[1:] + x[:-1]) / 2.0
    truth = boundary(goal, middle)
    wrong = np.abs((y[1:] + y[:-1]) / 2.0 - truth)
    assert wrong.max() < 1e-4
    # Where it bends, B is about 1/goal: what is small there is measured against that.
    bend = np.abs(middle - 0.5) < 12.0 / goal
    assert wrong[bend].max() < 0.01 / goal


def test_goals_are_drawn_once_and_in_order() -> None:
    axes = only_axes(boundary_figure([50, 2, 10, 2]))
    named = [t.get_text() for t in legend_of(axes).get_texts()]
    assert named == ["G = 2", "G = 10", "G = 50"]
    assert [line.get_label() for line in axes.get_lines()] == named


@pytest.mark.parametrize("goals", SETS_OF_GOALS)
def test_colours_brighten_with_the_goal_and_stay_visible_on_white(goals: tuple[int, ...]) -> None:
    # Brightness alone tells the curves apart, so every kind of colour vision can.
    colours = [to_rgb(line.get_color()) for line in only_axes(boundary_figure(goals)).get_lines()]
    bright = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in colours]
    assert all(b - a > 0.01 for a, b in pairwise(bright))
    assert bright[-1] < 0.75


@pytest.mark.slow
@pytest.mark.parametrize("goals", SETS_OF_GOALS)
def test_regions_are_named_where_they_are_for_every_goal(goals: tuple[int, ...]) -> None:
    figure = boundary_figure(goals)
    axes = only_axes(figure)
    ink = Ink(figure)
    named = {t.get_text().split(":")[0]: t for t in axes.texts if "region:" in t.get_text()}
    above, below = named["no-exploration region"], named["exploration region"]
    assert above.get_text().endswith("FINISH in state 1 is right\n(threshold 1)")
    assert below.get_text().endswith("never FINISH\n(threshold 0)")
    for text, threshold in ((above, 1), (below, 0)):
        x, y = text.get_position()
        assert all(optimal_threshold(Problem(g, x, y)) == threshold for g in goals)
    # The whole of the words, and the legend, are on their side, not only where they start.
    for part, side in ((above, 1.0), (legend_of(axes), 1.0), (below, -1.0)):
        spots = in_data(axes, ink.of(part))
        for goal in goals:
            assert (side * (spots[:, 1] - boundary(goal, spots[:, 0])) > 0.01).all()


@pytest.mark.slow
@pytest.mark.parametrize("goals", SETS_OF_GOALS)
def test_a_name_at_a_curve_is_on_that_curve_or_beside_the_lowest(goals: tuple[int, ...]) -> None:
    figure = boundary_figure(goals)
    axes = only_axes(figure)
    ink = Ink(figure)
    named = [t for t in axes.texts if t.get_text().startswith("G = ")]
    lowest = max(goals)
    assert f"G = {lowest:,}" in [t.get_text() for t in named]
    for text in named:
        goal = int(text.get_text().removeprefix("G = ").replace(",", ""))
        x, y = text.get_position()
        spots = in_data(axes, ink.of(text))
        if x == 0.5:
            assert y == boundary(goal, 0.5)
            others = [g for g in goals if g != goal]
            # The letters hide no other curve: that one is wholly on one side of them.
            for other in others:
                side = np.sign(goal - other)
                assert (side * (boundary(other, spots[:, 0]) - spots[:, 1]) > 0.0).all()
        else:
            assert goal == lowest
            gap = boundary(goal, spots[:, 0]) - spots[:, 1]
            assert gap.min() > 0.0
            assert gap.min() < 0.06


def test_all_curves_but_those_without_room_are_named_on_themselves() -> None:
    default = only_axes(boundary_figure())
    named = {t.get_text() for t in default.texts if t.get_text().startswith("G = ")}
    assert named == {f"G = {goal}" for goal in (2, 3, 4, 6, 10, 50)}


@pytest.mark.slow
@pytest.mark.parametrize("goals", SETS_OF_GOALS)
def test_no_words_overlap_or_are_cut_in_figure_2(goals: tuple[int, ...]) -> None:
    figure = boundary_figure(goals)
    axes = only_axes(figure)
    ink = Ink(figure)
    parts = {what: ink.of(text) for what, text in written(axes).items()}
    for axis in (axes.xaxis, axes.yaxis):
        parts[axis.get_label_text()] = ink.of(axis.label)
        for text in axis.get_ticklabels():
            parts[f"{axis.axis_name} = {text.get_text()}"] = ink.of(text)
    assert ink.touch(parts) == []
    assert not ink.at_the_edge()


def test_the_square_is_square() -> None:
    figure = boundary_figure()
    figure.draw_without_rendering()
    axes = only_axes(figure)
    box = axes.get_window_extent()
    assert box.width == pytest.approx(box.height)
    assert (axes.get_xlim(), axes.get_ylim()) == ((0.0, 1.0), (0.0, 1.0))


@pytest.mark.parametrize("goals", [[], range(2, 3 + MOST_CURVES)])
def test_no_curve_and_too_many_are_refused(goals: Sequence[int]) -> None:
    with pytest.raises(InvalidInput, match=f"{len(goals)} different goals were given"):
        boundary_figure(goals)
