"""The site, the gallery and the notebooks: what is stored and built is what the code gives."""

import json
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from inspect import ismodule
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from optional import optional

import grbp

ROOT = Path(__file__).parent.parent.parent
REFERENCE = ROOT / "docs" / "reference"
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))

needs_sphinx = pytest.mark.skipif(
    find_spec("sphinx") is None or find_spec("furo") is None or find_spec("myst_parser") is None,
    reason="tests of the site: Sphinx, furo or myst-parser is not installed; get them with:"
    " .venv/bin/pip install '.[docs]'",
)
needs_kernel = pytest.mark.skipif(
    find_spec("nbclient") is None or find_spec("ipykernel") is None,
    reason="tests of notebooks: nbclient or ipykernel is not installed; get them with:"
    " .venv/bin/pip install '.[docs]'",
)


def listed() -> list[str]:
    """The names that the pages of the reference document, each as often as it is there."""
    found = []
    for page in sorted(REFERENCE.glob("*.md")):
        text = page.read_text("utf-8")
        for module, names in re.findall(r"^```\{public\} (\S+)\n(.*?)^```", text, re.M | re.S):
            found += [f"{module}.{name}" for name in names.split()]
    return found


def test_every_public_name_is_on_one_page_of_the_reference() -> None:
    modules = {name for name in grbp.__all__ if ismodule(getattr(grbp, name))}
    public = [f"grbp.{name}" for name in grbp.__all__ if name not in modules]
    public += [f"grbp.experiments.{name}" for name in grbp.experiments.__all__]
    here = listed()
    assert sorted(set(here)) == sorted(here)
    assert set(public) <= set(here)
    # What is not a name of grbp itself belongs to one of its public modules, or to grbp.env.
    others = {name.rpartition(".")[0] for name in set(here) - set(public)}
    assert others | {"grbp.experiments"} == {f"grbp.{name}" for name in modules} | {"grbp.env"}


class Page(HTMLParser):
    """What a page links to, what it loads, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name == "href" and value:
                (self.links if tag == "a" else self.loads).add(value)
            elif name == "src" and value:
                self.loads.add(value)


@pytest.mark.soak
@needs_sphinx
def test_the_site_is_built_without_a_warning_and_hangs_together(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-qEW", "--keep-going",
         "-d", str(tmp_path / "trees"), str(ROOT / "docs"), str(site)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    pages = {path: Page(path.read_text("utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 30
    found_by_search = (site / "searchindex.js").read_text("utf-8")
    for word in ("patient", "stake everything", "regret", "token"):
        assert f"term-{word.replace(' ', '-')}" in found_by_search, word
    for path, page in pages.items():
        for target in page.links | page.loads:
            parts = urlsplit(target)
            if parts.scheme:
                # A link may lead away; what the page itself needs must be here.
                assert target in page.links or parts.scheme == "data", f"{path.name}: {target}"
                continue
            there = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            assert there.exists(), f"{path.name}: {target}"
            if parts.fragment and there in pages and there.name != "search.html":
                assert parts.fragment in pages[there].anchors, f"{path.name}: {target}"


def run_again(what: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "examples.py"), what, str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.soak
def test_the_pictures_of_the_gallery_are_what_its_code_draws(tmp_path: Path) -> None:
    image = optional("matplotlib.image")
    run_again("gallery", tmp_path)
    stored = ROOT / "docs" / "images" / "gallery"
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in stored.iterdir()}
    for path in stored.iterdir():
        before, now = image.imread(path), image.imread(tmp_path / path.name)
        assert before.shape == now.shape, path.name
        # Another version of Matplotlib may smooth a line differently, but draws it at its place.
        assert float(np.mean(np.abs(before - now))) < 0.002, f"{path.name}: run make examples"


def said(notebook: Path) -> list[str]:
    """What the cells of a notebook print and return, as text; a picture by its being there."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    return [
        "".join(output.get("text") or output["data"]["text/plain"])
        + str(sorted(output.get("data", ())))
        for cell in cells
        for output in cell.get("outputs", ())
    ]


def test_there_is_a_notebook_with_outputs_and_it_is_small() -> None:
    assert NOTEBOOKS
    for notebook in NOTEBOOKS:
        assert said(notebook), notebook.name
        assert notebook.stat().st_size < 500_000, notebook.name


@needs_sphinx
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_the_page_of_a_notebook_has_all_that_is_in_it(notebook: Path) -> None:
    write_cell = runpy.run_path(str(ROOT / "docs" / "_sphinx" / "notebook.py"))["write_cell"]
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    page = "\n\n".join(part for cell in cells for part in write_cell(cell))
    for cell in cells:
        assert "".join(cell["source"]) in page
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            richest = data.get("text/html") or data.get("image/png") or output.get("text")
            assert "".join(richest or data["text/plain"]).strip() in page


@pytest.mark.soak
@needs_kernel
def test_the_notebooks_say_what_a_run_gives(tmp_path: Path) -> None:
    run_again("notebook", tmp_path)
    for notebook in NOTEBOOKS:
        assert said(tmp_path / notebook.name) == said(notebook), f"{notebook.name}: make examples"
