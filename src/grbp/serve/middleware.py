"""What every request passes before anything is done: host, rate, role, origin and size.

All that is refused here is refused before a body is parsed or a study is touched, and every answer
leaves with the same headers.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from email.message import Message
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from starlette.routing import BaseRoute, Match

from grbp.errors import GrbpError
from grbp.live.reader import recorder
from grbp.serve.http_errors import Refusal, describe_error, make_problem
from grbp.serve.metrics import Metrics
from grbp.serve.refusals import respond_to_refusal
from grbp.serve.roles import ROLE
from grbp.serve.settings import Settings
from grbp.serve.tokens import ADMIN, ANYBODY, VIEWER, Sessions, Token, Tokens, may

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOG: Final = logging.getLogger("grbp.serve")

COOKIE: Final = "grbp-session"
CALLER: Final = "grbp.caller"
"""Where the scope of a request says who asks."""

IMPORT: Final = "/api/import"
NDJSON: Final = "application/x-ndjson"

_SAFE: Final = ("GET", "HEAD", "OPTIONS")
_FORWARDED: Final = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"via")

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
"""What every answer has, unless it says something else itself."""


class Caller(NamedTuple):
    """Who asks.

    Attributes
    ----------
    actor, role : str
        Who records, and what that one may do.
    token : Token or None
        The token; None where the server is open.
    ambient : bool
        Whether a browser would send along what lets the caller in, whoever made it ask.
    """

    actor: str
    role: str
    token: Token | None
    ambient: bool


NOBODY: Final = Caller("", ANYBODY, None, False)


class Rates:
    """A bucket for everybody who asks, which fills up at a rate."""

    MOST: Final = 10_000

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, who: str) -> None:
        """Take a request from somebody's bucket, or refuse it."""
        now, full = self._clock(), max(1.0, 2.0 * self._rate)
        left, then = self._left.pop(who, (full, now))
        left = min(full, left + (now - then) * self._rate)
        self._left[who] = (left - 1.0 if left >= 1.0 else left), now
        if len(self._left) > self.MOST:  # Whoever has not asked for longest has a full one.
            del self._left[next(iter(self._left))]
        if left < 1.0:
            wait = int((1.0 - left) / self._rate) + 1
            raise Refusal(
                429,
                f"more than {self._rate:g} requests a second were made; wait for {wait} s",
                {"Retry-After": str(wait)},
            )


