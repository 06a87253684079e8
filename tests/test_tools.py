"""The tools of the house: they do nothing unasked, and no pin breaks what the metadata promises."""

import re
import runpy
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


def a_distribution(folder: Path, name: str, needs: str) -> Distribution:
    place = folder / f"{name}-1.0.dist-info"
    place.mkdir()
    asked = f"Requires-Python: {needs}\n" if needs else ""
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{asked}")
    return PathDistribution(place)


def test_every_pin_runs_on_every_python_that_is_promised() -> None:
    found = []
    for name in re.findall(r"^([^#=]+)==", PIN["FILE"].read_text("utf-8"), re.M):
        try:
            found.append(distribution(name))
        except PackageNotFoundError:
            continue
    assert len(found) > 50
    assert PIN["misfits"](found) == []


def test_every_python_from_the_first_that_is_promised_is_asked_for() -> None:
    promised = PIN["promised"]()
    assert promised[0] == "3.11.0"
    assert {"3.11.1", "3.12.0", "3.13.0", "3.13.30"} <= set(promised)


@pytest.mark.parametrize(
    ("needs", "lacks"),
    [
        (">=3.11.5", "3.11.0"),
        (">=3.12", "3.11.0"),
        ("!=3.11.1,>=3.8", "3.11.1"),
        (">=3.8,<3.13", "3.13.0"),
        ("<4,>=3.11", None),
        (">=3.9,<3.15", None),
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
    file.write_text("hatchling==1.0\nzebra==0.1\n")
    names: dict[str, Any] = PIN["main"].__globals__
    asked = (("zebra", ">=3.8"), ("Ape", needs), ("grbp", ">=4"))
    found = [a_distribution(tmp_path, *one) for one in asked]
    monkeypatch.setitem(names, "distributions", lambda: found)
    monkeypatch.setitem(names, "FILE", file)
    if lacks is None:
        PIN["main"]([])
        assert file.read_text() == f"{PIN['HEAD']}hatchling==1.0\nApe==1.0\nzebra==1.0\n"
        return
    with pytest.raises(SystemExit) as refusal:
        PIN["main"]([])
    sentence = f"Ape 1.0 needs Python {needs}, which is not {lacks}; install a version"
    assert sentence in str(refusal.value)
    assert "zebra" not in str(refusal.value)
    assert file.read_text() == "hatchling==1.0\nzebra==0.1\n"
