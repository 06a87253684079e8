"""The rules of a study: what is recorded when a case is opened, told, corrected or withdrawn.

Every verb is a script over a transaction: it reads rows, checks what was asked, and writes one
event and the rows that follow from it. Nothing here knows the time, who asks or where rows are
kept, so that the same scripts, given the same requests, write the same rows anywhere.

A case is a round of Algorithm 1, and its number is rho. The threshold is decided when it opens and
never changes. A step counts when it is told or, where its action has a window, when it is mature.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

from grbp.errors import CannotWrite, Conflict, InvalidInput, NotFound
from grbp.learners.registry import LearnerLike
from grbp.live.config import CONTINUE, FINISH, Config, load_config
from grbp.live.history import standing_entries
from grbp.live.projection import (
    advise,
    count_step,
    decide_threshold,
    due_time,
    dumps_known,
    is_settled,
    load_move,
    name_counts,
    update_study,
)
from grbp.live.schema import (
    CLOSED,
    LOST,
    NO_HASH,
    OPEN,
    WON,
    CaseRow,
    Event,
    HeldRow,
    StudyRow,
    dumps,
    dumps_numbers,
    dumps_study,
    hashed_event,
    loads,
)
from grbp.live.store.base import Transaction
from grbp.model.transition import DEAD_END
from grbp.model.validation import check_whole
from grbp.numerics.rng import fold_in

MOST_CASES: Final = 10**12

_AHEAD: Final = timedelta(minutes=5)
"""How far in the future something may have been observed: clocks differ."""


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
        The threshold that was decided, where it is not to be decided again.
    """

    who: str
    now: str
    key: str = ""
    observed: str = ""
    learner: LearnerLike | None = None
    version: str = ""
    decided: int | None = None


class Answer(NamedTuple):
    """What was recorded, and the study and the case as they are then."""

    event: Event
    study: StudyRow
    case: CaseRow


def configure(tx: Transaction, call: Call, config: dict[str, Any]) -> Event:
    """Make a study, or configure one anew in which no case was opened yet."""
    new, study = Config(**config), tx.study()
    text = new.text
    if study is None:
        study = StudyRow(new.name, text, 0, NO_HASH, 0, 0, 0, 0, 0, "", 0, 0, 0, 0)
    elif load_config(study.config).equals(new):
        return tx.events(study.seq - 1, 1)[0]
    elif study.opened:
        raise Conflict(
            f"the study {new.name!r} was to be configured anew; it is locked since its first case"
            " was opened: give another name"
        )
    after = study._replace(config=text, counters=dumps_numbers(new.first))
    # A study's row must be there before its events.
    tx.put_study(after)
    said = dumps({"config": config}), "{" + dumps_study(0, after[4:])
    event = hashed_event(
        study.seq + 1, "study", 0, 0, *said, call.who, call.now, call.observed, call.key, study.head
    )
    tx.append(event)
    tx.put_study(after._replace(seq=event.seq, head=event.hash))
    return event


def open_case(tx: Transaction, call: Call, state: object) -> Answer:
    """Open a case: decide its threshold from what is known now."""
    study, config = _load_study(tx)
    first = check_whole("state", state, 1, config.goal - 1)
    request = f'{{"state":{first}}}'
    if call.key and (stored := _find_answer(tx, study, call, "open", request)):
        return stored
    _check_observed(call)
    study = _count_due_steps(tx, study, config, call)
    threshold = call.decided
    if threshold is None:
        threshold = decide_threshold(config, study, call.learner)
    number, round_ = study.opened + 1, config.first.rho + study.opened
    basis = dumps_known(study, round_)
    case = CaseRow(
        number, first, first, threshold, OPEN, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        call.now, call.observed or call.now, basis, call.version, study.seq + 1,
    )  # fmt: skip
    draw = fold_in(config.learner_key, round_)
    learner, version = _quote(config.learner_name), _quote(call.version)
    answer = (
        f'{_dumps_case(case)},"threshold":{threshold},"version":{version},"known":{basis},'
        f'"draw":{draw},"learner":{learner}'
    )
    return _record(tx, (study, config, call), ("open", number, 0), (request, answer), None, case)


