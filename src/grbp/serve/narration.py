"""What pages say about a study: what an event recorded, what to do, and what a bound is worth."""

import math
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from grbp._words import counted, percent
from grbp.errors import GrbpError
from grbp.live.advice import Status
from grbp.live.basis import Basis
from grbp.live.config import Config
from grbp.live.schema import Event, loads
from grbp.model.problem import Problem
from grbp.theory.bounds import getbe_bound, regret_floor
from grbp.theory.posterior import Estimate

_DAMAGE: Final = (ArithmeticError, LookupError, TypeError, ValueError, RecursionError)
_DAY: Final = 86_400.0


class Line(NamedTuple):
    """An event as a page shows it.

    Attributes
    ----------
    event : Event
    what : str
        What was recorded, in a sentence.
    why : str
        The reason that was given, if one was.
    notes : list of str
        What else is to be known: that the advice was overridden, that it does not count yet, that
        it was taken back.
    """

    event: Event
    what: str
    why: str
    notes: list[str]


def describe_events(events: Iterable[Event], goal: int, *, shadow: bool) -> list[Line]:
    """Say what events recorded."""
    return [_describe_event(event, goal, shadow=shadow) for event in events]


def describe_history(events: Iterable[Event], goal: int, *, shadow: bool) -> list[Line]:
    """Say what was recorded of one case, all of it, and what of that was taken back."""
    lines = describe_events(events, goal, shadow=shadow)
    steps: list[Line] = []
    ends: list[Line] = []
    for line in lines:
        kind = line.event.kind
        if kind == "tell":
            steps.append(line)
        elif kind == "close":
            ends.append(line)
        elif kind == "void" and (kept := steps if line.event.step else ends):
            kept.pop().notes.append("taken back")
        elif kind == "mature":
            for told in steps:
                if told.event.step == line.event.step and HELD in told.notes:
                    told.notes.remove(HELD)
    return lines


def last_entry(lines: list[Line]) -> Line | None:
    """Return the entry of a case that can be taken back, if there is one."""
    standing = [
        line
        for line in lines
        if line.event.kind in ("tell", "close") and "taken back" not in line.notes
    ]
    return standing[-1] if standing else None


HELD: Final = "does not count yet"


def _describe_event(event: Event, goal: int, *, shadow: bool) -> Line:
    """Say what an event recorded, if it can be read."""
    try:
        return _describe_readable(event, goal, shadow=shadow)
    except _DAMAGE:
        return Line(event, "This entry is damaged: verify the study.", "", ["damaged"])


def _describe_readable(event: Event, goal: int, *, shadow: bool) -> Line:
    asked, answered = loads(event.request), loads(event.response)
    why, notes = str(asked.get("why") or ""), []
    if event.kind == "study":
        what = f"Study configured: {_describe_config(asked['config'])}."
    elif event.kind == "open":
        decided = "" if shadow else f"; {describe_threshold(answered['threshold'], goal)}"
        what = f"Opened in state {asked['state']:,}{decided}."
    elif event.kind == "tell":
        took, advised = answered["took"].upper(), answered["advised"].upper()
        led = name_state(asked["state"], goal)
        what = f"Step {event.step:,}: {took} led from state {answered['from']:,} to {led}."
        if not shadow and took != advised:
            notes.append(f"{advised} was advised")
        if not answered["counted"]:
            notes.append(HELD)
    elif event.kind == "mature":
        what = f"Step {event.step:,} counts from now on: its window is over."
    elif event.kind == "void":
        what = f"{f'Step {event.step:,}' if event.step else 'The withdrawal'} was taken back."
    else:
        what = "Withdrawn."
    return Line(event, what, why, notes)


def name_state(state: int, goal: int) -> str:
    """Name a state."""
    if state == 0:
        return "the dead end"
    return f"the goal ({goal:,})" if state == goal else f"state {state:,}"


