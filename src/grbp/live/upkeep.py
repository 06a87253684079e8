"""Look after a store: check every log of it, and compare it with what was written down elsewhere.

A log that has lost its end, or that somebody made anew, fits together like any other. Only who has
written down earlier how many events there were, and the hash of the last one, can tell.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from grbp._format import plural
from grbp._io import check_writable, make_private, reason
from grbp.errors import CannotWrite, Damaged, GrbpError, InvalidInput
from grbp.live import store_log
from grbp.live.store.base import HIDDEN, OWN_LOG, Store, Transaction
from grbp.live.verify import Verified, describe_error, verify_study


class Checked(NamedTuple):
    """What a look at a whole store found.

    Attributes
    ----------
    logs : dict
        What was found in each log, by its name; the store's own are among them.
    problems : tuple of str
        What is wrong with the store as such, a sentence each.
    """

    logs: dict[str, Verified]
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        return not self.problems and all(found.ok for found in self.logs.values())

    @property
    def events(self) -> int:
        """The number of events in all logs."""
        return sum(found.events for found in self.logs.values())


class Head(NamedTuple):
    """How far a log had come when it was backed up: a line of a file of heads.

    Attributes
    ----------
    time, backup : str
        When that was, and the name of the backup.
    study : str or None
        The study; None for the log of the store itself.
    events : int
    head : str
        The number and the hash of the last event.
    """

    time: str
    backup: str
    study: str | None
    events: int
    head: str


def name_log(log: str) -> str:
    """Say to a person which log is meant."""
    return "the store's own log" if log.startswith(HIDDEN) else f"study {log}"


def verify_store(store: Store, *, decide: bool = False) -> Checked:
    """Check every log of a store, and ask the database once what it finds wrong itself.

    Every decision is made again, if that is asked for.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 (other verbs need none)

    logs: dict[str, Verified] = {}
    lost: list[str] = []
    with ThreadPoolExecutor(1) as beside:
        damage = beside.submit(store.damage)
        try:
            for log in store.logs():
                logs[log] = _verify_log(store, log, decide=decide)
                lost += filter(None, [store.missing(log)])
        except GrbpError as error:
            if not damage.result():  # Somebody else's fault, such as that of a network.
                raise
            lost.append(str(error))
        return Checked(logs, (*lost, *damage.result()))


def _verify_log(store: Store, log: str, *, decide: bool) -> Verified:
    """Check one log; what cannot even be read is a problem of it."""
    try:
        if log == OWN_LOG:
            return store_log.verify(store)
        return store.read(log, lambda tx: verify_study(tx, None, decide=decide))
    except Exception as error:
        if isinstance(error, GrbpError) and not isinstance(error, Damaged):
            raise
        return Verified(0, "", 0, (f"it cannot be checked: {describe_error(error)}",))


def list_heads(checked: Checked, time: str, backup: str) -> list[Head]:
    """Return what is to be written down of a store that was checked."""
    return [
        Head(time, backup, None if log == OWN_LOG else log, found.events, found.head)
        for log, found in checked.logs.items()
    ]


def append_heads(path: Path, heads: Iterable[Head]) -> None:
    """Write heads to the end of a file, and wait until they are on the disk."""
    text = "".join(f"{json.dumps(head._asdict())}\n" for head in heads)
    make_private(path)
    try:
        with path.open("ab+") as stream:
            # A line that was cut off stays one line.
            if stream.tell() and not path.read_bytes().endswith(b"\n"):
                text = f"\n{text}"
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise CannotWrite(
            f"{path} cannot be written ({reason(error)}), so the heads are not written down; name"
            " a file in a folder that can be written to"
        ) from error


def read_heads(path: Path) -> list[Head]:
    """Read the heads that were written down, or refuse a file that has other lines."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else "it is no text"
        raise InvalidInput(
            f"--heads {path} was given; it cannot be read ({why}): name the file that"
            " `grbp live backup --heads` wrote"
        ) from error
    return [_read_head(path, number, line) for number, line in enumerate(lines, 1) if line]


_TYPES: Final = (str, str, str | None, int, str)


def _read_head(path: Path, number: int, line: str) -> Head:
    with suppress(ValueError, TypeError):
        head = Head(**json.loads(line))
        if all(isinstance(one, kind) for one, kind in zip(head, _TYPES, strict=True)):
            return head
    raise InvalidInput(
        f"--heads {path} was given; line {number:,} is not one that `grbp live backup --heads`"
        " wrote: name another file, or remove that line"
    )


def check_heads_file(path: Path, *folders: Path) -> list[Head]:
    """Return the heads that are written down so far; refuse a file that would be lost with them."""
    check_writable(path)
    place = Path(os.path.realpath(path)).parent
    if not place.is_dir():
        raise InvalidInput(
            f"--heads {path} was given; there is no folder {place}: make it, or mount its disk"
        )
    for folder in folders:
        if Path(os.path.realpath(folder)) == place:
            raise InvalidInput(
                f"--heads {path} was given, in the folder of what it is to prove; name a file"
                " elsewhere, best on another machine"
            )
    return read_heads(path) if path.exists() else []


def find_lost_heads(store: Store, heads: Iterable[Head]) -> Iterator[str]:
    """Say which logs no longer have what was written down of them, a sentence each."""
    by_log: dict[str, list[Head]] = {}
    for head in heads:
        by_log.setdefault(OWN_LOG if head.study is None else head.study, []).append(head)
    there = store.logs()
    for log, written in sorted(by_log.items(), key=lambda item: item[0] == OWN_LOG):
        if log in there:
            lost = store.read(log, partial(_find_lost_head, written))
            if lost is not None:
                yield f"{name_log(log)} {lost}"
        else:
            last = written[-1]
            had = f"it had {plural(last.events, 'event')} on {last.time[:19]}"
            yield f"{name_log(log)} is gone: {had}"


def _find_lost_head(written: list[Head], tx: Transaction) -> str | None:
    """Say what is missing of a log, or was changed; None if it still has all its heads."""
    for head in written:
        event = tx.event(head.events)
        if event is None:
            return (
                f"has lost its end: event {head.events}, which was there on {head.time[:19]}, is"
                " missing"
            )
        if event.hash != head.head:
            return (
                f"is not what it was: event {head.events} has another hash than on {head.time[:19]}"
            )
    return None
