"""Receive the bodies of requests: of the right type, not too long, and in time."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from grbp.serve.http_errors import Refusal
from grbp.serve.settings import NDJSON, Settings

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Headers: TypeAlias = dict[str, str]


async def read_body(headers: Headers, receive: Receive, settings: Settings) -> Receive:
    """Read a body, and return a function that receives it once more; refuse what is too long."""
    limit = settings.body_limit
    _check_length(headers, limit)
    parts, size, more = [], 0, True
    try:
        async with asyncio.timeout(settings.patience):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return _replay_message(message, receive)
                parts.append(message.get("body", b""))
                size, more = size + len(parts[-1]), message.get("more_body", False)
                if size > limit:
                    raise refuse_length(limit)
    except TimeoutError:
        raise _refuse_slowness() from None
    if size:
        _check_type(headers, "application/json")
    return _replay_message({"type": "http.request", "body": b"".join(parts)}, receive)


def begin_log(headers: Headers, receive: Receive, settings: Settings) -> Receive:
    """Return a function that receives a log part by part, and does not wait long for the next."""
    _check_length(headers, settings.import_limit)
    _check_type(headers, NDJSON)
    more = True

    async def receive_part() -> Message:
        nonlocal more
        if not more:
            return await receive()
        try:
            async with asyncio.timeout(settings.patience):
                message = await receive()
        except TimeoutError:
            raise _refuse_slowness() from None
        more = message.get("more_body", False)
        return message

    return receive_part


def refuse_length(limit: int) -> Refusal:
    """Return the refusal of a body that is too long."""
    return Refusal(413, f"the body is too long; it must have at most {limit:,} bytes")


def _refuse_slowness() -> Refusal:
    """Return the refusal of a body that does not come."""
    return Refusal(408, "the body did not arrive in time; send it again")


def _check_length(headers: Headers, limit: int) -> None:
    """Refuse a body that is said to be too long, before any of it is read."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 18 or int(length) > limit:
        raise refuse_length(limit)


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
