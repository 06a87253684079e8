"""Every verb of the live advisor as a route.

Most routes are plain functions, which run in threads: those that write at the same time share one
commit. Answers are written here as JSON; the models only describe them.
"""

from typing import Annotated, Any, Final
from urllib.parse import unquote

from fastapi import Header, Query, Request
from fastapi.responses import Response

from grbp.errors import InvalidInput
from grbp.live.advice import Advice
from grbp.live.arguments import check_text
from grbp.live.reading import list_current
from grbp.live.schema import STATUSES
from grbp.live.starts import DRAWN
from grbp.live.study import Study
from grbp.serve import models
from grbp.serve.checks import check_learner, check_name, read_start
from grbp.serve.http_errors import Refusal
from grbp.serve.roles import CASE, STUDY, admin, corrector, recorder, viewer
from grbp.serve.state import (
    After,
    CaseNumber,
    Limit,
    StudyName,
    get_caller,
    json_response,
    server_state,
    show_all,
    show_status,
    show_to_caller,
    study_address,
)

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


def _describe_links(operations: dict[str, str], **where: str) -> dict[str, Any]:
    """Describe a route that makes something, and which routes can be used next."""
    links = {
        name: {"operationId": name, "parameters": where, "description": text}
        for name, text in operations.items()
    }
    return {"status_code": 201, "responses": {201: {"links": links}}}


_MADE: Final = _describe_links(_STUDY_LINKS, study="$response.body#/study")
_OPENED, _TOLD = (
    _describe_links(_CASE_LINKS, study="$request.path.study", case=case)
    for case in ("$response.body#/case", "$request.path.case")
)


def _respond_with_advice(
    request: Request, advice: Advice, *, basis: bool, status: int = 200, **headers: str
) -> Response:
    """Answer with advice; a header says if nothing was recorded, as the same was sent before."""
    shown = show_to_caller(request, advice, shadow=advice.shadow)
    replayed = {"Idempotency-Replayed": "true"} if advice.replayed else {}
    return json_response(shown.to_dict(basis=basis), status, **headers, **replayed)


def _sign(request: Request, key: str | None) -> dict[str, Any]:
    """Return who records an entry, and its idempotency key without percent-encoding."""
    try:
        decoded = None if key is None else unquote(key, errors="strict")
        return {"key": decoded, "who": get_caller(request).actor}
    except UnicodeDecodeError:
        raise InvalidInput(f"key = {key!a} was given; it must be percent-encoded UTF-8") from None


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


@admin.post("/api/studies", response_model=models.StatusModel, **_MADE, tags=["studies"])
def create_study(request: Request, body: models.NewStudy) -> Response:
    """Make a study; until its first case is opened, it can be configured anew."""
    server, given = server_state(request), dict(body)
    check_name(body.name)
    check_learner(body.learner)
    given["start"], origin = read_start(body.start, body.goal), given.pop("from_")
    if origin is not None:
        if body.start != DRAWN:
            raise InvalidInput("from and start were given; leave one of the two out")
        given["start"] = server.study(check_text("from", origin, 64))
    made = Study.create(server.store, **given, who=get_caller(request).actor, clock=server.clock)
    status = server.open_study(made.name).status()
    return json_response(show_status(request, status), 201, Location=study_address(made.name))


@viewer.get(STUDY, response_model=models.StatusModel, tags=["studies"])
def status(request: Request, study: StudyName) -> Response:
    """Say how a study stands."""
    return json_response(show_status(request, server_state(request).open_study(study).status()))


@admin.post(f"{STUDY}/archive", response_model=models.StatusModel, tags=["studies"])
def archive(request: Request, study: StudyName, body: models.Archiving) -> Response:
    """Close a study for entries, or open it again; it is kept, and lists leave it out."""
    if not isinstance(body.archived, bool):
        raise InvalidInput(f"archived = {body.archived!r} was given; it must be true or false")
    found = server_state(request).study(study)
    keep = found.archive if body.archived else found.unarchive
    status = keep(body.why, who=get_caller(request).actor)
    return json_response(show_status(request, status))


@viewer.get(f"{STUDY}/cases", response_model=models.CasePage, tags=["cases"])
def list_cases(
    request: Request,
    study: StudyName,
    after: After = 0,
    limit: Limit = 100,
    status: Annotated[str | None, Query(json_schema_extra={"enum": [*STATUSES]})] = None,
    code: Annotated[
        str | None, Query(description="find those with this code, in progress first, and no page")
    ] = None,
) -> Response:
    """List cases in the order of their numbers, or find those with a code."""
    found = server_state(request).study(study)
    if code is not None:
        shown = show_all(request, study, found.find_cases(code, limit))
        return json_response({"items": [case.to_dict() for case in shown], "next": None})
    cases = found.cases(after, limit + 1, status)
    more = cases[limit - 1].case if len(cases) > limit else None
    shown = show_all(request, study, cases[:limit])
    return json_response({"items": [case.to_dict() for case in shown], "next": more})


