"""The result of a fit as text, 80 columns wide."""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from grbp._format import format_level, join_words, percent, plural
from grbp.fitting.sentences import DIFFERENCES, ROWS
from grbp.fitting.standardize import Standardized
from grbp.fitting.watch import NO_ORDER
from grbp.theory.posterior import JEFFREYS, Estimate
from grbp.worlds.labels import ACTIONS, Labels

if TYPE_CHECKING:
    from grbp.fitting.result import Fit

_WIDTH: Final = 78
_MOST_STATES: Final = 12
"""States of which a person is shown all; of more, the lowest and the highest."""

_MOST_GROUPS: Final = 20


def summarize(fit: "Fit") -> str:
    """Return the sentence, the estimates, the tests, the states and the groups."""
    tell = fit.labels.tell if fit.labels.own else str
    parts = [
        _wrap(tell(fit.sentence)),
        *(_wrap(f"Note: {tell(note)}") for note in fit.notes),
        *([_wrap(_name_symbols(fit.labels))] if fit.labels.own else []),
        "\n".join([*_cases(fit), *_estimates(fit)]),
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


def _wrap(text: str, first: str = "", indent: str = "") -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )


def _cases(fit: "Fit") -> Iterator[str]:
    """Yield what was read, and with which priors."""
    if fit.cases:
        waiting = sum(fit.open)
        cases = f"{plural(fit.cases, 'case')} with {plural(fit.rows, 'row')}"
        yield cases + (f", {waiting:,} of them open" if waiting else "")
    else:
        yield plural(fit.rows, "aggregated row")
    if fit.dropped:
        rules = ", ".join(f"{rule} {count:,}" for rule, count in fit.dropped.items())
        yield _wrap(f"rows left out: {rules}", indent="  ")
    if fit.stays or fit.jumps:
        stays, jumps = plural(fit.stays, "time"), plural(fit.jumps, "time")
        yield f"CONTINUE stayed {stays} and jumped {jumps}"
    for name, (a, b) in (("p_C", fit.prior_c), ("p_F", fit.prior_f)):
        if (a, b) != JEFFREYS:
            yield f"prior of {name}: Beta({a:g}, {b:g}), as it was given"


def _estimates(fit: "Fit") -> Iterator[str]:
    """Yield every estimate with its interval."""
    kind, level = "anytime" if fit.adaptive else "Wilson", format_level(fit.level, 6)
    yield ""
    yield f"  {'':<34}{'estimate':>10}{f'{level} interval':>22}{'tries':>10}"
    for name, share in (("p_C, CONTINUE moves up", fit.p_c), ("p_F, FINISH wins", fit.p_f)):
        if share is None or not share.tries:
            yield f"  {name:<34}{'never tried':>10}"
            continue
        plain = replace(share, effective=None).as_estimate
        yield from _lines({f"{name} ({kind})": plain}, share.tries)
        if share.effective is not None:
            by_case = {"  by case, since cases differ": share.as_estimate}
            yield from _lines(by_case, round(share.effective))
    if any(fit.ways.values()):
        yield "  Continuing in state 1 reaches the goal"
    yield from _lines({f"  {ROWS[name]}": way for name, way in fit.ways.items()})
    yield from _lines({DIFFERENCES[fit.way]: fit.difference})
    goals = {
        "  as it was done": fit.practice,
        "  with threshold 0": fit.value_0,
        "  with threshold 1": fit.value_1,
        "  threshold 1 less 0": fit.threshold_gain,
    }
    if any(goals.values()):
        yield "  Share of cases that reach the goal"
    yield from _lines(goals)
    if fit.pending is not None:
        low, high = fit.pending
        yield f"    as it was done, all open cases lost or all won: {low:.3f} to {high:.3f}"


def _lines(numbers: Mapping[str, Estimate | None], tries: int | None = None) -> Iterator[str]:
    """Yield a line for each number that is known."""
    for name, number in numbers.items():
        if number is not None:
            interval = f"{number.low:.3f} to {number.high:.3f}"
            of = "" if tries is None else f"{_short(tries):>10}"
            yield f"  {name:<34}{number.estimate:>10.3f}{interval:>22}{of}"


def _tests(fit: "Fit") -> Iterator[str]:
    yield "Assumptions, tested (p is adjusted for the number of tests, after Holm)"
    yield f"  {'':<44}{'p':>8}{'effect':>10}{'answer':>14}"
    answers = {None: "-", True: "changes", False: "stays"}
    for test in fit.tests:
        line, answer = f"  {test.assumption:<44}", f"{answers[test.changes_answer]:>14}"
        if test.possible:
            effect = "-" if test.effect is None else f"{test.effect:.3g}"
            p = 1.0 if test.p_holm is None else test.p_holm
            yield f"{line}{'< 0.001' if p < 0.001 else f'{p:.3f}':>8}{effect:>10}{answer}"
            continue
        yield f"{line}{'not testable':>18}{'' if test.changes_answer is None else answer}"
        if test.why:
            yield _wrap(test.why, "    ", "    ")


def _alarms(fit: "Fit") -> Iterator[str]:
    wrong = format_level(1.0 - fit.level)
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
    yield from _lines({
        "p_F, FINISH wins": whole.p_f,
        "Continuing in state 1, by p_C": whole.value,
        "Continuing in state 1, as observed": whole.direct,
        "p_F less continuing": whole.difference,
    })  # fmt: skip
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
        chance = group.probability_threshold_1
        sure = "" if chance is None else f", threshold 1 is right with probability {chance:.3f}"
        reason = f" ({group.reason})" if group.reason else ""
        text = f"{name}: {group.decision}{sure}{reason}"
        yield _wrap(text, "  ", "    ")
    if len(fit.by_group) > _MOST_GROUPS:
        yield f"  and {len(fit.by_group) - _MOST_GROUPS:,} more"


def _short(count: int) -> str:
    """Write a count in at most eight characters, so that columns stay apart."""
    return f"{count:,}" if count < 1_000_000 else f"{count:.3g}"
