"""The kinds of events: what each may say, what is decided, what it does, and its words."""

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, NamedTuple

from grbp.live import decide, evolve, wording
from grbp.live.calls import Answer, Asked, Request
from grbp.live.schema import ARCHIVE, DAMAGE, LEARNER, UNARCHIVE, Event, loads
from grbp.live.wording import TAKEN_BACK, EventLine, Recorded
from grbp.worlds.labels import NO_WORDS, Labels


class Kind(NamedTuple):
    """A kind of event; there is nothing else to be known of one.

    Attributes
    ----------
    check : callable
        Takes a request and what it says by name, and returns what is asked in its one form, or
        what was answered to the same before; or refuses it.
    decide : callable
        Takes the request and what is asked, and returns what the event says beside how its case
        stands then. It changes nothing.
    evolve : callable
        What the event does: of one about a case, from the configuration, the case before, the event
        and what was recorded of the case; of one about the study, from the study and the event.
    words : callable
        Puts what is known of an event, a `Recorded`, into words.
    role : str
        The least role that may ask for it; empty where the study itself records it.
    of_case : bool
        Whether it is about a case.
    """

    check: Callable[..., Asked | Answer]
    decide: Callable[[Request, Asked], dict[str, Any]]
    evolve: Callable[..., Any]
    words: Callable[[Recorded], EventLine]
    role: str
    of_case: bool = True


_nothing: Final = decide.decide_nothing

KINDS: Final[dict[str, Kind]] = {
    "study": Kind(
        decide.configure, _nothing, evolve.configure, wording.word_study, "admin", of_case=False
    ),
    "open": Kind(
        decide.open_case, decide.decide_case, evolve.open_case, wording.word_opening, "recorder"
    ),
    "tell": Kind(decide.tell, decide.decide_step, evolve.tell, wording.word_step, "recorder"),
    "mature": Kind(decide.mature, decide.decide_mature, evolve.mature, wording.word_mature, ""),
    "void": Kind(decide.void, _nothing, evolve.void, wording.word_taking_back, "corrector"),
    "close": Kind(decide.close, _nothing, evolve.close, wording.word_withdrawal, "recorder"),
    ARCHIVE: Kind(
        decide.archive, _nothing, evolve.archive, wording.word_archive, "admin", of_case=False
    ),
    UNARCHIVE: Kind(
        decide.unarchive, _nothing, evolve.unarchive, wording.word_unarchive, "admin",
        of_case=False,
    ),
    LEARNER: Kind(
        decide.change_learner, _nothing, evolve.change_learner, wording.word_change, "admin",
        of_case=False,
    ),
}  # fmt: skip


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
        void = event.seq in taken_back
        try:
            asked, answered = loads(event.request), loads(event.response)
            say = KINDS[event.kind].words if event.kind in KINDS else wording.word_unknown
            line = say(Recorded(event, asked, answered, goal, labels, shadow, waits))
            line = line._replace(why=str(asked.get("why") or ""), answered=answered)
        except DAMAGE:
            line = EventLine(event, "This entry is damaged: verify the study.")
        lines.append(line._replace(notes=line.notes + (TAKEN_BACK,) * void, taken_back=void))
    return lines