def tell(  # noqa: PLR0913, PLR0917 (a request's parts by their names)
    tx: Transaction,
    call: Call,
    case: int,
    state: object,
    took: str | None = None,
    why: str = "",
    step: int | None = None,
) -> Answer:
    """Record the state to which an action led."""
    study, config = _load_study(tx)
    row = find_case(tx, study, case)
    after = check_whole("state", state, 0, config.goal)
    _check_took(took)
    step = _check_step(step)
    reason, asked = dumps(why) if why else '""', "null" if step is None else step
    said = f'"took":{_quote(took)},"why":{reason},"step":{asked}'
    request = f'{{"case":{case},"state":{after},{said}}}'
    if call.key and (stored := _find_answer(tx, study, call, "tell", request)):
        return stored
    if step is not None and step != row.steps + 1:
        return _repeat_step(tx, study, row, step, (after, took))
    advice = advise(row)
    if advice is None:
        raise Conflict(f"step {row.steps + 1} of case {case} was told; {_describe_end(row)}")
    action = _check_action(config, row, took, (after, why))
    _check_observed(call)
    study, row = _ripened(tx, study, config, call, row)
    due, number = due_time(config, action, row.since, call.now), row.steps + 1
    status = WON if after == config.goal else LOST if after == DEAD_END else OPEN
    counts = count_step(config, row, (action, row.state, after), 1, held=bool(due))
    # Written out, this takes a third of the time of a `_replace`.
    new = CaseRow(
        row.case, row.first, after, row.threshold, status, number,
        row.overridden + (action != advice), *counts, is_settled(status, counts[4]),
        row.opened, call.observed or call.now, row.known, row.version, study.seq + 1,
    )  # fmt: skip
    answer = (
        f'{_dumps_case(new)},"from":{row.state},"took":"{action}","advised":"{advice}",'
        f'"counted":{"false" if due else "true"}'
    )
    if due:
        tx.put_held(HeldRow(case, number, due, study.seq + 1))
    place = "tell", case, number
    return _record(tx, (study, config, call), place, (request, answer), row, new)


def void(tx: Transaction, call: Call, case: int, why: str, step: int | None = None) -> Answer:
    """Take back the last entry of a case: its withdrawal, or its last step."""
    study, config = _load_study(tx)
    row = find_case(tx, study, case)
    step = _check_step(step)
    request = dumps({"case": case, "why": why, "step": step})
    if call.key and (stored := _find_answer(tx, study, call, "void", request)):
        return stored
    last = 0 if row.status == CLOSED else row.steps
    if not last and row.status != CLOSED:
        raise Conflict(
            f"an entry of case {case} was to be taken back; it has none: close the case if it was"
            " opened by mistake"
        )
    if step not in (None, last):
        entry = f"step {last}" if last else "its withdrawal"
        raise Conflict(
            f"step {step} of case {case} was to be taken back; only the last entry can be, which"
            f" is {entry}"
        )
    study, row = _ripened(tx, study, config, call, row)
    new = row._replace(status=OPEN, last=study.seq + 1)
    if last:
        done, before = islice(standing_entries(tx, row), 2)
        held = tx.held(case, last) is not None
        if held:
            tx.drop_held(case, last)
        new = new._replace(
            state=done.answer["from"],
            steps=last - 1,
            overridden=row.overridden - (done.answer["took"] != done.answer["advised"]),
            since=before.since,
            **name_counts(count_step(config, row, load_move(done.event), -1, held=held)),
        )
    place = "void", case, last
    return _record(tx, (study, config, call), place, (request, _dumps_case(new)), row, new)


def withdraw_case(tx: Transaction, call: Call, case: int, why: str) -> Answer:
    """Withdraw a case: what was observed stays, what was pending is released."""
    study, config = _load_study(tx)
    row = find_case(tx, study, case)
    request = dumps({"case": case, "why": why})
    if call.key and (stored := _find_answer(tx, study, call, "close", request)):
        return stored
    if row.status != OPEN:
        raise Conflict(f"case {case} was to be closed; {_describe_end(row)}")
    study, row = _ripened(tx, study, config, call, row)
    new = row._replace(status=CLOSED, last=study.seq + 1)
    place = "close", case, 0
    return _record(tx, (study, config, call), place, (request, _dumps_case(new)), row, new)


def mature(tx: Transaction, call: Call, case: int, step: int) -> Answer:
    """Count a step whose window is over."""
    study, config = _load_study(tx)
    held = tx.held(case, step)
    if held is None or held.due > call.now:
        raise Conflict(f"step {step} of case {case} was to be counted; it is not due")
    return _count_held_step(tx, study, config, call, held)


