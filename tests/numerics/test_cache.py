"""Compiled code that is kept: found again, and never again once anything in it has changed."""

import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from runs import BUILT_IN

import grbp
from grbp.engine.leap import make_leap_loop
from grbp.engine.walk import make_walk_loop
from grbp.numerics import cache as kernel_cache, jit
from grbp.numerics.fingerprint import Fingerprint
from grbp.numerics.jit import compile_function

pytestmark = pytest.mark.slow  # Most of them start programs that compile.

EDIT = "# Something else.\n"
PROMISE = ", once; the next start finds it"
SECONDS = " for grbp's engine, some seconds"

# Two modules that are put into a copy of the package.
PARTS = """
from grbp.numerics.jit import inlined, kernel
STEP = 10
@kernel
def deepest(x): return x + STEP
@inlined
def helper(x): return deepest(x) * 2
"""
# So long that it is called where it stands, and not copied to where it is called from.
LONG = "\n".join(f"        y = y * {k + 3} % 1000003 + (y >> {k % 7})" for k in range(24))
LOOPS = f"""
from typing import NamedTuple
from grbp.numerics.jit import compile_function, kernel, u64
from grbp.numerics.parts import deepest, helper
class Pair(NamedTuple): first: int; second: int
def unsigned(x): return u64(x) >> u64(1)
def loop_for(decide, step):
    @kernel
    def play(x):
        y = decide(x) + step
{LONG}
        return y
    def run(pair): return play(pair.first) - play(pair.second)
    return run
LOOPS = {{"deepest": loop_for(deepest, 1), "helper": loop_for(helper, 1), "2": loop_for(helper, 2)}}
def answer(name):
    if name == "unsigned": return compile_function(unsigned, name)(-1)
    given = compile_function(LOOPS[name], name)(Pair(3, 1))
    assert given == LOOPS[name](Pair(3, 1))
    return given
"""
ANSWERS = {"deepest": 118_914, "helper": 869_632, "2": -441_510, "unsigned": 2**63 - 1}

LISTEN = """
import json, logging, os, sys
heard, ear = [], logging.Handler()
ear.emit = lambda record: heard.append(record.getMessage())
logging.getLogger("grbp").addHandler(ear)
logging.getLogger("grbp").setLevel(logging.INFO)
"""
ASK = f"""{LISTEN}
from grbp.engine.loops import answer
print(json.dumps([{{name: answer(name) for name in sys.argv[1:]}}, heard]))
"""
ASK_IN_A_FORK = """
import os, sys
from grbp.engine.loops import answer
answer("unsigned")
parent = os.fork()
answer(sys.argv[1] if parent else sys.argv[2])
if parent: os.wait()
print("[{}, []]")
"""


class Said(NamedTuple):
    """What a process answered, and what its log said."""

    answers: dict[str, Any]
    heard: list[str]


def start(folder: Path, script: str, *names: str, **settings: str) -> "subprocess.Popen[str]":
    """A process that finds the package, or modules, in a folder, and keeps its code there."""
    found = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    settings |= {"PYTHONPATH": found, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", script, *names], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "GRBP_CACHE_DIR": str(folder / "cache"), **settings},
    )  # fmt: skip


def end(process: "subprocess.Popen[str]") -> Said:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return Said(*json.loads(out.splitlines()[-1]))


def ask(folder: Path, *names: str, **settings: str) -> Said:
    return end(start(folder, ASK, *names or ANSWERS, **settings))


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.code"))


def promises(*names: str) -> list[str]:
    return [f"compiling {name}{SECONDS}{PROMISE}" for name in names]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package, to which two modules are added."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(Path(grbp.__file__).parent, folder / "grbp")
    (folder / "grbp" / "numerics" / "parts.py").write_text(PARTS, "utf-8")
    (folder / "grbp" / "engine" / "loops.py").write_text(LOOPS, "utf-8")
    return folder


