"""The report of a fit: what past cases say, for someone who is not a statistician."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from grbp import __version__
from grbp.figures.records import (
    boundary_figure,
    cusum_figure,
    states_figure,
    ways_figure,
)
from grbp.fitting.estimates import Proportion
from grbp.reports.page import MOST_ROWS, environment, format_percent, format_share, svg_of

if TYPE_CHECKING:
    from grbp.fitting.result import Fit, StateRow

_DECISIONS: Final = {
    "threshold-1": ("held", "✓", "finish in state 1"),
    "threshold-0": ("held", "✓", "never finish"),
    "by-state": ("open", "↕", "it depends on the state"),
    "by-group": ("open", "↕", "it depends on the group"),
    "none": ("open", "?", "no decision"),
}
"""Of every decision: its look, its sign and its words."""

_WAYS: Final = {
    "boundary": "from p_C alone, the same in every state: B(p_C)",
    "general": "from the chances of each state",
    "direct": "counted directly: cases that stood in state 1 and continued from there",
}


def fit_report(fit: "Fit", facts: Mapping[str, str]) -> str:
    """Write the report of a fit.

    Parameters
    ----------
    fit : Fit
        What `grbp.fit` returned.
    facts : mapping of str to str
        How the report was made: the command, the file.

    Returns
    -------
    str
        The report: one HTML file without scripts that fetches nothing.
    """
    pages = environment()
    pages.filters |= {"answer": _answer, "states": _list_states}
    look, sign, _ = _DECISIONS[fit.decision] if fit.firm else ("open", "?", "")
    draw = {
        "boundary": boundary_figure if fit.p_c.tries else None,
        "ways": ways_figure if any(fit.ways.values()) else None,
        "states": states_figure,
        "cusum": cusum_figure if fit.cusum is not None else None,
    }
    ways = [(words, format_share(fit.ways[name])) for name, words in _WAYS.items()]
    ways.append(("to compare: FINISH wins, p_F", format_share(fit.p_f)))
    return pages.get_template("fit.html.j2").render(
        fit=fit,
        goal=fit.goal,
        look=look,
        sign=sign,
        right={
            action: [row.state for row in fit.by_state if row.action == action]
            for action in ("finish", "continue", "unknown")
        },
        svg={name: svg_of(figure(fit)) if figure else b"" for name, figure in draw.items()},
        ways_rows=ways,
        ways_alt="; ".join(f"{words}: {value}" for words, value in ways) + ".",
        state_rows=[_state_row(row, fit) for row in fit.by_state[:MOST_ROWS]],
        group_rows=[_group_row(name, one) for name, one in list(fit.by_group.items())[:MOST_ROWS]],
        practice_rows=[
            ("what was done in these records", format_share(fit.practice)),
            ("threshold 0: never FINISH", format_share(fit.value_0)),
            ("threshold 1: FINISH in state 1", format_share(fit.value_1)),
        ],
        left_out_rows=[
            (rule.replace("-", " "), f"{count:,}", f"{fit.first_lines[rule]:,}")
            for rule, count in fit.dropped.items()
        ],
        facts={**facts, "Software": f"grbp {__version__}"},
    )


def _answer(fit: "Fit") -> str:
    """Say the decision in a few words."""
    words = _DECISIONS[fit.decision][2]
    return f"perhaps {words}" if fit.decision.startswith("threshold") and not fit.firm else words


def _list_states(states: Sequence[int]) -> str:
    """Write states in few words: "state 1", "states 1, 2 and 3", "states 1, 2, 3 and 46 more"."""
    names = [str(state) for state in states[:4]]
    if len(states) > len(names):
        names = [*names[:3], f"{len(states) - 3} more"]
    start = f"{', '.join(names[:-1])} and " if len(names) > 1 else ""
    return f"state{'s' if len(names) > 1 else ''} {start}{names[-1]}"


def _state_row(row: "StateRow", fit: "Fit") -> tuple[str, ...]:
    cells = [f"state {row.state}"]
    for wins, tries in ((row.c_up, row.c), (row.f_goal, row.f)):
        cells.append(f"{wins:,} of {tries:,}" if tries else "never tried")
        cells.append(format_share(Proportion(wins, tries, fit.level, fit.adaptive)))
    probability = format_percent(row.probability)
    return (*cells, f"{row.stays:,}", f"{row.jumps:,}", row.action.upper(), probability)


def _group_row(name: str, fit: "Fit") -> tuple[str, ...]:
    shares = (format_share(share) for share in (fit.p_c, fit.p_f, fit.boundary))
    return name, f"{fit.cases:,}", _answer(fit), *shares, format_percent(fit.probability(1))
