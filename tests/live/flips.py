"""A store that was damaged: who notices, what every verb says then, and whether advice is right.

A bit is flipped in a finished file, or in the log ahead of one whose writer was killed; or a page
is overwritten, or a row is changed by somebody else. Then every verb is tried, from Python and
from the shell. Each must answer or refuse in one sentence of ours; and whatever is advised must be
what the study advises without the damage.
"""

import io
import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from functools import cache, partial
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import apsw
from clerk import GOAL, Clerk, Clock, ask

from grbp import Advice, GrbpError, Study, cli
from grbp.live.recording import replay
from grbp.live.schema import STATUSES, Event
from grbp.live.store.base import LAST, Transaction
from grbp.live.store.memory import MemoryStore
from grbp.live.store.sqlite import SqliteStore

STUDIES: dict[str, Any] = {"a": {"start": "first", "windows": {"finish": 0.05}}, "b": {}}

Said = tuple[Any, ...]
"""What an answer comes to: the case, its state and status, its steps, and the action."""


class Flip(NamedTuple):
    """What one flipped bit came to."""

    outcome: str
    """ "named" by verify, "refused" when the file is opened or read, "nothing" that can be read,
    "older" where the end of the log ahead is not read any more, or "unseen", which must not be."""
    sentences: list[str]
    by_sqlite: bool
    """Whether SQLite's own check notices it."""
    event: int | None
    """The number of the event that it is in, if it is in one."""
    ahead: bool
    """Whether it is in the log ahead of a file, and not in the file."""
    wrong: list[str]
    """Which verbs failed otherwise than in a sentence, or advised what they should not."""


class Damage(NamedTuple):
    """A store that was damaged in another way, and which verbs did what they should not."""

    what: str
    wrong: list[str]


class Whole:
    """A finished store, with all it says, and as its files were while a writer had it open."""

    def __init__(self, folder: Path, requests: int = 40) -> None:
        self.folder, self.path = folder, folder / "whole.db"
        self.log, self.file = self._work(requests)
        self.whole = self.path.read_bytes()
        self.shown = _shown(self.path)
        self.events = {name: _log(self.path, name) for name in STUDIES}
        self.cases = {name: max(one.case for one in self.events[name]) for name in STUDIES}
        self.asks, self.writes = cache(self._asks), cache(self._writes)
        self._copies = count()

    def _work(self, requests: int) -> tuple[bytes, bytes]:
        """Make two studies and work on them; return the log ahead, and the file as it was then."""
        for name, options in STUDIES.items():
            Study.create(self.path, name, GOAL, clock=Clock(), **options).close()
        with closing(SqliteStore(self.path)) as store:
            store._connection.wal_autocheckpoint(0)
            clock = Clock()
            for name in STUDIES:
                study, clerk = Study(store, name, clock=clock, who="ada"), Clerk(name)
                for _ in range(requests):
                    clerk.learn(ask(study, clerk.request()))
            log = self.path.with_name("whole.db-wal").read_bytes()
            return log, self.path.read_bytes()

    def copy(self, file: bytes | bytearray, log: bytes | bytearray = b"") -> Path:
        """Write a store of its own."""
        place = self.folder / f"{next(self._copies)}"
        place.mkdir()
        (place / "x.db").write_bytes(file)
        if log:
            (place / "x.db-wal").write_bytes(log)
        return place / "x.db"

    def length(self, study: Study, *, older: bool) -> int:
        """Return how many events a study has; fewer if the end of the log ahead may be lost."""
        full = len(self.events[study.name])
        with suppress(GrbpError):
            return min(full, len(study.log(0, 10_000))) if older else full
        return full

    def _asks(self, name: str, events: int) -> dict[int, Said]:
        """Return what a study advises after some events, by case."""
        if not events:
            return {}
        study = self._play(name, events)
        return {one.case: said(study.ask(one.case)) for one in study.cases()}

    def _writes(self, name: str, events: int, verb: str, case: int) -> Said | None:
        """Return what a study answers to something that is recorded; None if it refuses."""
        with suppress(GrbpError):
            return act(self._play(name, events), verb, case)
        return None

    def _play(self, name: str, events: int) -> Study:
        """Play some events again, in memory."""
        store = MemoryStore()

        def play(tx: Transaction) -> None:
            for event in self.events[name][:events]:
                replay(tx, event, None, decide=False)

        store.write(name, play)
        return Study(store, name, clock=Clock(), who="ada")


