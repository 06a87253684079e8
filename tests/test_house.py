"""The house itself: who may import whom, what is public, what stays light, what is documented."""

import ast
import inspect
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import grbp

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "grbp"

NOT_ON_IMPORT = {"gymnasium", "matplotlib", "scipy", "numba", "mpmath", "stormpy", "PIL"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        yield name.removesuffix("__init__").removesuffix("."), ast.parse(path.read_text("utf-8"))


def test_every_public_name_is_there_and_documented() -> None:
    assert {"Problem", "simulate", "__version__"} <= {*grbp.__all__, *dir(grbp)}
    for name in grbp.__all__:
        thing = getattr(grbp, name)
        assert not (inspect.isfunction(thing) or inspect.isclass(thing)) or thing.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = grbp.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("arguments", [[], ["--help"], ["solve", "--help"]])
def test_nothing_heavy_is_imported_before_it_is_needed(arguments: list[str]) -> None:
    code = (
        "import sys, contextlib, grbp\n"
        "if sys.argv[1:]:\n"
        "    from grbp.cli import main\n"
        "    with contextlib.suppress(SystemExit): main(sys.argv[1:])\n"
        "print(*sys.modules)"
    )
    loaded = _loaded(code, *arguments) - _loaded("import sys; print(*sys.modules)")
    assert loaded & NOT_ON_IMPORT == set()
    # Private names are those of the interpreter and of what installs a package editably; what
    # the interpreter loads on its own account on this machine does not count.
    assert {n for n in loaded - sys.stdlib_module_names if n[0] != "_"} <= {"grbp", "numpy"}


def test_a_session_needs_neither_the_engine_nor_numba() -> None:
    code = (
        "import sys, grbp\n"
        "session = grbp.Session(4, 'doorstep-lai', seed=1)\n"
        "session.open(2)\n"
        "session.tell(1 if session.ask() == grbp.Action.CONTINUE else 0)\n"
        "print(*sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(said.stdout.split())
    assert "grbp.learners.doorstep" in loaded
    assert not loaded & {"numba", "matplotlib", "grbp.engine", "grbp.experiments"}


def _loaded(code: str, *arguments: str) -> set[str]:
    """The packages that are loaded when a piece of code has run."""
    said = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    ).stdout
    return {name.split(".")[0] for name in said.splitlines()[-1].split()}


class Row(NamedTuple):
    """One line of the map from the paper to the code."""

    label: str
    functions: set[str]
    tests: set[str]


def paper_map() -> list[Row]:
    rows = []
    for line in (ROOT / "docs" / "paper-map.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            label, _, functions, tests = cells
            names = (set(re.findall(r"`([^`]+)`", cell)) for cell in (functions, tests))
            rows.append(Row(label.strip("`"), *names))
    return rows


def documented_labels() -> set[tuple[str, str]]:
    """(label, module.function) for every "Paper: label" line of a docstring."""
    found = set()
    for module, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = ast.get_docstring(node) or ""
                for label in re.findall(r"^Paper: (\S+)", text, re.MULTILINE):
                    found.add((label, f"grbp.{module}.{node.name}"))
    return found


def test_every_label_of_the_map_names_functions_and_tests_that_exist() -> None:
    written = written_in("test_*.py")
    for row in paper_map():
        assert row.functions, row.label
        assert row.tests, row.label
        assert row.tests <= written, row.label
    lemmas = [row for row in paper_map() if row.label.split(":")[0] in ("lemma", "thm", "cor")]
    for row in lemmas:
        assert f"test_{row.label.replace(':', '_')}" in row.tests
    # Four lemmas and three theorems printed, one lemma and two corollaries commented out.
    assert len(lemmas) == 10


def written_in(pattern: str) -> set[str]:
    """The tests that stand in some files."""
    return {
        node.name
        for path in (ROOT / "tests").rglob(pattern)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_the_map_and_the_docstrings_agree() -> None:
    in_map = {(row.label, name) for row in paper_map() for name in row.functions}
    assert in_map == documented_labels()


def test_every_test_of_a_label_is_in_the_map() -> None:
    assert written_in("test_paper*.py") <= {name for row in paper_map() for name in row.tests}


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/doorstep.md",
    "docs/leaping.md",
    "docs/tutorial.md",
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_python_in_the_documents_runs_and_prints_what_it_says(document: str) -> None:
    # The pieces of the README stand for themselves; elsewhere they build on each other.
    pieces = blocks(document, "python")
    for code in pieces if document == "README.md" else ["\n".join(pieces)]:
        shown = re.findall(r"^print.*# (.*)$", code, re.MULTILINE)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        said = done.stdout.splitlines()
        assert [line for line in said if line in shown] == shown


@pytest.mark.parametrize("document", DOCUMENTS)
def test_shell_in_the_documents_prints_what_it_says(document: str, tmp_path: Path) -> None:
    for block in blocks(document, "console"):
        for command, said in re.findall(r"^\$ grbp (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            done = subprocess.run(
                [sys.executable, "-m", "grbp", *shlex.split(command)],
                cwd=tmp_path, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert (done.returncode, done.stdout) == (0, said)


def test_links_in_the_documents_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_tests_that_the_documents_name_exist() -> None:
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        text = document.read_text("utf-8")
        for file in re.findall(r"\b(tests/[\w/]+\.py)", text):
            assert (ROOT / file).exists(), f"{document.name}: {file}"
        for file, word in re.findall(r"pytest tests/(?:\w+/)*(\w+\.py)(?: -k |::)(\w+)", text):
            assert any(word in name for name in written_in(file)), f"{document.name}: {word}"


def test_the_pins_name_no_address() -> None:
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        assert re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[0-9A-Za-z.+!]+", line), line
        assert "://" not in line
