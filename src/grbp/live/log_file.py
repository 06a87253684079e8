"""Take a study elsewhere: its log as lines of JSON, its steps as a table."""

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from io import StringIO
from operator import methodcaller
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from grbp._io import Kind, reason
from grbp.errors import InvalidInput
from grbp.learners.state_counters import StateCounters, add_step
from grbp.live.arguments import check_label, check_text
from grbp.live.config import FINISH, Config, check_config, load_config
from grbp.live.history import Entry, keep_steps, standing_entries
from grbp.live.schema import DAMAGE, LOST, WON, Event, StudyRow, dumps, has_types, loads
from grbp.live.starts import make_state_counters
from grbp.live.store.base import Store
from grbp.live.store.transaction import LAST, PAGE, Transaction, refuse_taken
from grbp.live.store.witness import END
from grbp.live.verify import Replay
from grbp.worlds.step_table import STEP_COLUMNS

_FORMAT: Final = "grbp live log"
_FORMAT_VERSION: Final = 1

_SMALL: Final = 2**19
"""The bytes of a log, about 1,000 events, that are imported at once; longer, others would wait."""


def log_kind(name: str) -> Kind:
    """Return the kind of the exported logs of a study, of which a later one replaces another."""
    head = f'"format":{dumps(_FORMAT)}', f'"study":{dumps(name)}'
    parts = "".join(f"(?=[^\\n]*{re.escape(part)})" for part in head)
    return Kind(re.compile(rf"\{{{parts}".encode()), "it is not an export of this study")


def dump_log(store: Store, name: str) -> Iterator[bytes]:
    """Yield the lines of a log: a head, then an event each, up to the last one there is now."""
    study = store.read(name, lambda tx: tx.study())
    assert study is not None  # noqa: S101 (whoever asks has found it)
    head = {"study": name, "events": study.seq, "head": study.head}
    yield _dump_line({"format": _FORMAT, "format_version": _FORMAT_VERSION} | head)
    after = 0
    while after < study.seq:
        limit = min(PAGE, study.seq - after)
        # The log only grows, so that pages read one after another fit together.
        page = store.read(name, methodcaller("events", after, limit))
        for event in page or [None]:
            if event is None or event.seq != after + 1:
                raise InvalidInput(
                    f"the log of {name!r} is damaged after event {after:,} of {study.seq:,}; verify"
                    " it, and restore a backup"
                )
            yield _dump_line(event._asdict())
            after += 1


def _dump_line(value: object) -> bytes:
    return f"{dumps(value)}\n".encode()


def check_target(path: Path | str, store: Store) -> Path:
    """Refuse to export to the files of the store itself, which would be replaced."""
    own = os.path.realpath(store.where)
    if os.path.realpath(path) in {own + end for end in ("", "-wal", "-shm", END)}:
        raise InvalidInput(f"{path} was given; it is the store itself: name another file")
    return Path(path)


def read_log(path: Path) -> tuple[str, Iterator[Event]]:
    """Return the name of an exported study, and its events as they are read."""
    try:
        lines = path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({reason(error)}); name an export") from error
    with closing(lines):
        head = _parse_line(path, 1, lines.readline())
    if head.get("format") != _FORMAT or not isinstance(head.get("study"), str):
        raise InvalidInput(f"{path} was given; it is not an exported study")
    if head.get("format_version") != _FORMAT_VERSION:
        raise InvalidInput(
            f"{path} is written in format {head.get('format_version')}; this version reads format"
            f" {_FORMAT_VERSION}"
        )
    # The names of the store's own logs are none of a study.
    return check_text("name", head["study"], 64), _read_events(path, head)


def _read_events(path: Path, head: dict[str, Any]) -> Iterator[Event]:
    """Yield the events of a file; refuse one that ends early or goes on."""
    count, last = 0, ""
    with path.open("rb") as lines:
        lines.readline()
        for number, line in enumerate(lines, 2):
            data = _parse_line(path, number, line)
            event = Event(**data) if tuple(data) == Event._fields else None
            # The hash takes every field for one line.
            if event is None or not has_types(event) or any("\n" in str(one) for one in event):
                raise InvalidInput(f"{path}, line {number}, is not an event of a study")
            count, last = count + 1, event.hash
            yield event
    if count != head.get("events") or last != head.get("head"):
        raise InvalidInput(
            f"{path} has {count:,} events; {head.get('events')} were exported: it is incomplete"
        )


