"""Check every request before anything is done: its host, rate, role, origin, room and size.

A refusal comes before the body is parsed or a study is touched; it is a page or the way to sign in
for a browser, and a problem for a program. Every answer has the same headers that keep browsers
strict, and a line in the log. Nothing stands before the two probes, `/health` and `/ready`.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack, suppress
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlsplit

from anyio.to_thread import current_default_thread_limiter
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.requests import cookie_parser
from starlette.routing import BaseRoute, Match

from grbp.errors import CannotWrite, GrbpError, ReadOnly
from grbp.live.endpoints import STUDY, VIEWER
from grbp.live.transport import NDJSON
from grbp.serve.connections import CONNECTION
from grbp.serve.http_errors import MEDIA_TYPE, ProblemDetail, Refusal, describe_error
from grbp.serve.jobs import JobFailed
from grbp.serve.limits import Places, RateLimiter
from grbp.serve.logs import choose_level, describe_fault
from grbp.serve.proxies import find_client, is_trusted
from grbp.serve.rendering import TEMPLATES
from grbp.serve.settings import Settings
from grbp.serve.state import ADDRESS, CALLER, NOBODY, ROLE, Caller, ServerState
from grbp.serve.tokens import may

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers: TypeAlias = dict[str, str]

_LOG: Final = logging.getLogger("grbp.serve")

_SAFE: Final = ("GET", "HEAD", "OPTIONS")
"""The methods that change nothing."""

COOKIE: Final = "grbp-session"
IMPORT: Final = "/api/import"
STREAM: Final = f"{STUDY}/events.ndjson"
PROBES: Final = ("/health", "/ready")

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


class _Unread(Exception):
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
        self.scope, self._send, self._more, self._patience = scope, send, headers, patience
        # Of a header that is there twice, the last one counts: a proxy adds its own at the end.
        self.headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        self.what = f"{scope['method']} {scope['path']!a}"
        self.address = str((scope.get("client") or ["unknown"])[0])
        self.route, self.status = "(none)", 0
        self.caller: Caller = NOBODY
        self._began, self._note = time.perf_counter(), ""

    @property
    def recording(self) -> bool:
        """Whether the request may change something."""
        return self.scope["method"] not in _SAFE

    async def answer(self, message: Message) -> None:
        """Send a part of the answer, and wait for the client for a while."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = [*message.get("headers", ())]
            names = {name.lower() for name, _ in there}
            more = (pair for pair in self._more if pair[0] not in names)
            message = {**message, "headers": [*there, *more]}
        try:
            async with asyncio.timeout(self._patience):
                await self._send(message)
        except TimeoutError:
            raise _Unread from None

    async def cut_off(self) -> None:
        """Close the connection at once; what waits to be sent would hold it open."""
        connection = self.scope.get("state", {}).get(CONNECTION)
        if connection is not None:
            connection.abort()
            await asyncio.sleep(0)

    def note(self, error: Exception) -> None:
        """Log a fault, or keep for the line of this request what the store says."""
        if isinstance(error, _Unread):
            self._note = " cut off, as nobody read it"
        elif isinstance(error, JobFailed):
            _LOG.error("%s", error)
        elif self.status or not isinstance(error, GrbpError):
            _LOG.error("%s", describe_fault(error))
        elif isinstance(error, CannotWrite | ReadOnly):
            self._note = f" {error}"  # It has nothing of the request.

    def finish(self) -> float:
        """Write the line of the request; return how many seconds it took."""
        took = time.perf_counter() - self._began
        actor = f"{self.caller.actor!a}" if self.caller.actor else "nobody"
        line = self.address, actor, self.what, self.status, 1e3 * took, self._note
        level = choose_level(self.status, recording=self.recording)
        _LOG.log(level, "%s %s %s %s %.1f ms%s", *line)
        return took


