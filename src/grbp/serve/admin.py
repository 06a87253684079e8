"""The routes over the log of a study, over whole studies, and over tokens and sessions."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from grbp.errors import GrbpError, InvalidInput
from grbp.live.arguments import MOST_CASES
from grbp.live.export import read_log
from grbp.live.reading import read_config
from grbp.live.schema import Event, dumps
from grbp.live.study import Study
from grbp.live.verify import Verified
from grbp.serve import models
from grbp.serve.http_errors import SENT, Refusal
from grbp.serve.middleware import COOKIE, refuse_length, report_refused_token
from grbp.serve.roles import STUDY, admin, anybody, statistician, viewer
from grbp.serve.settings import NDJSON
from grbp.serve.state import (
    ADDRESS,
    After,
    Caller,
    Limit,
    ServerState,
    StudyName,
    check_learner,
    check_name,
    describe_text,
    get_caller,
    json_response,
    may_examine,
    server_state,
    study_address,
)
from grbp.serve.tokens import STATISTICIAN

_POLL: Final = 0.25
_SQLITE: Final = "application/vnd.sqlite3"
_LOG: Final = {
    "requestBody": {"required": True, "content": {NDJSON: {"schema": {"type": "string"}}}}
}


def _open_log(request: Request, name: str) -> Study:
    """Return a study whose log may be read: in shadow mode it says what would be advised."""
    server = server_state(request)
    study = server.study(name)
    if not may_examine(request) and read_config(server.store, name).shadow:
        raise Refusal(
            403,
            f"the study {name!r} is in shadow mode, and its log says what would be advised; this"
            f" needs the role {STATISTICIAN}",
        )
    return study


@viewer.get(f"{STUDY}/events", response_model=models.EventPage, tags=["log"])
def list_events(
    request: Request,
    study: StudyName,
    after: After = 0,
    limit: Limit = 100,
    case: Annotated[int | None, Query(ge=1, le=MOST_CASES)] = None,
) -> Response:
    """List what was recorded, of one case or of all, by whom and when."""
    events = _open_log(request, study).log(after, limit + 1, case)
    more = events[limit - 1].seq if len(events) > limit else None
    return json_response({"items": [one._asdict() for one in events[:limit]], "next": more})


@viewer.get(f"{STUDY}/events.ndjson", **describe_text(NDJSON), tags=["log"])
async def stream_events(
    request: Request,
    study: StudyName,
    after: After = 0,
    follow: Annotated[float, Query(ge=0, le=3_600, description="seconds to wait for more")] = 0.0,
) -> Response:
    """Stream the events after a number, a line of JSON each; after a break, go on from the last."""
    found = await run_in_threadpool(_open_log, request, study)
    until = time.monotonic() + min(follow, server_state(request).settings.longest_follow)
    lines = _follow_events(server_state(request), get_caller(request), found, after, until)
    return StreamingResponse(lines, media_type=NDJSON)


async def _follow_events(
    server: ServerState, caller: Caller, study: Study, after: int, until: float
) -> AsyncIterator[bytes]:
    """Yield events as lines, and wait for more until the time is up or the token has ended."""
    while await server.still_lets_in(caller):
        page = await run_in_threadpool(study.log, after, 1_000)
        if page:
            yield "".join(f"{dumps(one._asdict())}\n" for one in page).encode()
            after = page[-1].seq
        elif server.stopping or time.monotonic() >= until:
            return
        else:
            await asyncio.sleep(_POLL)


def _respond_verified(found: Verified) -> Response:
    """Answer with what a check found."""
    return json_response(found._asdict() | {"ok": found.ok})


@statistician.post(f"{STUDY}/verify", response_model=models.VerifiedModel, tags=["log"])
def verify(request: Request, study: StudyName) -> Response:
    """Check a whole study: the chain of hashes, and that all rows follow from the log."""
    return _respond_verified(server_state(request).study(study).verify())


@statistician.post(f"{STUDY}/replay", response_model=models.VerifiedModel, tags=["log"])
def replay(request: Request, study: StudyName) -> Response:
    """Check a whole study, and make every decision again."""
    return _respond_verified(server_state(request).study(study).replay())


def _respond_with_file(parts: Iterator[bytes], kind: str, name: str) -> Response:
    """Answer with a file."""
    saved = f"attachment; filename*=utf-8''{quote(name, '')}"
    return StreamingResponse(parts, media_type=kind, headers={"Content-Disposition": saved})


@statistician.get(f"{STUDY}/export", **describe_text(NDJSON), tags=["log"])
def export(request: Request, study: StudyName) -> Response:
    """Return the log as lines of JSON: a head, then the events."""
    lines = server_state(request).study(study).export_lines()
    return _respond_with_file(chain([next(lines)], lines), NDJSON, f"{study}.jsonl")


@statistician.get(f"{STUDY}/steps.csv", **describe_text("text/csv"), tags=["log"])
def export_steps(request: Request, study: StudyName) -> Response:
    """Return all steps as CSV, as `grbp fit` reads them."""
    server = server_state(request)
    parts = server.stream_file(server.study(study).export_steps)
    return _respond_with_file(parts, "text/csv", f"{study}.csv")


@admin.get("/api/backup", **describe_text(_SQLITE), tags=["server"])
def backup(request: Request) -> Response:
    """Return a copy of all studies, as they are now, as a SQLite file."""
    server = server_state(request)
    parts = server.stream_file(server.store.backup)
    return _respond_with_file(parts, _SQLITE, "grbp-backup.sqlite")


@admin.post(
    "/api/import", status_code=201, response_model=models.StatusModel, openapi_extra=_LOG,
    tags=["studies"],
)  # fmt: skip
async def import_study(request: Request) -> Response:
    """Record an exported study, all of it or nothing."""
    server = server_state(request)
    limit, size = server.settings.import_limit, 0
    with TemporaryDirectory(prefix="grbp-") as folder:
        path = Path(folder) / "log"
        with path.open("wb") as file:
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    raise refuse_length(limit)
                await run_in_threadpool(file.write, part)
        return await run_in_threadpool(_import_log, server, path)


def _import_log(server: ServerState, path: Path) -> Response:
    """Record a log that has arrived."""
    try:
        name, events = read_log(path)
        check_name(name)
        for event in events:
            if event.kind == "study":
                check_learner(_read_learner(event))
        made = Study.import_(server.store, path, clock=server.clock)
    except GrbpError as error:
        error.args = (str(error).replace(str(path), SENT),)
        raise
    status = server.open_study(made.name).status().to_dict()
    return json_response(status, 201, Location=study_address(made.name))


def _read_learner(event: Event) -> Any:
    """Return the learner that an event names."""
    try:
        return json.loads(event.request)["config"]["learner"]
    except (LookupError, TypeError, ValueError):
        raise InvalidInput(
            f"{SENT} is damaged: event {event.seq} does not configure a study"
        ) from None


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
