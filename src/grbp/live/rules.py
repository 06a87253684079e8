"""The rules of a study: what is recorded when a case is opened, told, corrected or withdrawn.

Every verb is a script over a transaction: it reads rows, checks what was asked, and writes one
event and the rows that follow from it. Nothing here knows the time, who asks or where rows are
kept, so that the same scripts, given the same events, write the same rows anywhere.

A case is a round of Algorithm 1, and its number is rho. The threshold is decided when it opens and
never changes. A step counts when it is told or, where its action has a window, when it is mature.
A FINISH that was advised counts as taken until it is told, or cannot come any more.
"""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from grbp.errors import Conflict, InvalidInput, NotFound
from grbp.learners.counters import Counters, Totals, add_to, with_pending
from grbp.learners.registry import LearnerLike
from grbp.live.config import CONTINUE, FINISH, FIRST, Config, config_of
from grbp.live.rows import (
    CLOSED,
    LOST,
    NO_HASH,
    OPEN,
    WON,
    CaseRow,
    Event,
    StepRow,
    StudyRow,
    hash_of,
    written,
)
from grbp.live.store.base import Transaction
from grbp.model.transition import DEAD_END
from grbp.model.validation import check_whole
from grbp.numerics.rng import fold_in

_NOBODY: Final = -1
"""The threshold that gets the credit of a case that was not played with its own."""

MOST_CASES: Final = 10**15


class Call(NamedTuple):
    """Who asks, and when.

    Attributes
    ----------
    who, now : str
    key, observed : str
        The idempotency key, and when it happened; empty without.
    learner : str or Learner or None
        The learner, where the study's own cannot be found by its name.
    decided : int or None
        The threshold that was decided, where it is not to be decided again.
    """

    who: str
    now: str
    key: str = ""
    observed: str = ""
    learner: LearnerLike | None = None
    decided: int | None = None


class Answer(NamedTuple):
    """What was recorded, and the case as it is then."""

    event: Event
    case: CaseRow


def configure(tx: Transaction, call: Call, config: dict[str, Any]) -> Event:
    """Make a study, or configure one anew in which no case was opened yet."""
    new, study = Config(**config), tx.study()
    text = new.text
    if study is None:
        study = StudyRow(new.name, text, 0, NO_HASH, 0, 0, 0, 0, 0, "", 0, 0, 0, 0)
    elif study.config == text:
        return tx.events(study.seq - 1, 1)[0]
    elif study.opened:
        raise Conflict(
            f"the study {new.name!r} was configured anew; it is locked since its first case was"
            " opened: give another name"
        )
    study = study._replace(config=text, counters=written(list(new.first)))
    # A study's row must be there before its events.
    tx.put_study(study)
    event, study = _recorded(study, call, "study", (0, 0), written({"config": config}), "{}")
    tx.append(event)
    tx.put_study(study)
    return event


def open_case(tx: Transaction, call: Call, state: object) -> Answer:
    """Open a case: decide its threshold from what is known now."""
    study, config = _ready(tx)
    first = check_whole("state", state, 1, config.goal - 1)
    request = written({"state": first})
    if call.key and (stored := _stored(tx, call, "open", request)):
        return stored
    study = _ripen(tx, study, config, call)
    n = known(study)
    round_ = config.first.rho + study.opened
    threshold = call.decided
    if threshold is None:
        threshold = next_threshold(config, study, call.learner)
    basis = [round_, *n[1:], study.pending]
    number, since = study.opened + 1, call.observed or call.now
    case = CaseRow(
        number, first, first, threshold, OPEN, 0, 0, 0, 0, 0, 0, 0, 0, 0, call.now, since,
        written(basis),
    )  # fmt: skip
    response = written(
        {
            "state": first,
            "status": OPEN,
            "step": 0,
            "action": advised(case),
            "threshold": threshold,
            "known": basis,
            "draw": fold_in(config.learner_key, round_),
            "learner": config.learner_name,
            "version": config.version,
        }
    )
    event, study = _recorded(study, call, "open", (number, 0), request, response)
    _save(tx, study._replace(opened=number), event, case, _pending(config, case))
    return Answer(event, case)


