"""The routes over the log of a study, and over tokens and sessions."""

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any, Final

from anyio.to_thread import run_sync
from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from grbp.errors import GrbpError
from grbp.live.arguments import MOST_CASES
from grbp.live.schema import dumps
from grbp.live.study import Study
from grbp.serve import models
from grbp.serve.http_errors import Refusal
from grbp.serve.middleware import COOKIE, STREAM, report_refused_token
from grbp.serve.roles import STUDY, admin, anybody, viewer
from grbp.serve.settings import NDJSON
from grbp.serve.state import (
    ADDRESS,
    After,
    Limit,
    ServerState,
    StudyName,
    describe_text,
    get_caller,
    json_response,
    server_state,
    show_all,
)

_POLL: Final = 0.25


@viewer.get(f"{STUDY}/events", response_model=models.EventPage, tags=["log"])
def list_events(
    request: Request,
    study: StudyName,
    after: After = 0,
    limit: Limit = 100,
    case: Annotated[int | None, Query(ge=1, le=MOST_CASES)] = None,
) -> Response:
    """List what was recorded, of one case or of all, by whom and when."""
    events = server_state(request).study(study).log(after, limit + 1, case)
    more = events[limit - 1].seq if len(events) > limit else None
    shown = show_all(request, study, events[:limit])
    return json_response({"items": [one._asdict() for one in shown], "next": more})


@viewer.get(STREAM, **describe_text(NDJSON), tags=["log"])
async def stream_events(
    request: Request,
    study: StudyName,
    after: After = 0,
    follow: Annotated[float, Query(ge=0, le=3_600, description="seconds to wait for more")] = 0.0,
) -> Response:
    """Stream the events after a number, a line of JSON each; after a break, go on from the last."""
    found = await run_in_threadpool(server_state(request).study, study)
    until = time.monotonic() + min(follow, server_state(request).settings.longest_follow)
    lines = _follow_events(request, found, after, until)
    return StreamingResponse(lines, media_type=NDJSON)


async def _follow_events(
    request: Request, study: Study, after: int, until: float
) -> AsyncIterator[bytes]:
    """Yield events as lines, and wait for more until the time is up or the token has ended."""
    server, caller = server_state(request), get_caller(request)
    while await server.still_lets_in(caller):
        # In a few threads of their own, so that streams leave the others to everybody else.
        page = await run_sync(partial(study.log, after, 1_000), limiter=server.stream_threads)
        if page:
            show = partial(show_all, request, study.name, page)
            shown = await run_sync(show, limiter=server.stream_threads)
            yield "".join(f"{dumps(one._asdict())}\n" for one in shown).encode()
            after = page[-1].seq
        elif server.stopping or time.monotonic() >= until:
            return
        else:
            await asyncio.sleep(_POLL)


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
