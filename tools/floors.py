"""Write the map of the floors and its picture from the contract that enforces them.

The order of the floors stands in pyproject.toml, where import-linter reads it; what a floor is for
stands in the first line of its docstring. From these, this writes the table of CONTRIBUTING.md and
docs/images/floors.svg. `make floors` runs it, and a test says when it has to be run again.
"""

import argparse
import ast
import re
import textwrap
import tomllib
from html import escape
from pathlib import Path
from typing import NamedTuple

from grbp._palette import PALETTE

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "grbp"
TABLE = ROOT / "CONTRIBUTING.md"
PICTURE = ROOT / "docs" / "images" / "floors.svg"
BEGIN = "<!-- floors: written by `make floors` -->"
END = "<!-- end of floors -->"


class Room(NamedTuple):
    """A folder or a file directly under src/grbp."""

    name: str
    purpose: str
    files: list[str]


def floors() -> list[list[Room]]:
    """Return the floors from the top down, each with the folders or files that share it."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    contract = next(c for c in tools["importlinter"]["contracts"] if c["type"] == "layers")
    return [[room(name) for name in re.findall(r"\w+", layer)] for layer in contract["layers"]]


def room(name: str) -> Room:
    """Read what a folder or a file is for, and which files it has."""
    folder = SOURCE / name
    if not folder.is_dir():
        return Room(f"{name}.py", first_line(SOURCE / f"{name}.py"), [])
    files = [path.relative_to(folder) for path in sorted(folder.rglob("*.py"))]
    modules = [str(path.with_suffix("")) for path in files if path.name != "__init__.py"]
    return Room(f"{name}/", first_line(folder / "__init__.py"), modules)


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring, without its full stop."""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return text.split("\n")[0].rstrip(".")


def table() -> str:
    """Write the floors as a table in Markdown, a row for each."""
    rows = ["| floor | what is there | its files |", "|---|---|---|"]
    for rooms in floors():
        names = " ".join(f"`{one.name}`" for one in rooms)
        if len(rooms) == 1:
            purpose, files = rooms[0].purpose, _code(rooms[0].files)
        else:
            purpose = "<br>".join(f"`{one.name}` {one.purpose}" for one in rooms)
            files = "<br>".join(f"{one.name} {_code(one.files)}" for one in rooms if one.files)
        rows.append(f"| {names} | {purpose} | {files} |")
    return "\n".join(rows)


def _code(names: list[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def with_table(text: str) -> str:
    """Return the text of CONTRIBUTING.md with its table written anew."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"


def picture() -> str:
    """Draw the floors one above the other, in colours that read well on light and on dark."""
    left, width, gap, top = 44, 756, 8, 8
    boxes = []
    for rooms in floors():
        lines = [
            (one.name if first else "", line)
            for one in rooms
            for first, line in _wrap(one.purpose, 92)
        ]
        height = 14 + 18 * len(lines)
        boxes.append(f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="6"/>')
        for row, (name, line) in enumerate(lines):
            y = top + 20 + 18 * row
            if name:
                boxes.append(f'<text class="name" x="{left + 14}" y="{y}">{name}</text>')
            boxes.append(f'<text x="{left + 144}" y="{y}">{escape(line)}</text>')
        top += height + gap
    end = top - gap - 2
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 8} {top}">',
            "<title>The floors of the package: imports go down only</title>",
            "<style>",
            f"rect {{ fill: {_light('continue-tint')}; stroke: {_light('continue-line')} }}",
            f"text {{ fill: {_light('ink')}; font: 12.5px sans-serif }}",
            ".name { font: bold 14px monospace }",
            f".arrow {{ fill: none; stroke: {_light('field')}; stroke-width: 2 }}",
            f".word {{ fill: {_light('field')}; font: 13px sans-serif }}",
            "</style>",
            f'<path class="arrow" d="M30 10V{end}m-6-10l6 10l6-10"/>',
            f'<text class="word" transform="translate(18 {top // 2}) rotate(-90)"'
            ' text-anchor="middle">imports go down only</text>',
            *boxes,
            "</svg>\n",
        ]
    )


def _light(name: str) -> str:
    """Return a colour of the palette."""
    return PALETTE[name].light


def _wrap(text: str, width: int) -> list[tuple[bool, str]]:
    """Return the lines of a text, each with whether it is the first."""
    return [(k == 0, line) for k, line in enumerate(textwrap.wrap(text.replace("`", ""), width))]


def main() -> None:
    """Write the table and the picture."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    TABLE.write_text(with_table(TABLE.read_text("utf-8")), "utf-8")
    PICTURE.write_text(picture(), "utf-8")


if __name__ == "__main__":
    main()
