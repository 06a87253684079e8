"""What all routes share: the store and its studies, tokens, counts, and who is asking."""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, BinaryIO, Final, NamedTuple
from urllib.parse import quote

from fastapi import Path as InPath, Query, Request
from fastapi.responses import Response

from grbp.errors import GrbpError, InvalidInput
from grbp.explorer.simulations import Simulations
from grbp.learners.registry import is_path
from grbp.live.advice import Status
from grbp.live.arguments import MOST_CASES, utc_now
from grbp.live.schema import dumps
from grbp.live.shadow import hide_advice
from grbp.live.store.base import Store
from grbp.live.study import Study
from grbp.serve.metrics import Metrics
from grbp.serve.sessions import Sessions
from grbp.serve.settings import Settings
from grbp.serve.tokens import ANYBODY, STATISTICIAN, Token, Tokens, may

_PART: Final = 2**16
_PAGE: Final = 1_000

StudyName = Annotated[str, InPath(min_length=1, max_length=64)]
CaseNumber = Annotated[int, InPath(ge=1, le=MOST_CASES)]
After = Annotated[int, Query(ge=0, le=MOST_CASES, description="the number after which to begin")]
Limit = Annotated[int, Query(ge=1, le=_PAGE, description="how many to return at most")]


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

    async def still_lets_in(self, caller: Caller) -> bool:
        """Return whether the token of a caller who was let in is valid still."""
        if caller.token is None:
            return False
        await self.tokens.keep_up()
        try:
            return self.tokens.find_valid(caller.token.hash) is not None
        except GrbpError:
            return False

    def stream_file(self, write: Callable[[Path], object]) -> Iterator[bytes]:
        """Have something written to a private file, remove the file, and return its contents."""
        with TemporaryDirectory(prefix="grbp-") as folder:
            path = Path(folder) / "answer"
            write(path)
            file = path.open("rb")
        return _read_parts(file)


def _read_parts(file: BinaryIO) -> Iterator[bytes]:
    """Yield the parts of a file, one after another."""
    with file:
        while part := file.read(_PART):
            yield part


def check_name(name: object) -> None:
    """Refuse a study's name that cannot be part of an address."""
    if isinstance(name, str) and ("/" in name or name in (".", "..")):
        raise InvalidInput(f"name = {name!r} was given; over HTTP it must not have a /")


def check_learner(learner: object) -> None:
    """Refuse a learner that would be imported: only this machine decides what runs here."""
    if not isinstance(learner, str) or is_path(learner):
        raise InvalidInput(
            f"learner = {learner!r} was given; over HTTP it must be one of the package's, as"
            " `grbp learners` lists them"
        )


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


def show_status(request: Request, status: Status) -> Any:
    """Return how a study stands, as far as the caller may see it."""
    return hide_advice(status.to_dict(), shadow=status.shadow, examiner=may_examine(request))


def json_response(value: Any, status: int = 200, **headers: str) -> Response:
    """Answer with a value; it was made here, so the model does not check it again."""
    return Response(dumps(value), status, headers, "application/json")


def describe_text(kind: str) -> dict[str, Any]:
    """Describe a route whose answer is not JSON but text of some kind."""
    content = {kind: {"schema": {"type": "string"}}}
    return {"response_class": Response, "responses": {200: {"content": content}}}


def study_address(name: str) -> str:
    """Return where the routes of a study are."""
    return f"/api/studies/{quote(name, '')}"
