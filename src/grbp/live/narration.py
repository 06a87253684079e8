"""Say in words what an event recorded, and what a threshold means."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from grbp._format import plural
from grbp.live.models import GRANTED
from grbp.live.schema import ARCHIVE, UNARCHIVE, Event, loads
from grbp.live.starts import DRAWN, FIRST

HELD: Final = "does not count yet"
_TAKEN_BACK: Final = "taken back"
_DAMAGE: Final = (ArithmeticError, LookupError, TypeError, ValueError, RecursionError)
_DAY: Final = 86_400.0
_OF_STUDY: Final = {
    ARCHIVE: "Study archived: it takes no entries any more.",
    UNARCHIVE: "Study opened again for entries.",
}


class EventLine(NamedTuple):
    """An event in words.

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


def describe_events(
    events: Iterable[Event], goal: int, *, shadow: bool, examiner: bool = False
) -> list[EventLine]:
    """Say what events recorded; in shadow mode, what would be advised to examiners alone."""
    hidden, advised = shadow and not examiner, "would be advised" if shadow else "was advised"
    return [_describe_event(event, goal, hidden=hidden, advised=advised) for event in events]


def describe_history(events: Iterable[Event], goal: int, *, shadow: bool) -> list[EventLine]:
    """Say what was recorded of one case, all of it, and what of that was taken back."""
    lines = describe_events(events, goal, shadow=shadow)
    steps: list[EventLine] = []
    ends: list[EventLine] = []
    for line in lines:
        kind = line.event.kind
        if kind == "tell":
            steps.append(line)
        elif kind == "close":
            ends.append(line)
        elif kind == "void" and (entries := steps if line.event.step else ends):
            entries.pop().notes.append(_TAKEN_BACK)
        elif kind == "mature":
            for told in steps:
                if told.event.step == line.event.step and HELD in told.notes:
                    told.notes.remove(HELD)
    return lines


def last_entry(lines: list[EventLine]) -> EventLine | None:
    """Return the entry of a case that can be taken back, if there is one."""
    standing = [
        line
        for line in lines
        if line.event.kind in ("tell", "close") and _TAKEN_BACK not in line.notes
    ]
    return standing[-1] if standing else None


def _describe_event(event: Event, goal: int, *, hidden: bool, advised: str) -> EventLine:
    """Say what an event recorded, if it can be read."""
    try:
        return _describe_readable(event, goal, hidden=hidden, advised=advised)
    except _DAMAGE:
        return EventLine(event, "This entry is damaged: verify the study.", "", [])


def _describe_readable(event: Event, goal: int, *, hidden: bool, advised: str) -> EventLine:
    asked, answered = loads(event.request), loads(event.response)
    why, notes = str(asked.get("why") or ""), []
    if event.kind == "study":
        what = f"Study configured: {_describe_config(asked['config'], hidden=hidden)}."
    elif event.kind == "open":
        decided = "" if hidden else f"; {_describe_decision(answered, goal)}"
        group = f" of group {asked['group']}" if "group" in asked else ""
        what = f"Opened in state {asked['state']:,}{group}{decided}."
    elif event.kind == "tell":
        took = answered["took"].upper()
        led = name_state(asked["state"], goal)
        what = f"Step {event.step:,}: {took} led from state {answered['from']:,} to {led}."
        if not hidden and took != (other := answered["advised"].upper()):
            notes.append(f"{other} {advised}")
        if not answered["counted"]:
            notes.append(HELD)
    elif event.kind == "mature":
        what = f"Step {event.step:,} counts from now on: its window is over."
    elif event.kind == "void":
        what = f"{f'Step {event.step:,}' if event.step else 'The withdrawal'} was taken back."
    elif event.kind in _OF_STUDY:
        what = _OF_STUDY[event.kind]
    else:
        what = "Withdrawn."
    return EventLine(event, what, why, notes)


def _describe_decision(answered: dict[str, Any], goal: int) -> str:
    """Say what was decided; what is known by state stands in lists."""
    by_state = isinstance(answered["known"][1], list)
    return describe_choice(answered["threshold"], goal, by_state=by_state)


def name_state(state: int, goal: int) -> str:
    """Name a state."""
    if state == 0:
        return "the dead end"
    return f"the goal ({goal:,})" if state == goal else f"state {state:,}"


def _describe_config(config: dict[str, Any], *, hidden: bool) -> str:
    """Say to what a study is locked, without what it decides by where that is hidden."""
    parts = [
        f"goal {config['goal']:,}",
        *([] if hidden else _describe_learner(config)),
        *(
            f"an outcome of {action.upper()} counts after {format_days(seconds / _DAY)}"
            for action, seconds in config["windows"].items()
        ),
        *(["shadow mode"] if config["shadow"] else []),
        *([f"groups {', '.join(config['groups'])}"] if config.get("groups") else []),
    ]
    return ", ".join(parts)


def _describe_learner(config: dict[str, Any]) -> list[str]:
    """Say by what a study decides."""
    learner, start = config["learner"], config["start"]
    beginning = {DRAWN: "from drawn first estimates", FIRST: "with one first try of each"}
    return [
        f"learner {learner if isinstance(learner, str) else learner['name']}",
        f"seed {config['seed']}",
        beginning.get(start, "from records") if isinstance(start, str) else "from records",
    ]


def describe_planned(planned: int, opened: int) -> str:
    """Say for how many cases a study is planned, and what holds when they are over."""
    were = f"{opened:,} {'was' if opened == 1 else 'were'} opened"
    if opened < planned:
        return f"Planned for {plural(planned, 'case')}, of which {were}."
    return (
        f"Planned for {plural(planned, 'case')}, and {were}: the planned number is over. The"
        " advisor goes on as if it did not know how many come."
    )


def format_days(number: float) -> str:
    """Write a number of days."""
    return f"{number:g} day{'' if number == 1 else 's'}"


def describe_granted(model: str, memory: float | str | None) -> str:
    """Say what advice takes for granted, about states and about time."""
    if memory is None:
        return GRANTED[model]
    lasts = "averaged over memories" if memory == "averaged" else f"of the last {memory:g} cases"
    return f"{GRANTED[model]}, {lasts},"


def describe_choice(choice: int, goal: int, *, by_state: bool) -> str:
    """Say what a threshold means or, of a learner by state, a policy."""
    if not by_state:
        return describe_threshold(choice, goal)
    states = [state for state in range(1, goal) if choice >> (state - 1) & 1]
    if len(states) in (0, goal - 1):
        return f"{'FINISH' if states else 'CONTINUE'} in every state"
    listed = ", ".join(map(str, states))
    return f"FINISH in state{'s' if states[1:] else ''} {listed}, CONTINUE elsewhere"


def describe_threshold(threshold: int, goal: int) -> str:
    """Say what a threshold means."""
    if threshold == 0:
        return "CONTINUE in every state"
    if threshold == goal - 1:
        return "FINISH in every state" + (", in order to learn" if goal > 2 else "")
    if threshold == 1:
        return "FINISH in state 1, CONTINUE above"
    return f"FINISH in states 1 to {threshold:,}, CONTINUE above"
