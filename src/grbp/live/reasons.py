"""Why an action is advised: what was seen of it, its ground as a value, and both in words."""

import textwrap
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple

from grbp._format import begin, format_share, format_span, percent
from grbp.theory.posterior import Estimate
from grbp.worlds.labels import NO_WORDS, Labels
from grbp.worlds.transition import Action

if TYPE_CHECKING:
    from grbp.live.advice import AnyBasis
    from grbp.live.basis import Basis


class Ground(Enum):
    """Why an action is advised: the first of these that is so."""

    FIRST_TRY = auto()
    """Nothing is known about it, and nothing is awaited."""
    AWAITED = auto()
    """Nothing is known about it, and its first outcome is awaited."""
    TO_LEARN = auto()
    """The learner's own means call the other action better."""
    NEVER_ABOVE = auto()
    """In this model, FINISH is better in state 1 or nowhere."""
    NOT_COMPARABLE = auto()
    """Nothing is known about the other action."""
    BETTER = auto()
    """It is estimated to reach the goal more often."""
    TOO_CLOSE = auto()
    """It is estimated to do so less often, by less than the learner can tell."""


class Seen(NamedTuple):
    """What was seen of an action before a case, and what it is worth in the state of the case."""

    tries: int
    good: int
    pending: int
    share: Estimate
    worth: Estimate


def see(basis: "AnyBasis", action: Action) -> Seen:
    """Return what was seen of an action."""
    if action == Action.FINISH:
        return Seen(basis.f, basis.f_goal, basis.pending, basis.p_f, basis.p_f)
    return Seen(basis.c, basis.c_up, 0, basis.p_c, basis.value_continue)


def find_ground(basis: "AnyBasis") -> Ground:
    """Return the ground of the action that is advised."""
    ours, theirs = see(basis, basis.action), see(basis, Action(1 - basis.action))
    if not ours.tries:
        return Ground.AWAITED if ours.pending else Ground.FIRST_TRY
    if basis.forced:
        return Ground.TO_LEARN
    if basis.state > 1 and not basis.by_state:
        return Ground.NEVER_ABOVE
    if not theirs.tries:
        return Ground.NOT_COMPARABLE
    better = ours.worth.estimate >= theirs.worth.estimate
    return Ground.BETTER if better else Ground.TOO_CLOSE


_WIDTH: Final = 80

STATES: Final = {
    "one": "the same chances in every state",
    "state": "each state has its own chances",
    "averaged": "the study finds out whether states differ",
}
"""How the states are, by model: what a form asks."""

GRANTED: Final = {
    model: how if model == "one" else f"nothing about states, as {how}"
    for model, how in STATES.items()
}
"""What each model takes for granted."""

_COMPARED: Final = (
    "From here, {one} is estimated to reach {goal} in {ours}, and {other} in {theirs}"
)

GROUNDS: Final = {
    Ground.FIRST_TRY: "Nothing is known about {one}{here} yet: somebody has to be the first.",
    Ground.AWAITED: "Nothing is known about {one}{here} yet: its first outcome is still awaited.",
    Ground.TO_LEARN: "This is to learn: by what the study counts so far, {other} is better here.",
    Ground.NEVER_ABOVE: (
        "Above {doorstep}, {finish} is never better, if the chances are the same in every state."
    ),
    Ground.NOT_COMPARABLE: (
        "Nothing is known about {other}{here} yet, so the two cannot be compared."
    ),
    Ground.BETTER: f"{_COMPARED}.",
    Ground.TOO_CLOSE: f"{_COMPARED}, which is too close to tell them apart.",
}
"""Why an action is advised, in a sentence."""


def name_goal(goal: int, labels: Labels) -> str:
    """Name the goal, by its word if it has one."""
    return labels.state(goal) if labels.states else "the goal"


def explain_advice(
    basis: "AnyBasis", labels: Labels = NO_WORDS, ground: Ground | None = None
) -> str:
    """Say in a sentence why an action is advised, or what another ground says of it."""
    action, other = basis.action, Action(1 - basis.action)
    return GROUNDS[ground or basis.ground].format(
        one=labels.doing(action),
        other=labels.doing(other),
        finish=labels.doing(Action.FINISH),
        doorstep=labels.state(1),
        goal=name_goal(basis.goal, labels),
        here=say_where(basis, labels),
        ours=format_share(see(basis, action).worth.estimate),
        theirs=format_share(see(basis, other).worth.estimate),
    )


def say_where(basis: "AnyBasis", labels: Labels) -> str:
    """Say in which state something was seen, where chances differ by state."""
    return f" in {labels.state(basis.state)}" if basis.by_state else ""


def list_reasons(basis: "AnyBasis", labels: Labels = NO_WORDS) -> list[str]:
    """Say all reasons in plain sentences, the most important first."""
    said = [f"{begin(labels.doing(basis.action))} is advised in {labels.state(basis.state)}."]
    if basis.ground in (Ground.FIRST_TRY, Ground.AWAITED, Ground.TO_LEARN):
        said.append(explain_advice(basis, labels))
    said.append(_say_tries(basis, labels))
    if basis.by_state:
        return [*said, _say_worth_by_state(basis, labels)]
    return [*said, *_compare(basis, labels)]


def _say_tries(basis: "AnyBasis", labels: Labels) -> str:
    """Say how often both actions were tried before the case, and what came of them."""
    before = f"Before this {labels.case[0]},{say_where(basis, labels)}"
    if not (basis.by_state or basis.f or basis.c or basis.pending):
        return f"{before} neither was tried."
    finish, go_on = (_say_tries_of(action, basis, labels) for action in reversed(Action))
    older = "" if basis.memory is None else f" Older {labels.case[1]} count in part."
    return f"{before}{':' if basis.by_state else ''} {finish}; {go_on}.{older}"


