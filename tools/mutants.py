"""Change one line of the source at a time, and see whether its tests notice.

The changes are listed in mutants.toml, each with the tests that should fail. First these tests
must pass in a copy of the tree; then the changes are made in further copies, several at a
time. A test that runs for too long has noticed: some changes make a loop endless.

With --random the changes are drawn (see mutation/changes.py), and tried with the tests that run
what is changed.
"""

import argparse
import json
import math
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).parent))
from mutation.changes import Change, draw, find_changes  # noqa: F401 (for its tests)
from mutation.reach import COMPILED, SOAKED, Reach, instrument, list_parts

T = TypeVar("T")
R = TypeVar("R")

ROOT = Path(__file__).parent.parent
LIST = ROOT / "tools" / "mutants.toml"
COPIED = ("src", "tests", "docs", "tools", "pyproject.toml", "README.md", "CONTRIBUTING.md")
ENOUGH = 0.9
"""The share of changes that must be noticed."""

ENOUGH_DRAWN = 0.85
"""The share of changes drawn at random that must be noticed."""

LONGEST = 300
"""Seconds after which the tests of a change are ended."""

PYTEST = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider"]
# Of the plugins only one is needed, and to load the others takes longer than most tests.
PYTEST += ["-p", "_hypothesis_pytestplugin"]


def listed() -> list[dict[str, str]]:
    """Return the changes: file, old and new text, tests, and why one survives if it does."""
    return tomllib.loads(LIST.read_text("utf-8"))["mutant"]


def changed(tree: Path, mutant: dict[str, str]) -> str:
    """Return the text of a file with one place changed, which must be the only one of its kind."""
    text = (tree / mutant["file"]).read_text("utf-8")
    if text.count(mutant["old"]) != 1:
        raise ValueError(f"{mutant['file']} has {text.count(mutant['old'])} of {mutant['old']!r}")
    return text.replace(mutant["old"], mutant["new"])


def merged(selections: Iterable[str]) -> dict[str, list[str]]:
    """Return selections of tests that choose the same ones, each with those it stands for.

    Those of one file become one, so that pytest is started less often.
    """
    together: dict[str, list[str]] = {}
    words: dict[str, list[str]] = {}
    for selection in dict.fromkeys(selections):
        match shlex.split(selection):
            case [path]:
                expression = ""
            case [path, "-k", expression]:
                pass
            case _:
                path, expression = selection, ""
        together.setdefault(path, []).append(selection)
        words.setdefault(path, []).append(expression and f"({expression})")
    return {
        path if "" in words[path] else shlex.join([path, "-k", " or ".join(words[path])]): those
        for path, those in together.items()
    }


def run(
    tree: Path, tests: list[str], *, limit: float | None, keep: bool = False, reached: str = ""
) -> int | None:
    """Return how pytest ends in a tree, or None if it does not in time."""
    added = {
        "GRBP_REACHED": reached,
        "PYTHONPATH": str(tree / "src"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        # The key of an entry covers all that it is made from, so that all trees can share them.
        "GRBP_CACHE_DIR": str(tree.parent / "compiled"),
        "GRBP_EXAMPLES": "some",
        "PYTHONDONTWRITEBYTECODE": "" if keep else "1",
    }
    process = subprocess.Popen(
        [*PYTEST, *tests], cwd=tree, env=os.environ | added, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # It and all that it has started.
            process.wait()


def passes(tree: Path, tests: str, *, limit: float | None = LONGEST, keep: bool = False) -> bool:
    """Return whether tests pass in a tree, in time; what Python compiles is kept there or not."""
    status = run(tree, shlex.split(tests), limit=limit, keep=keep)
    if status is None:
        return False
    if status not in (0, 1, 2):  # 2: a module that cannot be imported any more
        sys.exit(f"pytest ended with {status} for {tests}")
    return status == 0


def survives(trees: "SimpleQueue[Path]", mutant: dict[str, str]) -> bool:
    """Return whether the tests pass after a change, which is made in one of the trees."""
    tree = trees.get()
    with tried(tree / mutant["file"], changed(tree, mutant)):
        alive = passes(tree, mutant["tests"])
    trees.put(tree)
    return alive


@contextmanager
def tried(path: Path, text: str) -> Iterator[None]:
    """Give a file another text for a while."""
    before, status = path.read_bytes(), path.stat()
    try:
        path.write_text(text, "utf-8")
        yield
    finally:
        path.write_bytes(before)
        # Python takes what it compiled before for current again.
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def at_once(
    jobs: int, function: Callable[[T], R], things: Iterable[T]
) -> Iterator[tuple[str, T, R]]:
    """Yield what a function returns for each of some things, as they come, and how far it is."""

    def timed(thing: T) -> tuple[float, R]:
        began = time.monotonic()
        result = function(thing)
        return time.monotonic() - began, result

    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(timed, thing): thing for thing in things}
        try:
            for k, done in enumerate(as_completed(futures), start=1):
                took, result = done.result()
                yield f"{k:3}/{len(futures)} {took:4.0f} s", futures[done], result
        finally:
            pool.shutdown(cancel_futures=True)


def unsound(tree: Path, selections: Iterable[str], jobs: int) -> set[str]:
    """Return the selections of tests that fail in a tree; a file is run as a whole first."""
    failed, together = set(), merged(selections)
    alone = partial(passes, tree, limit=None, keep=True)
    for so_far, tests, passed in at_once(jobs, alone, together):
        print(f"{so_far} {'passed' if passed else 'FAILED':8}  {tests}", flush=True)
        failed |= set() if passed else set(together[tests])
    return {tests for _, tests, passed in at_once(jobs, alone, sorted(failed)) if not passed}


def copied(tree: Path) -> Path:
    """Copy what the tests need."""
    tree.mkdir()
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, tree / name)
    shutil.copy2(ROOT / "tools" / "mutation" / "reached.py", tree / "src")
    return tree


