"""A request and its answer: the headers that each one has, its time, and its line in the log."""

import asyncio
import logging
import time
from typing import Final

from grbp.errors import CannotWrite, GrbpError, ReadOnly
from grbp.serve.bodies import Message, Scope, Send
from grbp.serve.connections import CONNECTION
from grbp.serve.jobs import JobFailed
from grbp.serve.logs import choose_level, describe_fault
from grbp.serve.state import NOBODY, Caller

LOG: Final = logging.getLogger("grbp.serve")

SAFE: Final = ("GET", "HEAD", "OPTIONS")
"""The methods that change nothing."""


class Unread(Exception):
    """An answer was not read for so long that it was cut off."""


class Exchange:
    """A request, who made it, and how far its answer is.

    Parameters
    ----------
    scope : Scope
    send : callable
        What sends a message to the client.
    headers : list
        The headers of an answer that does not set them itself.
    patience : float
        How many seconds the client may not read.
    """

    def __init__(
        self, scope: Scope, send: Send, headers: list[tuple[bytes, bytes]], patience: float
    ) -> None:
        self.scope, self._send, self._headers, self._patience = scope, send, headers, patience
        self.what = f"{scope['method']} {scope['path']!a}"
        self.address = read_peer(scope)
        self.route, self.status = "(none)", 0
        self.caller: Caller = NOBODY
        self._began, self._note = time.perf_counter(), ""

    @property
    def recording(self) -> bool:
        """Whether the request may change something."""
        return self.scope["method"] not in SAFE

    async def answer(self, message: Message) -> None:
        """Send a part of the answer, and wait for the client for a while."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = [*message.get("headers", ())]
            names = {name.lower() for name, _ in there}
            more = (pair for pair in self._headers if pair[0] not in names)
            message = {**message, "headers": [*there, *more]}
        try:
            async with asyncio.timeout(self._patience):
                await self._send(message)
        except TimeoutError:
            raise Unread from None

    async def cut_off(self) -> None:
        """Close the connection at once; what waits to be sent would hold it open."""
        connection = self.scope.get("state", {}).get(CONNECTION)
        if connection is not None:
            connection.abort()
            await asyncio.sleep(0)

    def note(self, error: Exception) -> None:
        """Log a fault, or keep for the line of this request what the store says."""
        if isinstance(error, Unread):
            self._note = " cut off, as nobody read it"
        elif isinstance(error, JobFailed):
            LOG.error("%s", error)
        elif self.status or not isinstance(error, GrbpError):
            LOG.error("%s", describe_fault(error))
        elif isinstance(error, CannotWrite | ReadOnly):
            self._note = f" {error}"  # It has nothing of the request.

    def finish(self) -> float:
        """Write the line of the request; return how many seconds it took."""
        took = time.perf_counter() - self._began
        actor = f"{self.caller.actor!a}" if self.caller.actor else "nobody"
        line = self.address, actor, self.what, self.status, 1e3 * took, self._note
        level = choose_level(self.status, recording=self.recording)
        LOG.log(level, "%s %s %s %s %.1f ms%s", *line)
        return took


def read_peer(scope: Scope) -> str:
    """Return the address from which a connection came."""
    return str((scope.get("client") or ["unknown"])[0])
