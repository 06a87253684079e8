"""A plan in words: one sentence for anybody, and a screen of 80 columns."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from grbp._format import plural
from grbp.planning.operating_characteristics import Needed, Outlook, Truth
from grbp.theory.posterior import Estimate

if TYPE_CHECKING:
    from grbp.planning.result import Plan

_WIDTH: Final = 78
_NAME: Final = 34
_CELL: Final = 15
_MOST_TRUTHS: Final = 12
"""Truths of which a person is shown all; of more, the least known."""


def warnings(plan: "Plan") -> list[str]:
    """Say what the records hold against the plan, the gravest first; nothing if they do not."""
    if not (plan.doubts or plan.by_group or plan.decision == "by-state"):
        return []
    said = ["The records raise doubts about the model on which this plan rests.", *plan.doubts[:1]]
    if plan.decision == "by-state":
        sentence = (
            "The records ask for a policy state by state, which no learner of thresholds learns"
        )
        if plan.lost_by_state is not None:
            sentence += (
                ": judged by the shares of each state, the better threshold loses"
                f" {_goals(plan.lost_by_state)} in 100 cases against it"
            )
        said.append(f"{sentence}.")
        said.append("What a study by state would lose is said by plan --chain, or plan_models.")
    if plan.by_group:
        said.append("The groups differ, so there is a plan for each of them.")
    together = " for all groups together" if plan.by_group else ""
    return [
        *said,
        f"What is planned{together} holds if one p_C and one p_F are true of all states and cases;"
        " it does not say how long learning takes, or what it costs, where they are not.",
    ]


def needs(plan: "Plan") -> list[str]:
    """Say how many cases are enough if the hardest truth is true; nothing if nobody asked."""
    if plan.target is None:
        return []
    decided = [truth for truth in plan.truths if truth.right is not None]
    verb = "know" if plan.target.what == "known" else "play"
    enough = f"{100.0 * plan.target.share:.4g} % of studies {verb} the right policy"
    said = []
    if len(decided) < len(plan.truths):
        then = "no number of cases is enough" if verb == "know" else "none is wrong to play"
        said = [f"Where both policies are equally good, {then}."]
    if not decided:
        return said
    hardest, needed = rank_needs(plan)[0]
    more = "more cases" if plan.past_cases else "cases"
    where = f", if p_C = {hardest.p_c:.3g} and p_F = {hardest.p_f:.3g}"
    where += ", the hardest of these truths" if len(decided) > 1 else ""
    loses = f"needs {write_cases(needed.trial_cases)} and loses {_goals(needed.trial_goals_lost)}"
    until = f"More than {write_cases(needed.cases.low)} {more} until"
    if math.isfinite(needed.cases.estimate):
        number = write_cases(needed.cases.estimate)
        until = f"About {number} {more} ({write_ends(needed.cases)}) until"
        if needed.cases.high == 1.0:
            until = "From the first case on,"
        loses += f", where learning loses {_goals(needed.goals_lost.estimate)}"
    trial = [f"A trial with two arms {loses}."] if math.isfinite(needed.trial_cases) else []
    return [f"{until} {enough}{where}.", *trial, *said]


def rank_needs(plan: "Plan") -> list[tuple[Truth, Needed]]:
    """Return the truths and how many cases they need, the hardest first.

    A truth under which both policies are equally good is not among them.
    """
    pairs = [
        (truth, truth.needed)
        for truth in plan.truths
        if truth.needed is not None and truth.right is not None
    ]
    return sorted(pairs, key=lambda pair: pair[1].cases[:2], reverse=True)


def write_cases(cases: float) -> str:
    """Write a number of cases in three digits."""
    return "-" if math.isinf(cases) else f"{float(f'{cases:.3g}'):,.0f}"


def write_ends(cases: Estimate) -> str:
    """Write the ends of the interval of a number of cases: "600 to 690", or "600 or more"."""
    low = write_cases(cases.low)
    return f"{low} or more" if math.isinf(cases.high) else write_range(low, write_cases(cases.high))


def expectations(plan: "Plan") -> list[str]:
    """Say what to expect with the largest number of cases, the most important sentence first."""
    last = plan.cases[-1]
    more = "more " if plan.past_cases else ""
    decided = [truth for truth in plan.truths if truth.right is not None]
    start = f"With {plural(last, f'{more}case')}"
    if not decided:
        return [f"{start} nothing can be learned: both policies are equally good."]
    ends = [truth.at(last) for truth in decided]
    level = f"{100.0 * plan.level:.4g} %"
    over = where = ""
    if len(ends) > 1:
        worst = min(decided, key=lambda truth: truth.at(last).known.estimate)
        over = f", over {len(ends)} plausible truths"
        where = (
            f": in the fewest if p_C = {worst.p_c:.3g} and p_F = {worst.p_f:.3g}, where the wrong"
            f" policy loses {100.0 * worst.loss:.2g} goals in 100 cases"
        )
    wrong = _format_of_100(ends, "ever_wrongly_sure")
    mistake = f"Stopping when {level} sure settles on the wrong policy in {wrong} studies."
    if plan.stop_at is None:
        looks = "after every case" if plan.look_from == 1 else f"from case {plan.look_from:,} on"
        mistake = (
            f"Anyone who looks {looks} is sure of the wrong policy at some time in {wrong} studies."
        )
    return [
        f"{start}, the learner plays the right policy in {_format_of_100(ends, 'plays_right')}"
        f" studies{over}.",
        f"It is known to be right, at {level}, in {_format_of_100(ends, 'known')}{where}.",
        *_weighted_expectation(plan),
        f"Learning costs {_goals_lost(ends)} compared with knowing the truth.",
        mistake,
    ]


def _weighted_expectation(plan: "Plan") -> Iterator[str]:
    """Say what to expect on average, where records say how plausible each truth is."""
    if plan.weights is None or len(plan.truths) == 1:
        return
    pairs = [
        (weight, truth.at(plan.cases[-1]))
        for weight, truth in zip(plan.weights, plan.truths, strict=True)
        if truth.right is not None
    ]
    whole = sum(weight for weight, _ in pairs)
    plays = sum(weight * one.plays_right.estimate for weight, one in pairs) / whole
    known = sum(weight * one.known.estimate for weight, one in pairs) / whole
    yield (
        "Weighted by how plausible the records make each truth, that is"
        f" {_format_hundredths(plays)} and {_format_hundredths(known)} of 100."
    )


def _format_of_100(ends: Sequence[Outlook], share: str) -> str:
    """Write a share in words, the least and the largest: "71 to 99 of 100"."""
    shares = [_number(one, share) for one in ends]
    return f"{write_range(_format_hundredths(min(shares)), _format_hundredths(max(shares)))} of 100"


def _format_hundredths(share: float) -> str:
    """Write a share as a whole number of 100; what is not quite none or all does not read so."""
    if 0.0 < share < 0.005:
        return "under 1"
    return str(min(99, round(100.0 * share)) if share < 1.0 else 100)


def _goals_lost(ends: Sequence[Outlook]) -> str:
    """Write how many goals are lost, or from what to what that goes."""
    lost = [one.goals_lost.estimate for one in ends]
    return _goals(min(lost), max(lost))


def _goals(*lost: float) -> str:
    """Write a number of goals, or from what to what it goes."""
    low, high = (f"{x:,.0f}" if abs(x) >= 99.5 else f"{x:.2g}" for x in (lost[0], lost[-1]))
    return f"{write_range(low, high)} goal{'' if low == high == '1' else 's'}"


def write_range(low: str, high: str) -> str:
    """Write from what to what something goes, once if both read alike."""
    return low if low == high else f"{low} to {high}"


def summarize_group(plan: "Plan") -> str:
    """Say what to expect of the cases of one group, in a few sentences."""
    return " ".join([*plan.doubts[:1], *needs(plan), *expectations(plan)[:2]])


def summarize(plan: "Plan") -> str:
    """Return what speaks against the plan, the sentence, and all numbers, by truth and by group."""
    paragraphs = [
        " ".join(warnings(plan)),
        *(f"{name}: {summarize_group(group)}" for name, group in plan.by_group.items()),
        ("All groups together: " if plan.by_group else "")
        + " ".join([*needs(plan), *expectations(plan)]),
        describe_setting(plan),
    ]
    parts = [textwrap.fill(text, _WIDTH, break_on_hyphens=False) for text in paragraphs if text]
    tables = [_needed(plan), _ranges(plan), _truths(plan)]
    return "\n\n".join([*parts, *(text for table in tables if (text := "\n".join(table)))])


def describe_setting(plan: "Plan") -> str:
    """Say what was played."""
    more = "more " if plan.past_cases else ""
    studies = "1 study" if plan.replicas == 1 else f"{plan.replicas:,} studies"
    choices = {
        f"goal {plan.goal:,}": True,
        plan.learner: True,
        f"told that {plural(plan.told, f'{more}case')} will come (as by grbp live init --cases"
        f" {plan.told})": plan.told,
        f"{plan.overlap:,} cases at once": plan.overlap > 1,
        f"goals known {plan.late_wins:,} cases later": plan.late_wins,
        f"{100.0 * plan.overrule:.3g} % overruled": plan.overrule,
        f"stopped when {100.0 * plan.level:.4g} % sure": plan.stop_at,
        f"looking from case {plan.look_from:,} on": plan.look_from > 1,
        f"after {plan.past_cases:,} past cases": plan.past_cases,
        f"{studies} of each truth": True,
        f"seed {plan.seed}": True,
    }
    return ", ".join(words for words, chosen in choices.items() if chosen)


def _shares(plan: "Plan") -> dict[str, str]:
    """Return which numbers the table has, by the names that it gives them."""
    level = f"{100.0 * plan.level:.4g} %"
    ever = "has stopped learning" if plan.stop_at else f"was sure at {level} at some time"
    wrong = "settled on the wrong policy" if plan.stop_at else "was sure of the wrong policy"
    return {
        "plays the right policy": "plays_right",
        f"knows it at {level}": "known",
        ever: "ever_sure",
        wrong: "ever_wrongly_sure",
        "goals lost by learning": "goals_lost",
        "FINISH taken": "finishes",
        "bias of p_C": "bias_p_c",
        "bias of p_F": "bias_p_f",
        "Wilson's 95 % holds p_F": "wilson_p_f",
        "anytime 95 % holds p_F": "anytime_p_f",
    }


def _ranges(plan: "Plan") -> Iterator[str]:
    fitting = (80 - _NAME) // _CELL
    several = len(plan.truths) > 1
    for first in range(0, len(plan.cases), fitting):
        cases = plan.cases[first : first + fitting]
        head = "least to most, over the truths" if several else ""
        yield f"{head:<{_NAME}}" + "".join(f"{f'{k:,} cases':>{_CELL}}" for k in cases)
        for name, number in _shares(plan).items():
            cells = (
                _format_span([_number(truth.at(k), number) for truth in plan.truths]) for k in cases
            )
            yield f"{name:<{_NAME}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)


def _format_span(numbers: Sequence[float]) -> str:
    """Write the least and the largest number, if there are any."""
    known = [number for number in numbers if not math.isnan(number)] or [math.nan]
    return write_range(format_short(min(known)), format_short(max(known)))


def format_short(number: float) -> str:
    """Write a number in at most six letters."""
    if math.isnan(number):
        return "-"
    size = abs(number)
    if size >= 99.95:
        return f"{number:,.0f}" if size < 1e5 else f"{number:.1e}"
    if 0.9995 <= size < 1.0:  # What is not quite all does not read as if it were.
        return ">.999" if number > 0.0 else "<-.999"
    text = f"{number:.1f}" if size >= 9.995 else f"{number:.2f}" if size >= 1.0 else f"{number:.3f}"
    return "0" if float(text) == 0.0 else text.replace("0.", ".", 1) if size < 1.0 else text


_BY_TRUTH: Final = {
    "plays right": ("plays_right", 12),
    "known": ("known", 7),
    "ever wrong": ("ever_wrongly_sure", 11),
    "goals": ("goals", 8),
    "always 0": ("goals_threshold_0", 9),
    "always 1": ("goals_threshold_1", 9),
    "lost": ("goals_lost", 6),
}
"""The columns of the table of truths: what each shows, and how wide it is."""


_NEEDED_WIDTHS: Final = (10, 20, 7, 14, 10)


def _needed(plan: "Plan") -> Iterator[str]:
    if plan.target is None:
        return
    verb = "know" if plan.target.what == "known" else "play"
    yield (
        f"cases until {100.0 * plan.target.share:.4g} % of studies {verb} the right policy, and"
        " goals lost by then"
    )
    heads = zip(("learning", "between", "lost", "trial", "lost"), _NEEDED_WIDTHS, strict=True)
    yield f"{'p_C':>6}{'p_F':>6}{'right':>6}" + "".join(f"{one:>{width}}" for one, width in heads)
    shown, left = plan.truths, 0
    if len(shown) > _MOST_TRUTHS:
        ranked = [truth for truth, _ in rank_needs(plan)]
        shown, left = tuple(ranked[:_MOST_TRUTHS]), len(ranked[_MOST_TRUTHS:])
    for truth in shown:
        cells = zip(describe_needed(truth), _NEEDED_WIDTHS, strict=True)
        yield (_place(truth) + "".join(f"{cell:>{width}}" for cell, width in cells)).rstrip()
    if left:
        yield f"and {left:,} more truths, which need fewer"


def describe_needed(truth: Truth) -> tuple[str, ...]:
    """Write how many cases learning takes, from where to where, the goals lost, and a trial's."""
    needed = truth.needed
    if needed is None or math.isinf(needed.cases.low):
        return "never", "", "", "never", ""
    cases, more = needed.cases, f"> {write_cases(needed.cases.low)}"
    found = math.isfinite(cases.estimate)
    return (
        write_cases(cases.estimate) if found else more,
        write_ends(cases) if found else "",
        format_short(needed.goals_lost.estimate),
        write_cases(needed.trial_cases),
        format_short(needed.trial_goals_lost),
    )


