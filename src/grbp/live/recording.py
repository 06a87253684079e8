"""Record one event of a study and the rows that follow from it, or find what was recorded before.

Nothing here knows the time, who asks or where rows are kept, so that the same requests write the
same rows anywhere.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grbp.errors import CannotWrite, Conflict, InvalidInput, NotFound
from grbp.learners.registry import LearnerLike
from grbp.live.books import Move, shows_moves
from grbp.live.config import load_config
from grbp.live.history import standing_entries
from grbp.live.narration import describe_step
from grbp.live.projection import count_step, is_settled, load_move, name_counts, update_study
from grbp.live.schema import (
    OPEN,
    CaseRow,
    Event,
    HeldRow,
    StudyRow,
    dumps,
    dumps_study,
    hashed_event,
    loads,
)
from grbp.live.store.base import Transaction

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
    """

    who: str
    now: str
    key: str = ""
    observed: str = ""
    learner: LearnerLike | None = None
    version: str = ""
    decided: int | None = None


class Answer(NamedTuple):
    """What was recorded, now or when the same was asked before, and the study and the case then."""

    event: Event
    study: StudyRow
    case: CaseRow
    replayed: bool = False


class Recording:
    """A request to a study: who asks, over a transaction, and the study as it is by now."""

    def __init__(self, tx: Transaction, call: Call) -> None:
        study = tx.study()
        if study is None:
            raise NotFound("there is no such study; make it first")
        refuse_archived(study)
        self.tx, self.call, self.study = tx, call, study
        self.config = load_config(study.config)

    @property
    def next_seq(self) -> int:
        """The number of the event that is recorded next."""
        return self.study.seq + 1

    def find_case(self, case: int) -> CaseRow:
        """Return a case, or refuse a number that no case has."""
        return find_case(self.tx, self.study, case)

    def find_answer(self, kind: str, request: str) -> Answer | None:
        """Return the answer that was given to the same key before; refuse another use of the key.

        A key stands for one request: of one person, within a day, and of a case that is not over
        if it opened one. Later, nobody means that request, and an old answer would mislead.
        """
        event, call = self.tx.event_of_key(self.call.key) if self.call.key else None, self.call
        if event is None:
            return None
        age = datetime.fromisoformat(call.now) - datetime.fromisoformat(event.recorded)
        if (event.kind, event.request, event.observed) != (kind, request, call.observed):
            why = "with another request"
        elif event.who != call.who:
            why = "by somebody else"
        elif age >= KEY_LASTS:
            why = "more than a day ago"
        elif kind == "open" and self.find_case(event.case).status != OPEN:
            why = "for a case that is over"
        else:
            return self._repeat_answer(event)
        what = _DONE[event.kind].format(self.config.words.name_case(event.case))
        who = "" if event.who == call.who else event.who
        raise Conflict(
            f"the key {call.key!r} was used {why}: event {event.seq} {what} with it on"
            f" {event.recorded[:16].replace('T', ' at ')} UTC{f' for {who}' if who else ''}, and"
            " nothing is recorded now; give a new key, such as a UUID, for a new request"
        )

    def repeat_step(self, case: CaseRow, step: int, state: int, took: str | None) -> Answer:
        """Return the answer to a step that was told before, or refuse one that contradicts it."""
        words = self.config.words
        name = words.name_case(case.case)
        for event, then in standing_entries(self.tx, case) if step <= case.steps else ():
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

    def count_due_steps(self) -> bool:
        """Count what has become mature, each step by an event of its own; return if any could."""
        if not self.config.windows:
            return False
        call, self.call = self.call, self.call._replace(key="", observed="")
        for held in self.tx.due(call.now):
            self.count_held_step(held)
        self.call = call
        return True

    def count_held_step(self, held: HeldRow) -> Answer:
        """Count a step that is mature."""
        row, event = self.find_case(held.case), self.tx.event(held.seq)
        if event is None:
            raise NotFound(f"event {held.seq} is missing; verify the study")
        move = load_move(event)
        new = row._replace(**name_counts(count_step(self.config, row, move, -1, held=True)))
        counts = name_counts(count_step(self.config, new, move, 1, held=False))
        new = new._replace(last=self.next_seq, **counts)
        self.tx.drop_held(held.case, held.step)
        request = dumps({"case": held.case, "step": held.step})
        answer = "{" + f'"step":{held.step}'
        return self.record("mature", held.step, request, answer, row, new, move)

    def record(  # noqa: PLR0913, PLR0917 (an event's parts)
        self,
        kind: str,
        step: int,
        request: str,
        answer: str,
        old: CaseRow | None,
        new: CaseRow,
        move: Move | None = None,
    ) -> Answer:
        """Write an event and the rows that follow from it.

        The answer is JSON without its end, which is the study after the event. The move is the step
        that was told, taken back or became mature.
        """
        study, call = self.study, self.call
        if old is not None and old.last > study.seq:
            raise CannotWrite(
                f"case {old.case} was last changed by event {old.last}; the log ends with event"
                f" {study.seq}: verify the study, and restore a backup"
            )
        settled = is_settled(new.status, new.held)
        if settled != new.settled:
            new = new._replace(settled=settled)
        after = update_study(self.config, study, old, new, self._find_moves(kind, old, new, move))
        answer = f"{answer},{dumps_study(0 if old is None else old.last, after)}"
        event = hashed_event(
            study.seq + 1, kind, new.case, step, request, answer, call.who, call.now,
            call.observed, call.key, study.head,
        )  # fmt: skip
        self.study = StudyRow(study.name, study.config, event.seq, event.hash, *after)
        self.tx.append(event)
        self.tx.put_study(self.study)
        self.tx.put_case(new)
        return Answer(event, self.study, new)

    def _find_moves(
        self, kind: str, old: CaseRow | None, new: CaseRow, move: Move | None
    ) -> list[Move]:
        """Return the moves of a case as far as they are needed, the present one last."""
        moves = [] if move is None else [move]
        if old is None or not shows_moves(self.config, old, new):
            return moves
        *told, _ = standing_entries(self.tx, old)
        before = [load_move(event) for event, _ in told]
        if kind == "mature" and move is not None:
            before.remove(move)  # It was told before.
        return before + moves


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
