"""Check every request before anything is done: its host, rate, role, origin and size.

A refusal comes before the body is parsed or a study is touched, and every answer has the same
headers that keep browsers strict.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from traceback import extract_tb
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from starlette.requests import cookie_parser
from starlette.routing import BaseRoute, Match

from grbp.errors import GrbpError
from grbp.serve.http_errors import Refusal, describe_error
from grbp.serve.refusals import respond_to_refusal
from grbp.serve.roles import ROLE
from grbp.serve.settings import NDJSON
from grbp.serve.state import ADDRESS, CALLER, NOBODY, Caller, ServerState
from grbp.serve.tokens import VIEWER, may

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers: TypeAlias = dict[str, str]

LOG: Final = logging.getLogger("grbp.serve")

COOKIE: Final = "grbp-session"
IMPORT: Final = "/api/import"

_SAFE: Final = ("GET", "HEAD", "OPTIONS")

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src"
    " 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    b"content-security-policy": _POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"x-frame-options": b"DENY",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}
"""The headers of every answer that does not set them itself."""


class RateLimiter:
    """How many requests each caller may still make: a bucket that fills up at a rate."""

    MOST: Final = 10_000

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, who: str) -> None:
        """Count a request of somebody, or refuse it."""
        now, full = self._clock(), max(1.0, 2.0 * self._rate)
        left, then = self._left.pop(who, (full, now))
        left = min(full, left + (now - then) * self._rate)
        self._left[who] = (left - 1.0 if left >= 1.0 else left), now
        if len(self._left) > self.MOST:  # The bucket that was not used for longest is full again.
            del self._left[next(iter(self._left))]
        if left < 1.0:
            wait = int((1.0 - left) / self._rate) + 1
            raise Refusal(
                429,
                f"there were more than {self._rate:g} requests a second; wait for {wait} s",
                {"Retry-After": str(wait)},
            )


class Guard:
    """Check each request, and pass it on to its route; answer what is refused."""

    def __init__(self, app: App, server: ServerState, routes: list[BaseRoute]) -> None:
        self.app, self._server, self._routes = app, server, routes
        self._settings, self._rates = server.settings, RateLimiter(server.settings.rate)
        self._inside = 0
        self._headers = list(_HEADERS.items())
        if server.settings.secure:
            self._headers.append((b"strict-transport-security", b"max-age=31536000"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        began, status, route, caller = time.perf_counter(), 0, "(none)", NOBODY

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                there = [*message.get("headers", ())]
                names = {name.lower() for name, _ in there}
                more = (pair for pair in self._headers if pair[0] not in names)
                message = {**message, "headers": [*there, *more]}
            await send(message)

        self._inside += 1
        try:
            # Of a header that is there twice, the last one counts: a proxy adds its own at the end.
            headers = {
                name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
            }
            self._check_host(headers)
            self._check_room()
            route, needed = self._find_route(scope)
            scope[CALLER] = caller = await self._find_caller(scope, headers)
            _check_role(caller, needed)
            self._check_origin(scope, headers, caller)
            if scope["method"] not in _SAFE:
                receive = await self._read_body(route, headers, receive)
            await self.app(scope, receive, answer)
        except Exception as error:
            if status or not isinstance(error, GrbpError):
                _log_fault(error)
            if not status:  # An answer that has begun is cut off, so that whoever reads it notices.
                response = respond_to_refusal(
                    scope, describe_error(error), getattr(error, "headers", {})
                )
                await response(scope, receive, answer)
        finally:
            self._inside -= 1
            took = time.perf_counter() - began
            self._server.metrics.count(scope["method"], route, status, took)
            what = scope["method"], ascii(scope["path"]), status, 1e3 * took
            LOG.debug("%s %s %s %.1f ms %s", *what, caller.actor or "nobody")

    def _check_host(self, headers: Headers) -> None:
        """Refuse a host that is not ours: a page of another site may have led here by it."""
        given = headers.get("host", "")
        if _read_hostname(given) not in self._settings.hosts:
            raise Refusal(
                421,
                f"the host {given!a} was addressed; this server answers to"
                f" {', '.join(self._settings.hosts)}: --allow-host adds a name",
            )

    def _check_room(self) -> None:
        """Refuse one request too many at once."""
        if self._inside > self._settings.most_at_once:
            raise Refusal(503, "too many requests at once; try again", {"Retry-After": "1"})

    def _find_route(self, scope: Scope) -> tuple[str, str | None]:
        """Find the route of a request; return its path, and its role if it has one."""
        for route in self._routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found)
                described = getattr(route, "openapi_extra", None) or {}
                return getattr(route, "path", "(none)"), described.get(ROLE)
        return "(none)", VIEWER  # A viewer may know that there is nothing here.

    async def _find_caller(self, scope: Scope, headers: Headers) -> Caller:
        """Find out who makes a request; a token that is not known yet may be a new one."""
        bearer, tokens = _read_bearer(headers), self._server.tokens
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        address = scope[ADDRESS] = self._find_address(scope, headers)
        found, counted = None, False
        try:
            if bearer or cookie:
                await tokens.keep_up()
            if bearer:
                found = tokens.find(bearer)
                if found is None:
                    self._rates.take(address)  # first: whoever guesses must not keep the store busy
                    found, counted = await tokens.recognise(bearer), True
            elif cookie:
                found = self._server.sessions.find(cookie)
        except Refusal:
            raise
        except GrbpError as error:
            raise Refusal(503, f"nobody can be let in: {error}") from error
        if not counted:
            self._rates.take(found.id if found else address)
        if found:
            return Caller(found.label, found.role, found, not bearer)
        if bearer:
            report_refused_token(address)
            raise _ask_for_token("the token is unknown, has expired or was revoked")
        return NOBODY

    def _find_address(self, scope: Scope, headers: Headers) -> str:
        """Return the address of the client, which a proxy passes on if there is one."""
        if self._settings.proxied and (seen := headers.get("x-forwarded-for")):
            return seen.rpartition(",")[2].strip()[:100]
        return str((scope.get("client") or ["unknown"])[0])

    def _check_origin(self, scope: Scope, headers: Headers, caller: Caller) -> None:
        """Refuse what a page of another site makes a browser send."""
        site, origin = headers.get("sec-fetch-site", ""), headers.get("origin", "")
        scheme = "https" if self._settings.secure else "http"
        ours = f"{scheme}://{headers['host']}"
        unsafe = scope["method"] not in _SAFE
        foreign = site not in ("", "same-origin", "none")
        if unsafe and origin and origin != ours:
            foreign = True
        if unsafe and caller.ambient and not (origin or site):  # Every browser sends one of them.
            foreign = True
        if foreign and (unsafe or scope["path"].startswith("/api/")):
            raise Refusal(403, f"this request came from a page of another site than {ours}")

    async def _read_body(self, route: str, headers: Headers, receive: Receive) -> Any:
        """Read the body, but leave a log to be read as it arrives; refuse what is too long."""
        large = route == IMPORT
        limit = self._settings.import_limit if large else self._settings.body_limit
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > limit:
            raise refuse_length(limit)
        wanted = NDJSON if large else "application/json"
        if large:
            _check_type(headers, wanted)
            return receive
        parts, size, more = [], 0, True
        try:
            async with asyncio.timeout(self._settings.patience):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return _replay_message(message, receive)
                    parts.append(message.get("body", b""))
                    size, more = size + len(parts[-1]), message.get("more_body", False)
                    if size > limit:
                        raise refuse_length(limit)
        except TimeoutError:
            raise Refusal(408, "the body did not arrive in time; send it again") from None
        if size:
            _check_type(headers, wanted)
        return _replay_message({"type": "http.request", "body": b"".join(parts)}, receive)


def _check_role(caller: Caller, needed: str | None) -> None:
    """Refuse a caller whose role is not enough."""
    if needed is None:
        raise Refusal(403, "this route has no role, so it is open to nobody")
    if may(caller.role, needed):
        return
    if caller is NOBODY:
        raise _ask_for_token("a token is needed: send it as `Authorization: Bearer TOKEN`")
    raise Refusal(403, f"{caller.actor!a} has the role {caller.role}; this needs the role {needed}")


def refuse_length(limit: int) -> Refusal:
    """Return the refusal of a body that is too long."""
    return Refusal(413, f"the body is too long; it must have at most {limit:,} bytes")


def _replay_message(message: Message, receive: Receive) -> Receive:
    """Return a function that receives a message which has arrived already, then the rest."""
    left = [message]

    async def give() -> Message:
        return left.pop() if left else await receive()

    return give


def _check_type(headers: Headers, wanted: str) -> None:
    """Refuse a body of another type."""
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != wanted:
        raise Refusal(415, f"a body of the type {given!a} was sent; it must be {wanted}")


def _ask_for_token(why: str) -> Refusal:
    """Return the refusal of a request that needs a valid token."""
    return Refusal(401, why, {"WWW-Authenticate": 'Bearer realm="grbp"'})


def report_refused_token(address: str) -> None:
    """Log that somebody came with a token that is not valid, but nothing of the token."""
    LOG.warning("sign-in refused: a token that is not valid came from %s", address)


def _read_bearer(headers: Headers) -> str:
    """Return the token of a request, or an empty text."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _read_hostname(given: str) -> str:
    """Return the name in a Host header without its port; empty if the header is malformed."""
    with suppress(ValueError):
        parts = urlsplit(f"//{given}")
        if parts.netloc == given and "@" not in given and parts.port != 0:
            return parts.hostname or ""
    return ""


def _log_fault(error: Exception) -> None:
    """Log what failed and where, but nothing that was sent."""
    places = [f"{one.filename}:{one.lineno}" for one in extract_tb(error.__traceback__)[-6:]]
    LOG.error("%s at %s", type(error).__name__, " < ".join(reversed(places)))
