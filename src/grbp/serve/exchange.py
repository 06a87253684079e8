"""A request and its answer: the body, the headers of every answer, a line in the log, refusals.

Bodies must be of the right type, not too long, and in time. What is refused is a page or the way to
sign in for a browser, and a problem for a program.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from fastapi.responses import HTMLResponse, RedirectResponse, Response

from grbp.errors import CannotWrite, GrbpError, ReadOnly
from grbp.serve.connections import CONNECTION
from grbp.serve.http_errors import MEDIA_TYPE, ProblemDetail, Refusal
from grbp.serve.jobs import JobFailed
from grbp.serve.logs import choose_level, describe_fault
from grbp.serve.rendering import TEMPLATES
from grbp.serve.settings import NDJSON, Settings
from grbp.serve.state import NOBODY, Caller

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Headers: TypeAlias = dict[str, str]

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


async def read_body(headers: Headers, receive: Receive, settings: Settings) -> Receive:
    """Read a JSON body, and return a function that receives it once more."""
    receive_part = _bound_body(headers, receive, settings.body_limit, settings.patience)
    parts, more = [], True
    try:
        async with asyncio.timeout(settings.patience):
            while more:
                message = await receive_part()
                if message["type"] == "http.disconnect":
                    return _replay_message(message, receive)
                parts.append(message.get("body", b""))
                more = message.get("more_body", False)
    except TimeoutError:
        raise _refuse_slowness() from None
    body = b"".join(parts)
    if body:
        _check_type(headers, "application/json")
    return _replay_message({"type": "http.request", "body": body}, receive)


def begin_log(headers: Headers, receive: Receive, settings: Settings) -> Receive:
    """Return a function that receives a log part by part."""
    receive_part = _bound_body(headers, receive, settings.import_limit, settings.patience)
    _check_type(headers, NDJSON)
    return receive_part


def _bound_body(headers: Headers, receive: Receive, limit: int, patience: float) -> Receive:
    """Return a function that receives a body, but not too much, and waits long for no part.

    A body that is said to be too long is refused before any of it is read.
    """
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 18 or int(length) > limit:
        raise _refuse_length(limit)
    size, more = 0, True

    async def receive_part() -> Message:
        nonlocal size, more
        if not more:
            return await receive()
        try:
            async with asyncio.timeout(patience):
                message = await receive()
        except TimeoutError:
            raise _refuse_slowness() from None
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        if size > limit:
            raise _refuse_length(limit)
        return message

    return receive_part


def _refuse_length(limit: int) -> Refusal:
    """Return the refusal of a body that is too long."""
    return Refusal(413, f"the body is too long; it must have at most {limit:,} bytes")


def _refuse_slowness() -> Refusal:
    """Return the refusal of a body that does not come."""
    return Refusal(408, "the body did not arrive in time; send it again")


def _check_type(headers: Headers, wanted: str) -> None:
    """Refuse a body of another type."""
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != wanted:
        raise Refusal(415, f"a body of the type {given!a} was sent; it must be {wanted}")


def _replay_message(message: Message, receive: Receive) -> Receive:
    """Return a function that receives a message which has arrived already, then the rest."""
    left = [message]

    async def give() -> Message:
        return left.pop() if left else await receive()

    return give


def respond_to_refusal(scope: Any, problem: ProblemDetail, headers: dict[str, str]) -> Response:
    """Return the answer to a request that is refused."""
    if not _wants_page(scope):
        return Response(problem.body, problem.status, headers, MEDIA_TYPE)
    if problem.status == HTTPStatus.UNAUTHORIZED:
        query = scope["query_string"].decode("latin-1")
        wanted = local_address(scope["path"] + (f"?{query}" if query else ""))
        return RedirectResponse(f"/sign-in?next={quote(wanted, '')}", 303, headers)
    page = TEMPLATES.get_template("problem.html").render(problem._asdict())
    return HTMLResponse(page, problem.status, headers)


def _wants_page(scope: Any) -> bool:
    """Return whether a browser asks for a page."""
    return (
        not scope["path"].startswith(("/api/", "/static/"))
        and scope["method"] == "GET"
        and b"text/html" in dict(scope["headers"]).get(b"accept", b"")
    )


def local_address(address: str) -> str:
    """Return an address of ours, whatever was asked for."""
    ours = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if ours and address.isprintable() else "/"
