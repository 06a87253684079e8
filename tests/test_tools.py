"""The tools of the house: they do nothing unasked, and no pin breaks what the metadata promises."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, PathDistribution, distribution
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = sorted((ROOT / "tools").glob("*.py"))
WRITTEN = ["constraints.txt", "*.md", "dist", "docs/images", "docs/images/*", "examples/*"]
PIN = runpy.run_path(str(ROOT / "tools" / "pin.py"))
PINS = PIN["read"](PIN["FILE"].read_text("utf-8"))


def written() -> dict[Path, int]:
    """When what tools write was last written."""
    return {path: path.stat().st_mtime_ns for name in WRITTEN for path in ROOT.glob(name)}


def said(*words: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("tool", [str(tool) for tool in TOOLS], ids=[tool.stem for tool in TOOLS])
def test_a_tool_does_nothing_unasked(tool: str) -> None:
    before = written()
    load = "import runpy, sys; runpy.run_path(sys.argv[1])"
    assert said("-c", load, tool) == (0, "", "")
    status, out, err = said(tool, "--help")
    assert (status, out[:6], err) == (0, "usage:", "")
    for words in (["--hurry"], ["no-such-word", "nor-this", "nor-that"]):
        status, out, err = said(tool, *words)
        assert (status, out, err[:6]) == (2, "", "usage:")
    assert written() == before


# --- pins -------------------------------------------------------------------------------------


def a_distribution(folder: Path, name: str, needs: str, tag: str = "py3-none-any") -> Distribution:
    place = folder / f"{name}-1.0.dist-info"
    place.mkdir()
    asked = f"Requires-Python: {needs}\n" if needs else ""
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{asked}")
    (place / "WHEEL").write_text(f"Wheel-Version: 1.0\nTag: {tag}\n")
    return PathDistribution(place)


def test_every_pin_runs_on_every_python_that_is_promised() -> None:
    found = []
    for pin in PINS:
        try:
            there = distribution(pin.name)
        except PackageNotFoundError:
            continue
        if there.version == pin.version:
            found.append((pin, there))
    assert len(found) > 50
    assert PIN["misfits"](found) == []


def test_every_python_has_one_pin_of_everything_and_a_wheel_or_is_said_to_lack_it() -> None:
    lacking = set()
    for python in PIN["minors"]():
        pins = [pin for pin in PINS if pin.admits(f"{python}.0")]
        assert sorted(pin.name for pin in pins) == sorted({pin.name for pin in PINS})
        lacking |= {
            (python, pin.name)
            for pin in pins
            if pin.wheels != "any" and python not in pin.wheels.split()
        }
    install = (ROOT / "docs" / "install.md").read_text("utf-8")
    assert lacking == set(
        re.findall(r"^- On Python (3\.\d+), `([\w-]+)` has no wheel", install, re.M)
    )


def test_every_pin_is_needed_and_says_where_it_has_wheels() -> None:
    assert PIN["text"](PINS) == PIN["FILE"].read_text("utf-8")
    for name in {pin.name for pin in PINS if pin.marker}:
        alone = [pin for pin in PINS if pin.name == name]
        assert not any(set(PIN["minors"]()) <= set(pin.wheels.split()) for pin in alone)


def test_every_python_that_is_promised_is_told() -> None:
    promised = PIN["minors"]()
    for file in ("README.md", "docs/install.md", "docs/quickstart.md", "docs/operating.md"):
        text = (ROOT / file).read_text("utf-8")
        assert f"Python {promised[0]} to {promised[-1]}" in " ".join(text.split()), file


def test_every_python_from_the_first_that_is_promised_is_asked_for() -> None:
    promised = PIN["promised"]()
    assert promised[0] == "3.11.0"
    assert {"3.11.1", "3.12.0", "3.13.0", "3.13.30", "3.14.0", "3.15.0"} <= set(promised)


@pytest.mark.parametrize(
    ("needs", "lacks"),
    [
        (">=3.11.5", "3.11.0"),
        (">=3.12", "3.11.0"),
        ("!=3.11.1,>=3.8", "3.11.1"),
        (">=3.8,<3.13", "3.13.0"),
        ("<4,>=3.11", None),
        (">=3.9,<3.16", None),
        ("!=3.0.*,>=2.7", None),
        ("", None),
    ],
)
def test_a_version_that_does_not_run_everywhere_is_not_pinned(
    needs: str,
    lacks: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "constraints.txt"
    file.write_text("hatchling==1.0  # any\nzebra==0.1\n")
    names: dict[str, Any] = PIN["main"].__globals__
    asked = (("zebra", ">=3.8"), ("Ape", needs), ("grbp", ">=4"))
    found = [a_distribution(tmp_path, *one) for one in asked]
    monkeypatch.setitem(names, "distributions", lambda: found)
    monkeypatch.setitem(names, "FILE", file)
    if lacks is None:
        PIN["main"]([])
        pins = "hatchling==1.0  # any\nApe==1.0  # any\nzebra==1.0  # any\n"
        assert file.read_text() == PIN["HEAD"] + pins
        return
    with pytest.raises(SystemExit) as refusal:
        PIN["main"]([])
    sentence = f"Ape 1.0 needs Python {needs}, which is not {lacks}; install a version"
    assert sentence in str(refusal.value)
    assert "zebra" not in str(refusal.value)
    assert file.read_text() == "hatchling==1.0  # any\nzebra==0.1\n"


def test_pins_of_other_pythons_stay_and_wheels_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, oldest = sys.version_info[:2], PIN["minors"]()[0]
    ours = f'python_version == "{here[0]}.{here[1]}"'
    theirs = ours.replace("==", "!=")
    file = tmp_path / "constraints.txt"
    file.write_text(f"ape==0.1; {ours}  # any\nape==0.2; {theirs}  # any\ngone==1.0  # any\n")
    asked = (("ape", "cp311-cp311-linux"), ("bee", "cp39-abi3-linux"), ("cat", "cp399-abi3-linux"))
    found = [a_distribution(tmp_path, name, "", tag) for name, tag in asked]
    there = {"ape": {"0.2", "1.0"}, "cat": set[str]()}
    names: dict[str, Any] = PIN["main"].__globals__
    monkeypatch.setitem(names, "distributions", lambda: found)
    monkeypatch.setitem(names, "FILE", file)
    monkeypatch.setitem(
        names, "versions", lambda name, python: there[name] if python != oldest else set()
    )
    PIN["main"]([])
    most = " ".join(PIN["minors"]()[1:])
    assert file.read_text().removeprefix(PIN["HEAD"]).splitlines() == [
        f"ape==0.2; {theirs}  # {most}",
        f"ape==1.0; {ours}  # {most}",
        "bee==1.0  # any",
        "cat==1.0  # none",
    ]


# --- setting up -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "there", "sentence"),
    [
        ("python3", {"python3": "3.99"}, "PYTHON=python3 is not a Python 3.11 to 3.15, for which"),
        ("nowhere/python", {}, "PYTHON=nowhere/python is not a Python 3.11 to 3.15, for which"),
        ("", {"python3": "3.99"}, "no Python 3.11 to 3.15 was found, for which all that is needed"),
        ("", {"python3": "3.99", "python3.12": "3.12"}, "python3.12 can make no virtual environ"),
        ("", {"python3": "3.12", "python3.13": "3.13"}, "python3 can make no virtual environment"),
    ],
)
def test_a_python_that_serves_is_chosen_or_asked_for_in_a_sentence(
    asked: str, there: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    for name in ("tools/setup.sh", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("python", "python3", *(f"python{minor}" for minor in PIN["minors"]())):
        says = f"echo {there[name]}" if name in there else "false"
        (tmp_path / name).write_text(f"#!/bin/sh\n[ $1 = -c ] && {says}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [tmp_path / "tools" / "setup.sh", "run"],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHON": asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"setup: {sentence}")
    assert done.stderr.count("\n") == 1
