"""Files that are written whole or not at all."""

import secrets
from contextlib import suppress
from pathlib import Path

from grbp.errors import CannotWrite


def write_whole(path: Path, data: bytes) -> Path:
    """The path written to; on failure one sentence, and whatever was there before stays.

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
            f"{path} cannot be written ({error.strerror or error}); name a file in a folder that"
            " can be written to"
        ) from error
    return path
