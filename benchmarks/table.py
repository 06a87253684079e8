"""What was measured: rows of two times and their ratio, as text and as Markdown."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

WIDTH = 80
_COLUMNS = (28, 10, 13, 9, 12, 8)
LEGEND = (
    "x: how many times as fast; as long, where the target is a most. In brackets: what is hoped"
    " for beyond the target. Each time is the shortest of several, taken in turn."
)


class Target(NamedTuple):
    """What a ratio must be (at least, or at most), and what it is hoped to be beyond that."""

    bound: float
    hoped: float | None = None


@dataclass(frozen=True)
class Row:
    """A comparison.

    ours, theirs   seconds, of one round or one replica or a whole run; None: not measured
    target         what the ratio must be
    longer         whether the ratio says how many times as long ours takes, and the target
                   what it may be at most; else, how many times as fast ours is
    note           why it was not measured
    """

    what: str
    ours: float | None = None
    theirs: float | None = None
    target: Target | None = None
    longer: bool = False
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times as fast ours is, or as long as it takes."""
        if self.ours is None or self.theirs is None:
            return None
        return self.ours / self.theirs if self.longer else self.theirs / self.ours

    def cells(self) -> list[str]:
        """The row in words: what, ours, theirs, ratio, target, verdict."""
        return [
            self.what,
            "-" if self.ours is None else time_text(self.ours),
            "-" if self.theirs is None else time_text(self.theirs),
            "-" if self.ratio is None else f"{ratio_text(self.ratio)} x",
            self._target(),
            self._verdict(),
        ]

    def _target(self) -> str:
        if self.target is None:
            return ""
        hoped = "" if self.target.hoped is None else f" ({self.target.hoped:g})"
        return f"{'<=' if self.longer else '>='} {self.target.bound:g}{hoped} x"

    def _verdict(self) -> str:
        if self.target is None or self.ratio is None:
            return ""
        if self.target.hoped is not None and self._holds(self.target.hoped):
            return "(held)"
        return "held" if self._holds(self.target.bound) else "NOT held"

    def _holds(self, bound: float) -> bool:
        if self.ratio is None:
            return False
        return self.ratio <= bound if self.longer else self.ratio >= bound


@dataclass(frozen=True)
class Table:
    """Rows of one kind, under a title; ours and theirs say whose times the columns hold."""

    title: str
    ours: str
    theirs: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The table for a terminal of 80 columns."""
        lines = textwrap.wrap(self.title, WIDTH)
        lines.append(_line(["", self.ours, self.theirs, "ratio", "target", ""]))
        lines += [_line(row.cells()) for row in self.rows]
        for note in self._notes():
            lines += textwrap.wrap(note, WIDTH, initial_indent="  ", subsequent_indent="  ")
        return "\n".join(lines) + "\n"

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = [f"## {self.title}", ""]
        lines.append(f"| | {self.ours} | {self.theirs} | ratio | target | |")
        lines.append("|---|---:|---:|---:|---:|---|")
        lines += ["| " + " | ".join(row.cells()) + " |" for row in self.rows]
        for note in self._notes():
            lines += ["", note]
        return "\n".join(lines) + "\n"

    def _notes(self) -> Iterator[str]:
        yield from self.notes
        yield from (f"{row.what}: {row.note}." for row in self.rows if row.note)


def _line(cells: list[str]) -> str:
    """One line of a table; the first and the last column start at their left."""
    first, *middle, last = (
        _cut(cell, width - 1) for cell, width in zip(cells, _COLUMNS, strict=True)
    )
    columns = [f"{cell:>{width}}" for cell, width in zip(middle, _COLUMNS[1:-1], strict=True)]
    return f"{first:<{_COLUMNS[0]}}{''.join(columns)} {last}".rstrip()


def _cut(cell: str, width: int) -> str:
    return cell if len(cell) <= width else cell[: width - 1] + "~"


def time_text(seconds: float) -> str:
    """A time with three digits, in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds / 1e-9)} ns"


def ratio_text(ratio: float) -> str:
    """A ratio with three digits."""
    return _three_digits(ratio)


def _three_digits(number: float) -> str:
    digits = 0 if number >= 99.95 else 1 if number >= 9.995 else 2
    return f"{number:,.{digits}f}"
