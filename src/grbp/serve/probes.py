"""What probes and monitors ask: whether the server lives, whether it can write, and how it does.

Anybody may ask for the first two, at any time; the answers say nothing of the store but that.
"""

from contextlib import suppress

from fastapi import Request
from fastapi.responses import Response

from grbp.errors import GrbpError
from grbp.live.config import this_version
from grbp.serve import metrics, models
from grbp.serve.http_errors import Refusal
from grbp.serve.roles import anybody, viewer
from grbp.serve.state import describe_text, json_response, server_state


@anybody.get("/health", response_model=models.Well, tags=["server"])
async def health() -> Response:
    """Say that the server runs."""
    return json_response({"status": "ok", "version": this_version()})


@anybody.get("/ready", response_model=models.Well, tags=["server"])
async def ready(request: Request) -> Response:
    """Say whether studies can be written to."""
    server = server_state(request)
    within = server.settings.ready_within
    try:
        problem = await server.readiness.ask(within)
    except TimeoutError:
        problem = f"the store has not answered within {within:g} s"
    if problem:
        raise Refusal(503, problem, {"Retry-After": "5"}, "not-ready")
    return json_response({"status": "ok", "version": this_version()})


@viewer.get("/metrics", **describe_text("text/plain"), tags=["server"])
async def get_metrics(request: Request) -> Response:
    """Return counts of requests, as Prometheus reads them."""
    server = server_state(request)
    moments: dict[str, float] = {}
    with suppress(TimeoutError, GrbpError):  # The counts are there all the same.
        moments = await server.upkeep.ask(server.settings.ready_within)
    return Response(server.metrics.text(moments), media_type=metrics.MEDIA_TYPE)
