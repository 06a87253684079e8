"""Check every request before anything is done: its host, rate, role, origin, room and size.

A refusal comes before the body is parsed or a study is touched, and every answer has the same
headers that keep browsers strict. Nothing stands before the two probes, `/health` and `/ready`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from inspect import iscoroutinefunction
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from anyio.to_thread import current_default_thread_limiter
from starlette.requests import cookie_parser
from starlette.routing import BaseRoute, Match

from grbp.errors import GrbpError
from grbp.serve.endpoints import STUDY
from grbp.serve.exchange import (
    LOG,
    SAFE,
    Exchange,
    Headers,
    Receive,
    Scope,
    Send,
    Unread,
    begin_log,
    read_body,
    respond_to_refusal,
)
from grbp.serve.http_errors import Refusal, describe_error
from grbp.serve.limits import Places, RateLimiter
from grbp.serve.proxies import find_client, is_trusted
from grbp.serve.state import ADDRESS, CALLER, NOBODY, ROLE, Caller, ServerState
from grbp.serve.tokens import VIEWER, may

App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

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
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
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
        # Of a header that is there twice, the last one counts: a proxy adds its own at the end.
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        one.route, needed = self._find_route(scope)
        if one.route not in PROBES:
            scope[ADDRESS] = one.address = self._find_address(one.address, scope)
            self._check_host(headers)
            scope[CALLER] = one.caller = await self._find_caller(one.address, headers)
            _check_role(one.caller, needed)
            self._check_origin(scope, headers, one.caller)
            receive = await self._admit(one, headers, receive, held)
        if one.recording and not iscoroutinefunction(scope.get("endpoint")):
            await self._wait_for_writes(held)
        await self.app(scope, receive, one.answer)

    async def _refuse(self, one: Exchange, receive: Receive, error: Exception) -> None:
        """Answer what is refused; an answer that has begun ends, so that its reader notices."""
        if isinstance(error, Unread):
            await one.cut_off()
        elif not one.status:
            problem = describe_error(error)
            detail = self._server.hide_places(problem.detail, one.caller.role)
            problem = problem._replace(detail=detail)
            response = respond_to_refusal(one.scope, problem, getattr(error, "headers", {}))
            with suppress(Unread):
                await response(one.scope, receive, one.answer)

    async def _admit(
        self, one: Exchange, headers: Headers, receive: Receive, held: AsyncExitStack
    ) -> Receive:
        """Take a place for a request, or refuse it; read its body, if it has one."""
        who = one.caller.token.id if one.caller.token else one.address
        places = self._server.streams if one.route == STREAM else self._server.requests
        held.enter_context(places.take(who, one.caller.role))
        if not one.recording:
            return receive
        if one.route == IMPORT:
            held.enter_context(self._imports.take(who))
            return begin_log(headers, receive, self._settings)
        with self._bodies.take(who):
            return await read_body(headers, receive, self._settings)

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

    def _check_origin(self, scope: Scope, headers: Headers, caller: Caller) -> None:
        """Refuse what a page of another site makes a browser send."""
        site, origin = headers.get("sec-fetch-site", ""), headers.get("origin", "")
        scheme = "https" if self._settings.secure else "http"
        ours = f"{scheme}://{headers['host']}"
        unsafe = scope["method"] not in SAFE
        foreign = site not in ("", "same-origin", "none")
        if unsafe and origin and origin != ours:
            foreign = True
        if unsafe and caller.ambient and not (origin or site):  # Every browser sends one of them.
            foreign = True
        if foreign and (unsafe or scope["path"].startswith("/api/")):
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