def _place(truth: Truth) -> str:
    """Write a truth and which threshold is right."""
    right = "both" if truth.right is None else str(truth.right)
    return f"{_probability(truth.p_c):>6}{_probability(truth.p_f):>6}{right:>6}"


def _truths(plan: "Plan") -> Iterator[str]:
    last = plan.cases[-1]
    names = "".join(f"{name:>{width}}" for name, (_, width) in _BY_TRUTH.items())
    yield f"after {last:,} cases, by truth"
    yield f"{'p_C':>6}{'p_F':>6}{'right':>6}{names}"
    shown = plan.truths
    if len(shown) > _MOST_TRUTHS:
        shown = tuple(sorted(shown, key=lambda truth: truth.at(last).known.estimate))
        shown = shown[:_MOST_TRUTHS]
    for truth in shown:
        cells = (
            f"{format_short(_number(truth.at(last), name)):>{width}}"
            for name, width in _BY_TRUTH.values()
        )
        yield _place(truth) + "".join(cells)
    if len(shown) < len(plan.truths):
        yield f"and {len(plan.truths) - len(shown):,} more truths, about which more is known"


def _number(outlook: Outlook, name: str) -> float:
    """Return a number of an outlook, without its interval if it has one."""
    number: Estimate | float = getattr(outlook, name)
    return number.estimate if isinstance(number, Estimate) else number


def _probability(p: float) -> str:
    """Write a probability in few letters, such as .45 and .275."""
    return f"{p:.3f}".rstrip("0").replace("0.", ".", 1)
