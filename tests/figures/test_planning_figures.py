"""The pictures of a plan: what is drawn is what was planned, and all words can be read."""

import math
from dataclasses import replace
from typing import Any

import pytest
from ink import Ink, Pixels
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import grbp
from grbp.errors import InvalidInput
from grbp.figures.planning import knowing_figure, lost_figure, needed_figure
from grbp.planning.printed_plan import rank_needs
from grbp.theory.posterior import Estimate


@pytest.fixture(scope="module")
def plan() -> grbp.Plan:
    return grbp.plan(4, (0.4, 0.5), (0.2, 0.35), [50, 100, 400], replicas=100)


def lines(axes: Axes) -> dict[str, list[float]]:
    return {str(line.get_label()): list(line.get_ydata()) for line in axes.get_lines()}  # type: ignore[arg-type]


def test_panels_show_the_least_the_middle_and_the_best_known_truth(plan: grbp.Plan) -> None:
    figure = knowing_figure(plan)
    ranked = sorted(plan.truths, key=lambda truth: truth.at(400).known.estimate)
    for axes, truth in zip(figure.axes, (ranked[0], ranked[4], ranked[-1]), strict=True):
        drawn = lines(axes)
        after = truth.outlooks
        assert drawn["plays the right policy"] == [one.plays_right.estimate for one in after]
        assert drawn["knows it at 95 %"] == [one.known.estimate for one in after]
        wrong = drawn["was ever sure of the wrong policy"]
        assert wrong == [one.ever_wrongly_sure.estimate for one in after]
        assert axes.get_title("left").startswith(f"$p_C$ = {truth.p_c:g}, $p_F$ = {truth.p_f:g}:")
        assert axes.get_lines()[0].get_xdata()[-1] == 400  # type: ignore[index]


def test_the_dearest_truth_is_drawn(plan: grbp.Plan) -> None:
    (axes,) = lost_figure(plan).axes
    most = max(plan.truths, key=lambda truth: truth.at(400).goals_lost.estimate)
    drawn = lines(axes)
    assert len(drawn) == 3
    name = f"$p_C$ = {most.p_c:g}, $p_F$ = {most.p_f:g}"
    assert drawn[name] == [one.goals_lost.estimate for one in most.outlooks]


def places(axes: Axes) -> dict[str, list[float]]:
    return {str(line.get_label()): list(line.get_xdata()) for line in axes.get_lines()}  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def asked() -> grbp.Plan:
    """Two needs, one truth that never can be known, and one beyond what was played."""
    plan = grbp.plan(4, (0.5, 0.65, 2), (0.25, 0.4, 2), 20, known=0.8, replicas=40)
    _, close, *_ = plan.truths
    assert close.needed is not None
    beyond = close.needed._replace(
        cases=Estimate(math.inf, 100_000.0, math.inf), goals_lost=Estimate(*[math.nan] * 3)
    )
    truths = tuple(replace(one, needed=beyond) if one is close else one for one in plan.truths)
    return replace(plan, truths=truths)


def test_every_need_is_drawn_the_hardest_on_top(asked: grbp.Plan) -> None:
    ranked = rank_needs(asked)
    assert [truth.right for truth in asked.truths].count(None) == 1
    assert len(ranked) == 3
    cases, goals = asked.plot().axes
    names = [f"{truth.p_c:.3g}, {truth.p_f:.3g}" for truth, _ in ranked]
    for axes in (cases, goals):
        assert [text.get_text() for text in axes.get_yticklabels()] == names
        low, high = axes.get_ylim()
        assert low > high
    drawn = places(cases)
    assert drawn["learning, with its interval"] == [one.cases.estimate for _, one in ranked]
    assert drawn["a trial with two arms"] == [one.trial_cases for _, one in ranked]
    beyond = drawn["learning: more than that"]
    assert beyond[0] == 100_000.0
    assert math.isnan(beyond[1])
    lost = places(goals)
    expected = [one.goals_lost.estimate for _, one in ranked[1:]]
    assert lost["learning, with its interval"][1:] == expected
    assert lost["a trial with two arms"] == [one.trial_goals_lost for _, one in ranked]


def test_needs_are_not_drawn_where_nobody_asked(plan: grbp.Plan) -> None:
    with pytest.raises(InvalidInput, match=r"plan with known=0.8 or right=0.9"):
        plan.plot_needed()


@pytest.mark.slow
@pytest.mark.parametrize("draw", [knowing_figure, lost_figure, needed_figure])
@pytest.mark.parametrize("choices", [{}, {"stop_at": 0.9, "cases": [10]}, {"cases": [1]}])
def test_no_words_touch_each_other_or_the_edge(draw: Any, choices: dict[str, Any]) -> None:
    few: dict[str, Any] = {"cases": [50, 70, 2000], "replicas": 20, "p_c": (0.4, 0.5)} | choices
    if draw is needed_figure:
        few["right"] = 0.7
    figure = draw(grbp.plan(4, p_f=0.275, **few))
    ink = Ink(figure)
    assert not ink.at_the_edge()
    words: dict[str, Pixels] = {}
    for k, axes in enumerate(figure.axes):
        low, high = sorted(axes.get_ylim())
        ticks = [text for text in axes.get_yticklabels() if low <= text.get_position()[1] <= high]
        ticks += axes.get_xticklabels()
        texts = [*ticks, axes.xaxis.label, axes.yaxis.label, axes._left_title]
        texts += [text for one in [axes.get_legend()] if one for text in one.get_texts()]
        words |= {f"{k} {text.get_text()} {i}": ink.of(text) for i, text in enumerate(texts)
                  if text.get_text()}  # fmt: skip
    assert ink.touch(words) == []


def test_needs_go_into_axes_of_ones_own(asked: grbp.Plan) -> None:
    axes = Figure(figsize=(3.2, 2.6)).subplots()
    assert asked.plot(ax=axes) is axes.figure
    assert axes.get_title("left").startswith("cases, by truth")


@pytest.mark.parametrize("what", ["knowing", "lost"])
def test_pictures_go_into_axes_of_ones_own(plan: grbp.Plan, what: str) -> None:
    axes = Figure(figsize=(3.2, 2.6)).subplots()
    assert getattr(plan, f"plot_{what}")(ax=axes) is axes.figure
    assert len(axes.get_lines()) == 3
    with pytest.raises(InvalidInput, match="must be Matplotlib axes"):
        getattr(plan, f"plot_{what}")(ax="here")
