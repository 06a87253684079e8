"""The files that pages load."""

from os import PathLike, stat_result
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.staticfiles import StaticFiles

router = APIRouter(include_in_schema=False)


@router.get("/favicon.ico")
async def favicon() -> Response:
    """Say that there is no icon, for which every browser asks."""
    return Response(status_code=204, headers={"Cache-Control": "max-age=86400"})


class Files(StaticFiles):
    """Files of the package, which a browser keeps and asks whether they have changed."""

    def file_response(
        self, full_path: str | PathLike[str], stat: stat_result, scope: Any, status: int = 200
    ) -> Response:
        """Answer with a file, or that it is as it was."""
        answer = super().file_response(full_path, stat, scope, status)
        answer.headers["Cache-Control"] = "no-cache"
        return answer