def tell(
    tx: Transaction,
    call: Call,
    case: int,
    state: object,
    took: str | None = None,
    why: str = "",
    step: int | None = None,
) -> Answer:
    """Record the state to which an action led."""
    study, config = _ready(tx)
    row = case_in(tx, study, case)
    after = check_whole("state", state, 0, config.goal)
    _check_took(took)
    step = _whole_step(step)
    body = {"case": case, "state": after, "took": took, "why": why, "step": step}
    request = written(body)
    if call.key and (stored := _stored(tx, call, "tell", request)):
        return stored
    if step is not None and step != row.steps + 1:
        return _told_before(tx, row, step, after, took)
    if row.status != OPEN:
        raise Conflict(f"step {row.steps + 1} of case {case} was told; {_over(row)}")
    advice = advised(row)
    if config.shadow and took is None:
        raise InvalidInput(
            f"state {after} was told in a study in shadow mode; it must also be told what was"
            " done, 'continue' or 'finish'"
        )
    action = took or advice
    _check_move(config, row, action, advice, after)
    overruled = action != advice
    if overruled and not why and not config.shadow:
        raise InvalidInput(
            f"{action} was taken in case {case} where {advice} was advised; it must also be told"
            " why"
        )
    study = _ripen(tx, study, config, call)
    row = case_in(tx, study, case)
    due = _due(config, action, row.since, call.now)
    done = StepRow(
        case, row.steps + 1, row.state, after, action, advice, row.since, due, study.seq + 1
    )
    before = _pending(config, row)
    status = WON if after == config.goal else LOST if after == DEAD_END else OPEN
    row = row._replace(
        state=after,
        status=status,
        steps=done.step,
        overruled=row.overruled + overruled,
        since=call.observed or call.now,
    )
    if due:
        row = row._replace(held=row.held + 1, held_f=row.held_f + (action == FINISH))
    else:
        study, row = _count(config, study, row, done, 1)
    study = _with_status(study, status, 1)
    study, row = _settle(config, study, row)
    response = written(
        {
            "state": after,
            "status": status,
            "step": done.step,
            "action": advised(row),
            "took": action,
            "advised": advice,
            "counted": not due,
        }
    )
    event, study = _recorded(study, call, "tell", (case, done.step), request, response)
    _save(tx, study, event, row, _pending(config, row) - before)
    tx.put_step(done)
    return Answer(event, row)


def void(tx: Transaction, call: Call, case: int, why: str, step: int | None = None) -> Answer:
    """Take back the last entry of a case: its withdrawal, or its last step."""
    study, config = _ready(tx)
    row = case_in(tx, study, case)
    step = _whole_step(step)
    request = written({"case": case, "why": why, "step": step})
    if call.key and (stored := _stored(tx, call, "void", request)):
        return stored
    study = _ripen(tx, study, config, call)
    row = case_in(tx, study, case)
    if step is not None and (step != row.steps or row.status == CLOSED):
        last = "its withdrawal" if row.status == CLOSED else f"step {row.steps}"
        raise Conflict(
            f"step {step} of case {case} was to be taken back; only the last entry can be, which"
            f" is {last if row.steps or row.status == CLOSED else 'none'}"
        )
    before, status = _pending(config, row), row.status
    study, row = _unsettle(config, study, row)
    study, undone = _with_status(study, status, -1), 0
    if status == CLOSED:
        row = row._replace(status=OPEN)
    else:
        done = tx.step(case, row.steps)
        if done is None:
            raise Conflict(
                f"an entry of case {case} was to be taken back; it has none: close the case if it"
                " was opened by mistake"
            )
        undone = done.step
        if done.due:
            row = row._replace(held=row.held - 1, held_f=row.held_f - (done.action == FINISH))
        else:
            study, row = _count(config, study, row, done, -1)
        row = row._replace(
            state=done.state,
            status=OPEN,
            steps=done.step - 1,
            overruled=row.overruled - (done.action != done.advised),
            since=done.since,
        )
        tx.drop_step(case, done.step)
    answer = {"state": row.state, "status": OPEN, "step": row.steps, "action": advised(row)}
    event, study = _recorded(study, call, "void", (case, undone), request, written(answer))
    _save(tx, study, event, row, _pending(config, row) - before)
    return Answer(event, row)