@recorder.post(f"{STUDY}/cases", response_model=models.AdviceModel, **_OPENED, tags=["cases"])
def open_case(
    request: Request,
    study: StudyName,
    body: models.Opening,
    key: Key = None,
    basis: WithBasis = True,
) -> Response:
    """Open a case, and decide how it is to be played; the answer is the first advice."""
    advice = server_state(request).study(study).open_case(**dict(body), **_sign(request, key))
    where = f"{study_address(study)}/cases/{advice.case}"
    return _respond_with_advice(request, advice, basis=basis, status=201, Location=where)


@viewer.get(CASE, response_model=models.CaseModel, tags=["cases"])
def get_case(request: Request, study: StudyName, case: CaseNumber) -> Response:
    """Return a case."""
    found = server_state(request).study(study).case(case)
    return json_response(show_all(request, study, [found])[0].to_dict())


@recorder.post(f"{CASE}/code", response_model=models.CaseModel, tags=["cases"])
def set_code(request: Request, study: StudyName, case: CaseNumber, body: models.Coding) -> Response:
    """Give a case a short code, change it, or erase it; the log does not have it."""
    actor = get_caller(request).actor
    found = server_state(request).study(study).set_code(case, body.code, who=actor)
    return json_response(show_all(request, study, [found])[0].to_dict())


@viewer.get(f"{CASE}/advice", response_model=models.AdviceModel, tags=["cases"])
def advice(
    request: Request, study: StudyName, case: CaseNumber, basis: WithBasis = True
) -> Response:
    """Say what to do next with a case; this changes nothing."""
    advice = server_state(request).study(study).ask(case)
    return _respond_with_advice(request, advice, basis=basis)


@viewer.get(f"{CASE}/basis", response_model=models.AnyBasisModel, tags=["cases"])
def basis(
    request: Request,
    study: StudyName,
    case: CaseNumber,
    state: Annotated[int | None, Query(ge=1, description="by default the present one")] = None,
) -> Response:
    """Give the reasons for what is advised in a state of a case, from when it was opened."""
    reasons = server_state(request).study(study).basis(case, state)
    if reasons is None:
        raise Refusal(403, f"the study {study!r} is in shadow mode: nobody is advised")
    return json_response(reasons.to_dict())


@recorder.post(f"{CASE}/steps", response_model=models.AdviceModel, **_TOLD, tags=["cases"])
def tell(
    request: Request,
    study: StudyName,
    case: CaseNumber,
    body: models.Telling,
    key: Key = None,
    basis: WithBasis = True,
) -> Response:
    """Record the state to which a step led; the answer is the next advice."""
    advice = server_state(request).study(study).tell(case, **dict(body), **_sign(request, key))
    return _respond_with_advice(request, advice, basis=basis, status=201)


@corrector.post(f"{CASE}/void", response_model=models.AdviceModel, tags=["cases"])
def void(
    request: Request,
    study: StudyName,
    case: CaseNumber,
    body: models.Voiding,
    key: Key = None,
    basis: WithBasis = True,
) -> Response:
    """Take back the last entry of a case, its last step or its withdrawal, with a reason."""
    advice = server_state(request).study(study).void(case, **dict(body), **_sign(request, key))
    return _respond_with_advice(request, advice, basis=basis)


@recorder.post(f"{CASE}/undo", response_model=models.AdviceModel, tags=["cases"])
def undo(
    request: Request, study: StudyName, case: CaseNumber, key: Key = None, basis: WithBasis = True
) -> Response:
    """Take back one's own last entry of a case, within 15 minutes."""
    advice = server_state(request).study(study).undo(case, **_sign(request, key))
    return _respond_with_advice(request, advice, basis=basis)


@recorder.post(f"{CASE}/withdraw", response_model=models.AdviceModel, tags=["cases"])
def withdraw_case(
    request: Request, study: StudyName, case: CaseNumber, body: models.Withdrawal, key: Key = None
) -> Response:
    """Withdraw a case: what was observed stays, and nothing more is expected."""
    found = server_state(request).study(study)
    advice = found.withdraw_case(case, body.why, **_sign(request, key))
    return _respond_with_advice(request, advice, basis=False)
