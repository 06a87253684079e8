"""Record an event and the rows that follow from it, now or once more from a log."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, TypeAlias

from grbp.errors import CannotWrite, InvalidInput
from grbp.learners.registry import LearnerLike
from grbp.live.calls import Answer, Asked, Call, Request, refuse_archived
from grbp.live.config import Config
from grbp.live.evolve import Effect, Past, count_effect
from grbp.live.history import Entry, drop_taken_back, last_entry, standing_entries
from grbp.live.kinds import KINDS
from grbp.live.ledger import advise
from grbp.live.schema import (
    NO_HASH,
    OPEN,
    CaseRow,
    Event,
    HeldRow,
    StudyRow,
    dumps,
    dumps_answer,
    loads,
    seal,
)
from grbp.live.store.base import Transaction

_MISTAKE: Final = "opened by mistake"

Again: TypeAlias = Callable[[Transaction, Event], Event]
"""What records an event once more, elsewhere."""


def record(tx: Transaction, call: Call, kind: str, /, **request: Any) -> Answer:
    """Record what is asked for, or return what was answered to the same before."""
    at, how = Request(tx, call), KINDS[kind]
    if how.of_case:
        refuse_archived(at.study)
    asked = how.check(at, **request)
    if isinstance(asked, Answer):
        return asked
    if how.of_case and how.role and at.config.windows:
        at = _count_due_steps(at)
    return _write(at, kind, asked, how.decide(at, asked))


def undo(tx: Transaction, call: Call, /, case: int) -> Answer:
    """Take back one's own last entry of a case; one that opened it withdraws it."""
    at = Request(tx, call)
    refuse_archived(at.study)
    row = at.find_case(case)
    before = tx.event_of_key(call.key) if call.key else None
    kind = "close" if last_entry(tx, row).kind == "open" else "void"
    if (kind if before is None else before.kind) == "close":
        return record(tx, call, "close", case=case, why=_MISTAKE, own=True)
    return record(tx, call, "void", case=case, why="", own=True)


def replay(tx: Transaction, event: Event, learner: LearnerLike | None, *, decide: bool) -> Event:
    """Record an event once more, elsewhere, from what was asked; decide anew or as it was."""
    version, choice = "", None
    if event.kind == "open":
        then = loads(event.response)
        if type(then.get("threshold")) is not int or not isinstance(then.get("version"), str):
            raise InvalidInput(f"event {event.seq} does not say what was decided")
        choice, version = None if decide else then["threshold"], then["version"]
    if event.kind not in KINDS:
        raise InvalidInput(
            f"event {event.seq} is of the kind {event.kind!r}, which this version does not know"
        )
    call = Call(event.who, event.recorded, event.key, event.observed, learner, version, choice)
    return record(tx, call, event.kind, **loads(event.request)).event


def evolve_case(
    config: Config, case: CaseRow | None, entry: Entry, past: Past
) -> tuple[CaseRow, Effect]:
    """Return a case after an event about it, and what it changed; one that is opened was none."""
    effect: Effect = KINDS[entry.event.kind].evolve(config, case, entry, past)
    new: dict[str, Any] = {} if case is None else case._asdict()
    new |= {**effect.changes, "last": entry.event.seq}
    new["settled"] = int(new["status"] != OPEN and not new["held"])
    return CaseRow(**new), effect


def fold_case(config: Config, entries: list[Entry]) -> tuple[CaseRow, dict[int, HeldRow]]:
    """Return the row of a case as its entries leave it, the first one first, and its held steps."""
    row: CaseRow | None = None
    held: dict[int, HeldRow] = {}
    for number, entry in enumerate(entries):
        if (row is None) != (entry.event.kind == "open"):
            raise ValueError(entry.event.kind)
        past = partial(drop_taken_back, entries[:number][::-1])
        row, effect = evolve_case(config, row, entry, past)
        if effect.held is not None:
            held[effect.held.step] = effect.held
        elif effect.released:
            del held[effect.released]
    assert row is not None  # noqa: S101 (whoever asks has an opening)
    return row, held


def _count_due_steps(at: Request) -> Request:
    """Count what has become mature, each step by an event of its own."""
    tx, call = at.tx, at.call._replace(key="", observed="")
    for held in tx.due(call.now):
        record(tx, call, "mature", case=held.case, step=held.step)
    return Request(tx, at.call)


def _write(at: Request, kind: str, asked: Asked, said: dict[str, Any]) -> Answer:
    """Write an event and the rows that follow from it."""
    tx, call, how = at.tx, at.call, KINDS[kind]
    study = at.found or StudyRow("", "", 0, NO_HASH)
    event = Event(
        seq=study.seq + 1, kind=kind, case=asked.case, step=asked.step, request=dumps(asked.words),
        response="", who=call.who, recorded=call.now, observed=call.observed, key=call.key,
        previous=study.head, hash="",
    )  # fmt: skip
    case, before, entry = None, 0, Entry(event, said, asked.words)
    if how.of_case:
        case, before, changes = _evolve_rows(at, study, entry)
        if how.role:
            action = advise(at.config, case)
            stands = {"state": case.state, "status": case.status, "step": case.steps}
            said = stands | {"action": action} | said
    else:
        changes = how.evolve(study, entry)
    new = study._asdict() | {"seq": event.seq, "archived": ""} | changes
    event = seal(event, dumps_answer(said, before, new))
    study = StudyRow(**new | {"head": event.hash})
    tx.put_study(study)  # A study's row must be there before its events.
    tx.append(event)
    return Answer(event, study, case)


def _evolve_rows(at: Request, study: StudyRow, entry: Entry) -> tuple[CaseRow, int, dict[str, Any]]:
    """Write the rows of the case that an event is about.

    Return the case, the number of the event before in it, and what the study counts then.
    """
    tx, event, config = at.tx, entry.event, at.config
    old = None if event.case > study.opened else at.find_case(event.case)
    if old is not None and old.last > study.seq:
        raise CannotWrite(
            f"case {old.case} was last changed by event {old.last}; the log ends with event"
            f" {study.seq}: verify the study, and restore a backup"
        )

    def past() -> Iterator[Entry]:
        return iter(()) if old is None else standing_entries(tx, old)

    new, effect = evolve_case(config, old, entry, past)
    if effect.held is not None:
        tx.put_held(effect.held)
    elif effect.released:
        tx.drop_held(event.case, effect.released)
    tx.put_case(new)
    before = 0 if old is None else old.last
    return new, before, count_effect(config, study, old, new, effect, past)
