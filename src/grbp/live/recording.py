"""Record an event and the rows that follow from it, now or once more from a log."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from grbp.errors import CannotWrite, InvalidInput
from grbp.learners.registry import LearnerLike
from grbp.live.calls import Answer, Asked, Call, Request, refuse_archived
from grbp.live.config import Config
from grbp.live.evolve import Effect, Happened, Past, count_effect
from grbp.live.history import Entry, drop_taken_back, last_entry
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
    dumps_study,
    hashed_event,
    loads,
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
    kind = "close" if last_entry(tx, row).event.kind == "open" else "void"
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


def evolve_case(config: Config, case: CaseRow | None, one: Happened, past: Past) -> Effect:
    """Return what an event about a case makes of it; one that is opened is none before."""
    effect: Effect = KINDS[one.kind].evolve(config, case, one, past)
    row = effect.case
    settled = int(row.status != OPEN and not row.held)
    return effect._replace(case=row._replace(last=one.seq, settled=settled))


def fold_case(config: Config, entries: list[Entry]) -> tuple[CaseRow, dict[int, HeldRow]]:
    """Return the row of a case as its entries leave it, the first one first, and its held steps."""
    row: CaseRow | None = None
    held: dict[int, HeldRow] = {}
    for number, (event, _) in enumerate(entries):
        if (row is None) != (event.kind == "open"):
            raise ValueError(event.kind)
        effect = evolve_case(
            config, row, Happened.read(event),
            lambda end=number: drop_taken_back(entries[:end][::-1]),  # type: ignore[misc]
        )  # fmt: skip
        row = effect.case
        if effect.held is not None:
            held[event.step] = effect.held
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
    tx, call, how, new = at.tx, at.call, KINDS[kind], not at.exists
    study = _NEW_STUDY if new else at.study._replace(archived="")
    happened = Happened(
        study.seq + 1, kind, asked.case, asked.step, asked.words, said, call.now, call.observed
    )
    old: CaseRow | None = None
    effect: Effect | None = None
    if not how.of_case:
        study, answer = how.evolve(study, happened), "{"
    else:
        config = at.config
        old = None if asked.case > study.opened else at.find_case(asked.case)
        effect, study = _evolve(at, config, study, old, happened)
        stands = _describe_case(config, effect.case) if how.role else {}
        answer = f"{dumps(stands | said)[:-1]}," if stands or said else "{"
    answer += dumps_study(0 if old is None else old.last, study)
    event = hashed_event(
        happened.seq, kind, asked.case, asked.step, dumps(asked.words), answer, call.who, call.now,
        call.observed, call.key, study.head,
    )  # fmt: skip
    if new:
        tx.put_study(study)  # A study's row must be there before its events.
    study = study._replace(seq=event.seq, head=event.hash)
    tx.append(event)
    tx.put_study(study)
    if effect is not None:
        _put_case(tx, effect)
    return Answer(event, study, None if effect is None else effect.case)


_NEW_STUDY: Final = StudyRow("", "", 0, NO_HASH, 0, 0, 0, 0, 0, "", 0, 0, 0, 0)


def _evolve(
    at: Request, config: Config, study: StudyRow, old: CaseRow | None, happened: Happened
) -> tuple[Effect, StudyRow]:
    """Return what an event about a case makes of it, and the study after it."""
    if old is not None and old.last > study.seq:
        raise CannotWrite(
            f"case {old.case} was last changed by event {old.last}; the log ends with event"
            f" {study.seq}: verify the study, and restore a backup"
        )

    def past() -> Any:
        return iter(()) if old is None else at.past(old)

    effect = evolve_case(config, old, happened, past)
    return effect, count_effect(config, study, old, effect, past)


def _put_case(tx: Transaction, effect: Effect) -> None:
    """Write the row of a case, and of a step that waits or need not wait any more."""
    case = effect.case
    if effect.held is not None:
        tx.put_held(effect.held)
    elif effect.released:
        tx.drop_held(case.case, effect.released)
    tx.put_case(case)


def _describe_case(config: Config, case: CaseRow) -> dict[str, Any]:
    """Return what a request is answered: the case after it, and what to do next."""
    return {
        "state": case.state, "status": case.status, "step": case.steps,
        "action": advise(config, case),
    }  # fmt: skip
