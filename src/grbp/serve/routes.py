"""Every verb of the live advisor as a route, and making, listing and importing studies.

Most routes are plain functions, which run in threads: those that write at the same time share one
commit. What takes long is done by a job. Answers are written here as JSON; the models only describe
them.
"""

from collections.abc import Sequence
from inspect import Parameter as Named, Signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final
from urllib.parse import quote, unquote

from fastapi import Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from grbp._format import as_plain
from grbp.errors import InvalidInput
from grbp.learners.counters import NO_COUNTS, Counters
from grbp.live.advice import Advice, AnyBasis, Case, Status
from grbp.live.arguments import check_text
from grbp.live.endpoints import ENDPOINTS, check_learner, check_name
from grbp.live.queries import Moment, list_current
from grbp.live.row_checks import keep_checked
from grbp.live.schema import Event
from grbp.live.shadow import show
from grbp.live.starts import DRAWN, check_kept_start, make_state_counters
from grbp.live.store_log import VERIFIED
from grbp.live.study import Study
from grbp.live.transport import NDJSON
from grbp.live.verbs import answer_of, parameters_of
from grbp.serve import models
from grbp.serve.http_errors import Refusal
from grbp.serve.jobs import JobResponse
from grbp.serve.metrics import record_upkeep
from grbp.serve.state import (
    After,
    CaseNumber,
    Limit,
    ServerState,
    StudyName,
    admin,
    describe_query,
    describe_text,
    get_caller,
    json_response,
    may_examine,
    route,
    server_state,
    show_all,
    show_sentence,
    show_status,
    viewer,
)
from grbp.worlds.validation import check_goal

WithBasis = Annotated[bool, Query(description="whether to give the reasons, which take a moment")]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=2_400,
        description="sent again with the same key, a request is recorded once and answered as"
        " before; percent-encoded where it is not ASCII",
    ),
]

_CASE_LINKS: Final = {
    "advice": "What to do next with the case",
    "get_case": "The case",
    "tell": "Tell what came of the next step",
    "void": "Take back the last entry",
    "undo": "Undo one's own last entry",
    "withdraw_case": "Withdraw the case",
}
_STUDY_LINKS: Final = {"status": "How the study stands", "open_case": "Open a case"}


def _describe_links(operations: dict[str, str], **where: str) -> dict[int | str, dict[str, Any]]:
    """Describe which routes can be used after one that makes something."""
    links = {
        name: {"operationId": name, "parameters": where, "description": text}
        for name, text in operations.items()
    }
    return {201: {"links": links}}


_LINKS: Final = {
    "create": _describe_links(_STUDY_LINKS, study="$response.body#/study"),
    "open_case": _describe_links(
        _CASE_LINKS, study="$request.path.study", case="$response.body#/case"
    ),
    "tell": _describe_links(_CASE_LINKS, study="$request.path.study", case="$request.path.case"),
}
"""Where the answers of some verbs lead."""

_SQLITE: Final = "application/vnd.sqlite3"
_LOG: Final = {
    "requestBody": {"required": True, "content": {NDJSON: {"schema": {"type": "string"}}}}
}


def _read_key(key: str) -> str:
    """Return an idempotency key without percent-encoding."""
    try:
        return unquote(key, errors="strict")
    except UnicodeDecodeError:
        raise InvalidInput(f"key = {key!a} was given; it must be percent-encoded UTF-8") from None


def _find_place(study: str) -> str:
    """Return where the routes of a study are."""
    return f"/api/studies/{quote(study, '')}"


@viewer.get("/api/studies", response_model=models.StudyPage, tags=["studies"])
def list_studies(
    request: Request,
    after: Annotated[str, Query(max_length=64, description="the name to begin after")] = "",
    limit: Limit = 100,
    all: Annotated[bool, Query(description="whether to list archived ones as well")] = False,  # noqa: A002
) -> Response:
    """List the studies of the store by their names."""
    store = server_state(request).store
    names = sorted(
        name for name in (store.studies() if all else list_current(store)) if name > after
    )
    more = names[limit - 1] if len(names) > limit else None
    return json_response({"items": names[:limit], "next": more})


@route("create", response_model=models.StatusModel, responses=_LINKS["create"])
def create_study(request: Request, body: models.NewStudy) -> Response:
    """Make a study; until its first case is opened, it can be configured anew."""
    server, given = server_state(request), dict(body)
    check_name(body.name)
    check_learner(body.learner)
    given["start"], origin = _read_start(body.start, body.goal), given.pop("from_")
    if origin is not None:
        if body.start != DRAWN:
            raise InvalidInput("from and start were given; leave one of the two out")
        given["start"] = server.study(check_text("from", origin, 64))
    made = Study.create(server.store, **given, who=get_caller(request).actor, clock=server.clock)
    return _answer_new(request, made.name)


def _read_start(start: Any, goal: object) -> Any:
    """Return where a study begins: counters where they were sent, in all or for each group."""
    if isinstance(start, dict):
        return {name: _read_start(one, goal) for name, one in start.items()}
    if not isinstance(start, list):
        return start
    by_state = len(start) != len(NO_COUNTS)
    check_kept_start(start, check_goal(goal), [], by_state=by_state)
    return make_state_counters(start[0], start[1:]) if by_state else Counters(*start)


def _answer_new(request: Request, study: str) -> Response:
    """Answer with a study that was made."""
    status = show_status(request, server_state(request).open_study(study).status())
    return json_response(status.to_dict(), 201, Location=_find_place(study))