@pytest.fixture(scope="module")
def filled(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, with the code that two processes kept when they began at the same time."""
    folder = tmp_path_factory.mktemp("filled")
    shutil.copytree(package, folder, dirs_exist_ok=True)
    both = [start(folder, ASK, *ANSWERS) for _ in range(2)]
    for process in both:
        said = end(process)
        assert said.answers == ANSWERS
        assert set(said.heard) <= set(promises(*ANSWERS))
    assert len(kept(folder / "cache")) == len(ANSWERS)
    return folder


@pytest.fixture
def copied(filled: Path, tmp_path: Path) -> Path:
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_the_next_process_compiles_nothing_and_answers_the_same(filled: Path) -> None:
    assert ask(filled) == Said(ANSWERS, [])


@pytest.mark.soak
def test_other_settings_of_the_compiler_are_another_key(copied: Path) -> None:
    assert ask(copied, "2", NUMBA_OPT="0") == Said({"2": ANSWERS["2"]}, promises("2"))


@pytest.mark.parametrize(
    ("file", "old", "new", "answers"),
    [
        ("numerics/parts.py", "STEP = 10", "STEP = 11", {"helper": -362_053}),
        ("learners/base.py", "", EDIT, {"helper": ANSWERS["helper"]}),
        ("numerics/rng.py", "", EDIT, {"helper": ANSWERS["helper"]}),
    ],
    ids=["what a kernel of a kernel reads", "a learner", "a number"],
)  # fmt: skip
def test_after_an_edit_where_kernels_are_all_is_compiled_anew(
    copied: Path, file: str, old: str, new: str, answers: dict[str, int]
) -> None:
    source = copied / "grbp" / file
    source.write_text(source.read_text("utf-8").replace(old, new, 1), "utf-8")
    assert ask(copied, *answers) == Said(answers, promises(*answers))


def test_after_edits_elsewhere_nothing_is_compiled(copied: Path) -> None:
    package = copied / "grbp"
    for file in (
        "__init__.py",
        "cli/solve.py",
        "serve/app.py",
        "planning/plan.py",
        "figures/canvas.py",
    ):
        source = package / file
        source.write_text(EDIT + source.read_text("utf-8"), "utf-8")
    (package / "cli" / "added.py").write_text(EDIT, "utf-8")
    assert ask(copied) == Said(ANSWERS, [])


@pytest.mark.soak
@pytest.mark.parametrize("forked", [False, True], ids=["processes", "a fork"])
def test_namesakes_compiled_apart_and_loaded_together_do_not_mix(
    package: Path, tmp_path: Path, forked: bool
) -> None:
    """Numba gives all of them the same symbols, if each is the first in its process."""
    place = {"GRBP_CACHE_DIR": str(tmp_path)}
    if forked:
        end(start(package, ASK_IN_A_FORK, "helper", "2", **place))
    else:
        for name in ("helper", "2"):
            assert ask(package, name, **place) == Said({name: ANSWERS[name]}, promises(name))
    both = {name: ANSWERS[name] for name in ("2", "helper")}
    assert ask(package, *both, **place) == Said(both, [])


DECIDE = f"""{LISTEN}
from grbp import Problem, find_learner
from grbp.engine.decisions import decisions
problem, answers = Problem(4, 0.45, 0.3), {{}}
for name in sys.argv[2:]:
    learner = find_learner(name, problem)
    (block,) = decisions(problem, learner, [9, 99], 3, seed=1, engine=sys.argv[1])
    answers[name] = [block.played.tolist(), block.won.tolist()]
print(json.dumps([answers, [line for line in heard if "batches of rounds" not in line]]))
"""


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["walk", "leap"])
def test_loops_of_learners_compiled_apart_and_loaded_together_play_their_own(
    tmp_path: Path, engine: str
) -> None:
    names = ("getbe-sm", "threshold-3")
    apart = [end(start(tmp_path, DECIDE, engine, name)) for name in names]
    assert [said.heard for said in apart] == [promises(name) for name in names]
    together = end(start(tmp_path, DECIDE, engine, *names))
    assert together.heard == []
    answers = [said.answers[name] for said, name in zip(apart, names, strict=True)]
    assert [together.answers[name] for name in names] == answers
    assert len({repr(answer) for answer in answers}) == len(names)


def test_every_loop_of_every_learner_is_kept_under_a_key_of_its_own() -> None:
    keys: dict[Any, Any] = {}
    for learner in BUILT_IN:
        for tabled in (None, False, True):
            told = learner.decide, learner.stable, learner.thinning
            loop = (
                make_walk_loop(learner.decide) if tabled is None else make_leap_loop(*told, tabled)
            )
            fingerprint = Fingerprint(loop, ())
            assert fingerprint.own
            assert keys.setdefault(fingerprint.key, (*told, tabled)) == (*told, tabled)


MINE = """
from numba.extending import overload
from grbp.numerics.jit import compile_function, kernel
def told(x): return x
@overload(told)
def compiled_told(x): return lambda x: x + 1
@kernel
def helper(x): return told(x)
def run(x): return helper(x) * 2
"""
ASK_MINE = """
import mine
answers = {"main": compile_function(run, "main")(1), "mine": compile_function(mine.run, "mine")(1)}
print(json.dumps([answers, heard]))
"""


@pytest.mark.slow
def test_what_others_wrote_is_never_answered_by_old_code(tmp_path: Path) -> None:
    for more in (1, 2):
        source = MINE.replace("x + 1", f"x + {more}")
        (tmp_path / "mine.py").write_text(source, "utf-8")
        said = end(start(tmp_path, LISTEN + source + ASK_MINE))
        assert said.answers == {"main": 2 * (1 + more), "mine": 2 * (1 + more)}
        assert said.heard == [f"compiling {name}{SECONDS}" for name in ("main", "mine")]
    assert kept(tmp_path / "cache") == []


@pytest.mark.parametrize(
    "script",
    [
        "import sys; sys.modules['numba'] = None",
        "import os; os.environ['NUMBA_DISABLE_JIT'] = '1'",
        "import numba; del numba.core.bytecode",
    ],
    ids=["no Numba", "switched off", "another Numba"],
)
def test_without_numba_or_with_another_one_all_works_and_nothing_is_kept(
    package: Path, tmp_path: Path, script: str
) -> None:
    said = end(start(package, script + ASK, "helper", GRBP_CACHE_DIR=str(tmp_path)))
    assert said == Said({"helper": ANSWERS["helper"]}, [])
    assert kept(tmp_path) == []


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the code that this process keeps."""
    monkeypatch.setenv("GRBP_CACHE_DIR", str(tmp_path / "own"))
    return tmp_path / "own"


def adding(step: float) -> Callable[[float], float]:
    """A function that the package could have written."""

    def run(x: float) -> float:
        return x + step

    run.__module__ = "grbp.errors"
    return run


class Mine(NamedTuple):
    """The constants of a learner that somebody else wrote."""

    first: float


def test_code_for_the_classes_of_others_is_not_kept(
    own: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "grbp")

    def inner(nested: Any) -> float:
        return float(nested[0].first)

    inner.__module__ = "grbp.errors"
    assert compile_function(inner, "it")((Mine(2.5), 1)) == 2.5
    assert [record.message for record in caplog.records] == ["compiling it" + SECONDS]
    assert kept(own) == []


@pytest.mark.parametrize("module", ["grbp", "grbp.cli.solve", "grbp.planning.plan"])
def test_code_of_a_module_whose_edits_are_not_noticed_is_not_kept(own: Path, module: str) -> None:
    function = adding(4.5)
    function.__module__ = module
    assert compile_function(function)(1.0) == 5.5
    assert kept(own) == []


Damage = Callable[[Path], object]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:999]),
        lambda path: path.write_bytes(path.read_bytes()[:-9] + bytes(9)),
        lambda path: path.write_bytes(max(path.parent.glob("other")).read_bytes()),
        lambda path: path.chmod(0o620),
        lambda path: path.chmod(0o602),
    ],
    ids=["empty", "cut off", "overwritten", "another one", "a group's", "anybody's"],
)
def test_an_entry_that_may_not_be_ours_is_replaced(
    own: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, damage: Damage
) -> None:
    caplog.set_level(logging.INFO, "grbp")

    def anew(step: float) -> list[str]:
        monkeypatch.setattr(jit._NUMBA, "dispatchers", {})
        caplog.clear()
        assert compile_function(adding(step), "it")(1.0) == 1.0 + step
        return [record.message for record in caplog.records]

    assert anew(0.5) == promises("it")
    kept(own)[0].rename(own / "other")
    assert anew(1.5) == promises("it")
    assert anew(1.5) == []
    damage(kept(own)[0])
    assert anew(1.5) == promises("it")
    assert anew(1.5) == []


