"""The report of a fit: what past cases say, for someone who is not a statistician."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from grbp import __version__
from grbp._format import begin, format_level
from grbp.figures.canvas import svg_of
from grbp.figures.fit_cusum import cusum_figure
from grbp.figures.fit_map import boundary_figure
from grbp.figures.fit_states import states_figure
from grbp.figures.fit_ways import ways_figure
from grbp.fitting.estimates import Proportion
from grbp.fitting.sentences import (
    ON_PAGES,
    POLICY,
    RESTS_ON,
    SHORTLY,
    SUPPORT,
    say_support_in,
    say_sure,
)
from grbp.fitting.watch import NO_ORDER
from grbp.reports.page import (
    MOST_ROWS,
    NO_NUMBER,
    environment,
    format_share,
)

if TYPE_CHECKING:
    from grbp.fitting.result import Fit, StateRow

_NOT_POSSIBLE: Final = "not possible with these records"


def fit_report(fit: "Fit", facts: Mapping[str, str]) -> str:
    """Write the report of a fit.

    Parameters
    ----------
    fit : Fit
        What `grbp.fit` returned.
    facts : mapping of str to str
        How the report was made: the command, the file, the day.

    Returns
    -------
    str
        The report: one HTML file without scripts that fetches nothing.
    """
    pages, tell = environment(), fit.labels.tell
    pages.filters |= {
        "answer": _answer,
        "begin": begin,
        "own": tell,
        "sure": _sure,
    }
    signs = {"threshold-0": "✓", "threshold-1": "✓", "by-state": "↕", "by-group": "↕"}
    sign = signs.get(fit.decision, "?") if fit.firm else "?"
    draw = {
        "boundary": boundary_figure if fit.p_c.tries else None,
        "ways": ways_figure if any(fit.ways.values()) else None,
        "states": states_figure,
        "cusum": cusum_figure if fit.cusum is not None else None,
    }
    ways = [
        (tell(ON_PAGES[name]), format_share(way, _NOT_POSSIBLE)) for name, way in fit.ways.items()
    ]
    if fit.p_f is not None:
        ways.append((tell("to compare: FINISH wins"), format_share(fit.p_f)))
    moved = any(row.stays or row.jumps for row in fit.by_state)
    go, end = fit.labels.actions
    # What to do stands first, and large; the numbers of it are read after that.
    lead, _, rest = tell(fit.sentence).replace(" %", "\N{NO-BREAK SPACE}%").partition(". ")
    return pages.get_template("fit.html.j2").render(
        fit=fit,
        goal=fit.goal,
        go=go,
        end=end,
        one=_keep_number(fit.labels.state(1)),
        look="held" if sign == "✓" else "open",
        sign=sign,
        support=SUPPORT.format(support=say_support_in(fit.labels, fit.support)),
        lead=f"{lead.rstrip('.')}.",
        rest=rest,
        continuing=_worth_of_continuing(fit),
        untried=[word for word, n in zip((go, end), _tries_in_1(fit), strict=True) if not n],
        svg={name: svg_of(figure(fit)) if figure else b"" for name, figure in draw.items()},
        hatched=any(not (row.c and row.f) for row in fit.by_state),
        leaves=fit.cusum is not None and abs(fit.cusum.y).max() > fit.cusum.limit,
        ways_rows=ways,
        ways_alt="; ".join(f"{words}: {value}" for words, value in ways) + ".",
        state_head=[
            "state", "what the records support", "how sure", f"{go} moved up", f"{end} won",
            *(["stayed", "jumped"] if moved else []),
        ],
        state_rows=[_state_row(row, fit, moved) for row in fit.by_state[:MOST_ROWS]],
        group_rows=[_group_row(name, one) for name, one in list(fit.by_group.items())[:MOST_ROWS]],
        practice_rows=[
            (tell(words), format_share(share))
            for words, share in (
                ("what was done in these records", fit.practice),
                ("never FINISH", fit.value_0),
                ("always FINISH in state 1, and CONTINUE otherwise", fit.value_1),
            )
            if share is not None
        ],
        symbol_rows=[*_symbol_rows(fit)],
        missing=[*map(tell, _find_missing(fit))],
        no_order=NO_ORDER,
        left_out_rows=[
            (rule.replace("-", " "), f"{count:,}", f"{fit.first_lines[rule]:,}")
            for rule, count in fit.dropped.items()
        ],
        facts={**facts, **_list_options(fit), "Software": f"grbp {__version__}"},
    )  # fmt: skip


def _answer(fit: "Fit") -> str:
    """Say the decision in a few words."""
    words = fit.labels.tell(SHORTLY[fit.decision])
    words = words[0].lower() + words[1:]
    return f"perhaps {words}" if fit.decision in POLICY and not fit.firm else words


def _sure(probability: float | None) -> str:
    """Write how sure something is; no records make it certain."""
    if probability is None:
        return NO_NUMBER
    return say_sure(probability).replace(" %", "\N{NO-BREAK SPACE}%")


def _worth_of_continuing(fit: "Fit") -> tuple[str, str]:
    """Return what continuing from state 1 reaches, by the way that the answer rests on."""
    whole = fit.standardized
    worth = fit.ways.get(fit.way) if whole is None or fit.way in fit.ways else whole.worth
    return format_share(worth), RESTS_ON[fit.way]


def _tries_in_1(fit: "Fit") -> tuple[int, int]:
    """Return how often CONTINUE and FINISH were tried in state 1."""
    row = fit.by_state[0]
    return row.c + row.jumps, row.f


def _keep_number(state: str) -> str:
    """Keep the number of a state on the line of the word before it."""
    return "\N{NO-BREAK SPACE}".join(state.rsplit(" ", 1))


def _state_row(row: "StateRow", fit: "Fit", moved: bool) -> tuple[str, ...]:
    go, end = fit.labels.actions
    if row.action == "unknown":
        right = f"unknown: {end if row.c else go} was never tried"
    else:
        sure = row.probability is not None and row.probability >= fit.level
        right = f"{'' if sure else 'perhaps '}{end if row.action == 'finish' else go}"
    cells = [_keep_number(fit.labels.state(row.state)), right, _sure(row.probability)]
    for wins, tries in ((row.c_up, row.c), (row.f_goal, row.f)):
        share = format_share(Proportion(wins, tries, fit.level, fit.adaptive))
        cells.append(f"{wins:,} of {tries:,}, {share}" if tries else "never tried")
    return (*cells, f"{row.stays:,}", f"{row.jumps:,}") if moved else tuple(cells)


def _group_row(name: str, fit: "Fit") -> tuple[str, ...]:
    shares = (format_share(share) for share in (fit.p_c, fit.p_f, fit.boundary))
    return name, f"{fit.cases:,}", _answer(fit), *shares, _sure(fit.probability(1))


def _symbol_rows(fit: "Fit") -> Iterator[tuple[str, str, str]]:
    """Yield the numbers under the names that statisticians know them by."""
    tell = fit.labels.tell
    numbers = [
        ("p_C", tell("chance that CONTINUE moves up"), fit.p_c),
        ("p_F", tell("chance that FINISH wins"), fit.p_f),
        (
            "B(p_C)",
            tell("chance of winning from state 1 by always continuing, if the model holds"),
            fit.boundary,
        ),
        ("general chain", "the same, with chances of each state's own", fit.ways["general"]),
        ("direct", "the same, counted", fit.ways["direct"]),
        ("difference", "p_F less the value of continuing, which decides", fit.difference),
        ("value of threshold 0", tell("share of goals, never finishing"), fit.value_0),
        ("value of threshold 1", tell("share of goals, finishing in state 1 alone"), fit.value_1),
        ("gain", "threshold 1 less threshold 0", fit.threshold_gain),
    ]
    for symbol, words, share in numbers:
        if told := format_share(share, ""):
            yield symbol, words, told
    if fit.probabilities is not None and all(_tries_in_1(fit)):
        yield (
            "P(threshold 1)",
            "how probable it is that threshold 1 is right",
            _sure(fit.probability(1)),
        )


def _find_missing(fit: "Fit") -> Iterator[str]:
    """Say of each number that is not on the page why it is not."""
    if fit.p_f is None:
        yield "How often FINISH wins is not known: it was never tried."
    if not fit.p_c.tries:
        yield "What continuing is worth is not known: CONTINUE never moved by one state."
    if fit.practice is None:
        why = "no case has ended" if fit.cases else "the rows are counts, and belong to no case"
        yield f"How many cases reached the goal is not known: {why}."
    if fit.p_f is not None and fit.p_c.tries and (fit.value_0 is None or fit.value_1 is None):
        yield (
            "What the two policies would reach is left out: the records speak against the model"
            " from which it would follow."
        )
    if fit.cusum is None:
        why = "too few cases moved both up and down" if fit.cases else "the rows belong to no case"
        yield f"Whether CONTINUE changes from case to case cannot be seen: {why}."


def _list_options(fit: "Fit") -> dict[str, str]:
    """Return the choices that the result rests on, for whoever wants to make it again."""
    kind = (
        "anytime intervals: a learner chose the actions" if fit.adaptive else "Wilson's intervals"
    )
    priors = {"p_C": fit.prior_c, "p_F": fit.prior_f}
    return {
        "Goal": f"{fit.goal:,}",
        "Level": f"{format_level(fit.level)}, {kind}",
        **({"Groups": f"{len(fit.by_group):,}"} if fit.by_group else {}),
        "Priors": ", ".join(f"{name} Beta({a:g}, {b:g})" for name, (a, b) in priors.items()),
    }