@route("archive", response_model=models.StatusModel)
def archive(request: Request, study: StudyName, body: models.Archiving) -> Response:
    """Close a study for entries, or open it again; it is kept, and lists leave it out."""
    if not isinstance(body.archived, bool):
        raise InvalidInput(f"archived = {body.archived!r} was given; it must be true or false")
    return _carry_out(request, study, "archive" if body.archived else "unarchive", why=body.why)


@route("cases", response_model=models.CasePage)
def list_cases(
    request: Request,
    study: StudyName,
    after: After = 0,
    limit: Limit = 100,
    status: Annotated[str | None, describe_query("cases", "status")] = None,
    code: Annotated[str | None, describe_query("find_cases", "code")] = None,
) -> Response:
    """List cases in the order of their numbers, or find those with a code."""
    found = server_state(request).study(study)
    if code is not None:
        stage = None if status is None else parameters_of("cases")["status"].check(status)
        cases = [one for one in found.find_cases(code, limit) if stage in (None, one.status)]
        return _list_page(request, study, "case", limit, cases)
    return _list_page(request, study, "case", limit, found.cases(after, limit + 1, status))


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
    return _list_page(request, study, "seq", limit, events)


def _list_page(
    request: Request, study: str, number: str, limit: int, rows: Sequence[Case | Event]
) -> Response:
    """Answer with rows, and the number of the last one if there is one more than were asked for."""
    more = getattr(rows[limit - 1], number) if len(rows) > limit else None
    shown = show_all(request, study, rows[:limit])
    return json_response({"items": as_plain(shown), "next": more})


def _carry_out(
    request: Request, study: str, verb: str, *, basis: bool = True, **given: Any
) -> Response:
    """Carry a verb out for the caller; answer as far as the caller may see it."""
    server, entry = server_state(request), ENDPOINTS[verb]
    if given.get("key") is not None:
        given["key"] = _read_key(given["key"])
    if "who" in parameters_of(verb):
        given["who"] = get_caller(request).actor
    if "learner" in given:
        check_learner(given["learner"])
    found = server.open_study(study) if verb == "status" else server.study(study)
    value = getattr(found, verb)(**given)
    places = {}
    if entry.status == 201 and "case" not in given:  # It was made, and has a place of its own.
        places["Location"] = f"{_find_place(study)}/cases/{value.case}"
    if isinstance(value, Advice):
        shown = show(value, shadow=value.shadow, examiner=may_examine(request))
        replayed = {"Idempotency-Replayed": "true"} if value.replayed else {}
        return json_response(shown.to_dict(basis=basis), entry.status, **places, **replayed)
    if isinstance(value, Status):
        value = show_status(request, value)
    elif isinstance(value, Case):
        (value,) = show_all(request, study, [value])
    elif isinstance(value, list):
        value = {"items": show_all(request, study, value)}
    elif value is None:
        raise Refusal(403, f"the study {study!r} is in shadow mode: nobody is advised")
    return json_response(as_plain(value), entry.status)


_ANSWERS: Final[dict[Any, Any]] = {
    Advice: models.AdviceModel,
    Case: models.CaseModel,
    Status: models.StatusModel,
    AnyBasis | None: models.AnyBasisModel,
    list[Moment]: models.PathModel,
}
"""How the answers are described of those verbs whose routes are made from their signatures."""

_KINDS: Final[dict[str, Any]] = {"integer": int, "boolean": bool, "string": str}


def _serve(verb: str) -> None:
    """Make the route of a verb from its signature."""

    def endpoint(request: Request, study: str, body: Any = (), **given: Any) -> Response:
        return _carry_out(request, study, verb, **given, **dict(body))

    endpoint.__doc__ = str(getattr(Study, verb).__doc__).partition("\n")[0]
    endpoint.__signature__ = _sign_route(verb)  # type: ignore[attr-defined]
    model = _ANSWERS[answer_of(verb)]
    route(verb, response_model=model, responses=_LINKS.get(verb))(endpoint)


def _sign_route(verb: str) -> Signature:
    """Return what the route of a verb is given: in its path, query, headers and body."""
    entry = ENDPOINTS[verb]
    taken: dict[str, tuple[Any, Any]] = {
        "request": (Request, Named.empty),
        "study": (StudyName, Named.empty),
    }
    for name, parameter in parameters_of(verb).items():
        if name == "key" or f"{{{name}}}" in entry.path:
            taken[name] = Key if name == "key" else CaseNumber, parameter.default
        elif entry.method == "GET":
            kind = _KINDS[parameter.schema["type"]]
            kind = kind | None if parameter.nullable else kind
            taken[name] = Annotated[kind, describe_query(verb, name)], parameter.default
    if entry.body:
        taken["body"] = models.BODIES[verb], Named.empty
    if answer_of(verb) is Advice:
        taken["basis"] = WithBasis, True
    return Signature(
        [
            Named(name, Named.KEYWORD_ONLY, annotation=kind, default=default)
            for name, (kind, default) in taken.items()
        ]
    )


for one in ENDPOINTS:
    if answer_of(one) in _ANSWERS and not ENDPOINTS[one].fixed:
        _serve(one)


@route("verify", response_model=models.VerifiedModel)
async def verify(request: Request, study: StudyName) -> Response:
    """Check a whole study: the chain of hashes, and that all rows follow from the log."""
    return await _check(request, "verify", study)


@route("replay", response_model=models.VerifiedModel)
async def replay(request: Request, study: StudyName) -> Response:
    """Check a whole study, and make every decision again."""
    return await _check(request, "replay", study)


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
    with TemporaryDirectory(prefix="grbp-") as folder:
        path = Path(folder) / "log"
        with path.open("wb") as file:
            async for part in request.stream():
                await run_in_threadpool(file.write, part)
        name = await server_state(request).jobs.run(request, "import", file=path)
    return await run_in_threadpool(_answer_new, request, name)
