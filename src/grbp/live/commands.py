"""The commands of a study: what is recorded when a case is opened, told, corrected or withdrawn.

Every command is a script over a transaction: it reads rows, checks what was asked, and writes one
event and the rows that follow from it.

A case is a round of Algorithm 1, and its number is rho. The threshold (by state, the policy) is
decided when it opens and never changes, nor does its group. A step counts when it is told or, where
its action has a window, when it is mature.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from grbp.errors import Conflict, InvalidInput, NotFound, did_you_mean
from grbp.learners.registry import LearnerLike
from grbp.live.arguments import MOST_CASES
from grbp.live.config import CONTINUE, FINISH, Config, check_config, load_config
from grbp.live.history import find_undoable, last_entry, standing_entries
from grbp.live.narration import name_state
from grbp.live.projection import (
    advise,
    count_step,
    decide_choice,
    due_time,
    dumps_known,
    first_numbers,
    is_settled,
    load_move,
    name_counts,
)
from grbp.live.recording import Answer, Call, Recording, refuse_archived
from grbp.live.schema import (
    ARCHIVE,
    CLOSED,
    LOST,
    NO_HASH,
    OPEN,
    UNARCHIVE,
    WON,
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
from grbp.model.transition import DEAD_END, successors
from grbp.model.validation import check_whole
from grbp.numerics.rng import fold_in


def configure(tx: Transaction, call: Call, config: dict[str, Any]) -> Event:
    """Make a study, or configure one anew in which no case was opened yet."""
    new, study = check_config(config), tx.study()
    text = new.text
    if study is not None:
        refuse_archived(study)
    if study is None:
        study = StudyRow(new.name, text, 0, NO_HASH, 0, 0, 0, 0, 0, "", 0, 0, 0, 0)
    elif load_config(study.config).equals(new):
        return tx.events(study.seq - 1, 1)[0]
    elif study.opened:
        raise Conflict(
            f"the study {new.name!r} was to be configured anew; it is locked: it already has cases;"
            " give another name"
        )
    counters, alarms = first_numbers(new)
    after = study._replace(config=text, counters=counters, alarms=alarms)
    # A study's row must be there before its events.
    tx.put_study(after)
    return _record_of_study(tx, call, after, "study", dumps({"config": config}))


def archive(tx: Transaction, call: Call, why: str) -> Event:
    """Close a study for entries; it is kept, and can be opened again."""
    study = _find_study(tx)
    if study.archived:
        return tx.events(study.seq - 1, 1)[0]
    return _record_of_study(tx, call, study, ARCHIVE, dumps({"why": why}))


def unarchive(tx: Transaction, call: Call, why: str) -> Event:
    """Open a study for entries again."""
    study = _find_study(tx)
    if not study.archived:
        raise Conflict(f"the study {study.name!r} was to be opened again; it is not archived")
    return _record_of_study(tx, call, study, UNARCHIVE, dumps({"why": why}))


def _find_study(tx: Transaction) -> StudyRow:
    study = tx.study()
    if study is None:
        raise NotFound("there is no such study; make it first")
    return study


def _record_of_study(
    tx: Transaction, call: Call, study: StudyRow, kind: str, request: str
) -> Event:
    """Write an event that is about a study, and about no case of it."""
    event = hashed_event(
        study.seq + 1, kind, 0, 0, request, "{" + dumps_study(0, study[4:15]), call.who, call.now,
        call.observed, call.key, study.head,
    )  # fmt: skip
    archived = call.now if kind == ARCHIVE else ""
    tx.append(event)
    tx.put_study(study._replace(seq=event.seq, head=event.hash, archived=archived))
    return event


def open_case(tx: Transaction, call: Call, state: object, group: object = None) -> Answer:
    """Open a case: decide its threshold, or its policy, from what is known now."""
    recording = Recording(tx, call)
    config = recording.config
    first, name = _check_state(config, state, 1, config.goal - 1), _check_group(config, group)
    request = f'{{"state":{first},"group":{dumps(name)}}}' if name else f'{{"state":{first}}}'
    if answered := recording.find_answer("open", request):
        return answered
    recording.check_observed()
    recording.count_due_steps()
    study, choice = recording.study, call.decided
    if choice is None:
        choice = decide_choice(config, study, call.learner, name)
    number, round_ = study.opened + 1, config.first_round + study.opened
    known = dumps_known(config, study, name)
    case = CaseRow(
        number, first, first, choice, OPEN, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        call.now, call.observed or call.now, known, call.version, recording.next_seq, name,
    )  # fmt: skip
    draw = fold_in(config.learner_key, round_)
    learner, version = _dumps_word(config.learner_name), _dumps_word(call.version)
    answer = (
        f'{_dumps_case(config, case)},"threshold":{choice},"version":{version},"known":{known},'
        f'"draw":{draw},"learner":{learner}'
    )
    return recording.record("open", 0, request, answer, None, case)


def _check_group(config: Config, group: object) -> str:
    """Return the group of a new case, or refuse one that the study does not have."""
    names = ", ".join(config.groups)
    if not config.groups:
        if group is None:
            return ""
        raise InvalidInput(f"group = {group!r} was given; the study has no groups: leave it out")
    if group is None:
        raise InvalidInput(f"a case was to be opened without its group; it must be one of {names}")
    if not isinstance(group, str) or group not in config.groups:
        raise InvalidInput(f"group = {group!r} was given; it must be one of {names}")
    return group


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
    recording = Recording(tx, call)
    config, row = recording.config, recording.find_case(case)
    after, took = _check_state(config, state, 0, config.goal), _check_took(config, took)
    step = _check_step(step)
    reason, number = dumps(why) if why else '""', "null" if step is None else step
    word = _dumps_word(took)
    request = f'{{"case":{case},"state":{after},"took":{word},"why":{reason},"step":{number}}}'
    if answered := recording.find_answer("tell", request):
        return answered
    if step is not None and step != row.steps + 1:
        return recording.repeat_step(row, step, after, took)
    advice = advise(config, row)
    if advice is None:
        name = config.words.name_case(case)
        raise Conflict(f"step {row.steps + 1} of {name} was told; {_describe_end(config, row)}")
    action = _check_action(config, row, took, after, why)
    recording.check_observed()
    if recording.count_due_steps():
        row = recording.find_case(case)
    due, step = due_time(config, action, row.since, call.now), row.steps + 1
    status = WON if after == config.goal else LOST if after == DEAD_END else OPEN
    move = action, row.state, after
    counts = count_step(config, row, move, 1, held=bool(due))
    # Written out, this takes a third of the time of a `_replace`.
    new = CaseRow(
        row.case, row.first, after, row.threshold, status, step,
        row.overridden + (action != advice), *counts, is_settled(status, counts[4]),
        row.opened, call.observed or call.now, row.known, row.version, recording.next_seq,
        row.group,
    )  # fmt: skip
    answer = (
        f'{_dumps_case(config, new)},"from":{row.state},"took":"{action}","advised":"{advice}",'
        f'"counted":{"false" if due else "true"}'
    )
    if due:
        tx.put_held(HeldRow(case, step, due, new.last))
    return recording.record("tell", step, request, answer, row, new, move)


def void(
    tx: Transaction,
    call: Call,
    case: int,
    why: str,
    step: int | None = None,
    own: bool = False,
) -> Answer:
    """Take back the last entry of a case, its withdrawal or its last step; or undo one's own."""
    recording = Recording(tx, call)
    row = recording.find_case(case)
    step = _check_step(step)
    request = dumps({"case": case, "why": why, "step": step} | _dump_own(own))
    if answered := recording.find_answer("void", request):
        return answered
    if own:
        _refuse_others(recording, row)
    last = 0 if row.status == CLOSED else row.steps
    name = recording.config.words.name_case(case)
    if not last and row.status != CLOSED:
        raise Conflict(
            f"an entry of {name} was to be taken back; there is none yet: withdraw it if it was"
            " opened by mistake"
        )
    if step not in (None, last):
        entry = f"step {last}" if last else "its withdrawal"
        raise Conflict(
            f"step {step} of {name} was to be taken back; only the last entry can be, which is"
            f" {entry}"
        )
    if recording.count_due_steps():
        row = recording.find_case(case)
    new, config, move = row._replace(status=OPEN, last=recording.next_seq), recording.config, None
    if last:
        done, before = islice(standing_entries(tx, row), 2)
        held = tx.held(case, last) is not None
        if held:
            tx.drop_held(case, last)
        move = load_move(done.event)
        counts = count_step(config, row, move, -1, held=held)
        new = new._replace(
            state=done.answer["from"],
            steps=last - 1,
            overridden=row.overridden - (done.answer["took"] != done.answer["advised"]),
            since=before.since,
            **name_counts(counts),
        )
    return recording.record("void", last, request, _dumps_case(config, new), row, new, move)


