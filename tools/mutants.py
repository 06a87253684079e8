"""Change one line of the source at a time, and see whether its tests notice.

The changes are listed in mutants.toml, each with the tests that should fail. They are made in a
copy of the tree. A test that runs for too long has noticed: some changes make a loop endless.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIST = ROOT / "tools" / "mutants.toml"
COPIED = ("src", "tests", "docs", "tools", "pyproject.toml", "README.md", "CONTRIBUTING.md")
ENOUGH = 0.9
"""The share of changes that must be noticed."""

LONGEST = 300
"""Seconds after which tests are ended."""


def listed() -> list[dict[str, str]]:
    """Return the changes: file, old and new text, tests, and why one survives if it does."""
    return tomllib.loads(LIST.read_text("utf-8"))["mutant"]


def changed(tree: Path, mutant: dict[str, str]) -> str:
    """Return the text of a file with one place changed, which must be the only one of its kind."""
    text = (tree / mutant["file"]).read_text("utf-8")
    if text.count(mutant["old"]) != 1:
        raise ValueError(f"{mutant['file']} has {text.count(mutant['old'])} of {mutant['old']!r}")
    return text.replace(mutant["old"], mutant["new"])


def passes(tree: Path, *tests: str) -> bool:
    """Return whether tests pass in a tree, in time."""
    added = {
        "PYTHONPATH": str(tree / "src"),
        "GRBP_CACHE_DIR": str(tree / "compiled"),
        "GRBP_EXAMPLES": "few",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *tests], cwd=tree, env=os.environ | added, timeout=LONGEST, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (0, 1, 2):  # 2: a module that cannot be imported any more
        sys.exit(f"pytest ended with {done.returncode} for {shlex.join(tests)}")
    return done.returncode == 0


def main(*words: str) -> None:
    """Try every change, or those whose file or text holds one of the words."""
    mutants = [
        mutant
        for mutant in listed()
        if not words or any(word in mutant["file"] + mutant["old"] for word in words)
    ]
    survived, sound = [], set[str]()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, tree / name)
        for k, mutant in enumerate(mutants, start=1):
            began, path, tests = time.monotonic(), tree / mutant["file"], mutant["tests"]
            if tests not in sound and not passes(tree, *shlex.split(tests)):
                sys.exit(f"these fail without any change: pytest {tests}")
            sound.add(tests)
            before = path.read_text("utf-8")
            path.write_text(changed(tree, mutant), "utf-8")
            alive = passes(tree, *shlex.split(tests))
            path.write_text(before, "utf-8")
            survived += [mutant] if alive else []
            said = "SURVIVED" if alive else "killed"
            took = f"{time.monotonic() - began:.0f} s"
            print(f"{k:2}/{len(mutants)} {said:8} {took:>5}  {mutant['file']}: {mutant['new']}")
            sys.stdout.flush()
    share = 1.0 - len(survived) / len(mutants)
    print(f"{len(mutants)} changes, {len(survived)} survived: {share:.0%} were noticed")
    for mutant in survived:
        why = mutant.get("survives", "NOT EXPLAINED")
        print(f"  {mutant['file']}: {mutant['new']}: {why}")
    if share < ENOUGH or any("survives" not in mutant for mutant in survived):
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