def _describe_config(config: dict[str, Any]) -> str:
    """Say to what a study is locked."""
    learner, start = config["learner"], config["start"]
    beginning = {"drawn": "from drawn first estimates", "first": "with one first try of each"}
    parts = [
        f"goal {config['goal']:,}",
        f"learner {learner if isinstance(learner, str) else learner['name']}",
        f"seed {config['seed']}",
        beginning.get(start, "from records") if isinstance(start, str) else "from records",
        *(
            f"an outcome of {action.upper()} counts after {format_days(seconds / _DAY)}"
            for action, seconds in config["windows"].items()
        ),
        *(["shadow mode"] if config["shadow"] else []),
    ]
    return ", ".join(parts)


def format_days(number: float) -> str:
    """Write a number of days."""
    return f"{number:g} day{'' if number == 1 else 's'}"


def describe_threshold(threshold: int, goal: int) -> str:
    """Say what a threshold means."""
    if threshold == 0:
        return "CONTINUE in every state"
    if threshold == goal - 1:
        return "FINISH in every state" + (", in order to learn" if goal > 2 else "")
    if threshold == 1:
        return "FINISH in state 1, CONTINUE above"
    return f"FINISH in states 1 to {threshold:,}, CONTINUE above"


def format_share(one: Estimate) -> str:
    """Write an estimated chance in percent."""
    return "unknown" if math.isnan(one.estimate) else percent(one.estimate)


def format_interval(one: Estimate) -> str:
    """Write an interval in percent."""
    low, high = (f"{100.0 * end:.1f}".replace("-", "\N{MINUS SIGN}") for end in (one.low, one.high))
    return f"{low} to {high}\xa0%"


def describe_certainty(status: Status) -> str:
    """Say in a sentence or two how sure a study is of what to do in state 1."""
    basis = status.basis
    if basis.side is None:
        missing = " and ".join(["CONTINUE"] * (not basis.c) + ["FINISH"] * (not basis.f))
        were = "were" if "and" in missing else "was"
        return f"Nothing can be said yet: {missing} {were} not seen so far."
    side = basis.side.name
    better = basis.other_better
    finish = None if better is None else (1.0 - better if basis.action else better)
    chance = finish if side == "FINISH" or finish is None else 1.0 - finish
    sure = (
        ""
        if chance is None
        else f" The probability that this is right is {_format_chance(chance)}."
    )
    if basis.settled:
        return f"It is settled: in state 1, {side} is better. The intervals leave no doubt.{sure}"
    return f"In state 1, {side} seems better, but the intervals allow for either.{sure}"


def _format_chance(chance: float) -> str:
    return percent(min(max(chance, 1e-12), 1.0 - 1e-12))


def explain_exploration(basis: Basis) -> str:
    """Say why an action is advised that does not look better."""
    said = basis.sentences()[1].removeprefix("This is to learn: ")
    tried = "Trying it all the same is how the study finds out whether that is wrong."
    return f"{said[:1].upper()}{said[1:]} {tried if 'better' in said else 'Only a try can tell.'}"


def describe_regret(config: Config, status: Status) -> list[str]:
    """Say what is known about the wins that learning costs, and plainly if nothing is."""
    basis, rounds = status.basis, status.cases["opened"]
    if status.shadow:
        return ["No regret bound applies: nobody is advised, so the study's learner costs nothing."]
    if basis.side is None or not rounds:
        return ["No regret bound can be computed before a case was opened and both actions seen."]
    said = [_describe_bound(config, status)]
    with suppress(GrbpError, ArithmeticError):
        problem = Problem(status.goal, basis.p_c.estimate, basis.p_f.estimate)
        floor = regret_floor(problem) * math.log(max(rounds, 2))
        said.append(
            f"No learner that is good everywhere loses less than about {floor:.3g} wins in"
            f" {counted(rounds, 'case')} in the long run, if the chances are as estimated."
            if floor > 0.0
            else "If the chances are as estimated, regret need not grow for ever: a good learner"
            " stops losing wins."
        )
    said.append(
        "These are statements on expectation, for chances exactly as estimated, starts spread"
        " evenly over the states, one case at a time, and advice that is followed."
    )
    return said


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
        worth = ", which says nothing: so many cases cannot lose more" * (
            bound.regret_bound >= rounds
        )
        return (
            f"By Theorem 3, learning costs at most {bound.regret_bound:,.0f} wins in"
            f" {counted(rounds, 'case')}{worth}."
        )
    return "No regret bound applies: it cannot be computed at these estimates."
