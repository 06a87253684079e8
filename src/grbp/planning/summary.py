"""A plan in words: one sentence for anybody, and a screen of 80 columns."""

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from grbp.planning.operating_characteristics import Outlook, Truth
from grbp.planning.result import Plan
from grbp.theory.posterior import Estimate

_WIDTH: Final = 78
_NAME: Final = 34
_CELL: Final = 15
_MOST_TRUTHS: Final = 12
"""Truths of which a person is shown all; of more, the least known."""

_Of = Callable[[Outlook], float]


def sentence_of(plan: Plan) -> str:
    """Say what to expect with the largest number of cases."""
    return " ".join(sentences_of(plan))


def sentences_of(plan: Plan) -> list[str]:
    """Say the same in single sentences, the most important first."""
    last = plan.cases[-1]
    more = " more" if plan.past_cases else ""
    decided = [truth for truth in plan.truths if truth.right is not None]
    start = f"With {last:,}{more} case{'' if last == 1 else 's'}"
    if not decided:
        return [f"{start} nothing can be learned: both policies are equally good."]
    ends = [truth.at(last) for truth in decided]
    level = f"{100.0 * plan.level:.4g} %"
    several = len(ends) > 1
    worst = min(decided, key=lambda truth: truth.at(last).known.estimate)
    where = (
        f": least where p_C = {worst.p_c:.3g} and p_F = {worst.p_f:.3g}, and the wrong policy loses"
        f" {100.0 * worst.loss:.2g} goals in 100 cases"
        if several
        else ""
    )
    lost = [one.goals_lost.estimate for one in ends]
    wrong = [one.ever_wrongly_sure.estimate for one in ends]
    parts = [
        f"{start}, the learner plays the right policy in"
        f" {_of_100([one.plays_right.estimate for one in ends])} studies"
        + (f", over {len(ends)} plausible truths." if several else "."),
        f"That it is right is known at {level} in"
        f" {_of_100([one.known.estimate for one in ends])}{where}.",
        *_weighted(plan),
        f"Learning costs {_goals(*_ends(lost))} against knowing the truth.",
    ]
    if plan.stop_at is None:
        looks = "after every case" if plan.look_from == 1 else f"from case {plan.look_from:,} on"
        parts.append(
            f"Who looks {looks} is sure of the wrong policy at some time in {_of_100(wrong)}"
            " studies."
        )
    else:
        parts.append(
            f"Stopping when {level} sure settles on the wrong policy in {_of_100(wrong)} studies."
        )
    return parts


def _weighted(plan: Plan) -> Iterator[str]:
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
        "If each truth counts as much as the records make it plausible, that is"
        f" {_whole(plays)} and {_whole(known)} of 100."
    )


def _ends(numbers: Sequence[float]) -> tuple[float, float]:
    return min(numbers), max(numbers)


def _of_100(shares: Sequence[float]) -> str:
    """Write shares in words, the least and the largest: "71 to 99 of 100"."""
    return f"{_to([_whole(share) for share in _ends(shares)])} of 100"


def _whole(share: float) -> str:
    """Write a share as a whole number of 100; what is not quite none or all does not read so."""
    if 0.0 < share < 0.005:
        return "under 1"
    return str(min(99, round(100.0 * share)) if share < 1.0 else 100)


def _goals(least: float, most: float) -> str:
    """Write a number of goals, or from what to what it goes."""
    said = [f"{x:.0f}" if abs(x) >= 99.5 else f"{x:.2g}" for x in (least, most)]
    return f"{_to(said)} goal{'' if said == ['1', '1'] else 's'}"


def _to(ends: Sequence[str]) -> str:
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def summary_of(plan: Plan) -> str:
    """Return the sentence, the range over all truths, and each truth."""
    parts = [
        textwrap.fill(plan.sentence, _WIDTH, break_on_hyphens=False),
        textwrap.fill(setting_of(plan), _WIDTH, break_on_hyphens=False),
        "\n".join(_ranges(plan)),
        "\n".join(_truths(plan)),
    ]
    return "\n\n".join(parts)