def act(study: Study, verb: str, case: int) -> Said:
    """Ask a study, open a case in it, or tell a step of a case; return what it says."""
    if verb == "open":
        return said(study.open_case(2, key="opened"))
    if verb == "tell":
        action = study.ask(case).action
        took = "continue" if action is None else action.name.lower()
        return said(study.tell(case, 0 if took == "finish" else 2, took=took, key="told"))
    return said(study.ask(case))


def said(advice: Advice) -> Said:
    """Return what an answer comes to."""
    action = None if advice.action is None else advice.action.name.lower()
    return advice.case, advice.state, advice.status, advice.step, action


def flip_many(folder: Path, flips: int, seed: int) -> Iterator[Flip]:
    """Flip one seeded bit at a time, of a finished file or of a log ahead; yield what comes."""
    whole = Whole(folder)
    events = _events(whole.path)
    draw = random.Random(f"flip-{seed}")  # noqa: S311
    for number in range(flips):
        ahead = number % 2 == 1
        flipped = bytearray(whole.log if ahead else whole.whole)
        bit = draw.randrange(8 * len(flipped))
        flipped[bit // 8] ^= 1 << bit % 8
        parts = (whole.file, flipped) if ahead else (flipped,)
        path = whole.copy(*parts)
        name = [*STUDIES][number // 2 % 2]
        wrong = try_every_verb(whole, partial(whole.copy, *parts), [name], older=ahead)
        by_sqlite, now = not _is_sound(path), _events(path)
        # Beside its study, which only says where in the file an event is.
        others = [one for one, other in zip(events, now, strict=False) if one[1:] != other[1:]]
        event = int(others[0][1]) if len(others) == 1 and len(now) == len(events) else None
        outcome, sentences = _outcome(whole, path)
        shutil.rmtree(path.parent)
        yield Flip(outcome, sentences, by_sqlite, event, ahead, wrong)


def _outcome(whole: Whole, path: Path) -> tuple[str, list[str]]:
    sentences, older = [], False
    try:
        for name in STUDIES:
            with Study(path, name) as study:
                sentences += [*filter(None, [study.read_only]), *study.verify().problems]
                log = study.log(0, 10_000)
                older |= len(log) < len(whole.events[name])
                if not sentences and log != whole.events[name][: len(log)]:
                    return "unseen", []
        if sentences:
            return "named", sentences
        if older:
            return "older", []
        return ("nothing" if _shown(path) == whole.shown else "unseen"), []
    except GrbpError as error:
        return "refused", [*sentences, str(error)]


# Every verb.


def try_every_verb(
    whole: Whole, copy: Callable[[], Path], names: Iterable[str] = STUDIES, *, older: bool = False
) -> list[str]:
    """Try all verbs on copies of a damaged store; return what they must not do, if they do it."""
    wrong: list[str] = []
    parser = cli._make_parser(["live"])  # To make it takes longer than a verb.
    with patch("os.fsync"), patch("grbp.cli._make_parser", lambda _: parser):
        for name in names:
            path = copy()
            wrong += _try_python(whole, path, name, older=older)
            wrong += _try_shell(path, name)
            shutil.rmtree(path.parent)
            for verb in ("open", "tell"):
                path = copy()
                wrong += _try_writing(whole, path, name, verb, older=older)
                shutil.rmtree(path.parent)
    return wrong


def _try(what: str, call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Make a call; return what it returned, and what is wrong with how it failed."""
    try:
        return call(), []
    except GrbpError as error:
        several = "\n" in str(error) or str(error).endswith(".")
        return None, [f"{what}: no sentence: {error}"] if several else []
    except Exception as error:
        return None, [f"{what}: {type(error).__name__}: {error}"]


def _try_python(whole: Whole, path: Path, name: str, *, older: bool) -> list[str]:
    """Try what only reads."""
    study, wrong = _try("Study", lambda: Study(path, name, clock=Clock()))
    if study is None:
        return wrong
    calls: dict[str, Callable[[], Any]] = {
        "names": lambda: Study.names(path),
        "status": study.status,
        "cases": lambda: study.cases(0, 10_000),
        "cases open": lambda: study.cases(0, 10_000, "open"),
        "log": lambda: study.log(0, 10_000),
        "trajectory": lambda: study.trajectory(5),
        "verify": study.verify,
        "replay": study.replay,
        "export": lambda: study.export(path.with_name("log")),
        "export_steps": lambda: study.export_steps(path.with_name("steps")),
        "backup": lambda: study.backup(path.with_name("copy")),
    }
    with study:
        right = whole.asks(name, whole.length(study, older=older))
        for case in range(1, whole.cases[name] + 2):
            answer, bad = _try(f"ask {name} {case}", lambda case=case: said(study.ask(case)))  # type: ignore[misc]
            wrong += bad
            if answer is not None and answer != right.get(case):
                wrong.append(f"ask {name} {case}: {answer} is advised")
        for case in (1, 2):
            for verb in ("case", "basis"):
                wrong += _try(f"{verb} {name} {case}", lambda: getattr(study, verb)(case))[1]  # noqa: B023
            wrong += _try(f"log of {case}", lambda: study.log(0, 10_000, case))[1]  # noqa: B023
        for what, call in calls.items():
            found, bad = _try(f"{what} {name}", call)
            wrong += bad
            for one in found or () if what.startswith("cases") else ():
                if one.action and one.action != right.get(one.case, (None,))[-1]:
                    wrong.append(f"{what} {name}: {one.action} is shown for case {one.case}")
    return wrong


def _try_writing(whole: Whole, path: Path, name: str, verb: str, *, older: bool) -> list[str]:
    """Open a case, or tell a step of the first that is open: as without the damage, or not."""
    study, wrong = _try("Study", lambda: Study(path, name, clock=Clock(), who="ada"))
    if study is None:
        return wrong
    with study:
        events = whole.length(study, older=older)
        under_way = [case for case, one in whole.asks(name, events).items() if one[2] == "open"]
        for case in under_way[:2] if verb == "tell" else [0]:
            answer, bad = _try(f"{verb} {name} {case}", lambda: act(study, verb, case))  # noqa: B023
            wrong += bad
            if answer is None:
                continue
            if answer != whole.writes(name, events, verb, case):
                wrong.append(f"{verb} {name} {case}: {answer} is answered")
            break  # After it, the study is another one.
    return wrong


SHELL = (
    ["status"], ["studies"], ["ask", "--case", "1"], ["ask", "--case", "2", "--json"], ["cases"],
    ["log"], ["log", "--json"], ["log", "--case", "1"], ["verify"], ["replay"], ["export"],
    ["export", "--steps", "s.csv", "--force"], ["backup", "copy.db"],
    ["tell", "--case", "1", "--state", "2", "--key", "t", "--who", "ada"],
    ["open", "--state", "2", "--key", "o", "--who", "ada"],
    ["archive", "--why", "so", "--who", "ada"],
)  # fmt: skip


def _try_shell(path: Path, name: str) -> list[str]:
    """Try the verbs on the shell; each ends with a status, and at worst with one sentence."""
    wrong = []
    for verb, *options in SHELL:
        study = [] if verb in ("studies", "backup") else ["--study", name]
        words = [str(path.with_name(word)) if "." in word else word for word in options]
        out, err = io.StringIO(), io.StringIO()
        what = f"grbp live {' '.join([verb, *options])} {name}"
        try:
            with redirect_stdout(out), redirect_stderr(err):
                status = cli.main(["live", verb, *words, "--store", str(path), *study])
        except Exception as error:
            wrong.append(f"{what}: {type(error).__name__}: {error}")
            continue
        lines = err.getvalue().splitlines()
        fine = (
            (status == 0 and not lines)
            or (status == 1 and verb in ("verify", "replay") and not lines)
            or (status == 2 and len(lines) == 1 and lines[0].startswith("grbp: "))
        )
        if not fine:
            wrong.append(f"{what}: status {status} and {lines}")
    return wrong


# Other damage.


def change_rows(folder: Path, each: int = 1) -> Iterator[Damage]:
    """Change rows of a finished store, each or some; yield what every verb does then."""
    whole, names = Whole(folder), cycle(STUDIES)
    for what, damaged in islice(_changed_rows(whole), 0, None, each):
        only = ["a"] if what in OF_A else [next(names)]
        yield Damage(what, try_every_verb(whole, partial(whole.copy, damaged), only))


def break_pages(folder: Path, seed: int, pages: int = 20) -> Iterator[Damage]:
    """Damage the files of a store, page by page; yield what every verb does then."""
    whole, names = Whole(folder), cycle(STUDIES)
    for what, damaged in _broken_files(whole, seed, pages):
        copy = partial(whole.copy, damaged)
        yield Damage(what, try_every_verb(whole, copy, [next(names)]))
    for what, log in _broken_logs(whole, seed, pages):
        copy = partial(whole.copy, whole.file, log)
        wrong = try_every_verb(whole, copy, [next(names)], older=True)
        yield Damage(f"the log ahead, {what}", wrong)


def _broken_files(whole: Whole, seed: int, pages: int) -> Iterator[tuple[str, bytes]]:
    """Overwrite pages with noise or nothing, swap them, and cut the file off."""
    size, draw = 4096, random.Random(f"pages-{seed}")  # noqa: S311
    number = len(whole.whole) // size
    for _ in range(pages):
        one, other = (draw.randrange(number) for _ in range(2))
        noise = draw.randbytes(size)
        for what, new in (("noise", noise), ("nothing", bytes(size))):
            file = bytearray(whole.whole)
            file[one * size : (one + 1) * size] = new
            yield f"{what} in page {one}", bytes(file)
        file = bytearray(whole.whole)
        a, b = slice(one * size, (one + 1) * size), slice(other * size, (other + 1) * size)
        file[a], file[b] = file[b], file[a]
        if file != whole.whole:
            yield f"pages {one} and {other} swapped", bytes(file)
        end = draw.randrange(len(whole.whole))
        yield f"cut off after {end} bytes", whole.whole[:end]


def _broken_logs(whole: Whole, seed: int, pages: int) -> Iterator[tuple[str, bytes]]:
    """Overwrite parts of the log ahead with noise, and cut it off."""
    draw = random.Random(f"logs-{seed}")  # noqa: S311
    for _ in range(pages // 4):
        start = draw.randrange(len(whole.log))
        log = bytearray(whole.log)
        log[start : start + 4096] = draw.randbytes(len(log[start : start + 4096]))
        yield f"noise at byte {start}", bytes(log)
        yield f"cut off after {start} bytes", whole.log[:start]


DEEP = "replace(hex(zeroblob(50000)), '00', '[[')"
CHANGED: dict[str, str] = {
    "threshold": "update cases set threshold = 3 - threshold",
    "state": "update cases set state = 1 + state % 3",
    "status": "update cases set status = case status when 'open' then 'won' else 'open' end",
    "no status": "update cases set status = 'x' where id & 1023 = 1",
    "known": "update cases set known = '[1,2]'",
    "known no JSON": "update cases set known = '{'",
    "known NaN": "update cases set known = replace(known, '0', 'NaN')",
    "known deep": "update cases set known = " + DEEP,  # noqa: S608
    "counts": "update cases set f_goal = f_goal + 1, c = c + 1",
    "large": "update cases set steps = 9223372036854775807, state = -9223372036854775808",
    "last": "update cases set last = 9223372036854775807",
    "last below": "update cases set last = -1",
    "blob": "update cases set since = cast(x'ff00fe' as text)",
    "no time": "update cases set since = '9999-12-31T23:59:59.999999+00:00', opened = ''",
    "no case": "delete from cases where id & 1023 = 1",
    "no cases": "delete from cases",
    "another case": "update cases set id = id + 100 where id & 1023 = 2",
    "shadow": "update studies set config = replace(config, '\"shadow\":false', '\"shadow\":true')",
    "goal": "update studies set config = replace(config, '\"goal\":4', '\"goal\":5')",
    "no goal": "update studies set config = replace(config, '\"goal\":4', '\"goal\":1000000000')",
    "seed": "update studies set config = replace(config, '\"seed\":0', '\"seed\":1')",
    "windows": "update studies set config = replace(config, '0.05', '0.06')",
    "windows NaN": "update studies set config = replace(config, '4320.0', 'NaN')",
    "no config": "update studies set config = '{}'",
    "config deep": "update studies set config = " + DEEP,  # noqa: S608
    "config bytes": "update studies set config = cast(x'fffe' as text)",
    "name": "update studies set study = 'c' where study = 'a'",
    "name bytes": "update studies set study = cast(x'ff' as text) where study = 'a'",
    "no name": "update studies set study = '' where study = 'a'",
    "studies swapped": "update studies set id = 7 - id",
    "no study": "delete from studies where study = 'a'",
    "due": "update held set due = '2020'",
    "due later": "update held set due = '9999-12-31T23:59:59.999999+00:00'",
    "due bytes": "update held set due = cast(x'ff' as text)",
    "held step": "update held set step = 9",
    "held event": "update held set seq = 1",
    "no held step": "delete from held",
    "response": "update events set response = '{}' where id & 1023 = 3",
    "response deep": "update events set response = " + DEEP + " where id & 1023 = 3",  # noqa: S608
    "response list": "update events set response = '[1]'",
    "responses NaN": "update events set response = replace(response, '0', 'NaN')",
    "last response": "update events set response = replace(response, 'on', '') where id & 63 > 39",
    "response large": "update events set response = replace(response, ':2', ':' || 1e999)",
    "request": "update events set request = '{' where id & 1023 in (1, 2)",
    "recorded": "update events set recorded = 'x'",
    "recorded late": "update events set recorded = '9999-12-31T23:59:59.999999+00:00'",
    "kind": "update events set kind = 'open' where id & 1023 = 5",
    "kind nobody knows": "update events set kind = 'x'",
    "event bytes": "update events set who = cast(x'ff' as text), response = cast(x'fe' as text)",
    "event number": "update events set id = id + 500 where id & 1023 = 9",
    "no first event": "delete from events where id & 1023 = 1",
    "no event": "delete from events where id & 1023 = 6",
    "no last event": "delete from events where id & 1023 > 38",
    "no events": "delete from events",
    "key": "update events set key = 'told' where id & 1023 = 4",
    "no table": "drop table held",
    "no index": "drop index events_key",
    "no column": "alter table cases drop column known",
    "null": "NULL in a column that has none",
}
"""What somebody else does to the rows."""

OF_A = {what for what, statement in CHANGED.items() if "held" in statement or "'a'" in statement}
"""What concerns only the first study."""


def _changed_rows(whole: Whole) -> Iterator[tuple[str, bytes]]:
    """Change rows as another program would."""
    for what, statement in CHANGED.items():
        path = whole.copy(whole.whole)
        with closing(apsw.Connection(str(path))) as connection:
            connection.pragma("foreign_keys", False)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
            if what == "null":
                connection.pragma("writable_schema", True)
                connection.execute("update sqlite_master set sql = replace(sql, ' not null', '')")
                connection.execute("update sqlite_master set sql = replace(sql, 'strict', '')")
                connection.execute("pragma writable_schema = reset")
                statement = "update cases set since = NULL, state = 'x'; update events set who = 7"  # noqa: PLW2901
            connection.execute(statement)
            connection.pragma("journal_mode", "delete")
        yield what, path.read_bytes()
        shutil.rmtree(path.parent)


# What a store shows.


def _is_sound(path: Path) -> bool:
    """Return what SQLite itself says."""
    bare = apsw.Connection(str(path))
    try:
        return bare.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    except apsw.Error:
        return False
    finally:
        bare.close()


def _events(path: Path) -> list[tuple[Any, ...]]:
    """Return the bytes of all events, as far as SQLite finds them."""
    columns = ", ".join(f'cast("{name}" AS BLOB)' for name in Event._fields[1:])
    bare = apsw.Connection(str(path))
    try:
        found = f"SELECT id >> 40, id % (1 << 40), {columns} FROM events NOT INDEXED"  # noqa: S608
        return bare.execute(found).fetchall()
    except apsw.Error:
        return []
    finally:
        bare.close()


def _log(path: Path, name: str) -> list[Event]:
    """Return all events of a study."""
    with Study(path, name) as study:
        return study.log(0, 10_000)


def _shown(path: Path) -> list[object]:
    """Return all that can be read through the studies of a file, by every way to read it."""
    with closing(SqliteStore(path)) as store:
        shown: list[object] = [store.studies()]
        for name in STUDIES:
            study = Study(store, name)
            log, cases = study.log(0, 10_000), study.cases(0, 10_000)
            shown += [log, cases, study.status()]
            shown += [study.cases(0, 10_000, status) for status in STATUSES]
            shown += [study.log(0, 10_000, case.case) for case in cases]
            keys = [event.key for event in log if event.key]
            shown += store.read(name, lambda tx, keys=keys: [*map(tx.event_of_key, keys)])  # type: ignore[misc]
            shown += store.read(name, lambda tx: tx.due(LAST))
        return shown
