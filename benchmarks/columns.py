"""Tables of words: for a terminal of 80 columns, and in Markdown."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH = 80


@dataclass(frozen=True)
class Columns:
    """Rows under a heading: the first column is what the row is about, the others are figures."""

    title: str
    heads: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The table for a terminal."""
        widths = [max(map(len, column)) for column in zip(self.heads, *self.rows, strict=True)]
        lines = textwrap.wrap(self.title, WIDTH)
        lines += [_line(row, widths) for row in (self.heads, *self.rows)]
        for note in self.notes:
            lines += textwrap.wrap(note, WIDTH, initial_indent="  ", subsequent_indent="  ")
        return "\n".join(lines) + "\n"

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = [f"### {self.title}", "", "| " + " | ".join(self.heads) + " |"]
        lines.append("|---|" + "---:|" * (len(self.heads) - 1))
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """One line; the first column starts at its left, the others end at their right."""
    first, *others = (
        f"{cell:<{width}}" if k == 0 else f"{cell:>{width}}"
        for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()