VERBS: Final[dict[str, Callable[..., Any]]] = {
    "study": configure,
    "open": open_case,
    "tell": tell,
    "void": void,
    "close": withdraw_case,
    "mature": mature,
}
"""The script of each kind of event; an event's request has its arguments."""


_DECIDED: Final = re.compile(r'"threshold":([0-9]+),"version":"([^"]*)"')
"""What an opening answers of its decision; to read all of it takes longer."""


def replay(tx: Transaction, event: Event, learner: LearnerLike | None, *, decide: bool) -> Event:
    """Record an event once more, elsewhere, from what was asked; decide anew or as it was."""
    version, threshold = "", None
    if event.kind == "open":
        then = _DECIDED.search(event.response)
        if then is None:
            raise InvalidInput(f"event {event.seq} does not say what was decided")
        threshold, version = None if decide else int(then[1]), then[2]
    call = Call(event.who, event.recorded, event.key, event.observed, learner, version, threshold)
    made = VERBS[event.kind](tx, call, **loads(event.request))
    return made if event.kind == "study" else made.event  # type: ignore[no-any-return]


def find_case(tx: Transaction, study: StudyRow, case: int) -> CaseRow:
    """Return a case, or refuse a number that no case has."""
    found = tx.case(case)
    if found is None:
        has = f"cases 1 to {study.opened:,}" if study.opened else "none yet"
        raise NotFound(f"case {case!r} was asked for; the study has {has}")
    return found


def _load_study(tx: Transaction) -> tuple[StudyRow, Config]:
    """Return the study and its configuration."""
    study = tx.study()
    if study is None:
        raise NotFound("there is no such study; make it first")
    return study, load_config(study.config)


def _dumps_case(case: CaseRow) -> str:
    """Return what a request is answered: the case after it, and what to do next.

    It is JSON, without its end: written by hand, as it is written for every event.
    """
    action = _ADVICE[advise(case)]
    return f'{{"state":{case.state},"status":"{case.status}","step":{case.steps},"action":{action}'


_ADVICE: Final = {None: "null", CONTINUE: f'"{CONTINUE}"', FINISH: f'"{FINISH}"'}


@lru_cache(maxsize=100)
def _quote(word: str | None) -> str:
    """Write one of a few words as JSON."""
    return dumps(word)


def _count_due_steps(tx: Transaction, study: StudyRow, config: Config, call: Call) -> StudyRow:
    """Count what has become mature, each by an event of its own."""
    if config.windows:
        for held in tx.due(call.now):
            call = call._replace(key="", observed="")
            study = _count_held_step(tx, study, config, call, held).study
    return study


def _ripened(
    tx: Transaction, study: StudyRow, config: Config, call: Call, case: CaseRow
) -> tuple[StudyRow, CaseRow]:
    """Return a study and a case after all that has become mature was counted."""
    after = _count_due_steps(tx, study, config, call)
    return after, case if after is study else find_case(tx, after, case.case)


def _count_held_step(
    tx: Transaction, study: StudyRow, config: Config, call: Call, held: HeldRow
) -> Answer:
    """Count a step that is mature."""
    row, told = find_case(tx, study, held.case), tx.event(held.seq)
    if told is None:
        raise NotFound(f"event {held.seq} is missing; verify the study")
    new = row._replace(**name_counts(count_step(config, row, load_move(told), -1, held=True)))
    counts = name_counts(count_step(config, new, load_move(told), 1, held=False))
    new = new._replace(last=study.seq + 1, **counts)
    tx.drop_held(held.case, held.step)
    place, request = ("mature", held.case, held.step), {"case": held.case, "step": held.step}
    said = dumps(request), "{" + f'"step":{held.step}'
    return _record(tx, (study, config, call), place, said, row, new)


def _record(
    tx: Transaction,
    where: tuple[StudyRow, Config, Call],
    place: tuple[str, int, int],
    said: tuple[str, str],
    old: CaseRow | None,
    new: CaseRow,
) -> Answer:
    """Write an event of a kind, a case and a step, and the rows that follow from it.

    `said` has the request, and the answer without its end, which is the study after the event.
    """
    (study, config, call), (request, answer) = where, said
    if old is not None and old.last > study.seq:
        raise CannotWrite(
            f"case {old.case} was last changed by event {old.last}; the log ends with event"
            f" {study.seq}: verify the study, and restore a backup"
        )
    after, new = update_study(config, study, old, new)
    answer = f"{answer},{dumps_study(0 if old is None else old.last, after)}"
    event = hashed_event(
        study.seq + 1, *place, request, answer, call.who, call.now, call.observed, call.key,
        study.head,
    )  # fmt: skip
    study = StudyRow(study.name, study.config, event.seq, event.hash, *after)
    tx.append(event)
    tx.put_study(study)
    tx.put_case(new)
    return Answer(event, study, new)


