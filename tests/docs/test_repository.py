"""What a stranger looks for first is true: how to cite, which versions, where things live."""

import re
import runpy
import tomllib
from pathlib import Path

from optional import optional

import grbp

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_citation_is_of_this_version_and_of_the_paper() -> None:
    yaml = optional("yaml", "PyYAML")
    cited = yaml.safe_load(text_of("CITATION.cff"))
    assert cited["cff-version"] == "1.2.0"
    released = re.match(r"\d+\.\d+\.\d+", grbp.__version__)
    assert released
    assert cited["version"] == released[0]
    assert f"version = {{{released[0]}}}" in text_of("docs/citing.md")
    assert cited["license"] == PROJECT["license"]
    assert [author["name"] for author in cited["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    paper = cited["preferred-citation"]
    for document in ("README.md", "docs/citing.md"):
        told = " ".join(text_of(document).split())
        for part in (paper["title"], paper["conference"]["name"], str(paper["year"])):
            assert part in told, f"{document}: {part}"
        assert cited["title"] in told, document


def test_the_workflow_tests_every_python_that_the_metadata_names() -> None:
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    matrix = re.search(r"python: \[(.*)\]", text_of(".github/workflows/test.yml"))
    assert matrix
    assert re.findall(r"3\.\d+", matrix[1]) == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert "make test" in text_of(".github/workflows/test.yml")


def test_pre_commit_runs_nothing_that_has_to_be_fetched() -> None:
    text = text_of(".pre-commit-config.yaml")
    assert re.findall(r"repo: (.*)", text) == ["local"]
    assert set(re.findall(r"language: (.*)", text)) == {"system"}
    assert all(entry.startswith(".venv/bin/") for entry in re.findall(r"entry: (.*)", text))


def test_the_map_of_the_floors_and_its_picture_are_those_of_the_contract() -> None:
    floors = runpy.run_path(str(ROOT / "tools" / "floors.py"))
    written = text_of("CONTRIBUTING.md")
    assert floors["with_table"](written) == written, "run make floors"
    assert floors["picture"]() == text_of("docs/images/floors.svg"), "run make floors"


def test_the_floors_are_few_and_each_has_one_row() -> None:
    floors = runpy.run_path(str(ROOT / "tools" / "floors.py"))
    contract = floors["floors"]()
    rows = floors["table"]().splitlines()[2:]
    assert len(rows) == len(contract) <= 17
    for rooms, row in zip(contract, rows, strict=True):
        for room in rooms:
            assert room.purpose in row
            assert all(f"`{file}`" in row for file in room.files)


def test_the_pins_name_no_address() -> None:
    for line in text_of("constraints.txt").splitlines():
        assert "://" not in line
