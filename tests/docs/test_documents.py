"""Every document: its code runs, its links lead somewhere, and what it names exists."""

import ast
import io
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest

from grbp.cli import main

ROOT = Path(__file__).parent.parent.parent

PYTHON = os.environ.get("GRBP_PYTHON", sys.executable)
"""The interpreter that runs what documents show; `make dist` names one in a clean environment."""


def found() -> Iterator[Path]:
    """The documents, wherever they are written."""
    yield from sorted(ROOT.glob("*.md"))
    for folder in (".github", "benchmarks", "docs", "examples"):
        for path in sorted((ROOT / folder).rglob("*.md")):
            # A benchmark keeps environments with documents of others.
            if ".environments" not in path.parts:
                yield path


DOCUMENTS = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in found()}


ANSWER = re.compile(r"^\$ grbp (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
"""A command on the shell, and what it prints."""


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def with_blocks(language: str) -> list[str]:
    """The documents that have code in a language."""
    return [name for name, text in DOCUMENTS.items() if blocks(text, language)]


def test_documents_are_found() -> None:
    assert {"README.md", "docs/index.md", "docs/reference/index.md"} <= DOCUMENTS.keys()
    assert "docs/doorstep.md" in with_blocks("python")
    assert "README.md" in with_blocks("console")


# The gallery is run by the test of its pictures.
@pytest.mark.sample("README.md", "docs/live.md", "docs/from-records.md", "docs/serving.md")
@pytest.mark.slow
@pytest.mark.parametrize("document", sorted({*with_blocks("python")} - {"docs/gallery.md"}))
def test_python_in_the_documents_runs_and_prints_what_it_says(
    document: str, tmp_path: Path
) -> None:
    # The pieces of the README stand for themselves; elsewhere they build on each other.
    pieces = blocks(DOCUMENTS[document], "python")
    for code in pieces if document == "README.md" else ["\n".join(pieces)]:
        shown = re.findall(r"^print.*# (.*)$", code, re.MULTILINE)
        done = subprocess.run(
            [PYTHON, "-W", "error", "-c", code],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said = done.stdout.splitlines()
        assert [line for line in said if line in shown] == shown


@pytest.fixture
def ada(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The one who wrote the documents: in an empty folder, in the zone UTC."""
    with monkeypatch.context() as here:
        here.delenv("GRBP_STORE", raising=False)
        here.setenv("LOGNAME", "ada")
        here.setenv("TZ", "UTC")
        here.chdir(tmp_path)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.slow
@pytest.mark.parametrize("document", with_blocks("console"))
@pytest.mark.usefixtures("ada")
def test_shell_in_the_documents_prints_what_it_says(document: str) -> None:
    ask = in_a_process if document == "README.md" else in_this_process
    for block in blocks(DOCUMENTS[document], "console"):
        for line, said in ANSWER.findall(block):
            command, _, file = line.partition(" > ")
            code, out, err = ask(*shlex.split(command))
            if said.startswith("grbp: "):  # a refusal
                assert (code, err) == (2, said)
                continue
            assert code == 0, err
            if file:
                Path(file).write_text(out, "utf-8")
            elif said.endswith("\n...\n"):  # the beginning of an answer
                assert steady(out).startswith(steady(said.removesuffix("...\n")))
            else:
                assert steady(out) == steady(said)


def in_a_process(*command: str) -> tuple[int, str, str]:
    """Run a command as a user does; return its status and what it printed, also as errors."""
    done = subprocess.run(
        [PYTHON, "-m", "grbp", *command], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def in_this_process(*command: str) -> tuple[int, str, str]:
    """Run a command without the time that a process takes to start."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(list(command))
    return code, out.getvalue(), err.getvalue()


def steady(text: str) -> str:
    """What a command says at any time: without times, and hashes that depend on them."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "(time)", text)
    return re.sub(r"(head |head\": \")[0-9a-f]{16,64}", r"\1(hash)", text)


def prose(text: str) -> str:
    """A document without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """What a forge lets one link to: the headings in small letters, hyphens for spaces."""
    headings = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_in_the_documents_lead_somewhere(document: str) -> None:
    folder, text = (ROOT / document).parent, prose(DOCUMENTS[document])
    for picture in re.findall(r'<img src="([^"]+)"', text):
        assert (folder / picture).exists(), picture
    for target, _, anchor in re.findall(r"\]\(([^)#:]*)(#([^)]*))?\)", text):
        path = folder / target if target else ROOT / document
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path.read_text("utf-8")), f"{target}#{anchor}"


def test_the_readme_is_short_and_opens_the_same_doors_as_the_site() -> None:
    readme, front = DOCUMENTS["README.md"], DOCUMENTS["docs/index.md"]
    assert len(readme.splitlines()) <= 180
    doors = re.findall(r"^- \*\*\[(.*)\]\(", front, re.MULTILINE)
    assert doors == re.findall(r"^\| \*\*(.*?)\*\* \|", readme, re.MULTILINE)
    assert len(doors) == 4
    for door in doors:
        section = readme.partition(f"\n## {door}\n")[2].partition("\n## ")[0]
        assert blocks(section, "console") or blocks(section, "python"), door


def test_every_extra_is_on_the_page_about_installing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    rows = re.findall(r"^\| (`[^|]*) \|", DOCUMENTS["docs/install.md"], re.MULTILINE)
    assert set(re.findall(r"`([\w-]+)`", " ".join(rows))) == set(project["optional-dependencies"])


def test_every_question_has_an_answer_that_leads_on() -> None:
    questions = re.split(r"^### ", DOCUMENTS["docs/faq.md"], flags=re.MULTILINE)[1:]
    assert len(questions) >= 20
    for question in questions:
        asked, _, answer = question.partition("\n")
        assert asked.endswith("?"), asked
        assert "](" in answer, asked


def test_every_picture_of_the_gallery_has_a_thumbnail_that_leads_to_it() -> None:
    text = DOCUMENTS["docs/gallery.md"]
    thumbnails = dict(re.findall(r"^- \[!\[\]\((\S+)\) .*\]\(#(\S+)\)$", text, re.MULTILINE))
    shown = re.findall(r"^!\[.+\]\((\S+)\)$", text, re.MULTILINE)
    assert list(thumbnails) == shown
    for section in text.split("\n## ")[1:]:
        heading = section.partition("\n")[0]
        (anchor,) = anchors(f"# {heading}")
        pictures = re.findall(r"^!\[.+\]\((\S+)\)$", section, re.MULTILINE)
        assert [thumbnails[picture] for picture in pictures] == [anchor]


def written_in(file: str) -> set[str]:
    """The tests that stand in a file."""
    found = (ROOT / "tests").rglob(file)
    nodes = (node for path in found for node in ast.parse(path.read_text("utf-8")).body)
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


@cache
def sources() -> set[str]:
    folders = ("src", "tests", "tools", "benchmarks", "docs")
    return {str(path) for folder in folders for path in (ROOT / folder).rglob("*.py")}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_and_tests_that_the_documents_name_exist(document: str) -> None:
    text = DOCUMENTS[document]
    for file in re.findall(r"`(?:\S+/bin/python )?([\w./]+\.py)\b", text):
        assert any(source.endswith(f"/{file}") for source in sources()), file
    for file, word in re.findall(r"pytest tests/(?:\w+/)*(\w+\.py)(?: -k |::)(\w+)", text):
        assert any(word in name for name in written_in(file)), word


@cache
def help_of(*command: str) -> str:
    said = io.StringIO()
    with patch.dict(os.environ, COLUMNS="200"), redirect_stdout(said), suppress(SystemExit):
        main([*command, "--help"])
    return said.getvalue()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_that_the_documents_name_exist(document: str) -> None:
    text = DOCUMENTS[document].replace("\\\n", " ")
    shell = "\n".join(blocks(text, "sh") + blocks(text, "text"))
    inline = "\n".join(re.findall(r"`([^`\n]+)`", prose(text)))
    for command, rest in re.findall(r"^(?:\$ )?grbp ([a-z]+)(.*)$", f"{shell}\n{inline}", re.M):
        assert re.search(rf"^ +{command} ", help_of(), re.MULTILINE), command
        place = [command]
        if "VERB" in help_of(command) and (verb := re.match(r" ([a-z]+)", rest)):
            assert re.search(rf"^ +{verb[1]} ", help_of(command), re.MULTILINE), verb[1]
            place.append(verb[1])
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in help_of(*place), f"{place} {option}"
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for target in re.findall(r"^make ([a-z]+)", f"{shell}\n{inline}", re.MULTILINE):
        assert target in targets, target


def test_the_shell_page_lists_every_command() -> None:
    listed = re.findall(r"^\| `grbp ([a-z]+)`", DOCUMENTS["docs/reference/shell.md"], re.MULTILINE)
    assert listed == re.findall(r"^    ([a-z]+) ", help_of(), re.MULTILINE)
