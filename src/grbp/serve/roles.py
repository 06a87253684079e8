"""A router for each role: `@viewer.get(...)` is a route that every viewer may use, and nobody less.

The middleware reads the role off the route, and OpenAPI describes it as `x-role`.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from fastapi import APIRouter

from grbp.serve.endpoints import ENDPOINTS
from grbp.serve.http_errors import MEDIA_TYPE
from grbp.serve.tokens import ADMIN, ANYBODY, CORRECTOR, RECORDER, STATISTICIAN, VIEWER

T = TypeVar("T", bound=Callable[..., Any])

ROLE: Final = "x-role"

_REFUSAL: Final[dict[str, Any]] = {
    "description": "A refusal, with one plain sentence in `detail`",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemModel"}}},
}


class RoleRouter(APIRouter):
    """Routes that need the same role."""

    def __init__(self, role: str) -> None:
        super().__init__(
            generate_unique_id_function=lambda route: route.name, responses={"default": _REFUSAL}
        )
        self.role = role
        self._described: dict[str, Any] = {ROLE: role} | (
            {"security": []} if role == ANYBODY else {}
        )

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Add a route, and describe the role that it needs."""
        extra = (options.pop("openapi_extra", None) or {}) | self._described
        super().add_api_route(path, endpoint, openapi_extra=extra, **options)


recorder, viewer, anybody, corrector, statistician, admin = ROUTERS = [
    RoleRouter(role) for role in (RECORDER, VIEWER, ANYBODY, CORRECTOR, STATISTICIAN, ADMIN)
]
"""The routers; whoever records waits for the answer, so those routes are looked at first."""


def route(verb: str, **options: Any) -> Callable[[T], T]:
    """Make a function the route of a verb, as the table of endpoints says."""
    entry = ENDPOINTS[verb]
    (router,) = (one for one in ROUTERS if one.role == entry.role)
    return router.api_route(
        entry.path, methods=[entry.method], name=entry.operation or verb, status_code=entry.status,
        tags=[entry.tag], **options,
    )  # fmt: skip