def _parse_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """Read a line, or refuse it."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidInput(f"{path}, line {number}, is damaged, or the file is not an export")
    return value


def import_log(store: Store, path: Path) -> str:
    """Record an exported study in a store, event by event, as the rules make it; return its name.

    All of it is recorded, or nothing. Every event must come out as it was exported. A long log is
    recorded in a file of its own first, so that nobody waits meanwhile.
    """
    name, events = read_log(path)
    refuse_taken(name, store.read(name, lambda tx: tx.study()))

    def record(tx: Transaction) -> None:
        refuse_taken(name, tx.study())
        # What the database says is another matter than an event that was changed.
        for problem in Replay(tx).find_problems(_check_configurations(path, name, events), DAMAGE):
            raise InvalidInput(f"{path} cannot be imported: {problem}")

    if path.stat().st_size <= _SMALL or store.address is None:
        store.write(name, record)
        return name
    from grbp.live.store.sqlite import SqliteStore  # noqa: PLC0415 (only this needs one)

    with TemporaryDirectory() as folder:
        draft = Path(folder) / "draft"
        with closing(SqliteStore(draft, create=True, synchronous="OFF")) as scratch:
            scratch.write(name, record)
            store.adopt(name, scratch)
    return name


def _check_configurations(path: Path, name: str, events: Iterable[Event]) -> Iterator[Event]:
    """Yield events; refuse a configuration that no new study has, or that is of another name."""
    for event in events:
        named = name
        if event.kind == "study":
            try:
                named = check_config(loads(event.request)["config"]).name
                check_label("name", named, 64)
            except InvalidInput as error:
                raise InvalidInput(
                    f"{path} cannot be imported: event {event.seq}: {error}"
                ) from error
            except DAMAGE:  # What cannot be read is named when it is played.
                pass
        yield event
        if named != name:
            raise InvalidInput(f"{path} cannot be imported: its events are not those of {name!r}")


def step_lines(tx: Transaction, *, codes: bool) -> Iterator[bytes]:
    """Yield the steps as CSV with the columns that `grbp.fit` reads, a case at a time.

    Beside them stand the study's words, the group, what was advised, who recorded the step, when
    and why; and the code of the case, if somebody asks for it.
    """
    study = tx.study()
    assert study is not None  # noqa: S101 (whoever asks has found it)
    config = load_config(study.config)
    names = [
        *STEP_COLUMNS,
        *(["group"] if config.groups else []),
        *(["code"] if codes else []),
        *(_LABELS if config.labels.keys() & {"states", "actions"} else []),
        *_BESIDE,
    ]
    yield _dump_rows([names])
    for case in tx.all_cases():
        of_case = {"case": case.case, "group": case.group}
        if codes:
            known = tx.codes([case.case]).get(case.case)
            of_case["code"] = "" if known is None else known.code
        *told, _ = keep_steps(standing_entries(tx, case))
        steps = (of_case | _describe_step(config, entry) for entry in reversed(told))
        yield _dump_rows([step[name] for name in names] for step in steps)


def _dump_rows(rows: Iterable[Iterable[object]]) -> bytes:
    """Write rows as CSV."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


_LABELS: Final = ("state_label", "action_label", "next_state_label")
_BESIDE: Final = ("advised", "why", "who", "recorded", "observed")


def _describe_step(config: Config, entry: Entry) -> dict[str, Any]:
    """Return what a table has of a step."""
    event, then = entry.event, entry.answer
    words, before, after, took = config.words, then["from"], then["state"], then["took"]
    return {
        "step": event.step,
        "state": before,
        "action": took,
        "next_state": after,
        "state_label": words.states[before] if words.states else "",
        "action_label": words.action(took),
        "next_state_label": words.states[after] if words.states else "",
        "advised": then["advised"],
        "why": loads(event.request)["why"],
        "who": event.who,
        "recorded": event.recorded,
        "observed": entry.since,
    }


def count_steps(tx: Transaction, study: StudyRow) -> dict[str, StateCounters]:
    """Count by state, for each group, the steps that stand and count by now, and the cases."""
    config = load_config(study.config)
    nothing = make_state_counters(1, np.zeros(4 * (config.goal - 1)))
    found = dict.fromkeys(config.groups or [""], nothing)
    held = {(one.case, one.step) for one in tx.due(LAST)}
    for case in tx.all_cases():
        n = found[case.group]
        n = n._replace(rho=n.rho + (case.status in (WON, LOST)))
        *told, _ = keep_steps(standing_entries(tx, case))
        for event, then, _ in told:
            if (case.case, event.step) not in held:
                n = add_step(n, then["from"], then["took"] == FINISH, then["state"])
        found[case.group] = n
    return found