def _say_tries_of(action: Action, basis: "AnyBasis", labels: Labels) -> str:
    """Say how often an action was tried, how often it was good, and what is awaited."""
    doing, seen = labels.doing(action), see(basis, action)
    n = seen.pending
    if not seen.tries:
        return f"no outcome of {doing} was known yet" if n else f"{doing} was never tried"
    did = f"reached {name_goal(basis.goal, labels)}" if action == Action.FINISH else "moved up"
    if basis.by_state:
        did += f" in {format_estimate(seen.share)}"
    else:
        did = f"{did} {count_times(seen.good)}" if seen.good else f"never {did}"
    waits = f" ({n:,} more {'is' if n == 1 else 'are'} awaited)" if n else ""
    return f"{doing} was tried {count_times(seen.tries)} and {did}{waits}"


def count_times(number: int) -> str:
    """Write how often something happened."""
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _compare(basis: "Basis", labels: Labels) -> list[str]:
    """Say which action is better, where chances are the same in every state."""
    said = ["So the two cannot be compared yet."]
    if basis.f and basis.c:
        one, other = labels.doing(Action.FINISH), labels.doing(Action.CONTINUE)
        ours, theirs = map(format_estimate, (basis.p_f, basis.value_continue))
        goal = name_goal(basis.goal, labels)
        said = [f"{_COMPARED}.".format(one=one, other=other, goal=goal, ours=ours, theirs=theirs)]
    if basis.state > 1:
        return [*said, explain_advice(basis, labels, Ground.NEVER_ABOVE)]
    if basis.side is not None:
        sure = "and the intervals leave no doubt" if basis.settled else "but the intervals allow"
        either = "" if basis.settled else " for either"
        said.append(f"By that, {labels.doing(basis.side)} is better here, {sure}{either}.")
    if basis.other_better is not None:
        said.append(say_other_better(basis.action, basis.other_better, labels))
    return said


def say_other_better(action: Action, probability: float, labels: Labels) -> str:
    """Say how probable it is that the other action is better."""
    other = labels.doing(Action(1 - action))
    return f"The probability that {other} is better here is {format_sure(probability)}."


def _say_worth_by_state(basis: "AnyBasis", labels: Labels) -> str:
    """Say where CONTINUE leads, where chances differ by state."""
    go_on = labels.doing(Action.CONTINUE)
    if not basis.c:
        return f"Where {go_on} leads from here cannot be estimated yet."
    return (
        f"{begin(go_on)} here, and then what is best as far as it was seen, is estimated to reach"
        f" {name_goal(basis.goal, labels)} in {format_estimate(basis.value_continue)}."
    )


def list_details(basis: "AnyBasis") -> list[str]:
    """Say what statisticians want to know."""
    learner = f"The learner {basis.learner} (grbp {basis.version})"
    if basis.by_state:
        return [f"{learner} takes for granted {GRANTED[basis.model]}.", *say_how_sure(basis)]
    said = [f"{learner} chose threshold {basis.threshold:,} of {basis.goal - 1:,}."]
    if basis.drawn is not None:
        said.append(say_drawn(*basis.drawn))
    said.append("FINISH is right in state 1 where p_F is B(p_C) or more.")
    if basis.c:
        even = format_estimate(basis.boundary)
        said.append(f"B(p_C) is estimated at {even}, {_say_side(basis)}.")
    return said + say_how_sure(basis)


def say_drawn(p_c: float, p_f: float) -> str:
    """Say which first estimates the learner counts beside what was observed."""
    return (
        "The learner also counts one try of each action that was drawn before the first case, with"
        f" p_C = {p_c:.2f} and p_F = {p_f:.2f}."
    )


def _say_side(basis: "Basis") -> str:
    """Say where the estimate stands relative to the boundary."""
    if basis.side is None:
        return "so that nobody can say yet on which side p_F is"
    also = ", also by the intervals" if basis.settled else "; the intervals allow for either"
    return f"so that p_F is on the side of {basis.side.name}{also}"


def say_how_sure(basis: "AnyBasis") -> list[str]:
    """Say with which probability the intervals hold, if there is something to hold."""
    if basis.memory is not None:
        return ["Intervals hold as far as the chances did not change."]
    if not (basis.f or basis.c):
        return []
    return [
        "All intervals hold together, after every case, with probability"
        f" {100.0 * basis.level:.6g} %."
    ]


def summarize(basis: "AnyBasis") -> str:
    """Say the reasons for everybody, and then those for statisticians, at 80 columns."""
    reasons, details = fill_lines(list_reasons(basis)), fill_lines(list_details(basis))
    return f"{reasons}\n\nFor statisticians:\n{details}"


def fill_lines(sentences: list[str]) -> str:
    """Return sentences in lines of 80 columns."""
    text = " ".join(sentences).replace(" %", "\xa0%")  # No line begins with a sign.
    return textwrap.fill(text, _WIDTH).replace("\xa0", " ")


def format_estimate(one: Estimate) -> str:
    """Write an estimated probability with its interval, in percent."""
    return f"{format_share(one.estimate)} ({format_span(one.low, one.high)})"


def format_sure(probability: float) -> str:
    """Write a posterior probability in percent; it is computed to 12 digits, and is not 0 or 1."""
    return percent(min(max(probability, 1e-12), 1.0 - 1e-12))
