"""The result of a fit as text, 80 columns wide."""

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from grbp._format import join_words, percent, plural
from grbp.fitting.alarms import NO_ORDER
from grbp.fitting.assumptions import AssumptionTest
from grbp.fitting.groups import Standardized
from grbp.theory.posterior import JEFFREYS, Estimate
from grbp.worlds.labels import ACTIONS, Labels

if TYPE_CHECKING:
    from grbp.fitting.result import Fit

_WIDTH: Final = 78
_MOST_STATES: Final = 12
"""States of which a person is shown all; of more, the lowest and the highest."""

_MOST_GROUPS: Final = 20

WAYS: Final = {
    "boundary": "by p_C: B(p_C)",
    "general": "state by state",
    "direct": "as observed",
}

_DECIDES: Final = {
    "boundary": "p_F - B(p_C), which decides",
    "direct": "p_F less that as observed",
    "general": "p_F less that state by state",
    "standardized": "p_F less that, over the groups",
}
"""What the difference is that the answer rests on."""


def summarize(fit: "Fit") -> str:
    """Return the sentence, the estimates, the tests, the states and the groups."""
    tell = fit.labels.tell if fit.labels.own else str
    parts = [
        _wrap(tell(fit.sentence)),
        *(_wrap(f"Note: {tell(note)}") for note in fit.notes),
        *([_wrap(_name_symbols(fit.labels))] if fit.labels.own else []),
        "\n".join(_estimates(fit)),
        "\n".join(_tests(fit)),
        *(["\n".join(_alarms(fit))] if fit.adaptive else []),
        "\n".join(_states(fit)),
    ]
    if fit.standardized is not None:
        parts.append("\n".join(_standardized(fit.standardized)))
    if fit.by_group:
        parts.append("\n".join(_groups(fit)))
    return "\n\n".join(parts)


def _name_symbols(labels: Labels) -> str:
    """Say by which names and numbers the tables have what people have words for."""
    words = list(zip(ACTIONS, labels.actions, strict=True))
    words += [(f"state {number}", word) for number, word in enumerate(labels.states) if word]
    said = [f"{usual} is {own}" for usual, own in words if own != usual]
    return f"For statisticians: {', '.join(said[: _MOST_STATES + 3])}."


def given_priors(fit: "Fit") -> Iterator[tuple[str, str]]:
    """Yield the priors that are not Jeffreys', each with what it is of."""
    for name, (a, b) in (("p_C", fit.prior_c), ("p_F", fit.prior_f)):
        if (a, b) != JEFFREYS:
            yield name, f"Beta({a:g}, {b:g})"


def _wrap(text: str, first: str = "", indent: str = "") -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )


def _estimates(fit: "Fit") -> Iterator[str]:
    if fit.cases:
        waiting = sum(fit.open)
        cases = f"{plural(fit.cases, 'case')} with {plural(fit.rows, 'row')}"
        yield cases + (f", {waiting:,} of them open" if waiting else "")
    else:
        yield f"{plural(fit.rows, 'aggregated row')}"
    if fit.dropped:
        rules = ", ".join(f"{rule} {count:,}" for rule, count in fit.dropped.items())
        yield _wrap(f"rows left out: {rules}", indent="  ")
    if fit.stays or fit.jumps:
        stays, jumps = plural(fit.stays, "time"), plural(fit.jumps, "time")
        yield f"CONTINUE stayed {stays} and jumped {jumps}"
    yield from (f"prior of {name}: {law}, as it was given" for name, law in given_priors(fit))
    kind = "anytime" if fit.adaptive else "Wilson"
    yield ""
    yield f"  {'':<34}{'estimate':>10}{f'{100.0 * fit.level:g} % interval':>22}{'tries':>10}"
    yield from _shares(fit, kind)
    if any(fit.ways.values()):
        yield "  Continuing in state 1 reaches the goal"
    for name, way in fit.ways.items():
        if way is not None:
            yield _line(f"  {WAYS[name]}", way)
    if fit.difference is not None:
        yield _line(_DECIDES[fit.way], fit.difference)
    yield from _goals(fit)


def _shares(fit: "Fit", kind: str) -> Iterator[str]:
    for name, share in (("p_C, CONTINUE moves up", fit.p_c), ("p_F, FINISH wins", fit.p_f)):
        estimate = None if share is None else replace(share, effective=None).as_estimate
        if share is None or estimate is None:
            yield f"  {name:<34}{'never tried':>10}"
            continue
        yield _line(f"{name} ({kind})", estimate, share.tries)
        if share.effective is not None and share.as_estimate is not None:
            yield _line("  by case, since cases differ", share.as_estimate, round(share.effective))


