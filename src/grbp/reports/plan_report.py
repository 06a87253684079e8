"""The report of a plan: how many cases learning takes, for someone who is not a statistician."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from grbp import __version__
from grbp._format import format_level, format_number
from grbp.figures.canvas import svg_of
from grbp.figures.planning import knowing_figure, lost_figure, needed_figure
from grbp.planning.printed_plan import (
    describe_needed,
    describe_setting,
    expectations,
    needs,
    rank_needs,
    summarize_group,
    warnings,
    write_range,
)
from grbp.reports.page import (
    MOST_ROWS,
    NO_NUMBER,
    environment,
    format_share,
)

if TYPE_CHECKING:
    from grbp.planning.result import Plan
    from grbp.theory.posterior import Estimate

Columns: TypeAlias = Mapping[str, tuple[str, Callable[[Any], str]]]
"""The columns of a table by their heads: a number of a truth or outlook, and how it is written."""


def plan_report(plan: "Plan", facts: Mapping[str, str]) -> str:
    """Write the report of a plan.

    Parameters
    ----------
    plan : Plan
        What `grbp.plan` returned.
    facts : mapping of str to str
        How the report was made: the command.

    Returns
    -------
    str
        The report: one HTML file without scripts that fetches nothing.
    """
    decided = [truth for truth in plan.truths if truth.right is not None]
    pages = environment()
    pages.filters |= {"number": format_number, "whole_percent": _whole_percent}
    return pages.get_template("plan.html.j2").render(
        plan=plan,
        goal=plan.goal,
        warnings=warnings(plan),
        needs=needs(plan),
        sentences=expectations(plan),
        level=format_level(plan.level).replace(" ", "\N{NO-BREAK SPACE}"),
        ends=[truth.at(plan.cases[-1]) for truth in decided or plan.truths],
        by_cases=[_by_cases(plan, cases) for cases in plan.cases],
        svg={
            "knowing": svg_of(knowing_figure(plan)),
            "lost": svg_of(lost_figure(plan)),
            "needed": svg_of(needed_figure(plan)) if rank_needs(plan) else b"",
        },
        needed=_needed(plan),
        groups={name: summarize_group(group) for name, group in plan.by_group.items()},
        goals=_table(plan, _GOALS),
        shares=_table(plan, _SHARES),
        estimates=_table(plan, _ESTIMATES),
        facts={
            **facts,
            "Played": describe_setting(plan),
            "Software": f"grbp {__version__}",
        },
    )


def _needed(plan: "Plan") -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of how many cases are enough: one for each truth."""
    head = [
        "p_C, p_F",
        "cases of learning",
        "between",
        "goals lost",
        "cases of a trial",
        "goals lost",
    ]
    return head, [
        [
            f"{truth.p_c:.4g}, {truth.p_f:.4g}",
            # A page has room for the 0 before the point.
            *(
                f"0{cell}" if cell[:1] == "." else cell or NO_NUMBER
                for cell in describe_needed(truth)
            ),
        ]
        for truth in plan.truths[:MOST_ROWS]
        if truth.needed is not None
    ]


def _by_cases(plan: "Plan", cases: int) -> tuple[str, ...]:
    """Return the row of a number of cases: the least and the most over all truths."""
    columns: dict[str, Callable[[float], str]] = {
        "plays_right": _whole_percent,
        "known": _whole_percent,
        "ever_wrongly_sure": _whole_percent,
        "goals_lost": format_number,
    }
    cells = [f"{cases:,}"]
    for name, write in columns.items():
        numbers = [getattr(truth.at(cases), name).estimate for truth in plan.truths]
        cells.append(write_range(write(min(numbers)), write(max(numbers))))
    return tuple(cells)


def _table(plan: "Plan", columns: Columns) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table: one for each truth and number of cases."""
    pairs = [(truth, truth.at(cases)) for truth in plan.truths for cases in plan.cases]
    rows = []
    for truth, one in pairs[:MOST_ROWS]:
        known = vars(truth) | one._asdict()
        cells = [write(known[name]) for name, write in columns.values()]
        rows.append([f"{truth.p_c:.4g}, {truth.p_f:.4g}", f"{one.cases:,}", *cells])
    return ["p_C, p_F", "cases", *columns], rows


def _mean(mean: "Estimate") -> str:
    """Write a mean with half its interval."""
    half = mean.high - mean.estimate
    more = "" if math.isnan(half) else f" ± {format_number(half)}"
    return f"{format_number(mean.estimate)}{more}"


def _signed(bias: "Estimate") -> str:
    """Write a mean error with its sign."""
    if math.isnan(bias.estimate):
        return NO_NUMBER
    return f"{bias.estimate:+.3f}".replace("-", "\N{MINUS SIGN}")


def _threshold(right: int | None) -> str:
    return "both" if right is None else str(right)


def _whole_percent(share: float) -> str:
    """Write a share in percent; what is not quite none or all does not read as if it were."""
    number = f"{100.0 * share:.0f}"
    if number in ("0", "100") and 0.0 < share < 1.0:
        number = "under 1" if share < 0.5 else "over 99"
    return f"{number}\N{NO-BREAK SPACE}%"


_GOALS: Final[Columns] = {
    "goals of the learner": ("goals", _mean),
    "always continue": ("goals_threshold_0", format_number),
    "always finish in state 1": ("goals_threshold_1", format_number),
    "knowing the truth": ("goals_oracle", format_number),
    "goals lost": ("goals_lost", _mean),
    "FINISH taken": ("finishes", _mean),
}
_SHARES: Final[Columns] = {
    "right threshold": ("right", _threshold),
    "plays right": ("plays_right", format_share),
    "knows it": ("known", format_share),
    "sure of the wrong one now": ("wrongly_sure", format_share),
    "ever sure of the wrong one": ("ever_wrongly_sure", format_share),
    "ever sure of any": ("ever_sure", format_share),
}
_ESTIMATES: Final[Columns] = {
    "bias of p_C": ("bias_p_c", _signed),
    "bias of p_F": ("bias_p_f", _signed),
    "Wilson holds p_C": ("wilson_p_c", format_share),
    "Wilson holds p_F": ("wilson_p_f", format_share),
    "anytime holds p_C": ("anytime_p_c", format_share),
    "anytime holds p_F": ("anytime_p_f", format_share),
}
