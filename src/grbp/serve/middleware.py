"""What every request passes before anything is done: host, rate, role, origin and size.

All that is refused here is refused before a body is parsed or a study is touched, and every answer
leaves with the same headers.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from grbp.errors import GrbpError
from grbp.live.arguments import check_recorder
from grbp.serve.access import ADMIN, NOBODY, ROUTES, VIEWER, Caller, Sessions, may
from grbp.serve.http_errors import MEDIA_TYPE, ProblemDetail, Refusal, describe_error, make_problem
from grbp.serve.metrics import Metrics
from grbp.serve.tokens import Token, Tokens

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
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")

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


@dataclass(frozen=True)
class Settings:
    """How a server is to behave.

    Attributes
    ----------
    hosts : tuple of str
        The names under which it may be addressed, without ports.
    secure : bool
        Whether browsers reach it by HTTPS.
    exposed : bool
        Whether others than this machine's users can reach it; then it is never open.
    proxied : bool
        Whether a proxy stands before it, which says who asks.
    rate : float
        How many requests a second a token or an address may make, and twice as many at once.
    body_limit, import_limit : int
        The largest body, and the largest log to import, in bytes.
    most_at_once : int
        How many requests are answered at the same time, streams among them.
    longest_follow, patience : float
        How many seconds a stream of events may last, and a body may take to arrive.
    results : Path
        Where `grbp reproduce` has left its results, for the verdicts of the explorer.
    """

    hosts: tuple[str, ...] = LOOPBACK
    secure: bool = False
    exposed: bool = False
    proxied: bool = False
    rate: float = 1_000.0
    body_limit: int = 65_536
    import_limit: int = 2**30
    most_at_once: int = 500
    longest_follow: float = 3_600.0
    patience: float = 30.0
    results: Path = Path("results")


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


def every_route(routes: Iterable[Any]) -> Iterator[Any]:
    """Yield the routes of an application, also of routers that were included."""
    for route in routes:
        if hasattr(route, "path_regex"):
            yield route
        else:
            yield from every_route(route.original_router.routes)


class Guard:
    """The door: an ASGI application around the one with the routes."""

    def __init__(
        self,
        app: App,
        *,
        routes: list[Any],
        settings: Settings,
        tokens: Tokens,
        sessions: Sessions,
        metrics: Metrics,
    ) -> None:
        self.app, self._routes, self._settings = app, routes, settings
        self._tokens, self._sessions, self._metrics = tokens, sessions, metrics
        self._rates = Rates(settings.rate)
        self._user, self._inside = check_recorder(None), 0
        self._known: list[tuple[Any, Any, str]] = []
        self._counted = -1
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
            route, needed = self._find_route(scope["method"], scope["path"])
            caller = self._find_caller(scope, headers)
            self._check_role(caller, needed)
            self._check_origin(scope, headers, caller)
            scope[CALLER] = caller
            if scope["method"] not in _SAFE:
                receive = await self._read_body(route, headers, receive)
            await self.app(scope, receive, answer)
        except GrbpError as error:
            await _send_problem(answer, describe_error(error), getattr(error, "headers", {}))
        except Exception as error:
            _log_fault(error)
            # An answer that has begun is cut off, so that whoever reads it notices.
            if not status:
                said = "the server failed at this; its log says where"
                await _send_problem(answer, make_problem(500, "fault", said), {})
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

    def _find_route(self, method: str, path: str) -> tuple[str, str | None]:
        """Return the route of a path and the role it needs; None if it is open to nobody."""
        if self._counted != len(self._routes):  # Nobody slips in by a route that was added later.
            self._counted = len(self._routes)
            self._known = [
                (one.path_regex, getattr(one, "methods", None), one.path)
                for one in every_route(self._routes)
            ]
        for regex, methods, route in self._known:
            if regex.match(path) and (methods is None or method in methods):
                verb = "GET" if method == "HEAD" else method
                return route, ROUTES.get((verb, route))
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
            raise Refusal(403, "this route has no role yet, so that it is open to nobody")
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


async def _send_problem(send: Send, said: ProblemDetail, headers: dict[str, str]) -> None:
    """Answer with a problem."""
    pairs = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", b"%d" % len(said.body))]
    pairs += [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": said.status, "headers": pairs})
    await send({"type": "http.response.body", "body": said.body})