def close(tx: Transaction, call: Call, case: int, why: str) -> Answer:
    """Withdraw a case: what was observed stays, what was pending is released."""
    study, config = _ready(tx)
    row = case_in(tx, study, case)
    request = written({"case": case, "why": why})
    if call.key and (stored := _stored(tx, call, "close", request)):
        return stored
    if row.status != OPEN:
        raise Conflict(f"case {case} was to be closed; {_over(row)}")
    study = _ripen(tx, study, config, call)
    row = case_in(tx, study, case)
    before = _pending(config, row)
    row = row._replace(status=CLOSED)
    study, row = _settle(config, _with_status(study, CLOSED, 1), row)
    answer = {"state": row.state, "status": CLOSED, "step": row.steps, "action": None}
    event, study = _recorded(study, call, "close", (case, 0), request, written(answer))
    _save(tx, study, event, row, _pending(config, row) - before)
    return Answer(event, row)


def mature(tx: Transaction, call: Call, case: int, step: int) -> Event:
    """Count a step whose window is over."""
    study, config = _ready(tx)
    done = tx.step(case, step)
    if done is None or not done.due or done.due > call.now:
        raise Conflict(f"step {step} of case {case} was to be counted; it is not due")
    return _matured(tx, study, config, call, done)[0]


VERBS: Final[dict[str, Callable[..., Any]]] = {
    "study": configure,
    "open": open_case,
    "tell": tell,
    "void": void,
    "close": close,
    "mature": mature,
}
"""The script of each kind of event; an event's request has its arguments."""


def again(tx: Transaction, event: Event, learner: LearnerLike | None, *, decide: bool) -> Event:
    """Record an event once more, elsewhere, from what was asked; decide anew or as it was."""
    decided = None if decide or event.kind != "open" else json.loads(event.response)["threshold"]
    call = Call(event.who, event.recorded, event.key, event.observed, learner, decided)
    made = VERBS[event.kind](tx, call, **json.loads(event.request))
    return made if isinstance(made, Event) else made.event


def advised(case: CaseRow) -> str | None:
    """Return the action that is advised in the present state of a case; None if it is over."""
    if case.status != OPEN:
        return None
    return FINISH if case.state <= case.threshold else CONTINUE


def _ready(tx: Transaction) -> tuple[StudyRow, Config]:
    """Return the study and its configuration."""
    study = tx.study()
    if study is None:
        raise NotFound("there is no such study; make it first")
    return study, config_of(study.config)


def case_in(tx: Transaction, study: StudyRow, case: object) -> CaseRow:
    """Return a case, or refuse a number that no case has."""
    found = tx.case(case) if type(case) is int and 0 < case <= study.opened else None
    if found is None:
        has = f"1 to {study.opened:,}" if study.opened else "none"
        raise NotFound(f"case {case!r} was asked for; the study has {has}")
    return found


def _decide(
    config: Config, given: LearnerLike | None, n: Counters, round_: int, pending: int, draw: int
) -> int:
    """Decide the threshold of a case from what is known."""
    if config.start == FIRST and not (n.c and n.f):
        # One first CONTINUE, then one first FINISH; nothing is decided before both are known.
        return config.goal - 1 if n.c and not n.f + pending else 0
    learner = config.found_learner(given)
    threshold = learner.choose(config.goal, with_pending(n, round_, float(pending)), draw)
    if threshold not in learner.choices(config.goal):
        raise InvalidInput(
            f"the learner {learner.name} decided threshold {threshold}, which it does not declare"
        )
    return threshold


