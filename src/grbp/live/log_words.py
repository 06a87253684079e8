"""Say what the entries of a log recorded, each in the words of its kind."""

from collections.abc import Collection, Iterable

from grbp.live.entry_words import TAKEN_BACK, EventLine, Recorded, word_unknown
from grbp.live.kinds import KINDS
from grbp.live.schema import DAMAGE, Event, loads
from grbp.worlds.labels import NO_WORDS, Labels


def describe_events(
    events: Iterable[Event],
    goal: int,
    labels: Labels = NO_WORDS,
    *,
    shadow: bool,
    taken_back: Collection[int] = (),
    waiting: Collection[int] | None = None,
) -> list[EventLine]:
    """Say what events recorded, as far as they show it.

    `taken_back` has the numbers of those that were taken back, which are marked; `waiting` those
    that do not count yet, where that is to be said as it is now and not as it was.
    """
    lines = []
    for event in events:
        waits = None if waiting is None else event.seq in waiting
        line, void = _describe_event(event, goal, labels, shadow, waits), event.seq in taken_back
        lines.append(line._replace(notes=line.notes + (TAKEN_BACK,) * void, taken_back=void))
    return lines


def _describe_event(
    event: Event, goal: int, labels: Labels, shadow: bool, waits: bool | None
) -> EventLine:
    """Say what an event recorded, if it can be read."""
    try:
        asked, answered = loads(event.request), loads(event.response)
        say = KINDS[event.kind].words if event.kind in KINDS else word_unknown
        line = say(Recorded(event, asked, answered, goal, labels, shadow, waits))
        return line._replace(why=str(asked.get("why") or ""), answered=answered)
    except DAMAGE:
        return EventLine(event, "This entry is damaged: verify the study.")
