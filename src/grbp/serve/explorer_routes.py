"""The explorer at a server: its page, the simulations played for it, and the verdicts."""

from typing import Final

from fastapi import Request
from fastapi.responses import HTMLResponse, Response

from grbp.errors import InvalidInput
from grbp.explorer.explorer_models import (
    MOST_LEARNERS,
    MOST_REPLICAS,
    MOST_ROUNDS,
    ExplorerModel,
    NewSimulation,
    SimulationModel,
    VerdictsModel,
)
from grbp.explorer.page import served_page
from grbp.explorer.simulations import Busy, why_impossible
from grbp.explorer.verdicts import judge_claims
from grbp.learners.registry import DEFAULT_LEARNER, LEARNERS, find_learner
from grbp.live.endpoints import VIEWER, check_learner
from grbp.serve.http_errors import Refusal
from grbp.serve.state import anybody, get_caller, json_response, server_state, viewer
from grbp.serve.tokens import may
from grbp.worlds.problem import Problem

_FIRST: Final = (DEFAULT_LEARNER, "getbe-sm", "getbe-ps", "getbe-ucb")
_WITHOUT: Final = ("ucb1-policies", "oracle")  # They depend on the problem, and play for their own.


@anybody.get("/explore", include_in_schema=False)
def explore() -> Response:
    """Return the explorer, which needs no study."""
    return HTMLResponse(served_page())


def _find_owner(request: Request) -> str:
    """Return the id of the caller's token; without tokens, all callers own what there is."""
    token = get_caller(request).token
    return "" if token is None else token.id


@anybody.get("/api/explore", response_model=ExplorerModel, tags=["explorer"])
def describe_explorer(request: Request) -> Response:
    """Say which learners can be simulated, within which limits, and whether by this caller."""
    names = [*_FIRST, *(name for name in LEARNERS if name not in (*_FIRST, *_WITHOUT))]
    learners = [
        {"name": name, "summary": one.summary, "gamma": getattr(one.constants, "gamma", None)}
        for name, one in ((name, LEARNERS[name]) for name in names)
        if not callable(one)
    ]
    return json_response(
        {
            "learners": learners, "most_learners": MOST_LEARNERS, "most_rounds": MOST_ROUNDS,
            "most_replicas": MOST_REPLICAS, "allowed": may(get_caller(request).role, VIEWER),
            "missing": why_impossible(),
        }
    )  # fmt: skip


@viewer.post(
    "/api/explore/simulations", status_code=202, response_model=SimulationModel, tags=["explorer"]
)
def begin_simulation(request: Request, body: NewSimulation) -> Response:
    """Begin to simulate learners on a problem; ask again how far it is."""
    if (why := why_impossible()) is not None:
        raise Refusal(503, why)
    problem = Problem(body.goal, body.p_c, body.p_f, body.start)
    for name in body.learners:
        check_learner(name)
    names = [find_learner(name, problem).name for name in body.learners]
    if len(set(names)) < len(names):
        raise InvalidInput(f"learners = {body.learners} was given; each must be named once")
    try:
        begun = server_state(request).simulations.begin(_find_owner(request), body.model_dump())
    except Busy as error:
        raise Refusal(429, str(error), retry=5) from error
    return json_response(begun.state, 202, Location=f"/api/explore/simulations/{begun.id}")


@viewer.get("/api/explore/simulations/{id}", response_model=SimulationModel, tags=["explorer"])
def get_simulation(request: Request, id: str) -> Response:  # noqa: A002 (its name in the address)
    """Say how far a simulation is, and what it has found so far."""
    return json_response(server_state(request).simulations.find(_find_owner(request), id).state)


@viewer.delete("/api/explore/simulations/{id}", status_code=204, tags=["explorer"])
def end_simulation(request: Request, id: str) -> Response:  # noqa: A002
    """End a simulation at once, if it still runs, and remove it."""
    server_state(request).simulations.end(_find_owner(request), id)
    return Response(status_code=204)


@viewer.get("/api/explore/verdicts", response_model=VerdictsModel, tags=["explorer"])
def get_verdicts(request: Request) -> Response:
    """Judge the paper's claims by the results that are there."""
    return json_response(judge_claims(server_state(request).settings.results))
