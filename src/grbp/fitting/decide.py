"""From estimates to a decision and a sentence, or to the reason why there is none."""

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Final, NamedTuple

from grbp._words import percent, with_interval
from grbp.fitting.assumptions import (
    SAME_BY_STATE,
    SAME_F_BY_STATE,
    TREND_BY_STATE,
    AssumptionTest,
)
from grbp.fitting.estimates import Proportion
from grbp.fitting.statewise import StatewiseChain
from grbp.theory.posterior import Estimate
from grbp.theory.values import boundary

_TOO_MANY: Final = 100
"""How many times as many records nobody waits for."""

POLICY: Final = {
    "threshold-0": "never finish",
    "threshold-1": "finish in state 1, one step from the dead end, and continue everywhere else",
}


class Decision(NamedTuple):
    """A decision, or the reason why there is none.

    Attributes
    ----------
    decision : str
        "threshold-0", "threshold-1", "by-state" or "none".
    reason : str or None
        Why there is none, or why it is one by state.
    probabilities : tuple of float or None
        The probabilities of thresholds 0 and 1; None without a decision.
    sentence : str
        What the records say, how sure, and what would settle it.
    firm : bool
        Whether the records are sure of the decision, at the level of the fit.
    """

    decision: str
    reason: str | None
    probabilities: tuple[float, float] | None
    sentence: str
    firm: bool


class Evidence(NamedTuple):
    """What a decision rests on."""

    goal: int
    level: float
    goals: int
    p_c: Proportion
    p_f: Proportion | None
    boundary: Estimate | None
    ways: Mapping[str, Estimate | None]
    general: StatewiseChain | None
    tests: tuple[AssumptionTest, ...]
    posterior: float | None
    untried: tuple[str, ...] = ()
    """The actions that were never tried in state 1."""


def decide(seen: Evidence) -> Decision:
    """Decide which policy the records speak for."""
    reason = _missing(seen) or ""
    if not reason:
        by_state = _by_state(seen)
        if by_state is not None:
            return by_state
        reason = _disagreement(seen) or ""
    if reason:
        return Decision("none", reason, None, _undecided(seen, reason), firm=False)
    one = seen.posterior
    assert one is not None and seen.p_f is not None and seen.boundary is not None  # noqa: S101, PT018
    decision, sure = "threshold-1" if one >= 0.5 else "threshold-0", max(one, 1.0 - one)
    doubt = _prior_alone(seen, decision) or _untried(seen) or _doubt(seen)
    firm = sure >= seen.level and not doubt
    sentence = _decided(seen, decision, sure, doubt)
    return Decision(decision, None, (1.0 - one, one), sentence, firm)


def _missing(seen: Evidence) -> str | None:
    """Say what the records lack for a decision, if anything."""
    c = seen.p_c
    if not c.tries:
        return "CONTINUE never moved by one state"
    if not seen.goals:
        return "no case reached the goal"
    if not c.successes:
        return "CONTINUE never moved up"
    if c.successes == c.tries:
        return "CONTINUE never moved down"
    if seen.p_f is None:
        return "FINISH was never tried"
    return None


def _disagreement(seen: Evidence) -> str | None:
    """Say whether the ways to value state 1 lead to different decisions, beyond chance."""
    base, p_f = seen.ways["boundary"], seen.p_f
    if base is None or p_f is None or p_f.estimate is None:
        return None
    for name in ("direct", "general"):
        way = seen.ways[name]
        if way is None or (p_f.estimate >= way.estimate) == (p_f.estimate >= base.estimate):
            continue
        if apart(way, base):
            return (
                "the ways to value continuing in state 1 disagree: it reaches the goal in"
                f" {said(base)} of cases by p_C, in {said(way)} {_WAYS[name]}, and p_F lies between"
            )
    return None


_WAYS: Final = {
    "general": "where every state has its own probabilities",
    "direct": "as it was seen",
}


def apart(one: Estimate, other: Estimate) -> bool:
    """Return whether two estimates differ by more than their intervals allow."""
    # Each has its interval on the side of the other.
    upper, lower = (one, other) if one.estimate > other.estimate else (other, one)
    room = math.hypot(upper.estimate - upper.low, lower.high - lower.estimate)
    return upper.estimate - lower.estimate > room


def _by_state(seen: Evidence) -> Decision | None:
    """Decide state by state where states surely differ and no threshold is right."""
    general, direct = seen.general, seen.ways["direct"]
    chain = seen.ways["general"]
    if general is None or chain is None:
        return None
    failed = [
        test.assumption
        for test in seen.tests
        if test.assumption in (SAME_BY_STATE, TREND_BY_STATE, SAME_F_BY_STATE)
        and test.p_holm is not None
        and test.p_holm < 1.0 - seen.level
    ]
    if not failed or sum(general.threshold) > 1.0 - seen.level:
        return None
    if direct is not None and apart(direct, chain):
        return None
    states = ((general.action == 1) & (general.finish >= 0.0)).nonzero()[0] + 1
    where = ", ".join(map(str, states.tolist())) or "no state"
    # Draws that all agree make it no certainty.
    sure = min(1.0 - sum(general.threshold), 1.0 - 1e-12)
    reason = f"it does not hold that {failed[0]}"
    return Decision(
        "by-state", reason, general.threshold,
        f"Decide state by state: as far as both actions were tried, finish in {where}; {reason},"
        f" and the records are {percent(sure)} sure that neither threshold is right.",
        firm=True,
    )  # fmt: skip


