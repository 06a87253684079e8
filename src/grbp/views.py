"""How problems, sessions and results look: as a data frame, as a picture, and in a notebook."""

import base64
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import singledispatch
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from grbp._words import with_interval
from grbp.errors import GrbpError, InvalidInput, MissingExtra
from grbp.experiments.curve_result import CurveResult
from grbp.experiments.simulation import Simulation
from grbp.experiments.sweeps.result import SweepResult
from grbp.experiments.tables import COLUMNS, curve_rows
from grbp.figures import records
from grbp.figures.best_map import best_learner_figure
from grbp.figures.boundary import boundary_figure
from grbp.figures.numbers import rounded
from grbp.figures.planning import knowing_figure
from grbp.figures.regret_curves import regret_figure
from grbp.figures.regret_map import regret_map_figure
from grbp.figures.standings import standings_figure
from grbp.fitting.result import Fit
from grbp.learners.counters import Counters
from grbp.model.problem import Problem
from grbp.planning.characteristics import Outlook
from grbp.planning.result import COLUMNS as PLANNED, Plan
from grbp.session import Session
from grbp.theory.posterior import Estimate
from grbp.theory.values import boundary, optimal_threshold, q_at, value, value_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows: TypeAlias = tuple[Sequence[str], Iterable[Sequence[Any]]]
"""The names of the columns of a table, and its rows."""

_LIBRARIES: Final = ("pandas", "polars")
_MOST_ROWS: Final = 30
"""Rows that a notebook shows of a table."""


def frame_of(thing: Any, library: str | None) -> Any:
    """Return the table of a thing as a data frame of a library."""
    if library not in (*_LIBRARIES, None):
        raise InvalidInput(f"library = {library!r} was given; it must be 'pandas' or 'polars'")
    wanted = _LIBRARIES if library is None else (library,)
    found = next((name for name in wanted if find_spec(name) is not None), None)
    if found is None:
        raise MissingExtra(
            f"a data frame needs {' or '.join(wanted)}, which is not installed; install it"
        )
    columns, rows = table_of(thing)
    by_column = list(zip(*rows, strict=True)) or [()] * len(columns)
    return import_module(found).DataFrame(
        {name: list(column) for name, column in zip(columns, by_column, strict=True)}
    )


def html_of(thing: Any) -> str:
    """Return what a notebook shows: a line, a short table, and a picture where there is one."""
    columns, rows = summary_of(thing)
    shown = list(rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_said(cell))}</td>" for cell in row) + "</tr>"
        for row in shown[:_MOST_ROWS]
    )
    title, more = repr(thing).partition("\n")[0].strip("<>"), len(shown) - _MOST_ROWS
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    return (
        f"<div><p>{escape(title)}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{rest}{_picture(thing)}</div>"
    )


def _picture(thing: Any) -> str:
    """Return the picture of a thing as HTML; nothing where there is none to draw, or no way."""
    with suppress(GrbpError):
        figure = picture_of(thing, None)
        from grbp.figures.notebook import png_of  # noqa: PLC0415 (it imports Matplotlib)

        data, words = base64.b64encode(png_of(figure)).decode(), escape(repr(thing), quote=True)
        width = round(72 * figure.get_figwidth())
        style = f"max-width: min(100%, {width}px)"
        return f'<img alt="{words}" style="{style}" src="data:image/png;base64,{data}">'
    return ""


def _said(cell: object) -> str:
    return rounded(cell) if isinstance(cell, float) else str(cell)


# Each of these three is defined below for every class that is `Shown`: nothing else can be shown.


@singledispatch
def table_of(thing: Any) -> Rows:
    """Return all numbers of a thing as a table."""
    raise NotImplementedError(type(thing))


@singledispatch
def summary_of(thing: Any) -> Rows:
    """Return the few numbers of a thing that a notebook shows."""
    raise NotImplementedError(type(thing))


@singledispatch
def picture_of(thing: Any, ax: "Axes | None") -> "Figure":
    """Draw a thing."""
    raise NotImplementedError(type(thing))


# Problems.


@table_of.register
def _(thing: Problem) -> Rows:
    threshold = optimal_threshold(thing)
    q = q_at(thing, threshold).tolist()
    columns = (thing.states, thing.start_probabilities, value_at(thing, threshold))
    rows = zip(*(column.tolist() for column in columns), q, strict=True)
    return ("state", "start", "value", "q_continue", "q_finish"), (
        (*row, *both) for *row, both in rows
    )


@summary_of.register
def _(thing: Problem) -> Rows:
    best = optimal_threshold(thing)
    return ("", ""), [
        ("boundary B(p_c)", f"{boundary(thing.goal, thing.p_c):.4g}"),
        ("optimal threshold", best),
        ("share of cases won with it", f"{value(thing, best):.4g}"),
        (f"and with threshold {1 - best}", f"{value(thing, 1 - best):.4g}"),
    ]


@picture_of.register(Problem)
def _(thing: Problem, ax: "Axes | None") -> "Figure":
    return boundary_figure([thing.goal], point=(thing.p_c, thing.p_f), ax=ax)


# Sessions.


