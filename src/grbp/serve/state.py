"""What all routes share: the store with its studies, who may do what, and what was counted."""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, BinaryIO, Final, NamedTuple

from fastapi import Path as InPath, Query, Request
from fastapi.responses import Response

from grbp.errors import InvalidInput
from grbp.explorer.simulations import Simulations
from grbp.learners.registry import is_path
from grbp.live.advice import Status
from grbp.live.arguments import MOST_CASES, utc_now
from grbp.live.schema import dumps
from grbp.live.shadow import hide_advice
from grbp.live.store.base import Store
from grbp.live.study import Study
from grbp.serve.metrics import Metrics
from grbp.serve.settings import Settings
from grbp.serve.tokens import ANYBODY, STATISTICIAN, Sessions, Token, Tokens, may

_PART: Final = 2**16
_PAGE: Final = 1_000

StudyName = Annotated[str, InPath(min_length=1, max_length=64)]
CaseNumber = Annotated[int, InPath(ge=1, le=MOST_CASES)]
After = Annotated[int, Query(ge=0, le=MOST_CASES, description="the number after which to begin")]
Limit = Annotated[int, Query(ge=1, le=_PAGE, description="how many to return at most")]


CALLER: Final = "grbp.caller"
"""Where the scope of a request says who asks."""


class Caller(NamedTuple):
    """Who asks.

    Attributes
    ----------
    actor, role : str
        Who records, and what that one may do.
    token : Token or None
        The token; None where the server is open.
    ambient : bool
        Whether a browser would send along what lets the caller in, whoever made it ask.
    """

    actor: str
    role: str
    token: Token | None
    ambient: bool


NOBODY: Final = Caller("", ANYBODY, None, False)


class ServerState:
    """A store that is open, and the studies of it that were asked for."""

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
        self.stopping = False
        self._studies: dict[str, Study] = {}

    def study(self, name: str) -> Study:
        """Return a study; one that cannot be written to is looked at anew each time."""
        found = self._studies.get(name)
        return self.open_study(name) if found is None or found.read_only else found

    def open_study(self, name: str) -> Study:
        """Open a study, with all checks."""
        found = Study(self.store, name, clock=self.clock)
        self._studies[found.name] = found
        return found

    def stream_file(self, write: Callable[[Path], object]) -> Iterator[bytes]:
        """Let something be written to a private file; return what it has, and keep no file."""
        with TemporaryDirectory(prefix="grbp-") as folder:
            path = Path(folder) / "answer"
            write(path)
            file = path.open("rb")
        return _parts(file)


def _parts(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file in parts."""
    with file:
        while part := file.read(_PART):
            yield part


def check_name(name: object) -> None:
    """Refuse the name of a study that cannot be part of an address."""
    if isinstance(name, str) and ("/" in name or name in (".", "..")):
        raise InvalidInput(f"name = {name!r} was given; over HTTP it must be one without /")


def check_learner(learner: object) -> None:
    """Refuse a learner that would be imported: what runs here is decided on this machine."""
    if not isinstance(learner, str) or is_path(learner):
        raise InvalidInput(
            f"learner = {learner!r} was given; over HTTP it must be one of the package's, as"
            " `grbp learners` lists them"
        )


def server_state(request: Request) -> ServerState:
    """Return what the routes share."""
    server: ServerState = request.app.state.server
    return server


def get_caller(request: Request) -> Caller:
    """Return who asks."""
    caller: Caller = request.scope[CALLER]
    return caller


def examines(request: Request) -> bool:
    """Return whether somebody may see what a study in shadow mode would advise."""
    return may(get_caller(request).role, STATISTICIAN)


def show_status(request: Request, status: Status) -> Any:
    """Return how a study stands, as far as the one who asks may see it."""
    return hide_advice(status.to_dict(), shadow=status.shadow, examiner=examines(request))


def json_response(value: Any, status: int = 200, **headers: str) -> Response:
    """Answer with a value that was made here and need not be checked again."""
    return Response(dumps(value), status, headers, "application/json")


def describe_text(kind: str) -> dict[int | str, dict[str, Any]]:
    """Describe an answer that is no JSON."""
    return {200: {"content": {kind: {"schema": {"type": "string"}}}}}
