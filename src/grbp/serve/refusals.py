"""Answer what is refused: a browser with a page or the way to sign in, a program with a problem."""

import math
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grbp._words import counted
from grbp.live.narration import describe_threshold, format_days, name_state
from grbp.serve import narration
from grbp.serve.http_errors import MEDIA_TYPE, ProblemDetail

TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters |= {
    "address": lambda text: quote(str(text), ""),
    "counted": counted,
    "days": format_days,
    "share": narration.format_share,
    "span": narration.format_interval,
    "place": name_state,
    "clock": lambda stamp: f"{stamp[:10]} {stamp[11:16]} UTC",
}
TEMPLATES.globals |= {
    "isnan": math.isnan,
    "describe_threshold": describe_threshold,
    "explain_exploration": narration.explain_exploration,
}


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
