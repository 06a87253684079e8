"""Say what an event recorded, what a threshold means and what to do, in the study's own words."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from grbp._format import plural
from grbp.live.models import GRANTED
from grbp.live.schema import ARCHIVE, CLOSED, LOST, UNARCHIVE, WON, Event, loads
from grbp.live.starts import DRAWN, FIRST
from grbp.model.labels import Labels, begin
from grbp.model.transition import Action, successors

if TYPE_CHECKING:
    from grbp.live.advice import Advice

HELD: Final = "does not count yet"
TAKEN_BACK: Final = "taken back"
_DAMAGE: Final = (ArithmeticError, LookupError, TypeError, ValueError, RecursionError)
_DAY: Final = 86_400.0
_OF_STUDY: Final = {
    ARCHIVE: "The study was archived: it takes no more entries.",
    UNARCHIVE: "The study was opened again for entries.",
}
_NO_WORDS: Final = Labels()


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
    details : str
        What only statisticians want to know: the learner of a study, its seed, where it began.
    """

    event: Event
    what: str
    why: str
    notes: list[str]
    details: str = ""


def describe_events(
    events: Iterable[Event],
    goal: int,
    labels: Labels = _NO_WORDS,
    *,
    shadow: bool,
    examiner: bool = False,
    taken_back: Collection[int] = (),
) -> list[EventLine]:
    """Say what events recorded; in shadow mode, what would be advised to examiners alone.

    `taken_back` has the numbers of those that were taken back, which are marked.
    """
    hidden, advised = shadow and not examiner, "would be advised" if shadow else "was advised"
    lines = [_describe_event(one, goal, labels, hidden=hidden, advised=advised) for one in events]
    for line in lines:
        if line.event.seq in taken_back:
            line.notes.append(TAKEN_BACK)
    return lines


def describe_history(
    events: Iterable[Event], goal: int, labels: Labels = _NO_WORDS, *, shadow: bool
) -> list[EventLine]:
    """Say what was recorded of one case, all of it, and what of that was taken back."""
    lines = describe_events(events, goal, labels, shadow=shadow)
    steps: list[EventLine] = []
    ends: list[EventLine] = []
    for line in lines:
        kind = line.event.kind
        if kind == "tell":
            steps.append(line)
        elif kind == "close":
            ends.append(line)
        elif kind == "void" and (entries := steps if line.event.step else ends):
            entries.pop().notes.append(TAKEN_BACK)
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
        if line.event.kind in ("tell", "close") and TAKEN_BACK not in line.notes
    ]
    return standing[-1] if standing else None


def _describe_event(
    event: Event, goal: int, labels: Labels, *, hidden: bool, advised: str
) -> EventLine:
    """Say what an event recorded, if it can be read."""
    try:
        return _describe_readable(event, goal, labels, hidden=hidden, advised=advised)
    except _DAMAGE:
        return EventLine(event, "This entry is damaged: verify the study.", "", [])


def _describe_readable(
    event: Event, goal: int, labels: Labels, *, hidden: bool, advised: str
) -> EventLine:
    asked, answered = loads(event.request), loads(event.response)
    why, notes, details = str(asked.get("why") or ""), [], ""
    if event.kind == "study":
        config = asked["config"]
        what = f"The study was set up: {_describe_config(config, labels)}."
        details = "" if hidden else f"{begin(', '.join(_describe_learner(config)))}."
    elif event.kind == "open":
        decided = "" if hidden else f"; {_describe_decision(answered, goal, labels)}"
        group = f" of group {asked['group']}" if "group" in asked else ""
        what = f"Opened in {labels.state(asked['state'])}{group}{decided}."
    elif event.kind == "tell":
        what = f"Step {event.step:,}: {describe_step(answered, goal, labels)}."
        if not hidden and answered["took"] != answered["advised"]:
            notes.append(f"{labels.doing(answered['advised'])} {advised}")
        if not answered["counted"]:
            notes.append(HELD)
    elif event.kind == "mature":
        what = f"Step {event.step:,} counts from now on: its waiting time is over."
    elif event.kind == "void":
        entry = f"Step {event.step:,}" if event.step else "The withdrawal"
        what = f"{entry} was {'undone' if asked.get('own') else 'taken back'}."
    elif event.kind in _OF_STUDY:
        what = _OF_STUDY[event.kind]
    else:
        what = "Withdrawn."
    return EventLine(event, what, why, notes, details)