def test_entries_are_for_the_user_alone(own: Path) -> None:
    before = os.umask(0)
    try:
        compile_function(adding(3.5))(1.0)
    finally:
        os.umask(before)
    assert own.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in kept(own)] == [0o600]


def test_without_a_private_folder_everything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    for name, mode in [("group", 0o770), ("all", 0o707), ("sticky", 0o1777)]:
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    (tmp_path / "link").symlink_to(tmp_path / "group")
    caplog.set_level(logging.INFO, "grbp")
    places = ["", *map(str, (tmp_path / "file", tmp_path / "file" / "in", tmp_path / "link"))]
    places += [str(tmp_path / name) for name in ("group", "all", "sticky")]
    for k, place in enumerate(places):
        monkeypatch.setenv("GRBP_CACHE_DIR", place)
        assert compile_function(adding(0.25 + k), "it")(1.0) == 1.25 + k
    assert [record.message for record in caplog.records] == ["compiling it" + SECONDS] * len(places)
    assert list(tmp_path.rglob("*.code")) == []

    # Nor in a folder of another user; by default it is where the system wants it.
    monkeypatch.delenv("GRBP_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert kernel_cache.cache_folder() == tmp_path / "grbp" / "compiled"
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert kernel_cache.cache_folder() is None


def test_nothing_is_kept_of_a_package_that_was_edited_while_it_ran(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "STARTED", 0)
    assert compile_function(adding(1.5))(1.0) == 2.5
    assert kept(own) == []


def test_only_so_many_entries_are_kept(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "MOST", 3)
    own.mkdir(mode=0o700)
    for k, name in enumerate(["other", ".grbp-draft", "0.code", "1.code", "2.code"]):
        (own / name).write_bytes(b"")
        os.utime(own / name, (k, k))
    compile_function(adding(2.5))(1.0)
    assert len(kept(own)) == 3
    assert {path.name for path in own.iterdir()} > {"other", "1.code", "2.code"}


NOTICE = """
import logging, sys
import grbp
logging.getLogger("grbp").setLevel(sys.argv[1])
grbp.simulate(grbp.Problem(3, 0.5, 0.3), "threshold-1", 20, 2, engine="walk")
"""


@pytest.mark.slow
def test_python_says_by_default_that_it_compiles_and_only_then(tmp_path: Path) -> None:
    """Once for a learner, not for parts of the engine; on request it is quiet."""
    said = []
    for folder, level in (("one", "NOTSET"), ("one", "NOTSET"), ("two", "ERROR")):
        done = subprocess.run(
            [sys.executable, "-c", NOTICE, level],
            env=os.environ | {"GRBP_CACHE_DIR": str(tmp_path / folder)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        said.append(done.stderr.splitlines())
    assert said == [promises("threshold-1"), [], []]
