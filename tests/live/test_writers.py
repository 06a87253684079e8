"""Several writers at once, of whom nobody hears of locks, and clocks that go back and forth."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from clerk import GOAL, Clerk, Clock, ask

from grbp import Study
from grbp.errors import CannotWrite
from grbp.live.store.base import Transaction
from grbp.live.store.memory import MemoryStore
from grbp.live.store.sqlite import SqliteStore

pytestmark = pytest.mark.slow  # seconds in all; `make test` has them


def test_a_store_can_be_made_by_several_at_once(tmp_path: Path) -> None:
    errors: list[Exception] = []

    def make(path: Path, ready: threading.Barrier) -> None:
        ready.wait()
        try:
            SqliteStore(path, create=True).close()
        except Exception as error:
            errors.append(error)

    for number in range(20):
        ready = threading.Barrier(4)
        makers = [
            threading.Thread(target=make, args=(tmp_path / f"{number}.db", ready)) for _ in range(4)
        ]
        for one in makers:
            one.start()
        for one in makers:
            one.join()
    assert errors == []


WORK = """
import sys
sys.path.insert(0, {folder!r})
from clerk import Clerk, ask
from grbp import Study
study, clerk = Study({path!r}), Clerk(sys.argv[1])
print("ready", flush=True)
input()
for _ in range(60):
    clerk.learn(ask(study, clerk.request()))
print(sum(1 for event in study.log(0, 1000) if event.key.startswith(clerk.label)))
"""


@pytest.mark.slow
def test_two_processes_write_to_one_study(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    Study.create(path, "a", GOAL).close()
    code = WORK.format(folder=str(Path(__file__).parent), path=str(path))
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for name in ("x", "y")
    ]  # fmt: skip
    for one in writers:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in writers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    assert [one.communicate() for one in writers] == [("60\n", ""), ("60\n", "")]
    with Study(path) as study:
        found = study.verify()
    assert found.ok
    assert found.events == 121


def test_whoever_comes_second_waits(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    first = Study.create(path, "a", GOAL)
    second = Study(path)
    begun, seconds = threading.Event(), 0.3

    def dawdle(tx: object) -> None:  # noqa: ARG001
        begun.set()
        time.sleep(seconds)

    slow = threading.Thread(target=partial(first._store.write, "a", dawdle))
    slow.start()
    begun.wait()
    assert second.open_case(1).case == 1
    slow.join()
    begun.clear()
    slow = threading.Thread(target=partial(first._store.write, "a", dawdle))
    slow.start()
    begun.wait()
    second._store.patience = 0.01
    with pytest.raises(CannotWrite) as refusal:
        second.open_case(1)
    slow.join()
    assert str(refusal.value) == (
        f"{path} cannot be written (another process has been writing for 0.01 seconds); try again"
    )
    for study in (first, second):
        study.close()


class Jumping(Clock):
    """A clock that is set back and forth by years, as given, and stands still in between."""

    def __init__(self, days: Iterable[int]) -> None:
        super().__init__()
        self.days = iter(days)

    def __call__(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=next(self.days))


@pytest.mark.parametrize("windows", [None, {"finish": 30.0}])
def test_clocks_that_jump_change_no_decision(
    tmp_path: Path, windows: dict[str, float] | None
) -> None:
    days = [0, 0, 400, 400, -800, 3, 2, 1, 2000, -3000, *range(50)]
    study = Study.create(
        tmp_path / "a.db", "a", GOAL, "getbe-sm", windows=windows, clock=Jumping(days)
    )
    clerk = Clerk("x")
    answers = []
    for _ in range(50):
        answers.append(ask(study, clerk.request()))
        clerk.learn(answers[-1])
    found = study.replay()
    assert found.ok
    assert found.decisions == sum(event.kind == "open" for event in study.log())
    (note,) = found.notes
    assert (
        note == "the clock went back before event 5 and 3 times later; the order of the log counts"
    )
    study.close()
    if windows is None:  # Nothing but when it was recorded depends on the time.
        steady = Study.create("memory", "a", GOAL, "getbe-sm", clock=Clock())
        clerk = Clerk("x")
        for answer in answers:
            other = ask(steady, clerk.request())
            clerk.learn(other)
            assert other[:-1] == answer[:-1]
        assert steady.verify().notes == ()


def test_an_interruption_stops_one_thread_and_is_said_to_the_others() -> None:
    store, entered, go = MemoryStore(), threading.Event(), threading.Event()
    said: dict[str, BaseException] = {}

    def first(_: Transaction) -> None:
        entered.set()
        go.wait(10)

    def interrupted(_: Transaction) -> None:
        raise KeyboardInterrupt

    def write(name: str, script: Callable[[Transaction], None]) -> None:
        try:
            store.write(name, script)
        except BaseException as error:
            said[name] = error

    threads = [threading.Thread(target=write, args=("first", first))]
    threads[0].start()
    assert entered.wait(10)
    for name, script in {"a": interrupted, "b": lambda _: None}.items():
        threads.append(threading.Thread(target=write, args=(name, script)))
        threads[-1].start()
    while len(store._waiting) < 2:
        time.sleep(0.001)
    go.set()
    for thread in threads:
        thread.join(10)
    # Whoever ran the group is interrupted; whoever waited for it is told what happened.
    kinds = {name: type(error) for name, error in said.items()}
    assert sorted(kinds) == ["a", "b"]
    assert sorted(kind.__name__ for kind in kinds.values()) == ["CannotWrite", "KeyboardInterrupt"]
