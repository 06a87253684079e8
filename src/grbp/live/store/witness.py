"""What was acknowledged last of each log, in a small file beside the store: a witness.

SQLite's log (-wal) can be removed, or end early where it was damaged, and what is left looks whole.
So whoever has committed notes the number and the hash of the last event here, which is not waited
for: the file survives the death of a program, and after a power cut it may be older than the store,
never newer. What cannot be read here, or is not there, says nothing.
"""

import os
from contextlib import suppress
from typing import Final
from zlib import crc32

END: Final = "-head"
"""What follows the store's name in the name of this file."""

_LENGTH: Final = 64
"""The bytes of a line; the log with number n has the n-th after the first."""

_TITLE: Final = b"grbp: the last event of each log that was acknowledged".ljust(63) + b"\n"

_DIGITS: Final = 40
"""The digits of a hash that are noted."""


class Witness:
    """The file beside a store."""

    def __init__(self, store: str, where: str) -> None:
        self._path = store + END
        self._file: int | None = None
        # A log that we go on with needs to be looked at once: the log itself only grows.
        self._ours: set[int] = set()
        self.advice = (
            f"{where}-wal was removed or is damaged, or an older copy was put in place; put the"
            f" files back that belong together, or restore a backup, and remove {where}{END} if"
            " what is missing is given up"
        )

    def note(self, number: int, line: bytes) -> None:
        """Note the last event of a log, unless a later one was noted before; fail in silence."""
        try:
            file, place = self._file or self._open(), number * _LENGTH
            if number not in self._ours:
                before = os.pread(file, _LENGTH, place)
                # Numbers are written with all their zeros, so that lines compare as they do.
                if before >= line and _parse_line(number, before) is not None:
                    return
                self._ours.add(number)
            os.pwrite(file, line, place)
        except OSError:  # (`suppress` takes longer, for every entry)
            pass

    def forget(self, number: int) -> None:
        """Remove what is noted of a log that is to be removed itself, and wait for the disk.

        Otherwise, after a power cut, it would be said of the next log that gets this number.
        """
        with suppress(OSError):
            file = self._open()
            os.pwrite(file, bytes(_LENGTH), number * _LENGTH)
            os.fsync(file)

    def clear(self) -> None:
        """Remove the file, which is about a store that is no more."""
        self.close()
        with suppress(OSError):
            os.unlink(self._path)  # noqa: PTH108 (as all calls here)

    def read(self) -> dict[int, tuple[int, str]]:
        """Return the last event of each log by its number, as far as that can be read."""
        content = b""
        with suppress(OSError), open(self._path, "rb") as stream:  # noqa: PTH123
            content = stream.read()
        found = {
            place // _LENGTH: _parse_line(place // _LENGTH, content[place : place + _LENGTH])
            for place in range(_LENGTH, len(content), _LENGTH)
        }
        return {number: last for number, last in found.items() if last is not None}

    def close(self) -> None:
        """Let go of the file."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _open(self) -> int:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if not os.fstat(self._file).st_size:
                os.pwrite(self._file, _TITLE, 0)
        return self._file


def make_line(number: int, seq: int, head: str) -> bytes:
    """Write a line: the number of an event, the first digits of its hash, and a checksum."""
    noted = f"{seq:013} {head[:_DIGITS]:{_DIGITS}} ".encode()
    return b"%b%08x\n" % (noted, crc32(noted, number))


def _parse_line(number: int, line: bytes) -> tuple[int, str] | None:
    """Read a line, if it is whole."""
    with suppress(ValueError):
        seq, head, _ = line.decode("ascii").split()
        if line == make_line(number, int(seq), head):
            return int(seq), head
    return None


def is_noted(noted: str, head: str) -> bool:
    """Return whether a hash is the one that was noted."""
    return str(head)[:_DIGITS] == noted


def describe_gone(where: str, count: int) -> str:
    """Say that some logs of a store are not there at all."""
    which = "one study" if count == 1 else f"{count:,} studies"
    return f"{which} of {where} cannot be found"


def describe_loss(log: str, seq: int, end: int) -> str:
    """Say that a log, which ends with an event, does not have the one that was noted."""
    if end < seq:
        return f"event {seq} of {log} was acknowledged, but its log ends with event {end}"
    return f"event {seq} of {log} is not the one that was acknowledged"