def withdraw_case(tx: Transaction, call: Call, case: int, why: str, own: bool = False) -> Answer:
    """Withdraw a case: what was observed stays, what was pending is released."""
    recording = Recording(tx, call)
    row = recording.find_case(case)
    request = dumps({"case": case, "why": why} | _dump_own(own))
    if answered := recording.find_answer("close", request):
        return answered
    if row.status != OPEN:
        config = recording.config
        raise Conflict(
            f"{config.words.name_case(case)} was to be withdrawn; {_describe_end(config, row)}"
        )
    if own:
        _refuse_others(recording, row)
    if recording.count_due_steps():
        row = recording.find_case(case)
    new = row._replace(status=CLOSED, last=recording.next_seq)
    answer = _dumps_case(recording.config, new)
    return recording.record("close", 0, request, answer, row, new)


def undo(tx: Transaction, call: Call, case: int) -> Answer:
    """Take back one's own last entry of a case; one that opened it withdraws it."""
    row = Recording(tx, call).find_case(case)
    before = tx.event_of_key(call.key) if call.key else None
    kind = "close" if last_entry(tx, row).event.kind == "open" else "void"
    if (kind if before is None else before.kind) == "close":
        return withdraw_case(tx, call, case, _MISTAKE, own=True)
    return void(tx, call, case, "", own=True)


