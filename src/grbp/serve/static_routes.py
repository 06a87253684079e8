"""The files that pages load, and what programs read about the routes."""

from typing import Final

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from grbp.serve.roles import anybody, viewer

_FILES: Final = StaticFiles(packages=[("grbp.serve", "static"), ("grbp.explorer", "static")])


@anybody.api_route("/static/{name}", methods=["GET", "HEAD"], include_in_schema=False)
async def get_file(request: Request, name: str) -> Response:
    """Return a file, which a browser keeps, and asks each time whether it has changed."""
    response = await _FILES.get_response(name, request.scope)
    response.headers["Cache-Control"] = "no-cache"
    return response


@anybody.get("/favicon.ico", include_in_schema=False)
async def favicon() -> Response:
    """Say that there is no icon, for which every browser asks."""
    return Response(status_code=204, headers={"Cache-Control": "max-age=86400"})


@viewer.get("/openapi.json", include_in_schema=False)
async def get_openapi(request: Request) -> Response:
    """Describe all routes for programs."""
    return JSONResponse(request.app.openapi())