def find_reach(folder: Path, jobs: int) -> Reach:
    """Run all tests once that may notice, and keep which functions each one runs."""
    tree = copied(folder / "instrumented")
    instrument(tree)

    def reached(part: str) -> list[list[Any]]:
        file = folder / f"{part.replace('/', '-')}.jsonl"
        marks = [] if part in SOAKED else ["-m", "not soak"]
        given = ["--maxfail=1000", *marks, "-p", "reached", part]
        run(tree, given, limit=None, keep=True, reached=str(file))
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]

    lines = []
    for so_far, part, found in at_once(jobs, reached, list_parts(tree)):
        print(f"{so_far} {part}", flush=True)
        lines += found
    return Reach(ROOT, lines)


def try_drawn(
    drawn: list[tuple[str, Change]], reach: Reach, jobs: int, folder: Path
) -> list[tuple[str, Change]]:
    """Try changes that were drawn, each with the tests that run it; return which survive."""
    trees, survived, sound = SimpleQueue[Path](), [], copied(folder / "sound")
    run(sound, ["--collect-only", *list_parts(sound)], limit=None, keep=True)  # It compiles them.
    for k in range(jobs):
        trees.put(Path(shutil.copytree(sound, folder / f"tree-{k}")))

    def fails(tree: Path, tests: list[str], compiled: bool) -> bool:
        those = tree.with_suffix(".json")
        those.write_text(json.dumps(tests), "utf-8")
        limit = 60.0 + 5.0 * sum(reach.seconds[test] for test in tests)
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        given = ["-p", "reached", "--those", str(those), *files]
        status = run(tree, given, limit=LONGEST if compiled else limit)
        if status is None:  # It may be endless; or all is compiled anew, which says nothing.
            return not compiled
        return status not in (0, 5)  # 5: there is none of these tests any more

    def noticed(one: tuple[str, Change]) -> bool:
        file, change = one
        tree = trees.get()
        with tried(tree / file, change.make((tree / file).read_text("utf-8"))):
            stages = filter(None, reach.tests_of(file, change))
            seen = any(fails(tree, tests, file.startswith(COMPILED)) for tests in stages)
        trees.put(tree)
        return seen

    for so_far, (file, change), seen in at_once(jobs, noticed, drawn):
        print(
            f"{so_far} {'killed' if seen else 'SURVIVED':8}  {described(file, change)}", flush=True
        )
        survived += [] if seen else [(file, change)]
    return survived


def described(file: str, change: Change) -> str:
    """Say where a change is, what stood there and what stands there now."""
    data = (ROOT / file).read_bytes()
    line = data[: change.start].count(b"\n") + 1
    old = " ".join(data[change.start : change.end].decode().split())
    return f"{file}:{line}: {old[:60]} -> {change.new[:60] or 'nothing'}"