def describe_step(answered: dict[str, Any], goal: int, labels: Labels = _NO_WORDS) -> str:
    """Say what was done and where it led, from what was answered when it was told."""
    before, after = labels.state(answered["from"]), name_state(answered["state"], goal, labels)
    return f"{labels.doing(answered['took'])} led from {before} to {after}"


def _describe_decision(answered: dict[str, Any], goal: int, labels: Labels) -> str:
    """Say what was decided; what is known by state stands in lists."""
    by_state = isinstance(answered["known"][1], list)
    return describe_choice(answered["threshold"], goal, labels, by_state=by_state)


def name_state(state: int, goal: int, labels: Labels = _NO_WORDS) -> str:
    """Name a state by its word and number; without words the ends are the dead end and the goal."""
    if labels.states or 0 < state < goal:
        return labels.state(state)
    return f"the goal ({goal:,})" if state else "the dead end"


def _describe_config(config: dict[str, Any], labels: Labels) -> str:
    """Say to what a study is locked."""
    goal = config["goal"]
    ends = (name_state(state, goal, labels) for state in (0, goal))
    parts = [
        f"from {' to '.join(ends)}",
        *(
            f"an outcome of {labels.doing(action)} counts after {format_days(seconds / _DAY)}"
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


def describe_advice(advice: "Advice") -> str:
    """Say in a sentence or two what to do with a case."""
    words = advice.labels
    marks = ", ".join(filter(None, (advice.code, advice.group)))
    group = f" ({marks})" if marks else ""
    name, after = (
        begin(words.name_case(advice.case)) + group,
        f"after {plural(advice.step, 'step')}",
    )
    if advice.status in (WON, LOST):
        end = name_state(advice.state, advice.state, words)
        return f"{name} ended in {end} {after}."
    if advice.status == CLOSED:
        return f"{name} was withdrawn in {words.state(advice.state)} {after}."
    place = f"{name} is in {words.state(advice.state)}"
    if advice.action is None or advice.basis is None:
        return f"{place}. Nobody is advised: the study is in shadow mode."
    learn = ", in order to learn" if advice.basis.forced else ""
    both = successors(advice.basis.goal, advice.state, advice.action == Action.FINISH)
    then = words.name_states(both, "or")
    return f"{place}: {words.do(advice.action)}{learn}. Then tell {then}."


def describe_planned(planned: int, opened: int, labels: Labels = _NO_WORDS) -> str:
    """Say for how many cases a study is planned, and what holds when they are over."""
    were = f"{opened:,} {'was' if opened == 1 else 'were'} opened"
    if opened < planned:
        return f"Planned for {labels.count_cases(planned)}, of which {were}."
    return (
        f"Planned for {labels.count_cases(planned)}, and {were}: the planned number is over. The"
        " advisor goes on as if it did not know how many come."
    )


def format_days(number: float) -> str:
    """Write a number of days."""
    return f"{number:g} day{'' if number == 1 else 's'}"


def describe_granted(model: str, memory: float | str | None, labels: Labels = _NO_WORDS) -> str:
    """Say what advice takes for granted, about states and about time."""
    if memory is None:
        return GRANTED[model]
    lasts = "averaged over memories"
    if not isinstance(memory, str):
        lasts = f"of the last {memory:g} {labels.case[memory != 1]}"
    return f"{GRANTED[model]}, {lasts},"


def describe_choice(choice: int, goal: int, labels: Labels = _NO_WORDS, *, by_state: bool) -> str:
    """Say what a threshold means or, of a learner by state, a policy."""
    if not by_state:
        return describe_threshold(choice, goal, labels)
    states = [state for state in range(1, goal) if choice >> (state - 1) & 1]
    go, end = map(labels.do, Action)
    if len(states) in (0, goal - 1):
        return f"{end if states else go} in every state"
    return f"{end} in {labels.name_states(states)}, {go} elsewhere"


def describe_threshold(threshold: int, goal: int, labels: Labels = _NO_WORDS) -> str:
    """Say what a threshold means."""
    go, end = map(labels.do, Action)
    if threshold == 0:
        return f"{go} in every state"
    if threshold == goal - 1:
        return f"{end} in every state" + (", in order to learn" if goal > 2 else "")
    if threshold == 1:
        return f"{end} in {labels.state(1)}, {go} above"
    return f"{end} up to {labels.state(threshold)}, {go} above"
