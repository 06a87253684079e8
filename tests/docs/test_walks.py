"""The page on how the code answers a request: what it names exists and is called in its order."""

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import recorded_calls
from optional import optional
from recorded_calls import SOURCE

from grbp.cli import main

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "how-a-request-walks.md"

NAMED = re.compile(r"`([\w/]+\.(?:py|js))(?:: ([\w.]+))?`")
"""A file of the package, or a function in it: `worlds/problem.py: Problem.states`."""


class Walk(NamedTuple):
    """A section of the page: commands, the last of which walks through functions."""

    title: str
    file: str
    commands: list[list[str]]
    steps: list[tuple[str, str]]


def walks() -> list[Walk]:
    found = []
    for section in PAGE.read_text("utf-8").split("\n## ")[1:]:
        blocks = dict(re.findall(r"```(sh|toml)\n(.*?)```", section, re.DOTALL))
        lines = blocks.get("sh", "").splitlines()
        commands = [shlex.split(line)[1:] for line in lines]
        rows = [NAMED.search(line) for line in section.splitlines() if line.startswith("| `")]
        steps = [(row[1], row[2]) for row in rows if row]
        if steps:
            title = section.splitlines()[0]
            found.append(Walk(title, blocks.get("toml", ""), commands, steps))
    return found


def defined_in(path: Path) -> set[str]:
    """The functions and classes of a file, methods as Class.method."""
    names = set()
    if path.suffix == ".js":
        return set(re.findall(r"^(?:export )?(?:async )?function (\w+)", path.read_text(), re.M))
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{one.name}" for one in node.body if hasattr(one, "name")}
    return names


def test_every_file_and_function_that_the_page_names_exists() -> None:
    named = NAMED.findall(PAGE.read_text("utf-8"))
    assert len(named) > 40
    for file, function in named:
        assert (SOURCE / file).is_file(), file
        assert not function or function in defined_in(SOURCE / file), f"{file}: {function}"


def test_the_page_follows_a_simulation_a_fit_a_tell_an_entry_and_a_sweep() -> None:
    first = [walk.commands[-1][0] if walk.commands else "" for walk in walks()]
    assert first == ["simulate", "fit", "live", "", "sweep"]


@pytest.mark.slow
def test_an_entry_walks_from_a_page_to_the_disk_and_to_another_page(browser: object) -> None:
    assert browser  # which is started by the program below; here it says that there is one
    (steps,) = (walk.steps for walk in walks() if not walk.commands)
    asked = [sys.executable, str(ROOT / "tests" / "recorded_visit.py"), json.dumps(steps)]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    called = [tuple(call) for call in json.loads(answer.stdout)]
    scripts = [step for step in steps if step[0].endswith(".js")]
    assert called == [step for step in steps if step not in scripts] + scripts


@pytest.mark.parametrize(
    "walk", [one for one in walks() if one.commands], ids=lambda walk: walk.commands[-1][0]
)
def test_a_request_walks_as_the_page_says(
    walk: Walk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    *before, last = walk.commands
    Path("tour.toml").write_text(walk.file, "utf-8")
    for command in before:
        assert main(command) == 0
    asked = [sys.executable, recorded_calls.__file__, json.dumps(walk.steps), *last]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert [tuple(call) for call in json.loads(answer.stdout)] == walk.steps


MOST = {
    "tell at the shell": (350, 59),
    "tell over HTTP": (225, 48),
    "page of a case": (300, 69),
}
"""The functions and the files that a request may walk, a few more than on Python 3.11: who needs
more says what for."""


@pytest.mark.slow
def test_a_request_walks_no_further_than_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    optional("fastapi", "'.[serve]'")
    optional("httpx")
    monkeypatch.chdir(tmp_path)
    Path("server").mkdir()
    for command in ("init --study ward --goal 4", "open --state 2"):
        subprocess.run([sys.executable, "-m", "grbp", "live", *command.split()], check=True)
    counted: dict[str, tuple[int, int]] = {}
    for way in ("shell", "server"):
        asked = [sys.executable, str(ROOT / "tests" / "walked.py"), way]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, answer.stderr
        counted |= {name: tuple(found) for name, found in json.loads(answer.stdout).items()}
    assert counted.keys() == MOST.keys()
    for name, (functions, files) in counted.items():
        assert functions > 100
        assert functions <= MOST[name][0], f"{name}: {functions} functions"
        assert files <= MOST[name][1], f"{name}: {files} files"
