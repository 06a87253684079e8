"""The files of a store that were opened, whether their names still lead to them, and on what disk.

SQLite goes on with files that were moved, removed or replaced, where nobody finds what it writes;
and on some file systems its locks do not reach all who write.
"""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from grbp.errors import CannotWrite

MOUNTS: Final = Path("/proc/self/mountinfo")
"""Where Linux says what is mounted."""

NETWORKED: Final = frozenset(
    {"afs", "beegfs", "ceph", "cifs", "coda", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "gfs2"}
    | {"glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb2", "smb3", "smbfs"}
)
"""The file systems whose locks or shared memory do not reach all machines."""

_OCTAL: Final = re.compile(r"\\([0-7]{3})")
"""How the table of mounts writes a space and the like."""


Identity = tuple[int, int]


class Files:
    """The main file of a store and the log before it (-wal), as they were opened."""

    def __init__(self, whole: str, where: str) -> None:
        self._whole, self.where = whole, where
        # SQLite follows a link, and has its files where that leads to.
        self.real = os.path.realpath(whole)
        self._wal = f"{self.real}-wal"
        self._main_file: Identity | None = None
        self._wal_file: Identity | None = None

    def remember_main(self) -> None:
        """Take the main file that is there for the one that was opened."""
        self._main_file = _identify(self._whole)

    def remember_log(self) -> None:
        """Take the log that is there, once SQLite has made it, for the one that was opened."""
        self._wal_file = _identify(self._wal)

    def check(self) -> None:
        """Refuse files that have gone."""
        if _identify(self._whole) != self._main_file:
            raise CannotWrite(
                f"{self.where} was moved, removed or replaced while it was open, so nothing was"
                " written; put it back, and move it only when nobody has it open"
            )
        if self._wal_file is not None and _identify(self._wal) != self._wal_file:
            raise CannotWrite(
                f"{self.where}-wal was removed or replaced while {self.where} was open, so"
                " nothing was written; put it back, or close every program that has the store"
                " open, which saves what they hold, and verify it"
            )


def _identify(path: str) -> Identity | None:
    """Return which file a path leads to; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 (for every entry, and twice as quick)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def file_system(path: Path) -> str:
    """Return the kind of file system that a file is on; empty where nobody says.

    There is no table elsewhere than on Linux, and in a chroot it may have no line for the root.
    What is not known is not taken for a network: that would refuse every store there.
    """
    with suppress(OSError):
        return find_kind(Path(os.path.realpath(path)), MOUNTS.read_text("utf-8", "replace"))
    return ""


def find_kind(place: Path, table: str) -> str:
    """Return the kind of file system at a place, by such a table; empty if no line is about it."""
    kind, longest = "", -1
    for line in table.splitlines():
        fields = line.split()
        mount = Path(_OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[4]))
        # The last of several at one place covers the others.
        if place.is_relative_to(mount) and len(mount.parts) >= longest:
            kind, longest = fields[fields.index("-") + 1], len(mount.parts)
    return kind