class Guard:
    """The door: an ASGI application around the one with the routes."""

    def __init__(
        self,
        app: App,
        *,
        routes: list[BaseRoute],
        settings: Settings,
        tokens: Tokens,
        sessions: Sessions,
        metrics: Metrics,
    ) -> None:
        self.app, self._routes, self._settings = app, routes, settings
        self._tokens, self._sessions, self._metrics = tokens, sessions, metrics
        self._rates = Rates(settings.rate)
        self._user, self._inside = recorder(None), 0
        self._headers = list(_HEADERS.items())
        if settings.secure:
            self._headers.append((b"strict-transport-security", b"max-age=31536000"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        began, status, route, caller = time.perf_counter(), 0, "(none)", NOBODY

        async def answer(message: MutableMapping[str, Any]) -> None:
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
            headers = dict(scope["headers"])
            self._check_host(headers)
            self._check_room()
            route, needed = self._find_route(scope)
            caller = self._find_caller(scope, headers)
            self._check_role(caller, needed)
            self._check_origin(scope, headers, caller)
            scope[CALLER] = caller
            if scope["method"] not in _SAFE:
                receive = await self._read_body(route, headers, receive)
            await self.app(scope, receive, answer)
        except GrbpError as error:
            response = respond_to_refusal(
                scope, describe_error(error), getattr(error, "headers", {})
            )
            await response(scope, receive, answer)
        except Exception as error:
            _log_fault(error)
            # An answer that has begun is cut off, so that whoever reads it notices.
            if not status:
                problem = make_problem(
                    500, "fault", "the server failed at this; its log says where"
                )
                await respond_to_refusal(scope, problem, {})(scope, receive, answer)
        finally:
            self._inside -= 1
            took = time.perf_counter() - began
            self._metrics.count(scope["method"], route, status, took)
            what = scope["method"], ascii(scope["path"]), status, 1e3 * took
            LOG.debug("%s %s %s %.1f ms %s", *what, caller.actor or "nobody")

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        """Refuse another name than our own: a page from elsewhere may have led here by it."""
        given = headers.get(b"host", b"").decode("latin-1")
        if _read_hostname(given) not in self._settings.hosts:
            raise Refusal(
                421,
                f"the host {given!a} was asked for; this server answers to"
                f" {', '.join(self._settings.hosts)}: --allow-host adds a name",
            )

    def _check_room(self) -> None:
        """Refuse one too many."""
        if self._inside > self._settings.most_at_once:
            raise Refusal(503, "too many ask at once; ask again", {"Retry-After": "1"})

    def _find_route(self, scope: Scope) -> tuple[str, str | None]:
        """Find the route of a request; return its path and the role it needs, None without one."""
        for route in self._routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found)
                described = getattr(route, "openapi_extra", None) or {}
                return getattr(route, "path", "(none)"), described.get(ROLE)
        return "(none)", VIEWER  # Whoever may look is told that there is nothing.

    def _find_caller(self, scope: Scope, headers: dict[bytes, bytes]) -> Caller:
        """Find out who asks."""
        token, cookie = _read_bearer(headers), _read_cookie(headers)
        found: Token | None = None
        try:
            is_open = not (self._settings.exposed or self._tokens.any)
            if token:
                found = self._tokens.find(token)
            elif cookie:
                found = self._sessions.find(cookie)
        except GrbpError as error:
            raise Refusal(503, f"nobody can be let in: {error}") from error
        self._rates.take(found.id if found else self._find_address(scope, headers))
        if found:
            return Caller(found.label, found.role, found, not token)
        if token and not is_open:
            raise _ask_for_token("the token is unknown, has expired or was revoked")
        if is_open and any(name in headers for name in _FORWARDED):
            raise Refusal(403, "this came through a proxy; start the server with --behind-proxy")
        return Caller(self._user, ADMIN, None, True) if is_open else NOBODY

    def _find_address(self, scope: Scope, headers: dict[bytes, bytes]) -> str:
        """Return the address that asks: what the proxy says, if one stands before us."""
        if self._settings.proxied and (seen := headers.get(b"x-forwarded-for")):
            return seen.decode("latin-1").rpartition(",")[2].strip()[:100]
        return str((scope.get("client") or ["unknown"])[0])

    def _check_role(self, caller: Caller, needed: str | None) -> None:
        """Refuse whoever may not do this."""
        if needed is None:
            raise Refusal(403, "this route has no role yet, so it is open to nobody")
        if may(caller.role, needed):
            return
        if caller is NOBODY:
            raise _ask_for_token("a token is needed: send it as `Authorization: Bearer TOKEN`")
        raise Refusal(
            403, f"{caller.actor!a} has the role {caller.role}; this needs the role {needed}"
        )

    def _check_origin(self, scope: Scope, headers: dict[bytes, bytes], caller: Caller) -> None:
        """Refuse what a page from elsewhere makes a browser ask for."""
        site = headers.get(b"sec-fetch-site", b"").decode("latin-1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        scheme = "https" if self._settings.secure else "http"
        ours = f"{scheme}://{headers[b'host'].decode('latin-1')}"
        unsafe = scope["method"] not in _SAFE
        foreign = site not in ("", "same-origin", "none")
        if unsafe and origin and origin != ours:
            foreign = True
        cookie = caller.ambient and caller.token is not None
        if unsafe and cookie and not (origin or site):  # Every browser says one of them.
            foreign = True
        if foreign and (unsafe or scope["path"].startswith("/api/")):
            raise Refusal(403, f"this came from another page than those of {ours}")

    async def _read_body(self, route: str, headers: dict[bytes, bytes], receive: Receive) -> Any:
        """Read the body, unless it is a log, which is read as it comes; refuse what is too long."""
        large = route == IMPORT
        limit = self._settings.import_limit if large else self._settings.body_limit
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18 or int(length) > limit:
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


def refuse_length(limit: int) -> Refusal:
    """Return the refusal of a body that is too long."""
    return Refusal(413, f"the body is too long; it must have at most {limit:,} bytes")


def _replay_message(message: MutableMapping[str, Any], receive: Receive) -> Receive:
    """Return what gives a message that has arrived already, and then what follows it."""
    left = [message]

    async def give() -> MutableMapping[str, Any]:
        return left.pop() if left else await receive()

    return give


def _check_type(headers: dict[bytes, bytes], wanted: str) -> None:
    """Refuse a body of another type."""
    said = Message()
    said["content-type"] = headers.get(b"content-type", b"").decode("latin-1") or "none/none"
    given = said.get_content_type()
    if given != wanted:
        raise Refusal(415, f"a body of the type {given!a} was sent; it must be {wanted}")


def _ask_for_token(why: str) -> Refusal:
    return Refusal(401, why, {"WWW-Authenticate": 'Bearer realm="grbp"'})


def _read_bearer(headers: dict[bytes, bytes]) -> str:
    """Return the token that is sent along, if one is."""
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _read_cookie(headers: dict[bytes, bytes]) -> str:
    """Return the cookie of a session, if there is one."""
    if b"cookie" not in headers:
        return ""
    try:
        jar = SimpleCookie(headers[b"cookie"].decode("latin-1"))
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""


def _read_hostname(given: str) -> str:
    """Return the name in a Host header, without its port; empty if it is none."""
    with suppress(ValueError):
        parts = urlsplit(f"//{given}")
        if parts.netloc == given and "@" not in given and parts.port != 0:
            return parts.hostname or ""
    return ""


def _log_fault(error: Exception) -> None:
    """Log what failed and where, without what was sent."""
    places, trace = [], error.__traceback__
    while trace is not None:
        places.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    LOG.error("%s at %s", type(error).__name__, " < ".join(reversed(places[-6:])))
