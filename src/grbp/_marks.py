"""The marks of our SQLite files, by which a file of another kind is refused before it is touched.

The file itself is read through SQLite alone, which takes it for immutable here: no lock, no journal
and no trace. Whoever opened it in another way would let go, on closing it, of the locks that this
process holds on it elsewhere.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from struct import unpack
from typing import Final, NamedTuple, Protocol

from grbp.errors import InvalidInput


class Mark(NamedTuple):
    """The number in SQLite's header (`application_id`), what such a file is, and who opens it."""

    number: int
    kind: str
    command: str


STUDIES: Final = Mark(0x67726270, "a store of studies", "grbp live")
"""The letters grbp."""

SWEEP: Final = Mark(0x67726273, "a sweep", "grbp sweep")
"""The letters grbs."""

_MARKS_QUERY: Final = (
    "select application_id, user_version, schema_version"
    " from pragma_application_id, pragma_user_version, pragma_schema_version"
)
"""What a file says of itself; all zeros if nothing was ever made in it."""


class _Connection(Protocol):
    """A connection of any library."""

    def execute(self, statement: str, /) -> Iterable[tuple[int, ...]]:
        """Run a statement."""


def lock_free_address(path: Path) -> str:
    """Return the address under which SQLite reads a file and leaves it and its log alone."""
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


def refuse_others(path: Path, own: Mark, connection: _Connection) -> None:
    """Refuse a file that says it is of another kind than the one wanted."""
    ((mark, version, schema),) = connection.execute(_MARKS_QUERY)
    if not (mark or version or schema) and path.stat().st_size:
        mark, version, schema = _read_log(path.with_name(f"{path.name}-wal"))
    if mark == own.number or not (mark or version or schema):
        return
    for other in (STUDIES, SWEEP):
        if mark == other.number:
            raise InvalidInput(
                f"{path} is {other.kind} of grbp, not {own.kind}; `{other.command}` opens it"
            )
    raise InvalidInput(
        f"{path} is a SQLite file of another program, not {own.kind}; give another name"
    )


def _read_log(log: Path) -> tuple[int, int, int]:
    """Read what a file says of itself in the log before it, where a new one is kept at first.

    Nobody locks a log, so that it can be opened. After its header, each page has one of its own.
    """
    with suppress(OSError), log.open("rb") as stream:
        header = stream.read(32)
        size, first = 24 + int.from_bytes(header[8:12]), b""
        while len(frame := stream.read(size)) == size and frame[8:16] == header[16:24]:
            number, pages = unpack(">II", frame[:8])
            first = frame[24:124] if number == 1 else first
            if first and pages:  # which only the last page of a transaction says
                schema, version, mark = unpack(">40xI16xI4xI28x", first)
                return mark, version, schema
    return 0, 0, 0
