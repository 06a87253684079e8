"""Answer what is refused: a browser with a page or the way to sign in, a program with a problem."""

from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi.responses import HTMLResponse, RedirectResponse, Response

from grbp.serve.http_errors import MEDIA_TYPE, ProblemDetail
from grbp.serve.rendering import TEMPLATES


def respond_to_refusal(scope: Any, problem: ProblemDetail, headers: dict[str, str]) -> Response:
    """Return the answer to a request that is refused."""
    if not _wants_page(scope):
        return Response(problem.body, problem.status, headers, MEDIA_TYPE)
    if problem.status == HTTPStatus.UNAUTHORIZED:
        query = scope["query_string"].decode("latin-1")
        wanted = local_address(scope["path"] + (f"?{query}" if query else ""))
        return RedirectResponse(f"/sign-in?next={quote(wanted, '')}", 303, headers)
    page = TEMPLATES.get_template("problem.html").render(problem._asdict())
    return HTMLResponse(page, problem.status, headers)


def _wants_page(scope: Any) -> bool:
    """Return whether a browser asks for a page."""
    return (
        not scope["path"].startswith(("/api/", "/static/"))
        and scope["method"] == "GET"
        and b"text/html" in dict(scope["headers"]).get(b"accept", b"")
    )


def local_address(address: str) -> str:
    """Return an address of ours, whatever was asked for."""
    ours = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if ours and address.isprintable() else "/"
