"""Files written whole or not at all; but for a database, nothing else here writes a file."""

import csv
import errno
import io
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from grbp.errors import CannotWrite, InvalidInput

Data: TypeAlias = bytes | Iterable[bytes]
"""The content of a file, or parts of it that are made while it is written."""


def write_whole(path: Path, data: Data, mode: int = 0o666) -> Path:
    """Write one file; on failure whatever was there before stays."""
    return write_together({path: data}, mode)[0]


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a table as CSV, with every digit of its numbers."""
    return write_whole(path, table_text(columns, rows).encode())


def table_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV; what is not a number (NaN) is left empty."""
    text = io.StringIO()
    kept = (["" if cell != cell else cell for cell in row] for row in rows)  # noqa: PLR0124 (NaN)
    csv.writer(text, lineterminator="\n").writerows([columns, *kept])
    return text.getvalue()


def write_together(files: Mapping[Path, Data], mode: int = 0o666) -> list[Path]:
    """Write several files, all of them or none; on failure what was there before stays.

    The folders are made when they are missing. The data first go into files of other names in
    the same folders, which then take the places of the old ones. The mode says who may read and
    write them, as far as the user's umask allows.

    A symbolic link stays, and the file that it leads to is written. What is not a file, such as
    a device or a pipe, is never replaced but written to, as is a file that the program prints to.
    """
    for path in files:
        check_file_name(path)
    streams = [path for path in files if _is_stream(path)]
    # Of a link the place that it leads to.
    places = {path: Path(os.path.realpath(path)) for path in files if path not in streams}
    for place in places.values():
        make_folder(place.parent)
    # Short names: a name that is just short enough for the file system stays so.
    drafts = {path: _draft(place.parent) for path, place in places.items()}
    before: dict[Path, bytes | None] = {}
    try:
        for path, draft in drafts.items():
            draft.touch(mode, exist_ok=False)
            _write_data(draft, files[path])
        for path in streams:
            _write_through(path, files[path])
        for path, draft in drafts.items():
            place = places[path]
            old = place.read_bytes() if len(files) > 1 and place.is_file() else None
            draft.replace(place)
            before[place] = old
    except OSError as error:
        for place, old in before.items():
            with suppress(OSError):
                place.unlink() if old is None else place.write_bytes(old)
        if isinstance(error, CannotWrite):  # Whatever makes the data has raised an error already.
            raise
        raise _cannot_write(" and ".join(map(str, files)), error) from error
    finally:
        for draft in drafts.values():
            # What cannot be removed must not hide why the files were not written.
            with suppress(OSError):
                draft.unlink(missing_ok=True)
    return list(files)


def check_writable(path: Path) -> None:
    """Refuse a path that cannot be written to, before there is anything to write; leave no trace.

    What goes wrong only later, such as a disk that fills up, `write_together` reports.
    """
    check_file_name(path)
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if _is_stream(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        folder = Path(os.path.realpath(path)).parent
        while not folder.exists():
            folder = folder.parent
        draft = _draft(folder)
        draft.touch(0o600, exist_ok=False)
        draft.unlink()
    except OSError as error:
        raise _cannot_write(str(path), error) from error


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless they are there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"the folder {folder} cannot be made ({reason(error)}); name one that can be written to"
        ) from error


def make_private(path: Path) -> None:
    """Make an empty file that nobody but its owner can read, unless it is there."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise _cannot_write(str(path), error) from error


def take_name(draft: Path, path: Path) -> bool:
    """Give a complete file its name, unless somebody was quicker; return whether it has it."""
    try:
        try:
            path.hardlink_to(draft)
            draft.unlink()
        except FileExistsError:
            raise
        except OSError:  # a file system that has no links
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
            draft.replace(path)
    except FileExistsError:
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_file_name(path: Path) -> None:
    """Refuse a path that does not end with a file name."""
    if not path.name or "\0" in path.name:
        raise InvalidInput(f"the path {str(path)!r} was given; it must end with a file name")


def reason(error: OSError) -> str:
    """Say in a few words why the system refused."""
    return error.strerror or str(error)


def _cannot_write(names: str, error: OSError) -> CannotWrite:
    return CannotWrite(
        f"{names} cannot be written ({reason(error)}); name a file in a folder that can be"
        " written to"
    )


def _draft(folder: Path) -> Path:
    """Return a name in a folder that nobody else uses."""
    return folder / f".grbp-{secrets.token_hex(6)}"


def _is_stream(path: Path) -> bool:
    """Return whether a path leads to something that is written to and never replaced."""
    with suppress(OSError):
        found = path.stat()
        kept = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        return not kept or _descriptor(found) is not None
    return False


def _descriptor(found: os.stat_result) -> int | None:
    """Return the standard stream that goes to a file, if there is one."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), found):
                return descriptor
    return None


def _write_data(path: Path, data: Data) -> None:
    if isinstance(data, bytes):
        path.write_bytes(data)
        return
    with path.open("wb") as stream:
        stream.writelines(data)


def _write_through(path: Path, data: Data) -> None:
    """Write to a device, a pipe or a standard stream, after what was written there before."""
    for printed in (sys.stdout, sys.stderr):
        if printed is not None:
            printed.flush()
    descriptor = _descriptor(path.stat())
    target: Path | int = path if descriptor is None else os.dup(descriptor)
    with open(target, "wb") as stream:  # noqa: PTH123 (it may be the number of a stream)
        stream.writelines([data] if isinstance(data, bytes) else data)
