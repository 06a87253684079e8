"""The routes over the log of a study, and over tokens and sessions."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Annotated, Any, Final, TypeAlias

from anyio.to_thread import run_sync
from fastapi import Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from grbp.errors import GrbpError
from grbp.live.arguments import MOST_CASES
from grbp.live.queries import read_config
from grbp.live.schema import Event, dumps
from grbp.live.study import Study
from grbp.live.words.log import describe_events
from grbp.serve import models
from grbp.serve.http_errors import Refusal
from grbp.serve.middleware import COOKIE, STREAM, report_refused_token
from grbp.serve.roles import admin, anybody, route, viewer
from grbp.serve.settings import EVENT_STREAM, NDJSON
from grbp.serve.state import (
    ADDRESS,
    After,
    Limit,
    ServerState,
    StudyName,
    describe_query,
    describe_text,
    get_caller,
    json_response,
    server_state,
    show_all,
)

Writer: TypeAlias = Callable[[Request, Study, list[Event]], str]
"""What writes events into a stream, or that there are none."""

LONGEST_SILENCE: Final = 15.0
"""How many seconds a stream for a browser says nothing."""

_POLL: Final = 0.25


@route("log", response_model=models.EventPage)
def list_events(
    request: Request,
    study: StudyName,
    after: After = 0,
    limit: Limit = 100,
    case: Annotated[int | None, describe_query("log", "case")] = None,
) -> Response:
    """List what was recorded, of one case or of all, by whom and when."""
    events = server_state(request).study(study).log(after, limit + 1, case)
    more = events[limit - 1].seq if len(events) > limit else None
    shown = show_all(request, study, events[:limit])
    return json_response({"items": [one._asdict() for one in shown], "next": more})


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
    while await server.still_lets_in(caller):
        # In a few threads of their own, so that streams leave the others to everybody else.
        page = await run_sync(partial(study.log, after, 1_000), limiter=server.stream_threads)
        if page:
            show = partial(show_all, request, study.name, page)
            shown = await run_sync(show, limiter=server.stream_threads)
            yield await run_sync(write, request, study, shown, limiter=server.stream_threads)
            after, said = page[-1].seq, time.monotonic()
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