_MISTAKE: Final = "opened by mistake"


def _dump_own(own: bool) -> dict[str, bool]:
    """Say in a request that somebody undoes an entry of their own; others do not say it."""
    return {"own": True} if own else {}


def _refuse_others(recording: Recording, case: CaseRow) -> None:
    """Refuse to undo an entry that somebody else recorded, or that was recorded long ago."""
    tx, call = recording.tx, recording.call
    if find_undoable(tx, case, call.who, call.now) is None:
        event, name = last_entry(tx, case).event, recording.config.words.name_case(case.case)
        what = {"open": "its opening", "close": "its withdrawal"}.get(
            event.kind, f"step {event.step}"
        )
        raise Conflict(
            f"the last entry of {name}, {what}, was to be undone; {event.who} recorded it"
            f" on {event.recorded[:16].replace('T', ' at ')} UTC: only the same person can undo it,"
            " within 15 minutes, and a corrector can take it back"
        )


def count_mature_step(tx: Transaction, call: Call, case: int, step: int) -> Answer:
    """Count a step whose window is over."""
    held = tx.held(case, step)
    if held is None or held.due > call.now:
        raise Conflict(f"step {step} of case {case} was to be counted; it is not due")
    return Recording(tx, call).count_held_step(held)


COMMANDS: Final[dict[str, Callable[..., Any]]] = {
    "study": configure,
    "open": open_case,
    "tell": tell,
    "void": void,
    "close": withdraw_case,
    "mature": count_mature_step,
    ARCHIVE: archive,
    UNARCHIVE: unarchive,
}
"""The command of each kind of event; an event's request has its arguments."""


