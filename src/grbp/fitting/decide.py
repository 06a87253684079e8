"""From estimates to a decision and a sentence, or to the reason why there is none."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, NamedTuple

from grbp._format import format_interval, percent
from grbp.fitting.assumptions import (
    SAME_BY_STATE,
    SAME_F_BY_STATE,
    TREND_BY_STATE,
    AssumptionTest,
)
from grbp.fitting.estimates import Proportion
from grbp.fitting.statewise import StatewiseChain
from grbp.theory.posterior import Estimate, Posterior
from grbp.theory.values import boundary

_TOO_MANY: Final = 100
"""Beyond so many times the records, it is not said how many would settle it."""

POLICY: Final = {
    "threshold-0": "never finish",
    "threshold-1": "finish in state 1, one step from the dead end, and continue everywhere else",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Decision:
    """A decision, or the reason why there is none; `Fit` says what each attribute is."""

    decision: str
    reason: str | None = None
    sentence: str
    firm: bool
    probabilities: tuple[float, float] | None
    doubts: tuple[str, ...] = ()


class Evidence(NamedTuple):
    """What a decision rests on."""

    goal: int
    level: float
    goals: int
    """How many rows reached the goal."""
    p_c: Proportion
    p_f: Proportion
    ways: Mapping[str, Estimate | None]
    chain: StatewiseChain | None
    tests: tuple[AssumptionTest, ...]
    posterior: Posterior
    untried: tuple[str, ...] = ()
    """The actions that were never tried in state 1."""


def decide(seen: Evidence) -> Decision:
    """Decide which policy the records speak for."""
    lacking = _find_lacking_records(seen)
    by_state = None if lacking else _decide_by_state(seen)
    if by_state is not None:
        return by_state
    f, even = seen.p_f.as_estimate, seen.ways["boundary"]
    reason = lacking or _describe_disagreement(seen)
    if reason or f is None or even is None:
        sentence = _sentence_without_decision(seen, reason, even)
        return Decision(
            decision="none", reason=reason, sentence=sentence, firm=False, probabilities=None
        )
    one = seen.posterior.probability
    decision, sure = "threshold-1" if one >= 0.5 else "threshold-0", max(one, 1.0 - one)
    doubt = (
        _say_if_prior_alone(f, even, decision) or _find_untried_states(seen) or _find_doubt(seen)
    )
    return Decision(
        decision=decision,
        sentence=_sentence(seen, f, even, decision, sure, doubt),
        firm=sure >= seen.level and not doubt,
        probabilities=(1.0 - one, one),
    )


def _find_lacking_records(seen: Evidence) -> str:
    """Say what the records lack for a decision, if anything."""
    c = seen.p_c
    lacking = {
        "CONTINUE never moved by one state": not c.tries,
        "no case reached the goal": not seen.goals,
        "CONTINUE never moved up": not c.successes,
        "CONTINUE never moved down": not c.failures,
        "FINISH was never tried": not seen.p_f.tries,
    }
    return next((reason for reason, holds in lacking.items() if holds), "")


def _describe_disagreement(seen: Evidence) -> str:
    """Say whether the ways to value state 1 lead to different decisions, beyond chance."""
    base, p_f = seen.ways["boundary"], seen.p_f.estimate
    for name, words in _WAYS.items():
        way = seen.ways[name]
        if base is None or way is None or p_f is None:
            continue
        if (p_f >= way.estimate) != (p_f >= base.estimate) and are_apart(way, base):
            return (
                "the ways to value continuing in state 1 disagree: it reaches the goal in"
                f" {_share_text(base)} of cases by p_C, in {_share_text(way)} {words}, and p_F lies"
                " between"
            )
    return ""


_WAYS: Final = {
    "direct": "as observed",
    "general": "where every state has its own probabilities",
}


def are_apart(one: Estimate, other: Estimate) -> bool:
    """Return whether two estimates differ by more than their intervals allow."""
    # Each has its interval on the side of the other.
    upper, lower = (one, other) if one.estimate > other.estimate else (other, one)
    room = math.hypot(upper.estimate - upper.low, lower.high - lower.estimate)
    return upper.estimate - lower.estimate > room


def _decide_by_state(seen: Evidence) -> Decision | None:
    """Decide state by state where states surely differ and no threshold is right."""
    chain, by_chain, direct = seen.chain, seen.ways["general"], seen.ways["direct"]
    if chain is None or by_chain is None:
        return None
    about_states = (SAME_BY_STATE, TREND_BY_STATE, SAME_F_BY_STATE)
    failed = [
        test.assumption
        for test in seen.tests
        if test.assumption in about_states and test.rejected_at(seen.level)
    ]
    if not failed or sum(chain.threshold) > 1.0 - seen.level:
        return None
    if direct is not None and are_apart(direct, by_chain):
        return None
    states = ((chain.action == 1) & (chain.finish >= 0.0)).nonzero()[0] + 1
    where = ", ".join(map(str, states.tolist())) or "no state"
    # Draws that all agree make it no certainty.
    sure = min(1.0 - sum(chain.threshold), 1.0 - 1e-12)
    reason = f"it does not hold that {failed[0]}"
    return Decision(
        decision="by-state",
        reason=reason,
        sentence=f"Decide state by state: as far as both actions were tried, finish in {where};"
        f" {reason}, and the records are {percent(sure)} sure that neither threshold is right.",
        firm=True,
        probabilities=chain.threshold,
    )


def _sentence_without_decision(seen: Evidence, reason: str, even: Estimate | None) -> str:
    """Say why there is no decision, and from which p_F on finishing would pay."""
    sentence = f"The records do not say whether to finish in state 1: {reason}."
    if even is not None:
        sentence += (
            f" Finishing there pays off if p_F is at least {even.estimate:.3g}"
            f" ({100.0 * seen.level:g} % interval {even.low:.3g} to {even.high:.3g})."
        )
    return sentence


def _sentence(
    seen: Evidence, f: Estimate, even: Estimate, decision: str, sure: float, doubt: str
) -> str:
    """Say what the records speak for, how sure that is, and what would settle it."""
    tries = seen.p_f.tries
    numbers = (
        f"FINISH reached the goal in {_share_text(f)} of {tries:,}"
        f" {'try' if tries == 1 else 'tries'}, and continuing from state 1 reaches it in"
        f" {_share_text(even)} of cases ({100.0 * seen.level:g} % intervals in brackets)."
    )
    # No records make it certain, whatever rounding made of the probability.
    policy, surely = POLICY[decision], percent(min(sure, 1.0 - 1e-12))
    if sure < seen.level:
        lead = f"The records lean towards one policy ({policy}), but are only {surely} sure."
        parts = [lead, numbers, _how_to_settle(seen), doubt]
    elif doubt:
        lead = f"The records speak for one policy ({policy}), and would be {surely} sure of it."
        parts = [lead, doubt, numbers]
    else:
        parts = [f"{policy.capitalize()}: the records are {surely} sure of it.", numbers]
    return " ".join(part for part in parts if part)


def _say_if_prior_alone(f: Estimate, even: Estimate, decision: str) -> str:
    """Say that the shares do not speak for a decision, so that only the prior does, if so."""
    more, less = f.estimate > even.estimate, f.estimate < even.estimate
    if more if decision == "threshold-1" else less:
        return ""
    return (
        "But the two shares by themselves do not point that way: it is the prior, what was"
        " assumed before any record, that does."
    )


def _find_untried_states(seen: Evidence) -> str:
    """Say that an action was never tried in state 1, which the decision is about, if so."""
    if not seen.untried:
        return ""
    return (
        f"But {' and '.join(seen.untried)} {'were' if seen.untried[1:] else 'was'} never tried in"
        " state 1, so that the answer rests on what other states suggest."
    )


def _find_doubt(seen: Evidence) -> str:
    """Name an assumption that surely does not hold, and without which the answer is another."""
    for test in seen.tests:
        if test.changes_answer and test.rejected_at(seen.level):
            return (
                f"But they also speak against the assumption that {test.assumption}, and without"
                " it the answer would be different."
            )
    return ""


def _how_to_settle(seen: Evidence) -> str:
    """Say how many more tries would settle it, if the estimates stay as they are."""
    f, c = seen.p_f, seen.p_c
    p_f, p_c = f.successes / f.tries, c.successes / c.tries
    z = NormalDist().inv_cdf(seen.level)
    # The slope of the boundary, as far as the estimate of p_C is off.
    step = 1e-4 * min(p_c, 1.0 - p_c)
    slope = (boundary(seen.goal, p_c + step) - boundary(seen.goal, p_c - step)) / (2.0 * step)
    of_c = slope * slope * p_c * (1.0 - p_c) / c.tries
    of_f = max(p_f * (1.0 - p_f), 0.25 / f.tries) / f.tries
    wanted = ((p_f - boundary(seen.goal, p_c)) / z) ** 2
    times = (of_f + of_c) / wanted if wanted > 0.0 else math.inf
    more = f"{max(2, math.ceil(min(times, _TOO_MANY)))} times as many records"
    tries = math.ceil(of_f * f.tries / (wanted - of_c)) - f.tries if wanted > of_c else 0
    if 0 < tries <= 20 * f.tries:
        more = f"{_round_up(tries):,} more tries of FINISH"
    elif times > _TOO_MANY:
        return f"It would take over {_TOO_MANY} times as many records to settle it."
    return f"About {more} would settle it, if the estimates stay as they are."


def _round_up(number: int) -> int:
    """Round a number up to two digits."""
    unit = int(10 ** max(0, math.floor(math.log10(number)) - 1))
    return math.ceil(number / unit) * unit


def _share_text(share: Estimate) -> str:
    """Write an estimated share with its interval, in the letters of any terminal."""
    return format_interval(*share).replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")
