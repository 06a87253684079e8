"""The page of a plan: how many cases learning takes, for someone who is not a statistician."""

import math
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from grbp._words import format_number, with_interval
from grbp.figures.planning import knowing_figure, lost_figure
from grbp.pages.page import MOST_ROWS, NO_NUMBER, Number, Section, environment, svg_of
from grbp.planning.summary import sentences_of, setting_of

if TYPE_CHECKING:
    from grbp.planning.characteristics import Outlook, Truth
    from grbp.planning.result import Plan
    from grbp.theory.posterior import Estimate


def plan_report(plan: "Plan", facts: Mapping[str, str]) -> str:
    """Write the page of a plan.

    Parameters
    ----------
    plan : Plan
        What `grbp.plan` returned.
    facts : mapping of str to str
        How the page was made: the command.

    Returns
    -------
    str
        The page: one HTML file without scripts that fetches nothing.
    """
    page = environment().get_template("plan.html.j2")
    return page.render(
        plan=plan,
        goal=plan.goal,
        sentences=sentences_of(plan),
        level=_level(plan),
        numbers=list(_numbers(plan)),
        by_cases=[_by_cases(plan, cases) for cases in plan.cases],
        sections=list(_sections(plan)),
        facts={
            **facts,
            "Played": setting_of(plan),
            "Software": f"grbp {import_module('grbp').__version__}",
        },
    )


def _level(plan: "Plan") -> str:
    return f"{100.0 * plan.level:.4g}\N{NO-BREAK SPACE}%"


def _numbers(plan: "Plan") -> Iterator[Number]:
    """Choose the numbers that the first screen shows: the worst over all truths."""
    last = plan.cases[-1]
    ends = [truth.at(last) for truth in plan.truths]
    at_worst = " at worst" if len(ends) > 1 else ""
    yield Number(
        "plays the right policy",
        _percent(min(one.plays_right.estimate for one in ends)) + at_worst,
        f"Of so many studies, the next case after {last:,} is played as is best.",
    )
    yield Number(
        "knows that it is right",
        _percent(min(one.known.estimate for one in ends)) + at_worst,
        f"In so many, what was seen makes it right with a probability of {_level(plan)} or more.",
    )
    most = max(ends, key=lambda one: one.goals_lost.estimate)
    yield Number(
        "goals that learning costs",
        f"{format_number(most.goals_lost.estimate)} of {format_number(most.goals_oracle)}"
        + at_worst,
        "By so many goals, someone who knew the chances beforehand would do better.",
    )
    said = "settle on" if plan.stop_at else "at some time sure of"
    yield Number(
        f"{said} the wrong policy",
        _percent(max(one.ever_wrongly_sure.estimate for one in ends)) + at_worst,
        "So often does it happen to those who look after every case"
        + (" and stop when they are sure." if plan.stop_at else "."),
    )


def _by_cases(plan: "Plan", cases: int) -> tuple[str, ...]:
    """Return the row of a number of cases: the least and the most over all truths."""
    ends = [truth.at(cases) for truth in plan.truths]

    def span(of: "Callable[[Outlook], Estimate]", write: Callable[[float], str]) -> str:
        numbers = [of(one).estimate for one in ends]
        low, high = write(min(numbers)), write(max(numbers))
        return low if low == high else f"{low} to {high}"

    return (
        f"{cases:,}",
        span(lambda one: one.plays_right, _percent),
        span(lambda one: one.known, _percent),
        span(lambda one: one.ever_wrongly_sure, _percent),
        span(lambda one: one.goals_lost, format_number),
    )