@table_of.register
def _(thing: Session) -> Rows:
    if isinstance(thing.memory, Counters):
        return ("counter", "count"), (
            (name, float(count)) for name, count in thing.memory._asdict().items()
        )
    plays, wins = (part.tolist() for part in thing.memory)
    return ("policy", "plays", "wins"), zip(range(len(plays)), plays, wins, strict=True)


@summary_of.register
def _(thing: Session) -> Rows:
    n = thing.memory
    if not isinstance(n, Counters):
        return table_of(thing)
    return ("", "taken", "succeeded", "share"), [
        (name, *(f"{number:.6g}" for number in (taken, up)), f"{up / taken:.4g}")
        for name, taken, up in (("FINISH", n.f, n.f_goal), ("CONTINUE", n.c, n.c_up))
    ]


@picture_of.register(Session)
def _(thing: Session, ax: "Axes | None") -> "Figure":
    n = thing.memory
    point = (n.c_up / n.c, n.f_goal / n.f) if isinstance(n, Counters) else None
    return boundary_figure([thing.goal], point=point, ax=ax)


# Fits of past cases.


@table_of.register
def _(thing: Fit) -> Rows:
    fits = {"": thing, **thing.by_group}
    return ("group", "quantity", "estimate", "low", "high"), (
        (group, name, *number) for group, fit in fits.items() for name, number in _estimates(fit)
    )


@summary_of.register
def _(thing: Fit) -> Rows:
    return ("", "estimate, with its interval"), (
        (name, with_interval(*number)) for name, number in _estimates(thing)
    )


def _estimates(fit: Fit) -> Iterator[tuple[str, Estimate]]:
    """Yield what a fit estimates, as far as its records allow."""
    for name, share in (("p_c", fit.p_c), ("p_f", fit.p_f)):
        if share is not None and share.estimate is not None:
            yield name, Estimate(share.estimate, *share.interval)
    estimates = {
        "boundary": fit.boundary,
        "general": fit.ways["general"],
        "direct": fit.ways["direct"],
        "difference": fit.difference,
        "practice": fit.practice,
        "value_0": fit.value_0,
        "value_1": fit.value_1,
        "gain": fit.gain(),
    }
    yield from ((name, number) for name, number in estimates.items() if number is not None)


@picture_of.register(Fit)
def _(thing: Fit, ax: "Axes | None") -> "Figure":
    return records.boundary_figure(thing, ax)


# Plans.


@table_of.register
def _(thing: Plan) -> Rows:
    return PLANNED, thing.cells()


@summary_of.register
def _(thing: Plan) -> Rows:
    last = thing.cases[-1]
    columns = ("p_c", "p_f", f"plays right after {last:,} cases", "known", "goals lost")
    return columns, (
        (f"{truth.p_c:g}", f"{truth.p_f:g}", *(one.estimate for one in _of_last(truth.at(last))))
        for truth in thing.truths
    )


def _of_last(outlook: Outlook) -> tuple[Estimate, ...]:
    return outlook.plays_right, outlook.known, outlook.goals_lost


@picture_of.register(Plan)
def _(thing: Plan, ax: "Axes | None") -> "Figure":
    return knowing_figure(thing, ax)


# Simulations, and results of experiments.


@table_of.register
def _(thing: Simulation) -> Rows:
    return COLUMNS, curve_rows(thing)


@summary_of.register
def _(thing: Simulation) -> Rows:
    columns = ("learner", f"mean regret after {thing.rounds:,} rounds", "engine")
    return columns, (
        (name, curve.ends, thing.engines.get(name, ""))
        for name, curve in sorted(thing.curves.items(), key=lambda item: item[1].mean[-1])
    )


@picture_of.register(Simulation)
def _(thing: Simulation, ax: "Axes | None") -> "Figure":
    return regret_figure(thing, ax=ax)


@table_of.register(CurveResult)
@table_of.register(SweepResult)
def _(thing: CurveResult | SweepResult) -> Rows:
    return thing.columns, thing.rows()


@summary_of.register
def _(thing: CurveResult) -> Rows:
    return summary_of(thing.simulation)


@picture_of.register(CurveResult)
def _(thing: CurveResult, ax: "Axes | None") -> "Figure":
    return regret_figure(thing.simulation, ax=ax)


# Sweeps.


@summary_of.register
def _(thing: SweepResult) -> Rows:
    names = ("learner", "mean regret", "standard error", "worst", "at")
    return names, (
        (one.learner, one.mean, one.se, one.worst, "goal {}, {:g}, {:g}".format(*one.worst_at))
        for one in thing.table().standings
    )


@picture_of.register(SweepResult)
def _(thing: SweepResult, ax: "Axes | None") -> "Figure":
    if len(thing.spec.goals) > 1:
        return standings_figure(thing, ax=ax)
    found = thing.regret_map()
    names = [str(learner) for learner in thing.spec.players(found.goal)]
    if len(names) == 1:
        return regret_map_figure(found.p_c, found.p_f, found.mean, found.goal, ax=ax)
    return best_learner_figure(found.p_c, found.p_f, *thing.winners(), names, found.goal, ax=ax)