def setting_of(plan: Plan) -> str:
    """Say what was played."""
    said = [f"goal {plan.goal:,}", plan.learner]
    said += [f"{plan.overlap:,} cases at once"] if plan.overlap > 1 else []
    said += [f"goals told {plan.late_wins:,} cases later"] if plan.late_wins else []
    said += [f"{100.0 * plan.overrule:.3g} % overruled"] if plan.overrule else []
    said += [f"stopped when {100.0 * plan.level:.4g} % sure"] if plan.stop_at else []
    said += [f"looking from case {plan.look_from:,} on"] if plan.look_from > 1 else []
    said += [f"after {plan.past_cases:,} past cases"] if plan.past_cases else []
    studies = "1 study" if plan.replicas == 1 else f"{plan.replicas:,} studies"
    return ", ".join([*said, f"{studies} of each truth", f"seed {plan.seed}"])


def _shares(plan: Plan) -> dict[str, Callable[[Outlook], Estimate]]:
    """Return the numbers that the table has, by their names."""
    level = f"{100.0 * plan.level:.4g} %"
    ever = "has stopped learning" if plan.stop_at else f"was sure at {level} at some time"
    wrong = "settled on the wrong policy" if plan.stop_at else "was sure of the wrong policy"
    return {
        "plays the right policy": lambda one: one.plays_right,
        f"knows it at {level}": lambda one: one.known,
        ever: lambda one: one.ever_sure,
        wrong: lambda one: one.ever_wrongly_sure,
        "goals lost by learning": lambda one: one.goals_lost,
        "FINISH taken": lambda one: one.finishes,
        "bias of p_C": lambda one: one.bias_p_c,
        "bias of p_F": lambda one: one.bias_p_f,
        "Wilson's 95 % holds p_F": lambda one: one.wilson_p_f,
        "anytime 95 % holds p_F": lambda one: one.anytime_p_f,
    }


def _ranges(plan: Plan) -> Iterator[str]:
    fitting = (80 - _NAME) // _CELL
    several = len(plan.truths) > 1
    for k in range(0, len(plan.cases), fitting):
        cases = plan.cases[k : k + fitting]
        head = "least to most, over the truths" if several else ""
        yield f"{head:<{_NAME}}" + "".join(f"{f'{one:,} cases':>{_CELL}}" for one in cases)
        for name, of in _shares(plan).items():
            cells = (_span([of(truth.at(one)).estimate for truth in plan.truths]) for one in cases)
            yield f"{name:<{_NAME}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)


def _span(numbers: Sequence[float]) -> str:
    """Write the least and the largest number, if there are any."""
    known = [number for number in numbers if not math.isnan(number)]
    if not known:
        return "-"
    low, high = (short(number) for number in _ends(known))
    return low if low == high else f"{low} to {high}"


def short(number: float) -> str:
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


def _truths(plan: Plan) -> Iterator[str]:
    last = plan.cases[-1]
    names = ("plays right", "known", "ever wrong", "goals", "always 0", "always 1", "lost")
    yield f"after {last:,} cases, by truth"
    yield f"{'p_C':>6}{'p_F':>6}{'right':>6}" + "".join(
        f"{name:>{width}}" for name, width in zip(names, _WIDTHS, strict=True)
    )
    shown = plan.truths
    if len(shown) > _MOST_TRUTHS:
        shown = tuple(sorted(shown, key=lambda truth: truth.at(last).known.estimate))
        shown = shown[:_MOST_TRUTHS]
    for truth in shown:
        one = truth.at(last)
        cells = (
            one.plays_right.estimate, one.known.estimate, one.ever_wrongly_sure.estimate,
            one.goals.estimate, one.goals_threshold_0, one.goals_threshold_1,
            one.goals_lost.estimate,
        )  # fmt: skip
        right = "both" if truth.right is None else str(truth.right)
        yield f"{_place(truth)}{right:>6}" + "".join(
            f"{short(cell):>{width}}" for cell, width in zip(cells, _WIDTHS, strict=True)
        )
    if len(shown) < len(plan.truths):
        yield f"and {len(plan.truths) - len(shown):,} truths of which more is known"


_WIDTHS: Final = (12, 7, 11, 8, 9, 9, 6)


def _place(truth: Truth) -> str:
    """Write the two probabilities of a truth, such as .45 and .275."""
    said = (f"{p:.3f}".rstrip("0").replace("0.", ".", 1) for p in (truth.p_c, truth.p_f))
    return "".join(f"{p:>6}" for p in said)