def _undecided(seen: Evidence, reason: str) -> str:
    """Say why there is no decision, and from which p_F on finishing would pay."""
    sentence = f"The records do not say whether to finish in state 1: {reason}."
    even = seen.boundary
    if even is not None:
        sentence += (
            f" Finishing there pays off from p_F = {even.estimate:.3g} on"
            f" ({100.0 * seen.level:g} % interval {even.low:.3g} to {even.high:.3g})."
        )
    return sentence


def _decided(seen: Evidence, decision: str, sure: float, doubt: str) -> str:
    """Say what the records speak for, how sure that is, and what would settle it."""
    f, even = seen.p_f, seen.boundary
    assert f is not None and even is not None and f.estimate is not None  # noqa: S101, PT018
    won = said(Estimate(f.estimate, *f.interval))
    numbers = (
        f"FINISH reached the goal in {won} of {f.tries:,} {'try' if f.tries == 1 else 'tries'}, and"
        f" continuing from state 1 reaches it in {said(even)} of cases"
        f" ({100.0 * seen.level:g} % intervals in brackets)."
    )
    # No records make it certain, whatever rounding made of the probability.
    policy, surely = POLICY[decision], percent(min(sure, 1.0 - 1e-12))
    if sure < seen.level:
        lead = f"The records lean towards one policy ({policy}), but are only {surely} sure."
        parts = [lead, numbers, _settling(seen), doubt]
    elif doubt:
        lead = f"The records speak for one policy ({policy}), and would be {surely} sure of it."
        parts = [lead, doubt, numbers]
    else:
        parts = [f"{policy.capitalize()}: the records are {surely} sure of it.", numbers]
    return " ".join(part for part in parts if part)


def _prior_alone(seen: Evidence, decision: str) -> str:
    """Say that the shares do not speak for a decision, so that only the prior does, if so."""
    f, even = seen.p_f, seen.boundary
    assert f is not None and even is not None and f.estimate is not None  # noqa: S101, PT018
    more, less = f.estimate > even.estimate, f.estimate < even.estimate
    if more if decision == "threshold-1" else less:
        return ""
    return (
        "But the two shares by themselves do not point that way: it is the prior, what was"
        " assumed before any record, that does."
    )


def _untried(seen: Evidence) -> str:
    """Say that an action was never tried in state 1, which the decision is about, if so."""
    if not seen.untried:
        return ""
    return (
        f"But {' and '.join(seen.untried)} {'were' if seen.untried[1:] else 'was'} never tried in"
        " state 1, so that the answer rests on what other states suggest."
    )


def _doubt(seen: Evidence) -> str:
    """Name an assumption that surely does not hold, and without which the answer is another."""
    broken = [
        test.assumption
        for test in seen.tests
        if test.changes_answer and test.p_holm is not None and test.p_holm < 1.0 - seen.level
    ]
    if not broken:
        return ""
    return (
        f"But they also speak against the assumption that {broken[0]}, and without it the answer"
        " is another one."
    )


def _settling(seen: Evidence) -> str:
    """Say how many more tries would settle it, if the estimates stay as they are."""
    f, c = seen.p_f, seen.p_c
    assert f is not None and f.estimate is not None and c.estimate is not None  # noqa: S101, PT018
    z = NormalDist().inv_cdf(seen.level)
    # The slope of the boundary, as far as the estimate of p_C is off.
    step = 1e-4 * min(c.estimate, 1.0 - c.estimate)
    slope = (
        boundary(seen.goal, c.estimate + step) - boundary(seen.goal, c.estimate - step)
    ) / (2.0 * step)  # fmt: skip
    of_c = slope * slope * c.estimate * (1.0 - c.estimate) / c.tries
    of_f = max(f.estimate * (1.0 - f.estimate), 0.25 / f.tries) / f.tries
    wanted = ((f.estimate - boundary(seen.goal, c.estimate)) / z) ** 2
    if wanted > of_c:
        tries = math.ceil(of_f * f.tries / (wanted - of_c)) - f.tries
        if 0 < tries <= 20 * f.tries:
            more = f"{_round_up(tries):,} more tries of FINISH"
            return f"About {more} would settle it, if the estimates stay."
    times = (of_f + of_c) / wanted if wanted > 0.0 else math.inf
    if times > _TOO_MANY:
        return f"It would take over {_TOO_MANY} times as many records to settle it."
    more = f"{max(2, math.ceil(times))} times as many records"
    return f"About {more} would settle it, if the estimates stay."


def _round_up(number: int) -> int:
    """Round a number up to two digits."""
    unit = int(10 ** max(0, math.floor(math.log10(number)) - 1))
    return math.ceil(number / unit) * unit


def said(number: Estimate) -> str:
    """Write an estimated share with its interval, in the letters of any terminal."""
    return with_interval(*number).replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")
