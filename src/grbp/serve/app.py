"""The application: routes behind their guard, one shape of errors, a complete description."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.requests import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from grbp.errors import GrbpError
from grbp.explorer.simulations import Simulations
from grbp.live.arguments import utc_now
from grbp.live.config import this_version
from grbp.live.store.base import Store
from grbp.serve import admin, explorer_routes, models, routes, static_routes, study_pages
from grbp.serve.access import ANYBODY, ROUTES
from grbp.serve.http_errors import (
    MEDIA_TYPE,
    ProblemDetail,
    describe_error,
    describe_mistake,
    make_problem,
)
from grbp.serve.middleware import COOKIE, IMPORT, Guard, Settings
from grbp.serve.state import ServerState
from grbp.serve.tokens import Tokens

_DESCRIPTION: Final = (
    "Advice on real cases as they come: open a case, do what is advised, tell what came of it."
    " Nothing that is recorded is lost. Each route needs a role (`x-role`), and what is refused"
    " comes as a problem (RFC 9457) with one plain sentence in `detail`."
)
_SILENT: Final[Any] = dict.fromkeys(
    ("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False
)
"""The framework can send what it sees elsewhere; nothing here leaves the machine."""

_NOT_DONE: Final = {
    404: "there is nothing at this address; /openapi.json lists what there is",
    405: "this address cannot be asked in this way; /openapi.json says how",
    400: "the body cannot be read; send JSON",
}


def create_app(
    store: Store,
    tokens: Tokens,
    settings: Settings | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> FastAPI:
    """Return the application over a store that is open; whoever opened it closes it."""
    server = ServerState(store, tokens, settings or Settings(), clock)

    app = FastAPI(
        title="grbp",
        version=this_version(),
        description=_DESCRIPTION,
        docs_url=None,  # Its pages load scripts from elsewhere.
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_SILENT,
    )
    app.state.server, app.state.simulations = server, Simulations()
    for one in (routes, admin, static_routes, study_pages, explorer_routes):
        # Side by side, since routers within routers are searched twice.
        app.router.routes.extend(one.router.routes)
    app.mount(
        "/static",
        static_routes.Files(packages=[("grbp.serve", "static"), ("grbp.explorer", "static")]),
    )
    app.add_middleware(
        Guard, routes=app.router.routes, settings=server.settings, tokens=tokens,
        sessions=server.sessions, metrics=server.metrics,
    )  # fmt: skip
    app.add_middleware(study_pages.Readable)
    app.add_exception_handler(GrbpError, _respond_to_error)
    app.add_exception_handler(RequestValidationError, _respond_to_malformed)
    app.add_exception_handler(HTTPException, _respond_to_http_error)
    app.openapi = lambda: _describe_routes(app)  # type: ignore[method-assign]
    return app


async def _respond_to_error(_: Request, error: Exception) -> Response:
    """Answer with what an error of ours says."""
    assert isinstance(error, GrbpError)  # noqa: S101 (it is registered for these)
    return _respond(describe_error(error), getattr(error, "headers", None))


async def _respond_to_malformed(_: Request, error: Exception) -> Response:
    """Answer that a request has not the form that is described."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    status, detail = describe_mistake(list(error.errors()))
    return _respond(make_problem(status, "malformed" if status == 400 else "invalid-input", detail))


async def _respond_to_http_error(_: Request, error: Exception) -> Response:
    """Answer what the framework refuses."""
    assert isinstance(error, HTTPException)  # noqa: S101
    detail = _NOT_DONE.get(error.status_code, str(error.detail))
    kind = "malformed" if error.status_code == 400 else "no-route"
    return _respond(make_problem(error.status_code, kind, detail), error.headers)


def _respond(said: ProblemDetail, headers: Any = None) -> Response:
    return Response(said.body, said.status, headers, MEDIA_TYPE)


def _describe_routes(app: FastAPI) -> dict[str, Any]:
    """Describe the routes by OpenAPI, with roles, examples and all that can go wrong."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        parts = schema["components"]
        for name in ("HTTPValidationError", "ValidationError"):
            parts["schemas"].pop(name, None)
        problem_schema = models.ProblemModel.model_json_schema()
        parts["schemas"]["ProblemModel"] = problem_schema
        for name, one in models.examples().items():
            if name in parts["schemas"]:
                parts["schemas"][name]["examples"] = [one]
        parts["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"},
            "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
        }
        for path, verbs in schema["paths"].items():
            for verb, operation in verbs.items():
                _describe_access(operation, verb.upper(), path)
        app.openapi_schema = schema
    return app.openapi_schema


def _describe_access(operation: dict[str, Any], method: str, path: str) -> None:
    """Add to an operation who may do it, and how it is refused."""
    role = ROUTES.get((method, path))
    operation["x-role"] = role or "anybody"
    operation["security"] = [] if role == ANYBODY else [{"token": []}, {"session": []}]
    refusals = {421, 429, 500} | ({401, 403} if role or method == "POST" else set())
    if method == "POST":
        refusals |= {400, 408, 413, 415}
    if "{" in path:
        refusals |= {404, 422, 503}
    if "requestBody" in operation or "parameters" in operation:
        refusals |= {422, 503}
    if (method == "POST" and path in ("/api/studies", IMPORT)) or path.endswith(_WRITTEN):
        refusals |= {409, 503}
    if path in ("/ready", "/api/studies", "/api/backup", "/api/tokens"):
        refusals |= {503}
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemModel"}}}
    for status in sorted(refusals):
        said = make_problem(status, "x", "").title
        operation["responses"][str(status)] = {"description": said, "content": content}


_WRITTEN: Final = ("/cases", "/steps", "/void", "/withdraw")