def _find_answer(
    tx: Transaction, study: StudyRow, call: Call, kind: str, request: str
) -> Answer | None:
    """Return the answer that was given to the same key before, or refuse another question."""
    event = tx.event_of_key(call.key)
    if event is None:
        return None
    if (event.kind, event.request, event.observed) != (kind, request, call.observed):
        raise Conflict(
            f"the key {call.key!r} was given with another request than in event {event.seq}; use"
            " a new key for a new request"
        )
    return _repeat_answer(tx, study, event)


def _repeat_answer(tx: Transaction, study: StudyRow, event: Event) -> Answer:
    """Return the answer of an event as it was given, whatever happened since."""
    case, then = find_case(tx, study, event.case), loads(event.response)
    case = case._replace(state=then["state"], status=then["status"], steps=then["step"])
    return Answer(event, study, case)


def _repeat_step(
    tx: Transaction, study: StudyRow, case: CaseRow, step: int, said: tuple[int, str | None]
) -> Answer:
    """Return the answer to a step that was told before, or refuse one that contradicts it."""
    state, took = said
    for event, then in standing_entries(tx, case) if step <= case.steps else ():
        if event.step != step:
            continue
        if then["state"] != state or took not in (None, then["took"]):
            raise Conflict(
                f"step {step} of case {case.case} was told with state {state} after"
                f" {took or then['took']}; it is recorded with state {then['state']} after"
                f" {then['took']}: void that first if it is wrong"
            )
        return _repeat_answer(tx, study, event)
    raise Conflict(f"step {step} of case {case.case} was told; its next step is {case.steps + 1}")


def _check_took(took: object) -> None:
    if took is not None and not (isinstance(took, str) and took in (CONTINUE, FINISH)):
        raise InvalidInput(f"took = {took!r} was given; it must be 'continue' or 'finish'")


def _check_observed(call: Call) -> None:
    """Refuse what is still to come; only now, since whoever asks again may ask earlier."""
    if call.observed > call.now:
        ahead = datetime.fromisoformat(call.observed) - datetime.fromisoformat(call.now)
        if ahead > _AHEAD:
            raise InvalidInput(
                f"observed = {call.observed} was given; it must be past, and now it is {call.now}"
            )


def _check_step(step: object) -> int | None:
    return None if step is None else check_whole("step", step, 1, MOST_CASES)


def _next_states(config: Config, case: CaseRow, action: str) -> tuple[int, int]:
    """Return the states to which an action can lead."""
    if action == FINISH:
        return DEAD_END, config.goal
    return case.state - 1, case.state + 1


def _check_action(config: Config, case: CaseRow, took: str | None, said: tuple[int, str]) -> str:
    """Return what was done; refuse what cannot have been, or what lacks a reason."""
    (state, why), advice = said, advise(case) or CONTINUE
    if config.shadow and took is None:
        raise InvalidInput(
            f"state {state} was told in a study in shadow mode; it must also be told what was"
            " done, 'continue' or 'finish'"
        )
    action = took or advice
    low, high = _next_states(config, case, action)
    if state not in (low, high):
        other = CONTINUE if action == FINISH else FINISH
        meant = took is None and state in _next_states(config, case, other)
        hint = f"; if {other} was taken instead, tell that and why" if meant else ""
        raise InvalidInput(
            f"state {state} was told after {action} in state {case.state} of case {case.case}; it"
            f" must be {low} or {high}{hint}"
        )
    if action != advice and not why and not config.shadow:
        raise InvalidInput(
            f"{action} was taken in case {case.case} where {advice} was advised; it must also be"
            " told why"
        )
    return action


def _describe_end(case: CaseRow) -> str:
    ends = {WON: "reached the goal", LOST: "ended in the dead end", CLOSED: "was withdrawn"}
    return f"it {ends[case.status]} after step {case.steps}: void that first if it is wrong"
