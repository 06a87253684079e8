"""The kinds of events: what each may say, what is decided, what it does, and its words."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from grbp.live import decide, entry_words as entries, evolve
from grbp.live.calls import Answer, Asked, Request
from grbp.live.entry_words import EventLine, Recorded
from grbp.live.schema import ARCHIVE, LEARNER, UNARCHIVE


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
        decide.configure, _nothing, evolve.configure, entries.word_study, "admin", of_case=False
    ),
    "open": Kind(
        decide.open_case, decide.decide_case, evolve.open_case, entries.word_opening, "recorder"
    ),
    "tell": Kind(decide.tell, decide.decide_step, evolve.tell, entries.word_step, "recorder"),
    "mature": Kind(decide.mature, decide.decide_mature, evolve.mature, entries.word_mature, ""),
    "void": Kind(decide.void, _nothing, evolve.void, entries.word_taking_back, "corrector"),
    "close": Kind(decide.close, _nothing, evolve.close, entries.word_withdrawal, "recorder"),
    ARCHIVE: Kind(
        decide.archive, _nothing, evolve.archive, entries.word_archive, "admin", of_case=False
    ),
    UNARCHIVE: Kind(
        decide.unarchive, _nothing, evolve.unarchive, entries.word_unarchive, "admin",
        of_case=False,
    ),
    LEARNER: Kind(
        decide.change_learner, _nothing, evolve.change_learner, entries.word_change, "admin",
        of_case=False,
    ),
}  # fmt: skip
