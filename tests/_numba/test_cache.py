"""Compiled code that is kept: found again, and never again once anything in it has changed."""

import gc
import json
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from grbp._numba import cache as _compiled_cache
from grbp._numba.jit import compiled, kernel

PROMISE = " for this machine, once; the next start finds it"

PARTS = """
import enum
from typing import NamedTuple
import numpy as np
from grbp._numba.jit import kernel
NUMBER, STEP, READ = 10, 20, 40
TABLE = np.array([30.0, 0.1])
class Pair(NamedTuple): first: int; second: int
class Kind(enum.IntEnum): ONE = 1
@kernel
def deepest(x): return x + 50
@kernel
def helper(x, more=60): return deepest(x) + more
@kernel
def reader(x): return x + READ
"""

MAIN = """
import json, logging, math
from typing import NamedTuple
import parts
from parts import NUMBER, TABLE, Kind, Pair, helper
from grbp._numba.jit import compiled, u64
class Here(NamedTuple): second: int; first: int
def number(x): return x + NUMBER
def module(x): return x + parts.NUMBER
def array(x): return math.sin(x * TABLE[0]) + TABLE[1]
def fields(pair): return pair.first - pair.second
def made(x): return Pair(x, 7).second
def member(x): return 1 if x == Kind.ONE else 0
def calls(x): return helper(x)
def unsigned(x): return u64(x) >> u64(1)
def adding(step):
    def run(x): return x + step
    return run
def loop_for(decide):
    def run(pair, x): return decide(pair.first) + x
    return run

answers, heard, ear = {}, [], logging.Handler()
ear.emit = lambda record: heard.append(record.getMessage())
logging.getLogger("grbp").addHandler(ear)
logging.getLogger("grbp").setLevel(logging.INFO)
for name, function, *arguments in [
    ("number", number, 1), ("module", module, 1), ("array", array, 0.7),
    ("fields", fields, Pair(5, 3)), ("here", fields, Here(5, 3)), ("made", made, 1),
    ("member", member, 1), ("calls", calls, 1), ("unsigned", unsigned, -1),
    ("closure", adding(parts.STEP), 1), ("kernel", loop_for(parts.reader), Pair(1, 2), 3),
    ("dispatcher", loop_for(compiled(parts.reader, "reader")), Pair(1, 2), 3),
]:
    run = compiled(function, name)
    answers[name] = repr([run(*arguments), run(*arguments)])
print(json.dumps([answers, heard]))
"""


SWAPPED = {"fields": -2, "made": 1, "kernel": 45, "dispatcher": 45}


class Said(NamedTuple):
    """What a process answered, and what its log said."""

    answers: dict[str, str]
    heard: list[str]

    @property
    def compiled(self) -> set[str]:
        return {line.removeprefix("compiling ").removesuffix(PROMISE) for line in self.heard}


def process(script: Path, place: Path, *arguments: str, **settings: str) -> Any:
    """What a new process prints, with its cache in a place."""
    settings |= {"GRBP_CACHE_DIR": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, script, *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **settings}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def main(folder: Path, parts: str = PARTS, **settings: str) -> Said:
    """What the script above says, next to a file that it imports and to its cache."""
    (folder / "parts.py").write_text(parts, "utf-8")
    (folder / "main.py").write_text(MAIN, "utf-8")
    return Said(*process(folder / "main.py", folder / "cache", **settings))


def entries(place: Path) -> list[Path]:
    return sorted(place.glob("*.code"))


def misses(run: Any) -> int:
    return sum(run.stats.cache_misses.values())


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Said]:
    folder = tmp_path_factory.mktemp("first")
    return folder / "cache", main(folder)


@pytest.fixture
def before(first: tuple[Path, Said], tmp_path: Path) -> Said:
    """What a process said that has filled the cache."""
    shutil.copytree(first[0], tmp_path / "cache")
    return first[1]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for what this process compiles."""
    monkeypatch.setenv("GRBP_CACHE_DIR", str(tmp_path / "own"))
    return tmp_path / "own"


def test_the_second_process_compiles_nothing_and_answers_the_same(
    before: Said, tmp_path: Path
) -> None:
    names = {*before.answers, "reader"}
    assert set(before.heard) == {f"compiling {name}{PROMISE}" for name in names}
    assert len(entries(tmp_path / "cache")) == len(names)
    assert main(tmp_path) == Said(before.answers, [])
    assert before.answers["unsigned"] == repr([2**63 - 1] * 2)
    assert main(tmp_path, NUMBA_OPT="0").compiled == names


@pytest.mark.parametrize(
    ("edits", "answers"),
    [
        ({"NUMBER, STEP, READ = 10": "NUMBER, STEP, READ = 11"}, {"number": 12, "module": 12}),
        ({"30.0, 0.1": "0.0, 0.1", "x + 50": "x + 51"}, {"array": 0.1, "calls": 112}),
        ({"10, 20, 40": "10, 20.0, 41"}, {"closure": 21.0, "kernel": 45, "dispatcher": 45}),
        ({"ONE = 1": "ONE = 4", "more=60": "more=61"}, {"member": 0, "calls": 112}),
        ({"first": "second", "second": "first"}, SWAPPED),
    ],
    ids=["number", "array, far helper", "closure, near helper", "member, default", "fields"],
)
def test_an_edit_compiles_anew_what_it_reaches_and_only_that(
    before: Said, tmp_path: Path, edits: dict[str, str], answers: dict[str, float]
) -> None:
    parts = re.sub("|".join(map(re.escape, edits)), lambda old: edits[old.group()], PARTS)
    said = main(tmp_path, parts)
    changed = {name: repr([answer] * 2) for name, answer in answers.items()}
    assert said.answers == {**before.answers, **changed}
    assert said.compiled == set(changed) | ({"reader"} if "41" in parts else set())


CLOSURES = """
import json, os, sys
from grbp._numba.jit import compiled
def adding(step): return lambda x: x + step
compiled(adding(0.0))
if sys.argv[2:] and os.fork() == 0:
    sys.argv[1:] = sys.argv[2:]
