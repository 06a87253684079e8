"""The files that pages load, and what programs read about the routes."""

from hashlib import sha256
from typing import Final

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles

from grbp import _palette
from grbp.serve.roles import anybody, viewer

_FILES: Final = StaticFiles(packages=[("grbp.serve", "static"), ("grbp.explorer", "static")])


@anybody.api_route("/static/{name}", methods=["GET", "HEAD"], include_in_schema=False)
async def get_file(request: Request, name: str) -> Response:
    """Return a file, which a browser keeps, and asks each time whether it has changed."""
    if name == "palette.css":
        response = _answer_palette(request)
    else:
        response = await _FILES.get_response(name, request.scope)
    response.headers["Cache-Control"] = "no-cache"
    return response


def _answer_palette(request: Request) -> Response:
    """Return the colours, or that they have not changed."""
    style = _palette.css()
    mark = f'"{sha256(style.encode()).hexdigest()[:16]}"'
    response = Response(style, media_type="text/css", headers={"ETag": mark})
    same = _FILES.is_not_modified(response.headers, request.headers)
    return NotModifiedResponse(response.headers) if same else response


@anybody.get("/favicon.ico", include_in_schema=False)
async def favicon() -> Response:
    """Say that there is no icon, for which every browser asks."""
    return Response(status_code=204, headers={"Cache-Control": "max-age=86400"})


@viewer.get("/openapi.json", include_in_schema=False)
async def get_openapi(request: Request) -> Response:
    """Describe all routes for programs."""
    return JSONResponse(request.app.openapi())
