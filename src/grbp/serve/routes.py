"""Every verb of the live advisor as a route.

Most routes are plain functions, which run in threads: those that write at the same time share one
commit. Answers are written here as JSON; the models only describe them.
"""

from inspect import Parameter as Named, Signature
from typing import Annotated, Any, Final
from urllib.parse import unquote

from fastapi import Header, Query, Request
from fastapi.responses import Response

from grbp.errors import InvalidInput
from grbp.live.advice import Advice, AnyBasis, Case
from grbp.live.arguments import check_text
from grbp.live.queries import list_current
from grbp.live.starts import DRAWN
from grbp.live.study import Study
from grbp.live.trajectory import Moment
from grbp.live.verbs import answer_of, parameters_of
from grbp.serve import models
from grbp.serve.checks import check_learner, check_name, read_start
from grbp.serve.endpoints import ENDPOINTS
from grbp.serve.http_errors import Refusal
from grbp.serve.roles import route, viewer
from grbp.serve.state import (
    After,
    CaseNumber,
    Limit,
    StudyName,
    describe_query,
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


def _read_key(key: str) -> str:
    """Return an idempotency key without percent-encoding."""
    try:
        return unquote(key, errors="strict")
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


@route("create", response_model=models.StatusModel, responses=_LINKS["create"])
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


@route("status", response_model=models.StatusModel)
def status(request: Request, study: StudyName) -> Response:
    """Say how a study stands."""
    return json_response(show_status(request, server_state(request).open_study(study).status()))


@route("archive", response_model=models.StatusModel)
def archive(request: Request, study: StudyName, body: models.Archiving) -> Response:
    """Close a study for entries, or open it again; it is kept, and lists leave it out."""
    if not isinstance(body.archived, bool):
        raise InvalidInput(f"archived = {body.archived!r} was given; it must be true or false")
    found = server_state(request).study(study)
    keep = found.archive if body.archived else found.unarchive
    status = keep(body.why, who=get_caller(request).actor)
    return json_response(show_status(request, status))


@route("change_learner", response_model=models.StatusModel)
def change_learner(
    request: Request,
    study: StudyName,
    body: models.BODIES["change_learner"],  # type: ignore[valid-type]
) -> Response:
    """Let another learner decide the next cases, from all that was counted so far."""
    given: dict[str, Any] = dict(body)
    check_learner(given["learner"])
    found = server_state(request).study(study)
    status = found.change_learner(**given, who=get_caller(request).actor)
    return json_response(show_status(request, status))


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
        shown = show_all(request, study, found.find_cases(code, limit))
        return json_response({"items": [case.to_dict() for case in shown], "next": None})
    cases = found.cases(after, limit + 1, status)
    more = cases[limit - 1].case if len(cases) > limit else None
    shown = show_all(request, study, cases[:limit])
    return json_response({"items": [case.to_dict() for case in shown], "next": more})


_ANSWERS: Final[dict[Any, Any]] = {
    Advice: models.AdviceModel,
    Case: models.CaseModel,
    AnyBasis | None: models.AnyBasisModel,
    list[Moment]: models.PathModel,
}
"""The types of answers that one function gives, and how they are described."""

_KINDS: Final[dict[str, Any]] = {"integer": int, "boolean": bool, "string": str}


def _respond(
    request: Request, study: str, value: Any, *, basis: bool, status: int, **headers: str
) -> Response:
    """Answer with what a verb returned, as far as the caller may see it."""
    if isinstance(value, Advice):
        shown = show_to_caller(request, value, shadow=value.shadow)
        replayed = {"Idempotency-Replayed": "true"} if value.replayed else {}
        return json_response(shown.to_dict(basis=basis), status, **headers, **replayed)
    if isinstance(value, list):
        items = [one.to_dict() for one in show_all(request, study, value)]
        return json_response({"items": items}, status)
    if isinstance(value, Case):
        (value,) = show_all(request, study, [value])
    elif value is None:
        raise Refusal(403, f"the study {study!r} is in shadow mode: nobody is advised")
    return json_response(value.to_dict(), status)


def _serve(verb: str) -> None:
    """Make the route of a verb from its signature."""
    entry, given_to = ENDPOINTS[verb], parameters_of(verb)

    def endpoint(
        request: Request, study: str, body: Any = (), basis: bool = True, **given: Any
    ) -> Response:
        if given.get("key") is not None:
            given["key"] = _read_key(given["key"])
        if "who" in given_to:
            given["who"] = get_caller(request).actor
        value = getattr(server_state(request).study(study), verb)(**given, **dict(body))
        places = {}
        if entry.status == 201 and "case" not in given:  # It was made, and has a place of its own.
            places["Location"] = f"{study_address(study)}/cases/{value.case}"
        return _respond(request, study, value, basis=basis, status=entry.status, **places)

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
    if answer_of(one) in _ANSWERS:
        _serve(one)
