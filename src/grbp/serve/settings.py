"""How a server behaves."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grbp.live.transport import LOOPBACK
from grbp.serve.proxies import THIS_MACHINE, Network

EVENT_STREAM: Final = "text/event-stream"
"""The type of a stream of events as browsers read it."""


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
    trusted : tuple of Network
        The proxies that are believed; behind a proxy, requests come from them and nobody else.
    rate : float
        How many requests a second one token or address may make; bursts may be twice as large.
    body_limit, import_limit : int
        The largest body, and the largest log to import, in bytes.
    most_at_once, each_at_once : int
        How many requests are answered at the same time, in all and of one token or address.
    most_streams, each_streams : int
        How many streams of events there may be, which count for themselves.
    most_connections, each_connections : int
        How many connections there may be, in all and from one address.
    each_bodies, most_imports : int
        How many bodies of one token or address may be on their way, and how many logs in all.
    most_threads, most_writes, stream_threads : int
        How many threads answer, how many of them may wait for the store to write, and how many
        more read for streams.
    most_jobs : int
        How many checks, exports, imports and backups may run at the same time.
    longest_follow, longest_job : float
        How many seconds a stream of events may last, and a check, export, import or backup.
    patience : float
        How many seconds a body may take to arrive, an answer may go unread, and an entry may wait
        for a thread.
    head_patience : float
        How many seconds a request may take to begin.
    ready_within : float
        How many seconds the store has to show that it can be written to.
    results : Path
        Where `grbp reproduce` has left its results, for the verdicts of the explorer.
    """

    hosts: tuple[str, ...] = LOOPBACK
    secure: bool = False
    proxied: bool = False
    trusted: tuple[Network, ...] = THIS_MACHINE
    rate: float = 1_000.0
    body_limit: int = 65_536
    import_limit: int = 2**30
    most_at_once: int = 500
    each_at_once: int = 64
    most_streams: int = 200
    each_streams: int = 10
    most_connections: int = 1_000
    each_connections: int = 100
    each_bodies: int = 16
    most_imports: int = 2
    most_threads: int = 100
    most_writes: int = 32
    stream_threads: int = 8
    most_jobs: int = 2
    longest_follow: float = 3_600.0
    longest_job: float = 3_600.0
    patience: float = 30.0
    head_patience: float = 10.0
    ready_within: float = 3.0
    results: Path = Path("results")
