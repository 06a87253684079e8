"""The benchmarks: every section runs at toy size, and every page says how old it is."""

import importlib
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from grbp.experiments import EXPERIMENTS
from grbp.learners.registry import LEARNERS, STATE_LEARNERS

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "benchmarks"

WRITERS = {
    path.stem: path.with_name("results.md" if path.stem == "engine" else f"{path.stem}.md")
    for path in sorted(FOLDER.glob("*.py"))
    if re.search(r"\brun(_table)?\(\s*__file__|results\.md\"\)\.write", path.read_text("utf-8"))
}
"""The page that each benchmark writes."""

NEEDS = {
    "gpu": ("an NVIDIA GPU", shutil.which("nvidia-smi")),
    "news": ("Chromium", shutil.which("chromium") or shutil.which("google-chrome")),
    "bandits": ("libraries of others, which it fetches", os.environ.get("GRBP_FETCH")),
}
"""What a benchmark, or a section, needs that is not everywhere, and whether it is here."""

FAMILIES = re.compile(r"\b(?:(?:doorstep|getbe)-\w+|\w+-polselection|\w+-policies)\b(?![\w/-]*\.)")


def unregistered(text: str) -> set[str]:
    """The names in a text that are those of a family of learners, and of no learner."""
    known = {*LEARNERS, *STATE_LEARNERS, *EXPERIMENTS}
    known |= {"doorstep-map"}  # A sweep of the user's own.
    known |= {path.stem for path in (ROOT / "docs").glob("*.md")}
    return {name.lower() for name in FAMILIES.findall(text)} - known


DOCUMENTS = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *FOLDER.glob("*.md")]


@pytest.mark.parametrize("path", DOCUMENTS, ids=[str(one.relative_to(ROOT)) for one in DOCUMENTS])
def test_every_learner_that_a_document_names_is_registered(path: Path) -> None:
    assert unregistered(path.read_text("utf-8")) == set()


def test_a_learner_that_is_gone_is_noticed() -> None:
    gone = unregistered(
        "`doorstep-lai:prior=2` and getbe-ps, doorstep-learners.md, tests/a-policies.py"
    )
    assert gone == {"doorstep-lai"}


def test_every_page_of_a_benchmark_has_a_program_that_writes_it() -> None:
    assert {*WRITERS.values()} == {*FOLDER.glob("*.md")}


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What imports the modules of the benchmarks."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_every_section_says_what_it_was_measured_with(modules: Any, name: str) -> None:
    head, *parts = WRITERS[name].read_text("utf-8").split("\n## ")
    if "The machine: " in head or re.search(r"^(- CPU:|\| CPU \|)", head, re.MULTILINE):
        assert re.search(r"grbp( \||:)? \d", head)
        return
    stamp = modules("sections").STAMP
    assert parts
    for part in parts:
        heading = part.split("\n", 1)[0]
        assert stamp.match(part[len(heading) :]), heading


def test_a_page_says_that_it_is_older_than_the_code(modules: Any) -> None:
    sections, columns = modules("sections"), modules("columns")
    one = sections.Section("One", lambda _: [columns.Columns("T", ["a", "b"], [["x", "1"]])])
    two = sections.Section("Two", lambda _: [columns.Columns("T", ["a", "b"], [["x", "2"]])])
    both, legend = {"one": one, "two": two}, "What it means."
    found = {name: sections.digest(each.measure(None)) for name, each in both.items()}
    page = f"# Title\n\n{sections.written_by('x.py', legend)}\n"
    for name, each in both.items():
        stamp = sections.stamp("x.py", name, each)
        page += f"\n## {each.heading}\n\n{stamp}\n\n| a | b |\n|---|---:|\n| x | 1 |\n"

    def told(of: dict[str, str], was: str = page) -> str:
        return str(sections.stamped(was, "x.py", legend, both, of))

    assert told(found) == page
    older = told(found | {"two": "0" * 12})
    first, second = older.split("## Two")
    assert first + "## Two" == page[: len(first) + 6]
    assert "Older than the code: measured with grbp " in second
    assert "`python benchmarks/x.py --only two --write` measures anew." in second
    assert told(found | {"two": "0" * 12}, older) == older
    assert told(found, older) == page
    assert "Another legend." in sections.stamped(page, "x.py", "Another legend.", both, found)
    bare = re.sub(r"^Measured .*\n\n", "", page, flags=re.MULTILINE)
    adopted = told(found, bare)
    assert adopted == page.replace(" on 2", " before 2")
    reworded = columns.Columns("Other", ["a", "b"], [["x", "2"]], ["Said otherwise."])
    assert sections.digest([reworded]) == found["two"]


def measured(module: Any) -> dict[str, Any]:
    """What a benchmark measures, by section: whether that is timed, and the function."""
    if hasattr(module, "SECTIONS"):
        return {name: (one.timed, one.measure) for name, one in module.SECTIONS.items()}
    if hasattr(module, "GROUPS"):
        paper = importlib.import_module("groups.paper")
        whole = {"paper": lambda effort: paper.tables(paper.measure(effort), effort)}
        return {name: (True, one) for name, one in (whole | module.GROUPS).items()}
    return {module.__name__: (True, lambda effort: [module.measured(effort)])}


def check(tables: list[Any]) -> None:
    """Every table has rows with a cell for each head, no number is missing, all learners exist."""
    assert tables
    for table in tables:
        text = table.markdown()
        heads, _, *rows = [line for line in text.splitlines() if line.startswith("|")]
        assert rows or "Not measured: " in text, table.title
        assert {row.count(" |") for row in rows} <= {heads.count(" |")}, table.title
        assert not re.search(r"\b(nan|inf|It failed)\b", text), text
        assert unregistered(text) == set()


@pytest.mark.soak
@pytest.mark.parametrize("name", sorted(WRITERS))
def test_every_section_runs_at_toy_size_and_its_page_says_whether_it_is_current(
    modules: Any, name: str
) -> None:
    what, here = NEEDS.get(name, ("", True))
    if not here:
        pytest.skip(f"benchmarks/{name}.py needs {what}")
    module, sections, digests = modules(name), modules("sections"), {}
    left_out = []
    for section, (timed, measure) in measured(module).items():
        what, here = NEEDS.get(section, ("", True))
        if not here:
            left_out.append(f"benchmarks/{name}.py --only {section} needs {what}")
            continue
        tables = measure(modules("measure").Effort(quick=True))
        check(tables)
        if not timed:
            digests[section] = sections.digest(tables)
    if digests:
        page, script = WRITERS[name].read_text("utf-8"), f"{name}.py"
        headings = sorted(one.heading for one in module.SECTIONS.values())
        assert sorted(re.findall(r"^## (.*)$", page, re.MULTILINE)) == headings
        made = sections.stamped(page, script, module.LEGEND, module.SECTIONS, digests)
        assert made == page, f"run: python benchmarks/{script} --stamp"
    if left_out:
        pytest.skip("; ".join(left_out))