def judge_drawn(count: int, seed: int, words: list[str], jobs: int) -> bool:
    """Draw changes and try them; return whether enough were noticed."""
    began = time.monotonic()
    drawn = [
        (file, change)
        for file, change in draw(ROOT, count, seed)
        if not words or any(word in file for word in words)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("Which test runs what:", flush=True)
        reach = find_reach(folder, jobs)
        print(f"With one change each, drawn with the seed {seed}:", flush=True)
        survived = try_drawn(drawn, reach, jobs, folder)
    tried_all, took = len(drawn), (time.monotonic() - began) / 60
    share = 1.0 - len(survived) / max(1, tried_all)
    low, high = wilson(share, tried_all)
    print(
        f"{tried_all} changes drawn with the seed {seed}, {len(survived)} survived: {share:.0%}"
        f" were noticed ({low:.0%} to {high:.0%} at 95 %; {took:.0f} min)"
    )
    for file, change in sorted(survived):
        print(f"  {described(file, change)}")
    return share >= ENOUGH_DRAWN


def wilson(share: float, count: int, z: float = 1.96) -> tuple[float, float]:
    """Return an interval for the share of all changes that would be noticed."""
    middle = share + z * z / (2 * count)
    apart = z * math.sqrt(share * (1.0 - share) / count + z * z / (4 * count * count))
    return tuple((middle + sign * apart) / (1.0 + z * z / count) for sign in (-1, 1))


def try_all(
    mutants: list[dict[str, str]], jobs: int, folder: Path
) -> tuple[list[dict[str, str]], set[str]]:
    """Try the changes in copies of the tree; return which survive, and which tests fail anyway."""
    sound, trees, survived = copied(folder / "sound"), SimpleQueue[Path](), []
    print("Without any change:", flush=True)
    failed = unsound(sound, (mutant["tests"] for mutant in mutants), jobs)
    for k in range(jobs):
        trees.put(Path(shutil.copytree(sound, folder / f"tree-{k}")))
    print("With one change each:", flush=True)
    tried = [mutant for mutant in mutants if mutant["tests"] not in failed]
    for so_far, mutant, alive in at_once(jobs, partial(survives, trees), tried):
        said = "SURVIVED" if alive else "killed"
        print(f"{so_far} {said:8}  {mutant['file']}: {' '.join(mutant['new'].split())}", flush=True)
        survived += [mutant] if alive else []
    return survived, failed


def main() -> None:
    """Try every change, or those whose file or text holds one of the words."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("words", nargs="*", help="try only changes whose file or text has a word")
    jobs_help = "how many are tried at a time; by default one for each core"
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help=jobs_help)
    parser.add_argument("--random", type=int, default=0, help="draw so many changes instead")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    asked = parser.parse_args()
    if asked.jobs < 1:
        parser.error(f"--jobs is {asked.jobs}; it must be 1 or more")
    if asked.random < 0:
        parser.error(f"--random is {asked.random}; it must be 0 or more")
    if asked.random:
        sys.exit(not judge_drawn(asked.random, asked.seed, asked.words, asked.jobs))
    words, began = asked.words, time.monotonic()
    mutants = [
        mutant
        for mutant in listed()
        if not words or any(word in mutant["file"] + mutant["old"] for word in words)
    ]
    if not mutants:
        parser.error(f"no change has {' or '.join(words)} in its file or text; see {LIST.name}")
    with tempfile.TemporaryDirectory() as folder:
        survived, failed = try_all(mutants, asked.jobs, Path(folder))
    tried = sum(mutant["tests"] not in failed for mutant in mutants)
    share, took = 1.0 - len(survived) / max(1, tried), (time.monotonic() - began) / 60
    print(f"{tried} changes, {len(survived)} survived: {share:.0%} were noticed ({took:.0f} min)")
    for mutant in survived:
        why = mutant.get("survives", "NOT EXPLAINED")
        print(f"  {mutant['file']}: {mutant['new']}: {why}")
    for tests in sorted(failed):
        print(f"  NOT TRIED, since these fail without any change: pytest {tests}")
    if failed or share < ENOUGH or any("survives" not in mutant for mutant in survived):
        sys.exit(1)


if __name__ == "__main__":
    main()