def _sections(plan: "Plan") -> Iterator[Section]:
    """Make the parts of the page, in its order."""
    wrong = "settled on the wrong policy" if plan.stop_at else "was sure of the wrong one"
    yield Section(
        "To play the right policy is not yet to know it",
        "A learner soon does what is best, because it follows what looks better. To be able to say"
        " that it is best takes many more cases: as many as would make the other policy"
        f" implausible. The panels show the truth of which least is known in the end, a middle one"
        f" and that of which most is known; the dotted curve counts who {wrong} at some time,"
        " looking after every case. The shades are the accuracy of this computation.",
        svg_of(knowing_figure(plan)),
        "Curves of the share of studies that play the right policy, that know it, and that were"
        " sure of the wrong one, by the number of cases.",
        leads=True,
    )
    yield Section(
        "What learning costs",
        "Cases in which something is tried out, or in which the learner is still wrong, may miss"
        " a goal that somebody who knew both chances would have reached. The curves sum that up,"
        " for the truth for which it costs most, a middle one and the cheapest. The table compares"
        " with always doing the same.",
        svg_of(lost_figure(plan)),
        "Curves of the goals lost by learning, by the number of cases, for up to three truths.",
        (
            "p_C, p_F", "cases", "goals of the learner", "always continue",
            "always finish in state 1", "knowing the truth", "goals lost", "FINISH taken",
        ),
        _rows(plan, _goals),
    )  # fmt: skip
    yield Section(
        "Every truth",
        "How many of all studies play the right policy, know it, and were sure of the wrong one,"
        " each with the 95 % interval of this computation.",
        head=(
            "p_C, p_F", "cases", "right threshold", "plays right", "knows it",
            "sure of the wrong one now", "ever sure of the wrong one", "ever sure of any",
        ),
        rows=_rows(plan, _shares),
    )  # fmt: skip
    yield Section(
        "Can the estimates be trusted afterwards?",
        "A learner stops trying what looks bad, so that bad luck stays in its records: the"
        " estimate of FINISH is too low on average, and intervals that were made for a fixed number"
        " of tries hold the truth less often than they say. The anytime interval allows for that.",
        head=(
            "p_C, p_F", "cases", "bias of p_C", "bias of p_F", "Wilson holds p_C",
            "Wilson holds p_F", "anytime holds p_C", "anytime holds p_F",
        ),
        rows=_rows(plan, _records),
    )  # fmt: skip


def _rows(
    plan: "Plan", cells: "Callable[[Truth, Outlook], tuple[str, ...]]"
) -> list[tuple[str, ...]]:
    pairs = [(truth, truth.at(cases)) for truth in plan.truths for cases in plan.cases]
    return [
        (f"{truth.p_c:.4g}, {truth.p_f:.4g}", f"{one.cases:,}", *cells(truth, one))
        for truth, one in pairs[:MOST_ROWS]
    ]


def _goals(_: "Truth", one: "Outlook") -> tuple[str, ...]:
    return (
        _mean(one.goals),
        format_number(one.goals_threshold_0),
        format_number(one.goals_threshold_1),
        format_number(one.goals_oracle),
        _mean(one.goals_lost),
        _mean(one.finishes),
    )


def _shares(truth: "Truth", one: "Outlook") -> tuple[str, ...]:
    right = "both" if truth.right is None else str(truth.right)
    shares = (
        one.plays_right, one.known, one.wrongly_sure, one.ever_wrongly_sure, one.ever_sure
    )  # fmt: skip
    return (right, *(_share(share) for share in shares))


def _records(_: "Truth", one: "Outlook") -> tuple[str, ...]:
    shares = (one.wilson_p_c, one.wilson_p_f, one.anytime_p_c, one.anytime_p_f)
    return (_signed(one.bias_p_c), _signed(one.bias_p_f), *(_share(share) for share in shares))


def _share(share: "Estimate") -> str:
    return NO_NUMBER if math.isnan(share.estimate) else with_interval(*share)


def _mean(mean: "Estimate") -> str:
    """Write a mean with half its interval."""
    half = mean.high - mean.estimate
    more = "" if math.isnan(half) else f" ± {format_number(half)}"
    return f"{format_number(mean.estimate)}{more}"


def _signed(bias: "Estimate") -> str:
    if math.isnan(bias.estimate):
        return NO_NUMBER
    return f"{bias.estimate:+.3f}".replace("-", "\N{MINUS SIGN}")


def _percent(share: float) -> str:
    """Write a share in percent; what is not quite none or all does not read as if it were."""
    number = f"{100.0 * share:.0f}"
    if number in ("0", "100") and 0.0 < share < 1.0:
        number = "under 1" if share < 0.5 else "over 99"
    return f"{number}\N{NO-BREAK SPACE}%"
