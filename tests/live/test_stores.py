"""One contract for all stores, and what the two databases promise beyond it."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from postgres_server import Server
from runs import one_sentence
from stored import a_case, a_step, a_study, an_event, create, everything, log, tell

from grbp.errors import CannotWrite, InvalidInput, MissingExtra
from grbp.live.rows import Event
from grbp.live.store import open_store, sql
from grbp.live.store.base import Store, Transaction
from grbp.live.store.memory import MemoryStore

Opener = Callable[[], Store]
DATABASES = ["sqlite", "postgres"]
TEXTS = [
    "", " ", "a ", "A", "a", "é", "e\u0301", "ß", "\ufeffa", "\ufffe", "\uffff", "日本", "\u202eb",
    "😀", "\U0010ffff", "\x01\x1f\x7f\x85\u2028", "line\r\n\ttab", "'\"`\\", "%s ? $1 {}",
    "'); drop table events; --", "x" * 100_000,
]  # fmt: skip
NUMBERS = [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]


@pytest.fixture
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """A function that opens one and the same store again and again."""
    opened: list[Store] = []
    where: Any = {
        "memory": lambda: MemoryStore(),
        "sqlite": lambda: tmp_path / "live.sqlite",
        "postgres": lambda: request.getfixturevalue("dsn"),
    }[request.param]()

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
    """Let several threads write at one time, so that they are committed together."""
    with ThreadPoolExecutor(len(jobs)) as threads:
        with store._lock:
            started = [threads.submit(job) for job in jobs]
            while len(store._waiting) < len(jobs):
                pass
        return [one.exception() or one.result() for one in started]


@pytest.mark.parametrize("opener", ["memory", *DATABASES], indirect=True)
class TestContract:
    """What every store does."""

    def test_nothing_is_there_before_it_is_written(self, opener: Opener) -> None:
        store = opener()

        def look(rows: Transaction) -> list[object]:
            found = [rows.study(), rows.case(1), rows.step(1, 1), rows.keyed("k")]
            return [*found, rows.events(0, 9), rows.cases(0, 9), rows.steps((0, 0), 9)]

        assert store.read("s", look) == [None] * 4 + [[]] * 3
        assert store.write("s", look) == [None] * 4 + [[]] * 3
        assert store.read("s", lambda rows: rows.due("9")) == []
        assert (store.studies(), store.checks()) == ([], [])

    def test_each_row_is_read_as_it_was_last_written(self, store: Store) -> None:
        study, event = a_study(seq=1, head="h", counters="[9]"), an_event(key="k")
        case, step = a_case(), a_step(due="t5")

        def write(rows: Transaction) -> str:
            for change in (1, 2):
                rows.put_study(study._replace(opened=change))
                rows.put_case(case._replace(state=change))
                rows.put_step(step._replace(seq=change))
            rows.append(event)
            rows.put_step(a_step(1, 2))
            rows.drop_step(1, 2)
            rows.drop_step(7, 7)
            # A script sees what it wrote.
            assert rows.step(1, 2) is None
            assert rows.keyed("k") == event
            return "done"

        def look(rows: Transaction) -> tuple[object, ...]:
            return rows.study(), rows.keyed("k"), rows.case(1), rows.step(1, 1), rows.due("t5")

        assert store.write("s", write) == "done"
        now = step._replace(seq=2)
        assert store.read("s", look) == (
            study._replace(opened=2), event, case._replace(state=2), now, [now],
        )  # fmt: skip

    @pytest.mark.parametrize("field", ["request", "response", "who", "observed", "key", "kind"])
    def test_text_is_kept_to_the_last_character(self, store: Store, field: str) -> None:
        for text in TEXTS:
            store.write(
                "s",
                lambda rows, text=text: rows.append(
                    an_event(len(rows.events(0, 99)) + 1, **{field: text})
                ),
            )  # type: ignore[misc]
        kept = store.read("s", lambda rows: rows.events(0, 99))
        assert [getattr(event, field) for event in kept] == TEXTS
        assert [an_event(n + 1, **{field: text}) for n, text in enumerate(TEXTS)] == kept

    def test_keys_that_look_alike_are_different_keys(self, store: Store) -> None:
        def write(rows: Transaction) -> None:
            for number, text in enumerate(TEXTS, start=1):
                rows.append(an_event(number, key=text))

        store.write("s", write)
        for number, text in enumerate(TEXTS[1:-1], start=2):
            found = store.read("s", lambda rows, text=text: rows.keyed(text))  # type: ignore[misc]
            assert found == an_event(number, key=text)

    def test_numbers_are_kept_to_the_last_bit(self, store: Store) -> None:
        def write(rows: Transaction) -> None:
            for number in NUMBERS:
                rows.append(an_event(number, case=number, step=number))
                rows.put_case(a_case(number, first=number, c_up=number))

        store.write("s", write)
        least = -(2**63)
        found = store.read("s", lambda rows: (rows.events(least, 9), rows.cases(least, 9)))
        kept = [number for number in sorted(NUMBERS) if number > least]
        assert [(event.seq, event.case, event.step) for event in found[0]] == [
            (n,) * 3 for n in kept
        ]
        assert [(case.case, case.first, case.c_up) for case in found[1]] == [(n,) * 3 for n in kept]
