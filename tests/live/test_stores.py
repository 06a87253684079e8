"""One contract for all stores, and what the two databases promise beyond it."""

import itertools
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from optional import optional
from postgres_server import Server
from runs import one_sentence
from stored import (
    a_case,
    a_code,
    a_held_step,
    a_study,
    an_event,
    create,
    eventually,
    everything,
    log,
    some_rows,
    tell,
)

from grbp.errors import CannotWrite, InvalidInput, MissingExtra, NotFound
from grbp.live.schema import dumps_answer
from grbp.live.store import open_store
from grbp.live.store.base import HIDDEN, LAST, Store, Transaction
from grbp.live.store.memory import MemoryStore
from grbp.live.store.sql import MOST

Opener: TypeAlias = Callable[[], Store]
HERE = Path(__file__).parent
DATABASES = ["sqlite", "postgres"]
TEXTS = [
    "", " ", "a ", "A", "a", "é", "e\u0301", "ß", "\ufeffa", "\ufffe", "\uffff", "日本", "\u202eb",
    "😀", "\U0010ffff", "\x01\x1f\x7f\x85\u2028", "line\r\n\ttab", "'\"`\\", "%s ? $1 {}",
    "'); drop table events; --", "x" * 100_000,
]  # fmt: skip
NUMBERS = [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
NOBODY_KEEPS = ["a\0b", "\ud800", 2**63, -(2**63) - 1, 1.0, None, True, b"x"]


@pytest.fixture
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """A function that opens one and the same store again and again."""
    ways: dict[str, Callable[[], Any]] = {
        "memory": MemoryStore,
        "sqlite": lambda: tmp_path / "live.sqlite",
        "postgres": lambda: request.getfixturevalue("dsn"),
    }
    where = ways[request.param]()
    opened: list[Store] = []

    def again() -> Store:
        opened.append(open_store(where, create=True))
        return opened[-1]

    yield again
    for store in opened:
        store.close()


@pytest.fixture
def store(opener: Opener) -> Store:
    """A store with one empty study, s."""
    store = opener()
    store.write("s", create)
    return store


def together(store: Store, jobs: list[Callable[[], Any]]) -> list[Any]:
    """Let several threads write at one time; return what each got, or its error."""
    with ThreadPoolExecutor(len(jobs)) as threads:
        with store._lock:
            started = [threads.submit(job) for job in jobs]
            eventually(lambda: len(store._waiting) == len(jobs))
        return [one.exception() or one.result() for one in started]


def fails(rows: Transaction) -> None:
    """Write rows of every kind over those that are there, and fail."""
    tell(rows, key="k2")
    rows.put_case(a_case(1, state=9))
    rows.put_case(a_case(3))
    rows.put_held(a_held_step(2, 1, due="9"))
    rows.drop_held(1, 1)
    rows.put_code(a_code(1))
    rows.put_code(a_code(3))
    rows.drop_code(2)
    raise LookupError


def contradicts(rows: Transaction) -> None:
    """Write what contradicts what is stored, which a store may say at once or later."""
    tell(rows)
    rows.append(an_event(1))


def contradicts_and_fails(rows: Transaction) -> None:
    """Write what contradicts what is stored, and fail for a reason of one's own."""
    with suppress(Exception):
        contradicts(rows)
    raise LookupError


def stops_at_once(_: Transaction) -> None:
    """Fail before anything was read or written."""
    raise LookupError


@pytest.mark.parametrize("opener", ["memory", *DATABASES], indirect=True)
class TestContract:
    """What every store does."""

    def test_nothing_is_there_before_it_is_written(self, opener: Opener) -> None:
        store = opener()

        def look(rows: Transaction) -> list[object]:
            found = [
                rows.study(),
                rows.case(1),
                rows.held(1, 1),
                rows.event_of_key("k"),
                rows.event(1),
            ]
            pages = rows.events(0, 9), rows.cases(0, 9), rows.cases(0, 9, "open"), rows.due(LAST)
            return [*found, *pages, rows.find_codes("b", 9), [*rows.codes([1])]]

        assert store.read("s", look) == store.write("s", look) == [None] * 5 + [[]] * 6
        assert (store.studies(), store.checks()) == ([], [])

    def test_each_row_is_read_as_it_was_last_written(self, store: Store) -> None:
        case, held = a_case(), a_held_step(due="5")
        counts: dict[str, Any] = {"opened": 9, "won": 2, "pending": 4, "c": 7, "c_up": 3}
        study = a_study()._replace(counters=[9, 1.5, 0, 0, 0, 0, 0, 0, 1], **counts)
        event = an_event(key="k", response=dumps_answer({}, 0, study._asdict()))
        study = study._replace(seq=1, head=event.hash, config="{9}")

        def write(rows: Transaction) -> str:
            for change in (1, 2):
                rows.put_study(study._replace(seq=0, config=f"{{{change}}}"))
                rows.put_case(case._replace(state=change))
                rows.put_held(held._replace(seq=change))
            rows.append(event)
            rows.put_study(study)
            rows.put_held(a_held_step(1, 2))
            rows.drop_held(1, 2)
            rows.drop_held(7, 7)
            assert (rows.held(1, 2), rows.event_of_key("k"), rows.study()) == (None, event, study)
            return "done"

        def look(rows: Transaction) -> tuple[object, ...]:
            return (
                rows.study(),
                rows.event_of_key("k"),
                rows.case(1),
                rows.held(1, 1),
                rows.due("5"),
            )

        assert store.write("s", write) == "done"
        last = study, event, case._replace(state=2), held._replace(seq=2)
        assert store.read("s", look) == (*last, [last[-1]])

    def test_a_case_that_was_read_is_written_as_well_as_a_new_one(self, store: Store) -> None:
        rows_of = [a_case(1, state=n % 2, since=f"t{n}", held=n // 3) for n in range(1, 6)]

        def write(rows: Transaction) -> None:
            for row in rows_of:
                rows.put_case(row)
                rows.put_case(row)
                assert rows.case(1) == row
            rows.put_case(rows_of[0])

        store.write("s", write)
        assert store.read("s", lambda rows: rows.cases(0, 9)) == rows_of[:1]

    @pytest.mark.parametrize("field", ["request", "who", "kind", "previous", "key"])
    def test_text_is_kept_to_the_last_character(self, store: Store, field: str) -> None:
        texts = TEXTS[: -1 if field == "key" else None]
        events = [an_event(seq, **{field: text}) for seq, text in enumerate(texts, start=1)]
        store.write("s", lambda rows: [rows.append(event) for event in events])
        assert store.read("s", lambda rows: rows.events(0, 99)) == events

    def test_keys_that_look_alike_are_different_keys(self, store: Store) -> None:
        events = [an_event(seq, key=text) for seq, text in enumerate(TEXTS[:-1], start=1)]
        store.write("s", lambda rows: [rows.append(event) for event in events])
        found = store.read("s", lambda rows: [rows.event_of_key(text) for text in TEXTS[1:-1]])
        assert found == events[1:]

    def test_numbers_are_kept_to_the_last_bit(self, store: Store) -> None:
        cases = [a_case(1 + i, first=n, c_up=-n - 1) for i, n in enumerate(NUMBERS)]
        steps = [a_held_step(1, 1 + i, seq=n) for i, n in enumerate(NUMBERS)]

        def write(rows: Transaction) -> None:
            for case, step in zip(cases, steps, strict=True):
                rows.put_case(case)
                rows.put_held(step)
            rows.put_case(a_case(MOST))

        store.write("s", write)
        assert store.read("s", lambda rows: rows.due(LAST)) == steps
        assert store.read("s", lambda rows: [rows.case(n + 1) for n in range(len(cases))]) == cases
        assert store.read("s", lambda rows: rows.case(MOST)) == a_case(MOST)
        assert store.read("s", lambda rows: rows.case(MOST + 1)) is None
        if not isinstance(store, MemoryStore):
            for number in (0, -1, MOST + 1):
                with pytest.raises(InvalidInput, match="must have a number from 1 to"):
                    store.write("s", lambda rows, n=number: rows.put_case(a_case(n)))  # type: ignore[misc]

    def test_a_code_is_found_in_progress_first_then_the_last_one_first(self, store: Store) -> None:
        over, codes = {2, 4}, [a_code(case) for case in (1, 2, 4)]

        def write(rows: Transaction) -> None:
            for case in range(1, 6):
                rows.put_case(a_case(case, status="won" if case in over else "open"))
            for code in [*codes, a_code(3, "C-1"), a_code(5, "C-2")]:
                rows.put_code(code)
            rows.put_code(a_code(5, "é 日"))

        store.write("s", write)
        look = store.read
        assert look("s", lambda rows: rows.find_codes("b-12", 9)) == [codes[k] for k in (0, 2, 1)]
        assert look("s", lambda rows: rows.find_codes("b-12", 2)) == [codes[0], codes[2]]
        assert look("s", lambda rows: rows.find_codes("c-2", 9)) == []
        assert look("s", lambda rows: rows.codes([5, 1, 6])) == {
            5: a_code(5, "é 日"), 1: codes[0]
        }  # fmt: skip
        store.write("s", lambda rows: [rows.drop_code(case) for case in (1, 6)])
        assert look("s", lambda rows: [*rows.all_codes()]) == [
            codes[1], a_code(3, "C-1"), codes[2], a_code(5, "é 日")
        ]  # fmt: skip
        store.write("t", create)
        assert look("t", lambda rows: (rows.codes([1, 2]), rows.find_codes("b-12", 9))) == ({}, [])

    def test_studies_do_not_see_one_anothers_rows(self, store: Store) -> None:
        for name in ("s", "t"):
            store.write(name, create)
            store.write(name, some_rows)
        store.write("t", lambda rows: rows.put_case(a_case(2, state=9)))
        store.write("t", tell)
        assert (len(log(store, "s")), len(log(store, "t"))) == (3, 4)
        everywhere = everything(store)
        assert [len(part) for part in everywhere["s"][1:]] == [3, 2, 2, 1]  # type: ignore[arg-type]
        assert store.read("s", lambda rows: rows.case(2)) == a_case(2)
        assert store.read("t", lambda rows: rows.cases(0, 9, "open")) == [
            a_case(1), a_case(2, state=9),
        ]  # fmt: skip
        store.write("t", lambda rows: (rows.drop_held(1, 1), rows.drop_code(2)))
        assert everything(store)["s"] == everywhere["s"]

    @pytest.mark.slow
    @pytest.mark.parametrize("value", NOBODY_KEEPS, ids=repr)
    def test_what_not_every_database_keeps_is_refused_by_all(
        self, store: Store, value: Any
    ) -> None:
        what = "case" if isinstance(value, int) else "key"
        attempts: list[Callable[[Transaction], object]] = [
            lambda rows: rows.append(an_event()._replace(**{what: value})),
            lambda rows: rows.append(an_event()._replace(response=value)),
            lambda rows: getattr(rows, "event_of_key" if what == "key" else "case")(value),
            lambda rows: rows.held(1, value),
        ]
        said = set()
        for attempt in attempts:
            with pytest.raises(InvalidInput) as caught:
                store.write("s", lambda rows, run=attempt: (tell(rows), run(rows)))  # type: ignore[misc]
            said.add(one_sentence(caught.value))
        with pytest.raises(InvalidInput):
            store.read(value, create)
        with pytest.raises(InvalidInput):
            store.write(value, create)
        assert said == {next(iter(said))}
        assert repr(value) in said.pop()
        assert log(store) == []

    def test_an_error_leaves_nothing_behind_and_is_the_callers(self, store: Store) -> None:
        store.write("s", some_rows)
        before = everything(store)
        for script in (fails, stops_at_once, contradicts_and_fails):
            with pytest.raises(LookupError):
                store.write("s", script)
            assert everything(store) == before
        assert store.read("s", lambda rows: (rows.event_of_key("k2"), rows.due("2"))) == (
            None, [a_held_step(1, 1), a_held_step(2, 1)],
        )  # fmt: skip
        assert store.write("s", tell) == 4

    def test_an_error_while_reading_is_the_callers_too(self, store: Store) -> None:
        with pytest.raises(ZeroDivisionError):
            store.read("s", lambda rows: len(rows.events(0, 9)) / 0)
        assert store.write("s", tell) == 1

    def test_several_are_committed_together_and_one_that_fails_does_not_count(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.write("s", some_rows)
        before = everything(store)["s"][2:]
        commits, commit = itertools.count(), store._writer.commit
        monkeypatch.setattr(store._writer, "commit", lambda: (next(commits), commit()))
        scripts: list[Callable[[Transaction], object]] = [
            tell, fails, contradicts, create, tell, stops_at_once, contradicts_and_fails, tell,
        ]  # fmt: skip
        got = together(store, [partial(store.write, "s", script) for script in scripts])
        names = [type(one).__name__ for one in got]
        assert names == [
            "int",
            "LookupError",
            "CannotWrite",
            "NoneType",
            "int",
            *["LookupError"] * 2,
            "int",
        ]
        assert {got[0], got[4], got[7]} == {4, 5, 6}
        assert next(commits) == 1
        assert len(log(store)) == 6
        assert everything(store)["s"][2:] == before

    def test_those_who_were_served_together_are_waited_for(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waited: list[float] = []
        monkeypatch.setattr("grbp.live.store.base.time.sleep", waited.append)
        store.write("s", tell)
        assert waited == []  # Whoever is alone waits for nobody.
        store._served = 3
        store.write("s", tell)
        assert len(waited) == 1
        waited.clear()
        store.write("s", tell)  # The others did not come.
        assert (waited, len(log(store))) == ([], 3)

    def test_where_the_commit_fails_nobody_is_told_otherwise(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as changed:
            changed.setattr(store._writer, "commit", {}.popitem)
            got = together(store, [partial(store.write, "s", tell)] * 3)
            assert [type(one) for one in got] == [KeyError] * 3
        assert log(store) == []
        assert store.write("s", tell) == 1

    def test_pages_by_key_are_the_whole(self, store: Store) -> None:
        events = [an_event(seq) for seq in range(1, 12)]
        cases = [a_case(n, status=("open", "won")[n % 2]) for n in range(1, 12)]

        def write(rows: Transaction) -> None:
            for event, case in zip(events, cases, strict=True):
                rows.append(event)
                rows.put_case(case)

        store.write("s", write)

        def page(rows: Transaction) -> None:
            assert list(rows.all_events()) == events
            for size in (1, 4, 11, 12):
                paged: list[Any] = []
                while more := rows.events(paged[-1].seq if paged else 0, size):
                    assert len(more) <= size
                    paged += more
                assert paged == events
            assert rows.events(2, 2) == events[2:4]
            assert rows.events(11, 5) == rows.events(0, 0) == []
            assert [rows.event(seq) for seq in (0, 1, 11, 12)] == [None, *events[::10], None]
            assert rows.cases(3, 2, "won") == [cases[4], cases[6]]
            assert rows.cases(10, 9) == [cases[10]]
            assert rows.cases(0, 9, "lost") == []

        store.read("s", page)

    def test_steps_are_due_in_the_order_of_time(self, store: Store) -> None:
        times = {(3, 1): "2", (2, 1): "1", (1, 10): "2", (1, 1): "2", (1, 3): "3"}

        def write(rows: Transaction) -> None:
            for place, due in times.items():
                rows.put_held(a_held_step(*place, due=due))

        def due(now: str) -> list[tuple[int, int]]:
            found = store.read("s", lambda rows: rows.due(now))
            return [(step.case, step.step) for step in found]

        store.write("s", write)
        first = [(2, 1), (1, 1), (1, 10), (3, 1)]
        assert [due("0"), due("1"), due("2")] == [[], first[:1], first]
        store.write("s", lambda rows: rows.put_held(a_held_step(2, 1, due="7")))
        store.write("s", lambda rows: rows.drop_held(1, 1))
        assert due(LAST) == [(1, 10), (3, 1), (1, 3), (2, 1)]

    def test_an_event_is_never_written_over(self, store: Store) -> None:
        store.write("s", some_rows)
        before = everything(store)
        for event in (an_event(3, who="x"), an_event(4, key="k1")):
            with pytest.raises(CannotWrite, match="contradicts what is stored") as caught:
                store.write("s", lambda rows, event=event: rows.append(event))  # type: ignore[misc]
            one_sentence(caught.value)
        with pytest.raises(CannotWrite, match="contradicts what is stored"):
            store.write("nobody", lambda rows: rows.append(an_event()))
        assert everything(store) == before

    def test_studies_do_not_see_one_another(self, opener: Opener) -> None:
        store, names = opener(), [text for text in TEXTS[:-1] if text]
        for number, name in enumerate(names):
            store.write(name, create)
            store.write(name, some_rows)
            store.write(name, partial(tell, who=str(number)))
        # The order of code points, in every database and language.
        assert store.logs() == sorted(names)
        assert store.studies() == sorted(name for name in names if name[0] != HIDDEN)
        for number, name in enumerate(names):
            assert [event.who for event in log(store, name)][2:] == ["me", str(number)]
            assert store.read(name, lambda rows: rows.study()).name == name  # type: ignore[union-attr]
        assert store.checks() == []

    def test_threads_take_turns(self, store: Store) -> None:
        store.write("t", create)
        jobs = [partial(store.write, name, tell) for name in "st" * 40]
        with ThreadPoolExecutor(8) as threads:
            got = list(threads.map(lambda job: job(), jobs))
        assert sorted(got[::2]) == sorted(got[1::2]) == list(range(1, 41))
        assert len(log(store)) == len(log(store, "t")) == 40

    def test_a_backup_is_a_store_with_the_same_rows(self, store: Store, tmp_path: Path) -> None:
        store.write("ü", create)
        store.write("s", some_rows)
        copy = tmp_path / "new" / "copy.sqlite"
        with pytest.raises(CannotWrite, match="there is no folder"):
            store.backup(copy)
        copy.parent.mkdir()
        store.backup(copy)
        with closing(open_store(copy)) as opened:
            assert everything(opened) == everything(store)
        assert [path.name for path in copy.parent.iterdir()] == [copy.name]
        with pytest.raises(InvalidInput, match="it exists already"):
            store.backup(copy)


@pytest.mark.parametrize("opener", DATABASES, indirect=True)
@pytest.mark.slow
class TestDatabases:
    """What is kept beyond a process, and shared by several."""

    def test_what_was_written_is_there_after_opening_again(self, opener: Opener) -> None:
        with closing(opener()) as store:
            store.write("s", create)
            store.write("s", some_rows)
            before = everything(store)
        assert everything(opener()) == before

    def test_nobody_sees_what_is_not_committed(self, store: Store, opener: Opener) -> None:
        other = opener()

        def write(rows: Transaction) -> int:
            number = tell(rows)
            assert log(other) == []
            return number

        assert store.write("s", write) == 1
        assert len(log(other)) == 1

    def test_what_another_wrote_is_seen_at_once(self, store: Store, opener: Opener) -> None:
        one, other = store, opener()
        one.write("s", some_rows)
        for state in range(1, 6):
            one.write("s", lambda rows, n=state: (tell(rows), rows.put_case(a_case(1, state=n))))  # type: ignore[misc]

            def look(rows: Transaction) -> tuple[object, object]:
                return rows.study(), rows.case(1)

            study, case = other.write("s", look)
            assert case == a_case(1, state=state)
            assert study == one.read("s", look)[0]
            assert (study.seq, study.head) == (len(log(other)), log(other)[-1].hash)  # type: ignore[attr-defined]
            one, other = other, one

    def test_a_reader_sees_one_moment(self, store: Store, opener: Opener) -> None:
        other = opener()

        def read(rows: Transaction) -> list[int]:
            first = len(rows.events(0, 9))
            assert other.write("s", tell) == 1
            study = rows.study()
            assert study is not None
            return [first, study.seq, len(rows.events(0, 9))]

        assert store.read("s", read) == [0, 0, 0]
        assert store.read("s", lambda rows: len(rows.events(0, 9))) == 1

    def test_two_connections_take_turns(self, store: Store, opener: Opener) -> None:
        stores = [store, opener(), opener()]
        with ThreadPoolExecutor(3) as threads:
            jobs = [threads.submit(one.write, "s", tell) for one in stores * 20]
            assert sorted(job.result() for job in jobs) == list(range(1, 61))
        assert len(log(store)) == 60

    def test_one_of_several_creates_a_study(self, store: Store, opener: Opener) -> None:
        stores = [store, opener(), opener()]

        def both(rows: Transaction) -> int:
            create(rows)
            return tell(rows)

        with ThreadPoolExecutor(3) as threads:
            for name in ("a", "b", "c", "d"):
                jobs = [threads.submit(one.write, name, both) for one in stores]
                assert sorted(job.result() for job in jobs) == [1, 2, 3]

    def test_several_connections_make_the_tables_once(self, opener: Opener) -> None:
        barrier = threading.Barrier(6)

        def start(_: int) -> Store:
            barrier.wait()
            return opener()

        with ThreadPoolExecutor(6) as threads:
            stores = list(threads.map(start, range(6)))
        stores[0].write("s", create)
        assert [store.studies() for store in stores] == [["s"]] * 6

    def test_processes_take_turns(self, opener: Opener, request: Any, tmp_path: Path) -> None:
        sqlite = request.node.callspec.params["opener"] == "sqlite"
        where = tmp_path / "live.sqlite" if sqlite else request.getfixturevalue("dsn")
        code = (
            "import sys; sys.path.insert(0, sys.argv[2]); import stored\n"
            "from grbp.live.store import open_store\n"
            "store = open_store(sys.argv[1], create=True)\n"
            "store.write('s', stored.create)\n"
            "print(*[store.write('s', stored.tell) for _ in range(25)])\n"
            "store.close()\n"
        )
        command = [sys.executable, "-c", code, str(where), str(HERE)]
        # They all start with a store that is not there.
        started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        got = [[int(number) for number in one.communicate()[0].split()] for one in started]
        assert [one.returncode for one in started] == [0] * 4
        assert all(numbers == sorted(numbers) for numbers in got)
        assert sorted(itertools.chain(*got)) == list(range(1, 101))
        assert len(log(opener())) == 100


def test_a_store_that_is_not_there_is_not_made_by_reading(dsn: str, tmp_path: Path) -> None:
    missing, empty = tmp_path / "none.sqlite", tmp_path / "empty.sqlite"
    empty.touch()
    for where in (missing, empty, dsn):
        with pytest.raises(NotFound, match="`grbp live init` makes one") as caught:
            open_store(where)
        one_sentence(caught.value)
    assert not missing.exists()
    assert empty.read_bytes() == b""
    with pytest.raises(NotFound):
        open_store(dsn)


def test_files_of_others_are_refused_and_left_as_they_are(tmp_path: Path) -> None:
    apsw = optional("apsw")
    text, other = tmp_path / "text", tmp_path / "other"
    text.write_text("This is a letter and no database.\n" * 40)
    with closing(apsw.Connection(str(other))) as connection:
        connection.execute("create table theirs (a); insert into theirs values (1)")
    marked = tmp_path / "marked"
    with closing(apsw.Connection(str(marked))) as connection:
        connection.pragma("application_id", 7)
    for path, said in (
        (text, "is not a SQLite file"),
        *((p, "another prog") for p in (other, marked)),
    ):
        before = path.read_bytes()
        with pytest.raises(InvalidInput, match=said) as caught:
            open_store(path, create=True)
        one_sentence(caught.value)
        assert path.read_bytes() == before
    with pytest.raises(InvalidInput, match="must end with a file name"):
        open_store("", create=True)
    with pytest.raises(CannotWrite) as refused:
        open_store(text / "below", create=True)
    one_sentence(refused.value)


def test_a_file_is_a_file_whatever_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:x?mode=memory", "a b'c%20é.db"):
        with closing(open_store(name, create=True)) as store:
            store.write("s", create)
            assert store.checks() == []
        with closing(open_store(tmp_path / name)) as store:
            assert store.studies() == ["s"]


def test_a_new_file_is_nobody_elses_to_read(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "live.sqlite", create=True)) as store:
        store.write("s", create)
        for path in tmp_path.iterdir():
            assert path.stat().st_mode & 0o077 == 0


PACKAGES = {
    "apsw": ("live", "sqlite", "live.sqlite"),
    "psycopg": ("postgres", "postgres", "postgresql://me@host/x"),
}


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_not_installed_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    extra, module, where = PACKAGES[package]
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"grbp.live.store.{module}", raising=False)
    with pytest.raises(MissingExtra, match=rf"pip install 'grbp\[{extra}\]'") as caught:
        open_store(where)
    assert f"{package} is not installed" in one_sentence(caught.value)


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_installed_but_broken_is_called_that(
    package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, module, where = PACKAGES[package]
    (tmp_path / f"{package}.py").write_text("raise ImportError('libz.so.1: cannot open it')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.delitem(sys.modules, f"grbp.live.store.{module}", raising=False)
    with pytest.raises(MissingExtra, match=r"\(libz.so.1: cannot open it\)") as caught:
        open_store(where)
    assert f"{package} is installed but cannot be loaded" in one_sentence(caught.value)


def test_an_address_that_cannot_be_read_is_refused_without_its_password() -> None:
    with pytest.raises(InvalidInput, match="cannot be read; it must be like") as caught:
        open_store("postgresql://me:secret@[host/x")
    assert "secret" not in one_sentence(caught.value)


@pytest.mark.slow
def test_a_password_is_never_shown(postgres: Server) -> None:
    password = postgres.url.partition("clerk:")[2].partition("@")[0]
    with closing(open_store(postgres.url, create=True)) as store:
        assert password not in store.where
        assert str(postgres.port) in store.where
        postgres.stop()
        with pytest.raises(CannotWrite, match="cannot be reached") as caught:
            store.studies()
        assert password not in one_sentence(caught.value)
    with pytest.raises(CannotWrite, match="cannot be reached") as caught:
        open_store(postgres.url.replace(password, "another"))
    assert "another" not in one_sentence(caught.value)
    postgres.start()
    with pytest.raises(CannotWrite, match="password authentication failed") as caught:
        open_store(postgres.url.replace(password, "another"))
    assert "another" not in one_sentence(caught.value)


def test_an_account_that_may_not_make_a_schema_can_be_given_one(postgres: Server) -> None:
    psycopg = optional("psycopg")
    guest = postgres.socket.replace("clerk@", "guest@")
    with closing(psycopg.connect(postgres.socket, autocommit=True)) as connection:
        connection.execute("create role guest login")
        try:
            with pytest.raises(CannotWrite, match="permission denied") as caught:
                open_store(guest, create=True)
            one_sentence(caught.value)
            connection.execute("create schema grbp authorization guest")
            with closing(open_store(guest, create=True)) as store:
                store.write("s", create)
                assert store.write("s", tell) == 1
                assert store.checks() == []
        finally:
            connection.execute("drop owned by guest; drop role guest")
