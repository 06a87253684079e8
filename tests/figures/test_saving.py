"""A figure is written whole or not at all, the same each time, and disturbs nothing."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from runs import one_sentence

from grbp.errors import CannotWrite, InvalidInput, MissingExtra
from grbp.figures import (
    boundary_figure,
    save,
    transition_figure,
)


@pytest.fixture(scope="module")
def figure() -> Figure:
    return transition_figure(3)


@pytest.fixture
def own_settings() -> Iterator[None]:
    """A user who likes their figures otherwise."""
    theirs: Any = {
        "font.size": 31, "font.sans-serif": ["DejaVu Serif"], "mathtext.fontset": "stix",
        "savefig.bbox": "tight", "svg.fonttype": "none",
    }  # fmt: skip
    with mpl.rc_context(theirs):
        yield


def test_both_files_are_what_their_names_say(figure: Figure, tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="there is no folder"):
        save(figure, tmp_path / "new" / "one.two")
    (tmp_path / "new").mkdir()
    png, svg = save(figure, tmp_path / "new" / "one.two")
    assert (png.name, svg.name) == ("one.two.png", "one.two.svg")
    assert sorted(png.parent.iterdir()) == [png, svg]
    data = png.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width = int.from_bytes(data[16:20], "big")
    assert width >= 150 * figure.get_figwidth() - 1
    root = ElementTree.fromstring(svg.read_bytes())  # noqa: S314 (we wrote it ourselves)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    # Letters are outlines: nothing depends on the fonts of whoever looks at it.
    assert not list(root.iter("{http://www.w3.org/2000/svg}text"))


@pytest.mark.slow
@pytest.mark.parametrize("draw", [transition_figure, boundary_figure])
def test_the_same_figure_is_the_same_bytes(draw: Callable[[], Figure], tmp_path: Path) -> None:
    first = [path.read_bytes() for path in save(draw(), tmp_path / "figure")]
    again = [path.read_bytes() for path in save(draw(), tmp_path / "figure")]
    assert first == again
    # In another process, where sets and dictionaries may be walked in another order.
    code = (
        "import sys; from pathlib import Path; from grbp import figures;"
        "figures.save(getattr(figures, sys.argv[1])(), Path(sys.argv[2]) / 'figure')"
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    subprocess.run(
        [sys.executable, "-c", code, draw.__name__, str(elsewhere)],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "0"},
    )
    assert first == [path.read_bytes() for path in sorted(elsewhere.iterdir())]
    assert not any(mpl.__version__.encode() in data for data in first)


@pytest.mark.usefixtures("own_settings")
def test_the_users_settings_neither_change_a_figure_nor_are_changed(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    theirs = [path.read_bytes() for path in save(transition_figure(), tmp_path / "theirs")]
    assert dict(mpl.rcParams) == before
    with mpl.rc_context():
        mpl.rcdefaults()
        ours = [path.read_bytes() for path in save(transition_figure(), tmp_path / "ours")]
    assert theirs == ours


@pytest.mark.parametrize("taken", ["png", "svg"])
def test_both_files_are_written_or_neither(taken: str, figure: Figure, tmp_path: Path) -> None:
    (tmp_path / f"figure.{taken}").mkdir()
    before = list(tmp_path.iterdir())
    with pytest.raises(CannotWrite):
        save(figure, tmp_path / "figure")
    assert list(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "begin"),
    [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF"), ("one.two.PDF", b"%PDF")],
)
def test_a_name_with_a_kind_is_one_file_of_that_kind(
    name: str, begin: bytes, figure: Figure, tmp_path: Path
) -> None:
    (path,) = save(figure, tmp_path / name)
    assert list(tmp_path.iterdir()) == [path] == [tmp_path / name]
    first = path.read_bytes()
    assert first.startswith(begin)
    save(figure, path)
    assert path.read_bytes() == first
    assert mpl.__version__.encode() not in first


def test_a_path_without_a_name_is_refused(figure: Figure) -> None:
    with pytest.raises(InvalidInput, match="must end with a file name"):
        save(figure, Path())


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    for draw in (transition_figure, boundary_figure):
        with pytest.raises(MissingExtra, match=r"pip install 'grbp\[plots\]'") as caught:
            draw()
        one_sentence(caught.value)


def test_importing_the_module_does_not_import_matplotlib() -> None:
    code = "import grbp.figures, sys; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
