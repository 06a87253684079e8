"""From estimates to a decision and a sentence, or to the reason why there is none."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from grbp._format import begin, join_words, percent
from grbp.fitting.doubts import Doubt, find_doubts
from grbp.fitting.evidence import (
    WAYS,
    Evidence,
    say_rejected,
    say_values,
    share_text,
)
from grbp.fitting.grounds import Ground, chance_above, spread_out
from grbp.fitting.more_tries import Need, boundary_variance, find_need, say_need
from grbp.fitting.support import UNDECIDED, disagrees, say_support

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
    firm: bool = False
    probabilities: tuple[float, float] | None = None
    doubts: tuple[str, ...] = ()
    way: str = "boundary"


def decide(seen: Evidence) -> Decision:
    """Decide which policy the records speak for."""
    lacking = _find_lacking_records(seen)
    if lacking:
        return _decide_nothing(seen, lacking, [*find_doubts(seen, [], None)])
    grounds = _find_grounds(seen)
    one = _find_agreement(grounds)
    threshold = None if one is None else int(one >= 0.5)
    doubts = [*find_doubts(seen, grounds, threshold)]
    by_group = _decide_by_group(seen, one)
    if by_group is not None:
        return _with_doubts(by_group, doubts)
    by_state = _decide_by_state(seen, threshold)
    if by_state is not None:
        told = say_support(seen.support)
        model = Doubt(f"{begin(seen.states_differ)}; the model assumes the same in all states.")
        return _with_doubts(by_state, [model, *(d for d in doubts if told not in d.sentence)])
    if one is None or threshold is None:
        return _decide_nothing(seen, _describe_disagreement(grounds), doubts)
    tie = next((ground for ground in grounds if ground.tie), None)
    if tie is not None:
        return _decide_tie(seen, tie, doubts)
    sure = max(one, 1.0 - one)
    decision = f"threshold-{threshold}"
    against = [doubt.sentence for doubt in doubts if doubt.takes_firmness]
    return _with_doubts(
        Decision(
            decision=decision,
            sentence=_sentence(seen, grounds, decision, sure, against),
            firm=sure >= seen.level and not against,
            probabilities=(1.0 - one, one),
            way=grounds[0].name,
        ),
        doubts,
    )


def _with_doubts(decision: Decision, doubts: list[Doubt]) -> Decision:
    told = tuple(dict.fromkeys(doubt.sentence for doubt in doubts))
    return Decision(**{**vars(decision), "doubts": told})


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


# What the decision can rest on.


def _find_grounds(seen: Evidence) -> list[Ground]:
    """Return what the decision rests on; where there are several, all of them must agree."""
    f = seen.p_f.as_estimate
    grounds = []
    for name in seen.stand:
        way = seen.ways[name]
        if f is None or way is None:
            continue
        if name == "boundary":
            chance = seen.posterior.probability
        elif name == "general" and seen.chain is not None:
            chance = chance_above(seen.posterior, seen.chain.continue_value[:, 0])
        else:
            chance = chance_above(seen.posterior, spread_out(way, seen.level))
        grounds.append(Ground(name, f, way, chance))
    whole = seen.standardized
    if whole is None or whole.p_f is None or whole.worth is None or whole.probability is None:
        return grounds
    ground = Ground("standardized", whole.p_f, whole.worth, whole.probability)
    pooled = _find_agreement(grounds)
    other = pooled is None or (pooled >= 0.5) != (ground.probability >= 0.5)
    return [ground] if other or seen.groups_differ else [*grounds, ground]


def _find_agreement(grounds: list[Ground]) -> float | None:
    """Return how probable threshold 1 is by the least sure ground; None where they disagree."""
    if len({ground.probability >= 0.5 for ground in grounds}) != 1:
        return None
    return _least_sure(grounds).probability


def _least_sure(grounds: list[Ground]) -> Ground:
    return min(grounds, key=lambda ground: abs(ground.probability - 0.5))


# Decisions that are no threshold.


def _decide_by_group(seen: Evidence, one: float | None) -> Decision | None:
    """Decide group by group where groups surely differ and do not lie on the same side."""
    whole, differ = seen.standardized, seen.groups_differ
    if whole is None or not differ or one is None or seen.right_for(int(one >= 0.5)) >= seen.level:
        return None
    sure: dict[str, list[str]] = {policy: [] for policy in POLICY}
    others = []
    for name, group in seen.groups.items():
        side = whole.sides.get(name)
        if side is None or not group.firm or group.decision not in sure:
            others.append(name)
        else:
            surely = percent(min(max(side, 1.0 - side), 1.0 - 1e-12))
            sure[group.decision].append(f"{name} ({surely} sure)")
    if not any(sure.values()):
        return None
    parts = [
        f"{words} at {join_words(sure[policy], most=6)}"
        for policy, words in (("threshold-1", "finish in state 1"), ("threshold-0", "never finish"))
        if sure[policy]
    ]
    told = f"Decide by group: {', '.join(parts)}"
    if others:
        told += f"; {join_words(others, most=6)} {'is' if len(others) == 1 else 'are'} open"
    return Decision(
        decision="by-group",
        reason=differ,
        sentence=f"{told}. {begin(differ)}, and no one policy is surely right for all.",
        firm=all(sure.values()),
        probabilities=(1.0 - one, one),
        way="standardized",
    )


def _decide_by_state(seen: Evidence, threshold: int | None) -> Decision | None:
    """Decide state by state where states surely differ and no threshold is right."""
    chain, differ = seen.chain, seen.states_differ
    if chain is None or not differ:
        return None
    support = seen.support
    neither = 1.0 - sum(chain.threshold)
    surely, belied = neither >= seen.level, seen.chain_is_belied
    against = threshold is not None and disagrees(support, threshold)
    # Where p_F differs between states, what is right in state 1 says nothing of those above it.
    open_above = seen.in_state_1 and max(support[UNDECIDED], default=1) > 1
    if not against and (belied or not (surely or open_above)):
        return None
    told = f"Decide state by state: {say_support(support)}. {begin(differ)}"
    if surely:
        # Draws that all agree make it no certainty.
        told += f", and the records are {percent(min(neither, 1.0 - 1e-12))} sure that neither"
        told += " threshold is right"
    if belied:
        told += ", but what became of the cases that continued in state 1 is not what follows from"
        told += " the chances of the states"
    return Decision(
        decision="by-state",
        reason=differ,
        sentence=f"{told}.",
        firm=surely and not belied,
        probabilities=chain.threshold,
        way="general",
    )


def _decide_nothing(seen: Evidence, reason: str, doubts: list[Doubt]) -> Decision:
    """Say why there is no decision, and from which p_F on finishing would pay."""
    told = [
        f"The records do not say whether to finish in state 1: {reason}.",
        _say_break_even(seen),
    ]
    return _with_doubts(
        Decision(
            decision="none",
            reason=reason,
            sentence=" ".join(filter(None, told)),
            way=seen.stand[0],
        ),
        doubts,
    )


def _decide_tie(seen: Evidence, ground: Ground, doubts: list[Doubt]) -> Decision:
    """Say that both actions are equally good so far."""
    reason = "finishing and continuing are equally good there so far"
    told = f"The records do not say whether to finish in state 1: {reason}."
    return _with_doubts(
        Decision(
            decision="none",
            reason=reason,
            sentence=f"{told} {_say_numbers(seen, [ground])}",
            way=ground.name,
        ),
        doubts,
    )


def _describe_disagreement(grounds: list[Ground]) -> str:
    """Say that the ways to value state 1 lead to different decisions."""
    values = say_values([(ground.name, ground.value) for ground in grounds])
    return f"continuing there reaches the goal in {values}, and p_F lies between"


def _say_break_even(seen: Evidence) -> str:
    """Say from which p_F on finishing pays off, by the ways that stand."""
    values = {name: way for name in seen.stand if (way := seen.ways[name]) is not None}
    if not values:
        return ""
    if "boundary" in values:
        even = values["boundary"]
        return (
            f"Finishing there pays off if p_F is at least {even.estimate:.3g}"
            f" ({100.0 * seen.level:g} % interval {even.low:.3g} to {even.high:.3g})."
        )
    shares = [f"{share_text(way)} {WAYS[name]}" for name, way in values.items()]
    where = f"between {' and '.join(shares)}" if len(shares) > 1 else f"of {shares[0]}"
    return (
        f"Finishing there pays off from a p_F {where} on ({100.0 * seen.level:g} % intervals in"
        f" brackets); {say_rejected(seen)}"
    )


# The sentence.


def _sentence(
    seen: Evidence, grounds: list[Ground], decision: str, sure: float, against: list[str]
) -> str:
    """Say what the records speak for, how sure that is, and what would settle it."""
    numbers = _say_numbers(seen, grounds)
    # No records make it certain, whatever rounding made of the probability.
    policy, surely = POLICY[decision], percent(min(sure, 1.0 - 1e-12))
    doubt = f"But {_lower(against[0])}" if against else ""
    if sure < seen.level:
        lead = f"The records lean towards one policy ({policy}), but are only {surely} sure."
        parts = [lead, numbers, say_need(_find_need(seen, _least_sure(grounds))), doubt]
    elif doubt:
        lead = f"The records speak for one policy ({policy}), and would be {surely} sure of it."
        parts = [lead, doubt, numbers]
    else:
        parts = [f"{policy.capitalize()}: the records are {surely} sure of it.", numbers]
    return " ".join(part for part in parts if part)


def _lower(sentence: str) -> str:
    """Let a sentence go on after a word; names keep their letters."""
    first = sentence.split(maxsplit=1)[0]
    return sentence if first.isupper() or "_" in first else sentence[0].lower() + sentence[1:]


def _say_numbers(seen: Evidence, grounds: list[Ground]) -> str:
    """Say how often FINISH and continuing reach the goal, by what the decision rests on."""
    first, tries = grounds[0], seen.p_f.tries
    brackets = f"({100.0 * seen.level:g} % intervals in brackets)"
    if first.name == "standardized":
        return (
            f"Standardised over the groups, FINISH reaches the goal in {share_text(first.p_f)},"
            f" and continuing from state 1 in {share_text(first.value)} of cases {brackets}."
        )
    where = " in state 1" if seen.in_state_1 else ""
    told = (
        f"FINISH reached the goal in {share_text(first.p_f)} of {tries:,}"
        f" {'try' if tries == 1 else 'tries'}{where}, and continuing from state 1 reaches it in"
    )
    if first.name == "boundary":
        return f"{told} {share_text(first.value)} of cases {brackets}."
    values = [(one.name, one.value) for one in grounds if one.name != "standardized"]
    rejected = say_rejected(seen)
    return f"{told} {say_values(values)} {brackets}; {rejected}"


def _find_need(seen: Evidence, ground: Ground) -> Need:
    """Find how many more records would settle it, if the estimates stay as they are."""
    z = NormalDist().inv_cdf(0.5 + 0.5 * seen.level)
    if ground.name == "standardized":
        spread = (ground.difference.high - ground.difference.low) / (2.0 * z)
        wanted = ground.difference.estimate / NormalDist().inv_cdf(seen.level)
        return Need(None, (spread / wanted) ** 2 if wanted else float("inf"))
    if ground.name == "boundary":
        variance = boundary_variance(seen.goal, seen.p_c)
    else:
        variance = ((ground.value.high - ground.value.low) / (2.0 * z)) ** 2
    return find_need(seen.p_f, ground.value.estimate, variance, seen.level)
