"""On what kind of file system a file is, as Linux says in its table of what is mounted where."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

MOUNTS: Final = Path("/proc/self/mountinfo")
"""Where Linux says what is mounted."""

NETWORKED: Final = frozenset(
    {"afs", "beegfs", "ceph", "cifs", "coda", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "gfs2"}
    | {"glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb2", "smb3", "smbfs"}
)
"""The file systems whose locks or shared memory do not reach all machines."""

_OCTAL: Final = re.compile(r"\\([0-7]{3})")
"""How the table writes a space and the like."""


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
