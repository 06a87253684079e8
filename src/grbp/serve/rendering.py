"""Fill in the templates of pages, and say what only they say of a study.

That is why steps were advised, what a bound says, and where links lead.
"""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grbp._format import begin, format_days, format_share, format_span, plural
from grbp.errors import GrbpError
from grbp.live import reasons, wording
from grbp.live.advice import AnyBasis, Status
from grbp.live.config import Config
from grbp.live.wording import EventLine
from grbp.theory.bounds import getbe_bound, regret_floor
from grbp.worlds.labels import ACTIONS, CASE
from grbp.worlds.problem import Problem
from grbp.worlds.transition import successors


def explain_steps(
    lines: Iterable[EventLine], find: Callable[[int], AnyBasis | None]
) -> list[tuple[EventLine, AnyBasis]]:
    """Return each step that stands with its reasons; none in shadow mode, where none has any."""
    found = []
    for line in lines:
        if line.event.kind == "tell" and not line.taken_back:
            with suppress(LookupError, TypeError, ValueError):  # A damaged entry is said to be so.
                if basis := find(line.answered["from"]):
                    found.append((line, basis))
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


TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters |= {
    "address": lambda text: quote(str(text), ""),
    "begin": begin,
    "counted": plural,
    "days": format_days,
    "share": lambda one: format_share(one.estimate),
    "span": lambda one: format_span(one.low, one.high).replace(" %", "\xa0%"),
    "clock": lambda stamp: f"{stamp[:10]} {stamp[11:16]} UTC",
}
TEMPLATES.globals |= {
    "isnan": math.isnan,
    "describe_alarms": wording.describe_alarms,
    "describe_granted": wording.describe_granted,
    "explain_advice": reasons.explain_advice,
    "link_explorer": link_explorer,
    "say_drawn": reasons.say_drawn,
    "say_how_sure": reasons.say_how_sure,
    "say_other_better": reasons.say_other_better,
    "say_window": wording.say_window,
    "successors": successors,
}
