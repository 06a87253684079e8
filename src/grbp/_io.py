"""Files written whole or not at all; nothing else in the package writes a file."""

import csv
import io
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from grbp.errors import CannotWrite, InvalidInput


def write_whole(path: Path, data: bytes, mode: int = 0o666) -> Path:
    """Write one file; on failure whatever was there before stays."""
    return write_together({path: data}, mode)[0]


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a table as CSV, with every digit of its numbers."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return write_whole(path, text.getvalue().encode())


def write_together(files: Mapping[Path, bytes], mode: int = 0o666) -> list[Path]:
    """Write several files, all of them or none; on failure what was there before stays.

    The folders are made when they are missing. The data first go into files of other names in
    the same folders, which then take the places of the old ones. The mode says who may read and
    write them, as far as the user's umask allows.
    """
    for path in files:
        check_file_name(path)
        make_folder(path.parent)
    # Short names: a name that is just short enough for the file system stays so.
    drafts = {path: path.with_name(f".grbp-{secrets.token_hex(6)}") for path in files}
    before: dict[Path, bytes | None] = {}
    try:
        for path, draft in drafts.items():
            draft.touch(mode, exist_ok=False)
            draft.write_bytes(files[path])
        for path, draft in drafts.items():
            old = path.read_bytes() if len(files) > 1 and path.is_file() else None
            draft.replace(path)
            before[path] = old
    except OSError as error:
        for path, old in before.items():
            with suppress(OSError):
                path.unlink() if old is None else path.write_bytes(old)
        names = " and ".join(map(str, files))
        raise CannotWrite(
            f"{names} cannot be written ({reason(error)}); name a file in a folder that can be"
            " written to"
        ) from error
    finally:
        for draft in drafts.values():
            # What cannot be removed must not hide why the files were not written.
            with suppress(OSError):
                draft.unlink(missing_ok=True)
    return list(files)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless they are there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"the folder {folder} cannot be made ({reason(error)}); name one that can be written to"
        ) from error


def check_file_name(path: Path) -> None:
    """Refuse a path that does not end with a file name."""
    if not path.name:
        raise InvalidInput(f"the path {str(path)!r} was given; it must end with a file name")


def reason(error: OSError) -> str:
    """Say in a few words why the system refused."""
    return error.strerror or str(error)
