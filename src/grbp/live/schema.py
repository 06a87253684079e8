"""The rows that a store keeps: events, which are the truth, and what follows from them.

They hold whole numbers and text alone, so that every database keeps them to the last bit; of a
study's row only its name and its configuration are kept, as its last event says the rest. An event
is never changed; the other rows are always what the events make of them, except codes: these may
point to a person, stand beside the log and can be erased.
"""

import hashlib
import json
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, NamedTuple

from grbp.fitting.watch import Watch

OPEN, WON, LOST, CLOSED = "open", "won", "lost", "closed"
"""The states of a case: in progress, at the goal, in the dead end, withdrawn."""

STATUSES: Final = (OPEN, WON, LOST, CLOSED)

ARCHIVE, UNARCHIVE, LEARNER = "archive", "unarchive", "learner"
"""The kinds of the events that close a study, open it again, and let another learner decide."""

NO_HASH: Final = "0" * 64
"""The hash before the first event."""

NO_COUNTS: Final[list[Any]] = []
"""Where nothing is counted."""


class Event(NamedTuple):
    """Something that was recorded in a study.

    Attributes
    ----------
    seq : int
        Its number in the study, from 1.
    kind : str
        "study", "open", "tell", "mature", "void", "close", "archive", "unarchive" or
        "learner".
    case, step : int
        The case and the step that it is about; 0 for none.
    request, response : str
        What was asked and what was answered, as JSON. The answer ends with the number of the event
        before in the same case (`before`) and the study as it is then: opened, won, lost, closed,
        pending, f, f_goal, c and c_up (`study`), its counters (`counters`) and, where it has them,
        what its alarms know (`alarms`) and what was seen by group and state (`seen`).
    who : str
        Who asked.
    recorded, observed : str
        When it was recorded, and when it happened if somebody said so (else empty), in UTC.
    key : str
        The idempotency key; empty without one.
    previous, hash : str
        The hash of the event before, and of this one, which covers all of the above; empty where
        shadow mode hides them from whoever reads a log by a `Client`.
    """

    seq: int
    kind: str
    case: int
    step: int
    request: str
    response: str
    who: str
    recorded: str
    observed: str
    key: str
    previous: str
    hash: str


class StudyRow(NamedTuple):
    """A study as its last event leaves it.

    Attributes
    ----------
    name, config : str
        Its name, and its configuration as JSON.
    seq, head
        The number and the hash of the last event.
    opened, won, lost, closed : int
        The cases opened, and those that ended at the goal, in the dead end, or were withdrawn.
    pending : int
        FINISH that was advised, or taken, and whose outcome does not count yet.
    counters : list
        The counters of the cases that are over; with groups, by state or with a memory, the books
        of `grbp.live.ledger`. Nobody changes a list that stands in a row.
    f, f_goal, c, c_up : int
        What was counted in cases that are not over; with groups, by state or with a memory, in
        all cases.
    alarms : Watch or None
        What the alarms know; None where the study does not watch its cases.
    archived : str
        When it was archived, if its last event did that; else empty.
    seen : list
        What was seen by group and state: for each group four lists with a number for each state, or
        with one for all where there are many, CONTINUE up and down, FINISH won and lost; empty
        where the study does not keep it.
    """

    name: str
    config: str
    seq: int
    head: str
    opened: int = 0
    won: int = 0
    lost: int = 0
    closed: int = 0
    pending: int = 0
    counters: list[Any] = NO_COUNTS
    f: int = 0
    f_goal: int = 0
    c: int = 0
    c_up: int = 0
    alarms: Watch | None = None
    archived: str = ""
    seen: list[Any] = NO_COUNTS


class CaseRow(NamedTuple):
    """A case as its events leave it.

    Attributes
    ----------
    case : int
        Its number, which is the round rho.
    first, state : int
        The state in which it was opened, and the present one.
    threshold : int
        The threshold that was decided when it was opened; of a learner by state, the policy, with
        bit s - 1 for FINISH in state s.
    status : str
        "open", "won", "lost" or "closed".
    steps, overridden : int
        The steps told, and those of them in which something else was done than advised.
    f, f_goal, c, c_up : int
        What was counted in it.
    held, held_f : int
        The steps that wait to be mature, and those of them that are FINISH.
    settled : int
        1 if it is over and counted in the study's counters.
    opened, since : str
        When it was opened, and since when it has been in its state.
    known : str
        The counters that the decision was made from, and the pending FINISH, as JSON.
    version : str
        The version of this package that decided.
    last : int
        The number of its last event; each of its events names the one before.
    group : str
        Its group; empty in a study without groups.
    """

    case: int
    first: int
    state: int
    threshold: int
    status: str
    steps: int
    overridden: int
    f: int
    f_goal: int
    c: int
    c_up: int
    held: int
    held_f: int
    settled: int
    opened: str
    since: str
    known: str
    version: str
    last: int
    group: str = ""


