"""The application: routes behind their guard, one shape of errors, a complete description."""

from collections.abc import Callable
from datetime import datetime
from functools import cache, partial
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.requests import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from grbp.live.arguments import utc_now
from grbp.live.config import this_version
from grbp.live.store.base import Store
from grbp.serve import (  # noqa: F401 (modules of routes add them to the routers)
    explorer_routes,
    models,
    routes,
    server_routes,
    study_pages,
)
from grbp.serve.http_errors import Refusal, describe_mistake
from grbp.serve.middleware import COOKIE, Guard, Receive, Scope, Send
from grbp.serve.settings import Settings
from grbp.serve.state import ROUTERS, ServerState
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

_REFUSALS: Final = {
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
        openapi_url=None,  # It is a route of ours, with a role; its pages load foreign scripts.
        redirect_slashes=False,
        telemetry=_SILENT,
    )
    app.state.server = server
    for router in ROUTERS.values():
        # Side by side, since routers within routers are searched twice.
        app.router.routes.extend(router.routes)
    app.router.middleware_stack = _handle_matched
    app.add_middleware(Guard, server=server, routes=app.router.routes)
    app.add_exception_handler(RequestValidationError, _refuse_form)
    app.add_exception_handler(HTTPException, _refuse_request)
    app.openapi = cache(partial(_describe_routes, app))  # type: ignore[method-assign]
    return app


async def _handle_matched(scope: Scope, receive: Receive, send: Send) -> None:
    """Hand a request to the route that the guard has found; without one, let the router refuse."""
    handle = scope["route"].handle if "route" in scope else scope["app"].router.app
    await handle(scope, receive, send)


async def _refuse_form(_: Request, error: Exception) -> Response:
    """Refuse a request that has not the form that is described."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 (it is registered for these)
    raise describe_mistake(list(error.errors())) from error


async def _refuse_request(_: Request, error: Exception) -> Response:
    """Refuse what the framework refuses, in words of ours."""
    assert isinstance(error, HTTPException)  # noqa: S101
    detail = _REFUSALS.get(error.status_code, str(error.detail))
    kind = "malformed" if error.status_code == 400 else "no-route"
    raise Refusal(error.status_code, detail, error.headers, kind) from error


def _describe_routes(app: FastAPI) -> dict[str, Any]:
    """Describe the routes by OpenAPI, with their roles and examples."""
    schema = FastAPI.openapi(app)
    parts = schema["components"]
    parts["schemas"]["ProblemModel"] = models.ProblemModel.model_json_schema()
    for name, one in models.examples().items():
        parts["schemas"][name]["examples"] = [one]
    parts["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
    }
    return schema | {"security": [{"token": []}, {"session": []}]}
