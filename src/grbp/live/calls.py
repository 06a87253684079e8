"""A request to a study: who asks, over a transaction, and what was recorded for the same before.

Nothing here knows the time or where rows are kept, so that the same requests write the same rows
anywhere.
"""

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from grbp.errors import Conflict, InvalidInput, NotFound
from grbp.learners.registry import LearnerLike
from grbp.live.config import Config, load_config
from grbp.live.history import keep_steps, standing_entries
from grbp.live.schema import OPEN, CaseRow, Event, StudyRow, dumps, loads
from grbp.live.store.base import Transaction
from grbp.live.wording import describe_step

_AHEAD: Final = timedelta(minutes=5)
"""How far in the future something may have been observed: clocks differ."""

KEY_LASTS: Final = timedelta(days=1)
"""How long a request can be sent again with its key; nobody asks again after that."""

_DONE: Final = {
    "open": "opened {}",
    "tell": "told a step of {}",
    "void": "took back an entry of {}",
    "close": "withdrew {}",
}


class Call(NamedTuple):
    """Who asks, and when.

    Attributes
    ----------
    who, now : str
    key, observed : str
        The idempotency key, and when it happened; empty without.
    learner : str or Learner or None
        The learner, where the study's own cannot be found by its name.
    version : str
        The version of this package that decides.
    decided : int or None
        The threshold, or the policy, that was decided, where it is not to be decided again.
    doubt : str
        Why no case can be decided now; empty if one can.
    """

    who: str
    now: str
    key: str = ""
    observed: str = ""
    learner: LearnerLike | None = None
    version: str = ""
    decided: int | None = None
    doubt: str = ""


class Answer(NamedTuple):
    """What was recorded, now or when the same was asked before, and the study and the case then.

    Attributes
    ----------
    event : Event
    study : StudyRow
    case : CaseRow or None
        None where it is about the study as a whole.
    replayed : bool
        Whether it was recorded before, and nothing was now.
    """

    event: Event
    study: StudyRow
    case: Any
    replayed: bool = False


class Asked(NamedTuple):
    """A request that is allowed: the case and the step that it is about, and its words.

    What is about no case, or no step, has 0 for it.
    """

    case: int
    step: int
    words: dict[str, Any]


class Request:
    """A request to a study as it is by now: `found` is its row, if there is one."""

    def __init__(self, tx: Transaction, call: Call) -> None:
        self.tx, self.call, self.found = tx, call, tx.study()
        self._cases: dict[int, CaseRow] = {}

    @property
    def study(self) -> StudyRow:
        """The row of the study, or a refusal where there is none."""
        if self.found is None:
            raise NotFound("there is no such study; make it first")
        return self.found

    @property
    def config(self) -> Config:
        """The configuration of the study."""
        return load_config(self.study.config)

    def find_case(self, case: int) -> CaseRow:
        """Return a case, or refuse a number that no case has."""
        if case not in self._cases:
            self._cases[case] = find_case(self.tx, self.study, case)
        return self._cases[case]

    def find_answer(self, kind: str, words: dict[str, Any]) -> Answer | None:
        """Return the answer that was given to the same key before; refuse another use of the key.

        A key stands for one request: of one person, within a day, and of a case that is not over
        if it opened one. Later, nobody means that request, and an old answer would mislead.
        """
        event, call = self.tx.event_of_key(self.call.key) if self.call.key else None, self.call
        if event is None:
            return None
        age = datetime.fromisoformat(call.now) - datetime.fromisoformat(event.recorded)
        if (event.kind, event.request, event.observed) != (kind, dumps(words), call.observed):
            why = "with another request"
        elif event.who != call.who:
            why = "by somebody else"
        elif age >= KEY_LASTS:
            why = "more than a day ago"
        elif kind == "open" and self.find_case(event.case).status != OPEN:
            why = "for a case that is over"
        else:
            return self._repeat_answer(event)
        name = self.config.words.name_case(event.case)
        what = _DONE.get(event.kind, "recorded something of {}").format(name)
        who = "" if event.who == call.who else f" for {event.who}"
        raise Conflict(
            f"the key {call.key!r} was used {why}: event {event.seq} {what} with it on"
            f" {event.recorded[:16].replace('T', ' at ')} UTC{who}, and nothing is recorded now;"
            " give a new key, such as a UUID, for a new request"
        )

    def repeat_step(self, case: CaseRow, step: int, state: int, took: str | None) -> Answer:
        """Return the answer to a step that was told before, or refuse one that contradicts it."""
        words = self.config.words
        name = words.name_case(case.case)
        for event, then, _ in (
            keep_steps(standing_entries(self.tx, case)) if step <= case.steps else ()
        ):
            if event.step != step:
                continue
            if then["state"] != state or took not in (None, then["took"]):
                who = "you" if event.who == self.call.who else f"a colleague ({event.who!r})"
                raise Conflict(
                    f"{who} already recorded step {step} of {name}:"
                    f" {describe_step(then, self.config.goal, words)}; take that back first if it"
                    " is wrong"
                )
            return self._repeat_answer(event)
        raise Conflict(f"step {step} of {name} was told; the next step is {case.steps + 1}")

    def repeat_last(self) -> Answer:
        """Return what was recorded last, which already says what is asked for."""
        study = self.study
        return Answer(self.tx.events(study.seq - 1, 1)[0], study, None, replayed=True)

    def _repeat_answer(self, event: Event) -> Answer:
        """Return the answer of an event as it was given, whatever happened since."""
        case, then = self.find_case(event.case), loads(event.response)
        case = case._replace(state=then["state"], status=then["status"], steps=then["step"])
        return Answer(event, self.study, case, replayed=True)

    def check_observed(self) -> None:
        """Refuse what is still to come; only now, since whoever asks again may ask earlier."""
        observed, now = self.call.observed, self.call.now
        if observed > now:
            ahead = datetime.fromisoformat(observed) - datetime.fromisoformat(now)
            if ahead > _AHEAD:
                raise InvalidInput(
                    f"observed = {observed} was given; it must not be in the future, and now it is"
                    f" {now}"
                )


def refuse_archived(study: StudyRow) -> None:
    """Refuse to change a study that is archived."""
    if study.archived:
        raise Conflict(
            f"something was to be recorded in the study {study.name!r}; it is archived since"
            f" {study.archived[:10]} and takes no entries: `grbp live unarchive` opens it again"
        )


def find_case(tx: Transaction, study: StudyRow, case: int) -> CaseRow:
    """Return a case, or refuse a number that no case has."""
    found = tx.case(case)
    if found is None:
        words = load_config(study.config).words
        has = f"{words.case[1]} 1 to {study.opened:,}" if study.opened else "none yet"
        raise NotFound(f"{words.case[0]} {case!r} was asked for; the study has {has}")
    return found