def known(study: StudyRow) -> Counters:
    """Return all that is counted: in cases that are over, and in those that are not."""
    n = Counters(*json.loads(study.counters))
    return add_to(n, _NOBODY, Totals(0, 0, study.f, study.f_goal, study.c, study.c_up))


def next_threshold(config: Config, study: StudyRow, learner: LearnerLike | None) -> int:
    """Return the threshold that a case would get if it were opened now."""
    round_ = config.first.rho + study.opened
    draw = fold_in(config.learner_key, round_)
    return _decide(config, learner, known(study), round_, study.pending, draw)


def _pending(config: Config, case: CaseRow) -> int:
    """Return the FINISH of a case that is advised, or taken, and does not count yet."""
    return case.held_f + (not config.shadow and advised(case) == FINISH)


def _count(
    config: Config, study: StudyRow, case: CaseRow, step: StepRow, sign: int
) -> tuple[StudyRow, CaseRow]:
    """Count a step, or take it back, among those of cases that are not over."""
    f = sign * (step.action == FINISH)
    f_goal = f * (step.next_state == config.goal)
    c = sign - f
    c_up = c * (step.next_state > step.state)
    return (
        study._replace(
            f=study.f + f, f_goal=study.f_goal + f_goal, c=study.c + c, c_up=study.c_up + c_up
        ),
        case._replace(
            f=case.f + f, f_goal=case.f_goal + f_goal, c=case.c + c, c_up=case.c_up + c_up
        ),
    )


def _settle(config: Config, study: StudyRow, case: CaseRow) -> tuple[StudyRow, CaseRow]:
    """Add a case that is over, and of which all is mature, to the study's counters."""
    if case.status == OPEN or case.held or case.settled:
        return study, case
    return _moved(config, study, case, 1), case._replace(settled=1)


def _unsettle(config: Config, study: StudyRow, case: CaseRow) -> tuple[StudyRow, CaseRow]:
    """Take a case out of the study's counters again."""
    if not case.settled:
        return study, case
    return _moved(config, study, case, -1), case._replace(settled=0)


def _moved(config: Config, study: StudyRow, case: CaseRow, sign: int) -> StudyRow:
    """Move what was counted in a case to the study's counters, or back."""
    ended = case.status in (WON, LOST)
    credit = case.threshold if ended and not case.overruled else _NOBODY
    one = (case.f, case.f_goal, case.c, case.c_up)
    totals = Totals(*(sign * part for part in (ended, case.status == WON, *one)))
    counters = add_to(Counters(*json.loads(study.counters)), credit, totals)
    f, f_goal, c, c_up = one
    return study._replace(
        counters=written(list(counters)),
        f=study.f - sign * f,
        f_goal=study.f_goal - sign * f_goal,
        c=study.c - sign * c,
        c_up=study.c_up - sign * c_up,
    )


def _with_status(study: StudyRow, status: str, sign: int) -> StudyRow:
    """Count a case that ended, or take it back."""
    if status == OPEN:
        return study
    return study._replace(**{status: getattr(study, status) + sign})


def _due(config: Config, action: str, since: str, now: str) -> str:
    """Return when a step will be mature; nothing if it is by now."""
    if action not in config.windows:
        return ""
    after = timedelta(seconds=config.windows[action])
    due = (datetime.fromisoformat(since) + after).isoformat(timespec="microseconds")
    return due if due > now else ""


def _ripen(tx: Transaction, study: StudyRow, config: Config, call: Call) -> StudyRow:
    """Count what has become mature, each by an event of its own."""
    if config.windows:
        for done in tx.due(call.now):
            _, study = _matured(tx, study, config, call._replace(key="", observed=""), done)
    return study


