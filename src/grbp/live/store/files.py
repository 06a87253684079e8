"""The files of a store that were opened, and whether their names still lead to them.

SQLite goes on with files that were moved, removed or replaced, where nobody finds what it writes.
"""

import os
import time
from typing import Final

from grbp.errors import CannotWrite

_SETTLED: Final = 3 * 10**9
"""The nanoseconds after which a folder's time says of every later change: no clock is coarser."""

Identity = tuple[int, int]


class Files:
    """The main file of a store and the log before it (-wal), as they were opened."""

    def __init__(self, whole: str, where: str) -> None:
        self._whole, self._where = whole, where
        # SQLite follows a link, and has its files where that leads to.
        real = os.path.realpath(whole)
        self._wal = f"{real}-wal"
        # Whoever changes a name changes the time of its folder, so that one look serves for both.
        self._folder = os.path.dirname(whole) if real == whole else None  # noqa: PTH120
        self._settled: tuple[int, int, int] | None = None
        self._main_file: Identity | None = None
        self._wal_file: Identity | None = None

    def remember_main(self) -> None:
        """Take the main file that is there for the one that was opened."""
        self._main_file = _identify(self._whole)

    def remember_log(self) -> None:
        """Take the log that is there, once SQLite has made it, for the one that was opened."""
        self._wal_file, self._settled = _identify(self._wal), None

    def check(self) -> None:
        """Refuse files that have gone."""
        folder = self._look_at_folder()
        if folder is not None and folder == self._settled:
            return
        if _identify(self._whole) != self._main_file:
            raise CannotWrite(
                f"{self._where} was moved, removed or replaced while it was open, so nothing was"
                " written; put it back, and move it only when nobody has it open"
            )
        if self._wal_file is not None and _identify(self._wal) != self._wal_file:
            raise CannotWrite(
                f"{self._where}-wal was removed or replaced while {self._where} was open, so"
                " nothing was written; put it back, or close every program that has the store"
                " open, which saves what they hold, and verify it"
            )
        if folder is not None and time.time_ns() - folder[2] > _SETTLED:
            self._settled = folder

    def _look_at_folder(self) -> tuple[int, int, int] | None:
        """Return which folder it is, and when a name in it was last changed."""
        if self._folder is None:
            return None
        try:
            found = os.stat(self._folder)  # noqa: PTH116 (for every entry, and twice as quick)
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_ctime_ns


def _identify(path: str) -> Identity | None:
    """Return which file a path leads to; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 (as above)
    except OSError:
        return None
    return found.st_dev, found.st_ino
