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
from grbp.experiments import store

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "grbp"

# Each module, and the modules of this package it may import: all of them further up the list.
FLOORS: dict[str, set[str]] = {
    "_registration": set(),
    "errors": set(),
    "files": {"errors"},
    "_contents": set(),
    "_compiled_cache": {"_contents", "files"},
    "_jit": {"_compiled_cache", "_contents"},
    "streams": {"_jit"},
    "saddle": {"_jit"},
    "betas": {"_jit", "saddle", "streams"},
    "variates": {"_jit", "betas", "saddle", "streams"},
    "divergence": {"_jit"},
    "model": {"_jit", "errors"},
    "ruin": {"model"},
    "exact": {"errors", "model", "ruin"},
    "margin": {"exact", "model", "ruin"},
    "dynprog": {"errors", "model"},
    "extensions": {"errors", "model"},
    "history": {"_jit", "model", "streams"},
    "exits": {"_jit", "model", "saddle", "streams"},
    "rounds": {"_jit", "exits", "history", "model", "streams"},
    "blocks": {"_jit", "exits", "history", "model", "rounds", "streams", "variates"},
    "boxes": {"_jit", "history", "model"},
    "stretches": {"_jit", "blocks", "boxes", "history", "rounds", "streams"},
    "bounds": {"divergence", "exact", "margin", "model"},
    "summary": {"exact", "margin", "model"},
    "export": {"model"},
    "env": {"errors", "model"},
    "learners.contract": {"errors", "history", "model"},
    "learners.estimate": {"_jit", "history"},
    "learners.pairs": {"_jit", "betas", "learners.contract", "streams"},
    "learners.getbe": {
        "_jit", "betas", "history", "learners.contract", "learners.estimate", "learners.pairs",
        "streams",
    },
    "learners.stopping": {"_jit", "model"},
    "learners.doorstep": {
        "_jit", "divergence", "history", "learners.contract", "learners.estimate", "learners.getbe",
        "learners.stopping",
    },
    "learners.indices": {"_jit", "history", "learners.contract"},
    "learners.selection": {
        "_jit", "betas", "history", "learners.contract", "learners.estimate", "learners.getbe",
        "learners.indices", "learners.pairs", "saddle", "streams",
    },
    "learners.posterior": {
        "_jit", "betas", "history", "learners.contract", "learners.indices",
    },
    "learners.baselines": {"_jit", "history", "learners.contract", "streams"},
    "learners.policies": {
        "_jit", "errors", "history", "learners.estimate", "learners.getbe", "model", "streams",
    },
    "learners": {
        "errors", "exact", "model", "learners.baselines", "learners.contract", "learners.doorstep",
        "learners.getbe", "learners.policies", "learners.posterior", "learners.selection",
    },
    "session": {"errors", "history", "learners", "model", "streams"},
    "tape": {"_jit", "history", "model", "streams"},
    "walk": {
        "_jit", "history", "learners.contract", "learners.policies", "model", "streams", "tape",
    },
    "plans": {"_jit", "boxes", "history", "learners.contract", "model", "streams"},
    "leap": {
        "_jit", "blocks", "boxes", "history", "learners.contract", "model", "plans", "rounds",
        "streams", "stretches", "tape", "walk",
    },
    "engine": {
        "_jit", "blocks", "errors", "leap", "learners.contract", "learners.policies", "model",
        "rounds", "streams", "tape", "walk",
    },
    "claims": {"_jit", "history", "learners.contract", "streams"},
    "conformance": {"_jit", "claims", "errors", "history", "learners.contract", "model", "streams"},
    "regret": {"_jit", "engine", "exact", "learners", "model", "tape"},
    "simulation": {"engine", "errors", "learners", "model", "regret"},
    "experiments.spec": {"engine", "errors", "model", "simulation"},
    "experiments.store": {
        "", "engine", "errors", "experiments.spec", "files", "learners", "model", "regret",
        "simulation",
    },
    "experiments.run": {"experiments.spec", "experiments.store", "model", "simulation", "streams"},
    "experiments": {"experiments.run", "experiments.spec", "experiments.store"},
    "growth": {"experiments.store", "model"},
    "map_claims": {"exact", "experiments.store", "growth", "model"},
    "verdict": {
        "bounds", "exact", "experiments.spec", "experiments.store", "growth", "map_claims",
        "model",
    },
    "league": {
        "engine", "errors", "experiments.run", "experiments.spec", "experiments.store", "learners",
        "model", "simulation",
    },
    "figures.canvas": {"errors"},
    "figures.transition": {"figures.canvas", "model"},
    "figures.boundary": {"errors", "exact", "figures.canvas", "model"},
    "figures.regret_curves": {
        "bounds", "errors", "exact", "figures.canvas", "learners.getbe", "model", "simulation",
    },
    "figures.regret_map": {"errors", "exact", "figures.canvas", "model"},
    "figures.league_map": {"exact", "figures.canvas", "figures.regret_map", "league", "model"},
    "figures": {
        "figures.boundary", "figures.canvas", "figures.league_map", "figures.regret_curves",
        "figures.regret_map", "figures.transition",
    },
    "report": {"errors", "figures.canvas", "figures.regret_curves", "files", "simulation"},
    "paper": {
        "errors", "experiments.run", "figures", "figures.canvas", "report", "simulation", "verdict",
    },
    # The shell speaks to the public surface alone.
    "cli.progress": set(),
    "cli.printing": {""},
    "cli.options": {"", "errors"},
    "cli.answers": {"", "cli.options", "cli.printing", "errors"},
    "cli.learning": {"", "cli.options", "cli.printing", "cli.progress", "errors", "files"},
    "cli.league": {"", "cli.options", "cli.printing", "cli.progress", "errors", "files"},
    "cli.pictures": {"", "cli.options", "cli.progress"},
    "cli": {
        "", "cli.answers", "cli.league", "cli.learning", "cli.options", "cli.pictures", "errors",
    },
    "__main__": {"cli"},
}  # fmt: skip
NO_NUMBERS = {"errors", "files", "_contents", "_compiled_cache"}
NOT_ON_IMPORT = {"gymnasium", "matplotlib", "scipy", "numba", "mpmath", "stormpy", "PIL"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        yield name.removesuffix("__init__").removesuffix("."), ast.parse(path.read_text("utf-8"))


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the package in full"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            inside = {name for name in whole if _is_module(name)}
            yield from inside or {str(node.module)}


def _is_module(name: str) -> bool:
    path = ROOT / "src" / Path(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def test_imports_only_go_downstairs() -> None:
    found = {
        name: {
            other.removeprefix("grbp").removeprefix(".")
            for other in imported(tree)
            if other.split(".")[0] == "grbp"
        }
        for name, tree in modules()
        if name
    }
    assert found == FLOORS
    order = list(FLOORS)
    for name, used in FLOORS.items():
        for other in used - {""}:
            assert order.index(other) < order.index(name), f"{name} imports upstairs: {other}"


def test_the_table_of_rooms_is_complete() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = re.search(r"^\| floor \|.*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert table is not None
    rooms = [
        room
        for line in table[0].strip().splitlines()
        for room in re.findall(r"`(\w+)`", line.split("|")[1])
    ]
    assert len(rooms) == len(set(rooms))
    assert set(rooms) == {name.split(".")[0] for name in FLOORS} - {"__main__"}


def test_the_reference_shares_no_way_to_play_with_what_leaps() -> None:
    leaping = {"exits", "rounds", "blocks", "boxes", "stretches", "plans", "leap", "variates"}
    assert not (FLOORS["walk"] | FLOORS["tape"] | FLOORS["history"]) & leaping


def test_an_edit_to_what_makes_results_is_an_edit_to_their_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All that a simulation is made of, but for what changes no number."""
    made_by = {"simulation"}
    while more := {low for name in made_by for low in FLOORS[name]} - made_by:
        made_by |= more
    read: set[str] = set()
    read_bytes = Path.read_bytes

    def noted(path: Path) -> bytes:
        read.add(".".join(path.relative_to(SOURCE).with_suffix("").parts))
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    store._code.__wrapped__()
    assert {name.removesuffix(".__init__") for name in read} >= made_by - NO_NUMBERS


def test_the_independent_solver_shares_no_formula() -> None:
    assert not FLOORS["dynprog"] & {"ruin", "exact", "margin", "extensions"}


def test_init_is_the_whole_public_surface() -> None:
    tree = dict(modules())[""]
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(grbp.__all__) == names - {"register_when_imported"}
    assert sorted(grbp.__all__, key=lambda n: (not n.isupper(), n[0].islower(), n)) == grbp.__all__
    undocumented = [
        name
        for name in grbp.__all__
        if (inspect.isfunction(thing := getattr(grbp, name)) or inspect.isclass(thing))
        and not thing.__doc__
    ]
    assert undocumented == []


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
        for path in (ROOT / "tests").glob(pattern)
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
        for file in re.findall(r"\b(test_\w+\.py)", text):
            assert (ROOT / "tests" / file).exists(), f"{document.name}: {file}"
        for file, word in re.findall(r"pytest tests/(\w+\.py)(?: -k |::)(\w+)", text):
            assert any(word in name for name in written_in(file)), f"{document.name}: {word}"


def test_the_pins_name_no_address() -> None:
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        assert re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[0-9A-Za-z.+!]+", line), line
        assert "://" not in line
