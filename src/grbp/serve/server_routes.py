"""The routes of the server itself: the stream of what is recorded, who may come in, probes, files.

Anybody may ask at any time whether it lives and whether it can write; the answers say nothing of
the store but that.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from hashlib import sha256
from typing import Annotated, Any, Final, TypeAlias

from anyio.to_thread import run_sync
from fastapi import Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.staticfiles import NotModifiedResponse, StaticFiles

from grbp import _palette
from grbp.errors import GrbpError
from grbp.live.arguments import MOST_CASES
from grbp.live.config import this_version
from grbp.live.kinds import describe_events
from grbp.live.queries import read_config
from grbp.live.schema import Event, dumps
from grbp.live.study import Study
from grbp.live.transport import NDJSON
from grbp.serve import metrics, models
from grbp.serve.http_errors import Refusal
from grbp.serve.middleware import COOKIE, STREAM, report_refused_token
from grbp.serve.settings import EVENT_STREAM
from grbp.serve.state import (
    ADDRESS,
    After,
    ServerState,
    StudyName,
    admin,
    anybody,
    describe_text,
    get_caller,
    json_response,
    server_state,
    show_all,
    viewer,
)

Writer: TypeAlias = Callable[[Request, Study, list[Event]], str]
"""What writes events into a stream, or that there are none."""

LONGEST_SILENCE: Final = 15.0
"""How many seconds a stream for a browser says nothing."""

_POLL: Final = 0.25

_FILES: Final = StaticFiles(packages=[("grbp.serve", "static"), ("grbp.explorer", "static")])
"""The files that pages load."""


@viewer.get(STREAM, **describe_text(NDJSON, EVENT_STREAM), tags=["log"])
async def stream_events(
    request: Request,
    study: StudyName,
    after: After = 0,
    follow: Annotated[float, Query(ge=0, le=3_600, description="seconds to wait for more")] = 0.0,
    last: Annotated[
        int, Header(alias="Last-Event-ID", ge=0, le=MOST_CASES, description="what came before")
    ] = 0,
) -> Response:
    """Stream the events after a number, a line of JSON each; after a break, go on from the last.

    Whoever accepts `text/event-stream`, as browsers do, gets server-sent events with their words.
    """
    server = server_state(request)
    found = await run_in_threadpool(server.study, study)
    until = time.monotonic() + min(follow, server.settings.longest_follow)
    browser = EVENT_STREAM in request.headers.get("accept", "")
    write = _write_for_browser if browser else _write_lines
    parts = _follow_events(request, found, max(after, last), until, write)
    # Some proxies would collect a stream before they pass it on.
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(parts, 200, headers, EVENT_STREAM if browser else NDJSON)


async def _follow_events(
    request: Request, study: Study, after: int, until: float, write: Writer
) -> AsyncIterator[str]:
    """Yield events as text, and wait for more until the time is up or the token has ended."""
    server, caller, said = server_state(request), get_caller(request), 0.0

    def read(after: int) -> tuple[int, str]:
        page = study.log(after, 1_000)
        shown = show_all(request, study.name, page)
        return (page[-1].seq, write(request, study, shown)) if page else (after, "")

    while await server.still_lets_in(caller):
        # In a few threads of their own, so that streams leave the others to everybody else.
        after, text = await run_sync(read, after, limiter=server.stream_threads)
        if text:
            yield text
            said = time.monotonic()
        elif server.stopping or time.monotonic() >= until:
            return
        else:
            if time.monotonic() >= said + LONGEST_SILENCE:
                yield write(request, study, [])
                said = time.monotonic()
            await asyncio.sleep(_POLL)


def _write_lines(_request: Request, _study: Study, events: list[Event]) -> str:
    """Write a line of JSON for each event."""
    return "".join(f"{dumps(one._asdict())}\n" for one in events)


def _write_for_browser(request: Request, study: Study, events: list[Event]) -> str:
    """Write events as a browser's EventSource reads them, and in words; if there are none, say so.

    Without a word now and then, neither proxies nor we would notice that the other side has gone.
    After a break, a browser comes back in a second.
    """
    if not events:
        return ": nothing new\nretry: 1000\n\n"
    config = read_config(server_state(request).store, study.name)
    lines = describe_events(events, config.goal, config.words, shadow=config.shadow)
    return "".join(
        f"id: {line.event.seq}\ndata: {dumps({**line.event._asdict(), 'what': line.what})}\n\n"
        for line in lines
    )


@admin.get("/api/tokens", response_model=models.TokenList, tags=["access"])
def list_tokens(request: Request) -> Response:
    """List all tokens, without the secret parts."""
    return json_response({"items": [one.to_dict() for one in server_state(request).tokens.all()]})


@admin.post("/api/tokens", status_code=201, response_model=models.MadeToken, tags=["access"])
def make_token(request: Request, body: models.NewToken) -> Response:
    """Make a token, which is shown once."""
    who = get_caller(request).actor
    token, made = server_state(request).tokens.make(**dict(body), who=who)
    return json_response({**made.to_dict(), "token": token}, 201)


@admin.delete("/api/tokens/{id}", status_code=204, tags=["access"])
def revoke_token(request: Request, id: str) -> Response:  # noqa: A002
    """Revoke a token, and every session that began with it."""
    server_state(request).tokens.revoke(id, who=get_caller(request).actor)
    return Response(status_code=204)


@viewer.get("/api/session", response_model=models.SessionModel, tags=["access"])
async def get_session(request: Request) -> Response:
    """Say who makes the request, and what that one may do."""
    actor, role, token, _ = get_caller(request)
    return json_response({"actor": actor, "role": role, "expires": token and token.expires})


@anybody.post("/api/session", response_model=models.SessionModel, tags=["access"])
async def begin_session(request: Request, body: models.Exchange) -> Response:
    """Exchange a token for a cookie, which this browser keeps and no script can read."""
    server = server_state(request)
    try:
        token = await server.tokens.recognise(str(body.token))
    except GrbpError as error:
        raise Refusal(503, f"nobody can be let in: {error}") from error
    if token is None:
        report_refused_token(request.scope[ADDRESS])
        raise Refusal(401, "the token is unknown, has expired or was revoked")
    answer = json_response({"actor": token.label, "role": token.role, "expires": token.expires})
    cookie, seconds = server.sessions.begin(token), server.sessions.seconds
    answer.set_cookie(COOKIE, cookie, max_age=seconds, **_cookie_options(server))
    return answer


@viewer.delete("/api/session", status_code=204, tags=["access"])
async def end_session(request: Request) -> Response:
    """End a session."""
    server, answer = server_state(request), Response(status_code=204)
    server.sessions.end(request.cookies.get(COOKIE, ""))
    answer.delete_cookie(COOKIE, **_cookie_options(server))
    return answer


def _cookie_options(server: ServerState) -> dict[str, Any]:
    """Return how a browser is to keep the cookie of a session."""
    secure = server.settings.secure
    return {"path": "/", "httponly": True, "samesite": "strict", "secure": secure}


@anybody.get("/health", response_model=models.Well, tags=["server"])
async def health() -> Response:
    """Say that the server runs."""
    return json_response({"status": "ok", "version": this_version()})


@anybody.get("/ready", response_model=models.Well, tags=["server"])
async def ready(request: Request) -> Response:
    """Say whether studies can be written to."""
    server = server_state(request)
    within = server.settings.ready_within
    try:
        problem = await server.readiness.ask(within)
    except TimeoutError:
        problem = f"the store has not answered within {within:g} s"
    if problem:
        raise Refusal(503, problem, kind="not-ready", retry=5)
    return json_response({"status": "ok", "version": this_version()})


@viewer.get("/metrics", **describe_text("text/plain"), tags=["server"])
async def get_metrics(request: Request) -> Response:
    """Return counts of requests, as Prometheus reads them."""
    server = server_state(request)
    now = [*server.count()]
    with suppress(TimeoutError, GrbpError):  # The counts are there all the same.
        now += await server.upkeep.ask(server.settings.ready_within)
    return Response(server.metrics.text(*now), media_type=metrics.MEDIA_TYPE)


@anybody.api_route("/static/{name}", methods=["GET", "HEAD"], include_in_schema=False)
async def get_file(request: Request, name: str) -> Response:
    """Return a file, which a browser keeps, and asks each time whether it has changed."""
    if name == "palette.css":
        response = _answer_palette(request)
    else:
        response = await _FILES.get_response(name, request.scope)
    response.headers["Cache-Control"] = "no-cache"
    return response


def _answer_palette(request: Request) -> Response:
    """Return the colours, or that they have not changed."""
    style = _palette.css()
    mark = f'"{sha256(style.encode()).hexdigest()[:16]}"'
    response = Response(style, media_type="text/css", headers={"ETag": mark})
    same = _FILES.is_not_modified(response.headers, request.headers)
    return NotModifiedResponse(response.headers) if same else response


@anybody.get("/favicon.ico", include_in_schema=False)
async def favicon() -> Response:
    """Say that there is no icon, for which every browser asks."""
    return Response(status_code=204, headers={"Cache-Control": "max-age=86400"})


@viewer.get("/openapi.json", include_in_schema=False)
async def get_openapi(request: Request) -> Response:
    """Describe all routes for programs."""
    return JSONResponse(request.app.openapi())
