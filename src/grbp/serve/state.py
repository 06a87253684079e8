"""What all routes share: the store and its studies, who is asking, and a router for each role.

`@viewer.get(...)` makes a route that every viewer may use, and nobody less. The middleware reads
the role off the route, and OpenAPI describes it as `x-role`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final, NamedTuple, TypeVar

from anyio import CapacityLimiter
from fastapi import APIRouter, Path as InPath, Query, Request
from fastapi.responses import Response
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily as Gauge, Metric

from grbp.errors import GrbpError
from grbp.explorer.simulations import Simulations
from grbp.live.advice import Status
from grbp.live.arguments import MOST_CASES, utc_now
from grbp.live.endpoints import ADMIN, CORRECTOR, ENDPOINTS, RECORDER, STATISTICIAN, VIEWER
from grbp.live.queries import read_config
from grbp.live.schema import dumps
from grbp.live.shadow import show
from grbp.live.store.base import Store
from grbp.live.study import Study
from grbp.live.verbs import parameters_of
from grbp.serve.connections import Connections
from grbp.serve.discretion import hide_places
from grbp.serve.http_errors import MEDIA_TYPE
from grbp.serve.jobs import Jobs
from grbp.serve.limits import Places
from grbp.serve.logs import HANDLER
from grbp.serve.metrics import Metrics, Question, find_problem, read_upkeep
from grbp.serve.proxies import is_trusted
from grbp.serve.settings import Settings
from grbp.serve.tokens import ANYBODY, Sessions, Token, Tokens, may

T = TypeVar("T")
Route = TypeVar("Route", bound=Callable[..., Any])

StudyName = Annotated[str, InPath(min_length=1, max_length=64)]
CaseNumber = Annotated[int, InPath(ge=1, le=MOST_CASES)]


def describe_query(verb: str, name: str) -> Any:
    """Describe a parameter of a verb that stands in the query."""
    schema = parameters_of(verb)[name].schema
    low, high, about = map(schema.get, ("minimum", "maximum", "description"))
    more = {"enum": schema["enum"]} if "enum" in schema else None
    return Query(ge=low, le=high, description=about, json_schema_extra=more)


After = Annotated[int, describe_query("log", "after")]
Limit = Annotated[int, describe_query("log", "limit")]


CALLER: Final = "grbp.caller"
"""The key of the caller in the scope of a request."""

ADDRESS: Final = "grbp.address"
"""The key of the address from which a request came."""


class Caller(NamedTuple):
    """Who makes a request.

    Attributes
    ----------
    actor, role : str
        The name under which this caller records, and what the caller may do.
    token : Token or None
        The token; None for nobody.
    ambient : bool
        Whether a browser sends the credentials by itself, also for a page of another site.
    """

    actor: str
    role: str
    token: Token | None
    ambient: bool


NOBODY: Final = Caller("", ANYBODY, None, False)


class ServerState:
    """What all routes share."""

    def __init__(
        self,
        store: Store,
        tokens: Tokens,
        settings: Settings,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.store, self.tokens, self.settings, self.clock = store, tokens, settings, clock
        self.sessions, self.metrics = Sessions(tokens, clock=clock), Metrics()
        self.simulations = Simulations()
        self.jobs = Jobs(store, settings.most_jobs, settings.longest_job)
        self.connections = Connections(
            settings.most_connections, settings.each_connections,
            lambda address: settings.proxied and is_trusted(address, settings.trusted),
        )  # fmt: skip
        most = self.connections.most
        self.requests = Places(
            "requests", min(settings.most_at_once, most // 2), settings.each_at_once
        )
        self.streams = Places(
            "streams of events", min(settings.most_streams, most // 4), settings.each_streams
        )
        self.readiness = Question(partial(find_problem, store))
        self.upkeep = Question(partial(read_upkeep, store))
        self.under_way: dict[int, str] = {}
        self.stream_threads = CapacityLimiter(settings.stream_threads)
        self.stopping = False
        self._studies: dict[str, Study] = {}

    def study(self, name: str) -> Study:
        """Return a study; one that cannot be written to is checked again each time."""
        found = self._studies.get(name)
        return self.open_study(name) if found is None or found.read_only else found

    def open_study(self, name: str) -> Study:
        """Open a study, with all checks."""
        found = Study(self.store, name, clock=self.clock)
        self._studies[found.name] = found
        return found

    def count(self) -> Iterator[Metric]:
        """Yield how much is under way."""
        left_out = HANDLER.left_out
        yield Gauge("grbp_connections", "Connections that are open.", len(self.connections))
        yield Gauge("grbp_requests_at_once", "Requests under way.", self.requests.taken)
        yield Gauge("grbp_streams", "Streams of events under way.", self.streams.taken)
        jobs = "Checks, exports, imports and backups under way."
        yield Gauge("grbp_jobs", jobs, len(self.jobs))
        yield Gauge("grbp_sessions", "Browsers that have signed in.", len(self.sessions))
        yield CounterMetricFamily("grbp_log_lines_left_out", "Lines left out.", left_out)

    def hide_places(self, sentence: str, role: str) -> str:
        """Return a sentence as a role may see it: only an admin sees where the store is."""
        return sentence if may(role, ADMIN) else hide_places(sentence, self.store)

    async def still_lets_in(self, caller: Caller) -> bool:
        """Return whether the token of a caller who was let in is valid still."""
        if caller.token is None:
            return False
        await self.tokens.keep_up()
        try:
            return self.tokens.find_valid(caller.token.hash) is not None
        except GrbpError:
            return False


def server_state(request: Request) -> ServerState:
    """Return the state of the server that a request came to."""
    server: ServerState = request.app.state.server
    return server


def get_caller(request: Request) -> Caller:
    """Return who makes a request."""
    caller: Caller = request.scope[CALLER]
    return caller


def may_examine(request: Request) -> bool:
    """Return whether the caller may see what a study in shadow mode would advise."""
    return may(get_caller(request).role, STATISTICIAN)


def show_sentence(request: Request, sentence: str) -> str:
    """Return a sentence as the caller may see it."""
    return server_state(request).hide_places(sentence, get_caller(request).role)


def show_status(request: Request, status: Status) -> Status:
    """Return how a study stands, as far as the caller may see it."""
    shown = show(status, shadow=status.shadow, examiner=may_examine(request))
    said: dict[str, Any] = {
        name: show_sentence(request, text)
        for name in ("read_only", "undecided")
        if (text := getattr(shown, name))
    }
    return replace(shown, **said)


def show_all(request: Request, name: str, values: Sequence[T]) -> list[T]:
    """Return answers about a study as far as the caller may see them.

    Whether it is in shadow mode is read after the answers, and is locked from the first case on.
    """
    examiner = may_examine(request)
    shadow = not examiner and read_config(server_state(request).store, name).shadow
    return [show(one, shadow=shadow, examiner=examiner) for one in values]


def json_response(value: Any, status: int = 200, **headers: str) -> Response:
    """Answer with a value; it was made here, so the model does not check it again."""
    return Response(dumps(value), status, headers, "application/json")


def describe_text(*kinds: str) -> dict[str, Any]:
    """Describe a route whose answer is not JSON but text of some kind."""
    content = {kind: {"schema": {"type": "string"}} for kind in kinds}
    return {"response_class": Response, "responses": {200: {"content": content}}}


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
        self._described: dict[str, Any] = {ROLE: role} | (
            {"security": []} if role == ANYBODY else {}
        )

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Add a route, and describe the role that it needs."""
        extra = (options.pop("openapi_extra", None) or {}) | self._described
        super().add_api_route(path, endpoint, openapi_extra=extra, **options)


ROUTERS: Final = {
    role: RoleRouter(role) for role in (RECORDER, VIEWER, ANYBODY, CORRECTOR, STATISTICIAN, ADMIN)
}
"""The routers; whoever records waits for the answer, so those routes are looked at first."""

viewer, anybody, admin = ROUTERS[VIEWER], ROUTERS[ANYBODY], ROUTERS[ADMIN]


def route(verb: str, **options: Any) -> Callable[[Route], Route]:
    """Make a function the route of a verb, as the table of endpoints says."""
    entry = ENDPOINTS[verb]
    return ROUTERS[entry.role].api_route(
        entry.path, methods=[entry.method], name=entry.operation or verb, status_code=entry.status,
        tags=[entry.tag], **options,
    )  # fmt: skip
