"""What pages say about a study: how sure it is, what to do, and what a bound is worth."""

import math
import re
from contextlib import suppress
from typing import Final

from grbp._format import percent, plural
from grbp.errors import GrbpError
from grbp.live.advice import AnyBasis, Status
from grbp.live.config import Config
from grbp.live.state_basis import StateBasis
from grbp.model.problem import Problem
from grbp.theory.bounds import getbe_bound, regret_floor
from grbp.theory.posterior import Estimate


def format_share(one: Estimate) -> str:
    """Write an estimated chance in percent."""
    return "unknown" if math.isnan(one.estimate) else percent(one.estimate)


def format_interval(one: Estimate) -> str:
    """Write an interval in percent."""
    low, high = (f"{100.0 * end:.1f}".replace("-", "\N{MINUS SIGN}") for end in (one.low, one.high))
    return f"{low} to {high}\xa0%"


def describe_certainty(status: Status) -> str:
    """Say in a sentence or two how sure a study is about what to do in state 1."""
    basis = status.basis
    if basis.side is None:
        missing = " and ".join(["CONTINUE"] * (not basis.c) + ["FINISH"] * (not basis.f))
        have = "have" if "and" in missing else "has"
        return f"Nothing can be said yet: {missing} {have} not been tried so far."
    side, better = basis.side.name, basis.other_better
    sure = ""
    if better is not None:
        finish = 1.0 - better if basis.action else better
        chance = finish if side == "FINISH" else 1.0 - finish
        inside = min(max(chance, 1e-12), 1.0 - 1e-12)
        sure = f" The probability that this is right is {percent(inside)}."
    if basis.settled:
        return f"It is settled: in state 1, {side} is better. The intervals leave no doubt.{sure}"
    return f"In state 1, {side} seems better, but the intervals allow for either.{sure}"


_GRANTED: Final = {
    "one": "The same chances in every state",
    "state": "Nothing about states: each state has its own chances",
    "averaged": "Nothing about states: the study finds out whether they differ",
}
_LEARNS: Final = {
    "state": "each state on its own",
    "averaged": "finds out whether states differ",
}
_SUSPECTED: Final = {
    "p_C by state": "The chance of moving up differs from state to state",
    "p_C over time": "The chance of moving up changes over time",
    "p_F by state": "The chance that FINISH wins differs from state to state",
    "p_F over time": "The chance that FINISH wins changes over time",
    "groups": "The groups differ",
}
MODEL_WORDS: Final = {
    "one": "The same chances in every state",
    "state": "Each state has its own chances",
    "averaged": "Not sure: let the study find out",
}
"""What a form asks about the states of the cases, by model."""


def describe_granted(status: Status) -> list[str]:
    """Say what the advice of a study takes for granted: about states, groups and time."""
    said = [_GRANTED[status.model]]
    if status.groups:
        said.append("Nothing about groups: each group has its own chances")
    if status.memory is None:
        said.append("Chances that do not change over time")
    elif isinstance(status.memory, str):
        said.append("Nothing about time: old cases count less if the chances change")
    else:
        said.append(f"Little about time: about the last {status.memory:,.6g} cases count most")
    return said


def describe_learner(status: Status) -> str:
    """Name the learner of a study, or say in words how one by state learns, or one that forgets."""
    said = _LEARNS.get(status.model) or re.sub("[:,]memory=[^,]*", "", status.learner)
    return said if status.memory is None else f"{said}, old cases count less"


def describe_alarms(status: Status) -> list[tuple[str, int | None, str]]:
    """Say what the cases of a study show, since which case, and what that means for the advice."""
    against = status.against
    return [
        (
            _SUSPECTED[alarm.name],
            alarm.case,
            alarm.sentence if alarm in against else "The advice allows for that.",
        )
        for alarm in status.alarms or ()
    ]


def describe_reasons(basis: AnyBasis) -> list[str]:
    """Return the reasons as sentences; a learner by state is not named but described."""
    said = basis.sentences()
    if isinstance(basis, StateBasis):
        granted = _GRANTED[basis.model]
        said[0] = (
            f"{basis.action.name} is advised in state {basis.state:,} of {basis.goal:,}. What is"
            f" taken for granted is {granted[:1].lower()}{granted[1:]}."
        )
    return said


def explain_exploration(basis: AnyBasis) -> str:
    """Say why an action is advised that does not look better."""
    reason = basis.sentences()[1].removeprefix("This is to learn: ")
    hint = "Only a try can tell."
    if "better" in reason:
        hint = "Trying it all the same is how the study finds out whether that is wrong."
    return f"{reason[:1].upper()}{reason[1:]} {hint}"


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
