"""The log of a store itself: who may use a server of it, and when it was verified and backed up.

It is kept as a study's log is: in the same tables and transactions, each event with the hash of the
one before. So every server of a store has the same door, and a revocation is as safe as an entry.
Its row also names the last event, so that not even that one can get lost unseen.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from grbp.errors import Damaged, InvalidInput
from grbp.live.arguments import format_time
from grbp.live.calls import Call
from grbp.live.schema import (
    NO_HASH,
    Event,
    StudyRow,
    dumps,
    dumps_answer,
    has_types,
    hash_fields,
    loads,
    seal,
)
from grbp.live.store.base import OWN_LOG, Store, Transaction
from grbp.live.verify import Verified, verify_study

GRANT, REVOKE, VERIFIED, BACKUP = "grant", "revoke", "verified", "backup"
"""What is recorded: a token that was made or revoked, a check of the store, a copy of it."""

KINDS: Final = (GRANT, REVOKE, VERIFIED, BACKUP)


def record(store: Store, kind: str, who: str, now: datetime, /, **what: Any) -> Event:
    """Record something of a store itself; return when it is safe."""
    call = Call(who, format_time(now))
    return store.write(OWN_LOG, lambda tx: append(tx, call, kind, **what))


def append(tx: Transaction, call: Call, kind: str, /, **what: Any) -> Event:
    """Write an event of the store itself, and the row that names it as the last."""
    if kind not in KINDS:
        raise InvalidInput(f"the kind {kind!r} was given; it must be one of {', '.join(KINDS)}")
    row, latest = tx.study(), {}
    if row is None:
        row = StudyRow(OWN_LOG, _dumps_config(NO_HASH), 0, NO_HASH)
        tx.put_study(row)  # It must be there before its events.
    else:
        latest = loads(_require_last(tx, row).response)["latest"]
    answer = dumps_answer({"latest": latest | {kind: row.seq + 1}}, 0, row._asdict())
    who, now = call.who, call.now
    event = Event(row.seq + 1, kind, 0, 0, dumps(what), "", who, now, "", "", row.head, "")
    event = seal(event, answer)
    tx.append(event)
    tx.put_study(row._replace(config=_dumps_config(event.hash), seq=event.seq, head=event.hash))
    return event


def read_events(store: Store, after: int = 0) -> list[Event]:
    """Return the events after a number; refuse a log that was damaged or changed."""
    return store.read(OWN_LOG, lambda tx: list(read_log(tx, after)))


def read_log(tx: Transaction, after: int = 0, head: str | None = None) -> Iterator[Event]:
    """Yield the events after a number, each once it has been checked.

    Given the hash of the event of that number, the next one must continue from there.
    """
    row, last = tx.study(), head
    if row is None:
        if after:
            raise _damaged(after)
        return
    if after and last is None:
        last = _require_event(tx, after).hash
    seq, last = after, NO_HASH if last is None else last
    for event in tx.all_events(after):
        if _is_whole(event) and event.seq == seq + 1 and event.previous == last:
            yield event
            seq, last = event.seq, event.hash
        else:
            raise _damaged(seq + 1)
    if row.config != _dumps_config(last):
        raise _damaged(seq + 1)


def last_of(store: Store, kind: str) -> Event | None:
    """Return the last event of a kind; None if there is none."""

    def find(tx: Transaction) -> Event | None:
        row = tx.study()
        if row is None:
            return None
        seq = loads(_require_last(tx, row).response)["latest"].get(kind)
        return None if seq is None else _require_event(tx, seq)

    return store.read(OWN_LOG, find)


def verify(store: Store) -> Verified:
    """Check the whole log of a store itself, as a study is checked."""
    return store.read(OWN_LOG, lambda tx: verify_study(tx, None, decide=False, again=_append_again))


def _require_last(tx: Transaction, row: StudyRow) -> Event:
    """Return the last event, or refuse a log that does not end with what its row names."""
    last = _require_event(tx, max(row.seq, 1))
    if row.config != _dumps_config(last.hash):
        raise _damaged(row.seq + 1)
    return last


def _require_event(tx: Transaction, seq: int) -> Event:
    """Return the event of a number, or refuse a log that has lost or changed it."""
    event = tx.event(seq)
    if event is None or not _is_whole(event):
        raise _damaged(seq)
    return event


def _is_whole(event: Event) -> bool:
    """Return whether an event is as it was written."""
    return has_types(event) and hash_fields(event[:-1]) == event.hash


def _damaged(seq: int) -> Damaged:
    return Damaged(
        f"event {seq} of the store's own log is missing, or was damaged or changed; restore a"
        " backup"
    )


def _dumps_config(head: str) -> str:
    """Write what the row keeps: the hash of the last event."""
    return dumps({"head": head})


def _append_again(tx: Transaction, event: Event) -> Event:
    """Write an event once more, elsewhere."""
    return append(tx, Call(event.who, event.recorded), event.kind, **loads(event.request))
