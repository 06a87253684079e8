"""The page of a fit: what past cases say, for someone who is not a statistician."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from grbp._words import counted, percent, with_interval
from grbp.figures.records import (
    boundary_figure,
    cusum_figure,
    states_figure,
    ways_figure,
)
from grbp.fitting.estimates import Proportion
from grbp.reports.page import MOST_ROWS, NO_NUMBER, Number, Section, environment, svg_of

if TYPE_CHECKING:
    from grbp.fitting.assumptions import AssumptionTest
    from grbp.fitting.result import Fit, StateRow
    from grbp.theory.posterior import Estimate

_POLICIES: Final = ("threshold-0", "threshold-1")

_DECISIONS: Final = {
    "threshold-1": ("held", "✓", "finish in state 1"),
    "threshold-0": ("held", "✓", "never finish"),
    "by-state": ("open", "↕", "it depends on the state"),
    "none": ("open", "?", "no decision"),
}
"""Of every decision: its look, its sign and its words."""


class Row(NamedTuple):
    """An assumption on the page: what was found, and whether the answer hangs on it."""

    assumption: str
    look: str
    sign: str
    found: str
    changes: str
    why: str
    details: str


def fit_report(fit: "Fit", facts: Mapping[str, str]) -> str:
    """Write the page of a fit.

    Parameters
    ----------
    fit : Fit
        What `grbp.fit` returned.
    facts : mapping of str to str
        How the page was made: the command, the file.

    Returns
    -------
    str
        The page: one HTML file without scripts that fetches nothing.
    """
    page = environment().get_template("fit.html.j2")
    look, sign, _ = _DECISIONS[fit.decision] if fit.firm else ("open", "?", "")
    words = _answer(fit)
    return page.render(
        fit=fit,
        goal=fit.goal,
        decision={"look": look, "sign": sign, "words": words},
        plainly=_plainly(fit),
        numbers=list(_numbers(fit)),
        level=_level(fit.level),
        tests=[_row(test, fit.level) for test in fit.tests],
        sections=list(_sections(fit)),
        facts={**facts, "Software": f"grbp {import_module('grbp').__version__}"},
    )


def _answer(fit: "Fit") -> str:
    """Say the decision in a few words."""
    words = _DECISIONS[fit.decision][2]
    return f"perhaps {words}" if fit.decision in _POLICIES and not fit.firm else words


def _level(level: float) -> str:
    """Write the level of an interval: "95 %"."""
    return f"{100.0 * level:.4g} %"


def _plainly(fit: "Fit") -> str:
    """Name the policies that the sentence is about, or say what to do where."""
    finishes = "when a case stands in state 1, one step from the dead end"
    if fit.decision == "threshold-1":
        return "This policy is called threshold 1; the other one, threshold 0, never finishes."
    if fit.decision == "threshold-0":
        return (
            f"This policy is called threshold 0; the other one, threshold 1, finishes {finishes}."
        )
    if fit.decision == "none":
        return (
            f"The question is between two policies: threshold 1 finishes {finishes}, and continues"
            " otherwise; threshold 0 never finishes."
        )
    said = [
        f"{words} in {_listed([row.state for row in fit.by_state if row.action == action])}"
        for action, words in (("finish", "FINISH"), ("continue", "CONTINUE"))
        if any(row.action == action for row in fit.by_state)
    ]
    open_ = [row.state for row in fit.by_state if row.action == "unknown"]
    rest = f" In {_listed(open_)} one of the two was never tried." if open_ else ""
    return f"In practice: {', '.join(said)}.{rest}"


def _listed(states: Sequence[int]) -> str:
    """Write states in few words: "state 1", "states 1, 2 and 3", "states 1, 2, 3 and 46 more"."""
    names = [str(state) for state in states[:4]]
    if len(states) > len(names):
        names = [*names[:3], f"{len(states) - 3} more"]
    start = f"{', '.join(names[:-1])} and " if len(names) > 1 else ""
    return f"state{'s' if len(names) > 1 else ''} {start}{names[-1]}"


def _percent(share: float | None) -> str:
    return NO_NUMBER if share is None else percent(share)


def _share(share: "Proportion | None") -> str:
    if share is None or share.estimate is None:
        return NO_NUMBER
    return with_interval(share.estimate, *share.interval)


def _estimate(estimate: "Estimate | None") -> str:
    return NO_NUMBER if estimate is None else with_interval(*estimate)


def _numbers(fit: "Fit") -> Iterator[Number]:
    """Choose the numbers that the first screen shows."""
    tried = f"{fit.p_c.successes:,} of {fit.p_c.tries:,} moves by CONTINUE went up."
    yield _number("CONTINUE moves up", _share(fit.p_c), tried)
    finished = "FINISH was never tried."
    if fit.p_f is not None:
        finished = f"{fit.p_f.successes:,} of {fit.p_f.tries:,} tries of FINISH won."
    yield _number("FINISH wins", _share(fit.p_f), finished)
    yield _number(
        "CONTINUE wins from state\N{NO-BREAK SPACE}1",
        _estimate(fit.boundary),
        "This is the break-even: FINISH is right in state 1 if it wins more often.",
    )
    if fit.decision in _POLICIES:
        yield _number(
            "FINISH is right in state\N{NO-BREAK SPACE}1",
            _percent(fit.probability_threshold_1),
            "That is how probable it is, given these records and the model.",
        )


def _number(name: str, value: str, meaning: str) -> Number:
    """Set the interval, if there is one, apart from its estimate."""
    estimate, _, interval = value.partition(" (")
    return Number(name, estimate, meaning, interval.removesuffix(")"))


def _row(test: "AssumptionTest", level: float) -> Row:
    """Say what a test found, in words."""
    look, sign, found = "open", "?", "not testable"
    if test.possible:
        against = test.p_holm is not None and test.p_holm < 1.0 - level
        look, sign, found = (
            ("failed", "✗", "records speak against it") if against
            else ("held", "✓", "nothing against it")
        )  # fmt: skip
    changes = {True: "yes", False: "no", None: "cannot be said"}[test.changes_answer]
    numbers = {"statistic": test.statistic, "p": test.p, "adjusted p": test.p_holm}
    said = [f"{name} = {value:.3g}" for name, value in numbers.items() if value is not None]
    details = f"Test: {'; '.join([test.test, *said])}."
    if test.effect is not None:
        details += f" Size of the effect: {test.effect:.3g} ({test.effect_is})."
    why = test.why
    if not why and test.p_holm is not None:
        why = "adjusted p < 0.001" if test.p_holm < 0.001 else f"adjusted p = {test.p_holm:.2g}"
    return Row(test.assumption, look, sign, found, changes, why, details)


def _sections(fit: "Fit") -> Iterator[Section]:
    """Make the parts of the page, in its order."""
    if fit.p_c.tries:
        yield _map(fit)
    if any(fit.ways.values()):
        yield _ways(fit)
    yield _states(fit)
    if fit.cusum is not None:
        yield Section(
            "Does CONTINUE change from case to case?",
            "Every case adds how many of its moves went up, beyond what is expected in their"
            " states. If the chances stay as they are, the curve wanders between the dashed lines;"
            " a curve that leaves them says that later cases differ from earlier ones.",
            svg_of(cusum_figure(fit)),
            "A curve of the sum over the cases, and the two limits that it stays between.",
        )
    if fit.by_group:
        yield _groups(fit)
    if fit.practice is not None:
        yield _practice(fit)
    if fit.difference is not None and fit.decision in _POLICIES:
        yield _bias(fit.difference)
    yield _dropped(fit)


def _map(fit: "Fit") -> Section:
    title = "Which side of the boundary?"
    level = _level(fit.level)
    where = f"p_C is {_share(fit.p_c)}; the boundary there is {_estimate(fit.boundary)}."
    if fit.p_f is None:
        text = (
            "FINISH was never tried, so nothing is known about how often it wins. If it wins more"
            f" often than the violet band says, it is right in state 1. {where}"
        )
        alt = f"The boundary, and the p_F that breaks even: {_estimate(fit.boundary)}."
    else:
        text = (
            "Above the black line FINISH is right in state 1; below it FINISH is never right. The"
            " dark shade holds the two chances with 50 % probability, the pale one with 95 %. The"
            " more of the shade lies on one side, the surer the answer."
            f" {where} p_F is {_share(fit.p_f)}. The intervals are at {level}."
        )
        alt = (
            f"The boundary of goal {fit.goal}, and the posterior around p_C = {_share(fit.p_c)}"
            f" and p_F = {_share(fit.p_f)}."
        )
    if fit.decision == "by-state":
        text += " The picture is of the averages; since the states differ, it does not decide."
    return Section(title, text, svg_of(boundary_figure(fit)), alt, leads=True)


_WAYS: Final = {
    "boundary": "from p_C alone, the same in every state: B(p_C)",
    "general": "from the chances of each state",
    "direct": "counted directly: cases that stood in state 1 and continued from there",
}


def _ways(fit: "Fit") -> Section:
    text = (
        "What is it worth to go on from state 1? The first answer trusts the model, the second"
        " lets every state have its own chances, the third only counts what became of the cases"
        " that went on. Where the three agree, the answer does not hang on the model; where they"
        " do not, no answer should be firm. The shade is how often FINISH wins: bars to the left"
        " of it speak for FINISH in state 1, bars to the right against it."
    )
    rows = [(words, _estimate(fit.ways[name])) for name, words in _WAYS.items()]
    rows.append(("to compare: FINISH wins, p_F", _share(fit.p_f)))
    alt = "; ".join(f"{words}: {value}" for words, value in rows) + "."
    head = ("way", f"chance of winning, with its interval at {_level(fit.level)}")
    svg = svg_of(ways_figure(fit))
    return Section("Three ways to value state 1", text, svg, alt, head, rows, leads=True)


def _states(fit: "Fit") -> Section:
    head = (
        "state", "CONTINUE moved up", "p_C", "FINISH won", "p_F", "stayed", "jumped",
        "right action", "probability",
    )  # fmt: skip
    rows = [_state(row, fit) for row in fit.by_state[:MOST_ROWS]]
    text = (
        "Each state has its own share of moves up and of wins, with intervals; the lines are the"
        " shares over all states. What is hatched was never tried, so nothing is known there. The"
        " table says which action is right in each state if its own chances are used, and how"
        " probable that is."
    )
    if len(fit.by_state) > len(rows):
        text += f" The table has the first {len(rows)} of {len(fit.by_state):,} states."
    alt = f"The shares of CONTINUE and FINISH that succeeded, in {len(fit.by_state):,} states."
    return Section("State by state", text, svg_of(states_figure(fit)), alt, head, rows)


def _state(row: "StateRow", fit: "Fit") -> tuple[str, ...]:
    cells = [f"state {row.state}"]
    for wins, tries in ((row.c_up, row.c), (row.f_goal, row.f)):
        cells.append(f"{wins:,} of {tries:,}" if tries else "never tried")
        cells.append(_share(Proportion(wins, tries, fit.level, fit.adaptive)))
    cells += [f"{row.stays:,}", f"{row.jumps:,}", row.action.upper(), _percent(row.probability)]
    return tuple(cells)


def _groups(fit: "Fit") -> Section:
    head = ("group", "cases", "answer", "p_C", "p_F", "boundary", "FINISH is right in state 1")
    rows = [
        (
            name, f"{one.cases:,}", _answer(one), _share(one.p_c), _share(one.p_f),
            _estimate(one.boundary), _percent(one.probability_threshold_1),
        )
        for name, one in list(fit.by_group.items())[:MOST_ROWS]
    ]  # fmt: skip
    text = (
        "The same questions, asked of each group alone. With few cases, groups differ by chance;"
        " the tests of the assumptions say whether they differ by more than that."
    )
    if len(fit.by_group) > len(rows):
        text += f" The table has the first {len(rows)} of {len(fit.by_group):,} groups."
    return Section("The answer by group", text, head=head, rows=rows, unfolded=True)


def _practice(fit: "Fit") -> Section:
    head = (
        "what is done",
        f"share that reaches the goal, with its interval at {_level(fit.level)}",
    )
    rows = [
        ("what was done in these records", _estimate(fit.practice)),
        ("threshold 0: never FINISH", _estimate(fit.value_0)),
        ("threshold 1: FINISH in state 1", _estimate(fit.value_1)),
    ]
    text = (
        "The first line counts the cases that have ended. The others say what the two policies"
        " would reach from the same first states, if the model holds."
    )
    if fit.pending is not None:
        lost, won = (_percent(share) for share in fit.pending)
        text += (
            f" {counted(sum(fit.open), 'case')} of {fit.cases:,} did not end yet: if all such cases"
            f" are lost, the share is {lost}; if all are won, it is {won}."
        )
    return Section("What was reached, and what could be", text, head=head, rows=rows, unfolded=True)


def _bias(difference: "Estimate") -> Section:
    more, less = ("more", "less") if difference.estimate >= 0.0 else ("less", "more")
    text = (
        f"In state 1, FINISH wins {more} often than CONTINUE does, by p_F \N{MINUS SIGN} B ="
        f" {_estimate(difference)}. But records show FINISH only in cases for which somebody chose"
        " it. If these differ from the others in ways that the table does not show, p_F is off."
        f" If FINISH really wins {less} often than recorded, by more than that difference, the"
        " answer turns round."
    )
    return Section("Which hidden bias would turn the answer round?", text)


def _dropped(fit: "Fit") -> Section:
    text = f"The table had {counted(fit.rows, 'row')}"
    text += (
        f" of {counted(fit.cases, 'case')}."
        if fit.cases
        else ", which are counts and belong to no case."
    )
    if any(fit.open):
        text += (
            f" Open cases are used as far as they go: {fit.open.empty_next:,} with an empty next"
            f" state at the end, and {fit.open.no_row:,} in a state without a row of its own."
        )
    if fit.stays:
        text += (
            f" CONTINUE stayed in place {counted(fit.stays, 'time')}, which changes how long a case"
            " takes and not who wins."
        )
    if fit.jumps:
        text += (
            f" CONTINUE jumped further than one state {counted(fit.jumps, 'time')}, which is used"
            " for the chances by state alone."
        )
    rows = [
        (rule.replace("-", " "), f"{count:,}", f"{fit.first_lines[rule]:,}")
        for rule, count in fit.dropped.items()
    ]
    text += "" if rows else " No row was left out."
    head = ("rule", "rows left out", "first line") if rows else ()
    return Section("What was left out", text, head=head, rows=rows, unfolded=True)
