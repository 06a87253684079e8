"""The lines that a server writes for whoever operates it, and how many at most.

By default there is a line for every request that may record something, for every refusal that an
attack or a wrong setting shows itself by (401, 403, 408, 413, 421, 429 and from 500 on), for every
sign-in that failed, and for the start and the stop. `-v` adds all other requests; `-q` leaves only
what went wrong. A line has the time in UTC, the level, the address, who asked, the method, the path
without what follows `?`, the status and the milliseconds; never a body or a token.

So that nobody fills the disk, a line is cut, and only so many are written: a burst, then some each
second. How many were left out is said when there is room again, and is a metric.
"""

import logging
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from traceback import extract_tb
from typing import Final, TextIO

LONGEST: Final = 500
"""The characters of a line."""

BURST, RATE = 200.0, 50.0
"""How many lines may be written at once, and each second after that."""

_KEPT: Final = 40.0
"""How many lines of a burst are kept for errors."""

_SAY_AFTER: Final = 10.0
"""Seconds after which it is said how many lines were left out, even if there are still too many."""

_UNSAFE: Final = re.compile("[^ -~]")
"""What a terminal could take for something else than text."""

_NAMES: Final = ("grbp.serve", "uvicorn", "asyncio")
"""The loggers whose lines are written."""

_NOTED: Final = frozenset({401, 403, 408, 413, 421, 429})
"""The refusals by which an attack or a wrong setting shows itself."""


def choose_level(status: int, *, recording: bool) -> int:
    """Return the level of the line of a request."""
    noted = recording or status in _NOTED or status >= 500
    return logging.INFO if noted else logging.DEBUG


class BoundedHandler(logging.Handler):
    """Write each record as one line, as long as there are not too many."""

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._stream, self._clock = stream, clock
        self._left, self._then, self._said = BURST, clock(), clock()
        self._unsaid = 0
        self.left_out = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it."""
        now = self._clock()
        self._left = min(BURST, self._left + RATE * (now - self._then))
        self._then = now
        ends = self._left >= BURST / 2 or now - self._said >= _SAY_AFTER
        if self._unsaid and ends:
            self._say_left_out(now)
        if self._left < 1.0 + (_KEPT if record.levelno < logging.ERROR else 0.0):
            if not self._unsaid:
                self._said = now
            self.left_out += 1
            self._unsaid += 1
            return
        self._left -= 1.0
        self._write(record.levelname, _describe(record))

    def flush(self) -> None:
        """Say in the end what was left out."""
        self.acquire()
        try:
            if self._unsaid:
                self._say_left_out(self._clock())
        finally:
            self.release()

    def _say_left_out(self, now: float) -> None:
        self._write("WARNING", f"{self._unsaid} lines were left out, as there were too many")
        self._unsaid, self._said = 0, now

    def _write(self, level: str, text: str) -> None:
        moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = f"{moment} {level} {text}"
        line = line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."
        stream = self._stream or sys.stderr
        try:
            stream.write(f"{line}\n")
            stream.flush()
        except (OSError, ValueError):
            self.left_out += 1  # Nobody reads it any more.


def _describe(record: logging.LogRecord) -> str:
    """Return what a record says in one line; of an error its kind and place, not its text."""
    try:
        text = record.getMessage()
    except (TypeError, ValueError):
        text = str(record.msg)
    if record.exc_info and record.exc_info[1] is not None:
        text = f"{text.splitlines()[0] if text else ''} {describe_fault(record.exc_info[1])}"
    return _UNSAFE.sub(lambda one: one[0].encode("unicode_escape").decode(), " ".join(text.split()))


def describe_fault(error: BaseException) -> str:
    """Say what failed and where, but nothing that was sent."""
    places = [f"{one.filename}:{one.lineno}" for one in extract_tb(error.__traceback__)[-6:]]
    return f"{type(error).__name__} at {' < '.join(reversed(places))}"


HANDLER: Final = BoundedHandler()
"""What writes the lines of this process."""


@contextmanager
def write_lines(*, verbose: bool = False, quiet: bool = False) -> Iterator[None]:
    """Write the lines of a server to standard error for a while."""
    level = logging.DEBUG if verbose else logging.WARNING if quiet else logging.INFO
    loggers = [logging.getLogger(name) for name in _NAMES]
    before = [(one.level, one.propagate) for one in loggers]
    for one in loggers:
        one.addHandler(HANDLER)
        one.propagate = False
        ours = one.name == _NAMES[0]
        one.setLevel(level if ours else max(level, logging.WARNING))
    try:
        yield
    finally:
        for one, (its, propagate) in zip(loggers, before, strict=True):
            one.removeHandler(HANDLER)
            one.setLevel(its)
            one.propagate = propagate
        HANDLER.flush()