runs = [compiled(adding(float(step))) for step in sys.argv[1].split(",")]
answers = [run(1) for run in runs]
if sys.argv[2:]: os.wait()
print(json.dumps([answers, sum(sum(run.stats.cache_misses.values()) for run in runs)]))
"""


@pytest.mark.parametrize("calls", [["1", "2"], ["1 2"]], ids=["processes", "a fork"])
def test_namesakes_compiled_apart_and_loaded_together_do_not_mix(
    calls: list[str], tmp_path: Path
) -> None:
    """Numba gives both the same symbol, if each is the first in its process."""
    script, place = tmp_path / "closures.py", tmp_path / "cache"
    script.write_text(CLOSURES, "utf-8")
    for call in calls:
        process(script, place, *call.split())
    assert len(entries(place)) == 2
    assert process(script, place, "2,1,2") == [[3.0, 2.0, 3.0], 0]


def test_a_damaged_entry_is_replaced(before: Said, tmp_path: Path) -> None:
    whole = {path: path.read_bytes() for path in entries(tmp_path / "cache")}
    other = min(whole.values())
    for k, (path, data) in enumerate(whole.items()):
        flipped = data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]
        path.write_bytes([flipped, b"", data[:999], other if data != other else b"?"][k % 4])
    assert main(tmp_path) == before
    assert main(tmp_path).heard == []


def table_of(table: Any) -> Callable[[int], float]:
    return lambda x: float(table[x])


def test_within_a_process_code_is_shared_and_outlives_whoever_compiled_it(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [compiled(table_of(np.array([step]))) for step in (0.5, 1.5, 0.5, 0.5)]
    assert [run(0) for run in runs] == [0.5, 1.5, 0.5, 0.5]
    assert [misses(run) for run in runs] == [1, 1, 0, 0]
    del runs[0]
    gc.collect()
    last = runs[-1]
    assert compiled(lambda x: last(x) + 1.0)(0) == 1.5
    assert len(entries(own)) == 3
    # Another source of the package is another key.
    monkeypatch.setattr(_compiled_cache, "_package", "other".upper)
    anew = compiled(table_of(np.array([0.5])))
    assert (anew(0), misses(anew)) == (0.5, 1)


def test_without_a_folder_everything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "all").mkdir()
    (tmp_path / "all").chmod(0o777)  # Anybody may have put an entry there.
    places = ["", str(tmp_path / "file"), str(tmp_path / "file" / "inside"), str(tmp_path / "all")]
    caplog.set_level(logging.INFO, "grbp")
    for place in places:
        monkeypatch.setenv("GRBP_CACHE_DIR", place)
        assert compiled(table_of(np.array([3.5])), "it")(0) == 3.5
    assert [record.message for record in caplog.records] == ["compiling it"] * len(places)
    assert list((tmp_path / "all").iterdir()) == []

    # Nor in a folder of another user; by default it is where the system wants it.
    monkeypatch.delenv("GRBP_CACHE_DIR", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert _compiled_cache.folder() == tmp_path / "grbp" / "compiled"
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert _compiled_cache.folder() is None


SMALL: Any = numba.float32


@pytest.mark.parametrize(
    ("function", "arguments", "promise"),
    [
        (lambda x: float(SMALL(x)), (0.5,), ""),
        (lambda decide, x: decide(x), (numba.njit(table_of(np.array([0.5]))), 0), ""),
        (table_of(np.full(200_000, 0.5)), (1,), PROMISE),
    ],
    ids=["a type of Numba's", "a dispatcher as an argument", "an array left in place"],
)
def test_what_has_no_certain_content_is_not_kept(
    own: Path, caplog: pytest.LogCaptureFixture, function: Any, arguments: Any, promise: str
) -> None:
    caplog.set_level(logging.INFO, "grbp")
    for _ in range(2):
        assert compiled(function, "it")(*arguments) == 0.5
    assert [record.message for record in caplog.records] == [f"compiling it{promise}"] * 2
    assert entries(own) == []


level = 1


@kernel
def risen(x: int) -> int:
    return x + level


def test_a_mixture_of_old_and_new_is_not_kept(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba keeps the helper that it compiled first, whatever the helper has become since."""
    assert compiled(lambda x: risen(x))(1) == 2  # noqa: PLW0108
    monkeypatch.setitem(globals(), "level", 5)
    assert compiled(lambda x: risen(x) * 2)(1) == 4
    assert len(entries(own)) == 1


def test_only_so_many_entries_are_kept(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compiled_cache, "MOST", 3)
    own.mkdir()
    for k, name in enumerate(["other", "0.code", "1.code", "2.code"]):
        (own / name).write_bytes(b"")
        os.utime(own / name, (k, k))
    compiled(table_of(np.array([4.5])))(0)
    assert len(entries(own)) == 3
    assert {path.name for path in own.iterdir()} > {"other", "1.code", "2.code"}
