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

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "grbp"
TABLE = ROOT / "CONTRIBUTING.md"
PICTURE = ROOT / "docs" / "images" / "floors.svg"
BEGIN = "<!-- floors: written by `make floors` -->"
END = "<!-- end of floors -->"


class Floor(NamedTuple):
    """A folder or a file directly under src/grbp."""

    name: str
    purpose: str
    files: list[str]


def storeys() -> list[list[Floor]]:
    """Return the floors from the top down; those that share a storey do not import each other."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    contract = next(c for c in tools["importlinter"]["contracts"] if c["type"] == "layers")
    return [[floor(name) for name in re.findall(r"\w+", layer)] for layer in contract["layers"]]


def floor(name: str) -> Floor:
    """Read what a floor is for, and which files it has."""
    folder = SOURCE / name
    if not folder.is_dir():
        return Floor(f"{name}.py", first_line(SOURCE / f"{name}.py"), [])
    files = [path.relative_to(folder) for path in sorted(folder.rglob("*.py"))]
    shown = [str(path.with_suffix("")) for path in files if path.name != "__init__.py"]
    return Floor(f"{name}/", first_line(folder / "__init__.py"), shown)


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring, without its full stop."""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return text.split("\n")[0].rstrip(".")


def table() -> str:
    """Draw the floors as a table in Markdown."""
    rows = ["| floor | what is there | its files |", "|---|---|---|"]
    rows += [
        f"| `{one.name}` | {one.purpose} | {' '.join(f'`{file}`' for file in one.files)} |"
        for storey in storeys()
        for one in storey
    ]
    return "\n".join(rows)


def with_table(text: str) -> str:
    """Return the text of CONTRIBUTING.md with its table written anew."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"


def picture() -> str:
    """Draw the floors one above the other, in colours that read well on light and on dark."""
    left, width, gap, top = 44, 756, 8, 8
    boxes = []
    for storey in storeys():
        share = (width - gap * (len(storey) - 1)) // len(storey)
        wrapped = [textwrap.wrap(one.purpose.replace("`", ""), (share - 24) // 7) for one in storey]
        height = 34 + 16 * max(map(len, wrapped))
        for place, (one, lines) in enumerate(zip(storey, wrapped, strict=True)):
            x = left + place * (share + gap)
            boxes.append(f'<rect x="{x}" y="{top}" width="{share}" height="{height}" rx="6"/>')
            boxes.append(f'<text class="name" x="{x + 14}" y="{top + 21}">{one.name}</text>')
            boxes += [
                f'<text x="{x + 14}" y="{top + 39 + 16 * row}">{escape(line)}</text>'
                for row, line in enumerate(lines)
            ]
        top += height + gap
    end = top - gap - 2
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 8} {top}">',
            "<title>The floors of the package: imports go down only</title>",
            "<style>",
            "rect { fill: #e6eefa; stroke: #5b83c0 }",
            "text { fill: #15233b; font: 12.5px sans-serif }",
            ".name { font: bold 14px monospace }",
            ".arrow { fill: none; stroke: #7d8794; stroke-width: 2 }",
            ".word { fill: #7d8794; font: 13px sans-serif }",
            "</style>",
            f'<path class="arrow" d="M30 10V{end}m-6-10l6 10l6-10"/>',
            f'<text class="word" transform="translate(18 {top // 2}) rotate(-90)"'
            ' text-anchor="middle">imports go down only</text>',
            *boxes,
            "</svg>\n",
        ]
    )


def main() -> None:
    """Write the table and the picture."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    TABLE.write_text(with_table(TABLE.read_text("utf-8")), "utf-8")
    PICTURE.write_text(picture(), "utf-8")


if __name__ == "__main__":
    main()