def _matured(
    tx: Transaction, study: StudyRow, config: Config, call: Call, done: StepRow
) -> tuple[Event, StudyRow]:
    """Count a step that is mature."""
    row = case_in(tx, study, done.case)
    before = _pending(config, row)
    row = row._replace(held=row.held - 1, held_f=row.held_f - (done.action == FINISH))
    study, row = _count(config, study, row, done, 1)
    study, row = _settle(config, study, row)
    request = written({"case": done.case, "step": done.step})
    event, study = _recorded(study, call, "mature", (done.case, done.step), request, "{}")
    study = _save(tx, study, event, row, _pending(config, row) - before)
    tx.put_step(done._replace(due=""))
    return event, study


def _recorded(
    study: StudyRow, call: Call, kind: str, place: tuple[int, int], request: str, response: str
) -> tuple[Event, StudyRow]:
    """Return the next event of a study, and the study with it as its head."""
    event = Event(
        study.seq + 1, kind, *place, request, response, call.who, call.now, call.observed, call.key,
        study.head, "",
    )  # fmt: skip
    event = event._replace(hash=hash_of(event))
    return event, study._replace(seq=event.seq, head=event.hash)


def _save(tx: Transaction, study: StudyRow, event: Event, case: CaseRow, pending: int) -> StudyRow:
    """Write an event and the rows that follow from it."""
    study = study._replace(pending=study.pending + pending)
    tx.append(event)
    tx.put_study(study)
    tx.put_case(case)
    return study


def _stored(tx: Transaction, call: Call, kind: str, request: str) -> Answer | None:
    """Return the answer that was given to the same key before, or refuse another question."""
    event = tx.keyed(call.key)
    if event is None:
        return None
    if (event.kind, event.request, event.observed) != (kind, request, call.observed):
        raise Conflict(
            f"the key {call.key!r} was given with another request than in event {event.seq}; use"
            " a new key for a new request"
        )
    return _answered(tx, event)


def _answered(tx: Transaction, event: Event) -> Answer:
    """Return the answer of an event as it was given, whatever happened since."""
    case = tx.case(event.case)
    if case is None:
        raise NotFound(f"case {event.case} of event {event.seq} is missing; verify the study")
    then = json.loads(event.response)
    return Answer(
        event, case._replace(state=then["state"], status=then["status"], steps=then["step"])
    )


def _told_before(tx: Transaction, case: CaseRow, step: int, state: int, took: str | None) -> Answer:
    """Return the answer to a step that was told before, or refuse one that contradicts it."""
    done = tx.step(case.case, step)
    if done is None:
        raise Conflict(
            f"step {step} of case {case.case} was told; its next step is {case.steps + 1}"
        )
    if done.next_state != state or took not in (None, done.action):
        raise Conflict(
            f"step {step} of case {case.case} was told with state {state} after"
            f" {took or done.action}; it is recorded with state {done.next_state} after"
            f" {done.action}: void that first if it is wrong"
        )
    return _answered(tx, tx.events(done.seq - 1, 1)[0])


def _check_took(took: object) -> None:
    if took is not None and not (isinstance(took, str) and took in (CONTINUE, FINISH)):
        raise InvalidInput(f"took = {took!r} was given; it must be 'continue' or 'finish'")


def _whole_step(step: object) -> int | None:
    return None if step is None else check_whole("step", step, 1, MOST_CASES)


def _check_move(config: Config, case: CaseRow, action: str, advice: str | None, state: int) -> None:
    """Refuse a state to which an action cannot lead."""
    by = {CONTINUE: (case.state - 1, case.state + 1), FINISH: (DEAD_END, config.goal)}
    low, high = by[action]
    if state in (low, high):
        return
    other = CONTINUE if action == FINISH else FINISH
    hint = ""
    if action == advice and state in by[other]:
        hint = f"; if {other} was taken instead, tell that and why"
    raise InvalidInput(
        f"state {state} was told after {action} in state {case.state} of case {case.case}; it must"
        f" be {low} or {high}{hint}"
    )


def _over(case: CaseRow) -> str:
    ends = {
        WON: "it reached the goal",
        LOST: "it ended in the dead end",
        CLOSED: "it was withdrawn",
    }
    return f"{ends[case.status]} after step {case.steps}: void that first if it is wrong"
