"""What pages say about a study, in its own words: how sure it is, why, and what a bound says."""

import math
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import quote

from grbp._format import percent, plural
from grbp.errors import GrbpError
from grbp.live.advice import AnyBasis, Status
from grbp.live.basis import describe_first_try
from grbp.live.config import Config
from grbp.live.narration import TAKEN_BACK, EventLine
from grbp.live.schema import loads
from grbp.live.state_basis import StateBasis
from grbp.model.labels import ACTIONS, CASE, Labels, join_words
from grbp.model.problem import Problem
from grbp.model.transition import Action
from grbp.theory.bounds import getbe_bound, regret_floor
from grbp.theory.posterior import Estimate


def name_ends(words: Labels, goal: int) -> dict[str, str]:
    """Name how a case can stand; its ends are called as the study calls them."""
    won, lost = ("won", "lost") if not words.states else (words.state(goal), words.state(0))
    return {"open": "in progress", "won": won, "lost": lost, "closed": "withdrawn"}


def format_share(one: Estimate) -> str:
    """Write an estimated chance in percent."""
    return "unknown" if math.isnan(one.estimate) else percent(one.estimate)


def format_interval(one: Estimate) -> str:
    """Write an interval in percent."""
    low, high = (f"{100.0 * end:.1f}".replace("-", "\N{MINUS SIGN}") for end in (one.low, one.high))
    return f"{low} to {high}\xa0%"


def describe_certainty(status: Status, words: Labels) -> str:
    """Say in a sentence or two how sure a study is about what to do in state 1."""
    basis, place = status.basis, words.state(1)
    if basis.side is None:
        tries = (("continue", basis.c), ("finish", basis.f))
        missing = join_words(words.doing(action) for action, number in tries if not number)
        have = "has" if basis.c or basis.f else "have"
        return f"Nothing can be said yet: {missing} {have} not been tried so far."
    side, better = words.doing(basis.side), basis.other_better
    sure = ""
    if better is not None:
        right = 1.0 - better if basis.action == basis.side else better
        inside = min(max(right, 1e-12), 1.0 - 1e-12)
        sure = f" The probability that this is right is {percent(inside)}."
    if basis.settled:
        return f"It is settled: in {place}, {side} is better.{sure}"
    return f"In {place}, {side} seems better, but that is not certain yet.{sure}"


def explain_advice(basis: AnyBasis, words: Labels, goal: str) -> str:
    """Say in a sentence or two why an action is advised; `goal` names the goal."""
    action, other = words.doing(basis.action), words.doing(Action(1 - basis.action))
    finish = basis.action == Action.FINISH
    others = basis.c if finish else basis.f
    if first := describe_first_try(basis, words):
        return first
    if basis.forced:
        return (
            f"This is done to learn. By what is known, {other} looks better here, and only a try"
            " can show whether that is wrong."
        )
    if basis.state > 1 and not isinstance(basis, StateBasis):
        return f"Above {words.state(1)}, {words.doing('finish')} is never better."
    if not others:
        here = "here " if isinstance(basis, StateBasis) else ""
        return f"Nothing is known about {other} {here}yet, so the two cannot be compared."
    ours, theirs = (
        (basis.p_f, basis.value_continue) if finish else (basis.value_continue, basis.p_f)
    )
    close = "" if ours.estimate >= theirs.estimate else ", which is too close to tell them apart"
    return (
        f"By what is known, {action} leads to {goal} in {format_share(ours)}, and {other} in"
        f" {format_share(theirs)}{close}."
    )


class Reason(NamedTuple):
    """What was advised at a step of a case, what was done, and why it was advised."""

    step: int
    state: int
    advised: str
    took: str
    basis: AnyBasis
    why: str


def explain_steps(
    lines: Iterable[EventLine], words: Labels, goal: str, find: Callable[[int], AnyBasis | None]
) -> list[Reason]:
    """Say why each step that stands was advised; nothing in shadow mode, where none has a basis."""
    reasons = []
    for line in lines:
        if line.event.kind != "tell" or TAKEN_BACK in line.notes:
            continue
        with suppress(LookupError, TypeError, ValueError):  # A damaged entry is said to be so.
            told = loads(line.event.response)
            state, advised, took = told["from"], told["advised"], told["took"]
            if basis := find(state):
                why = explain_advice(basis, words, goal)
                reasons.append(Reason(line.event.step or 0, state, advised, took, basis, why))
    return reasons


_GRANTED: Final = {
    "one": "The same chances in every state",
    "state": "Nothing about states: each state has its own chances",
    "averaged": "Nothing about states: the study finds out whether they differ",
}
_LEARNS: Final = {
    "state": "each state on its own",
    "averaged": "finds out whether states differ",
}
_BY_STATE: Final = (
    "differs from state to state",
    "The advice can be wrong in some states. A new study in which each state has its own chances"
    " would fit better.",
)
_OVER_TIME: Final = (
    "changes over time",
    "Old {cases} mislead. A new study in which they count less would follow the change.",
)
_SUSPECTED: Final = {
    "p_C by state": ("The chance that {go_on} moves up", *_BY_STATE),
    "p_C over time": ("The chance that {go_on} moves up", *_OVER_TIME),
    "p_F by state": ("The chance that {finish} leads to the goal", *_BY_STATE),
    "p_F over time": ("The chance that {finish} leads to the goal", *_OVER_TIME),
    "groups": (
        "The chances",
        "differ from group to group",
        "The advice can be wrong in some groups. A new study with these groups would learn each on"
        " its own.",
    ),
}
MODEL_WORDS: Final = {
    "one": "The same chances in every state",
    "state": "Each state has its own chances",
    "averaged": "Not sure: let the study find out",
}
"""What a form asks about the states of the cases, by model."""