def _goals(fit: "Fit") -> Iterator[str]:
    shown = {
        "as it was done": fit.practice,
        "with threshold 0": fit.value_0,
        "with threshold 1": fit.value_1,
        "threshold 1 less 0": fit.gain(),
    }
    if any(shown.values()):
        yield "  Share of cases that reach the goal"
    for name, number in shown.items():
        if number is not None:
            yield _line(f"  {name}", number)
    if fit.pending is not None:
        low, high = fit.pending
        yield f"    as it was done, all open cases lost or all won: {low:.3f} to {high:.3f}"


def _line(name: str, number: Estimate, tries: int | None = None) -> str:
    interval = f"{number.low:.3f} to {number.high:.3f}"
    return f"  {name:<34}{number.estimate:>10.3f}{interval:>22}" + (
        "" if tries is None else f"{_short(tries):>10}"
    )


def _tests(fit: "Fit") -> Iterator[str]:
    yield "Assumptions, tested (p is adjusted for the number of tests, after Holm)"
    yield f"  {'':<44}{'p':>8}{'effect':>10}{'answer':>14}"
    for test in fit.tests:
        yield f"  {test.assumption:<44}{_test_cells(test)}"
        if not test.possible and test.why:
            yield _wrap(test.why, "    ", "    ")


def _test_cells(test: AssumptionTest) -> str:
    if not test.possible:
        answer = f"{_answer_change(test):>14}" if test.changes_answer is not None else ""
        return f"{'not testable':>18}" + answer
    effect = "-" if test.effect is None else f"{test.effect:.3g}"
    p = 1.0 if test.p_holm is None else test.p_holm
    return f"{'< 0.001' if p < 0.001 else f'{p:.3f}':>8}{effect:>10}{_answer_change(test):>14}"


def _answer_change(test: AssumptionTest) -> str:
    return {None: "-", True: "changes", False: "stays"}[test.changes_answer]


def _alarms(fit: "Fit") -> Iterator[str]:
    wrong = f"{100.0 * (1.0 - fit.level):.4g} %"
    yield f"Alarms, looked at after every move (the error of all five is at most {wrong})"
    if not fit.cases:
        yield _wrap(NO_ORDER, "  ", "  ")
    for alarm in fit.alarms:
        yield _wrap(f"{alarm.name}: {alarm.sentence}", "  ", "    ")
    if not fit.alarms:
        yield "  none rose"


def _states(fit: "Fit") -> Iterator[str]:
    yield "State by state (the general chain; unknown where an action was never tried)"
    head = f"  {'state':>5}{'moves':>10}{'up':>9}{'finished':>10}{'won':>9}"
    yield f"{head}   {'right':<10}{'sure':>8}"
    skipped = False
    for row in fit.by_state:
        if _MOST_STATES // 2 < row.state < fit.goal - _MOST_STATES // 2:
            if not skipped:
                yield "  ..."
            skipped = True
            continue
        sure = "" if row.probability is None else f"{row.probability:.3f}"
        c, c_up, f, f_goal = map(_short, (row.c, row.c_up, row.f, row.f_goal))
        counts = f"  {row.state:>5}{c:>10}{c_up:>9}{f:>10}{f_goal:>9}"
        yield f"{counts}   {row.action:<10}{sure:>8}".rstrip()


def _standardized(whole: Standardized) -> Iterator[str]:
    yield "Standardised over the groups, by their cases that stood in state 1"
    shown = {
        "p_F, FINISH wins": whole.p_f,
        "Continuing in state 1, by p_C": whole.value,
        "Continuing in state 1, as observed": whole.direct,
        "p_F less continuing": whole.difference,
    }
    for name, number in shown.items():
        if number is not None:
            yield _line(name, number)
    if whole.uncovered:
        share = percent(whole.uncovered_share)
        names = join_words(whole.uncovered, most=6)
        yield _wrap(
            f"not in it: {names}, with {share} of these cases, where an action was never tried in"
            " state 1",
            "  ",
            "    ",
        )


def _groups(fit: "Fit") -> Iterator[str]:
    yield "By group"
    for name, group in list(fit.by_group.items())[:_MOST_GROUPS]:
        one = group.probability_threshold_1
        sure = "" if one is None else f", threshold 1 is right with probability {one:.3f}"
        reason = f" ({group.reason})" if group.reason else ""
        text = f"{name}: {group.decision}{sure}{reason}"
        yield _wrap(text, "  ", "    ")
    if len(fit.by_group) > _MOST_GROUPS:
        yield f"  and {len(fit.by_group) - _MOST_GROUPS:,} more"


def _short(count: int) -> str:
    """Write a count in at most eight characters, so that columns stay apart."""
    return f"{count:,}" if count < 1_000_000 else f"{count:.3g}"