class HeldRow(NamedTuple):
    """A step that was told and does not count yet.

    Attributes
    ----------
    case, step : int
        The case, and the number of the step in it, from 1.
    due : str
        When it will be mature.
    seq : int
        The number of the event that told it.
    """

    case: int
    step: int
    due: str
    seq: int


class CodeRow(NamedTuple):
    """The short code of a case; no event has it, and nothing follows from it.

    Attributes
    ----------
    case : int
    code, folded : str
        The code, and what it has in common with those that people take for the same.
    who, recorded : str
        Who gave it, and when, in UTC.
    """

    case: int
    code: str
    folded: str
    who: str
    recorded: str


_ENCODE: Final = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, None, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, False
)
"""The encoder that `json` makes anew for every call: a tell writes five texts."""

_DECODE: Final = json.JSONDecoder().raw_decode


def dumps(value: object) -> str:
    """Write a value as JSON, in one way only."""
    return "".join(_ENCODE(value, 0))


def loads(text: str) -> Any:
    """Read what `dumps` wrote, and nothing else."""
    value, end = _DECODE(text)
    if end != len(text):
        raise ValueError(text[end:])
    return value


DAMAGE: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RecursionError,
    TypeError, ValueError,
)  # fmt: skip
"""How reading can fail where what is read was damaged."""


_COUNTS: Final = ("opened", "won", "lost", "closed", "pending", "f", "f_goal", "c", "c_up")
"""The numbers of a study that an answer ends with, in their order."""


def dumps_answer(said: dict[str, Any], before: int, study: dict[str, Any]) -> str:
    """Write an answer, which ends with the event before in the case, and the study after this."""
    ends = {"before": before, "study": [study[name] for name in _COUNTS]}
    text = dumps(said | ends | {"counters": study["counters"]})[:-1]
    if study["alarms"]:
        text += f',"alarms":{_dumps_watch(study["alarms"])}'
    return f'{text},"seen":{dumps(study["seen"])}}}' if study["seen"] else f"{text}}}"


def _dumps_watch(watch: Watch) -> str:
    """Write what the alarms know, of which the marks are much, and seldom change."""
    told = (f"[{one.wins},{one.losses},{_dumps_marks(one.marks)}]" for one in watch.told)
    before, after = dumps(watch[:3])[:-1], dumps(watch[4:])[1:]
    return f"{before},[{','.join(told)}],{after}"


@lru_cache(maxsize=100)
def _dumps_marks(marks: tuple[int, ...]) -> str:
    return dumps(marks)


def load_study(name: str, config: str, events: list[Event]) -> StudyRow | None:
    """Return a study as its last events, the latest first, leave it; None if none can be read."""
    for event in events:
        # Whoever checks its hash names an event that is damaged.
        with suppress(ValueError, TypeError, LookupError, RecursionError):
            then = loads(event.response)
            counts = dict(zip(_COUNTS, map(_check_int, then["study"]), strict=True))
            return StudyRow(
                name,
                config,
                events[0].seq,
                events[0].hash,
                counters=then["counters"],
                alarms=Watch.from_list(then["alarms"]) if "alarms" in then else None,
                archived=events[0].recorded * (events[0].kind == ARCHIVE),
                seen=then.get("seen", NO_COUNTS),
                **counts,
            )
    return None


def _check_int(value: object) -> int:
    """Return a whole number; whatever else stands in its place is damaged."""
    if type(value) is not int:
        raise TypeError(type(value))
    return value


def has_types(row: CaseRow | Event) -> bool:
    """Return whether numbers and text stand in a row, each in its place, and nothing else."""
    return tuple(map(type, row)) == tuple(type(row).__annotations__.values())


def seal(event: Event, response: str) -> Event:
    """Return an event with its answer, and with the hash of all its other fields."""
    fields = (*event[:5], response, *event[6:11])
    return Event(*fields, hash_fields(fields))


def hash_fields(fields: tuple[int | str, ...]) -> str:
    """Compute SHA-256 of an event's fields but the last, each in a line: no text has two."""
    return hashlib.sha256((_LINES % fields).encode()).hexdigest()


_LINES: Final = "\n".join(["%s"] * (len(Event._fields) - 1))