_DECIDED: Final = re.compile(r'"threshold":([0-9]+),"version":"([^"]*)"')
"""What an opening answers of its decision; to read all of it takes longer."""


def replay(
    tx: Transaction,
    event: Event,
    learner: LearnerLike | None,
    *,
    decide: bool,
    commands: Mapping[str, Callable[..., Any]] = COMMANDS,
) -> Event:
    """Record an event once more, elsewhere, from what was asked; decide anew or as it was."""
    version, choice = "", None
    if event.kind == "open":
        then = _DECIDED.search(event.response)
        if then is None:
            raise InvalidInput(f"event {event.seq} does not say what was decided")
        choice, version = None if decide else int(then[1]), then[2]
    call = Call(event.who, event.recorded, event.key, event.observed, learner, version, choice)
    made: Event | Answer = commands[event.kind](tx, call, **loads(event.request))
    return made if isinstance(made, Event) else made.event


def _dumps_case(config: Config, case: CaseRow) -> str:
    """Return what a request is answered: the case after it, and what to do next.

    It is JSON, without its end: written by hand, as it is written for every event.
    """
    action = _dumps_word(advise(config, case))
    return f'{{"state":{case.state},"status":"{case.status}","step":{case.steps},"action":{action}'


@lru_cache(maxsize=100)
def _dumps_word(word: str | None) -> str:
    """Write one of a few words as JSON."""
    return dumps(word)


def _check_state(config: Config, state: object, low: int, high: int) -> int:
    """Return a state that is given by its number or by its word."""
    number = config.words.read_state(state) if config.labels else state
    return check_whole("state", number, low, high)


def _check_took(config: Config, took: object) -> str | None:
    """Return what was done, which is given by its name or by its word."""
    action = config.words.read_action(took) if config.labels else took
    if action is None or (isinstance(action, str) and action in (CONTINUE, FINISH)):
        return action
    names = [config.words.do(one) for one in (CONTINUE, FINISH)]
    near = did_you_mean(took, names) if isinstance(took, str) else ""
    raise InvalidInput(
        f"took = {took!r} was given; it must be {names[0]!r} or {names[1]!r}"
        f"{f' ({near})' if near else ''}"
    )


def _check_step(step: object) -> int | None:
    return None if step is None else check_whole("step", step, 1, MOST_CASES)


def _next_states(config: Config, case: CaseRow, action: str) -> tuple[int, int]:
    """Return the states to which an action can lead."""
    return successors(config.goal, case.state, action == FINISH)


def _check_action(config: Config, case: CaseRow, took: str | None, state: int, why: str) -> str:
    """Return what was done; refuse what cannot have been, or what lacks a reason."""
    advice, words = advise(config, case) or CONTINUE, config.words
    if config.shadow and took is None:
        raise InvalidInput(
            f"{words.state(state)} was told in a study in shadow mode; also tell what was done,"
            f" {words.do(CONTINUE)!r} or {words.do(FINISH)!r}"
        )
    action, name = took or advice, words.name_case(case.case)
    low, high = _next_states(config, case, action)
    if state not in (low, high):
        other = CONTINUE if action == FINISH else FINISH
        meant = took is None and state in _next_states(config, case, other)
        hint = f"; if it was {words.doing(other)} instead, tell that and why" if meant else ""
        raise InvalidInput(
            f"{words.state(state)} was told after {words.doing(action)} in"
            f" {words.state(case.state)} of {name}; it must be"
            f" {words.name_states((low, high), 'or')}{hint}"
        )
    if action != advice and not why and not config.shadow:
        raise InvalidInput(
            f"{words.doing(action)} was told of {name} where {words.doing(advice)} was advised;"
            " also tell why"
        )
    return action


def _describe_end(config: Config, case: CaseRow) -> str:
    """Say how a case ended, and what to do if it did not."""
    end = "was withdrawn"
    if case.status != CLOSED:
        end = f"ended in {name_state(case.state, config.goal, config.words)}"
    return f"it {end} after step {case.steps}: take that back first if it is wrong"
