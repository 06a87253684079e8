"""Files that are written whole or not at all; nothing else in the package writes a file."""

import csv
import io
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from grbp.errors import CannotWrite


def write_whole(path: Path, data: bytes) -> Path:
    """Write a file; on failure raise one sentence and leave what was there before.

    The folder is made when it is missing. The data first go into a file of another name in
    the same folder, which then takes the place of the old one in a single step.
    """
    draft = path.with_name(f".grbp-{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(data)
            draft.replace(path)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"{path} cannot be written ({reason(error)}); name a file in a folder that can be"
            " written to"
        ) from error
    return path


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a table as CSV."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(columns)
    table.writerows(rows)
    return write_whole(path, file.getvalue().encode())


def make_folder(folder: Path) -> None:
    """Make a folder, so that what cannot be kept is not computed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(
            f"the folder {folder} cannot be made ({reason(error)}); name one that can be written to"
        ) from error


def reason(error: OSError) -> str:
    """Return why a file could not be read or written, as the system says it."""
    return error.strerror or str(error)
