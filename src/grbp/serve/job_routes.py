"""The routes that take long: checks, exports, imports and backups, each done by a job."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from grbp.live.house import VERIFIED
from grbp.live.row_checks import keep_checked
from grbp.serve import models
from grbp.serve.bodies import refuse_length
from grbp.serve.jobs import JobResponse
from grbp.serve.roles import admin, route
from grbp.serve.settings import NDJSON
from grbp.serve.state import (
    ServerState,
    StudyName,
    describe_query,
    describe_text,
    get_caller,
    json_response,
    server_state,
    show_sentence,
    show_status,
    study_address,
)
from grbp.serve.upkeep import record_upkeep

_SQLITE: Final = "application/vnd.sqlite3"
_LOG: Final = {
    "requestBody": {"required": True, "content": {NDJSON: {"schema": {"type": "string"}}}}
}


async def _check(request: Request, verb: str, study: str) -> Response:
    """Check a study, remember what was found, and answer with it."""
    server = server_state(request)
    found = await server.jobs.run(request, verb, study)
    await run_in_threadpool(_note_check, server, get_caller(request).actor, verb, study, found)
    for name in ("problems", "notes"):
        found[name] = [show_sentence(request, one) for one in found[name]]
    return json_response(found)


def _note_check(server: ServerState, who: str, verb: str, study: str, found: Any) -> None:
    """Let a study be written to or not, by what a check found; record one that found something.

    One study that is well does not say that all are, as the last check of the whole store did.
    """
    if verb == "verify" or found["ok"]:
        keep_checked(server.store, study).note_check(found["problems"])
    if not found["ok"]:
        record_upkeep(server.store, VERIFIED, who, server.clock(), study=study, ok=False)


@route("verify", response_model=models.VerifiedModel)
async def verify(request: Request, study: StudyName) -> Response:
    """Check a whole study: the chain of hashes, and that all rows follow from the log."""
    return await _check(request, "verify", study)


@route("replay", response_model=models.VerifiedModel)
async def replay(request: Request, study: StudyName) -> Response:
    """Check a whole study, and make every decision again."""
    return await _check(request, "replay", study)


async def _send_file(request: Request, verb: str, study: str, kind: str, name: str) -> Response:
    """Answer with a file that a job writes."""
    file = await server_state(request).jobs.write_file(request, verb, study)
    saved = f"attachment; filename*=utf-8''{quote(name, '')}"
    return JobResponse(file, media_type=kind, headers={"Content-Disposition": saved})


@route("export_lines", **describe_text(NDJSON))
async def export(request: Request, study: StudyName) -> Response:
    """Return the log as lines of JSON: a head, then the events."""
    return await _send_file(request, "export", study, NDJSON, f"{study}.jsonl")


@route("export_steps", **describe_text("text/csv"))
async def export_steps(
    request: Request,
    study: StudyName,
    codes: Annotated[bool, describe_query("export_steps", "codes")] = False,
) -> Response:
    """Return all steps as CSV, as `grbp fit` reads them."""
    verb = "coded-steps" if codes else "steps"
    return await _send_file(request, verb, study, "text/csv", f"{study}.csv")


@route("backup", **describe_text(_SQLITE))
async def backup(request: Request) -> Response:
    """Return a copy of all studies, as they are now, as a SQLite file."""
    return await _send_file(request, "backup", "", _SQLITE, "grbp-backup.sqlite")


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
        name = await server.jobs.run(request, "import", file=path)
    status = await run_in_threadpool(lambda: server.open_study(name).status())
    return json_response(show_status(request, status), 201, Location=study_address(name))
