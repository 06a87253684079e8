"""A bar on standard error for what takes longer than a moment."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_PATIENCE = 1.0
"""Seconds before a bar appears."""

_EVERY = 0.1
"""Seconds between two pictures of it."""

_WIDTH = 30


class Bar:
    """A bar that is drawn over itself on a terminal; elsewhere a line when a part is done."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._live = stream, stream.isatty()
        self._began = self._drawn = time.monotonic()
        self._name, self._length = "", 0

    def __call__(self, name: str, done: int, total: int) -> None:
        """Nothing; shows how far a part of that name is."""
        now = time.monotonic()
        if name != self._name:
            self._name, self._began = name, now
        slow, late = now - self._began > _PATIENCE, now - self._drawn > _EVERY
        if self._live and slow and (late or done == total):
            share = done / total if total else 1.0
            full = int(share * _WIDTH)
            left = (now - self._began) * (1.0 - share) / share if share else 0.0
            bar = "#" * full + "." * (_WIDTH - full)
            self._draw(f"{name:<22.22} [{bar}] {share:4.0%}  {left:4.0f} s left")
            self._drawn = now
        elif not self._live and slow and done == total:
            self._stream.write(f"{name}: done in {now - self._began:.1f} s\n")

    def clear(self) -> None:
        """Nothing; takes the bar off the terminal."""
        if self._length:
            self._draw("")
            self._stream.write("\r")
            self._stream.flush()
            self._length = 0

    def _draw(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._length))
        self._stream.flush()
        self._length = max(len(text), self._length)


@contextmanager
def bar() -> Iterator[Bar]:
    """A bar on standard error, gone when the block ends."""
    shown = Bar(sys.stderr)
    try:
        yield shown
    finally:
        shown.clear()
