"""The words for what a fit says: of decisions, reasons, objections, ways and states.

Nothing is decided here, and nothing elsewhere is decided by these words.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from grbp._format import begin, format_interval, format_level, go_on, join_words, percent
from grbp.fitting.decide import Judgement, Need
from grbp.fitting.evidence import (
    CONTINUE,
    FINISH,
    UNDECIDED,
    UNKNOWN,
    Decision,
    Evidence,
    Ground,
    Support,
)
from grbp.fitting.objections import Objection, values_of
from grbp.theory.posterior import Estimate
from grbp.worlds.labels import Labels

_MOST_NAMES: Final = 6
"""Groups that are named; of more it is said how many there are."""

_MOST_TIMES: Final = 100
"""Beyond so many times the records, it is not said how many would settle it."""

POLICY: Final = {
    "threshold-0": "never finish",
    "threshold-1": "finish in state 1, one step from the dead end, and continue everywhere else",
}

SHORTLY: Final = {
    "threshold-1": "finish in state 1",
    "threshold-0": "never finish",
    "by-state": "it depends on the state",
    "by-group": "it depends on the group",
    "none": "no decision",
}
"""Every decision in a few words."""


WAYS: Final = {
    "boundary": "by one p_C for all states",
    "general": "state by state",
    "direct": "as observed",
    "standardized": "standardised over the groups",
}
"""The ways to value continuing in state 1, in a sentence."""

ROWS: Final = WAYS | {"boundary": "by p_C: B(p_C)"}
"""The same in the rows of the printed text."""

DIFFERENCES: Final = {
    "boundary": "p_F - B(p_C), which decides",
    "general": "p_F less that state by state",
    "direct": "p_F less that as observed",
    "standardized": "p_F less that, over the groups",
}
"""What the difference is that the answer rests on."""

ON_PAGES: Final = {
    "boundary": "if all states have the same chances",
    "general": "if each state has its own chances",
    "direct": "counted directly: cases that stood in state 1 and continued from there",
}
"""The ways on a page; a figure has less room."""

IN_FIGURES: Final = ON_PAGES | {"direct": "counted: cases that went on in {one}"}

RESTS_ON: Final = {
    "boundary": "It holds if all states have the same chances.",
    "general": "It uses the chances of each state.",
    "direct": "It is counted from the cases that went on there.",
    "standardized": "It is standardised over the groups.",
}
"""On what a value of continuing rests."""

LACKING: Final = {
    "moves": "CONTINUE never moved by one state",
    "goals": "no case reached the goal",
    "ups": "CONTINUE never moved up",
    "downs": "CONTINUE never moved down",
    "finishes": "FINISH was never tried",
}
"""What records may lack for a decision."""

SUPPORT: Final = "State by state, the records support: {support}."

OBJECTIONS: Final = {
    "model": (
        "Continuing from state 1 reaches the goal in {values}, and the model in which p_C is the"
        " same in all states says {even}, and these records speak against it."
    ),
    "prior": (
        "The two shares by themselves do not point that way: it is the prior, what was assumed"
        " before any record, that does."
    ),
    "states": SUPPORT,
    "small group": (
        "The group has few cases: beside what the other groups say, that is only {probability}"
        " probable."
    ),
    "groups": (
        "{differing} between groups, and the policy is expected to be right in groups with {share}"
        " of the cases that stood in state 1."
    ),
    "uncovered": (
        "Who finishes depends on the group: in {groups}, with {share} of the cases that stood in"
        " state 1, one of the two actions was never tried there, so that nothing is compared in"
        " them."
    ),
    "pooled": (
        "Who finishes depends on the group, so that the shares over all cases compare different"
        " groups: standardised over them, FINISH reaches the goal {standardized} often than"
        " continuing from state 1, and over all cases {pooled} often."
    ),
    "assumption": "{broken}, which the model rules out; without that, the answer differs.",
    "untried": (
        "{actions} never tried in state 1, so that the answer rests on what other states suggest."
    ),
    "differing states": "{differing} between states; the model assumes the same in all states.",
}
"""What may speak against an answer, by the code of an objection."""


def write_decision(seen: Evidence, judgement: Judgement) -> Decision:
    """Write a decision, the reason why it is no threshold, and what speaks against it."""
    reason: str | None = None
    if judgement.sides is not None:
        reason = f"{_say_differing(seen.differing('groups'))} between groups"
        sentence = _write_by_group(judgement, reason)
    elif judgement.decision == "by-state":
        reason = f"{_say_differing(seen.differing('states'))} between states"
        sentence = _write_by_state(seen, judgement, reason)
    elif judgement.decision == "none":
        reason = _write_reason(judgement)
        sentence = f"The records do not say whether to finish in state 1: {reason}."
        tie = judgement.reason == "tie"
        more = _say_numbers(seen, judgement.grounds) if tie else _say_break_even(seen)
        sentence = f"{sentence} {more}".rstrip()
    else:
        sentence = _write_threshold(seen, judgement)
    return Decision(
        decision=judgement.decision,
        reason=reason,
        sentence=sentence,
        firm=judgement.firm,
        probabilities=judgement.probabilities,
        doubts=tuple(map(write_objection, judgement.objections)),
        way=judgement.way,
    )


def _write_threshold(seen: Evidence, judgement: Judgement) -> str:
    """Say what the records speak for, how sure that is, and what would settle it."""
    numbers, policy = _say_numbers(seen, judgement.grounds), POLICY[judgement.decision]
    surely = say_sure(max(judgement.probabilities or (0.0,)))
    grave = next((write_objection(one) for one in judgement.objections if one.grave), "")
    doubt = f"But {go_on(grave)}" if grave else ""
    if judgement.need is not None:
        lead = f"The records lean towards one policy ({policy}), but are only {surely} sure."
        parts = [lead, numbers, say_need(judgement.need), doubt]
    elif doubt:
        lead = f"The records speak for one policy ({policy}), and would be {surely} sure of it."
        parts = [lead, doubt, numbers]
    else:
        parts = [f"{policy.capitalize()}: the records are {surely} sure of it.", numbers]
    return " ".join(filter(None, parts))


def _write_by_group(judgement: Judgement, differing: str) -> str:
    """Say which groups are sure of which policy."""
    finish, never, undecided = judgement.sides or ({}, {}, [])
    parts = [
        f"{SHORTLY[policy]} at "
        + _join_names([f"{name} ({say_sure(chance)} sure)" for name, chance in sides.items()])
        for policy, sides in (("threshold-1", finish), ("threshold-0", never))
        if sides
    ]
    told = f"Decide by group: {', '.join(parts)}"
    if undecided:
        told += f"; {_join_names(undecided)} {'is' if len(undecided) == 1 else 'are'} open"
    return f"{told}. {begin(differing)}, and no one policy is surely right for all."


def _write_by_state(seen: Evidence, judgement: Judgement, differing: str) -> str:
    """Say which action is right in which state."""
    told = f"Decide state by state: {say_support(seen.support)}. {begin(differing)}"
    if judgement.neither >= seen.level:
        told += f", and the records are {say_sure(judgement.neither)} sure that neither"
        told += " threshold is right"
    if seen.chain_is_belied:
        told += ", but what became of the cases that continued in state 1 is not what follows from"
        told += " the chances of the states"
    return f"{told}."


def _write_reason(judgement: Judgement) -> str:
    """Say why there is no decision."""
    if judgement.reason == "tie":
        return "finishing and continuing are equally good there so far"
    if judgement.reason == "disagreement":
        values = say_values({ground.name: ground.value for ground in judgement.grounds})
        return f"continuing there reaches the goal in {values}, and p_F lies between"
    return LACKING[judgement.reason]


def _say_break_even(seen: Evidence) -> str:
    """Say from which p_F on finishing pays off, by the ways that can be trusted."""
    values, level = values_of(seen), format_level(seen.level, 6)
    if not values:
        return ""
    if "boundary" in values:
        even = values["boundary"]
        return (
            f"Finishing there pays off if p_F is at least {even.estimate:.3g}"
            f" ({level} interval {even.low:.3g} to {even.high:.3g})."
        )
    shares = [f"{say_share(way)} {WAYS[name]}" for name, way in values.items()]
    where = f"between {' and '.join(shares)}" if len(shares) > 1 else f"of {shares[0]}"
    return (
        f"Finishing there pays off from a p_F {where} on ({level} intervals in brackets);"
        f" {_say_rejected(seen)}"
    )


def _say_numbers(seen: Evidence, grounds: Sequence[Ground]) -> str:
    """Say how often FINISH and continuing reach the goal, by what the decision rests on."""
    first, tries = grounds[0], seen.p_f.tries
    brackets = f"({format_level(seen.level, 6)} intervals in brackets)"
    if first.name == "standardized":
        return (
            f"Standardised over the groups, FINISH reaches the goal in {say_share(first.p_f)},"
            f" and continuing from state 1 in {say_share(first.value)} of cases {brackets}."
        )
    where = " in state 1" if seen.in_state_1 else ""
    told = (
        f"FINISH reached the goal in {say_share(first.p_f)} of {tries:,}"
        f" {'try' if tries == 1 else 'tries'}{where}, and continuing from state 1 reaches it in"
    )
    if first.name == "boundary":
        return f"{told} {say_share(first.value)} of cases {brackets}."
    values = {one.name: one.value for one in grounds if one.name != "standardized"}
    return f"{told} {say_values(values)} {brackets}; {_say_rejected(seen)}"


def _say_rejected(seen: Evidence) -> str:
    """Say what the model claims that the records speak against."""
    even = seen.ways["boundary"]
    if even is None:
        return ""
    return (
        f"the model in which p_C is the same in all states says {percent(even.estimate)}, and these"
        " records speak against it."
    )


def say_need(need: Need) -> str:
    """Say in a sentence what would settle it."""
    if need.tries is not None:
        # In two digits, rounded up.
        unit = int(10 ** max(0, math.floor(math.log10(need.tries)) - 1))
        more = f"{math.ceil(need.tries / unit) * unit:,} more tries of FINISH"
    elif need.times > _MOST_TIMES:
        return f"It would take over {_MOST_TIMES} times as many records to settle it."
    else:
        more = f"{max(2, math.ceil(need.times))} times as many records"
    return f"About {more} would settle it, if the estimates stay as they are."


# Parts of sentences.


def write_objection(objection: Objection) -> str:
    """Say what speaks against an answer."""
    facts = {name: _FACTS[name](fact) for name, fact in objection.facts.items()}
    return OBJECTIONS[objection.code].format(**facts)


def say_sure(probability: float) -> str:
    """Write how sure something is; no records make it certain, whatever rounding made of it."""
    return percent(min(probability, 1.0 - 1e-12))


def say_share(share: Estimate) -> str:
    """Write an estimated share with its interval, in the letters of any terminal."""
    return format_interval(*share).replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")


def say_values(values: Mapping[str, Estimate]) -> str:
    """Write values of continuing in state 1, each with its way."""
    (name, first), *others = values.items()
    told = [f"{say_share(first)} of cases {WAYS[name]}"]
    told += [f"in {say_share(way)} {WAYS[other]}" for other, way in others]
    return " and ".join(told)


def _say_differing(chances: Sequence[str]) -> str:
    """Say that p_C or p_F differs, or that both do."""
    return f"{' and '.join(chances)} {'differ' if len(chances) > 1 else 'differs'}"


def _say_more(difference: Estimate) -> str:
    """Say by how much one share is more or less than another."""
    points = f"{100.0 * abs(difference.estimate):.1f} points"
    return f"{points} {'more' if difference.estimate >= 0.0 else 'less'}"


def _join_names(names: Sequence[str]) -> str:
    return join_words(names, most=_MOST_NAMES)


def say_support(support: Support) -> str:
    """Write which actions are supported where: "finish in 5, continue in 1 to 4"."""
    parts = [
        f"{name} in {write_states(support[name])}" for name in (FINISH, CONTINUE) if support[name]
    ]
    told = ", ".join(parts) or "neither action surely in any state"
    if support[UNDECIDED]:
        told += f"; undecided in {write_states(support[UNDECIDED])}"
    if support[UNKNOWN]:
        told += f"; in {write_states(support[UNKNOWN])} one of the two was never tried"
    return told


def say_support_in(labels: Labels, support: Support) -> str:
    """Say the same on a page, in the words of a table."""
    go, end = labels.actions
    leads = {FINISH: f"{end} in ", CONTINUE: f"{go} in ", UNDECIDED: "no sure answer in "}
    parts = [
        lead + list_states(support[kind], labels) for kind, lead in leads.items() if support[kind]
    ]
    if support[UNKNOWN]:
        where = list_states(support[UNKNOWN], labels)
        parts.append(f"nothing in {where}, where one of the two was never tried")
    return "; ".join(parts)


def list_states(states: Sequence[int], labels: Labels) -> str:
    """Write states in few words: "state 1", "states 1 to 4 and 7", "severe (1) and mild (2)"."""
    if any(labels.states):
        return write_states(states, labels.state)
    return f"state{'s' if len(states) > 1 else ''} {write_states(states)}"


def write_states(states: Sequence[int], name: Callable[[int], str] = str) -> str:
    """Write states in few words: "1 to 4", "1, 3 and 5", "1 to 3 and 7"."""
    runs: list[list[int]] = []
    for state in states:
        if runs and state == runs[-1][-1] + 1:
            runs[-1].append(state)
        else:
            runs.append([state])
    words: list[str] = []
    for run in runs:
        ends = f"{name(run[0])} to {name(run[-1])}"
        words += [ends] if len(run) > 2 else map(name, run)
    return join_words(words, most=_MOST_NAMES)


_FACTS: Final[Mapping[str, Callable[[Any], str]]] = {
    "values": say_values,
    "even": lambda even: percent(even.estimate),
    "support": say_support,
    "probability": percent,
    "share": percent,
    "differing": _say_differing,
    "groups": _join_names,
    "standardized": _say_more,
    "pooled": _say_more,
    "broken": begin,
    "actions": lambda actions: f"{' and '.join(actions)} {'were' if actions[1:] else 'was'}",
}
"""How the facts of objections are written."""
