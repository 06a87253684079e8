"""Files written whole or not at all, and never over what is somebody's own.

But for a database, nothing else here writes a file.
"""

import csv
import errno
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from grbp.errors import CannotWrite, InvalidInput

Data: TypeAlias = bytes | Iterable[bytes]
"""The content of a file, or parts of it that are made while it is written."""


class Kind(NamedTuple):
    """A kind of file: how one begins that may be replaced, and what is wrong with any other."""

    begins: re.Pattern[bytes]
    otherwise: str


class Output(NamedTuple):
    """A file that a command is going to write."""

    path: Path
    kind: Kind


PAGE: Final = Kind(
    re.compile(rb'<!doctype html>.*?<meta name="generator" content="grbp">', re.I | re.S),
    "it is not a page that grbp has made",
)
JSON: Final = Kind(re.compile(rb"\s*\{"), "it is not JSON")
CASES: Final = Kind(re.compile(rb"(?!)"), "it may be somebody's records")
"""A table of cases looks like the user's own ones, so it replaces none of them."""

PICTURES: Final = {
    "png": Kind(re.compile(rb"\x89PNG\r\n\x1a\n"), "it is not a PNG picture"),
    "svg": Kind(
        re.compile(rb"\s*(<\?xml[^>]*>\s*)?(?>(<!--.*?-->\s*)*)<(!doctype )?svg\b", re.I | re.S),
        "it is not an SVG picture",
    ),
    "pdf": Kind(re.compile(rb"%PDF-"), "it is not a PDF"),
}

_BEGINNING: Final = 4096
"""Bytes of a file that say of what kind it is."""

_NOTHING: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP})
"""The errors by which a system says that a path leads to nothing."""


def table_kind(*heads: Sequence[str]) -> Kind:
    """Return the kind of the tables that have one of these rows of columns."""
    begins = b"|".join(re.escape(table_text(head, ()).rstrip().encode()) for head in heads)
    return Kind(re.compile(rb"(?:" + begins + rb")\r?\n"), "it is not a table with these columns")


def check_outputs(
    outputs: Iterable[Output],
    inputs: Iterable[Path | str] = (),
    *,
    folder: Path | None = None,
    force: bool = False,
) -> None:
    """Refuse what cannot be written, or would replace what is the user's own; leave no trace.

    No output is an input ("-" is standard input) or another output, whatever names and links lead
    to it. Its folder is there, or is the one that the command makes. A file that is there is
    replaced if it is empty or of the same kind, and any other by force alone.
    """
    read = {_file_identity(path) for path in inputs}
    written: dict[object, Path] = {}
    for path, kind in outputs:
        check_writable(path, folder)
        file = _file_identity(path)
        if file is None:  # A device or a pipe is written to and never replaced.
            continue
        if file in read:
            raise InvalidInput(f"{path} is to be written, but it is also read; name another file")
        if file in written:
            raise InvalidInput(
                f"{written[file]} and {path} are the same file, and both are to be written; they"
                " must name two"
            )
        written[file] = path
        if not (force or _is_stream(path) or _is_replaceable(path, kind)):
            raise InvalidInput(
                f"{path} is there already, and {kind.otherwise}; name another file, or replace it"
                " with --force"
            )


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

    The folders must be there. The data first go into files of other names in the same folders,
    which then take the places of the old ones. The mode says who may read and write them, as far
    as the user's umask allows.

    A symbolic link stays, and the file that it leads to is written. What is not a file, such as
    a device or a pipe, is never replaced but written to, as is a file that the program prints to.
    """
    for path in files:
        check_file_name(path)
    streams = [path for path in files if _is_stream(path)]
    # Of a link the place that it leads to.
    places = {path: Path(os.path.realpath(path)) for path in files if path not in streams}
    for path, place in places.items():
        _check_folder(path, place.parent)
    # Short names: a name that is just short enough for the file system stays so.
    drafts = {path: _draft_name(place.parent) for path, place in places.items()}
    before: dict[Path, bytes | None] = {}
    try:
        for path, draft in drafts.items():
            draft.touch(mode, exist_ok=False)
            _write_data(draft, files[path])
        for path in streams:
            _write_to_stream(path, files[path])
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


def check_writable(path: Path, made: Path | None = None) -> None:
    """Refuse a path that cannot be written to, before there is anything to write; leave no trace.

    Its folder must be there, unless it is one that is going to be made. What goes wrong only
    later, such as a disk that fills up, `write_together` reports.
    """
    check_file_name(path)
    try:
        found = look_at(path)
        if found and stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if _is_stream(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        folder = Path(os.path.realpath(path)).parent
        if made is None or folder != Path(os.path.realpath(made)):
            _check_folder(path, folder)
        while look_at(folder) is None:
            folder = folder.parent
        draft = _draft_name(folder)
        draft.touch(0o600, exist_ok=False)
        draft.unlink()
    except CannotWrite:
        raise
    except OSError as error:
        raise _cannot_write(str(path), error) from error


def look_at(path: Path) -> os.stat_result | None:
    """Return what a path leads to, None if to nothing; fail where that cannot be known.

    `Path.exists` and its like say since Python 3.14 that nothing is there where they cannot know.
    """
    try:
        return path.stat()
    except OSError as error:
        if error.errno not in _NOTHING:
            raise
    return None


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


def _file_identity(path: Path | str) -> object:
    """Return what all names of a file have in common, and None for what is not a file."""
    try:
        found = os.fstat(0) if str(path) == "-" else Path(path).stat()
    except OSError:
        return os.path.realpath(path)
    except ValueError:  # a name that no file can have
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _is_replaceable(path: Path, kind: Kind) -> bool:
    """Return whether a file is not there, is empty, or is of a kind."""
    try:
        with path.open("rb") as stream:
            beginning = stream.read(_BEGINNING)
    except FileNotFoundError:
        return True
    except OSError:  # What it holds is not known.
        return False
    return not beginning or kind.begins.match(beginning) is not None


def _check_folder(path: Path, folder: Path) -> None:
    """Refuse to write to a folder that is not there: its name may be a slip."""
    try:
        found = look_at(folder)
    except OSError as error:
        raise _cannot_write(str(path), error) from error
    if found is None:
        raise CannotWrite(
            f"{path} cannot be written (there is no folder {folder}); make it, or name another"
        )


def _cannot_write(names: str, error: OSError) -> CannotWrite:
    return CannotWrite(
        f"{names} cannot be written ({reason(error)}); name a file in a folder that can be"
        " written to"
    )


def _draft_name(folder: Path) -> Path:
    """Return a name in a folder that nobody else uses."""
    return folder / f".grbp-{secrets.token_hex(6)}"


def _is_stream(path: Path) -> bool:
    """Return whether a path leads to something that is written to and never replaced."""
    with suppress(OSError):
        found = path.stat()
        kept = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        return not kept or _standard_descriptor(found) is not None
    return False


def _standard_descriptor(found: os.stat_result) -> int | None:
    """Return the standard stream that goes to a file, if there is one."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), found):
                return descriptor
    return None


def _write_data(target: Path | int, data: Data) -> None:
    """Write to a file, or to a stream by its number."""
    with open(target, "wb") as stream:  # noqa: PTH123
        stream.writelines([data] if isinstance(data, bytes) else data)


def _write_to_stream(path: Path, data: Data) -> None:
    """Write to a device, a pipe or a standard stream, after what was written there before."""
    for printed in (sys.stdout, sys.stderr):
        if printed is not None:
            printed.flush()
    descriptor = _standard_descriptor(path.stat())
    _write_data(path if descriptor is None else os.dup(descriptor), data)