def describe_granted(status: Status, words: Labels) -> list[str]:
    """Say what the advice of a study takes for granted: about states, groups and time."""
    cases, said = words.case[1], [_GRANTED[status.model]]
    if status.groups:
        said.append("Nothing about groups: each group has its own chances")
    if status.memory is None:
        said.append("Chances that do not change over time")
    elif isinstance(status.memory, str):
        said.append(f"Nothing about time: old {cases} count less if the chances change")
    else:
        said.append(f"Little about time: about the last {status.memory:,.6g} {cases} count most")
    return said


def describe_learner(status: Status) -> str:
    """Name the learner of a study, or say in words how one by state learns, or one that forgets."""
    said = _LEARNS.get(status.model) or re.sub("[:,]memory=[^,]*", "", status.learner)
    return said if status.memory is None else f"{said}, old cases count less"


def describe_alarms(status: Status, words: Labels) -> list[tuple[str, int | None, str, bool]]:
    """Say what the cases of a study show, since which case, what follows, and if it is allowed for.

    What speaks against the advice comes first.
    """
    against = status.against
    meant = {"go_on": words.doing("continue"), "finish": words.doing("finish")}
    meant["cases"] = words.case[1]
    found = []
    for alarm in sorted(status.alarms or (), key=lambda one: one not in against):
        subject, differs, follows = _SUSPECTED[alarm.name]
        speaks = alarm in against
        told = follows.format(**meant) if speaks else "The advice allows for that."
        found.append((f"{subject} {differs}".format(**meant), alarm.case, told, speaks))
    return found


def link_explorer(status: Status) -> str:
    """Return the address of the explorer with a study's words and, where known, its estimates."""
    labels, basis = status.labels, status.basis
    parts = {"G": str(status.goal)}
    if basis is not None and basis.side is not None:
        parts |= {"pC": f"{basis.p_c.estimate:.4g}", "pF": f"{basis.p_f.estimate:.4g}"}
    if labels.states:
        parts["states"] = ",".join(quote(word, "") for word in labels.states)
    if labels.actions != ACTIONS:
        parts["actions"] = ",".join(quote(word, "") for word in labels.actions)
    if labels.case != CASE:
        parts["case"] = quote(labels.case[0], "")
    return "/explore#" + "&".join(f"{name}={value}" for name, value in parts.items())


def describe_regret(config: Config, status: Status) -> list[str]:
    """Say what is known about the wins that learning costs, or that nothing is known."""
    basis, rounds = status.basis, status.cases["opened"]
    if status.shadow:
        return ["No regret bound applies: nobody is advised, so the study's learner costs nothing."]
    if status.model != "one" or status.groups or status.memory is not None:
        return [
            "No regret bound of the paper applies: it takes the same chances for granted in every"
            " state, in every group and at all times."
        ]
    if basis.side is None or not rounds:
        return ["No regret bound can be computed before a case was opened and both actions seen."]
    sentences = [_describe_bound(config, status)]
    with suppress(GrbpError, ArithmeticError):
        problem = Problem(status.goal, basis.p_c.estimate, basis.p_f.estimate)
        floor = regret_floor(problem) * math.log(max(rounds, 2))
        sentences.append(
            f"No learner that is good everywhere loses less than about {floor:.3g} wins in"
            f" {plural(rounds, 'case')} in the long run, if the chances are as estimated."
            if floor > 0.0
            else "If the chances are as estimated, losses can stop: from some case on, a good"
            " learner loses no more wins."
        )
    sentences.append(
        "All this holds on average, if the chances are exactly as estimated, starts are spread"
        " evenly over the states, cases come one at a time, and advice is followed."
    )
    return sentences


def _describe_bound(config: Config, status: Status) -> str:
    """Say what Theorem 3 bounds, or why it does not."""
    gamma = config.constants.get("gamma")
    if not config.learner_name.startswith("getbe-sm") or gamma is None:
        return (
            "No regret bound of the paper applies: its Theorem 3 is for the learner getbe-sm, and"
            f" this study's learner is {status.learner}."
        )
    basis, rounds = status.basis, status.cases["opened"]
    with suppress(GrbpError, ArithmeticError):
        problem = Problem(status.goal, basis.p_c.estimate, basis.p_f.estimate)
        bound = getbe_bound(problem, gamma, rounds)
        if not bound.applies:
            return f"No regret bound applies: {bound.why}."
        worth = ", which says nothing: that many cases cannot lose more" * (
            bound.regret_bound >= rounds
        )
        return (
            f"By Theorem 3, learning costs at most {bound.regret_bound:,.0f} wins in"
            f" {plural(rounds, 'case')}{worth}."
        )
    return "No regret bound applies: it cannot be computed at these estimates."
