"""How a server behaves, and what its client must know as well."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")

NDJSON: Final = "application/x-ndjson"
"""The type of a log: a line of JSON for each event."""


@dataclass(frozen=True)
class Settings:
    """How a server behaves.

    Attributes
    ----------
    hosts : tuple of str
        The names by which it is addressed, without ports.
    secure : bool
        Whether browsers reach it by HTTPS.
    proxied : bool
        Whether a proxy stands before it, which passes on the address of each client.
    rate : float
        How many requests a second one token or address may make; bursts may be twice as large.
    body_limit, import_limit : int
        The largest body, and the largest log to import, in bytes.
    most_at_once : int
        How many requests are answered at the same time, streams included.
    longest_follow, patience : float
        How many seconds a stream of events may last, and a body may take to arrive.
    results : Path
        Where `grbp reproduce` has left its results, for the verdicts of the explorer.
    """

    hosts: tuple[str, ...] = LOOPBACK
    secure: bool = False
    proxied: bool = False
    rate: float = 1_000.0
    body_limit: int = 65_536
    import_limit: int = 2**30
    most_at_once: int = 500
    longest_follow: float = 3_600.0
    patience: float = 30.0
    results: Path = Path("results")