class Guard:
    """Check each request, and pass it on to its route; answer what is refused."""

    def __init__(self, app: App, server: ServerState, routes: list[BaseRoute]) -> None:
        self.app, self._server, self._routes = app, server, routes
        self._settings, self._rates = server.settings, RateLimiter(server.settings.rate)
        most, each = server.settings.most_at_once, server.settings.each_bodies
        self._bodies = Places("bodies", most, each)
        self._imports = Places("imports", *[server.settings.most_imports] * 2)
        self._writes = asyncio.Semaphore(server.settings.most_writes)
        self._headers = list(_HEADERS.items())
        if server.settings.secure:
            self._headers.append((b"strict-transport-security", b"max-age=31536000"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            current_default_thread_limiter().total_tokens = self._settings.most_threads
            await self.app(scope, receive, send)
            return
        one = Exchange(scope, send, self._headers, self._settings.patience)
        self._server.under_way[id(one)] = one.what
        async with AsyncExitStack() as held:
            try:
                await self._handle(one, receive, held)
            except Exception as error:
                one.note(error)
                await self._refuse(one, receive, error)
            finally:
                del self._server.under_way[id(one)]
                took = one.finish()
                self._server.metrics.count(scope["method"], one.route, one.status, took)

    async def _handle(self, one: Exchange, receive: Receive, held: AsyncExitStack) -> None:
        """Check a request, take a place for it, and hand it to its route."""
        scope = one.scope
        one.route, needed = self._find_route(scope)
        if one.route not in PROBES:
            scope[ADDRESS] = one.address = self._find_address(one.address, scope)
            self._check_host(one.headers)
            scope[CALLER] = one.caller = await self._find_caller(one.address, one.headers)
            _check_role(one.caller, needed)
            self._check_origin(one)
            receive = await self._admit(one, receive, held)
        if one.recording and not iscoroutinefunction(scope.get("endpoint")):
            await self._wait_for_writes(held)
        await self.app(scope, receive, one.answer)

    async def _refuse(self, one: Exchange, receive: Receive, error: Exception) -> None:
        """Answer what is refused; an answer that has begun ends, so that its reader notices."""
        if isinstance(error, _Unread):
            await one.cut_off()
        elif not one.status:
            problem = describe_error(error)
            detail = self._server.hide_places(problem.detail, one.caller.role)
            problem = problem._replace(detail=detail)
            response = _respond_to_refusal(one.scope, problem, getattr(error, "headers", {}))
            with suppress(_Unread):
                await response(one.scope, receive, one.answer)

    async def _admit(self, one: Exchange, receive: Receive, held: AsyncExitStack) -> Receive:
        """Take a place for a request, or refuse it; read its body, if it has one."""
        who = one.caller.token.id if one.caller.token else one.address
        places = self._server.streams if one.route == STREAM else self._server.requests
        held.enter_context(places.take(who, one.caller.role))
        if not one.recording:
            return receive
        if one.route == IMPORT:
            held.enter_context(self._imports.take(who))
            return _begin_log(one.headers, receive, self._settings)
        with self._bodies.take(who):
            return await _read_body(one.headers, receive, self._settings)

    async def _wait_for_writes(self, held: AsyncExitStack) -> None:
        """Let only so many threads wait for the store to write, so that reading goes on."""
        try:
            async with asyncio.timeout(self._settings.patience):
                await held.enter_async_context(self._writes)
        except TimeoutError:
            raise Refusal(503, "too many entries wait for the store; try again", retry=5) from None

    def _find_address(self, peer: str, scope: Scope) -> str:
        """Return the address of the client, which a proxy passes on; refuse who comes around it."""
        trusted = self._settings.trusted
        if not self._settings.proxied:
            return peer
        if not is_trusted(peer, trusted):
            raise Refusal(
                403, "this server takes requests from its proxies only; --trust-proxy names them"
            )
        seen = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        return find_client(peer, b",".join(seen).decode("latin-1"), trusted)

    def _check_host(self, headers: Headers) -> None:
        """Refuse a host that is not ours: a page of another site may have led here by it."""
        given = headers.get("host", "")
        if _read_hostname(given) not in self._settings.hosts:
            raise Refusal(
                421,
                f"the host {given!a} was addressed; this server answers to"
                f" {', '.join(self._settings.hosts)}: --allow-host adds a name",
            )

    def _find_route(self, scope: Scope) -> tuple[str, str | None]:
        """Find the route of a request; return its path, and its role if it has one."""
        for route in self._routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found)
                described = getattr(route, "openapi_extra", None) or {}
                return getattr(route, "path", "(none)"), described.get(ROLE)
        return "(none)", VIEWER  # A viewer may know that there is nothing here.

    async def _find_caller(self, address: str, headers: Headers) -> Caller:
        """Find out who makes a request; a token that is not known yet may be a new one."""
        bearer, tokens = _read_bearer(headers), self._server.tokens
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
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

    def _check_origin(self, one: Exchange) -> None:
        """Refuse what a page of another site makes a browser send."""
        site, origin = one.headers.get("sec-fetch-site", ""), one.headers.get("origin", "")
        ours = f"{'https' if self._settings.secure else 'http'}://{one.headers['host']}"
        unsafe, foreign = one.recording, site not in ("", "same-origin", "none")
        if unsafe and origin and origin != ours:
            foreign = True
        if unsafe and one.caller.ambient and not (origin or site):  # Browsers send one of them.
            foreign = True
        if foreign and (unsafe or one.scope["path"].startswith("/api/")):
            raise Refusal(403, f"this request came from a page of another site than {ours}")


def _check_role(caller: Caller, needed: str | None) -> None:
    """Refuse a caller whose role is not enough."""
    if needed is None:
        raise Refusal(403, "this route has no role, so it is open to nobody")
    if may(caller.role, needed):
        return
    if caller is NOBODY:
        raise _ask_for_token("a token is needed: send it as `Authorization: Bearer TOKEN`")
    raise Refusal(403, f"{caller.actor!a} has the role {caller.role}; this needs the role {needed}")


def _ask_for_token(why: str) -> Refusal:
    """Return the refusal of a request that needs a valid token."""
    return Refusal(401, why, {"WWW-Authenticate": 'Bearer realm="grbp"'})


def report_refused_token(address: str) -> None:
    """Log that somebody came with a token that is not valid, but nothing of the token."""
    _LOG.warning("sign-in refused: a token that is not valid came from %s", address)


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


async def _read_body(headers: Headers, receive: Receive, settings: Settings) -> Receive:
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


def _begin_log(headers: Headers, receive: Receive, settings: Settings) -> Receive:
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
        raise _too_long(limit)
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
            raise _too_long(limit)
        return message

    return receive_part


def _too_long(limit: int) -> Refusal:
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


def _respond_to_refusal(scope: Any, problem: ProblemDetail, headers: dict[str, str]) -> Response:
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
